// The options, dependencies and result of a load: the types that all kinds of loads share.
import type { Readable } from 'node:stream';
import type { Clock } from '../../kernel/clock.ts';
import type { ColumnOptions } from '../datasets/columns.ts';
import type { CsvBatch } from '../files/csv-batch.ts';
import type { Reject } from './failure.ts';
import type { Rejects } from './rejects.ts';
import type { LoadCounts } from './statements.sql.ts';
import type { ValueOptions } from '../files/values.ts';

export interface LoadOptions extends ColumnOptions, ValueOptions {
  dataset: string;
  /** A path or a stream. Gzip is recognised by its content; `.json` is a data package. */
  input: Readable | string;
  /** What to call the input in the record of loads; the path unless given. */
  sourceName?: string;
  /** Series that are not there are made, from the constants of `set` and from columns of the file. */
  create?: boolean;
  /** One row a date, one column a series. */
  wide?: boolean;
  /** Lines below the header that hold no data. */
  skipRows?: number;
  /** Such as `DD/MM/YYYY`; see dates.ts. */
  dateFormat?: string;
  /** The day, or the period by its last day, on which the file was published; today unless given. */
  vintage?: string;
  /** The file states each of its series completely: what it leaves out is deleted as of the vintage. */
  full?: boolean;
  /** Does everything, then takes it back. */
  dryRun?: boolean;
  /** Leaves refused rows out (in a wide file: refused cells) instead of storing nothing. */
  skipInvalid?: boolean;
  /** See csv.ts for these three. */
  delimiter?: string | undefined;
  encoding?: string | undefined;
  headerLine?: number;
  /** Of a data package that has several. */
  resource?: string;
  /** Stands before the id of each series of a wide file that --map does not name. */
  prefix?: string;
  /** Where today is decided. */
  seriesTimeZone: string;
  clock: Clock;
  /** bytesTotal is not known for streams. */
  onProgress?: (rowsRead: number, bytesRead: number, bytesTotal?: number) => void;
  /** A CSV file that receives every refused row. */
  reportFile?: string;
}

/** What a kind of dataset makes of the batches. */
export interface LoadResult extends LoadCounts {
  /** Rows of the file that held something. */
  rowsRead: number;
}

export interface LoadSummary extends LoadResult {
  /** In a wide file: cells. */
  rowsRejected: number;
  seconds: number;
  rowsPerSecond: number;
  /** The first twenty. */
  rejects: Reject[];
}

/** What every kind of dataset is handed. */
export interface LoadInput {
  header: string[];
  headerLine: number;
  batches: AsyncIterable<CsvBatch>;
  /** Making the batches asks the database, so nothing else may be under way between them. */
  batchesAsk?: boolean;
  /** How many rows were refused on the way into the batches, and are not in them. */
  rowsRefused?: () => number;
  /** The vintage of the load; given by the call where `vintageGiven`. */
  vintage: string;
  vintageGiven: boolean;
  today: string;
  rejects: Rejects;
  onRows: (rowsRead: number) => void;
}
