// A batch of rows, as the readers of files yield it.

export interface CsvBatch {
  rows: string[][];
  /** The line on which each row begins. */
  lines: number[];
}
