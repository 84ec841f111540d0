// The output of the generator: a table of cells, the truth of it, and the file.

export type Frequency = 'annual' | 'semiannual' | 'quarterly' | 'monthly' | 'weekly' | 'daily';

/** A cell: as text formats write it, and, if it is more than text in a workbook, the number and its format there. */
export interface Cell {
  text: string;
  number?: number;
  format?: string;
}

export const empty: Cell = { text: '' };
export const textCell = (text: string): Cell => ({ text });

/** Row and column of the first and the last cell, from 0. */
export type Merge = readonly [row: number, column: number, lastRow: number, lastColumn: number];

export interface Table {
  rows: Cell[][];
  /** Only a workbook, or a web page, has them; text formats have the first cell and blanks. */
  merges: Merge[];
  /** The first row of data; above it are titles and names of columns. */
  first: number;
  /** The row below the last row of data; undefined: all that follow are data. */
  end?: number;
  /** Rows of dates, in any order. */
  isFreeOrder: boolean;
}

/** The value published for a date. */
export interface Point {
  date: string;
  /** Any day of the ISO week, or of the year, that the date is in. */
  within?: 'week' | 'year';
  /** Digits as published; null: published as missing, which may be stored so, or not at all. */
  value: string | null;
  /** The point has a status. */
  isFlagged?: boolean;
}

export interface Facts {
  frequency?: Frequency;
  /** A text that the unit contains. */
  unit?: string;
  unit_multiplier?: number;
}

export interface Series {
  /** Of each list, one text is in the id, the name or the dimensions of the series. */
  labels: readonly (readonly string[])[];
  points: Point[];
  facts: Facts;
}

/**
 * Open questions of a file: the order of day and month, the century, months or quarters, the end of a fiscal year (dates); a decimal mark or
 * groups, letters that multiply (numbers); rows and columns that sum others up; whether a column is a vintage; its encoding.
 */
export type Question = 'dates' | 'numbers' | 'sums' | 'vintage' | 'encoding';

/** A table and the truth of it. */
export interface Sheet {
  table: Table;
  series: Series[];
  /** Ambiguities of the table. A question about one is right, and its proposal may be wrong; without a question, the reading must be right. */
  questions: Question[];
}

/** The kind of the file, for the table of results. */
export interface Kind {
  layout: string;
  frequency: Frequency;
  language: string;
  dates: string;
  numbers: string;
  marks: string;
  around: string;
  encoding: string;
  format: string;
}

export interface OfficeFile {
  seed: number;
  kind: Kind;
  name: string;
  content: Buffer;
  series: Series[];
  questions: Question[];
}
