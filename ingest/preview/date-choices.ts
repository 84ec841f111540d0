// Choices about dates: the form of dates, the end of fiscal years, the frequency, and the day of publication.
import { frequencies, type Frequency } from '../../domain/periods.ts';
import { isDate } from '../../kernel/dates.ts';
import { pointDate, dateReader } from '../cells/dates/date-patterns.ts';
import { detectDates } from '../detect/table/date-format.ts';
import { detectFrequency } from '../detect/table/frequency.ts';
import { dateAbove } from '../cells/dates/date-in-line.ts';
import {
  dateOfBoth,
  dateTextReader,
  loadedText,
  type DateStyle,
  type ReadDate,
} from '../cells/dates/dates-of-table.ts';
import { namesIn } from '../entry/file-name.ts';
import { dateOf } from '../reshape/long-rows.ts';
import { choiceBetween, factOf, type Guessed } from './choice-between.ts';
import type { Choice, EntryChange } from '../entry/resolve-guesses.ts';

type Labelled = readonly [label: string, set: EntryChange | null];

/** The forms of dates that read the texts of the table; for a table with one date, its location. */
export function dateChoice(guessed: Guessed): Choice | null {
  const { entry, plan } = guessed;
  const { date } = entry;
  if ('in' in date) return placeChoice(guessed, date.in);
  if ('value' in date) return null;
  const texts = textsOf(guessed);
  const title = 'columns' in plan.date ? plan.date.columns.map((at) => plan.titles[at] ?? '').join(' ') : '';
  const found = detectDates(texts, { title, allowsNumbers: true, isTitles: title === '' });
  const now = styleOf(entry) ?? {};
  const others =
    found === null ? [] : [found.style, ...found.alternatives].filter((style) => !isSame(style, now));
  const read = dateTextReader(now);
  const example = exampleOf(texts, read, others);
  if (example === null) return null;
  const options: Labelled[] = [[labelOf(read(example), now), null]];
  for (const style of others)
    options.push(...optionsOf(guessed, texts, example, { ...style, marks: now.marks }));
  return choiceBetween(entry, 'date', `"${example}"${title === '' ? '' : ` in ${title}`} is`, options);
}

/** Null: the dates are not texts of rows or titles. */
function styleOf({ date }: Guessed['entry']): DateStyle | null {
  if (!('column' in date || 'across' in date)) return null;
  const { format, language, marks } = date;
  return { format, language, marks };
}

const isSame = (one: DateStyle, other: DateStyle) =>
  one.format === other.format && (one.language ?? 'en') === (other.language ?? 'en');

/** The first text that a style reads differently from the present one. */
function exampleOf(
  texts: readonly string[],
  now: (text: string) => ReadDate | null,
  others: readonly DateStyle[],
): string | null {
  const readers = others.map((style) => dateTextReader(style));
  const isRead = (text: string) => {
    const own = now(text);
    return (read: (typeof readers)[number]) => {
      const other = read(text);
      return own !== null && other !== null && (own.from !== other.from || own.to !== other.to);
    };
  };
  return (
    texts.find((text) => readers.every(isRead(text))) ??
    texts.find((text) => readers.some(isRead(text))) ??
    null
  );
}

/**
 * A style as an option: with the frequency of its dates, and for years that begin in another one with the possible last days of the year.
 */
function optionsOf(
  { entry }: Guessed,
  texts: readonly string[],
  example: string,
  style: DateStyle,
): Labelled[] {
  const read = dateTextReader(style);
  const span = read(example);
  if (span === null) return [];
  const set: EntryChange = { 'date.format': style.format ?? null, 'date.language': style.language ?? null };
  if (span.kind === 'fiscal year')
    return yearEnds.map((end) => [
      `${labelOf(span, style)}, ending ${dayText(yearEndOf(span, end))}`,
      { ...set, 'series.frequency': 'annual', 'series.fiscal_year_end': end },
    ]);
  const { frequency } = entry.series;
  if (frequency.includes('{')) return [[labelOf(span, style), set]];
  const spans = texts.map((text) => read(text)).filter((each) => each !== null);
  const { value } = detectFrequency(spans);
  const hasYearEnd = factOf(entry, 'fiscal_year_end') !== undefined;
  return [
    [
      `${labelOf(span, style)}${value === frequency ? '' : `: ${value}`}`,
      {
        ...set,
        ...(value !== frequency && { 'series.frequency': value }),
        ...(hasYearEnd && { 'series.fiscal_year_end': null }),
      },
    ],
  ];
}

function labelOf(span: ReadDate | null, { format, language }: DateStyle): string {
  const form =
    format ?? (language === undefined ? 'ISO 8601, or a form of one meaning' : `in the language ${language}`);
  return `${span === null ? 'no date' : spanText(span)} (${form})`;
}

const dayFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
const monthFormat = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });
const dayText = (day: string) => (isDate(day) ? dayFormat.format(new Date(`${day}T00:00:00Z`)) : day);

/** The days of a date, in words. */
export function spanText({ kind, from, to }: ReadDate): string {
  const year = from.slice(0, 4);
  const month = Number(from.slice(5, 7));
  if (kind === 'day') return dayText(from);
  if (kind === 'week') return `the week from ${dayText(from)}`;
  if (kind === 'month') return monthFormat.format(new Date(`${from}T00:00:00Z`));
  if (kind === 'quarter') return `quarter ${Math.ceil(month / 3)} of ${year}`;
  if (kind === 'half') return `half-year ${month > 6 ? 2 : 1} of ${year}`;
  if (kind === 'fiscal year') return `the year ${Number(year) - 1}/${year.slice(2)}`;
  return kind === 'year' ? `the year ${year}` : `the years ${year} to ${to.slice(0, 4)}`;
}

/** The dates of the rows or of the titles as the file has them, without duplicates. */
function textsOf({ plan, rows }: Guessed): string[] {
  const { date } = plan;
  if ('text' in date) return [];
  const texts = new Set<string>();
  const ofRows = new Set<string>();
  for (const row of rows) {
    if (ofRows.size >= textsMax) break;
    ofRows.add(dateOf(row, date));
  }
  if ('columns' in date) for (const text of ofRows) texts.add(text);
  else
    for (const year of date.year < 0 ? [''] : ofRows)
      for (const period of date.across)
        if (period !== '' && texts.size < textsMax) texts.add(dateOfBoth(year, period));
  texts.delete('');
  return [...texts];
}

const textsMax = 5_000;

/** The day of the whole table: in the lines above it, or in the name of the file. */
function placeChoice({ entry, fileName, above: rows }: Guessed, place: 'title' | 'file name'): Choice | null {
  const named = namesIn(fileName).dateInName;
  const above = dateAbove(rows.flat())?.date ?? null;
  const [now, other] = place === 'title' ? [above, named] : [named, above];
  if (now === null || other === null || now === other) return null;
  const otherPlace = place === 'title' ? 'file name' : 'title';
  return choiceBetween(entry, 'date', 'All values are of', [
    [`${now}, which is in the ${place}`, null],
    [`${other}, which is in the ${otherPlace}`, { date: { in: otherPlace } }],
  ]);
}

/** Last days of years that differ from the calendar's, by how common they are. */
const yearEnds = ['06-30', '03-31', '09-30'];

/** The last day of the year that a text names, or that its day or month is in. */
function yearEndOf(span: ReadDate, end: string): string {
  if (span.kind.endsWith('year')) return `${span.to.slice(0, 4)}-${end}`;
  const range = dateReader()(loadedText(span));
  return (range === null ? null : pointDate(range, 'annual', end)) ?? span.to;
}

/** The last day of the years. A typed text is another day. */
export function fiscalYearChoice(guessed: Guessed): Choice | null {
  const { entry } = guessed;
  const style = styleOf(entry);
  if (style === null) return null;
  const read = dateTextReader(style);
  const texts = textsOf(guessed);
  const example = texts.find((text) => (read(text)?.kind ?? '').endsWith('year')) ?? texts[0];
  const span = example === undefined ? null : read(example);
  if (span === null) return null;
  const now = factOf(entry, 'fiscal_year_end') ?? '06-30';
  const ends = [now, ...yearEnds.filter((end) => end !== now)];
  const choice = choiceBetween(
    entry,
    'series.fiscal_year_end',
    `The year "${example ?? ''}" ends on`,
    ends.map((end, at) => [
      dayText(yearEndOf(span, end)),
      at === 0 ? null : { 'series.fiscal_year_end': end },
    ]),
  );
  return choice === null ? null : { ...choice, text: 'series.fiscal_year_end' };
}

/** The last day of a year, as MM-DD. */
const isYearEnd = (text: string): boolean => /^\d\d-\d\d$/.test(text) && isDate(`2024-${text}`);

/** The frequencies that give the texts different dates. */
export function frequencyChoice(guessed: Guessed): Choice | null {
  const { entry } = guessed;
  const { series } = entry;
  if (series.frequency.includes('{')) return null;
  const read = dateTextReader(styleOf(entry) ?? {});
  const spans = textsOf(guessed)
    .map((text) => read(text))
    .filter((span) => span !== null);
  const load = dateReader();
  const stated = factOf(entry, 'fiscal_year_end') ?? '12-31';
  const end = isYearEnd(stated) ? stated : '12-31';
  const isFitting = (frequency: Frequency) => {
    const dates = spans.map((span) => {
      const range = load(loadedText(span));
      return range === null ? null : pointDate(range, frequency, end);
    });
    return (
      !dates.includes(null) &&
      new Set(dates).size === new Set(spans.map(({ from, to }) => `${from} ${to}`)).size
    );
  };
  const others = frequencies.filter((each) => each !== series.frequency && isFitting(each));
  const first = spans[0];
  return choiceBetween(
    entry,
    'series.frequency',
    `The points${first === undefined ? '' : `, the first of ${spanText(first)},`} are`,
    [[series.frequency, null], ...others.map((each): Labelled => [each, { 'series.frequency': each }])],
  );
}

/** The day of publication: of the name of the file or of a column, or the day of the load. */
export function vintageChoice({ entry, fileName, today }: Guessed): Choice | null {
  const { vintage } = entry;
  if (typeof vintage !== 'object') return null;
  const ofLoad = `the day of the load, today ${today}`;
  if ('in' in vintage) {
    const named = namesIn(fileName).dateInName;
    return choiceBetween(entry, 'vintage', 'The values were published on', [
      [`${named ?? 'the day'}, the date in the name of the file`, null],
      [ofLoad, { vintage: null }],
    ]);
  }
  return choiceBetween(entry, 'vintage', 'The values were published on', [
    [`the day in the column ${vintage.column}`, null],
    [ofLoad, { vintage: null, ignore: [...(entry.ignore ?? []), vintage.column] }],
  ]);
}
