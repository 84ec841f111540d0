// The part of the loaded points on screen: the selected lines in the window, their chart, and the API call for the same points.
import { chartUnit, lineNames, unitBreaks } from '../../../domain/chart/captions.ts';
import { linesMax, type Chart } from '../../../domain/chart/layout.ts';
import { decimalsOf, zerosBefore } from '../../../domain/chart/text.ts';
import { unitPreserving } from '../../../domain/transforms.ts';
import type { Window } from '../../charts/window.ts';
import type { SeriesEntry, SeriesLine, SeriesPoints } from './series-points.ts';
import { yearsByDefault } from './default-view.ts';
import { dimsQuery, type SeriesState } from './series-state.ts';
import { periodParam, type ViewQuery } from './api-query.ts';

/** A chart without the size, which depends on the page. */
export type SizelessChart = Omit<Chart, 'width' | 'height' | 'theme'>;

export interface Shown {
  chart: SizelessChart;
  /** All loaded dates, and the range that is shown. */
  dates: string[];
  window: Window;
  /** All points of the lines, for the overview. */
  all: SeriesLine['points'][];
  /** Whether all dates are shown if the URL names no window. */
  isAllByDefault: boolean;
  decimals: number;
  /** The call that fetches this view. */
  query: ViewQuery;
  /** The dimension values of the lines. */
  lines: SeriesLine['dims'][];
}

export function shownOf(
  entry: SeriesEntry,
  state: SeriesState,
  { lines, meta, previewPoints }: SeriesPoints,
  dragged: Window | undefined,
  base: string | null,
): Shown {
  const selected = lines.filter(({ dims }) =>
    Object.entries(state.selected).every(([name, values]) => values.includes(dims[name] ?? '')),
  );
  const dates = [...new Set(selected.flatMap(({ points }) => points.map(({ date }) => date)))].sort();
  const byDefault = windowOf(dates, null, null);
  const window = dragged ?? windowOf(dates, state.from, state.to);
  const [from = '', to = ''] = [dates[window.first], dates[window.last]];
  const labels = Object.fromEntries(entry.dims.map(({ name, labels: known }) => [name, known]));
  const { names, common } = lineNames(
    selected.map(({ dims }) => dims),
    labels,
  );
  const isLastShown = window.last === dates.length - 1;
  return {
    chart: {
      title: common === '' ? entry.name : `${entry.name}, ${common}`,
      unit: chartUnit(meta, to),
      frequency: meta.frequency,
      lines: selected.map((line, i) => ({
        name: names[i] ?? '',
        points: line.points.filter(({ date }) => date >= from && date <= to),
        styleNo: styleOf(entry, line, i),
        breaks: unitBreaks(meta.breaks).map(({ date }) => date),
      })),
      isLog: state.isLog,
      base: meta.transform === 'index' ? 100 : null,
    },
    dates,
    window,
    all: selected.map(({ points }) => points),
    isAllByDefault: byDefault.first === 0,
    decimals: decimalsFor(meta, selected),
    lines: selected.map(({ dims }) => dims),
    query: {
      ...(window.first === 0 && previewPoints === null ? {} : { from: periodParam(from, meta.frequency) }),
      ...(isLastShown ? {} : { to: periodParam(to, meta.frequency) }),
      ...dimsOf(dimsQuery(state.selected, entry.dims)),
      ...(state.frequency === null || previewPoints !== null ? {} : { frequency: state.frequency }),
      ...(state.aggregate === null || previewPoints !== null ? {} : { aggregate: state.aggregate }),
      ...(meta.transform === null ? {} : { transform: meta.transform }),
      ...(meta.transform === 'index' && base !== null ? { base } : {}),
      ...(meta.vintage === null ? {} : { vintage: meta.vintage }),
    },
  };
}

/** Published values keep their digits. Percentages and indices have two decimals, means and changes five digits; small numbers have more. */
export function decimalsFor(
  { transform, aggregate }: Pick<SeriesPoints['meta'], 'transform' | 'aggregate'>,
  lines: readonly Pick<SeriesLine, 'points'>[],
): number {
  const values = lines.flatMap(({ points }) => points.flatMap(({ value }) => value ?? []));
  const own = decimalsOf(values);
  const largest = values.reduce((size, value) => Math.max(size, Math.abs(value)), 0);
  if (transform !== null && !unitPreserving.has(transform)) return 2 + zerosBefore(largest);
  if (transform === null && aggregate !== 'avg') return own;
  return Math.min(own, Math.max(2, largest === 0 ? 0 : 4 - Math.floor(Math.log10(largest))));
}

/** A combination keeps its style whichever others are selected, if there are enough styles for all combinations of the series. */
function styleOf({ dims }: SeriesEntry, line: SeriesLine, position: number): number {
  const places = dims.map(({ name, values }) => values.indexOf(line.dims[name] ?? ''));
  const count = dims.reduce((product, { values }) => product * values.length, 1);
  if (count > linesMax || places.includes(-1)) return position;
  return dims.reduce((sum, { values }, i) => sum * values.length + (places[i] ?? 0), 0);
}

/** The positions of a window; without one, the newest years by default. */
function windowOf(dates: readonly string[], from: string | null, to: string | null): Window {
  const end = dates.length - 1;
  const begin = from ?? earlier(dates[end] ?? '', yearsByDefault);
  const first = dates.findIndex((date) => date >= begin);
  const last = to === null ? end : dates.findLastIndex((date) => date <= to);
  if (end < 1 || first < 0 || last <= first) return { first: 0, last: Math.max(0, end) };
  return { first, last };
}

/** The positions of the newest years. */
export function newestYears(dates: readonly string[], years: number): Window {
  const first = dates.findIndex((date) => date > earlier(dates.at(-1) ?? '', years));
  return { first: Math.max(0, first), last: dates.length - 1 };
}

function earlier(date: string, years: number): string {
  return `${String(Number(date.slice(0, 4)) - years).padStart(4, '0')}${date.slice(4)}`;
}

/** The start of the default window, as far as the facts of the series determine it. */
export function defaultWindowStart({ first_date: first, last_date: last }: SeriesEntry): string | null {
  if (first === null || last === null) return null;
  const begin = earlier(last, yearsByDefault);
  return begin > first ? begin : first;
}

function dimsOf([text]: readonly string[]): { dims?: string } {
  return text === undefined ? {} : { dims: text };
}
