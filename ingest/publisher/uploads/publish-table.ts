// Checks and publishes a table of an upload, by the rules of almanac publish: now, or under embargo. Runs in a child process. Each is one
// transaction that also marks the upload as published: a process that is killed has done all of it, or nothing.
import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify/sync';
import { inSavepoints, type Database, type Queryable } from '../../../kernel/database.ts';
import { Failure } from '../../../kernel/errors.ts';
import type { CsvBatch } from '../../read/csv-batch.ts';
import { IngestFailure, usageError, type Reject } from '../../failure.ts';
import type { LoadSummary } from '../../load/store/load-options.ts';
import { waitForGatewayLeases } from '../../load/load.ts';
import {
  InterruptedByRelease,
  interruptionsToJson,
  underLoadLock,
} from '../../load/lock/give-way-to-release.ts';
import { failureNamedByKey } from '../../entry/messages-by-key.ts';
import { refuseWaiting, retryAfter } from '../releases/refuse-waiting.ts';
import type { TableDescription } from '../../entry/entry-schema.ts';
import { factsChanged } from '../../entry/entry-changes.ts';
import { loadTableFile, tableLoad, type LoadSettings, type TableLoad } from '../../plan/load-table-file.ts';
import type { FileToLoad } from '../../plan/plan.ts';
import { inspectTable } from '../../preview/inspect.ts';
import { findPublished } from '../../plan/publish-record.sql.ts';
import { acceptUnderEmbargo, type Due } from '../releases/accept.ts';
import type { TaskContext } from '../child-process/task.ts';
import { readNextLoadNo, returnLoadNumbers } from '../releases/prepared-loads.sql.ts';
import { pointCounts } from '../../load/load-report.ts';
import { clockFrom } from '../../../kernel/clock.ts';
import { databaseClock, type ReleaseClock } from '../releases/release-clock.ts';
import { dateIn } from '../../../kernel/clock.ts';
import { changesSince } from './changes.sql.ts';
import type { CheckedTable, PublishedTable } from './published-table.ts';
import { refuseGone, withFile, type UploadToRead } from './spool.ts';
import { markPublished } from './uploads.sql.ts';

export interface TableToPublish {
  upload: UploadToRead;
  /** Its index in the upload. */
  table: number;
  /** From `entryOf`. */
  entry: TableDescription;
  seriesTimeZone: string;
  fiscalYearFirstMonth: number;
}

/** The database, and its clock, which is read when the load begins: the task may have waited for others since it was requested. */
type Context = Pick<TaskContext, 'database'> & { clock?: ReleaseClock };

export interface PublishTasks {
  'check-table': { given: TableToPublish; answer: CheckedTable; event: never };
  'publish-table': {
    given: TableToPublish & { due?: Due | undefined };
    answer: PublishedTable;
    event: never;
  };
}

const nothing = { points_new: 0, points_revised: 0, points_unchanged: 0, points_deleted: 0 };
const none = { series: [], series_changed: 0, largest_changes: [] };
const idsShown = 20;
const rejectsShown = 20;

/** @throws IngestFailure if the entry does not fit the file; Failure `unavailable` while another load is running. */
export function checkTable(
  { database, clock = databaseClock }: Context,
  given: TableToPublish,
): Promise<CheckedTable> {
  return withFile(database, given.upload, async (file) => {
    const planned = await plannedTable(database, given, file);
    const { entry, path } = planned;
    const { preview } = await inspectTable({ entry, path, file, today: given.upload.today });
    return { ...(await dryRun(database, planned, given, await clock.now(database))), preview };
  });
}

/**
 * @param given.due undefined: now. When this resolves, the load is visible.
 * @throws as `checkTable`; IngestFailure if a row is rejected, or the instant is invalid or past; Failure `conflict` if the upload was
 * deleted.
 */
export function publishTable(
  { database, clock = databaseClock }: Context,
  given: TableToPublish & { due?: Due | undefined },
): Promise<PublishedTable> {
  const { due } = given;
  return withFile(database, given.upload, async (file) => {
    const planned = await plannedTable(database, given, file);
    const now = await clock.now(database);
    return due === undefined
      ? loadNow(database, planned, given, now)
      : putUnderEmbargo(database, planned, given, { due, now });
  });
}

async function plannedTable(
  on: Queryable,
  { entry, upload: { name, publication, sha256 } }: TableToPublish,
  file: string,
): Promise<FileToLoad> {
  const remembered = await findPublished(on, publication, name);
  const loadedWith = remembered.find(({ sheet }) => sheet === (entry.sheet ?? ''))?.entry;
  return {
    ...{ entry, path: name, file, contentSha256: sha256 },
    loadedWith: (loadedWith ?? null) as TableDescription | null,
  };
}

const settingsOf = (given: TableToPublish, now: Date): Omit<LoadSettings, 'dryRun'> => ({
  seriesTimeZone: given.seriesTimeZone,
  fiscalYearFirstMonth: given.fiscalYearFirstMonth,
  publication: given.upload.publication,
  clock: clockFrom(now),
  onWaiting: refuseWaiting,
});

/** Returns its load numbers: a gap must not reveal a load that is not public. */
async function dryRun(
  database: Database,
  planned: FileToLoad,
  given: TableToPublish,
  now: Date,
): Promise<Omit<CheckedTable, 'preview'>> {
  let rowsRead = 0;
  return underLoadLock(database, { onWaiting: refuseWaiting }, async (on) => {
    const firstLoadNo = await readNextLoadNo(on);
    let changes: Awaited<ReturnType<typeof changesSince>> = none;
    try {
      const { summary, series } = await loadTableFile(inSavepoints(on), planned, {
        ...settingsOf(given, now),
        dryRun: true,
        onProgress: (rows) => (rowsRead = rows),
        inSameTransaction: async (within) => void (changes = await changesSince(within, firstLoadNo)),
      });
      return {
        ...{ publishable: true, ...countsOf(summary), notes: summary.notes },
        ...{ rejects: summary.rejects.map(rejectOf), series_count: series, ...changes },
      };
    } catch (error) {
      if (!(error instanceof IngestFailure) || error.code !== 'invalid_rows') throw error;
      return {
        ...{
          publishable: false,
          ...nothing,
          rows_read: rowsRead,
          rows_rejected: error.rowsRejected,
          notes: [],
        },
        ...{ rejects: error.rejects.slice(0, rejectsShown).map(rejectOf), series_count: 0, ...none },
      };
    } finally {
      await returnLoadNumbers(on, firstLoadNo);
    }
  }).catch((error: unknown) => {
    // The caller of a check does not wait for the release.
    throw error instanceof InterruptedByRelease
      ? new Failure('unavailable', error.message, retryAfter)
      : error;
  });
}

const rejectOf = ({ line, column, value, expected }: Reject) => ({
  ...{ line, column },
  reason: `"${value}", expected ${expected}`,
});

const countsOf = (summary: LoadSummary) => ({
  rows_read: summary.rowsRead,
  rows_rejected: summary.rowsRejected,
  ...pointCounts(summary),
});

async function loadNow(
  database: Database,
  planned: FileToLoad,
  given: TableToPublish,
  now: Date,
): Promise<PublishedTable> {
  let load: number | null = null;
  const { summary, series, seriesIds } = await loadTableFile(database, planned, {
    ...settingsOf(given, now),
    dryRun: false,
    inSameTransaction: async (on, loadNo) => {
      load = loadNo;
      if (!(await markPublished(on, given.upload.id, given.table))) refuseGone();
    },
  });
  await waitForGatewayLeases();
  return {
    ...{ load, release: null, ...countsOf(summary) },
    ...{ series_count: series, series_ids: seriesIds.slice(0, idsShown) },
    ...interruptionsToJson(summary.interruptions),
  };
}

/** Until the instant, the table is stored as long rows: those that were checked are those that are loaded, even if the entry changes. */
async function putUnderEmbargo(
  database: Database,
  planned: FileToLoad,
  given: TableToPublish,
  { due, now }: { due: Due; now: Date },
): Promise<PublishedTable> {
  if (factsChanged(planned.loadedWith, planned.entry))
    usageError(
      'Under embargo the facts of series that exist stay as they are, and this entry changes some. Publish the change first, or leave them as they were.',
    );
  const loaded = tableLoad(planned, dateIn(given.seriesTimeZone, now));
  const { rows: _, covers: __, ...options } = loaded.options;
  try {
    const { releaseNo, summary } = await acceptUnderEmbargo(
      database,
      {
        ...options,
        input:
          loaded.options.rows === undefined
            ? options.input
            : Readable.from(longText(loaded, loaded.options.rows)),
        seriesTimeZone: given.seriesTimeZone,
        fiscalYearFirstMonth: given.fiscalYearFirstMonth,
        onWaiting: refuseWaiting,
      },
      due,
      databaseClock,
      async (on) => {
        if (!(await markPublished(on, given.upload.id, given.table))) refuseGone();
      },
    );
    return {
      ...{ load: null, release: releaseNo, ...countsOf(summary) },
      ...{ series_count: loaded.series.size, series_ids: [...loaded.series.keys()].slice(0, idsShown) },
      ...interruptionsToJson(summary.interruptions),
    };
  } catch (error) {
    // The lines of the long rows are not those of the file.
    if (error instanceof IngestFailure && error.code === 'invalid_rows')
      await loadTableFile(database, planned, { ...settingsOf(given, now), dryRun: true });
    throw error instanceof IngestFailure ? failureNamedByKey(error, planned.entry) : error;
  }
}

/**
 * The long rows as CSV. @throws IngestFailure if the file completely covers a series without having a row of it: rows cannot express that.
 */
async function* longText(
  { options, series }: TableLoad,
  read: () => AsyncGenerator<CsvBatch>,
): AsyncGenerator<string> {
  const seen = new Set<string>();
  for await (const { rows, refused } of read()) {
    // The load might interpret the text of an unreadable cell differently.
    if (refused !== undefined && refused.size > 0 && options.skipInvalid !== true)
      throw new IngestFailure('invalid_rows', 'Some rows are not valid.');
    const valid = rows.filter((_, at) => refused?.has(at) !== true);
    for (const [id = ''] of valid) seen.add(id);
    yield stringify(valid);
  }
  const absent = [...series.keys()].filter((id) => !seen.has(id));
  if (options.full === true && absent.length > 0)
    usageError(
      `full: the file has no row of ${absent.slice(0, 5).join(', ')}, which would delete the series: that cannot be put under embargo.`,
    );
}
