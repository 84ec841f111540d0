// Makes series comparable: as an index of a common base period, or as a ratio to another series.
import { dayNumber } from '../../kernel/dates.ts';
import { monthsPerPeriod, type Frequency } from '../periods.ts';
import { placeOf, type ChartPoint } from './line-points.ts';

/**
 * The value of the period that contains the day; of days and weeks the last on or before it. Null if there is none.
 * The transform `index` of the API finds its base by the same rule.
 */
export function valueAt(points: readonly ChartPoint[], day: string, frequency: Frequency): number | null {
  if (monthsPerPeriod[frequency] === undefined) {
    return points.findLast(({ date, value }) => date <= day && value !== null)?.value ?? null;
  }
  const found = points.find(({ date }) => date >= day);
  if (found === undefined || placeOf(found.date, frequency) > dayNumber(day)) return null;
  return found.value;
}

/** Each value as a percentage of that at the base; null if there is no such value, or it is zero. */
export function rebased(
  points: readonly ChartPoint[],
  base: string,
  frequency: Frequency,
): ChartPoint[] | null {
  const at = valueAt(points, base, frequency);
  if (at === null || at === 0) return null;
  return points.map(({ date, value }) => ({ date, value: value === null ? null : (value / at) * 100 }));
}

/** Each value divided by that of the other series on the same date; null where one is missing, or the other is zero. */
export function ratio(points: readonly ChartPoint[], to: readonly ChartPoint[]): ChartPoint[] {
  const others = new Map(to.map(({ date, value }) => [date, value]));
  return points
    .filter(({ date }) => others.has(date))
    .map(({ date, value }) => {
      const other = others.get(date) ?? null;
      return { date, value: value === null || other === null || other === 0 ? null : value / other };
    });
}
