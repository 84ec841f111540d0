// Rows that state a point which an earlier row states: few are slips of the publisher, many mean that a column was overlooked.
import type { Columns } from './columns.ts';
import { isMissingMark } from './number-forms.ts';
import type { Draft, Entry, Seen } from './proposal.ts';

const monthsOf: Readonly<Record<string, number>> = { monthly: 1, quarterly: 3, semiannual: 6, annual: 12 };

/** Beyond this, a column that tells the rows apart has been overlooked. */
export const repeatedShareMax = 0.01;

/** Where few rows state a period a second time, the first is kept, and that is a guess. @returns how many of the rows do. */
export function addRepeated(
  { entry, evidence, guessed }: Draft,
  { layout: { dates, titles }, columns, rows }: Seen,
): { rows: number; of: number } {
  const months = monthsOf[entry.series?.frequency ?? ''];
  const by = [...(columns.key === null ? [] : [columns.key]), ...columns.dimensions];
  const seen = new Set<string>();
  let repeated = 0;
  let counted = 0;
  let example = '';
  for (const row of rows) {
    if (!isLoaded(row, titles, entry, columns)) continue;
    counted++;
    let period = '';
    if (dates.kind === 'column') {
      const span = dates.form.value.read((row[dates.column] ?? '').trim());
      if (span === null) continue;
      const month = Number(span.to.slice(0, 4)) * 12 + Number(span.to.slice(5, 7)) - 1;
      period = months === undefined ? span.to : String(Math.floor(month / months));
    }
    const point = [period, ...by.map((at) => (row[at] ?? '').trim())].join('\u001f');
    if (seen.has(point)) {
      repeated++;
      example ||=
        dates.kind === 'column' ? (row[dates.column] ?? '') : by.map((at) => row[at] ?? '').join(', ');
    }
    seen.add(point);
  }
  if (repeated === 0) return { rows: 0, of: counted };
  entry.skip_invalid = true;
  evidence['skip_invalid'] =
    `${repeated} of ${counted} rows state a point that an earlier row states (${example}): the first is kept, and ${repeated} ${repeated === 1 ? 'is' : 'are'} left out`;
  guessed.push('skip_invalid');
  return { rows: repeated, of: counted };
}

function isLoaded(
  row: readonly string[],
  titles: readonly string[],
  entry: Entry,
  { values }: Columns,
): boolean {
  if (
    values.every((at) => (row[at] ?? '').trim() === '' || isMissingMark((row[at] ?? '').trim())) &&
    values.length > 1
  )
    return false;
  const cell = (title: string) => (row[titles.indexOf(title)] ?? '').trim();
  if (Object.entries(entry.only ?? {}).some(([title, form]) => !new RegExp(form).test(cell(title))))
    return false;
  return !Object.entries(entry.leave_out ?? {}).some(([title, texts]) => texts.includes(cell(title)));
}
