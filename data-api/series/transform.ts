// The five transforms of a series, as pure functions; docs/transforms.md has the formulas and edge cases.
// Hides which earlier values a transform needs (legs.ts finds them), and how far back they may be.
import { addDays, addMonths } from '../../kernel/dates.ts';
import { entryAt } from '../../kernel/entries.ts';
import { monthsPerPeriod, type Frequency } from '../../domain/periods.ts';
import { decimal, mean, percentChange, percentOf, type Decimal } from '../decimal.ts';
import { createLegs, previousWithinDays, segmentNo, slackDays, type Columns } from './legs.ts';

export const transforms = ['yoy', 'mom', 'pct_change', '3ma', 'index'] as const;
export type Transform = (typeof transforms)[number];

/** The input of one transform, besides the points. */
export interface TransformRule {
  transform: Transform;
  frequency: Frequency;
  /** For `index`: combination, as numbered by `segmentNo` → the value set to 100. */
  bases: ReadonlyMap<number, Decimal>;
  /** The dates of breaks, ascending: no value has a leg or a base beyond one. Unless given, there are none. */
  breaks?: readonly string[];
}

/** The maximum decimals of a mean, or more if the source has more. */
const meanDecimals = 10;

/** Whether the transform is defined at the frequency: a month-on-month change needs months. */
export function isApplicable(transform: Transform, frequency: Frequency): boolean {
  return transform !== 'mom' || (monthsPerPeriod[frequency] ?? 1) === 1;
}

/** The earliest date whose points the transform may need for a point on the date. */
export function lookBack(transform: Transform, frequency: Frequency, date: string): string {
  if (transform === 'index') return date;
  if (transform === 'yoy') return back(date, 12, slackDays);
  if (transform === 'mom') return back(date, 1, slackDays);
  const periods = transform === '3ma' ? 2 : 1;
  const months = monthsPerPeriod[frequency];
  // The end of an earlier period may be on any day of its last month.
  if (months !== undefined) return back(date, months * periods, 31);
  const days = previousWithinDays[frequency] ?? Infinity;
  return days === Infinity ? '0001-01-01' : back(date, 0, days * periods);
}

/** The latest date whose points before a block the transform may need, if it compares in a window of time. @param date the newest of the block. */
export function lookBackEnd(transform: Transform, date: string): string {
  if (date < '0004' || (transform !== 'yoy' && transform !== 'mom')) return date;
  return addDays(addMonths(date, transform === 'yoy' ? -12 : -1), 31);
}

/**
 * The transformed values of a block, in its order; '' if there is none.
 * @param history the points before the block from `lookBack` of its oldest date to `lookBackEnd` of its newest, ascending.
 */
export function transformValues(rule: TransformRule, history: Columns, block: Columns): string[] {
  const { transform, bases, breaks = [] } = rule;
  const { dates, values } = block;
  const segments = segmentsOf(breaks, block);
  if (transform === 'index')
    return values.map((text, i) => indexValue(text, bases.get(entryAt(segments, i))));
  const legs = createLegs(transform, rule.frequency);
  legs.add({ ...history, lineNos: segmentsOf(breaks, history) });
  const last = dates.length - 1;
  const isDescending = last > 0 && entryAt(dates, 0) > entryAt(dates, last);
  const own = { dates, values, lineNos: segments };
  legs.add(isDescending ? reversed(own) : own);
  return values.map((text, i) => {
    const found = text === '' ? null : legs.of(entryAt(segments, i), entryAt(dates, i));
    if (found === null) return '';
    if (transform === '3ma') return mean([text, ...found].map(decimal), meanDecimals);
    return percentChange(decimal(text), decimal(entryAt(found, 0))) ?? '';
  });
}

function indexValue(text: string, base: Decimal | undefined): string {
  return text === '' || base === undefined ? '' : (percentOf(decimal(text), base) ?? '');
}

/** The combinations of the points, each between two breaks: no value has a leg or a base beyond one. */
function segmentsOf(breaks: readonly string[], { dates, lineNos }: Columns): readonly number[] {
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
