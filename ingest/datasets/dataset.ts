// The type of a dataset: the shape of the rows in the table of datasets.
import type { Column } from '../cells/cells.ts';

export interface Dataset {
  name: string;
  meaning: string;
  /** `points`: observations with revisions, by their own rules. `table`: one row per key, inserted or updated. */
  kind: 'points' | 'table';
  /** The table that receives the rows. */
  target: string;
  key: readonly string[];
  /** If rows describe series: the id of the series of row `t`, in SQL. */
  series?: string;
  columns: readonly Column[];
  /** With --wide: what the column titles name, and what their cells contain; `date` dates the rows. */
  wide?: { noun: string; column: string; value: string };
  /** How a row whose key is spelled differently is recognised. */
  identity?: Identity;
  references?: readonly Reference[];
  /** Further columns with unique values; the key is then a single column. */
  unique?: readonly string[];
  rules?: readonly Rule[];
  /** Part of the key: a file must have all rows that share it, and those it omits are deleted. */
  whole?: readonly string[];
  /** With `whole`: a row whose cell of this column is empty is not stored. It only means that its key is in the file. */
  statedBy?: string;
  /** A table whose loads can be retracted: its rows have numbers, no other rows refer to them, and the statements of loads are recorded. */
  retractable?: true;
  /** Loads keep the rows that they replace, so that the table can be read as of a past day. Those of a retractable table always do. */
  recordsFormerRows?: true;
  /** The figures of funds depend on its rows. */
  ofFundFigures?: true;
  /** The meaning of columns that are not in the list; without it, such a column is an error. */
  otherColumns?: string;
}

/** Rows are of the same thing if they share `within` and one of the codes is the same. */
export interface Identity {
  within: string;
  /** A column of the row, a column of the other row, and the condition on them, in SQL. */
  by: readonly { given: string; stored: string; same: (given: string, stored: string) => string }[];
}

/** A column that refers to rows of a table. */
export interface Reference {
  column: string;
  table: string;
  key: string;
  /** Alternative names of a row `k` of the table: the condition on `name`, in SQL. */
  alsoBy?: (name: string) => string;
  /** The column of the table that the target stores instead of the name. */
  number?: string;
  expected: string;
}

/** A condition on each row. */
export interface Rule {
  /** The columns of the rule; those that the file lacks are columns of the target too. The first one is reported as wrong. */
  columns: readonly [string, ...string[]];
  /** The rule holds for files that lack this column. */
  without?: string;
  /** The condition on row `t`, in SQL; null passes. */
  holds: string;
  expected: string;
}
