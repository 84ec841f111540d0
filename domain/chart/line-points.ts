// Turns the points of a series into the points of a line: placed on the axis of days, in runs without a gap, few per pixel. A period
// without a value ends a run, and so does a break of the series.
import { dayNumber } from '../../kernel/dates.ts';
import { entryAt } from '../../kernel/entries.ts';
import { monthsPerPeriod, type Frequency } from '../periods.ts';

export interface ChartPoint {
  /** The last day of its period, `YYYY-MM-DD`. */
  date: string;
  /** Null: published as missing. */
  value: number | null;
}

/** A point with a value. */
export interface PlacedPoint {
  /** The first day of its period, as `dayNumber` counts: a year's value is at the tick of the year. */
  day: number;
  value: number;
  date: string;
}

/** The position of the point of a date on the axis of days. */
export function placeOf(date: string, frequency: Frequency): number {
  const months = monthsPerPeriod[frequency];
  if (months === undefined) return dayNumber(date);
  const month = Number(date.slice(5, 7));
  const first = Math.floor((month - 1) / months) * months + 1;
  return dayNumber(`${date.slice(0, 4)}-${String(first).padStart(2, '0')}-01`);
}

/** The maximum number of days between neighbours: one and a half periods; for days and weeks as for transforms (docs/transforms.md). */
function neighbourDaysMax(frequency: Frequency): number {
  const months = monthsPerPeriod[frequency];
  if (months !== undefined) return months * 30.5 * 1.5;
  return { daily: 7, weekly: 10 }[frequency as string] ?? Infinity;
}

/**
 * The runs of points that a line connects, in order.
 * @param points by date. @param isShown whether a value can be drawn: a log scale cannot show values at or below zero.
 */
export function runsOf(
  points: readonly ChartPoint[],
  frequency: Frequency,
  isShown: (value: number) => boolean,
): PlacedPoint[][] {
  const runs: PlacedPoint[][] = [];
  const farthest = neighbourDaysMax(frequency);
  let run: PlacedPoint[] | null = null;
  for (const { date, value } of points) {
    if (value === null || !Number.isFinite(value) || !isShown(value)) {
      run = null;
      continue;
    }
    const placed = { day: placeOf(date, frequency), value, date };
    const last = run?.at(-1);
    if (run === null || (last !== undefined && placed.day - last.day > farthest)) runs.push((run = [placed]));
    else run.push(placed);
  }
  return runs;
}

/** How many of the breaks are before the values of a date, or at it. @param breaks the first dates in another unit, ascending. */
export function segmentNo(breaks: readonly string[], date: string): number {
  return breaks.filter((first) => first <= date).length;
}

/** The points between breaks, in order: those of one segment are in one unit. */
export function segmentsOf(points: readonly ChartPoint[], breaks: readonly string[] = []): ChartPoint[][] {
  if (breaks.length === 0) return [[...points]];
  return [...Map.groupBy(points, ({ date }) => segmentNo(breaks, date)).values()];
}

/** In a column of one pixel, more points than this are reduced to the first, the lowest, the highest and the last. */
const perColumnMax = 4;

/**
 * The runs with at most four points per column of pixels. The dropped points lie between kept ones in the same column, so the picture is
 * the same.
 */
export function sampled(runs: readonly PlacedPoint[][], columnOf: (day: number) => number): PlacedPoint[][] {
  const columns: { column: number; points: { point: PlacedPoint; runNo: number }[] }[] = [];
  for (const [runNo, run] of runs.entries()) {
    for (const point of run) {
      const column = Math.floor(columnOf(point.day));
      const last = columns.at(-1);
      if (last?.column === column) last.points.push({ point, runNo });
      else columns.push({ column, points: [{ point, runNo }] });
    }
  }
  const reducedPoints = columns.flatMap(({ points }) => reduced(points));
  return [...Map.groupBy(reducedPoints, ({ runNo }) => runNo).values()].map((run) =>
    run.map(({ point }) => point),
  );
}

function reduced<Entry extends { point: PlacedPoint; runNo: number }>(points: Entry[]): Entry[] {
  if (points.length <= perColumnMax) return points;
  let [lowest, highest] = [0, 0];
  for (const [i, { point }] of points.entries()) {
    if (point.value < entryAt(points, lowest).point.value) lowest = i;
    if (point.value > entryAt(points, highest).point.value) highest = i;
  }
  const last = points.length - 1;
  const { runNo } = entryAt(points, last); // a gap within one pixel cannot be seen; one after it can
  const positions = [...new Set([0, lowest, highest, last])].toSorted((a, b) => a - b);
  return positions.map((i) => (i === 0 ? entryAt(points, 0) : { ...entryAt(points, i), runNo }));
}
