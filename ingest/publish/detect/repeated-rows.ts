// Rows that state a point which an earlier row states: few are slips of the publisher, many mean that a column was overlooked.
import type { Columns } from './columns/columns.ts';
import { dateText } from './layout.ts';
import { cellOf } from '../forms/cells.ts';
import type { Draft, Entry, Seen } from './proposal.ts';

const monthsOf: Readonly<Record<string, number>> = { monthly: 1, quarterly: 3, semiannual: 6, annual: 12 };

/** Beyond these, a column that tells the rows apart has been overlooked: of rows with other values than the first, and of all that repeat a point. */
const [contradictingShareMax, repeatedShareMax] = [0.01, 0.1];

/**
 * Where few rows state a point a second time, the first is kept, and that is a guess.
 * @returns the reason in words if there are too many: the rows are no table then.
 */
export function addRepeated(
  { entry, evidence, guessed }: Draft,
  { layout: { dates, titles }, columns, rows }: Seen,
): string | null {
  const months = monthsOf[entry.series?.frequency ?? ''];
  const by = [
    ...(columns.key === null ? [] : [columns.key]),
    ...columns.dimensions,
    ...(columns.vintage === null ? [] : [columns.vintage.at]),
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
      period = months === undefined ? span.to : String(Math.floor(month / months));
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
  const said = `${repeated} of ${counted} rows state a point that an earlier row states (${example}), ${contradicting} of them another value`;
  if (contradicting > counted * contradictingShareMax || repeated > counted * repeatedShareMax)
    return `${said}; at most 1 % may: no column tells them apart`;
  entry.repeated = 'first';
  evidence['repeated'] =
    `${said}: the first is kept, and ${repeated} ${repeated === 1 ? 'is' : 'are'} left out`;
  guessed.push('repeated');
  return null;
}

/** Whether no cell of the one contradicts the other. */
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
