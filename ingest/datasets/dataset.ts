// The type of a dataset: the shape of the rows in the table of datasets.
import type { Transaction } from '../../kernel/database.ts';
import type { Column } from '../files/cells.ts';

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
  references?: readonly Reference[];
  /** Further columns with unique values; the key is then a single column. */
  unique?: readonly string[];
  rules?: readonly Rule[];
  /** Part of the key: a file must have all rows that share it, and those it omits are deleted. */
  whole?: readonly string[];
  /** Follow-up work of a load, in its transaction. */
  afterwards?: (on: Transaction) => Promise<void>;
  /** The meaning of columns that are not in the list; without it, such a column is an error. */
  otherColumns?: string;
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
  /** The columns it concerns; if the file lacks one, the rule is not checked. The first one is reported as the wrong one. */
  columns: readonly [string, ...string[]];
  /** The condition on row `t`, in SQL; null passes. */
  holds: string;
  expected: string;
}
