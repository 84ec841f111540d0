// A batch of rows, as the readers of files yield it.

export interface CsvBatch {
  rows: string[][];
  /** The line on which each row begins. */
  lines: number[];
  /** If rows were made from cells of one row: the title of the column of each, for messages. */
  titles?: string[];
  /** Rows that could not be read, by their index in the batch. */
  refused?: ReadonlyMap<number, RefusedCell>;
}

/** A cell that makes a row invalid: its column, its text, and what is expected. */
export interface RefusedCell {
  title: string;
  text: string;
  expected: string;
}
