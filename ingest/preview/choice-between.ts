// The common parts of all choices: the sampled table, and options of which the first is the present value of the entry.
import type { LoadableTable } from '../entry/entry-schema.ts';
import type { ReshapePlan } from '../reshape/reshape-plan.ts';
import { valuesAt, type Choice, type EntryChange, type Option } from '../entry/resolve-guesses.ts';

/** The input of a choice. */
export interface Guessed {
  entry: LoadableTable;
  plan: ReshapePlan;
  /** Those above the data. */
  above: readonly string[][];
  /** The rows of data that were sampled, with what `fill` repeats. */
  rows: readonly string[][];
  /** The line of each. */
  lines: readonly number[];
  /** Without the folder. */
  fileName: string;
  /** YYYY-MM-DD. */
  today: string;
}

/** A choice whose first option is the entry's present value. @param options the label, and the change; null for the first. */
export function choiceBetween(
  entry: LoadableTable,
  key: string,
  question: string,
  options: readonly (readonly [label: string, set: EntryChange | null])[],
): Choice | null {
  const changes = options.flatMap(([, set]) => (set === null ? [] : [set]));
  if (changes.length === 0) return null;
  const now = valuesAt(entry, changes);
  // An option has a value for each key that another one changes, so that picking it undoes the other.
  const all = options.map(([label, set]): Option => ({
    label,
    set: set === null ? now : { ...now, ...set },
  }));
  return { key, question: `${question}:`, options: all, text: null };
}

/** A fact of the series that not every entry has. */
export const factOf = ({ series }: LoadableTable, name: string): string | undefined =>
  (series as Readonly<Record<string, string | undefined>>)[name];
