// Other possible readings of a table: each doubt turns a finding into a guess, with its reason, or refuses the table.
import { entryAt } from '../../kernel/entries.ts';
import { cellOf, isNumberText } from '../cells/cell-forms.ts';
import type { DatedText } from '../cells/dates/date-forms.ts';
import { isDateTitle, hasWordOfKind } from '../cells/dates/date-column-titles.ts';
import { headingAmongRows, statusesOfPeriods, wordsUnderPeriods } from './table/dates-across.ts';
import { centredGroup } from './table/header-lines.ts';
import { areDecimals, isDetermined } from './table/column-profile.ts';
import { followsFrom, isDoubtful } from './table/dimensions.ts';
import { detectDates } from './table/date-format.ts';
import { namingParts, possibleParts } from './table/dates-in-two-parts.ts';
import { dateText, distinctIn, periodsAcross, type Layout } from './table/layout.ts';
import { mixedOrder } from './table/mixed-order.ts';
import type { Columns } from './table/column-roles.ts';
import { groupTitle } from '../read/crosstab.ts';
import type { SheetDoubts } from '../read/workbook.ts';
import { doubt, type About, type Draft, type Seen } from './proposal.ts';

/** @param sheet the doubts about the cells of a workbook. @param above the lines above the data. @returns why the table cannot be read, or null. */
export function addDoubts(
  draft: Draft,
  seen: Seen,
  { about, sheet = {}, above }: { about: About; sheet?: SheetDoubts | undefined; above: readonly string[][] },
): string | null {
  const { layout, columns, rows } = seen;
  if (sheet.date !== undefined) doubt(draft, 'date', sheet.date);
  if (sheet.values !== undefined)
    doubt(draft, draft.entry.values === undefined ? 'date' : 'values', sheet.values);
  if (
    sheet.serial !== undefined &&
    layout.dates.kind === 'column' &&
    layout.dates.found.style.format === 'Excel serial'
  )
    return sheet.serial;
  doubtYears(draft, layout, rows, about);
  doubtPeriods(draft, layout, rows);
  doubtParts(draft, layout, columns, rows);
  doubtDates(draft, layout, columns, rows);
  doubtDimensions(draft, seen);
  doubtNumbersAndDates(draft, seen);
  doubtLines(draft, seen, above);
  doubtNumbers(draft, seen);
  doubtVintages(draft, seen);
  doubtTitles(draft, seen);
  const centred =
    layout.dates.kind === 'column'
      ? centredGroup(
          layout.headerRows.map((at) => entryAt(above, at)),
          columns.values.toSorted((a, b) => a - b),
        )
      : null;
  if (centred !== null)
    doubt(
      draft,
      'values',
      `${centred.title} is to the left of ${centred.group}, and may belong to it: names of groups may be centred above their columns`,
    );
  return (
    fiscalParts(layout) ??
    daysAcross(layout) ??
    mixedOrder(layout, rows) ??
    otherPeriods(layout, rows) ??
    doubtHeadings(draft, seen)
  );
}

/** A column of whole numbers may be a code if all are equal, or a row number if it counts from 0 or 1 and is left of the dates. */
function doubtNumbers(
  draft: Draft,
  { layout: { dates, titles }, columns: { values, dimensions }, rows }: Seen,
): void {
  if (dates.kind !== 'column' || values.length < 2) return;
  const groups = new Set(rows.map((row) => dimensions.map((at) => row[at] ?? '').join('\u001f'))).size;
  for (const at of values) {
    const texts = rows.map((row) => (row[at] ?? '').trim()).filter((text) => text !== '');
    const [first = ''] = texts;
    if (
      groups > 1 &&
      groups * 3 <= rows.length &&
      new Set(texts).size > 1 &&
      isDetermined(rows, dimensions, at)
    )
      doubt(
        draft,
        'values',
        `${entryAt(titles, at)} never changes in time, and may describe its row, as a weight does`,
      );
    if (texts.length < 3 || !/^\d{1,9}$/.test(first)) continue;
    const counts = texts.every((text, place) => text === String(Number(first) + place));
    const isOfNumbers = /^(?:no|nr|num|number|seq)\b/i.test(entryAt(titles, at));
    const isNumberOfRow = counts && Number(first) < 2 && (isOfNumbers || at < entryAt(dates.columns, 0));
    if (texts.every((text) => text === first))
      doubt(draft, 'values', `${entryAt(titles, at)} is ${first} in every row, and may be a code`);
    else if (isNumberOfRow)
      doubt(draft, 'values', `${entryAt(titles, at)} counts the rows, and may be a row number, not a value`);
  }
}

/** A title that ends with a day, as ALFRED writes vintages (`GDP_20240125`), or with a quarter or month of a year of two digits (`ROUTPUT65Q4`). */
const vintageTitle =
  /^(.*\p{L}.*?)[ _-]?(?:(?:19|20)\d\d-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])|\d\d(?:Q[1-4]|M\d{1,2}))$/u;

/** Columns beside a column of dates whose titles differ only in a date may be vintages of one series. */
function doubtVintages(draft: Draft, { layout: { dates, titles }, columns: { values } }: Seen): void {
  if (dates.kind !== 'column' || values.length < 2) return;
  const names = values.map((at) => vintageTitle.exec(entryAt(titles, at))?.[1]);
  if (names[0] === undefined || new Set(names).size > 1) return;
  const [first, last] = [entryAt(values, 0), entryAt(values, values.length - 1)];
  doubt(
    draft,
    'values',
    `${entryAt(titles, first)} to ${entryAt(titles, last)} may be vintages of one series: load each as a vintage, not as a series of its own`,
  );
}

/** Two columns of one title are of different things, which no title states. */
function doubtTitles(draft: Draft, { layout: { dates, titles }, columns: { values } }: Seen): void {
  if (dates.kind !== 'column') return;
  const names = values.map((at) => entryAt(titles, at));
  const repeated = names
    .map((name) => name.replace(/ \(\d+\)$/, ''))
    .find((name, at) => name !== names[at] && names.includes(name));
  if (repeated !== undefined)
    doubt(draft, 'values', `several columns have the title ${repeated}, and no line says how they differ`);
}

/** Lines without numbers among the rows, and beside the line of the periods. */
function doubtLines(draft: Draft, { layout, columns, rows }: Seen, above: readonly string[][]): void {
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

/** Quarters below a title that calls them fiscal: they are other months than those of the calendar. */
function fiscalParts({ dates, titles }: Layout): string | null {
  if (dates.kind !== 'column' || (dates.found.kind !== 'quarter' && dates.found.kind !== 'half')) return null;
  const title = entryAt(titles, entryAt(dates.columns, 0));
  return hasWordOfKind('fiscal', title)
    ? `${title} has parts of fiscal years: write the calendar year and quarter or month of each, as in 2023-Q3`
    : null;
}

/** The days of a month across the columns, beside years and months: some look like months. */
function daysAcross({ dates, titles }: Layout): string | null {
  const isOfMonths =
    dates.kind === 'across' ? dates.year !== null : dates.kind === 'column' && dates.found.kind === 'month';
  const first = titles.findIndex((title) => Number(title) === 1);
  const after = titles.slice(first).findIndex((title, at) => Number(title) !== at + 1);
  const count = after < 0 ? titles.length - first : after;
  return isOfMonths && first >= 0 && count >= 28 && count <= 31
    ? `its titles count from 1 to ${count}, and may be the days of each month: write one row for each day`
    : null;
}

/** Days since 1960 reach it in 2028; as those of Excel, it is in 1968. */
const latestOther = 25_000;

const epiTitle = /(?<![a-z])(?:epi|mmwr)[a-z]*[ _-]?(?:week|wk|year)/i;

const severalMonths = /\b(?:\d{1,2}|three|four|six|nine|twelve|rolling|moving)[ -]?months?\b/i;

/** Weeks written as 01/2023 look like months, and months such as 2301 like years. */
function doubtPeriods(draft: Draft, { dates, titles }: Layout, rows: readonly string[][]): void {
  if (dates.kind !== 'column') return;
  const { kind } = dates.found;
  const epidemiological = dates.columns.map((at) => entryAt(titles, at)).find((name) => epiTitle.test(name));
  if (kind === 'week' && epidemiological !== undefined)
    doubt(
      draft,
      'date',
      `${epidemiological} may have weeks from Sunday to Saturday, as MMWR weeks are; they are read as those of ISO 8601, from Monday`,
    );
  if (dates.columns.length > 1) return;
  const title = entryAt(titles, entryAt(dates.columns, 0));
  const stated = hasWordOfKind('week', title) ? 'week' : hasWordOfKind('month', title) ? 'month' : null;
  const isOther =
    stated === 'week'
      ? kind !== 'week' && kind !== 'day'
      : stated === 'month' && kind === 'year' && !hasWordOfKind('year', title);
  if (
    kind === 'day' &&
    areSwapped(
      distinctIn(rows, entryAt(dates.columns, 0)).flatMap((text) => dates.found.read(text)?.from ?? []),
    )
  )
    doubt(
      draft,
      'date',
      `all days are from 1 to 12 January, and may be the first days of months, with day and month in the other order`,
    );
  const isEarly =
    dates.found.style.format === 'Excel serial' &&
    distinctIn(rows, entryAt(dates.columns, 0)).every((text) => Number(text) < latestOther);
  if (isEarly)
    doubt(
      draft,
      'date',
      'numbers of days below 25000 may count from 1960 or 1970, as those of SAS, Stata and R do',
    );
  if (severalMonths.test(title) && (kind === 'month' || kind === 'day'))
    doubt(draft, 'date', `${title} states that each value covers several months; it is dated to the last`);
  if (isOther)
    doubt(
      draft,
      'date',
      `${title} says that its dates are ${stated ?? ''}s, and they are read as another period`,
    );
}

/** A dimension that has one text for each date of a series may hold comments. As a dimension, it would split the series. */
function doubtDimensions(draft: Draft, { layout: { dates, titles }, columns, rows }: Seen): void {
  if (dates.kind !== 'column') return;
  const others = [columns.key, columns.vintage?.at ?? null].filter((at) => at !== null);
  const filled = rows.filter((row) => columns.values.some((at) => isNumberText(row[at] ?? '')));
  const needless = columns.dimensions.filter((dimension) => {
    if (isLengthOfPeriod(dimension, dates, filled)) return false;
    const by = [...others, ...columns.dimensions.filter((at) => at !== dimension)];
    const seen = new Set<string>();
    for (const row of filled) {
      const point = [dateText(row, dates), ...by.map((at) => (row[at] ?? '').trim())].join('\u001f');
      if (seen.has(point)) return false;
      seen.add(point);
    }
    return true;
  });
  if (needless.length === 0) return;
  const named = needless.map((at) => entryAt(titles, at)).join(', ');
  doubt(
    draft,
    'dimensions',
    `no two points of one date differ only in ${named}: it may hold comments, and as a dimension it would split the series`,
  );
}

/** Whether the days of several years are all of January: a program that takes 01/02 for 2 January has read months. */
const areSwapped = (days: readonly string[]): boolean =>
  days.every((day) => /-01-(?:0[1-9]|1[0-2])$/.test(day)) &&
  new Set(days.map((day) => day.slice(0, 4))).size > 1 &&
  new Set(days.map((day) => day.slice(8))).size > 2;

/** A dimension of decimals, or of dates beside years across the columns, may be something else; one of numbers may leave out their names. */
function doubtNumbersAndDates(draft: Draft, { layout: { dates, titles }, columns, rows }: Seen): void {
  const body = rows.filter((row) => columns.values.some((at) => isNumberText(row[at] ?? '')));
  const areNumbers = (at: number) => distinctIn(body, at).every((text) => isNumberText(text));
  const [first] = columns.dimensions;
  const named = [...columns.ignored].find(
    ([at, why]) =>
      why.startsWith(followsFrom) && distinctIn(body, at).every((text) => /\p{L}{2}/u.test(text)),
  );
  if (
    first !== undefined &&
    named !== undefined &&
    columns.key === null &&
    columns.dimensions.every(areNumbers)
  )
    doubt(
      draft,
      'dimensions',
      `the numbers of ${entryAt(titles, first)} name the series, and not ${entryAt(titles, named[0])}, which has one text for several of them`,
    );
  for (const at of columns.dimensions) {
    const texts = distinctIn(body, at);
    const title = entryAt(titles, at);
    if (dates.kind === 'column' && dates.found.kind === 'year' && isDateTitle(title))
      doubt(
        draft,
        'dimensions',
        `${title} may have the day or the part of each year, as in "${texts[0] ?? ''}"`,
      );
    if (areDecimals(texts)) doubt(draft, 'dimensions', `${title} has decimals, which may be values`);
    const found = dates.kind === 'across' && dates.year === null ? detectDates(texts, { title }) : null;
    if (found !== null && found.kind !== 'year' && found.unread.length === 0 && texts.length > 1)
      doubt(draft, 'dimensions', `${title} has dates, as the titles have: the titles may be names`);
  }
}

/** Whether the column states the length of each row's period: month, quarter or year. */
function isLengthOfPeriod(
  column: number,
  dates: Extract<Layout['dates'], { kind: 'column' }>,
  rows: readonly string[][],
): boolean {
  const kinds = rows.map((row) => [
    (row[column] ?? '').trim(),
    dates.found.read(dateText(row, dates))?.kind ?? '',
  ]);
  return isDetermined(kinds, [0], 1) && new Set(kinds.map(([, kind]) => kind)).size > 1;
}

/** A line among the rows that has the periods of the titles again, or others: another table begins there. */
function otherPeriods({ dates, titles }: Layout, rows: readonly string[][]): string | null {
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
function doubtHeadings(draft: Draft, { layout: { dates, titles }, columns, rows }: Seen): string | null {
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

/** If the dates are years, a column that may have their months or quarters is a guess: each would be a series or a dimension of its own. */
function doubtParts(
  { evidence, guessed }: Draft,
  { dates, titles }: Layout,
  columns: Columns,
  rows: readonly string[][],
): void {
  const isAcross = dates.kind === 'across' && dates.year === null;
  if (!isAcross && (dates.kind !== 'column' || dates.columns.length > 1)) return;
  if (dates.found.kind !== 'year' && dates.found.kind !== 'fiscal year') return;
  for (const key of isAcross ? (['dimensions'] as const) : (['values', 'dimensions'] as const)) {
    const parts = possibleParts(columns[key], titles, rows);
    if (key === 'values' && parts.length === 0) parts.push(...namingParts(columns.values, titles));
    if (parts.length === 0) continue;
    const named = parts.slice(0, 3).map((at) => entryAt(titles, at));
    evidence[key] =
      `${evidence[key] ?? ''}; but ${named.join(', ')} may state the month or quarter of the values`;
    guessed.push(key);
  }
}

/** How many years into the future tables usually extend. */
const yearsAhead = 10;

/**
 * Years of two digits are read as 1969 to 2068, so an earlier one may be read as a future year. Years that are all far ahead may be of another
 * calendar.
 */
function doubtYears(
  draft: Draft,
  { dates, titles }: Layout,
  rows: readonly string[][],
  { today }: About,
): void {
  if (dates.kind !== 'column' && dates.kind !== 'across') return;
  const texts =
    dates.kind === 'column' ? rows.map((row) => dateText(row, dates)) : periodsAcross(titles, dates);
  const last = String(Number(today.slice(0, 4)) + yearsAhead);
  const yearOf = (text: string) => dates.found.read(text)?.from.slice(0, 4) ?? '';
  const late = texts.find((text) => !/\d{4}/.test(text) && yearOf(text) > last);
  if (
    late === undefined &&
    texts.some(yearOf) &&
    texts.every((text) => yearOf(text) === '' || yearOf(text) > last)
  )
    doubt(draft, 'date', `all dates are after ${last}, and may be of another calendar`);
  if (late === undefined) return;
  doubt(
    draft,
    'date',
    `"${late}" is read as ${yearOf(late)}: of years of two digits, 69 to 99 are 1969 to 1999, and 00 to 68 are 2000 to 2068`,
  );
}

/** A second column of dates may belong to the values next to it, as in two tables side by side. */
function doubtDates(
  { evidence, guessed }: Draft,
  { dates, titles }: Layout,
  { dimensions, ignored }: Columns,
  rows: readonly string[][],
): void {
  if (dates.kind !== 'column') return;
  const doubt = 'has dates of its own, which may be those of the values beside it';
  const isOther = (at: number) =>
    hasOtherDates(rows.slice(0, 1_000), at, (row) => dates.found.read(dateText(row, dates)));
  for (const [at, why] of ignored)
    if (isDoubtful(why) && isOther(at)) ignored.set(at, `${why}; but it ${doubt}`);
  const named = dimensions.filter(isOther).map((at) => entryAt(titles, at));
  if (named.length === 0) return;
  evidence['dimensions'] = `${evidence['dimensions'] ?? ''}; but ${named.join(', ')} ${doubt}`;
  if (!guessed.includes('dimensions')) guessed.push('dimensions');
}

/** Whether the texts of the column are dates, and one of them lies outside the period of its row. */
function hasOtherDates(
  rows: readonly string[][],
  at: number,
  spanOf: (row: readonly string[]) => DatedText | null,
): boolean {
  const texts = [...new Set(rows.map((row) => (row[at] ?? '').trim()))].filter((text) => text !== '');
  if (texts.every((text) => /^\d+$/.test(text))) return false;
  const form = detectDates(texts);
  if (form === null) return false;
  return rows.some((row) => {
    const [own, span] = [form.read((row[at] ?? '').trim()), spanOf(row)];
    return own !== null && span !== null && (own.to < span.from || own.from > span.to);
  });
}
