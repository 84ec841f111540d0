// Rows with numbers whose date is missing or of another length than most: totals, averages, sums of a year. They are reported, and left out
// if there are few; many of them, with dates of another length, are series of another frequency.
import { entryAt } from '../../kernel/entries.ts';
import { isNumberText } from '../cells/cell-forms.ts';
import type { PeriodKind } from '../cells/dates/date-forms.ts';
import { dateText } from './table/layout.ts';
import type { Draft, Seen } from './proposal/proposal.ts';
import { counted, nounOf } from '../../kernel/text/counted.ts';

/** A year among quarters is their sum; a day is of any length. */
const isOfKind = (kind: PeriodKind, most: PeriodKind) => kind === most || kind === 'day' || most === 'day';

/** A table has few such rows; more are dates that were not understood. */
const undatedMost = (datedRows: number): number => Math.max(4, Math.floor(datedRows / 10));

/** Lengths that dates of one column may have side by side. */
const mixedKinds: readonly PeriodKind[] = ['month', 'quarter', 'half', 'year'];

/** @returns why the table cannot be read; or the number of rows by the length of their dates, if each length is a series of its own; or null. */
export function addUndated(
  { entry, evidence, guessed }: Draft,
  { layout: { dates, titles }, columns, rows }: Seen,
): string | ReadonlyMap<PeriodKind, number> | null {
  if (dates.kind !== 'column') return null;
  const column = entryAt(dates.columns, dates.columns.length - 1);
  const title = entryAt(titles, column);
  const known = new Set(entry.leave_out?.[title] ?? []);
  const [undated, otherwise] = [new Map<string, number>(), new Map<string, number>()];
  const kinds = new Map<PeriodKind, number>();
  for (const row of rows) {
    const span = dates.found.read(dateText(row, dates));
    const text = (row[column] ?? '').trim();
    const isDated = span !== null && isOfKind(span.kind, dates.found.kind);
    if (!isDated && (known.has(text) || !columns.values.some((at) => isNumberText(row[at] ?? '')))) {
      // Digits in both places may be a date and a number that are not known.
      if (span !== null || known.has(text) || !hasDigit(text)) continue;
      if (!columns.values.some((at) => hasDigit(row[at] ?? ''))) continue;
    }
    if (span === null) count(undated, text);
    else count(kinds, span.kind);
    if (span !== null && !isDated) count(otherwise, text);
  }
  const datedRows = sum(kinds) - sum(otherwise);
  const isMixed =
    sum(otherwise) > undatedMost(datedRows) && [...kinds.keys()].every((kind) => mixedKinds.includes(kind));
  if (!isMixed) for (const [text, times] of otherwise) undated.set(text, times);
  const undatedRows = sum(undated);
  if (undatedRows === 0) return isMixed ? kinds : null;
  const shown = [...undated.keys()]
    .slice(0, 5)
    .map((text) => `"${text.slice(0, 60)}"`)
    .join(', ');
  const readRows = isMixed ? sum(kinds) : datedRows;
  if (undatedRows > Math.min(readRows, undatedMost(readRows)))
    return `${counted(undatedRows, 'row')} with numbers ${nounOf(undatedRows, 'has', 'have')} no readable date in ${title}, or a date of another length than most, such as ${shown}; ${counted(datedRows, 'row')} ${nounOf(datedRows, 'has', 'have')} one: give its format under date, or make a file for each length`;
  entry.leave_out = { ...entry.leave_out, [title]: [...known, ...undated.keys()] };
  evidence['leave_out'] = [
    evidence['leave_out'],
    `${counted(undatedRows, 'row')} with numbers ${nounOf(undatedRows, 'is', 'are')} left out, without a date, or with a date of another length than most: ${shown}`,
  ]
    .filter((why) => why !== undefined)
    .join('; ');
  if (!guessed.includes('leave_out')) guessed.push('leave_out');
  return isMixed ? kinds : null;
}

const hasDigit = (text: string): boolean => /\d/.test(text);
const count = <Key>(tally: Map<Key, number>, key: Key) => tally.set(key, (tally.get(key) ?? 0) + 1);
const sum = (tally: ReadonlyMap<unknown, number>) => [...tally.values()].reduce((all, each) => all + each, 0);
