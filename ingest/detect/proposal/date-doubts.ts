// Other possible readings of the dates of a table.
import { entryAt } from '../../../kernel/entries.ts';
import type { DatedText } from '../../cells/dates/date-forms.ts';
import { hasWordOfKind } from '../../cells/dates/date-column-titles.ts';
import { isDoubtful } from '../table/dimensions.ts';
import { detectDates } from '../table/date-format.ts';
import { namingParts, possibleParts } from '../table/dates-in-two-parts.ts';
import { dateText, distinctIn, periodsAcross, type Layout } from '../table/layout.ts';
import type { Columns } from '../table/column-roles.ts';
import { doubt, type About, type Draft } from './proposal.ts';

/** Quarters below a title that calls them fiscal: they are other months than those of the calendar. */
export function fiscalParts({ dates, titles }: Layout): string | null {
  if (dates.kind !== 'column' || (dates.found.kind !== 'quarter' && dates.found.kind !== 'half')) return null;
  const title = entryAt(titles, entryAt(dates.columns, 0));
  return hasWordOfKind('fiscal', title)
    ? `${title} has parts of fiscal years: write the calendar year and quarter or month of each, as in 2023-Q3`
    : null;
}

/** The days of a month across the columns, beside years and months: some look like months. */
export function daysAcross({ dates, titles }: Layout): string | null {
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
export function doubtPeriods(draft: Draft, { dates, titles }: Layout, rows: readonly string[][]): void {
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

/** Whether the days of several years are all of January: a program that takes 01/02 for 2 January has read months. */
const areSwapped = (days: readonly string[]): boolean =>
  days.every((day) => /-01-(?:0[1-9]|1[0-2])$/.test(day)) &&
  new Set(days.map((day) => day.slice(0, 4))).size > 1 &&
  new Set(days.map((day) => day.slice(8))).size > 2;

/** If the dates are years, a column that may have their months or quarters is a guess: each would be a series or a dimension of its own. */
export function doubtParts(
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
export function doubtYears(
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
export function doubtDates(
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
