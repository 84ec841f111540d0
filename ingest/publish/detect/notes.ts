// Headings and notes that stand in a column of values, as below many tables of workbooks: rows with words there and no number anywhere.
import { entryAt } from '../../../kernel/entries.ts';
import type { Columns } from './columns.ts';
import { isMissingMark, looksNumeric } from './number-forms.ts';
import type { Draft } from './proposal.ts';

/** Leaves out rows whose cell has a word: flags and marks of missing values are shorter. */
const withoutWords = '^(?!.*[A-Za-z]{4})';
const expression = new RegExp(withoutWords);

/**
 * Leaves out the rows with words in a column of values and without a number in any, by `only`; that is a guess. A word beside numbers is left to
 * the load, which refuses it: it may be a value that was mistyped. Beside a single column of values, a digit anywhere in the row is enough for that.
 */
export function addNotes(
  { entry, evidence, guessed }: Draft,
  rows: readonly string[][],
  titles: readonly string[],
  { values }: Columns,
): void {
  const found = new Map<number, string[]>();
  const refused = new Set<number>();
  for (const row of rows) {
    const filled = values.filter((at) => (row[at] ?? '').trim() !== '');
    const worded = filled.filter((at) => !expression.test((row[at] ?? '').trim()));
    if (worded.length === 0) continue;
    const isNote =
      values.length > 1
        ? !filled.some((at) => isNumber((row[at] ?? '').trim()))
        : !row.some((cell) => /\d/.test(cell));
    for (const at of worded) {
      if (isNote) found.set(at, [...(found.get(at) ?? []), (row[at] ?? '').trim()]);
      else refused.add(at);
    }
  }
  const columns = [...found].filter(([at]) => !refused.has(at));
  if (columns.length === 0) return;
  const only = Object.fromEntries(columns.map(([at]) => [entryAt(titles, at), withoutWords]));
  entry.only = { ...only, ...entry.only };
  const told = columns.map(
    ([at, texts]) =>
      `${texts.length} with "${(texts[0] ?? '').slice(0, 40)}" and the like in ${entryAt(titles, at)}`,
  );
  evidence['only'] = [
    ...(evidence['only'] === undefined ? [] : [evidence['only']]),
    `rows with words and no number in the columns of values are notes: ${told.join(', ')}`,
  ].join('; ');
  if (!guessed.includes('only')) guessed.push('only');
}

const isNumber = (text: string) => looksNumeric(text) || isMissingMark(text);
