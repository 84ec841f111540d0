// The layout of a line chart, in pixels: the frame, the ticks, the lines, their names. chart.ts writes the SVG from it, and a page finds
// the nearest point with it.
import { scaleLinear, scaleLog } from 'd3-scale';
import { entryAt } from '../../kernel/entries.ts';
import type { Frequency } from '../periods.ts';
import { placeLabels, type EndLabel } from './end-labels.ts';
import { placeOf, runsOf, sampled, segmentsOf, type ChartPoint, type PlacedPoint } from './line-points.ts';
import { lineStyle, stylesCount, type LineStyle, type Theme } from './palette.ts';
import { boldWidthOf, fitted, fittedEnd, widthOf } from './text.ts';
import {
  dateTicks,
  linearExtent,
  linearTicks,
  logExtent,
  logTicks,
  type DateTick,
  type Extent,
  type ValueTick,
} from './ticks.ts';

export interface ChartLine {
  name: string;
  /** By date. */
  points: readonly ChartPoint[];
  /** The index of its colour and dash, see `lineStyle`; by default its own index. */
  styleNo?: number;
  /** An earlier vintage of another line. */
  isDotted?: boolean;
  /** By default that of the chart. */
  frequency?: Frequency;
  /** The first dates in another unit, ascending: no line connects values on both sides of one. */
  breaks?: readonly string[];
}

/** The content and look of a chart. */
export interface Chart {
  title: string;
  unit: string;
  frequency: Frequency;
  /** At most `linesMax`. */
  lines: readonly ChartLine[];
  width: number;
  height: number;
  theme: Theme | 'page';
  isLog: boolean;
  /** A value drawn as an axis, such as 100 of an index. */
  base: number | null;
  /** For a file or an embed: title, caption and background are drawn, which a page has around its chart. */
  standalone?: { caption: string };
  /** The first and last date of the axis; by default those of the points. */
  window?: { from: string; to: string };
}

export interface Frame {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export interface LaidOutLine extends LineStyle {
  line: ChartLine;
  /** The drawn parts: connected points. */
  runs: PlacedPoint[][];
  /** The newest point with a value. */
  last: PlacedPoint | undefined;
}

export interface ChartLayout {
  chart: Chart;
  frame: Frame;
  /** The first line of text, with the unit. */
  unitY: number;
  valueTicks: ValueTick[];
  dateTicks: readonly DateTick[];
  /** The days of breaks between the points. */
  breaks: number[];
  lines: LaidOutLine[];
  labels: EndLabel[];
  /** Names are above the frame, because there is no room beside it. */
  legend: { lineNo: number; text: string; x: number; y: number }[];
  /** Values at or below zero, which a log scale cannot show. */
  hiddenCount: number;
  /** The days at both ends of the axis. */
  days: Extent;
  x(day: number): number;
  y(value: number): number;
}

/** Each line of a chart has a style of its own. */
export const linesMax = stylesCount;
/** Far below any measured value: smaller values count as zero. */
const logLeast = 1e-100;
const labelWidthMax = 162;
/** Below this width the names of lines are above the frame, or in chips on a page. */
const labelledWidthMin = 560;

/** The layout of a chart. */
export function layOut(chart: Chart): ChartLayout {
  if (chart.lines.length > linesMax) throw new RangeError(`a chart of ${chart.lines.length} lines`);
  const isShown = (value: number): boolean => !chart.isLog || value >= logLeast;
  const segments = chart.lines.map(({ points, frequency, breaks }) =>
    segmentsOf(points, breaks).map((segment) => runsOf(segment, frequency ?? chart.frequency, isShown)),
  );
  const runs = segments.map((ofLine) => ofLine.flat());
  const days = daysOf(chart, runs);
  const extent = valuesOf(chart, runs);
  // Without values nothing is known that an axis could show.
  const isEmpty = runs.every((ofLine) => ofLine.length === 0);
  const valueTicks = isEmpty ? [] : (chart.isLog ? logTicks : linearTicks)(extent, chart.unit);
  const legend = legendOf(chart);
  const frame = frameOf(chart, valueTicks, legend.rows);
  const scale = chart.isLog ? scaleLog() : scaleLinear();
  scale.domain([extent.low, extent.high]).range([frame.bottom, frame.top]).clamp(true);
  const x = scaleLinear().domain([days.low, days.high]).range([frame.left, frame.right]);
  const lines = chart.lines.map((line, lineNo) => ({
    line,
    ...lineStyle(line.styleNo ?? lineNo),
    // Each segment separately: the reduction to pixel columns connects points differently.
    runs: entryAt(segments, lineNo).flatMap((segment) => sampled(segment, x)),
    last: entryAt(runs, lineNo).at(-1)?.at(-1),
  }));
  const own = chart.lines.map(({ frequency }) => frequency ?? chart.frequency);
  const frequencies = own.length === 0 ? [chart.frequency] : own;
  return {
    chart,
    frame,
    unitY: unitYOf(chart),
    valueTicks,
    dateTicks:
      isEmpty && chart.window === undefined ? [] : dateTicks(days, frame.right - frame.left, frequencies),
    breaks: breaksOf(chart, days),
    lines,
    labels: hasEndLabels(chart) ? labelsOf(lines, frame, x, scale) : [],
    legend: legend.entries,
    hiddenCount: chart.isLog ? countHidden(chart) : 0,
    days,
    x,
    y: scale,
  };
}

function labelsOf(
  lines: readonly LaidOutLine[],
  frame: Frame,
  x: (day: number) => number,
  y: (value: number) => number,
): EndLabel[] {
  const texts = labelTextsOf(lines.map(({ line }) => line));
  const ends = lines.flatMap(({ last }, lineNo) =>
    last === undefined
      ? []
      : [{ lineNo, text: entryAt(texts, lineNo), dotX: x(last.day), dotY: y(last.value) }],
  );
  return placeLabels(ends, frame.top + 4, frame.bottom - 4);
}

/** The names as labels: cut at the end, or at the beginning where several would read the same. */
function labelTextsOf(lines: readonly ChartLine[]): string[] {
  const cut = lines.map(({ name }) => fitted(name, labelWidthMax));
  return cut.map((text, lineNo) => {
    const { name } = entryAt(lines, lineNo);
    const isAlike = cut.some((other, otherNo) => other === text && entryAt(lines, otherNo).name !== name);
    return isAlike ? fittedEnd(name, labelWidthMax) : text;
  });
}

function hasEndLabels({ lines, width }: Chart): boolean {
  return lines.length > 1 && width >= labelledWidthMin;
}

const padding = 16;

function paddingOf({ standalone }: Chart): number {
  return standalone === undefined ? 0 : padding;
}

function unitYOf(chart: Chart): number {
  return chart.standalone === undefined ? 12 : padding + 40;
}

function frameOf(chart: Chart, ticks: readonly ValueTick[], legendRows: number): Frame {
  const outer = paddingOf(chart);
  const isNarrow = chart.width < labelledWidthMin;
  const tickWidth = Math.max(0, ...ticks.map(({ label }) => widthOf(label)));
  const labelWidth = Math.max(0, ...labelTextsOf(chart.lines).map(boldWidthOf));
  return {
    left: outer + Math.max(isNarrow ? 34 : 46, Math.ceil(tickWidth) + 10),
    right: chart.width - outer - (hasEndLabels(chart) ? Math.ceil(labelWidth) + 24 : 14),
    top: unitYOf(chart) + 18 + legendRows * legendRowHeight,
    bottom: chart.height - outer - 30 - (chart.standalone === undefined ? 0 : 18),
  };
}

const legendRowHeight = 18;

const plotHeightMin = 60;

/** Only for files and embeds: a page names the lines in its chips. Names are omitted if a low chart has no room for them. */
function legendOf(chart: Chart): { rows: number; entries: ChartLayout['legend'] } {
  if (chart.standalone === undefined || chart.lines.length < 2 || hasEndLabels(chart))
    return { rows: 0, entries: [] };
  const entries: ChartLayout['legend'] = [];
  const around = unitYOf(chart) + 18 + padding + 48;
  const rowsMax = Math.floor((chart.height - around - plotHeightMin) / legendRowHeight);
  let [x, row] = [padding, 0];
  for (const [lineNo, { name }] of chart.lines.entries()) {
    const text = fitted(name, chart.width - 2 * padding - 16);
    const width = widthOf(text) + 16 + 14;
    if (x > padding && x + width > chart.width - padding) {
      if (row + 1 >= rowsMax) break;
      [x, row] = [padding, row + 1];
    }
    entries.push({ lineNo, text, x, y: unitYOf(chart) + (row + 1) * legendRowHeight });
    x += width;
  }
  return { rows: row + 1, entries };
}

/** The days of the axis: those of the window, or of the points; never empty. */
function daysOf({ window, frequency }: Chart, runs: readonly PlacedPoint[][][]): Extent {
  let [low, high] = [Infinity, -Infinity];
  for (const run of runs.flat()) {
    low = Math.min(low, entryAt(run, 0).day);
    high = Math.max(high, entryAt(run, run.length - 1).day);
  }
  if (window !== undefined) {
    low = Math.min(low, placeOf(window.from, frequency));
    high = Math.max(high, placeOf(window.to, frequency));
  }
  if (low > high) return { low: 0, high: 365 };
  return low === high ? { low: low - 15, high: high + 15 } : { low, high };
}

function breaksOf({ lines, frequency }: Chart, { low, high }: Extent): number[] {
  const all = lines.flatMap(({ breaks = [], frequency: own }) =>
    breaks.map((date) => placeOf(date, own ?? frequency)),
  );
  return [...new Set(all)].filter((day) => day > low && day <= high);
}

function valuesOf({ isLog, base }: Chart, runs: readonly PlacedPoint[][][]): Extent {
  let [low, high] = [Infinity, -Infinity];
  for (const { value } of runs.flat(2)) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const found = low <= high ? { low, high } : isLog ? { low: 1, high: 10 } : { low: 0, high: 1 };
  return isLog ? logExtent(found, base !== null && base > 0 ? base : null) : linearExtent(found, base);
}

function countHidden({ lines }: Chart): number {
  return lines.flatMap(({ points }) => points).filter(({ value }) => value !== null && value < logLeast)
    .length;
}

/** The date of the observation nearest to a position, among all lines; null if there is no point. */
export function nearestDate({ lines, x }: ChartLayout, position: number): string | null {
  let nearest: string | null = null;
  let distance = Infinity;
  for (const { day, date } of lines.flatMap(({ runs }) => runs.flat())) {
    const away = Math.abs(x(day) - position);
    if (away < distance) [nearest, distance] = [date, away];
  }
  return nearest;
}
