// The five transforms of a series, as pure functions; docs/transforms.md has the formulas and edge cases.
// Hides which earlier values a transform needs (legs.ts finds them), and how far back they may be.
import { addDays, addMonths } from '../../kernel/dates.ts';
import { entryAt } from '../../kernel/entries.ts';
import { monthsPerPeriod, type Frequency } from '../../domain/periods.ts';
import { decimal, mean, percentChange, percentOf, type Decimal } from '../decimal.ts';
import {
  createLegs,
  previousWithinDays,
  segmentNo,
  slackDays,
  type Columns,
  type Legs,
  type LegsTransform,
} from './legs.ts';

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

/**
 * The transformed values of a block, in its order; '' if there is none.
 * @param history the points from `lookBack` of the block's oldest date up to the day before it, ascending.
 */
export function transformValues(rule: TransformRule, history: Columns, block: Columns): string[] {
  if (rule.transform === 'index') return valuesWith(rule, null, block);
  const legs = legsOf({ ...rule, transform: rule.transform }, 'asc');
  legs.add(history);
  const last = block.dates.length - 1;
  const isDescending = last > 0 && entryAt(block.dates, 0) > entryAt(block.dates, last);
  legs.add(isDescending ? reversed(block) : block);
  return valuesWith(rule, legs, block);
}

/** The transformed values of a block, in its order; '' if there is none. @param legs to which its points and their legs were added; null for `index`. */
export function valuesWith(rule: TransformRule, legs: Legs | null, block: Columns): string[] {
  const { breaks = [] } = rule;
  return block.values.map((text, i) => {
    if (text === '') return '';
    const dimsNo = entryAt(block.dimsNos, i);
    if (legs === null) {
      const base = rule.bases.get(segmentNo(breaks, dimsNo, entryAt(block.dates, i)));
      return (base === undefined ? null : percentOf(decimal(text), base)) ?? '';
    }
    const found = legs.of(dimsNo, entryAt(block.dates, i));
    if (found === null) return '';
    if (rule.transform === '3ma') return mean([text, ...found].map(decimal), meanDecimals);
    return percentChange(decimal(text), decimal(entryAt(found, 0))) ?? '';
  });
}

/** The legs of a transform, none of them beyond a break. @param order of the points to be added. */
export function legsOf(
  {
    transform,
    frequency,
    breaks = [],
  }: Omit<TransformRule, 'transform' | 'bases'> & { transform: LegsTransform },
  order: 'asc' | 'desc',
): Legs {
  const legs = createLegs(transform, frequency, order);
  if (breaks.length === 0) return legs;
  return {
    add: ({ dates, values, dimsNos }) =>
      legs.add({
        dates,
        values,
        dimsNos: dimsNos.map((dimsNo, i) => segmentNo(breaks, dimsNo, entryAt(dates, i))),
      }),
    of: (dimsNo, date) => legs.of(segmentNo(breaks, dimsNo, date), date),
    forget: (date) => legs.forget(date),
  };
}

function reversed({ dates, values, dimsNos }: Columns): Columns {
  return { dates: dates.toReversed(), values: values.toReversed(), dimsNos: dimsNos.toReversed() };
}

/** Moves a date back, but not before year 0001, where the calendar begins. */
function back(date: string, months: number, days: number): string {
  if (date < '0004') return '0001-01-01';
  return addDays(addMonths(date, -months), -days);
}
