// The layout of a revision fan, in pixels: the line of every vintage, prepared once as path text, and the first prints. A page that plays
// the vintages only shows and hides these lines.
import { scaleLinear } from 'd3-scale';
import { line as lineOf } from 'd3-shape';
import { entryAt } from '../../../kernel/entries.ts';
import type { Frequency } from '../../periods.ts';
import type { Axes } from '../axes.ts';
import { placeOf, runsOf, sampled, type ChartPoint, type PlacedPoint } from '../line-points.ts';
import { widthOf } from '../text.ts';
import { dateTicks, linearExtent, linearTicks, type ValueTick } from '../ticks.ts';
import type { Frame } from '../layout.ts';
import { firstPrints, newestIn, valueAt, type FirstPrint, type RevisionTable } from './table.ts';

export interface FanOptions {
  frequency: Frequency;
  /** The first period shown. */
  fromNo: number;
  width: number;
  height: number;
  /** Beside the newest line there is room for its label. */
  marginRight: number;
  /** Lets stacked charts share their left edge; at least the width of the ticks. */
  marginLeft: number;
  /** `distance`: each vintage minus the newest, of the same periods. */
  shows: 'values' | 'distance';
  /** Decides how large numbers are written at the axis. */
  unit: string;
}

export interface Fan extends Axes {
  /** Per vintage: an SVG path. */
  paths: string[];
  /** Per first print shown, by date. */
  dots: (FirstPrint & { x: number; y: number })[];
  /** The position of a period of the table. */
  xOf(dateNo: number): number;
  /** The drawn point of a period in a vintage; null for none. */
  shownAt(dateNo: number, vintageNo: number): number | null;
  /** The newest period of a vintage, if it is shown. */
  endOf(vintageNo: number): { dateNo: number; x: number; y: number } | undefined;
}

/** Lays out a fan of the periods from `fromNo` on. */
export function layOutFan(table: RevisionTable, options: FanOptions): Fan {
  const { frequency, fromNo, shows } = options;
  const last = table.vintages.length - 1;
  const shownAt = (dateNo: number, vintageNo: number): number | null => {
    const value = valueAt(table, dateNo, vintageNo);
    if (shows === 'values' || value === null) return value;
    const latest = valueAt(table, dateNo, last);
    return latest === null ? null : value - latest;
  };
  const lines = table.vintages.map((_vintage, vintageNo) => {
    const points: ChartPoint[] = [];
    for (let dateNo = fromNo; dateNo < table.dates.length; dateNo += 1)
      points.push({ date: entryAt(table.dates, dateNo), value: shownAt(dateNo, vintageNo) });
    return runsOf(points, frequency, () => true);
  });
  const extent = linearExtent(extentOf(lines, shows), null);
  const ticks = linearTicks(extent, options.unit);
  const frame = frameOf(options, ticks);
  const days = daysOf(table, options);
  const x = scaleLinear().domain(days).range([frame.left, frame.right]);
  const y = scaleLinear().domain([extent.low, extent.high]).range([frame.bottom, frame.top]);
  const xOf = (dateNo: number): number => x(placeOf(entryAt(table.dates, dateNo), frequency));
  const path = lineOf<PlacedPoint>(
    ({ day }) => x(day),
    ({ value }) => y(value),
  ).digits(1);
  const dots = firstPrints(table).flatMap((print) => {
    const value = print.dateNo < fromNo ? null : shownAt(print.dateNo, print.vintageNo);
    return value === null ? [] : [{ ...print, x: xOf(print.dateNo), y: y(value) }];
  });
  return {
    frame,
    width: options.width,
    valueTicks: ticks,
    dateTicks: dateTicks({ low: days[0], high: days[1] }, frame.right - frame.left, [frequency]),
    paths: lines.map((runs) =>
      sampled(runs, x)
        .map((run) => (run.length > 1 ? path(run) : null) ?? '')
        .join(''),
    ),
    dots,
    x,
    xOf,
    y,
    shownAt,
    endOf(vintageNo) {
      const dateNo = newestIn(table, vintageNo);
      const value = dateNo < fromNo ? null : shownAt(dateNo, vintageNo);
      return value === null ? undefined : { dateNo, x: xOf(dateNo), y: y(value) };
    },
  };
}

function extentOf(lines: readonly PlacedPoint[][][], shows: FanOptions['shows']) {
  let [low, high] = shows === 'distance' ? [0, 0] : [Infinity, -Infinity];
  for (const runs of lines) {
    for (const { value } of runs.flat()) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  if (low > high) return { low: 0, high: 1 };
  // A distance is read relative to zero, so there is room on both sides of it.
  if (shows === 'values') return { low, high };
  const size = Math.max(high, -low);
  return { low: Math.min(low, -size / 4), high: Math.max(high, size / 4) };
}

function frameOf({ width, height, marginLeft, marginRight }: FanOptions, ticks: readonly ValueTick[]): Frame {
  const tickWidth = Math.max(0, ...ticks.map(({ label }) => widthOf(label)));
  return {
    left: Math.max(marginLeft, Math.ceil(tickWidth) + 10),
    right: width - marginRight,
    top: 30,
    bottom: height - 30,
  };
}

function daysOf({ dates }: RevisionTable, { fromNo, frequency }: FanOptions): [number, number] {
  const low = placeOf(entryAt(dates, fromNo), frequency);
  const high = placeOf(entryAt(dates, dates.length - 1), frequency);
  return low === high ? [low - 15, high + 15] : [low, high];
}
