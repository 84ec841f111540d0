// A batch of rows, as the readers of files yield it.

export interface CsvBatch {
  rows: string[][];
  /** The line on which each row begins. */
  lines: number[];
  /** If rows were made of cells of one row: the title of the column that each is from, for messages. */
  titles?: string[];
}
