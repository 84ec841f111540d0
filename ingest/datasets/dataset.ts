// The type of a dataset: the shape of the rows in the table of datasets.
import type { Transaction } from '../../kernel/database.ts';
import type { Column } from '../files/cells.ts';

export interface Dataset {
  name: string;
  meaning: string;
  /** `points`: observations with revisions, by their own rules. `table`: one row a key, inserted or updated. */
  kind: 'points' | 'table';
  /** The table that the rows end up in. */
  target: string;
  key: readonly string[];
  /** Where a row describes a series: the id of that of row `t`, in SQL. */
  series?: string;
  columns: readonly Column[];
  references?: readonly Reference[];
  /** Columns beside the key whose values no two rows share; the key is one column then. */
  unique?: readonly string[];
  rules?: readonly Rule[];
  /** Part of the key: a file states the rows that share it whole, and what it leaves out of them goes. */
  whole?: readonly string[];
  /** What a load of it brings about, in its transaction. */
  afterwards?: (on: Transaction) => Promise<void>;
  /** What a column that is not in the list means; without it, such a column is an error. */
  otherColumns?: string;
}

/** A column that names rows of a table. */
export interface Reference {
  column: string;
  table: string;
  key: string;
  /** Other names that a row `k` of the table goes by: the condition on `name`, in SQL. */
  alsoBy?: (name: string) => string;
  /** The column of the table that the target keeps in the place of the name. */
  number?: string;
  expected: string;
}

/** What holds within a row. */
export interface Rule {
  /** Those it speaks of; where the file lacks one, it is not asked. The first is the one at fault. */
  columns: readonly [string, ...string[]];
  /** Of the row `t`, in SQL; null is no breach. */
  holds: string;
  expected: string;
}
