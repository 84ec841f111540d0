// Makes series comparable: as an index of a common base period, or as a ratio to another series.
import { dayNumber } from '../../kernel/dates.ts';
import { monthsPerPeriod, type Frequency } from '../periods.ts';
import { placeOf, segmentNo, type ChartPoint } from './line-points.ts';

/**
 * The value of the period that contains the day; for days and weeks, the last on or before it. Null if there is none.
 * The transform `index` of the API finds its base by the same rule.
 */
export function valueAt(points: readonly ChartPoint[], day: string, frequency: Frequency): number | null {
  return pointAt(points, day, frequency)?.value ?? null;
}

/** The point whose value `valueAt` gives. */
export function pointAt(
  points: readonly ChartPoint[],
  day: string,
  frequency: Frequency,
): ChartPoint | undefined {
  if (monthsPerPeriod[frequency] === undefined)
    return points.findLast(({ date, value }) => date <= day && value !== null);
  const found = points.find(({ date }) => date >= day);
  return found === undefined || placeOf(found.date, frequency) > dayNumber(day) ? undefined : found;
}

/**
 * Each value as a percentage of that at the base; null if the base has no value, or it is zero. Values beyond a break are null: they are in
 * another unit than the base.
 */
export function rebased(
  points: readonly ChartPoint[],
  base: string,
  frequency: Frequency,
  breaks: readonly string[] = [],
): ChartPoint[] | null {
  const at = pointAt(points, base, frequency);
  const of = at?.value ?? null;
  if (at === undefined || of === null || of === 0) return null;
  const segment = segmentNo(breaks, at.date);
  return points.map(({ date, value }) => ({
    date,
    value: value === null || segmentNo(breaks, date) !== segment ? null : (value / of) * 100,
  }));
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
