// The finding of a chart in sentences, for people who cannot see it: the span, the latest value, the highest, the lowest.
import { entryAt } from '../../kernel/entries.ts';
import { segmentNo, type ChartPoint } from './line-points.ts';
import type { Chart, ChartLine } from './layout.ts';
import { decimalsOf, formatNumber, periodName } from './text.ts';

interface Valued extends ChartPoint {
  value: number;
}

/** The finding, without the title. */
export function findingOf({ lines, frequency, unit }: Chart): string {
  const shown = lines.map((line) => ({ line, points: line.points.filter(hasValue) }));
  const dates = shown.flatMap(({ points }) => points.map(({ date }) => date)).sort();
  const [first, last] = [dates[0], dates.at(-1)];
  if (first === undefined || last === undefined) return 'No values in this window.';
  const decimals = decimalsOf(shown.flatMap(({ points }) => points.map(({ value }) => value)));
  const formatValue = (value: number): string => formatNumber(value, decimals);
  const span =
    first === last
      ? periodName(first, frequency)
      : `${periodName(first, frequency)} to ${periodName(last, frequency)}`;
  const breaks = [...new Set(lines.flatMap((line) => line.breaks ?? []))]
    .sort()
    .filter((date) => first < date && date <= last);
  const since = breaks.map((date) => periodName(date, frequency)).join(' and ');
  const opening = `${unit === '' ? '' : `${unit}, `}${span}.${since === '' ? '' : ` In another unit since ${since}.`}`;
  const [only] = shown;
  if (shown.length === 1 && only !== undefined)
    return `${opening} ${lineFinding(lastSegment(only.points, breaks), frequency, formatValue)}`;
  return `${opening} Latest: ${shown.map(({ line, points }) => latestOf(line, points, frequency, formatValue)).join('; ')}.`;
}

/** The points since the last break: only they can be compared with the latest. */
function lastSegment(points: readonly Valued[], breaks: readonly string[]): Valued[] {
  const newest = entryAt(points, points.length - 1);
  return points.filter(({ date }) => segmentNo(breaks, date) === segmentNo(breaks, newest.date));
}

function lineFinding(
  points: readonly Valued[],
  frequency: Chart['frequency'],
  formatValue: (value: number) => string,
) {
  const newest = entryAt(points, points.length - 1);
  const before = points.at(-2);
  const movement = before === undefined ? '' : `, ${comparison(newest.value, before.value, formatValue)}`;
  const latest = `Latest: ${formatValue(newest.value)} in ${periodName(newest.date, frequency)}${movement}.`;
  if (points.length < 3) return latest;
  const highest = points.reduce((a, b) => (b.value > a.value ? b : a));
  const lowest = points.reduce((a, b) => (b.value < a.value ? b : a));
  if (highest.value === lowest.value) return `${latest} All values are the same.`;
  return `${latest} Highest: ${formatValue(highest.value)} in ${periodName(highest.date, frequency)}; lowest: ${formatValue(lowest.value)} in ${periodName(lowest.date, frequency)}.`;
}

function comparison(value: number, before: number, formatValue: (value: number) => string): string {
  if (value === before) return 'the same as before';
  return `${value > before ? 'up' : 'down'} from ${formatValue(before)} before`;
}

function latestOf(
  { name }: ChartLine,
  points: readonly Valued[],
  frequency: Chart['frequency'],
  formatValue: (value: number) => string,
): string {
  const newest = points.at(-1);
  return newest === undefined
    ? `${name} has no values`
    : `${name} ${formatValue(newest.value)} in ${periodName(newest.date, frequency)}`;
}

function hasValue(point: ChartPoint): point is Valued {
  return point.value !== null;
}
