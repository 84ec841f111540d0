// The small chart under a chart, in which a window is chosen: all points as thin lines, without values.
import { scaleLinear, scaleLog } from 'd3-scale';
import { line as lineOf } from 'd3-shape';
import type { Frequency } from '../periods.ts';
import type { Axes } from './axes.ts';
import { placeOf, runsOf, sampled, segmentsOf, type ChartPoint, type PlacedPoint } from './line-points.ts';
import { dateTicks } from './ticks.ts';

export interface Overview extends Axes {
  /** The lines, as data of a path. */
  paths: string[];
}

/** @param breaks as of a line of a chart. @param place where it is drawn, in pixels. */
export function overviewOf(
  lines: readonly (readonly ChartPoint[])[],
  {
    frequency,
    isLog,
    breaks = [],
  }: { frequency: Frequency; isLog: boolean; breaks?: readonly string[] | undefined },
  place: { left: number; right: number; width: number; height: number },
): Overview {
  const segments = lines.map((points) =>
    segmentsOf(points, breaks).map((segment) => runsOf(segment, frequency, (value) => !isLog || value > 0)),
  );
  const placed = segments.flat(3);
  const [low, high] = extentOf(placed.map(({ value }) => value));
  const days = lines.flat().map(({ date }) => placeOf(date, frequency));
  const [first, last] = extentOf(days);
  const x = scaleLinear()
    .domain([first, Math.max(last, first + 1)])
    .range([place.left, place.right]);
  const y = (isLog ? scaleLog() : scaleLinear()).domain([low, high]).range([place.height - 2, 2]);
  const path = lineOf<PlacedPoint>(
    ({ day }) => x(day),
    ({ value }) => y(value),
  ).digits(1);
  return {
    paths: segments.map((ofLine) =>
      ofLine
        .flatMap((segment) => sampled(segment, x))
        .map((run) => path(run) ?? '')
        .join(''),
    ),
    frame: { left: place.left, right: place.right, top: 0, bottom: place.height },
    width: place.width,
    valueTicks: [],
    dateTicks: dateTicks({ low: first, high: Math.max(last, first + 1) }, place.right - place.left, [
      frequency,
    ]),
    x,
    y,
  };
}

function extentOf(values: readonly number[]): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low <= high ? [low, high] : [0, 1];
}
