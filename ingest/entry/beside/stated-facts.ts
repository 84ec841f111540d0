// What metadata beside a file of data state of its series.

/** Facts by the names of the dataset series; `name` is the title of the table, or of the column. */
export interface StatedFacts {
  facts: Readonly<Record<string, string>>;
  /** Title of a column → its facts. */
  columns: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The names of the files that state them, for evidence. */
  from: string;
}
