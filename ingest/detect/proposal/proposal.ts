// The input and output of detection: the types that its steps share, and how a step adds a doubt.
import type { StatedFacts } from '../../entry/metadata-files/stated-facts.ts';
import type { TableDescription } from '../../entry/entry-schema.ts';
import type { Inspected } from '../../entry/table-preview.ts';
import type { Columns } from '../table/column-roles.ts';
import type { Layout } from '../table/layout.ts';

/** The facts of a table besides its rows. */
export interface About {
  /** The name of the file without folder and endings, and without a date in it. */
  stem: string;
  /** The date in the name of the file. */
  dateInName: string | null;
  sheet: string | undefined;
  /** The name of the folder; that of the publication if the file is an upload. */
  folder: string;
  /** Facts of new series from the command line. */
  facts: Readonly<Record<string, string>>;
  /** Facts of the table from metadata beside the data. */
  metadata?: StatedFacts | undefined;
  /** YYYY-MM-DD. */
  today: string;
}

export interface Proposal {
  /** Without the file. */
  entry: Omit<TableDescription, 'file'>;
  /** By the key of the entry, `series.unit` of a part. */
  evidence: Record<string, string>;
  /** The rows of data that were read. */
  rows: number;
  /** A list of the series of other tables: skipped without confirmation. */
  isContents?: true;
  /** The titles of its columns of values, if they are series of their own. */
  columns?: readonly string[];
  /** The title above the data, with which the names of its series begin. */
  title?: string;
  /** The name is not stated: it is derived from those of the folder and the file. */
  isNameMissing?: true;
  /** Why columns are not loaded, by their titles. */
  ignored?: Readonly<Record<string, string>>;
  /** Its rows as they will be served, and the choices for its guesses. */
  inspected?: Inspected;
}

export type Entry = Proposal['entry'];
/** A proposal under construction. */
export type Draft = {
  entry: Entry;
  evidence: Record<string, string>;
  guessed: string[];
  /** See `Proposal`. */
  title?: string;
  isNameMissing?: true;
  /** Why columns are not loaded, by their titles. */
  ignored?: Record<string, string>;
};

/** The facts of the table when its series are described. */
export interface Seen {
  layout: Layout;
  columns: Columns;
  rows: readonly string[][];
}

/** Adds a reason to a finding, which is then a guess. @param key of the entry. */
export function doubt(
  { evidence, guessed }: Pick<Draft, 'evidence' | 'guessed'>,
  key: string,
  why: string,
): void {
  evidence[key] = evidence[key] === undefined ? why : `${evidence[key]}; ${why}`;
  if (!guessed.includes(key)) guessed.push(key);
}
