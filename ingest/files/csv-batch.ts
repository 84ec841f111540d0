// A batch of rows, as the readers of files yield it.

export interface CsvBatch {
  rows: string[][];
  /** The line on which each row begins. */
  lines: number[];
  /** If rows were made of cells of one row: the title of the column that each is from, for messages. */
  titles?: string[];
  /** Rows that whoever made them could not read, by their place in the batch. */
  refused?: ReadonlyMap<number, RefusedCell>;
}

/** A cell that stops a row: where it is, what it is, and what is expected. */
export interface RefusedCell {
  title: string;
  text: string;
  expected: string;
}
