// The transforms of a series, as pure functions; docs/transforms.md has the formulas and edge cases. Decides which earlier values a
// transform needs and how far back they may be; legs.ts finds them.
import { addDays, addMonths } from '../../../kernel/dates.ts';
import { entryAt } from '../../../kernel/entries.ts';
import { monthsPerPeriod, type Frequency } from '../../../domain/periods.ts';
import { periodsPerYear, type Transform } from '../../../domain/transforms.ts';
import {
  decimal,
  difference,
  mean,
  percentChange,
  percentOf,
  plus,
  written,
  zero,
  type Decimal,
} from '../../decimal.ts';
import { compoundChange, logChange, naturalLog, standardScore, type Moments } from '../../logarithms.ts';
import {
  createLegs,
  previousWithinDays,
  segmentNo,
  slackDays,
  type Columns,
  type Comparison,
} from './legs.ts';

/** The input of one transform, besides the points. */
export interface TransformRule {
  transform: Transform;
  frequency: Frequency;
  /** For `index`: combination, as numbered by `segmentNo` → the value set to 100. */
  bases: ReadonlyMap<number, Decimal>;
  /** For `zscore`: combination, as numbered by `segmentNo` → its values. */
  moments?: ReadonlyMap<number, Moments>;
  /** For `cumulative`: combination, as numbered by `segmentNo` → the sum of all values before the block. */
  totals?: ReadonlyMap<number, Decimal>;
  /** The dates of breaks, ascending: no value is compared with one beyond a break. Default: no breaks. */
  breaks?: readonly string[];
}

/** The maximum decimals of a mean, or more if the source has more. */
const meanDecimals = 10;

/** The earlier values with which a transform compares; null for none by date. */
const comparisons: Readonly<Record<Transform, Comparison | null>> = {
  change: 'previous',
  change_yoy: 'year',
  pct_change: 'previous',
  yoy: 'year',
  mom: 'month',
  annualised: 'previous',
  log: null,
  log_change: 'previous',
  log_change_annualised: 'previous',
  '3ma': 'previous_two',
  index: null,
  cumulative: null,
  zscore: null,
};

/** Whether a transform compares with points in a window of time; otherwise with the last few points, of any age. */
export function isWindowed(transform: Transform, frequency: Frequency): boolean {
  const comparison = comparisons[transform];
  return comparison === 'year' || comparison === 'month' || monthsPerPeriod[frequency] !== undefined;
}

/** The earliest date whose points the transform may need for a point on the date. */
export function lookBack(transform: Transform, frequency: Frequency, date: string): string {
  const comparison = comparisons[transform];
  if (comparison === null) return date;
  if (comparison === 'year') return back(date, 12, slackDays);
  if (comparison === 'month') return back(date, 1, slackDays);
  const periods = comparison === 'previous_two' ? 2 : 1;
  const months = monthsPerPeriod[frequency];
  // The end of an earlier period may be on any day of its last month.
  if (months !== undefined) return back(date, months * periods, 31);
  const days = previousWithinDays[frequency] ?? Infinity;
  return days === Infinity ? '0001-01-01' : back(date, 0, days * periods);
}

/** The latest date whose points before a block the transform may need, if it compares in a window of time. @param date the newest of the block. */
export function lookBackEnd(transform: Transform, date: string): string {
  const comparison = comparisons[transform];
  if (date < '0004' || (comparison !== 'year' && comparison !== 'month')) return date;
  return addDays(addMonths(date, comparison === 'year' ? -12 : -1), 31);
}

/**
 * The transformed values of a block, in its order; '' for a point without one.
 * @param history the points before the block from `lookBack` of its oldest date to `lookBackEnd` of its newest, ascending.
 */
export function transformValues(rule: TransformRule, history: Columns, block: Columns): string[] {
  const { transform, breaks = [] } = rule;
  const { dates, values } = block;
  const segments = segmentsOf(breaks, block);
  const comparison = comparisons[transform];
  const last = dates.length - 1;
  const isDescending = last > 0 && entryAt(dates, 0) > entryAt(dates, last);
  if (transform === 'cumulative') {
    if (!isDescending) return runningTotals(rule.totals, segments, values);
    return runningTotals(rule.totals, segments.toReversed(), values.toReversed()).reverse();
  }
  if (comparison === null)
    return values.map((text, i) => (text === '' ? '' : (valueAlone(rule, entryAt(segments, i), text) ?? '')));
  const legs = createLegs(comparison, rule.frequency);
  legs.add({ ...history, lineNos: segmentsOf(breaks, history) });
  const own = { dates, values, lineNos: segments };
  legs.add(isDescending ? reversed(own) : own);
  return values.map((text, i) => {
    const found = text === '' ? null : legs.of(entryAt(segments, i), entryAt(dates, i));
    return found === null ? '' : (compared(rule, text, found) ?? '');
  });
}

/** The transformed value of a point that is compared with no other point. */
function valueAlone({ transform, bases, moments }: TransformRule, segment: number, text: string) {
  if (transform === 'log') return naturalLog(decimal(text));
  if (transform === 'index') {
    const base = bases.get(segment);
    return base === undefined ? null : percentOf(decimal(text), base);
  }
  const ofSegment = moments?.get(segment);
  return ofSegment === undefined ? null : standardScore(decimal(text), ofSegment);
}

/** The transformed value of a point that is compared with others. @param found their values, newest first. */
function compared(
  { transform, frequency }: TransformRule,
  text: string,
  found: readonly string[],
): string | null {
  if (transform === '3ma') return mean([text, ...found].map(decimal), meanDecimals);
  const [x, leg] = [decimal(text), decimal(entryAt(found, 0))];
  const perYear = periodsPerYear[frequency] ?? Number.NaN;
  if (transform === 'change' || transform === 'change_yoy') return difference(x, leg);
  if (transform === 'annualised') return compoundChange(x, leg, perYear);
  if (transform === 'log_change') return logChange(x, leg, 1);
  if (transform === 'log_change_annualised') return logChange(x, leg, perYear);
  return percentChange(x, leg);
}

/** The sums of all values up to each point, of its combination. The points are by date ascending; one without a value has none. */
function runningTotals(
  before: ReadonlyMap<number, Decimal> = new Map(),
  segments: readonly number[],
  values: readonly string[],
): string[] {
  const totals = new Map(before);
  return values.map((text, i) => {
    if (text === '') return '';
    const segment = entryAt(segments, i);
    const total = plus(totals.get(segment) ?? zero, decimal(text));
    totals.set(segment, total);
    return written(total);
  });
}

/** The combinations of the points, each between two breaks: no value has a leg or a base beyond one. */
export function segmentsOf(breaks: readonly string[], { dates, lineNos }: Columns): readonly number[] {
  if (breaks.length === 0) return lineNos;
  return lineNos.map((lineNo, i) => segmentNo(breaks, lineNo, entryAt(dates, i)));
}

function reversed({ dates, values, lineNos }: Columns): Columns {
  return { dates: dates.toReversed(), values: values.toReversed(), lineNos: lineNos.toReversed() };
}

/** Moves a date back, but not before year 0001, where the calendar begins. */
function back(date: string, months: number, days: number): string {
  if (date < '0004') return '0001-01-01';
  return addDays(addMonths(date, -months), -days);
}
