// Lines among the rows of a table, or above them, that may change the meaning of the values.
import { entryAt } from '../../../kernel/entries.ts';
import { cellOf, isNumberText } from '../../cells/cell-forms.ts';
import { isDateTitle } from '../../cells/dates/date-column-titles.ts';
import { headingAmongRows, statusesOfPeriods, wordsUnderPeriods } from '../table/dates-across.ts';
import { dateText, periodsAcross, type Layout } from '../table/layout.ts';
import { groupTitle } from '../../read/crosstab.ts';
import { doubt, type Draft, type Seen } from './proposal.ts';

/** Lines without numbers among the rows, and beside the line of the periods. */
export function doubtLines(draft: Draft, { layout, columns, rows }: Seen, above: readonly string[][]): void {
  if (layout.dates.kind !== 'across') return;
  const { columns: periods } = layout.dates;
  for (const why of [wordsUnderPeriods(rows, periods), statusesOfPeriods(above, layout.headerRows, periods)])
    if (why !== null) doubt(draft, 'date', why);
  // The groups of a crosstab are in no column of the file.
  const isGroup = (at: number) =>
    draft.entry.crosstab !== undefined && entryAt(layout.titles, at) === groupTitle;
  const [names, other] = columns.dimensions.filter((at) => !isGroup(at));
  if (names === undefined || other !== undefined || columns.key !== null || columns.filled.length > 0) return;
  const heading = headingAmongRows(rows, periods, names);
  if (heading !== null) doubt(draft, 'dimensions', heading);
}

/** A line among the rows that has the periods of the titles again, or others: another table begins there. */
export function otherPeriods({ dates, titles }: Layout, rows: readonly string[][]): string | null {
  if (dates.kind !== 'across') return null;
  const periods = periodsAcross(titles, dates);
  for (const row of rows) {
    const cells = dates.columns.map((at) => (row[at] ?? '').trim());
    const filled = cells.filter((cell) => cell !== '');
    if (filled.length < 2 || filled.length * 2 < cells.length) continue;
    const isSame = (cell: string, at: number) =>
      cell === '' || ` ${entryAt(periods, at)}`.endsWith(` ${cell}`);
    const years = filled.map((cell) => (/^(?:1[5-9]|20)\d{2}$/.test(cell) ? Number(cell) : Number.NaN));
    const isYears =
      dates.found.kind === 'year' &&
      years.every((year, at) => at === 0 || Math.abs(year - (years[at - 1] ?? 0)) === 1);
    const isOther = isYears || filled.every((cell) => !isNumberText(cell) && dates.found.read(cell) !== null);
    if (!isOther && !cells.every(isSame)) continue;
    const shown = filled.slice(0, 3).map((cell) => `"${cell}"`);
    return `a line among its rows has the periods ${shown.join(', ')}, and begins another table: make a file for each`;
  }
  return null;
}

/**
 * Rows of words within the data. Other column names, or the same in another order, refuse the table. A heading makes `leave_out` a guess, as it may
 * change the meaning of the rows below it.
 */
export function doubtHeadings(
  draft: Draft,
  { layout: { dates, titles }, columns, rows }: Seen,
): string | null {
  if (dates.kind !== 'column') return null;
  const isDated = (row: readonly string[]) => dates.found.read(dateText(row, dates)) !== null;
  const last = rows.findLastIndex(isDated);
  const first = rows.findIndex(isDated);
  const headings = new Map<number, Set<string>>();
  for (const row of rows.slice(first + 1, last)) {
    if (isDated(row) || columns.values.some((at) => isNumberText(row[at] ?? ''))) continue;
    const cells = [...row.entries()].filter(([, cell]) => cell.trim() !== '');
    const moved = cells.find(
      ([at, cell]) => titles.indexOf(cell.trim()) >= 0 && titles.indexOf(cell.trim()) !== at,
    );
    if (moved !== undefined && cells.length > 1)
      return `a line among its rows names the columns again, and "${moved[1].trim()}" is in another place than above: make a file for each order`;
    const renamed = otherName(row, { titles, at: entryAt(dates.columns, 0), values: columns.values });
    if (renamed !== undefined)
      return `a line among its rows has "${renamed.text}" below ${renamed.title}, and may name the columns of another table: make a file for each`;
    const [only, second] = cells;
    if (only === undefined || second !== undefined) continue;
    const texts = headings.get(only[0]) ?? new Set<string>();
    headings.set(only[0], texts.add(only[1].trim()));
  }
  for (const [at, texts] of headings) {
    const title = entryAt(titles, at);
    const shown = [...texts]
      .slice(0, 3)
      .map((text) => `"${text.slice(0, 60)}"`)
      .join(', ');
    draft.entry.leave_out = {
      ...draft.entry.leave_out,
      [title]: [...(draft.entry.leave_out?.[title] ?? []), ...texts],
    };
    doubt(
      draft,
      'leave_out',
      `${shown} among the rows may be a heading: the rows below it may be of something else than those above`,
    );
  }
  return null;
}

/**
 * The first word that its column's title does not contain, in a row that may be a line of titles: of the columns of values at least half, and at
 * least two, have words and the others nothing, and the column of the dates has nothing or a title. @param at the column of the dates.
 */
function otherName(
  row: readonly string[],
  { titles, at, values }: { titles: readonly string[]; at: number; values: readonly number[] },
): { text: string; title: string } | undefined {
  const corner = (row[at] ?? '').trim();
  const filled = values.filter((each) => cellOf((row[each] ?? '').trim()).kind !== 'blank');
  const isOfWords = filled.every((each) => cellOf((row[each] ?? '').trim()).kind === 'word');
  if (!isOfWords || filled.length < 2 || filled.length * 2 < values.length) return undefined;
  if (corner !== '' && !isDateTitle(corner)) return undefined;
  return filled
    .map((each) => ({ text: (row[each] ?? '').trim(), title: entryAt(titles, each) }))
    .find(({ text, title }) => !title.includes(text));
}
