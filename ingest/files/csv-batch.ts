// What whoever reads a file hands on: some of its rows.

export interface CsvBatch {
  rows: string[][];
  /** The line on which each row begins. */
  lines: number[];
}
