// What long and wide files have in common: where their points go, and how a row that is none is told from a bad one.
import type { CsvBatch } from './csv.ts';
import type { PointDates } from './dates.ts';
import { IngestFailure } from './failure.ts';
import type { Rejects } from './rejects.ts';
import type { SeriesDirectory } from './series-directory.ts';
import type { CopyBuffer } from './stage.sql.ts';
import type { ValueOptions, ValueReader } from './values.ts';

/** Turns rows of a file into staged points. */
export interface PointReader {
  /** Rows that held something. */
  readonly rowsRead: number;
  /** Reads a batch; its points are in the buffer when this returns. */
  read(batch: CsvBatch): Promise<void>;
  /** Whether a point may stand in the file twice; false where the dates of every series ascend. */
  readonly mayRepeat: boolean;
  /** series_no of every series that the file speaks of though it may state no point of it (a column of a wide file). */
  readonly seriesWithoutPoints: ReadonlySet<number>;
}

export interface PointContext {
  directory: SeriesDirectory;
  buffer: CopyBuffer;
  rejects: Rejects;
  dates: PointDates;
  dateFormat: string | undefined;
  values: ValueReader;
  valueOptions: ValueOptions;
  /** The line of the column names, for what is wrong with a column as a whole. */
  headerLine: number;
  create: boolean;
}

const dimensionName = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/** @throws IngestFailure where the names cannot be used in `dims=name:value`. */
export function checkDimensionNames(names: readonly string[]): void {
  for (const name of names) {
    if (dimensionName.test(name)) continue;
    throw new IngestFailure(
      'invalid_file',
      `The column "${name}" would be a dimension, and its name is none (letters, digits and _): ` +
        `rename it by --map ${slug(name)}="${name}", or leave it out by --ignore "${name}".`,
    );
  }
}

function slug(name: string): string {
  const words = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_');
  return words.replace(/^_+|_+$/g, '').replace(/^(?=\d)/, '_') || 'name';
}

/** Whether no cell of the row holds anything: such rows stand at the end of many files. */
export function isEmpty(row: readonly string[]): boolean {
  return row.every((cell) => cell.trim() === '');
}

/** Whether the row has the header's cells; empty ones beyond them do not count. */
export function hasCells(row: readonly string[], cells: number): boolean {
  return row.length === cells || (row.length > cells && isEmpty(row.slice(cells)));
}

export function unknownSeries(create: boolean): string {
  return create
    ? 'a series id (letters, digits, . _ and -), and the facts that a new series needs'
    : 'a series that exists; --create makes new ones';
}
