// How a table writes its dates, found from their texts, and how often its points come. Pure functions of texts.
import { dayNumber } from '../../../kernel/dates.ts';
import type { Frequency } from '../../../domain/periods.ts';
import { dateReader } from '../../files/dates.ts';
import type { Finding } from './number-forms.ts';

/** What one text means: its first and last day. */
export interface DateSpan {
  from: string;
  to: string;
}

export interface DateForm {
  /** For --date-format; null: ISO and the forms that need none. */
  format: string | null;
  read: (text: string) => DateSpan | null;
}

/** The formats that are tried, after those that are read without one. */
const formats = [
  'D/M/YYYY', 'M/D/YYYY', 'D.M.YYYY', 'D-M-YYYY', 'M-D-YYYY', 'YYYY/M/D', 'YYYY.M.D', 'YYYYMMDD', 'D-MMM-YY', 'D MMM YYYY',
  'D MMMM YYYY', 'D-MMMM-YYYY', 'MMM D, YYYY', 'MMMM D, YYYY', 'D/M/YY', 'M/D/YY', 'D.M.YY', 'MMM-YYYY', 'MMM YYYY', 'MMMM YYYY', 'MMMM-YYYY',
  'YYYY MMM', 'YYYY-MMM', 'MMM-YY', 'MMM YY', 'YYYYMM', 'MM/YYYY', 'M/YYYY', 'MM-YYYY', 'M-YYYY', 'MM.YYYY', 'YYYY/MM', 'YYYY:MM', 'YYYY.MM', 'YYYY MM', 'YYYY[Q]Q', 'YYYY [Q]Q', 'YYYY:[Q]Q', 'YYYY/[Q]Q',
  'Q[Q]YYYY', '[Q]Q-YYYY', '[Q]Q/YYYY', 'Q/YYYY',
]; // prettier-ignore

const forms: readonly DateForm[] = [null, ...formats].map((format) => {
  const read = dateReader(format ?? undefined);
  return { format, read: (text: string) => plausible(read(text)) };
});

/** Years that tables of observations have; 5 or 20240101 as a year is a number. */
function plausible(span: (DateSpan & { isFiscalYear?: boolean }) | null): DateSpan | null {
  if (span === null || span.isFiscalYear === true) return null;
  return span.from >= '1500' && span.to < '2200' ? span : null;
}

export const isBareYear = (text: string): boolean => /^\d{4}$/.test(text);

/**
 * The form in which nearly all of the texts are dates (at most one in twenty is a note).
 * @param texts distinct, in the order of the file. @returns null if they are no dates.
 */
export function detectDates(texts: readonly string[]): Finding<DateForm> | null {
  if (texts.length === 0) return null;
  const enough = Math.ceil(texts.length * 0.95);
  // The texts that no short format fits are the most telling, and most columns are told by their first cells.
  const likely = forms.filter(
    ({ read }) =>
      texts.slice(0, 20).filter((text) => read(text) !== null).length * 2 >= Math.min(20, texts.length),
  );
  const fitting = likely
    .map((form) => {
      const read = new Map(texts.map((text) => [text, form.read(text)]));
      return {
        form,
        read,
        spans: texts.map((text) => read.get(text) ?? null).filter((span) => span !== null),
      };
    })
    .filter(({ spans }) => spans.length >= enough);
  const [best] = fitting.toSorted(
    (a, b) => b.spans.length - a.spans.length || jumps(a.spans) - jumps(b.spans),
  );
  if (best === undefined) return null;
  const { spans } = best;
  // The steps that follow ask for the same dates again and again: reading one takes a microsecond, and looking it up a tenth.
  const form: DateForm = {
    format: best.form.format,
    read: (text) => {
      const known = best.read.get(text);
      return known === undefined ? best.form.read(text) : known;
    },
  };
  const rivals = fitting.filter(
    (other) => other !== best && other.spans.length === spans.length && !sameSpans(other.spans, spans),
  );
  const shown = form.format ?? 'ISO 8601, or a form of one meaning';
  const evidence = `${spans.length} of ${texts.length} texts are dates (${shown}): "${texts[0] ?? ''}"`;
  const rival = rivals.find((other) => jumps(other.spans) <= jumps(spans) * 1.5);
  if (rival === undefined)
    return {
      value: form,
      isSure: true,
      evidence: rivals.length === 0 ? evidence : `${evidence}; no other form gives regular steps`,
    };
  return {
    value: form,
    isSure: false,
    evidence: `${evidence}; ${rival.form.format ?? 'ISO 8601'} would fit as well`,
  };
}

function sameSpans(some: readonly DateSpan[], others: readonly DateSpan[]): boolean {
  return some.every((span, at) => span.from === others[at]?.from && span.to === others[at]?.to);
}

/** How irregular the steps from date to date are, in the order of the file: 1 if all are equal, else more. */
function jumps(spans: readonly DateSpan[]): number {
  const steps = spans.slice(1).map(({ from }, at) => dayNumber(from) - dayNumber(spans[at]?.from ?? from));
  const mean = steps.reduce((sum, step) => sum + Math.abs(step), 0) / steps.length;
  const squares = steps.reduce((sum, step) => sum + step ** 2, 0) / steps.length;
  return steps.length === 0 || mean === 0 ? 1 : squares / mean ** 2;
}

const monthNames = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec';
const namedMonth = `(${monthNames})[a-z]*`;
/** Days and months with one meaning, wherever they stand in a text. */
const dayInText: readonly [expression: RegExp, order: readonly number[]][] = [
  [/(?<!\d)(\d{4})[-_.](\d{2})[-_.](\d{2})(?!\d)/, [1, 2, 3]],
  [
    new RegExp(
      String.raw`(?<!\d)(\d{1,2})(?:st|nd|rd|th)?[\s._/-]*${namedMonth}[\s.,_/-]*(\d{4})(?!\d)`,
      'i',
    ),
    [3, 2, 1],
  ],
  [
    new RegExp(String.raw`\b${namedMonth}[\s._-]*(\d{1,2})(?:st|nd|rd|th)?[\s,._-]+(\d{4})(?!\d)`, 'i'),
    [3, 1, 2],
  ],
  [/(?<!\d)(\d{4})(\d{2})(\d{2})(?!\d)/, [1, 2, 3]],
  [/(?<!\d)(\d{2})[/.-](\d{2})[/.-](\d{4})(?!\d)/, [3, 2, 1]],
  [/(?<!\d)(\d{4})[-_](\d{2})(?![\d-])/, [1, 2]],
  [new RegExp(String.raw`(?<!\d[\s._/-]*)\b${namedMonth}[\s._-]*(\d{4})(?!\d)`, 'i'), [2, 1]],
];

/**
 * The first date in a text, such as a title line or the name of a file: `as on 31-JULY-2014`, `2020-05.csv`. Between slashes and points the
 * day comes first. @returns the date as written, and as YYYY-MM-DD or YYYY-MM; null if there is none.
 */
export function dateInText(text: string): { text: string; date: string } | null {
  for (const [expression, order] of dayInText) {
    const match = expression.exec(text);
    if (match === null) continue;
    const [year = '', month = '', day] = order.map((group) => match[group]);
    const number = /^\d/.test(month)
      ? month
      : String(monthNames.split('|').indexOf(month.slice(0, 3).toLowerCase()) + 1).padStart(2, '0');
    const date = [year, number, ...(day === undefined ? [] : [day.padStart(2, '0')])].join('-');
    if (plausible(dateReader()(date)) !== null) return { text: match[0], date };
  }
  return null;
}

const saysWhen =
  /\bas (?:on|of|at)\b|\bfor the (?:month|quarter|period|year|day)\b|\bend(?:ed|ing)\b|\bdated?\b/i;
const titleLengthMax = 100;

/** The date that lines above a table give it: one after `as on` and its like, else the first in a short line. */
export function dateAbove(texts: readonly string[]): { text: string; date: string } | null {
  const telling = texts.filter((text) => saysWhen.test(text));
  const short = texts.filter((text) => text.length <= titleLengthMax);
  for (const text of [...telling, ...short]) {
    const found = dateInText(text);
    if (found !== null) return found;
  }
  return null;
}

export interface FrequencyFound extends Finding<Frequency> {
  /** Dates of one period after the first of it: `[date, earlier date]`. */
  repeated: number;
}

const monthsOf: readonly [frequency: Frequency, months: number][] = [
  ['annual', 12],
  ['semiannual', 6],
  ['quarterly', 3],
  ['monthly', 1],
];

/** How often the points of one series come. @param spans of its points in any order, as the file states them. */
export function detectFrequency(spans: readonly DateSpan[]): FrequencyFound {
  const sorted = inOrder(spans);
  const isDays = sorted.every(({ from, to }) => from === to);
  if (!isDays) return frequencyOfPeriods(sorted);
  if (sorted.length < 3)
    return {
      value: 'irregular',
      isSure: false,
      repeated: 0,
      evidence: `${sorted.length} dates say nothing of the frequency`,
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
function inOrder(spans: readonly DateSpan[]): readonly DateSpan[] {
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

function frequencyOfPeriods(sorted: readonly DateSpan[]): FrequencyFound {
  const lengths = new Set(sorted.map(({ from, to }) => monthNumber(to) - monthNumber(from) + 1));
  const longest = Math.max(...lengths);
  const frequency = monthsOf.find(([, months]) => months === longest)?.[0] ?? 'irregular';
  if (lengths.size === 1 && frequency !== 'irregular')
    return longest === 1
      ? byGapsOfMonths(sorted, 'the dates are months')
      : found(frequency, `the dates are periods: ${frequency}`);
  return { ...found('irregular', 'the dates are periods of several lengths'), isSure: false };
}

/** Days that stand for months: always one day of the month, or its end. Null if they do not. */
function frequencyOfMonths(sorted: readonly DateSpan[]): FrequencyFound | null {
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

function byGapsOfMonths(sorted: readonly DateSpan[], why: string): FrequencyFound {
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
    value: frequency,
    isSure,
    repeated,
    evidence: `${why}, ${whole} of ${gaps.length} of them ${step} month${step === 1 ? '' : 's'} after the one before`,
  };
}
