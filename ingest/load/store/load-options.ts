// The options, dependencies and result of a load: the types that all kinds of loads share.
import type { Readable } from 'node:stream';
import type { Clock } from '../../../kernel/clock.ts';
import type { Transaction } from '../../../kernel/database.ts';
import type { ColumnOptions } from '../../datasets/columns.ts';
import type { CsvBatch } from '../../read/csv-batch.ts';
import type { Reject } from '../../failure.ts';
import { Rejects } from './rejects.ts';
import type { Interruption, LockOptions } from '../lock/give-way-to-release.ts';
import type { LoadCounts } from './load-record.sql.ts';
import type { CellOptions } from '../../cells/cells.ts';
import type { RowOptions } from './row-selection.ts';

export interface LoadOptions extends ColumnOptions, RowOptions, CellOptions, LockOptions {
  dataset: string;
  /** A path or a stream. Gzip is recognised by its content; `.json` is a data package. */
  input: Readable | string;
  /** Replaces the CSV reader: yields the header, then the rows with their lines in the file. Called again for a second attempt. */
  rows?: () => AsyncGenerator<CsvBatch>;
  /** With `full` and `rows`: the series that the file covers even if it has no row of them; called once all rows are read. */
  covers?: () => readonly string[];
  /** Runs in the load's transaction, after it; its writes are stored if and only if the load is. loadNo: see LoadResult. */
  inSameTransaction?: (
    on: Transaction,
    loadNo: number | null,
    interruptions: readonly Interruption[],
  ) => Promise<void>;
  /** The name of the input in the record of loads; default: the path. */
  sourceName?: string;
  /** Creates missing series, from the constants of `set` and from columns of the file. */
  create?: boolean;
  /** With `create`: the unit and the source of the series may be unknown. */
  mayLackFacts?: boolean;
  /** One row per date, one column per series; of NAVs, per fund. */
  wide?: boolean;
  /** The number of lines to skip below the header. */
  skipRows?: number;
  /** The publication day of the file, or a period for its last day; default today. */
  vintage?: string;
  /** The file is complete for each of its series: points it omits are deleted as of the vintage. */
  full?: boolean;
  /** Skips rejected rows (in a wide file: cells) instead of storing nothing. */
  skipInvalid?: boolean;
  /** If several rows have the same point, the first is stored and the others are rejected, even without `skipInvalid`. */
  repeated?: 'first' | undefined;
  /** See csv.ts for these three. */
  delimiter?: string | undefined;
  encoding?: string | undefined;
  headerLine?: number;
  /** The resource to load from a data package with several. */
  resource?: string;
  /** Prepended to the id of each column of a wide file that --map does not name. */
  prefix?: string;
  /** No gateway serves the database: the load is done once it is committed. Otherwise it is done once every gateway shows it. */
  noGateway?: boolean;
  /** The time zone that determines today. */
  seriesTimeZone: string;
  /** False: no release in the calendar waits for this load. */
  isRelease?: boolean;
  /** The day used as today; default: that of the clock. */
  today?: string;
  /** The first month of the fiscal year, 1 to 12, of funds for which neither they nor their company state it; default: July. */
  fiscalYearFirstMonth?: number;
  clock: Clock;
  /** bytesTotal is unknown for streams. */
  onProgress?: (rowsRead: number, bytesRead: number, bytesTotal?: number) => void;
  /** A CSV file that receives every rejected row. */
  reportFile?: string;
}

/** The result of loading the batches. */
export interface LoadResult extends LoadCounts {
  /** Non-empty rows of the file. */
  rowsRead: number;
  /** The first of the loads of the file; null if it has no rows and a vintage column. */
  loadNo: number | null;
  /** What dates the rows: the day of the load, unless the call gives one; or a column of the file. */
  vintages: 'today' | 'column';
}

export interface LoadSummary extends Omit<LoadResult, 'loadNo' | 'vintages'> {
  /** Rows skipped by --skip-where; they are not counted as read. */
  rowsSkipped: number;
  /** In a wide file: rejected cells. */
  rowsRejected: number;
  seconds: number;
  rowsPerSecond: number;
  /** The first twenty. */
  rejects: Reject[];
  /** Options that matched nothing, and each interruption. */
  notes: string[];
  /** Releases that came due meanwhile: the load restarted after each. */
  interruptions: readonly Interruption[];
}

/** The input of a loader, for every kind of dataset. */
export interface LoadInput {
  header: string[];
  headerLine: number;
  batches: AsyncIterable<CsvBatch>;
  /** Producing the batches queries the database, so no other statement may be running between them. */
  batchesAsk?: boolean;
  /** The values are observed, not forecast (such as prices): a date after the current period is rejected. */
  hasHappened?: boolean;
  /** The vintage of the load; set by the caller if `vintageGiven`. */
  vintage: string;
  vintageGiven: boolean;
  today: string;
  rejects: Rejects;
  /** Receives the notes of the summary. */
  notes: string[];
  onRows: (rowsRead: number) => void;
}

/** Rows that are not of a file, as input of a loader. */
export const inputOfRows = (
  header: string[],
  batches: AsyncIterable<CsvBatch>,
  today: string,
): LoadInput => ({
  ...{ header, headerLine: 1, batches, vintage: today, vintageGiven: false, today },
  ...{ rejects: new Rejects(), notes: [], onRows: () => undefined },
});

/** Options without their undefined members: an optional member must not be undefined. */
export function withoutUndefined<T extends object>(
  options: T,
): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]: Exclude<T[Key], undefined>;
  };
}
