// Loads a planned table: converts its entry to the options of a load and its file to a stream of long rows, and records in the load's
// transaction that it was loaded.
import type { Clock } from '../../kernel/clock.ts';
import { dateIn } from '../../kernel/clock.ts';
import type { Transaction } from '../../kernel/database.ts';
import { entryAt } from '../../kernel/entries.ts';
import { datasetNamed } from '../datasets/datasets.ts';
import { IngestFailure } from '../failure.ts';
import type { LockOptions, Transacting } from '../load/lock/give-way-to-release.ts';
import { inputOfRows, type LoadOptions, type LoadSummary } from '../load/store/load-options.ts';
import { load } from '../load/load.ts';
import { loadTable } from '../load/load-table.ts';
import { datasetLoad } from '../entry/dataset-load.ts';
import { failureNamedByKey, summaryNamedByKey } from '../entry/messages-by-key.ts';
import { lackingIn, type LoadableTable, type TableDescription } from '../entry/entry-schema.ts';
import { factsChanged } from '../entry/entry-changes.ts';
import { withoutQuery } from '../read/file-path.ts';
import type { FileToLoad } from './plan.ts';
import { rememberPublished } from './publish-record.sql.ts';
import { vintageOf } from '../entry/file-name.ts';
import { reshape, rowsOf, type Reshaped } from '../reshape/reshape.ts';
import { tableRows } from '../read/table-rows.ts';

export interface LoadSettings extends Omit<LockOptions, 'dryRun'> {
  seriesTimeZone: string;
  fiscalYearFirstMonth?: number;
  clock: Clock;
  /** The name of almanac.yml's publication; if omitted, the load is not recorded, and the next run repeats it. */
  publication?: string;
  /** The entry was typed as flags: messages name these instead of the keys. */
  isTyped?: boolean;
  dryRun: boolean;
  reportFile?: string;
  onProgress?: (rowsRead: number, bytesRead: number) => void;
  /** Runs in the load's transaction, after it; if it throws, the load is rolled back. */
  inSameTransaction?: LoadOptions['inSameTransaction'];
}

export interface LoadedTable {
  summary: LoadSummary;
  /** The ids of its series, the first hundred in the order of the file. */
  seriesIds: string[];
  /** How many there are. */
  series: number;
}

const seriesIdsMax = 100;

/** A table as input of the loader: long rows, and its entry as options. */
export interface TableLoad extends Pick<Reshaped, 'constants' | 'series' | 'stated'> {
  options: Omit<LoadOptions, 'seriesTimeZone' | 'clock'>;
  /** How much of the file was read; undefined if the load counts it. */
  bytesRead?: () => number;
}

/**
 * @param today YYYY-MM-DD, in the time zone of the series.
 * @throws IngestFailure if the entry does not fit the file, at once or when the rows are read.
 */
export function tableLoad({ entry, file, input, path: name }: FileToLoad, today: string): TableLoad {
  if (entry.dataset !== undefined) {
    const vintage = vintageOf(entry, rowsOf(entry, name).fileName, today);
    const options = datasetLoad(entry, input ?? file, { dataset: entry.dataset, vintage });
    const sourceName = sourceNameOf(name, entry.sheet);
    return { options: { ...options, sourceName }, constants: {}, series: new Map(), stated: new Set() };
  }
  const table = loadable(entry, name);
  const of = rowsOf(entry, name);
  let bytes = 0;
  const { constants, rows, series, stated } = reshape(table, of, () =>
    tableRows({
      file,
      sheet: table.sheet,
      encoding: table.encoding,
      delimiter: table.delimiter,
      quote: table.quote,
      split: table.split,
      crosstab: table.crosstab,
      onBytes: (bytesRead) => void (bytes = bytesRead),
    }),
  );
  const vintage = vintageOf(table, of.fileName, today);
  const options = {
    dataset: 'observations',
    input: file,
    rows,
    sourceName: sourceNameOf(name, entry.sheet),
    create: true,
    mayLackFacts: true,
    set: constants,
    ...(vintage !== undefined && { vintage }),
    ...(table.full === true && { full: true, covers: () => [...series.keys()] }),
    skipInvalid: table.skip_invalid === true,
    repeated: table.repeated,
    ...(table.multiply !== undefined && { multiply: { value: table.multiply } }),
  };
  return { options, constants, series, stated, bytesRead: () => bytes };
}

/**
 * Loads a table in a transaction of its own. A caller that loads several waits once, at the end, until they are visible.
 * @throws IngestFailure if the entry does not fit the file, or a row is rejected; nothing is stored or recorded then.
 */
export async function loadTableFile(
  database: Transacting,
  planned: FileToLoad,
  settings: LoadSettings,
): Promise<LoadedTable> {
  if (settings.isTyped === true) return loadPlanned(database, planned, settings);
  try {
    const loaded = await loadPlanned(database, planned, settings);
    return { ...loaded, summary: summaryNamedByKey(loaded.summary, planned.entry) };
  } catch (error) {
    throw error instanceof IngestFailure ? failureNamedByKey(error, planned.entry) : error;
  }
}

async function loadPlanned(
  database: Transacting,
  planned: FileToLoad,
  settings: LoadSettings,
): Promise<LoadedTable> {
  const { entry, path: name } = planned;
  const { options, constants, series, stated, bytesRead } = tableLoad(
    planned,
    dateIn(settings.seriesTimeZone, settings.clock.now()),
  );
  const { publication, isTyped: _, onProgress, inSameTransaction, ...shared } = settings;
  const summary = await load(database, {
    ...shared,
    ...options,
    noGateway: true,
    onProgress: (rowsRead, bytes) => onProgress?.(rowsRead, bytesRead?.() ?? bytes),
    inSameTransaction: async (on, loadNo, interruptions) => {
      if (factsChanged(planned.loadedWith, entry)) await updateFacts(on, { constants, series }, settings);
      if (publication !== undefined)
        await rememberPublished(on, {
          ...{ publication, path: name, sheet: entry.sheet ?? '' },
          ...{ contentSha256: planned.contentSha256, entry, loadNo },
        });
      await inSameTransaction?.(on, loadNo, interruptions);
    },
  });
  return { summary, seriesIds: [...stated].slice(0, seriesIdsMax), series: stated.size };
}

/** The name in the record of loads, which data-api may read too: a URL without its query, which may contain a token. */
function sourceNameOf(name: string, sheet: string | undefined): string {
  const plain = withoutQuery(name);
  return sheet === undefined ? plain : `${plain}, ${sheet}`;
}

function loadable(entry: TableDescription, name: string): LoadableTable {
  const lacking = lackingIn(entry);
  if (lacking.length > 0)
    throw new IngestFailure(
      'usage',
      `almanac.yml, ${withoutQuery(name)}: the entry lacks ${lacking.join(', ')}, which a load needs.`,
    );
  return entry as LoadableTable;
}

/** The series exist with the facts of an earlier entry: they get those of this one. A fact that the entry does not state for a series stays. */
async function updateFacts(
  on: Transaction,
  { constants, series }: Pick<Reshaped, 'constants' | 'series'>,
  settings: LoadSettings,
): Promise<void> {
  const { seriesTimeZone, clock } = settings;
  const stated = [...series].map(([id, facts]) => ({
    id,
    facts: Object.entries({ ...constants, ...facts }).filter(([, text]) => text !== ''),
  }));
  const described = stated.filter(({ facts }) => facts.length > 0);
  const today = dateIn(seriesTimeZone, clock.now());
  const byNames = Map.groupBy(described, ({ facts }) => facts.map(([name]) => name).join());
  for (const alike of byNames.values()) {
    const header = ['series_id', ...entryAt(alike, 0).facts.map(([name]) => name)];
    const rows = alike.map(({ id, facts }) => [id, ...facts.map(([, text]) => text)]);
    await loadTable(on, datasetNamed('series'), inputOfRows(header, batchesOf(rows), today), {
      dataset: 'series',
      input: 'almanac.yml',
      seriesTimeZone,
      clock,
    });
  }
}

// oxlint-disable-next-line require-yield -- a list of one batch, as the loader takes batches
async function* batchesOf(rows: string[][]): AsyncGenerator<{ rows: string[][]; lines: number[] }> {
  yield { rows, lines: rows.map((_, at) => at + 2) };
}
