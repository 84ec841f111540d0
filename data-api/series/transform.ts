// The five transforms of a series, as pure functions; docs/transforms.md has the formulas and edge cases.
// Hides how earlier values are found: by calendar period, or by calendar date within a tolerance; never by row count.
import { addDays, addMonths, dayNumber } from '../../kernel/dates.ts';
import { entryAt, entryOf } from '../../kernel/entries.ts';
import { monthsPerPeriod, type Frequency } from '../../domain/periods.ts';
import { decimal, mean, percentChange, percentOf, type Decimal } from '../decimal.ts';

export const transforms = ['yoy', 'mom', 'pct_change', '3ma', 'index'] as const;
export type Transform = (typeof transforms)[number];

/** Points as columns of equal length, by date ascending or descending; a missing value is ''. */
export interface Columns {
  dates: readonly string[];
  values: readonly string[];
  dimsNos: readonly number[];
}

/** The input of one transform, besides the points. */
interface TransformRule {
  transform: Transform;
  frequency: Frequency;
  /** For `index`: combination → the value set to 100. */
  bases: ReadonlyMap<number, Decimal>;
}

/** The maximum decimals of a mean, or more if the source has more. */
const meanDecimals = 10;
/** How much older than the requested date a leg by date may be: weekends, holidays. */
export const slackDays = 7;
/** How old the previous observation may be to count as that of the previous period. */
const previousWithinDays: Partial<Record<Frequency, number>> = { daily: 7, weekly: 10, irregular: Infinity };

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
  const findLegs = rule.transform === 'index' ? undefined : legFinder(rule, history, block);
  return block.values.map((text, i) => {
    if (text === '') return '';
    const [date, dimsNo] = [entryAt(block.dates, i), entryAt(block.dimsNos, i)];
    if (findLegs === undefined) {
      const base = rule.bases.get(dimsNo);
      return (base === undefined ? null : percentOf(decimal(text), base)) ?? '';
    }
    const legs = findLegs(dimsNo, date);
    if (legs === null) return '';
    const x = decimal(text);
    if (rule.transform === '3ma') return mean([x, ...legs], meanDecimals);
    return percentChange(x, entryAt(legs, 0)) ?? '';
  });
}

/** The values on the earlier dates that a point needs, newest first; null if one is missing. */
type LegFinder = (dimsNo: number, date: string) => Decimal[] | null;

function legFinder({ transform, frequency }: TransformRule, history: Columns, block: Columns): LegFinder {
  const months = monthsPerPeriod[frequency];
  if (months !== undefined) return legsByPeriod(transform, months, history, block);
  const columns = columnsByCombination(history, block);
  if (transform === 'yoy') return legByDate(columns, (date) => addMonths(date, -12));
  if (transform === 'mom') return legByDate(columns, (date) => addMonths(date, -1));
  return previousLegs(columns, transform === '3ma' ? 2 : 1, previousWithinDays[frequency] ?? Infinity);
}

/** Monthly to annual: the preceding periods, counted by calendar. */
function legsByPeriod(transform: Transform, months: number, history: Columns, block: Columns): LegFinder {
  const periodOf = (date: string): number =>
    Math.floor((Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7)) - 1) / months);
  const values = new Map<string, string>();
  for (const { dates, values: texts, dimsNos } of [history, block]) {
    texts.forEach((text, i) => {
      if (text !== '') values.set(`${entryAt(dimsNos, i)} ${periodOf(entryAt(dates, i))}`, text);
    });
  }
  const periodsBack = transform === '3ma' ? [1, 2] : transform === 'yoy' ? [12 / months] : [1];
  return (dimsNo, date) => {
    const period = periodOf(date);
    const legs = periodsBack.map((back) => values.get(`${dimsNo} ${period - back}`));
    return legs.every((leg) => leg !== undefined) ? legs.map(decimal) : null;
  };
}

/** The values of one combination, by ascending day. */
interface Column {
  days: number[];
  values: string[];
}

function columnsByCombination(history: Columns, block: Columns): Map<number, Column> {
  const columns = new Map<number, Column>();
  const add = ({ dates, values, dimsNos }: Columns, i: number): void => {
    const text = entryAt(values, i);
    if (text === '') return;
    const dimsNo = entryAt(dimsNos, i);
    let column = columns.get(dimsNo);
    if (column === undefined) columns.set(dimsNo, (column = { days: [], values: [] }));
    column.days.push(dayNumber(entryAt(dates, i)));
    column.values.push(text);
  };
  for (let i = 0; i < history.dates.length; i += 1) add(history, i);
  const last = block.dates.length - 1;
  const isDescending = last > 0 && entryAt(block.dates, 0) > entryAt(block.dates, last);
  for (let i = 0; i <= last; i += 1) add(block, isDescending ? last - i : i);
  return columns;
}

/** Daily, weekly, irregular: the last value on or before the target date, at most the slack older. */
function legByDate(columns: ReadonlyMap<number, Column>, target: (date: string) => string): LegFinder {
  return (dimsNo, date) => {
    const { days, values } = entryOf(columns, dimsNo);
    const day = dayNumber(target(date));
    const at = lastUpTo(days, day);
    return at < 0 || entryAt(days, at) < day - slackDays ? null : [decimal(entryAt(values, at))];
  };
}

/** Daily, weekly, irregular: the preceding `count` values, each within `withinDays` of the next. */
function previousLegs(columns: ReadonlyMap<number, Column>, count: number, withinDays: number): LegFinder {
  return (dimsNo, date) => {
    const { days, values } = entryOf(columns, dimsNo);
    const at = lastUpTo(days, dayNumber(date));
    const legs: Decimal[] = [];
    for (let i = at - 1; i >= at - count; i -= 1) {
      if (i < 0 || entryAt(days, i + 1) - entryAt(days, i) > withinDays) return null;
      legs.push(decimal(entryAt(values, i)));
    }
    return legs;
  };
}

/** The position of the last day that is not after the given one; −1 if there is none. */
function lastUpTo(days: readonly number[], day: number): number {
  let [low, high] = [0, days.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (entryAt(days, middle) <= day) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Moves a date back, but not before year 0001, where the calendar begins. */
function back(date: string, months: number, days: number): string {
  if (date < '0004') return '0001-01-01';
  return addDays(addMonths(date, -months), -days);
}
