// Rows with numbers but without a date among dated rows: totals, averages, sums of a year. They are reported, and left out if they are few.
import { entryAt } from '../../../kernel/entries.ts';
import { isNumberText } from '../forms/cells.ts';
import type { PeriodKind } from '../forms/date-texts.ts';
import { dateText } from './layout.ts';
import type { Draft, Seen } from './proposal.ts';

/** A year among quarters sums them up; a day is of any length. */
const isOfKind = (kind: PeriodKind, most: PeriodKind) => kind === most || kind === 'day' || most === 'day';

/** A table has few such rows; more are dates that were not understood. */
const undatedMost = (datedRows: number): number => Math.max(4, Math.floor(datedRows / 10));

/** @returns why the table cannot be read, or null. */
export function addUndated(
  { entry, evidence, guessed }: Draft,
  { layout: { dates, titles }, columns, rows }: Seen,
): string | null {
  if (dates.kind !== 'column') return null;
  const column = entryAt(dates.columns, dates.columns.length - 1);
  const title = entryAt(titles, column);
  const known = new Set(entry.leave_out?.[title] ?? []);
  const undated = new Map<string, number>();
  let datedRows = 0;
  let undatedRows = 0;
  for (const row of rows) {
    const span = dates.found.read(dateText(row, dates));
    if (span !== null && isOfKind(span.kind, dates.found.kind)) {
      datedRows++;
      continue;
    }
    const text = (row[column] ?? '').trim();
    if (known.has(text) || !columns.values.some((at) => isNumberText(row[at] ?? ''))) continue;
    undatedRows++;
    undated.set(text, (undated.get(text) ?? 0) + 1);
  }
  if (undatedRows === 0) return null;
  const shown = [...undated.keys()]
    .slice(0, 5)
    .map((text) => `"${text.slice(0, 60)}"`)
    .join(', ');
  if (datedRows === 0 || undatedRows > undatedMost(datedRows))
    return `${undatedRows} rows with numbers have no readable date in ${title}, or a date of another length than most, such as ${shown}; ${datedRows} rows have one: give its format under date, or make a file for each length`;
  entry.leave_out = { ...entry.leave_out, [title]: [...known, ...undated.keys()] };
  evidence['leave_out'] = [
    evidence['leave_out'],
    `${undatedRows} rows with numbers are left out: they have no date, or a date of another length than most: ${shown}`,
  ]
    .filter((why) => why !== undefined)
    .join('; ');
  if (!guessed.includes('leave_out')) guessed.push('leave_out');
  return null;
}
