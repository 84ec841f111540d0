// Parses the dates in files: ISO days and periods, or a pattern such as `D-MMM-YYYY`; and gives the date of a point.
import { entryAt } from '../../../kernel/entries.ts';
import { parsePeriod, type DateRange } from '../../../kernel/dates.ts';
import { monthsPerPeriod, periodEnd, type Frequency } from '../../../domain/periods.ts';
import { usageError } from '../../failure.ts';

/** The days that a text covers (one day, or a whole period), null if it is not a date. */
export type DateReader = (text: string) => ReadDate | null;

interface ReadDate extends DateRange {
  /** It names a year that begins in one calendar year and ends in the next; the range is that of the latter. */
  isFiscalYear?: boolean;
}

const monthNames = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];

/** The tokens of a pattern → what they match. Longer ones first: `MMM` is not `MM` and `M`. */
const tokens: readonly [token: string, group: string, expression: string][] = [
  ['YYYY', 'year', '\\d{4}'],
  ['YY', 'shortYear', '\\d{2}'],
  ['MMMM', 'monthName', monthNames.join('|')],
  ['MMM', 'monthName', monthNames.map((name) => name.slice(0, 3)).join('|')],
  ['MM', 'month', '\\d{2}'],
  ['M', 'month', '\\d{1,2}'],
  ['DD', 'day', '\\d{2}'],
  ['D', 'day', '\\d{1,2}'],
  ['Q', 'quarter', '[1-4]'],
];

/**
 * Forms that are read without a pattern, because each has one meaning, and that have a pattern too. A fiscal year has no pattern: `2011/12`
 * could be a month, and only YYYY/MM reads it as one.
 */
const knownForms: Readonly<Record<string, string>> = {
  '2024M01': 'YYYY[M]MM',
  'Jan-24': 'MMM-YY',
  'Q1 2024': '[Q]Q YYYY',
  '30-Jan-2026': 'D-MMM-YYYY',
};
const fiscalYear = /^(\d{4})[/](\d{2}|\d{4})$/;
const fiscalYearForm = '2023/24';

function readFiscalYear(text: string): ReadDate | null {
  const [, first = '', second = ''] = fiscalYear.exec(text) ?? [];
  const last = String(Number(first) + 1);
  if (first === '' || !(second === last || second === last.slice(-2))) return null;
  const range = parsePeriod(last);
  return range === null ? null : { ...range, isFiscalYear: true };
}

/**
 * The reader for a pattern, or by default for ISO 8601: `2024-03-05`, `2024-03`, `2024-Q1`, `2024-H1`, `2024`, a midnight
 * `2024-03-05T00:00:00`, and the known forms, each of which can also be given as the pattern. A pattern has YYYY, YY (69–99 are 19xx, 00–68
 * are 20xx), MMMM and MMM (English month names), MM, M, DD, D and Q; text in [brackets] and every other character is literal. A pattern
 * without a day is a period.
 * @throws IngestFailure if the pattern has no year.
 */
export function dateReader(pattern?: string): DateReader {
  if (pattern === undefined) return readKnown;
  if (pattern === fiscalYearForm) return readFiscalYear;
  const expression = compile(knownForms[pattern] ?? pattern);
  return (text) => {
    const parts = expression.exec(text)?.groups;
    return parts === undefined ? null : rangeOf(parts);
  };
}

function readKnown(text: string): ReadDate | null {
  return (
    parsePeriod(text.replace(/[T ]00:00(?::00(?:\.0+)?)?Z?$/, '')) ??
    readFiscalYear(text) ??
    knownExpressions.reduce<ReadDate | null>((found, expression) => {
      const parts = found === null ? expression.exec(text)?.groups : undefined;
      return parts === undefined ? found : rangeOf(parts);
    }, null)
  );
}

const knownExpressions = Object.values(knownForms).map((pattern) => compile(pattern));

function compile(pattern: string): RegExp {
  const seen = new Set<string>();
  let expression = '';
  for (let at = 0; at < pattern.length;) {
    const literal = /^\[([^\]]*)\]/.exec(pattern.slice(at));
    const token = tokens.find(([name]) => pattern.startsWith(name, at));
    if (literal !== null) {
      expression += RegExp.escape(entryAt(literal, 1));
      at += literal[0].length;
    } else if (token === undefined) {
      expression += RegExp.escape(pattern.charAt(at));
      at += 1;
    } else {
      const [name, group, matches] = token;
      if (seen.has(group)) usageError(`The date format ${pattern} names the ${group} twice.`);
      seen.add(group);
      expression += `(?<${group}>${matches})`;
      at += name.length;
    }
  }
  if (!seen.has('year') && !seen.has('shortYear'))
    usageError(
      `The date format ${pattern} has no year: use YYYY, MM, DD, MMM, M, D, YY or Q, as in DD/MM/YYYY.`,
    );
  if (seen.has('day') && !seen.has('month') && !seen.has('monthName'))
    usageError(`The date format ${pattern} has a day but no month.`);
  return new RegExp(`^${expression}$`, 'i');
}

function rangeOf(parts: Record<string, string | undefined>): DateRange | null {
  const short = Number(parts['shortYear']);
  const year = parts['year'] ?? String(short >= 69 ? 1900 + short : 2000 + short);
  if (parts['quarter'] !== undefined) return parsePeriod(`${year}-Q${parts['quarter']}`);
  const name = parts['monthName']?.toLowerCase();
  const month =
    name === undefined ? parts['month'] : String(monthNames.findIndex((full) => full.startsWith(name)) + 1);
  if (month === undefined) return parsePeriod(year);
  const day = parts['day'];
  const date = [year, month.padStart(2, '0'), ...(day === undefined ? [] : [day.padStart(2, '0')])].join('-');
  return parsePeriod(date);
}

/**
 * The date of a point: the last day of its period at the series' frequency. Null if the text covers a longer period than the series has (a
 * year in a monthly series, a month in a daily one), part of a year in an annual series, or a fiscal year in a series without one.
 */
export function pointDate(range: ReadDate, frequency: Frequency, fiscalYearEnd: string): string | null {
  if (range.isFiscalYear === true && (frequency !== 'annual' || fiscalYearEnd === '12-31')) return null;
  if (range.from === range.to) return periodEnd(range.from, frequency, fiscalYearEnd);
  if (frequency === 'irregular') return range.to;
  if (monthsPerPeriod[frequency] === undefined) return null;
  // In a fiscal-year series a plain year is the fiscal year that ends in it, so the first day of the period decides.
  const end = periodEnd(range.from, frequency, fiscalYearEnd);
  if (frequency === 'annual') return isYear(range) ? end : null;
  return end >= range.to ? end : null;
}

/** A month, quarter or half never dates an annual point: the file does not state which year it belongs to. */
const isYear = ({ from, to }: DateRange): boolean =>
  from.endsWith('-01-01') && to === `${from.slice(0, 4)}-12-31`;

const rememberedMax = 100_000;

/** Caches the results of `read`. The whole cache is cleared when it is large: keeping an LRU order would slow down every row. */
export function remembering<Value>(read: (text: string) => Value): (text: string) => Value {
  const found = new Map<string, Value>();
  return (text) => {
    let value = found.get(text);
    if (value === undefined) {
      if (found.size >= rememberedMax) found.clear();
      value = read(text);
      found.set(text, value);
    }
    return value;
  };
}

/** Caches the dates of points: files repeat them, and parsing costs more than a lookup. */
export class PointDates {
  readonly #read: DateReader;
  readonly #dateByRule = new Map<string, (text: string) => string | null>();
  // The last rule used: consecutive rows usually have the same frequency.
  #frequency: Frequency | null = null;
  #fiscalYearEnd = '';
  #date: (text: string) => string | null = () => null;

  constructor(read: DateReader) {
    this.#read = read;
  }

  /** @returns `YYYY-MM-DD`; null if the text is not a date, or does not fit the frequency. */
  at(text: string, frequency: Frequency, fiscalYearEnd: string): string | null {
    if (frequency !== this.#frequency || fiscalYearEnd !== this.#fiscalYearEnd)
      this.#turnTo(frequency, fiscalYearEnd);
    return this.#date(text);
  }

  #turnTo(frequency: Frequency, fiscalYearEnd: string): void {
    const rule = `${frequency} ${fiscalYearEnd}`;
    this.#date =
      this.#dateByRule.get(rule) ??
      remembering((text) => {
        const range = this.#read(text);
        return range === null ? null : pointDate(range, frequency, fiscalYearEnd);
      });
    this.#dateByRule.set(rule, this.#date);
    this.#frequency = frequency;
    this.#fiscalYearEnd = fiscalYearEnd;
  }
}

/** What a date cell must contain, for the message. */
export function expectedDate(frequency: Frequency, pattern: string | undefined): string {
  const form =
    pattern === undefined
      ? `${exampleOf[frequency]} (other forms: --date-format)`
      : `the date format ${pattern}`;
  return `the date of a point of ${/^[ai]/.test(frequency) ? 'an' : 'a'} ${frequency} series: ${form}`;
}

const exampleOf: Record<Frequency, string> = {
  daily: 'YYYY-MM-DD',
  weekly: 'YYYY-MM-DD',
  monthly: 'YYYY-MM or YYYY-MM-DD',
  quarterly: 'YYYY-Qn, YYYY-MM or YYYY-MM-DD',
  semiannual: 'YYYY-Hn, YYYY-MM or YYYY-MM-DD',
  annual: 'YYYY or YYYY-MM-DD, or YYYY/YY with fiscal_year_end',
  irregular: 'YYYY-MM-DD, YYYY-MM or YYYY',
};

/** Reads a column of vintages: the day, or the last day of a period; null if it is not a date or is in the future. */
export function vintageReader(pattern: string | undefined, today: string): (text: string) => string | null {
  const read = dateReader(pattern);
  return remembering((text) => {
    const date = read(text);
    return date === null || date.isFiscalYear === true || date.to > today ? null : date.to;
  });
}

/** What a cell of a column of vintages must contain, for the message. */
export const expectedVintage = 'the day on which the value was published, not in the future';

/**
 * The vintage given by `--vintage`: a day, or the last day of a period (`2020-05` is 2020-05-31).
 * @throws IngestFailure if it is not a date, or is after `today`.
 */
export function parseVintage(text: string, today: string): string {
  const day = parsePeriod(text)?.to;
  if (day === undefined)
    usageError(`The vintage ${text} is not a date: YYYY-MM-DD is expected, or a period such as 2020-05.`);
  if (day > today)
    usageError(
      `The vintage ${day} is in the future: today is ${today}, and only what is published is loaded.`,
    );
  return day;
}
