// Finds the parts of a table: the lines of its column names, its first line of data, and its dates (down a column, across the columns, or
// one for the whole table). Every possible place of dates is a candidate; the one that dates the most numbers wins.
import { entryAt } from '../../../kernel/entries.ts';
import { cellOf, isNumberText } from '../../cells/cell-forms.ts';
import { dateAbove, dateInText } from '../../cells/dates/date-in-line.ts';
import { isDateTitle } from '../../cells/dates/date-column-titles.ts';
import { yearOf } from '../../cells/dates/carried-years.ts';
import type { Sample } from '../../read/table-rows.ts';
import { columnOfCarriedYears, withCarriedYears } from './find-carried-years.ts';
import { detectDates, type DatesFound } from './date-format.ts';
import { datesAcross, firstBelow, headRows, profiledRows, type Across } from './dates-across.ts';
import {
  cellsShown,
  factLabelled,
  hasNumber,
  headAbove,
  namingDates,
  numbersColumns,
  periodTitles,
  isUnitRow,
  titlesOf,
  whyUnreadTitles,
  widthOf,
  type Head,
  type LineFact,
} from './header-lines.ts';

export interface Layout extends Head {
  /** The position of the first row of data. */
  firstRow: number;
  dates: TableDates;
  /** The lines of the file that state a fact of each column. */
  factLines: Partial<Record<LineFact, number>>;
  /** Why the line of units may have something else. */
  unitDoubt?: string | undefined;
  evidence: string;
}

export type TableDates =
  | {
      kind: 'column';
      /** The column of the dates; or that of the years, and that of their months or quarters. */
      columns: number[];
      found: DatesFound;
      /** Whether an empty cell repeats the one above it. */
      isFilled: boolean;
      /** Texts in the column of months or quarters that are neither, such as `M13` and `Annual`. */
      others: string[];
    }
  | {
      kind: 'across';
      columns: number[];
      /** The column of the years, if the titles are only months or quarters; or of these, if the titles are only years. */
      year: number | null;
      found: DatesFound;
      isFilled: boolean;
      /** Texts in that column that are neither, such as `Annual`. */
      others: string[];
      /** The words before each period; '' for none. */
      after: string;
    }
  | { kind: 'title'; date: string; evidence: string }
  | { kind: 'none' };

const columnsForDates = 60;
const distinctMax = 5_000;
/** Dates that describe the row, such as the maturity of a bond: no points are dated by them. */
const otherTitle = /maturity|expir|inception|birth|redemption|\bdue\b|\bcall date|issue[ _]?date|issued/i;
/** Dates of publication, and the last day of a vintage: not the dates of the values. */
export const vintageTitle =
  /^(?:realtime_?(?:start|end)|vintages?(?:[ _]?dates?)?|(?:date[ _]of[ _])?(?:publication|publish(?:ed)?|release[d]?|issued?|updated?|last[ _]updated?)(?:[ _](?:on|at|dates?))?|(?:first|last)[ _](?:published|released|updated?)|as[ _]of(?:[ _]date)?|known[ _](?:on|since)|revision[ _]?date)$/i;

/** @returns the reason in words if the rows are not a readable table. */
export function detectLayout(sample: Sample): Layout | string {
  const column = columnOfCarriedYears(sample.rows);
  if (column === null) return layoutOf(sample);
  const found = layoutOf({ ...sample, rows: withCarriedYears(sample.rows, column, null) });
  if (typeof found === 'string' || found.dates.kind !== 'column' || found.dates.columns[0] !== column)
    return layoutOf(sample);
  return withYearsCarried(sample, found, found.dates.found, column);
}

/** The layout whose data begins with a year; or why the years of its months are not known. */
function withYearsCarried(
  { rows, lines }: Sample,
  layout: Layout,
  dates: DatesFound,
  column: number,
): Layout | string {
  const texts = (read: DatesFound['read'] | null) =>
    withCarriedYears(rows, column, read).map((row) => (row[column] ?? '').trim());
  const [all, inOrder] = [texts(null), texts(dates.read)];
  const at = all.findIndex((text, each) => text !== inOrder[each] && dates.read(text) !== null);
  if (at >= 0)
    return `"${inOrder[at] ?? ''}" on line ${entryAt(lines, at)} is not in the order of the months or quarters above it, and has no year: put the year into each text`;
  const firstRow = rows.findLastIndex(
    (row, each) =>
      each <= layout.firstRow &&
      each > Math.max(...layout.headerRows) &&
      yearOf((row[column] ?? '').trim()) !== null,
  );
  if (firstRow < 0)
    return `the first month or quarter on line ${entryAt(lines, layout.firstRow)} has no year: put the year into its text`;
  return {
    ...layout,
    firstRow,
    dates: { kind: 'column', columns: [column], found: dates, isFilled: true, others: [] },
    evidence: `${layout.evidence}; the years are at the first of their months or quarters, from line ${entryAt(lines, firstRow)} on`,
  };
}

function layoutOf({ rows, lines, continued }: Sample): Layout | string {
  const filled = rows.filter((row) => row.some((cell) => cell.trim() !== ''));
  if (filled.length < 2)
    return `it has ${filled.length === 1 ? 'one line' : 'no line'} with content; a table has a line of column names and lines of data`;
  const across = datesAcross(rows);
  const column = dateColumn(rows);
  const firstDated = column === null ? -1 : firstDatedRow(rows, column);
  // Numbers of a row of data may look like years in order; titles are above the data, or one of them is the only date of its column. Years after words,
  // such as Index 2015 beside a column of dates, are parts of names.
  const isOfNames = across !== null && across.after !== '' && across.rows.length === 1;
  if (
    across !== null &&
    (firstDated < 0 ||
      (!isOfNames && across.rows[0] < firstDated) ||
      (!isOfNames && across.rows[0] === firstDated && across.columns.length > 2))
  )
    return finishAcross(rows, lines, across);
  if (column !== null && firstDated >= 0)
    return finish(rows, lines, firstDated, {
      kind: 'column',
      columns: [column.column],
      found: column.found,
      isFilled: false,
      others: [],
    });
  const firstRow = rows.findIndex(
    (row, at) =>
      !continued.has(lines[at] ?? 0) &&
      row.some((cell) => isNumberText(cell)) &&
      row.some((cell) => /\p{L}/u.test(cell) && cellOf(cell).kind === 'word'),
  );
  if (firstRow < 0) return withoutDates(rows, lines);
  const titled = dateAbove(rows.slice(0, firstRow).flat());
  const dates: TableDates =
    titled === null
      ? { kind: 'none' }
      : { kind: 'title', date: titled.date, evidence: `"${titled.text}" is above the data` };
  return finish(rows, lines, firstRow, dates);
}

/** Why no dates were found, with the line that is most like data. */
function withoutDates(rows: readonly string[][], lines: readonly number[]): string {
  const at = rows.findIndex(hasNumber);
  if (at >= 0)
    return `no column has dates, and no line has both words and a number: line ${entryAt(lines, at)} has ${cellsShown(entryAt(rows, at))}. ${namingDates}`;
  const longest = rows.reduce((most, row, each) => (row.length > (rows[most]?.length ?? 0) ? each : most), 0);
  // A number with a sign that is not read begins with it or ends in it; a letter has its numbers within sentences.
  const hasDigits = rows.some((row) => row.some((cell) => /^\P{L}*\p{Nd}/u.test(cell)));
  const advice = hasDigits
    ? 'Name signs beside numbers under flags, and the encoding if letters are wrong'
    : 'A table has a line of column names, and lines of data with numbers';
  return `no line has a number: line ${entryAt(lines, longest)} has ${cellsShown(entryAt(rows, longest))}. ${advice}`;
}

/** The first row that has a date in the column, and a value or a mark beside it. */
function firstDatedRow(
  rows: readonly string[][],
  { column, found }: { column: number; found: DatesFound },
): number {
  return rows.findIndex(
    (row) =>
      found.read((row[column] ?? '').trim()) !== null &&
      row.some((cell, at) => at !== column && cell.trim() !== ''),
  );
}

function finishAcross(rows: readonly string[][], lines: readonly number[], across: Across): Layout | string {
  const last = across.rows.at(-1) ?? 0;
  const titles = titlesOf(
    across.rows.map((at) => entryAt(rows, at)),
    widthOf(rows),
  );
  const { columns, found, isFilled, after } = across;
  const dates: TableDates = { kind: 'across', columns, year: null, found, isFilled, after, others: [] };
  return complete(rows, lines, firstBelow(rows, last, columns), dates, {
    headerRows: [...across.rows],
    titles,
    facts: {},
  });
}

function finish(
  rows: readonly string[][],
  lines: readonly number[],
  firstRow: number,
  dates: TableDates,
): Layout | string {
  const head = headAbove(rows, firstRow, dates.kind === 'column' ? entryAt(dates.columns, 0) : null);
  const titled = head === null ? whyUnreadTitles(entryAt(rows, firstRow)) : null;
  if (titled !== null) return `line ${entryAt(lines, firstRow)} has ${titled}`;
  if (head === null)
    return `no line above the data names the columns: line ${entryAt(lines, firstRow)} is data, with ${cellsShown(entryAt(rows, firstRow))}. Add a line of names to the file, or name its line under header`;
  const dated = dates.kind === 'title' ? head.titles.filter((title) => dateInText(title) !== null) : [];
  if (new Set(dated.map((title) => dateInText(title)?.date)).size > 1)
    return `its titles have several dates, such as "${dated[0]?.slice(0, 60)}" and "${dated[1]?.slice(0, 60)}", and are not read as periods: write only the period into each title`;
  return complete(rows, lines, firstRow, dates, head);
}

function complete(
  rows: readonly string[][],
  lines: readonly number[],
  firstRow: number,
  dates: TableDates,
  head: Head,
): Layout | string {
  const { titles, facts } = head;
  const last = Math.max(...head.headerRows, ...Object.values(facts));
  const dataRow = rows.findIndex(
    (row, at) => at >= Math.max(firstRow, last + 1) && row.some((cell) => cell.trim() !== ''),
  );
  if (dataRow < 0)
    return `no data follows line ${entryAt(lines, last)}, the header with ${cellsShown(entryAt(rows, last))}: give the lines of the names and of the first data under header and first`;
  const between = Array.from({ length: Math.max(0, dataRow - last - 1) }, (_, at) => last + 1 + at);
  // Of several lines of words, none is known to have the units.
  const [unitLine, otherLine] = between.filter(
    (at) => isUnitRow(entryAt(rows, at), titles) && (dates.kind !== 'across' || isOneText(entryAt(rows, at))),
  );
  const unitRow = facts.unit ?? (otherLine === undefined ? unitLine : undefined);
  // A row with a date in an unusual form belongs to the table: the load reports it as invalid.
  const dated =
    dates.kind !== 'column'
      ? -1
      : between.findIndex((at) => isOddRow(entryAt(rows, at), entryAt(dates.columns, 0)));
  const first = dated < 0 ? dataRow : entryAt(between, dated);
  const passed = between.filter((at) => at < first && at !== unitRow && hasNumber(entryAt(rows, at)));
  const names = head.headerRows.map((at) => entryAt(lines, at)).join(' and ');
  const stated: Head['facts'] = unitRow === undefined ? facts : { ...facts, unit: unitRow };
  return {
    ...head,
    facts: stated,
    ...(facts.unit === undefined &&
      unitRow !== undefined && { unitDoubt: unitDoubt(entryAt(rows, unitRow), dates) }),
    factLines: Object.fromEntries(Object.entries(stated).map(([fact, at]) => [fact, entryAt(lines, at)])),
    firstRow: first,
    dates,
    evidence:
      `the columns are named on line ${names}, and the data begins on line ${entryAt(lines, first)}` +
      passed.map((at) => `; line ${entryAt(lines, at)} has no date and is left out`).join(''),
  };
}

const unitWord =
  /[%\d\p{Sc}]|\bper|percent|prozent|index|thousand|milli|^[A-Z]{3}\b|^(?:kg|t|tonnes?|tons?|persons?)$/iu;

/** Why a line of words below the titles may not have the units: it has another label, or as many words as columns; undefined if nothing is against it. */
function unitDoubt(row: readonly string[], dates: TableDates): string | undefined {
  const label = dates.kind === 'column' ? (row[entryAt(dates.columns, 0)] ?? '').trim() : '';
  const words = row.map((cell) => cell.trim()).filter((cell) => cell !== '');
  if (label !== '' && factLabelled(label) !== 'unit')
    return `the line of "${label.slice(0, 40)}" may have something else than units`;
  return words.length > 2 &&
    new Set(words).size === words.length &&
    !words.some((word) => unitWord.test(word))
    ? 'a line with another word in each column may continue the titles'
    : undefined;
}

/** The unit of periods is one: different words may be the statuses of the periods. */
const isOneText = (row: readonly string[]): boolean =>
  new Set(row.map((cell) => cell.trim()).filter((cell) => cell !== '')).size === 1;

/** A row with something like a date and a number beside it, other than the numbers of the columns, 1 2 3 or (1) (2) (3). */
function isOddRow(row: readonly string[], dates: number): boolean {
  if (!/\d/.test(row[dates] ?? '') || !hasNumber(row.filter((_, at) => at !== dates))) return false;
  return !numbersColumns(row);
}

/** The text of a row's date: only a year if the titles have the months; empty without a date. */
export function dateText(row: readonly string[], dates: TableDates): string {
  return dateColumns(dates)
    .map((each) => (row[each] ?? '').trim())
    .join(' ')
    .trim();
}

/** The columns that date the rows: one, or that of the year and that of its months. */
export const dateColumns = (dates: TableDates): number[] =>
  dates.kind === 'column'
    ? dates.columns
    : dates.kind === 'across' && dates.year !== null
      ? [dates.year]
      : [];

/** The texts of the periods across the columns, with a year unless that is in a column. */
export function periodsAcross(
  titles: readonly string[],
  { columns, year, found, isFilled, after }: Extract<TableDates, { kind: 'across' }>,
): string[] {
  const all = periodTitles(titles, { after, read: isFilled && year === null ? found.read : null });
  return columns.map((at) => entryAt(all, at));
}

/** The rows with the years of their dates, if these are only in the first row of the months or quarters of a year. */
export function withAllYears(rows: readonly string[][], dates: TableDates): readonly string[][] {
  if ((dates.kind !== 'column' && dates.kind !== 'across') || !dates.isFilled) return rows;
  const [first, second] = dateColumns(dates);
  if (first === undefined) return rows;
  return dates.kind === 'column' && second === undefined
    ? withCarriedYears(rows, first, dates.found.read)
    : filledDown(rows, [first]);
}

/** The rows with empty cells of these columns filled by the cell above. */
export function filledDown(rows: readonly string[][], columns: readonly number[]): string[][] {
  const last = new Map<number, string>();
  return rows.map((row) => {
    const full = [...row];
    for (const at of columns) {
      const text = (full[at] ?? '').trim();
      if (text !== '') last.set(at, text);
      else if (row.some((cell) => cell.trim() !== '')) {
        while (full.length < at) full.push('');
        full[at] = last.get(at) ?? '';
      }
    }
    return full;
  });
}

/** The column of dates: by its title, else the first. Bare years and numbers need such a title, or the first position. */
function dateColumn(rows: readonly string[][]): { column: number; found: DatesFound } | null {
  // Titles and notes above and below a table are single cells.
  const table = rows.filter((row) => row.filter((cell) => cell.trim() !== '').length > 1);
  const lower = table.slice(Math.floor(table.length / 2)).slice(0, profiledRows);
  const width = Math.min(columnsForDates, widthOf(rows));
  // In a block of labelled lines, such as Frequency, the cells are facts of the series.
  const head = rows.slice(0, headRows);
  const unlabelled = head.filter((row) => factLabelled(row[0] ?? '') === null);
  const named = head.length - unlabelled.length > 1 ? unlabelled : head;
  let best: { column: number; found: DatesFound; score: number } | null = null;
  for (let column = 0; column < width; column++) {
    const titles = (column === 0 ? head : named).map((row) => (row[column] ?? '').trim());
    const title = titles.find((text) => isDateTitle(text) || vintageTitle.test(text)) ?? '';
    if (titles.some((text) => otherTitle.test(text) && text.length < 40)) continue;
    const found =
      datesDown(lower, column, title) ?? (lower.length > 40 ? null : datesDown(table, column, title));
    if (found === null) continue;
    const texts = distinctIn(lower, column);
    const isTitled = title !== '' && !vintageTitle.test(title);
    const isNumber = texts.every((text) => /^\d+(?:\.\d+)?$/.test(text));
    const isOnlyYears = isNumber && !isTitled && column > 0;
    if (isOnlyYears && !areYears(distinctIn(table, column).filter((text) => /\d/.test(text)))) continue;
    const score = (isTitled ? 2 : title === '' ? 0 : -2) + (isNumber ? 0 : 1) + (texts.length > 1 ? 1 : 0);
    if (best === null || score > best.score)
      best = {
        ...{ column, score },
        found: isOnlyYears ? doubtfulYears(found, texts) : (wholeColumn(table, column, title) ?? found),
      };
  }
  return best === null ? null : { column: best.column, found: best.found };
}

/** Four years or more, one after the other. */
function areYears(texts: readonly string[]): boolean {
  if (!texts.every((text) => /^(?:1[5-9]|20|21)\d{2}$/.test(text))) return false;
  const years = texts.map(Number);
  return years.length >= 4 && Math.max(...years) - Math.min(...years) === years.length - 1;
}

const doubtfulYears = (found: DatesFound, [text = '']: readonly string[]): DatesFound => ({
  ...found,
  isSure: false,
  evidence: `${found.evidence}; "${text}" may be a number, as no title is known that says it is a year`,
});

function datesDown(rows: readonly string[][], column: number, title: string): DatesFound | null {
  const texts = distinctIn(rows, column);
  if (texts.length === 0) return null;
  const filled = rows.filter((row) => (row[column] ?? '').trim() !== '').length;
  // A year may be only in the first row of its days.
  const isStatedOnce =
    isDateTitle(title) && texts.every((text) => text === title || /^\d{4}\D{0,3}$/.test(text));
  const least = isStatedOnce ? 0 : rows.filter((row) => row.some((cell) => cell.trim() !== '')).length / 5;
  if (filled < least) return null;
  const found = detectDates(texts, { title, allowsNumbers: title !== '' || column === 0 });
  if (found === null) return null;
  // Few rows may be totals and notes: the others are dated.
  const dated = rows.filter((row) => found.read((row[column] ?? '').trim()) !== null).length;
  return dated * 2 >= filled ? found : null;
}

/** The form again, from the whole column: its first dates may be the only ones that distinguish day and month. */
function wholeColumn(rows: readonly string[][], column: number, title: string): DatesFound | null {
  return detectDates(
    distinctIn(rows, column).filter((text) => /\d/.test(text)),
    { title, allowsNumbers: title !== '' || column === 0 },
  );
}

export function distinctIn(rows: readonly string[][], column: number): string[] {
  const texts = new Set<string>();
  for (const row of rows) {
    const text = (row[column] ?? '').trim();
    if (text !== '') texts.add(text);
    if (texts.size >= distinctMax) break;
  }
  return [...texts];
}
