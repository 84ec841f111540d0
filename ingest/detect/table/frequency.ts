// The frequency of the series of a table, from the dates of each series by majority.
import { dayNumber } from '../../../kernel/dates.ts';
import type { Frequency } from '../../../domain/periods.ts';
import type { DatedText, PeriodKind } from '../../cells/dates/date-forms.ts';
import { dateOfBoth } from '../../cells/dates/dates-of-table.ts';
import { entryAt } from '../../../kernel/entries.ts';
import type { Columns } from './column-roles.ts';
import { dateText, periodsAcross, type Layout } from './layout.ts';
import type { DatesFound } from './date-format.ts';
import type { Finding } from './number-format.ts';
import { frequencyOfDate } from '../../entry/templates.ts';
import { counted, nounOf } from '../../../kernel/text/counted.ts';

export interface FrequencyFound extends Finding<Frequency> {
  /** Dates of one period after the first of it: `[date, earlier date]`. */
  repeated: number;
  /** Why the dates may not be those of the periods. */
  doubt?: string;
}

const monthsOf: readonly [frequency: Frequency, months: number][] = [
  ['annual', 12],
  ['semiannual', 6],
  ['quarterly', 3],
  ['monthly', 1],
];

/** The frequency of one series. @param spans of its points in any order, as the file states them. */
export function detectFrequency(spans: readonly DatedText[]): FrequencyFound {
  const sorted = inOrder(spans);
  if (sorted.length > 0 && sorted.every(({ kind }) => kind === 'week'))
    return found('weekly', 'the dates are weeks');
  const isDays = sorted.every(({ from, to }) => from === to);
  if (!isDays) return frequencyOfPeriods(sorted);
  if (sorted.length < 3)
    return {
      value: 'irregular',
      isSure: false,
      repeated: 0,
      evidence: `${counted(sorted.length, 'date')} ${nounOf(sorted.length, 'says', 'say')} nothing of the frequency`,
    };
  const days = sorted.map(({ from }) => dayNumber(from));
  const gaps = days.slice(1).map((day, at) => day - (days[at] ?? day));
  const share = (is: (gap: number) => boolean) => gaps.filter(is).length / gaps.length;
  const byMonths = frequencyOfMonths(sorted);
  if (byMonths !== null) return byMonths;
  if (share((gap) => gap === 7) >= 0.8 && share((gap) => gap >= 5) >= 0.98)
    return found('weekly', `${percent(share((gap) => gap === 7))} of the dates are 7 days apart`);
  if (share((gap) => gap <= 4) >= 0.9)
    return found('daily', `${percent(share((gap) => gap <= 4))} of the dates are at most 4 days apart`);
  return found('irregular', 'the dates have no constant distance');
}

/** Each span once, the earliest first. Most tables have them so. */
function inOrder(spans: readonly DatedText[]): readonly DatedText[] {
  if (spans.every(({ from }, at) => at === 0 || (spans[at - 1]?.from ?? '') < from)) return spans;
  return [...new Map(spans.map((span) => [`${span.from} ${span.to}`, span])).values()].toSorted((a, b) =>
    a.from < b.from ? -1 : 1,
  );
}

function found(value: Frequency, evidence: string, repeated = 0): FrequencyFound {
  return { value, evidence, isSure: true, repeated };
}

const percent = (share: number) => `${Math.floor(share * 1000) / 10} %`;
const monthNumber = (date: string) => Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7)) - 1;

function frequencyOfPeriods(sorted: readonly DatedText[]): FrequencyFound {
  if (sorted.every(({ kind }) => kind === 'years'))
    return {
      ...found('annual', 'each date is of several years: its point is dated to the last of them'),
      isSure: false,
    };
  const lengths = new Set(sorted.map(({ from, to }) => monthNumber(to) - monthNumber(from) + 1));
  const longest = Math.max(...lengths);
  const frequency = monthsOf.find(([, months]) => months === longest)?.[0] ?? 'irregular';
  if (lengths.size === 1 && frequency !== 'irregular')
    return longest === 1
      ? byGapsOfMonths(sorted, 'the dates are months')
      : {
          ...found(frequency, `the dates are periods: ${frequency}`),
          ...(frequency === 'quarterly' && hasThirds(sorted) && { doubt: thirds }),
        };
  return { ...found('irregular', 'the dates are periods of several lengths'), isSure: false };
}

const thirds = 'no year has a fourth quarter: they may be periods of four months';

/** Whether several years have three quarters each, and none the fourth. */
const hasThirds = (sorted: readonly DatedText[]): boolean =>
  sorted.length >= 6 && sorted.every(({ from }, at) => from.slice(5, 7) === ['01', '04', '07'][at % 3]);

/** The frequency of days that represent months: always the same day of the month, or its end. Null for other days. */
function frequencyOfMonths(sorted: readonly DatedText[]): FrequencyFound | null {
  const ofDay = Array.from({ length: 32 }, () => 0);
  for (const { from } of sorted) {
    const day = Number(from.slice(8, 10));
    ofDay[day] = (ofDay[day] ?? 0) + 1;
  }
  const common = Math.max(...ofDay);
  const within = (from: number, to: number) =>
    ofDay.slice(from, to + 1).reduce((sum, count) => sum + count, 0);
  const candidates: [most: number, what: string][] = [
    [common, 'all dates are of one day of the month'],
    [within(28, 31), 'all dates are ends of months'],
    [within(1, 7), 'all dates are in the first week of a month'],
  ];
  const [most, what] = candidates.reduce((best, each) => (each[0] > best[0] ? each : best));
  if (most < sorted.length * 0.98) return null;
  // A few days in a row may all be in the first week of a month, or in its last.
  if (new Set(sorted.map(({ from }) => monthNumber(from))).size * 2 <= sorted.length) return null;
  return byGapsOfMonths(sorted, most === sorted.length ? what : `${most} of ${sorted.length}: ${what}`);
}

function byGapsOfMonths(sorted: readonly DatedText[], why: string): FrequencyFound {
  const months = [...new Set(sorted.map(({ from }) => monthNumber(from)))];
  const repeated = sorted.length - months.length;
  const gaps = months.slice(1).map((month, at) => month - (months[at] ?? month));
  if (gaps.length === 0) return { ...found('monthly', `${why}, and there is one`, repeated), isSure: false };
  const [frequency, step] = monthsOf.find(([, length]) => gaps.every((gap) => gap % length === 0)) ?? [
    'monthly',
    1,
  ];
  const whole = gaps.filter((gap) => gap === step).length;
  const isSure = gaps.length >= 2 && whole * 2 >= gaps.length;
  return {
    ...{ value: frequency, isSure, repeated },
    ...(step < 12 && isInside(sorted, step) && { doubt: shifted(sorted, frequency) }),
    evidence: `${why}, ${whole} of ${gaps.length} of them ${counted(step, 'month')} after the one before`,
  };
}

/** Whether dates a quarter or half-year apart are neither of its first month, nor in its middle, nor of its last month. */
function isInside(sorted: readonly DatedText[], step: number): boolean {
  const { from, to } = entryAt(sorted, 0);
  const [place, day] = [(Number(from.slice(5, 7)) - 1) % step, Number(to.slice(8))];
  const isOfDays = sorted.every((span) => span.from === span.to);
  if (place === 0 || place === step - 1) return place === 0 && step > 1 && isOfDays && day > 15;
  return !(isOfDays && step === 3 && day >= 10 && day <= 20);
}

const shifted = ([first]: readonly DatedText[], frequency: Frequency): string =>
  `"${first?.to ?? ''}" is dated to the end of its ${periodOf[frequency] ?? ''}: frequency: monthly keeps its month`;

/** The period that a value of each frequency covers. */
export const periodOf: Readonly<Partial<Record<Frequency, string>>> = {
  weekly: 'week',
  monthly: 'month',
  quarterly: 'quarter',
  semiannual: 'half-year',
  annual: 'year',
};

/**
 * The frequency of the dates at which a series has values, if it is lower than that of the table; otherwise null. Most values must be exactly one
 * period after the previous one, and all others a whole number of periods.
 */
export function lowerFrequency(spans: readonly DatedText[], table: string): Frequency | null {
  const own = monthsOf.find(([frequency]) => frequency === table)?.[1];
  const sorted = inOrder(spans);
  if (table === 'daily' || table === 'weekly') {
    const { value, isSure } = detectFrequency(sorted);
    const isLower =
      (value === 'weekly' && table === 'daily') || monthsOf.some(([frequency]) => frequency === value);
    return sorted.length >= 4 && isSure && isLower ? value : null;
  }
  if (own === undefined) return null;
  const months = [...new Set(sorted.map(({ to }) => monthNumber(to)))];
  const gaps = months.slice(1).map((month, at) => month - (months[at] ?? month));
  const lower = monthsOf.find(([, length]) => length > own && gaps.every((gap) => gap % length === 0));
  if (gaps.length < 2 || lower === undefined) return null;
  const [frequency, step] = lower;
  return gaps.filter((gap) => gap === step).length * 2 >= gaps.length ? frequency : null;
}

/** A date at which a series has a value, and its text. */
export interface PointOfSeries extends DatedText {
  number: string;
}

const runLeast = 3;

/** Where the dates of a series change from one distance to another, each at least three times in a row; null if they do not. */
export function changeOfFrequency(
  spans: readonly DatedText[],
): { before: Frequency; after: Frequency; at: string } | null {
  const sorted = inOrder(spans);
  const months = sorted.map(({ to }) => monthNumber(to));
  const gaps = months.slice(1).map((month, at) => month - (months[at] ?? month));
  const at = gaps.findIndex((gap) => gap !== gaps[0]);
  if (at < runLeast || gaps.length - at < runLeast || gaps.slice(at).some((gap) => gap !== gaps[at]))
    return null;
  const [before, after] = [gaps[0], gaps[at]].map(
    (gap) => monthsOf.find(([, length]) => length === gap)?.[0],
  );
  if (before === undefined || after === undefined) return null;
  return { before, after, at: entryAt(sorted, at).to };
}

/** The lower frequency at which a series changes, if it has one value for all months, or quarters, of each such period; or null. */
export function repeatedIn(points: readonly PointOfSeries[], table: string): Frequency | null {
  const own = monthsOf.find(([frequency]) => frequency === table)?.[1] ?? Infinity;
  const found = monthsOf.find(([, length]) => {
    if (length <= own) return false;
    const periods = Map.groupBy(points, ({ to }) => Math.floor(monthNumber(to) / length));
    const full = [...periods.values()].filter((period) => period.length === length / own);
    const values = full.map((period) => new Set(period.map(({ number }) => number)));
    if (values.length <= runLeast || values.some(({ size }) => size > 1)) return false;
    const texts = values.map(([text]) => text);
    return texts.filter((text, at) => at > 0 && text !== texts[at - 1]).length * 4 >= (texts.length - 1) * 3;
  });
  return found?.[0] ?? null;
}

/** The dates of each series, and their frequency if enough series agree. */
export function frequencyOf(...table: Parameters<typeof frequencyOfSeries>): FrequencyFound {
  const { doubt, ...found } = frequencyOfSeries(...table);
  return doubt === undefined ? found : { ...found, isSure: false, evidence: `${found.evidence}; ${doubt}` };
}

function frequencyOfSeries(
  { dates, titles }: Layout,
  columns: Pick<Columns, 'key' | 'dimensions'>,
  rows: readonly string[][],
): FrequencyFound {
  if (dates.kind === 'across') {
    const periods = periodsAcross(titles, dates);
    const ofRows = [...new Set(rows.map((row) => dateText(row, dates)))];
    const texts = ofRows.flatMap((text) => periods.map((period) => dateOfBoth(text, period)));
    const spans = texts.map((text) => dates.found.read(text)).filter((span) => span !== null);
    // Beside months down, "Year" with a title of a year is a year.
    return detectFrequency(
      dates.year === null ? spans : spans.filter(({ kind }) => kind === dates.found.kind),
    );
  }
  if (dates.kind !== 'column')
    return {
      value: 'monthly',
      isSure: false,
      repeated: 0,
      evidence: 'the file is of one day; a month is the most common distance',
    };
  const groups = spansByKey((row) => dateText(row, dates), dates.found, columns, rows);
  const found = [...groups.values()].slice(0, 200).map((spans) => detectFrequency(spans));
  const sure = found.filter(({ isSure }) => isSure);
  const [first = found[0]] = sure;
  if (first === undefined) return detectFrequency([]);
  const agree = sure.filter(({ value }) => value === first.value);
  if (agree.length >= sure.length * 0.9) return first;
  const common =
    [...Map.groupBy(sure, ({ value }) => value)].toSorted((a, b) => b[1].length - a[1].length)[0]?.[1] ??
    sure;
  const most = entryAt(common, 0);
  return {
    ...most,
    isSure: false,
    evidence: `${common.length} of ${sure.length} series: ${most.evidence}`,
  };
}

/** Where one column has months, quarters and years, each row has the frequency of its own date. */
export function mixedFrequency(
  { dates, titles }: Layout,
  { key, frequency }: Pick<Columns, 'key' | 'frequency'>,
  rows: readonly string[][],
  kinds: ReadonlyMap<PeriodKind, number>,
): Finding<string> & {
  /** Whether the id of a series names the frequency. */
  isOfKey: boolean;
} {
  const hasOneEach = (at: number | null): boolean => {
    const kindOf = new Map<string, PeriodKind>();
    if (at === null || dates.kind !== 'column') return false;
    return rows.every((row) => {
      const [text, span] = [(row[at] ?? '').trim(), dates.found.read(dateText(row, dates))];
      const { kind } = span ?? {};
      if (kind === undefined) return true;
      if (!kindOf.has(text)) kindOf.set(text, kind);
      return kindOf.get(text) === kind;
    });
  };
  const counted = [...kinds].map(([kind, count]) => `${count} ${kind}s`).join(', ');
  const isNamed = hasOneEach(frequency);
  return {
    value: `{${frequencyOfDate}}`,
    isSure: isNamed,
    isOfKey: hasOneEach(key),
    evidence: `its dates are ${counted}: a series of each frequency${isNamed && frequency !== null ? `, as ${entryAt(titles, frequency)} says` : ''}`,
  };
}

/** Rows whose date is of another length than most usually are sums of others, and are left out. */
function spansByKey(
  dateOf: (row: readonly string[]) => string,
  { read, kind }: DatesFound,
  { key, dimensions }: Pick<Columns, 'key' | 'dimensions'>,
  rows: readonly string[][],
): Map<string, DatedText[]> {
  const by = [...(key === null ? [] : [key]), ...dimensions];
  const groups = new Map<string, DatedText[]>();
  const known = new Map<string, DatedText | null>();
  for (const row of rows) {
    const text = dateOf(row);
    let span = known.get(text);
    if (span === undefined) known.set(text, (span = read(text)));
    if (span === null || (span.kind !== kind && span.kind !== 'day' && kind !== 'day')) continue;
    const group = by.map((at) => (row[at] ?? '').trim()).join('\u001f');
    const spans = groups.get(group);
    if (spans === undefined) groups.set(group, [span]);
    else spans.push(span);
  }
  return groups;
}
