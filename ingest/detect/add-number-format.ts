// Adds the number format of a table to its entry.
import { isTitleOfCommaLanguage } from '../cells/dates/date-column-titles.ts';
import { cellOf, type NumberCell } from '../cells/cell-forms.ts';
import type { Sample } from '../read/table-rows.ts';
import { detectNumbers, isPartlyPercent, type Finding } from './table/number-format.ts';
import type { Draft } from './proposal.ts';

const numbersSampled = 200_000;
/** Words among numbers that mean missing, if the user confirms it. */
const wordsMax = 6;

/**
 * @param rows those with a point. @param values the positions of the columns of values.
 * @returns why the numbers cannot be read, or null.
 */
export function addNumbers(
  { entry, evidence, guessed }: Draft,
  { delimiter, rows: everyRow, lines }: Sample,
  rows: readonly string[][],
  values: readonly number[],
): string | null {
  const texts: string[] = [];
  for (const row of rows)
    for (const at of values) {
      const text = (row[at] ?? '').trim();
      if (text !== '' && texts.length < numbersSampled) texts.push(text);
    }
  const found = detectNumbers(texts, delimiter, hasCommaLanguage(entry.date));
  const add = <Key extends 'decimal' | 'thousands' | 'missing' | 'flags' | 'multiples' | 'negative'>(
    key: Key,
    finding: Finding<NonNullable<Draft['entry'][Key]>> | null,
  ) => {
    if (finding === null) return;
    entry[key] = finding.value;
    evidence[key] = finding.evidence;
    if (!finding.isSure) guessed.push(key);
  };
  if (found.decimal.value === ',' || !found.decimal.isSure) add('decimal', found.decimal);
  add('thousands', found.thousands as Finding<NonNullable<Draft['entry']['thousands']>> | null);
  // A word that occurs once may be a mistake: the load rejects it, with its line.
  const repeated = new Map([...found.words].filter(([, times]) => times > 1));
  add('missing', withWords(found.missing, repeated));
  add('flags', found.flags);
  add('multiples', found.multiples);
  add('negative', found.negative);
  doubtPercent({ entry, evidence, guessed }, rows, values);
  if (found.words.size > wordsMax) {
    const [first = ''] = found.words.keys();
    const at = everyRow.findIndex((row) => values.some((each) => (row[each] ?? '').trim() === first));
    return `${found.words.size} different words are among its numbers, the first "${first.slice(0, 60)}" on line ${lines[at] ?? 0}: name them under missing or flags`;
  }
  return null;
}

/** Whether the names or the titles of the dates are of a language that writes decimals with a comma. */
function hasCommaLanguage(date: Draft['entry']['date']): boolean {
  if (date === undefined) return false;
  if ('language' in date && date.language !== undefined)
    return new Intl.NumberFormat(date.language).format(1.5).includes(',');
  const titles = 'column' in date ? [date.column].flat() : 'year' in date ? [date.year ?? ''] : [];
  return titles.some(isTitleOfCommaLanguage);
}

/** Words in place of numbers may mean missing; only a person can decide that. */
function withWords(
  missing: Finding<string[]> | null,
  words: ReadonlyMap<string, number>,
): Finding<string[]> | null {
  if (words.size === 0 || words.size > wordsMax) return missing;
  const counted = [...words].map(([text, times]) => `"${text}" (${times})`).join(', ');
  return {
    value: [...(missing?.value ?? []), ...words.keys()],
    isSure: false,
    evidence: `${missing === null ? '' : `${missing.evidence}; `}words among the numbers, taken as missing: ${counted}`,
  };
}

/** 1.5% and 0.015 may be the same: a workbook has both where only some cells are formatted. */
function doubtPercent(
  { entry, evidence, guessed }: Draft,
  rows: readonly string[][],
  values: readonly number[],
): void {
  if (entry.flags?.['%'] !== null) return;
  const isPartly = values.some((at) =>
    isPartlyPercent(
      rows.map((row) => cellOf(row[at] ?? '')).filter((cell): cell is NumberCell => cell.kind === 'number'),
    ),
  );
  if (!isPartly) return;
  evidence['flags'] =
    `${evidence['flags'] ?? ''}; in one column some numbers have % and others not: they may be shares`;
  if (!guessed.includes('flags')) guessed.push('flags');
}
