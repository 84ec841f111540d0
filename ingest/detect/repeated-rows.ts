// Rows that repeat a point of an earlier row: a few are mistakes of the publisher, many mean that a column was overlooked.
import type { Columns } from './table/column-roles.ts';
import { dateText } from './table/layout.ts';
import { columnsNamedIn } from '../entry/templates.ts';
import { cellOf } from '../cells/cell-forms.ts';
import type { Draft, Entry, Seen } from './proposal/proposal.ts';
import { nounOf } from '../../kernel/text/counted.ts';

const monthsOf: Readonly<Record<string, number>> = { monthly: 1, quarterly: 3, semiannual: 6, annual: 12 };

/** Above these shares a column was overlooked: of rows that repeat a point with another value, and of all rows that repeat one. */
const [contradictingShareMax, repeatedShareMax] = [0.01, 0.1];

/**
 * If few rows repeat a point, the first is kept, as a guess.
 * @returns why the table cannot be read, if too many do; else null.
 */
export function addRepeated(
  { entry, evidence, guessed }: Draft,
  { layout: { dates, titles }, columns, rows }: Seen,
): string | null {
  const { frequency = '' } = entry.series ?? {};
  const months = monthsOf[frequency];
  const isOfRow = frequency.includes('{');
  const by = [
    ...(columns.key === null ? [] : [columns.key]),
    ...columns.dimensions,
    ...(columns.vintage === null ? [] : [columns.vintage.at]),
    // A currency or unit that names the series.
    ...columnsNamedIn(entry.series?.id ?? '').map((title) => titles.indexOf(title)),
  ];
  const seen = new Map<string, readonly string[]>();
  let repeated = 0;
  let contradicting = 0;
  let counted = 0;
  let example = '';
  for (const row of rows) {
    if (!isLoaded(row, titles, entry, columns)) continue;
    counted++;
    const dated = dateText(row, dates);
    let period = dated;
    if (dates.kind === 'column') {
      const span = dates.found.read(dated);
      if (span === null) continue;
      const month = Number(span.to.slice(0, 4)) * 12 + Number(span.to.slice(5, 7)) - 1;
      if (isOfRow) period = `${span.kind} ${span.to}`;
      else period = months === undefined ? span.to : String(Math.floor(month / months));
    }
    const point = [period, ...by.map((at) => (row[at] ?? '').trim())].join('\u001f');
    const first = seen.get(point);
    if (first === undefined) seen.set(point, row);
    else {
      repeated++;
      if (!isAlike(first, row, columns)) contradicting++;
      example ||= dated === '' ? by.map((at) => row[at] ?? '').join(', ') : dated;
    }
  }
  if (repeated === 0) return null;
  const finding = `${repeated} of ${counted} rows ${nounOf(repeated, 'repeats', 'repeat')} a point of an earlier row (${example}), ${contradicting} of them with another value`;
  if (contradicting > counted * contradictingShareMax || repeated > counted * repeatedShareMax)
    return `${finding}, and no column distinguishes them. At most 10 % may repeat a point, and at most 1 % with another value. Name a column under dimensions, write what a heading says of the rows below it into a column, or keep the first of each by repeated: first`;
  entry.repeated = 'first';
  evidence['repeated'] =
    `${finding}: the first is kept, and ${repeated} ${nounOf(repeated, 'is', 'are')} left out`;
  guessed.push('repeated');
  return null;
}

/** Whether no cell of one row contradicts the other. */
function isAlike(one: readonly string[], other: readonly string[], { values }: Columns): boolean {
  return values.every((at) => {
    const [a, b] = [(one[at] ?? '').trim(), (other[at] ?? '').trim()];
    return a === '' || b === '' || a === b;
  });
}

function isLoaded(
  row: readonly string[],
  titles: readonly string[],
  entry: Entry,
  { values }: Columns,
): boolean {
  const [first, ...others] = values.map((at) => cellOf(row[at] ?? '').kind);
  // An empty cell states that a point is missing, unless there are other columns of values beside it.
  if (first === 'word' || others.length > 0)
    if ([first, ...others].every((kind) => kind !== 'number' && kind !== 'bound')) return false;
  const cell = (title: string) => (row[titles.indexOf(title)] ?? '').trim();
  if (Object.entries(entry.only ?? {}).some(([title, form]) => !new RegExp(form).test(cell(title))))
    return false;
  return !Object.entries(entry.leave_out ?? {}).some(([title, texts]) => texts.includes(cell(title)));
}
