// Fetches a leased source, loads it if its content has changed, and records the outcome. A load counts once even if the process is killed
// or slow: the lease is ended in the transaction of the load, and a load whose lease another process has is rolled back.
import { z } from 'zod';
import { instantText } from '../../../kernel/clock.ts';
import type { Database } from '../../../kernel/database.ts';
import { writeEvents } from '../../../kernel/events/outbox.sql.ts';
import type { Log } from '../../../kernel/log/log.ts';
import type { AddressGuard } from '../../../kernel/outbound/address-guard.ts';
import { IngestFailure } from '../../failure.ts';
import { tableSchema, type TableDescription } from '../../entry/entry-schema.ts';
import { entryChanges } from '../../entry/entry-changes.ts';
import { fetchFile, type FetchedFile } from '../../read/fetch-url.ts';
import { withoutQuery } from '../../read/file-path.ts';
import { findPublished } from '../../plan/publish-record.sql.ts';
import { ProcessEnded } from '../child-process/run-in-child.ts';
import { isTemporary } from '../releases/temporary-faults.ts';
import type { ReleaseClock } from '../releases/release-clock.ts';
import { failureReport } from '../../load/load-report.ts';
import type { FetchedSource } from './load-fetched.ts';
import { nextInstant } from '../../entry/schedule.ts';
import { endLease, recordFailure, recordSuccess, type LeasedSource, type Validators } from './sources.sql.ts';

export interface FetchDeps {
  database: Database;
  clock: ReleaseClock;
  log: Log;
  guard: AddressGuard;
  /** The time zone of the schedules, and of the day used as vintage. */
  seriesTimeZone: string;
  fiscalYearFirstMonth?: number | undefined;
  /** `loadFetchedHere`, in a child process. */
  load: (fetched: FetchedSource, signal: AbortSignal) => Promise<'loaded' | 'lost'>;
}

/**
 * `lost`: the source was changed, removed or fetched by another process meanwhile, or the process is stopping; nothing is recorded or
 * loaded.
 */
export type FetchResult = 'loaded' | 'unchanged' | 'failed' | 'lost';

const bytesMax = 256 * 1024 * 1024;
const withinMs = 5 * 60_000;
/** Operators are notified from this many consecutive failures on. */
export const failuresToReport = 3;
/** The delay after a fault of the database. */
const postponedMs = 60_000;
const retryMinutes = [1, 5, 15, 60];
const reasonLengthMax = 500;

/** Thrown if the fetched file crashed the process that read it. */
class EndedReader extends IngestFailure {
  readonly sha256: string;

  constructor(ended: ProcessEnded, sha256: string) {
    super(
      'invalid_file',
      `The file is too large to be read: ${ended.message}. ${untilChanged} ${ended.advice}`,
    );
    this.sha256 = sha256;
  }
}

const untilChanged = 'It is read again when it changes, or when you run "almanac sources fetch".';

/** The error of a source whose process crashed while it fetched or loaded it. An immediate retry could crash the next process too. */
const left =
  'The process that fetched it ended without a result: it was killed, or its memory was not enough for the file.';

/** @throws Error if the database fails: then the source is due again a little later, and no failure of the source is recorded. */
export async function fetchSource(
  deps: FetchDeps,
  source: LeasedSource,
  signal: AbortSignal,
): Promise<FetchResult> {
  if (source.wasLeft) return fail(deps, source, new IngestFailure('invalid_file', left));
  try {
    return await fetchAndLoad(deps, source, signal);
  } catch (error) {
    if (signal.aborted && !(error instanceof IngestFailure)) {
      await endLease(deps.database, source.lease);
      return 'lost';
    }
    if (!isTemporary(error)) return fail(deps, source, error);
    await postpone(deps, source);
    throw error;
  }
}

/** Due again a little later. If the database is still unavailable, the lease expires. */
async function postpone({ database, clock, log }: FetchDeps, { name, lease }: LeasedSource): Promise<void> {
  try {
    const now = await clock.now(database);
    await endLease(database, lease, new Date(now.getTime() + postponedMs));
  } catch (error) {
    log.warn({ err: error, source: name }, 'The lease of a source could not be released; it ends by itself');
  }
}

async function fetchAndLoad(
  deps: FetchDeps,
  source: LeasedSource,
  signal: AbortSignal,
): Promise<FetchResult> {
  const { database, guard } = deps;
  const entry = entryOf(source);
  const loaded = (await findPublished(database, source.publication, source.url)).find(
    ({ sheet }) => sheet === source.sheet,
  );
  const isSameEntry =
    loaded !== undefined && entryChanges(loaded.entry as TableDescription, entry).length === 0;
  // The server's validators are sent only if they belong to the loaded content.
  const isKnown = isSameEntry && loaded.contentSha256 === source.validatedSha256;
  const { etag, lastModified } = source;
  const fetched = await fetchFile(source.url, {
    ...{ bytesMax, withinMs, guard, signal },
    ...(isKnown && etag !== null && { etag }),
    ...(isKnown && lastModified !== null && { lastModified }),
  });
  if (fetched === null) {
    if (isKnown && (etag ?? lastModified) !== null) return recordUnchanged(deps, source, undefined);
    throw new IngestFailure(
      'invalid_file',
      `${withoutQuery(source.url)} answers 304 to an unconditional request.`,
    );
  }
  try {
    if (isSameEntry && loaded.contentSha256 === fetched.sha256)
      return await recordUnchanged(deps, source, validatorsOf(fetched));
    if (source.endedSha256 === fetched.sha256)
      throw new IngestFailure(
        'invalid_file',
        `The file is the one that was too large to be read before. ${untilChanged}`,
      );
    return await load(deps, source, { entry, fetched, loadedWith: loaded?.entry }, signal);
  } finally {
    await fetched.remove();
  }
}

/** @throws EndedReader if the file crashed the process that read it. */
async function load(
  { load: loadOne, seriesTimeZone, fiscalYearFirstMonth }: FetchDeps,
  { publication, url, lease, schedule }: LeasedSource,
  {
    entry,
    fetched,
    loadedWith,
  }: { entry: TableDescription; fetched: FetchedFile; loadedWith: object | undefined },
  signal: AbortSignal,
): Promise<FetchResult> {
  const { file, sha256 } = fetched;
  try {
    return await loadOne(
      {
        ...{ publication, lease, schedule, seriesTimeZone, fiscalYearFirstMonth },
        table: {
          ...{ entry, path: url, file, contentSha256: sha256 },
          loadedWith: (loadedWith ?? null) as TableDescription | null,
        },
        validators: validatorsOf(fetched),
      },
      signal,
    );
  } catch (error) {
    // The temporary file is gone when the message is read.
    if (error instanceof IngestFailure) error.message = error.message.replaceAll(file, withoutQuery(url));
    throw error instanceof ProcessEnded ? new EndedReader(error, sha256) : error;
  }
}

/** @throws IngestFailure if the entry is not of this version. */
function entryOf({ entry }: LeasedSource): TableDescription {
  const parsed = tableSchema.safeParse(entry);
  if (parsed.success) return parsed.data;
  throw new IngestFailure(
    'usage',
    `The entry is not one of this version of Almanac; publish its almanac.yml again. ${z.prettifyError(parsed.error)}`,
  );
}

async function recordUnchanged(
  { database, clock, seriesTimeZone }: FetchDeps,
  { lease, schedule }: LeasedSource,
  validators: Validators | undefined,
): Promise<FetchResult> {
  const at = await clock.now(database);
  const fetchAt = nextInstant(schedule, seriesTimeZone, at);
  const outcome = { result: 'unchanged' };
  const isRecorded = await recordSuccess(database, lease, {
    at,
    fetchAt,
    hasChanged: false,
    outcome,
    validators,
  });
  return isRecorded ? 'unchanged' : 'lost';
}

const validatorsOf = ({ sha256, etag, lastModified }: FetchedFile): Validators => ({
  sha256,
  etag: etag !== null && etag.length <= 1024 ? etag : null,
  lastModified: lastModified !== null && lastModified.length <= 128 ? lastModified : null,
});

/** Retried after a growing delay, but not later than the schedule. The event of the third failure is written in the same transaction. */
async function fail(deps: FetchDeps, source: LeasedSource, error: unknown): Promise<FetchResult> {
  const { database, clock, log, seriesTimeZone } = deps;
  const report = failureReport(error);
  const failures = source.failures + 1;
  const isRecorded = await database.transaction(async (on) => {
    const at = await clock.now(on);
    const fetchAt = retryAt(at, failures, nextInstant(source.schedule, seriesTimeZone, at));
    const outcome = { result: 'failed', ...report };
    const endedSha256 = error instanceof EndedReader ? error.sha256 : source.endedSha256;
    if (!(await recordFailure(on, source.lease, { at, fetchAt, outcome, endedSha256 }))) return false;
    if (failures !== failuresToReport) return true;
    const data = {
      source: source.name,
      reason: report.message.slice(0, reasonLengthMax),
      failures,
      failing_since: instantText(source.failingSince ?? at),
      next_fetch_at: instantText(fetchAt),
    };
    const event = { type: 'source.failed' as const, accountId: null, series: null, data, at };
    await writeEvents((text, values) => on.query(text, values), [event]);
    return true;
  });
  if (!isRecorded) return 'lost';
  const line = { event: 'source_failed', source: source.name, failures, reason: report.message };
  if (error instanceof IngestFailure) log.warn(line, 'A source could not be fetched or loaded');
  else
    log.error({ ...line, err: error }, 'A source could not be fetched or loaded, by a fault of this program');
  return 'failed';
}

function retryAt(at: Date, failures: number, due: Date): Date {
  const minutes = retryMinutes[Math.min(failures, retryMinutes.length) - 1] ?? 0;
  return new Date(Math.min(at.getTime() + minutes * 60_000, due.getTime()));
}
