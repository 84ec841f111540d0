// Finds the dates in the titles of columns: in one line, or months and quarters in a line below that of their years.
import { entryAt } from '../../../kernel/entries.ts';
import { cellOf, isNumberText, isValueText } from '../../cells/cell-forms.ts';
import type { PeriodKind } from '../../cells/dates/date-forms.ts';
import { CarriedYears } from '../../cells/dates/carried-years.ts';
import type { ReadDate } from '../../cells/dates/dates-of-table.ts';
import { areCarried } from './find-carried-years.ts';
import { detectDates, type DatesFound } from './date-format.ts';
import { isYearAnnotation, periodTitle, withoutWords, wordsBeforePeriods } from './header-lines.ts';

/** Those that sum up others, from the shortest. */
const periodKinds: readonly PeriodKind[] = ['month', 'quarter', 'half', 'year'];
/** The head of a table is within these. */
export const headRows = 40;
export const profiledRows = 3_000;

export interface Across {
  /** The positions of the lines that have the dates. */
  rows: [number, ...number[]];
  columns: number[];
  found: DatesFound;
  /** Only the first month or quarter of each year has the year. */
  isFilled: boolean;
  /** The words before each period; '' for none. */
  after: string;
}

/** The line with the most cells that are dates in order, by itself or with the years in the line above it. */
export function datesAcross(rows: readonly string[][]): Across | null {
  let best: Across | null = null;
  for (const [row, cells] of rows.slice(0, headRows).entries()) {
    const joined = row === 0 ? null : withYears(rows[row - 1] ?? [], cells);
    const two = joined === null ? null : periodsIn(rows, row, joined, 2);
    const periodsOf = (texts: readonly string[]) =>
      periodsIn(
        rows,
        row,
        texts.map((cell) => (/\d{2}/.test(cell) ? cell : '')),
        2,
      );
    const one = periodsOf(cells);
    const words = one === null ? wordsBeforePeriods(cells) : '';
    const named = words === '' ? null : periodsOf(cells.map((cell) => withoutWords(cell, words)));
    const group = row === 0 || one === null ? '' : groupOver(rows[row - 1] ?? [], cells, one.columns);
    const carried = areCarried(cells) ? periodsIn(rows, row, withYearsBefore(cells), 2) : null;
    for (const [dates, lines, isFilled, after] of [
      [two, [row - 1, row], false, ''],
      [group === '' ? null : one, [row - 1, row], false, group],
      [one, [row], false, ''],
      [named, [row], false, words],
      [carried, [row], true, ''],
    ] as const)
      if (dates !== null && dates.columns.length > (best?.columns.length ?? 0))
        best = { rows: [...lines], ...dates, isFilled, after };
  }
  return best;
}

/**
 * The one text over all periods, in a line that also has the titles of columns to their left: it is over the first period, or over each. '' for
 * none.
 */
function groupOver(above: readonly string[], cells: readonly string[], periods: readonly number[]): string {
  const [first = 0] = periods;
  const text = (row: readonly string[], at: number) => (row[at] ?? '').trim();
  const isTitle = (_: string, at: number) =>
    text(above, at) !== '' && ['', text(above, at)].includes(text(cells, at));
  if (!above.slice(0, first).some(isTitle)) return '';
  const group = text(above, first);
  const isOne = above.slice(first).every((cell) => ['', group].includes(cell.trim()));
  return isOne && cellOf(group).kind === 'word' && !/\d{4}/.test(group) ? group.replaceAll(/\s+/g, ' ') : '';
}

/** The texts of a line in which only the first month or quarter of each year has the year. */
function withYearsBefore(cells: readonly string[]): string[] {
  const years = new CarriedYears(null);
  return cells.map((cell) => years.of(cell.trim()));
}

/** The texts of a line of months or quarters, each after its year, which is above it or further left in the line above. */
function withYears(above: readonly string[], cells: readonly string[]): string[] | null {
  const years = above.map((cell) => cell.trim());
  const named = years.filter((text) => text !== '');
  const bare = named.filter((text) => /^\d{4}\D{0,6}$/.test(text));
  const parts = cells.filter((cell) => /^[^\d]*\d{0,2}[^\d]*$/.test(cell.trim()) && cell.trim() !== '');
  if (bare.length < 1 || bare.length * 2 < named.length || parts.length < 3) return null;
  let year = '';
  return cells.map((cell, at) => {
    const text = years[at] ?? '';
    if (text !== '') year = /^\d{4}\D{0,6}$/.test(text) ? text : '';
    return year === '' || cell.trim() === '' ? '' : `${year} ${cell.trim()}`;
  });
}

function periodsIn(
  rows: readonly string[][],
  row: number,
  cells: readonly string[],
  least: number,
): Omit<Across, 'rows' | 'isFilled' | 'after'> | null {
  const columns = cells.flatMap((cell, at) =>
    /\d{2}/.test(cell) && cell.trim().length <= 32 && !isYearAnnotation(cell) ? [at] : [],
  );
  const named = (rows[row] ?? []).filter((cell) => cell.trim() !== '' && !isYearAnnotation(cell)).length;
  if (columns.length < least) return null;
  const texts = columns.map((at) => periodTitle(cells[at] ?? ''));
  const found = detectDates([...new Set(texts)], { allowsNumbers: true, isTitles: true });
  if (found === null) return null;
  const spans = withoutSums(texts.map((text) => found.read(text)));
  const periods = columns.filter((_, at) => spans[at] !== null);
  const isRun = periods.every(
    (at, place) =>
      place === 0 ||
      at - entryAt(periods, place - 1) <= 2 ||
      cells.slice(entryAt(periods, place - 1) + 1, at).every((cell) => isYearAnnotation(cell)),
  );
  if (periods.length < least || (!isRun && periods.length * 2 < named)) return null;
  const days = spans.filter((span) => span !== null).map(({ from }) => from);
  const isOrdered =
    days.every((day, at) => at === 0 || day > (days[at - 1] ?? '')) ||
    days.every((day, at) => at === 0 || day < (days[at - 1] ?? ''));
  if (!isOrdered) return null;
  const first = firstBelow(rows, row, periods);
  const below = rows.slice(first, first + profiledRows);
  const values = below
    .flatMap((cellsBelow) => periods.map((at) => (cellsBelow[at] ?? '').trim()))
    .filter((cell) => cell !== '');
  if (!values.some((cell) => isNumberText(cell)) || values.filter(isValueText).length < values.length * 0.7)
    return null;
  // Whole years in ascending order might be the first row of data of a table without a header: then the rows below are years, too.
  const isYear = (text: string) => /^(?:1[5-9]|2[01])\d{2}$/.test(text);
  if (texts.every(isYear) && values.every(isYear)) return null;
  // Other numbers above them in the same columns are rows of data, and so is this one.
  const isData = (cells: readonly string[]) =>
    periods.every((at) => isNumberText(cells[at] ?? '') && !isYear((cells[at] ?? '').trim()));
  if (texts.every(isYear) && rows.slice(0, row).some(isData)) return null;
  // A line with few dates may be a row of data: a line of titles has no numbers besides its dates.
  if (periods.length < 3 && (rows[row] ?? []).some((cell, at) => !periods.includes(at) && isNumberText(cell)))
    return null;
  return {
    columns: periods,
    found: {
      ...found,
      evidence: `${periods.length} titles are dates, from ${texts[0] ?? ''} to ${texts.at(-1) ?? ''}${found.isSure ? '' : `; ${found.others.join('; ')}`}`,
    },
  };
}

/** The row after the titles, and after a line that has only words under them, such as the units of Statistics Canada. */
export function firstBelow(rows: readonly string[][], titles: number, periods: readonly number[]): number {
  const next = rows.findIndex((row, at) => at > titles && row.some((cell) => cell.trim() !== ''));
  return next >= 0 && isOfWords(rows[next] ?? [], periods) ? next + 1 : titles + 1;
}

/** Whether the row has words under the periods, and nothing elsewhere. */
export function isOfWords(row: readonly string[], periods: readonly number[]): boolean {
  const cells = [...row.entries()].filter(([, cell]) => cell.trim() !== '');
  return cells.length > 0 && cells.every(([at, cell]) => periods.includes(at) && !isValueText(cell));
}

const longestFlag = 8;

/**
 * Why a line of words among the rows of numbers matters: without a text beside them, it states the unit of the rows below it, and those above may
 * have another one; with the name of a row, short words may be the flags of the numbers above them. @returns null for a table without such a line.
 */
export function wordsUnderPeriods(rows: readonly string[][], periods: readonly number[]): string | null {
  const last = rows.findLastIndex((row) => periods.some((at) => isNumberText(row[at] ?? '')));
  const shown = (row: readonly string[]) =>
    periods
      .map((at) => (row[at] ?? '').trim())
      .find((text) => text !== '')
      ?.slice(0, 60) ?? '';
  const unit = rows.slice(1, Math.max(1, last)).find((row) => isOfWords(row, periods));
  if (unit !== undefined)
    return `"${shown(unit)}" among the rows may be the unit of the rows below it, and not of those above: make a file for each unit`;
  const flags = rows.slice(1, last + 2).find((row) => isOfFlags(row, periods));
  return flags === undefined
    ? null
    : `"${shown(flags)}" in a row without numbers may be the flag of the number above it: put flags beside their numbers, as in 12.5 p`;
}

/** Why the rows below a name without numbers may be of something else than those above it; null without such a name. @param names the column of the names. */
export function headingAmongRows(
  rows: readonly string[][],
  periods: readonly number[],
  names: number,
): string | null {
  const hasNumbers = (row: readonly string[]) => periods.some((at) => isNumberText(row[at] ?? ''));
  const between = rows.slice(rows.findIndex(hasNumbers), rows.findLastIndex(hasNumbers));
  const heading = between.find((row) => row.every((cell, at) => (cell.trim() !== '') === (at === names)));
  return heading === undefined
    ? null
    : `"${(heading[names] ?? '').trim().slice(0, 60)}" among the rows may be a heading: the rows below it may be of something else than those above`;
}

/** Why a line beside that of the periods may have their statuses: it has different words over or under them, as `Actual` and `Forecast`. */
export function statusesOfPeriods(
  above: readonly string[][],
  headerRows: readonly number[],
  periods: readonly number[],
): string | null {
  const last = headerRows.at(-1) ?? 0;
  for (const row of [above[(headerRows[0] ?? 0) - 1] ?? [], ...above.slice(last + 1)]) {
    const cells = periods.map((at) => (row[at] ?? '').trim()).filter((cell) => cell !== '');
    const [, other] = new Set(cells);
    if (other !== undefined && cells.every((cell) => cellOf(cell).kind === 'word'))
      return `"${other.slice(0, 60)}" may be the status of the periods under or over it: put it behind each, as in 2023 forecast`;
  }
  return null;
}

/** Whether the row has only short words under the periods, and texts elsewhere. */
function isOfFlags(row: readonly string[], periods: readonly number[]): boolean {
  const cells = periods.map((at) => (row[at] ?? '').trim()).filter((cell) => cell !== '');
  return (
    cells.length > 0 &&
    cells.every((cell) => cell.length <= longestFlag && cellOf(cell).kind === 'word') &&
    row.some((cell, at) => cell.trim() !== '' && !periods.includes(at))
  );
}

/**
 * The periods of the shortest kind, if most are of it: the years beside the quarters of a line, or the quarters beside months, are sums of
 * them.
 */
function withoutSums(spans: readonly (ReadDate | null)[]): (ReadDate | null)[] {
  const done = spans.filter((span) => span !== null);
  const order = periodKinds.filter((kind) => done.some((span) => span.kind === kind));
  const [shortest] = order;
  const isMost = done.filter(({ kind }) => kind === shortest).length * 2 > done.length;
  return spans.map((span) => (order.length < 2 || !isMost || span?.kind === shortest ? span : null));
}
