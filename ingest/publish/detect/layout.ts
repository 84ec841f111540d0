// Where the parts of a table are: the lines of its column names, its first line of data, and its dates (down a column, across the
// columns, or one for the whole table). A pure function of the sampled rows.
import { entryAt } from '../../../kernel/entries.ts';
import { dateAbove, detectDates, isBareYear, type DateForm } from './date-forms.ts';
import { isMissingMark, looksNumeric, type Finding } from './number-forms.ts';
import type { Sample } from '../table-rows.ts';

export interface Layout {
  /** Positions in the rows of the sample. */
  headerRows: number[];
  firstRow: number;
  /** The title of each column; a column without one is `column 5`. */
  titles: string[];
  /** The row with the unit of each column. */
  unitRow: number | null;
  dates:
    | {
        kind: 'column';
        column: number;
        /** The column of the months or quarters, if the other one has only the years; and its texts that are none. */
        part: { column: number; others: string[] } | null;
        form: Finding<DateForm>;
      }
    | {
        kind: 'across';
        columns: number[];
        /** The column of the years, if the titles are only months or quarters. */
        year: number | null;
        form: Finding<DateForm>;
      }
    | { kind: 'title'; date: string; evidence: string }
    | { kind: 'none' };
  evidence: string;
}

const headRows = 40;
const profiledRows = 3_000;
const columnsForDates = 60;
const distinctMax = 5_000;
const dateTitle =
  /^(?:.*\bdates?\b.*|\w*date|years?|months?|periods?|time(?:[ _]period)?|quarters?|weeks?|days?|datum|fecha|data|jahr|a[nñ]o|ann[ée]e|dia|mes|ref_?date|fiscal year|fy)$/i;

/** @returns the reason in words if the rows are no table that can be read. */
export function detectLayout({ rows, lines, continued }: Sample): Layout | string {
  const filled = rows.filter((row) => row.some((cell) => cell.trim() !== ''));
  if (filled.length < 2) return 'it has fewer than two lines with content';
  const across = datesAcross(rows);
  const column = dateColumn(rows);
  const firstDated = column === null ? -1 : firstDatedRow(rows, column);
  // Numbers of a row of data may look like years in order; titles stand above the data.
  if (across !== null && (firstDated < 0 || across.row < firstDated))
    return finish(rows, lines, across.row + 1, across.dates, [across.row]);
  if (column !== null && firstDated >= 0)
    return finish(rows, lines, firstDated, { kind: 'column', part: null, ...column });
  const firstRow = rows.findIndex(
    (row, at) =>
      !continued.has(lines[at] ?? 0) &&
      row.some((cell) => looksNumeric(cell.trim())) &&
      row.some((cell) => /\p{L}/u.test(cell) && !looksNumeric(cell.trim())),
  );
  if (firstRow < 0)
    return rows.some(hasNumber)
      ? 'no column has dates, and no line has both words and a number'
      : 'no line has a number';
  const titled = dateAbove(rows.slice(0, firstRow).flat());
  const dates: Layout['dates'] =
    titled === null
      ? { kind: 'none' }
      : { kind: 'title', date: titled.date, evidence: `"${titled.text}" stands above the data` };
  return finish(rows, lines, firstRow, dates);
}

/** The first row that has a date in the column, and more than that. */
function firstDatedRow(
  rows: readonly string[][],
  { column, form }: { column: number; form: Finding<DateForm> },
): number {
  return rows.findIndex(
    (row) =>
      form.value.read((row[column] ?? '').trim()) !== null &&
      row.filter((cell) => cell.trim() !== '').length > 1,
  );
}

/** Adds the titles. @param given the rows of the column names, if they are known. */
function finish(
  rows: readonly string[][],
  lines: readonly number[],
  firstRow: number,
  dates: Layout['dates'],
  given?: number[],
): Layout | string {
  const header = given ?? headerAbove(rows, firstRow, dates.kind === 'column' ? dates.column : null);
  if (header === null) return 'no line above the data names the columns';
  const last = entryAt(header, header.length - 1);
  const dataRow = rows.findIndex(
    (row, at) => at >= Math.max(firstRow, last + 1) && row.some((cell) => cell.trim() !== ''),
  );
  if (dataRow < 0) return 'no data follows the line of the column names';
  const titles = titlesOf(
    header.map((at) => entryAt(rows, at)),
    widthOf(rows),
  );
  const between = Array.from({ length: dataRow - last - 1 }, (_, at) => last + 1 + at);
  const unitRow = between.find((at) => isUnitRow(entryAt(rows, at), titles)) ?? null;
  // A row whose date has another form than most is one of the table: the load says that it is not valid.
  const dated =
    dates.kind !== 'column' ? -1 : between.findIndex((at) => isOddRow(entryAt(rows, at), dates.column));
  const first = dated < 0 ? dataRow : entryAt(between, dated);
  const passed = between.filter((at) => at < first && at !== unitRow && hasNumber(entryAt(rows, at)));
  const names = header.map((at) => entryAt(lines, at)).join(' and ');
  return {
    headerRows: header,
    firstRow: first,
    titles,
    unitRow,
    dates,
    evidence:
      `the columns are named on line ${names}, and the data begins on line ${entryAt(lines, first)}` +
      passed.map((at) => `; line ${entryAt(lines, at)} has no date and is left out`).join(''),
  };
}

const hasNumber = (row: readonly string[]): boolean => row.some((cell) => looksNumeric(cell.trim()));

/** A row with something like a date and a number beside it, other than the numbers of the columns, 1 2 3 or (1) (2) (3). */
function isOddRow(row: readonly string[], dates: number): boolean {
  if (!/\d/.test(row[dates] ?? '') || !hasNumber(row.filter((_, at) => at !== dates))) return false;
  const numbers = row
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '')
    .map((cell) => /^[([]?(\d{1,3})[)\]]?$/.exec(cell)?.[1] ?? '');
  return !numbers.every((text, at) => text !== '' && Number(text) === Number(numbers[0]) + at);
}

function widthOf(rows: readonly string[][]): number {
  return rows.reduce((width, row) => Math.max(width, row.findLastIndex((cell) => cell.trim() !== '') + 1), 0);
}

/**
 * The row that names the most columns above the data, the first of equals; where its names repeat, with the rows of groups above it.
 * @param dates the column of dates: it often has no title, and a row of units or codes has a word there.
 */
function headerAbove(rows: readonly string[][], firstRow: number, dates: number | null): number[] | null {
  const namesIn = (row: readonly string[]) => row.filter((cell, at) => at !== dates && cell.trim() !== '');
  // The more different names the better: a title may stand in many cells as well.
  const counts = rows.slice(0, firstRow).map((row) => {
    const names = namesIn(row);
    return new Set(names).size * 100_000 + names.length;
  });
  const most = Math.max(0, ...counts);
  const width = widthOf(rows);
  if (most === 0 || (most < 200_000 && width > 2)) return null;
  const header = [counts.indexOf(most)];
  for (let above = entryAt(header, 0) - 1; above >= 0 && repeats(header, rows, width); above--)
    if (new Set(namesIn(rows[above] ?? [])).size > 1) header.unshift(above);
  return header;
}

function repeats(header: readonly number[], rows: readonly string[][], width: number): boolean {
  const named = joinedTitles(
    header.map((at) => entryAt(rows, at)),
    width,
  ).filter((title) => title !== '');
  return new Set(named).size < named.length;
}

/** The titles of the columns; those without one, or with one that is taken, get one that is not. */
export function titlesOf(header: readonly (readonly string[])[], width: number): string[] {
  const seen = new Set<string>();
  const joined = joinedTitles(header, width);
  return joined.map((title, at) => {
    const own = title === '' ? `column ${at + 1}` : title;
    let unique = own;
    for (let number = 2; seen.has(unique); number++) unique = `${own} (${number})`;
    seen.add(unique);
    return unique;
  });
}

/** Whether the title was made by `titlesOf`. */
export const isUntitled = (title: string, at: number): boolean => title === `column ${at + 1}`;

/** Groups of columns are named once, above the first of them: the name holds for the columns to the right, up to the next. */
function joinedTitles(header: readonly (readonly string[])[], width: number): string[] {
  const last = header.at(-1) ?? [];
  const parts = header.map((row, level) => {
    let group = '';
    return Array.from({ length: width }, (_, at) => {
      const text = (row[at] ?? '').replaceAll(/\s+/g, ' ').trim();
      if (level === header.length - 1) return text;
      if (text !== '') group = text;
      return (last[at] ?? '').trim() === '' ? text : group;
    });
  });
  return Array.from({ length: width }, (_, at) =>
    parts
      .map((row) => row[at] ?? '')
      .filter((text, level, all) => text !== '' && text !== all[level - 1])
      .join(' / '),
  );
}

/** Short words under most of the titles, that are neither numbers nor tags of the Humanitarian Exchange Language. */
function isUnitRow(row: readonly string[], titles: readonly string[]): boolean {
  const cells = row.map((cell) => cell.trim()).filter((cell) => cell !== '');
  const words = cells.filter(
    (cell) =>
      cell.length <= 60 &&
      !looksNumeric(cell) &&
      !/^[([]\d+[)\]]$/.test(cell) &&
      !cell.startsWith('#') &&
      !isMissingMark(cell),
  );
  return words.length === cells.length && cells.length * 2 >= titles.length - 1 && cells.length > 0;
}

/** What a row says of its date: a year alone where the titles have its months; empty if it says nothing. */
export function dateText(row: readonly string[], dates: Layout['dates']): string {
  const at =
    dates.kind === 'column'
      ? [dates.column, ...(dates.part === null ? [] : [dates.part.column])]
      : dates.kind === 'across' && dates.year !== null
        ? [dates.year]
        : [];
  return at
    .map((each) => (row[each] ?? '').trim())
    .join(' ')
    .trim();
}

/** The titles of the World Bank's DataBank: `2020 [YR2020]`. */
export function periodTitle(title: string): string {
  return title.replace(/\s*\[YR\d{4}\]$/, '').trim();
}

function datesAcross(
  rows: readonly string[][],
): { row: number; dates: Extract<Layout['dates'], { kind: 'across' }> } | null {
  for (const [row, cells] of rows.slice(0, headRows).entries()) {
    const columns = cells.flatMap((cell, at) => (/\d{2}/.test(cell) && cell.trim().length <= 24 ? [at] : []));
    const named = cells.filter((cell) => cell.trim() !== '').length;
    const isRun = (columns.at(-1) ?? 0) - (columns[0] ?? 0) === columns.length - 1;
    if (columns.length < 3 || (!isRun && columns.length * 2 < named)) continue;
    const texts = columns.map((at) => periodTitle(cells[at] ?? ''));
    const form = detectDates(texts);
    if (form === null) continue;
    const spans = texts.map((text) => form.value.read(text));
    const periods = columns.filter((_, at) => spans[at] !== null);
    const days = spans.filter((span) => span !== null).map(({ from }) => from);
    const isOrdered =
      days.every((day, at) => at === 0 || day > (days[at - 1] ?? '')) ||
      days.every((day, at) => at === 0 || day < (days[at - 1] ?? ''));
    if (!isOrdered || periods.length < 3) continue;
    const below = rows.slice(row + 1, row + 1 + profiledRows);
    const values = below
      .flatMap((cellsBelow) => periods.map((at) => (cellsBelow[at] ?? '').trim()))
      .filter((cell) => cell !== '');
    if (
      values.length === 0 ||
      values.filter((cell) => looksNumeric(cell) || isMissingMark(cell)).length < values.length * 0.8
    )
      continue;
    // Whole years in ascending order might be the first row of data of a table without a header: then the rows below are years, too.
    if (texts.every(isBareYear) && values.every((value) => isBareYear(value))) continue;
    return {
      row,
      dates: {
        kind: 'across',
        columns: periods,
        year: null,
        form: {
          ...form,
          evidence: `${periods.length} titles are dates, from ${texts[0] ?? ''} to ${texts.at(-1) ?? ''}`,
        },
      },
    };
  }
  return null;
}

/** The column of dates: the one whose title says so, else the first. Bare years and numbers need such a title, or the first place. */
function dateColumn(rows: readonly string[][]): { column: number; form: Finding<DateForm> } | null {
  // Titles and notes above and below a table are single cells.
  const table = rows.filter((row) => row.filter((cell) => cell.trim() !== '').length > 1);
  const lower = table.slice(Math.floor(table.length / 2)).slice(0, profiledRows);
  const width = Math.min(columnsForDates, widthOf(rows));
  let best: { column: number; form: Finding<DateForm>; score: number } | null = null;
  for (let column = 0; column < width; column++) {
    const texts = distinctIn(lower, column);
    if (texts.length === 0) continue;
    const filled = lower.filter((row) => (row[column] ?? '').trim() !== '').length;
    if (filled * 2 < lower.filter((row) => row.some((cell) => cell.trim() !== '')).length) continue;
    const form = detectDates(texts);
    if (form === null) continue;
    const isTitled = rows.slice(0, headRows).some((row) => dateTitle.test((row[column] ?? '').trim()));
    const isNumber = texts.every((text) => /^\d+(?:\.\d+)?$/.test(text));
    if (isNumber && !isTitled && column > 0) continue;
    const score = (isTitled ? 2 : 0) + (isNumber ? 0 : 1) + (texts.length > 1 ? 1 : 0);
    if (best === null || score > best.score) best = { column, form, score };
  }
  return best === null ? null : { column: best.column, form: wholeColumn(table, best) };
}

/** The form again, from the whole column: its first dates may be the only ones that tell day and month apart. */
function wholeColumn(
  rows: readonly string[][],
  { column, form }: { column: number; form: Finding<DateForm> },
): Finding<DateForm> {
  const texts = distinctIn(rows, column).filter((text) => /\d/.test(text));
  return detectDates(texts) ?? form;
}

function distinctIn(rows: readonly string[][], column: number): string[] {
  const texts = new Set<string>();
  for (const row of rows) {
    const text = (row[column] ?? '').trim();
    if (text !== '') texts.add(text);
    if (texts.size >= distinctMax) break;
  }
  return [...texts];
}
