// Draws the chart of a series for a file: its lines, title, unit and caption from the facts of the series. Also decides which dimension
// values name a line, and which go into the title.
import { refuseParam } from '../../kernel/errors.ts';
import { chartUnit, lineNames, unitBreaks } from '../../domain/chart/captions.ts';
import { chartSvg } from '../../domain/chart/chart.ts';
import { linesMax } from '../../domain/chart/layout.ts';
import type { ChartPoint } from '../../domain/chart/line-points.ts';
import { periodName } from '../../domain/chart/text.ts';
import type { Points } from '../series/stored/point-columns.ts';
import type { Aggregation } from '../series/stored/aggregation.ts';
import { metaOf } from '../series/series-meta.ts';
import type { Combination, Series } from '../series/stored/series.sql.ts';
import type { Computation } from '../series/computed/transformed-points.ts';
import type { Look } from './chart-params.ts';

/** The selection that is drawn. */
export interface Drawn {
  series: Series;
  lineNos: readonly number[];
  vintage: string | null;
  release: 'first' | 'current';
  version: number;
  computation: Computation | null;
  aggregation?: Aggregation | null;
}

/** @throws Failure `invalid_parameter` if the chart would have more lines than a reader can distinguish. */
export function requireFewLines({ id, dimensions }: Series, lineNos: readonly number[]): void {
  if (lineNos.length <= linesMax) return;
  refuseParam(
    'dims',
    `A chart has at most ${linesMax} lines, and this selection of ${id} has ${lineNos.length}. Select fewer by "dims"; the dimensions are ${dimensions.join(', ')}.`,
  );
}

/** Collects the points of a chart, as they are read, into one list per line. */
export function createLinePoints(lineNos: readonly number[]) {
  const lines = new Map<number, ChartPoint[]>(lineNos.map((lineNo) => [lineNo, []]));
  return {
    add({ dates, values, lineNos: ofPoints }: Points): void {
      for (const [i, date] of dates.entries()) {
        const text = values[i] ?? '';
        lines.get(ofPoints[i] ?? Number.NaN)?.push({ date, value: text === '' ? null : Number(text) });
      }
    },
    lines: (): ChartPoint[][] => [...lines.values()],
  };
}

/** The chart as SVG. @param points of each line, in the order of `lineNos`. */
export function drawnSvg(drawn: Drawn, points: readonly ChartPoint[][], look: Look): string {
  const { series, lineNos, computation } = drawn;
  const meta = metaOf(series, drawn, computation);
  const combinations = lineNos.flatMap(
    (lineNo) => series.combinations.find((each) => each.lineNo === lineNo) ?? [],
  );
  const { names, common } = lineNames(
    combinations.map(({ dims }: Combination) => dims),
    series.labels,
  );
  const lastDate = points.reduce((last, of) => [last, of.at(-1)?.date ?? ''].toSorted().at(-1) ?? '', '');
  const breaks = unitBreaks(meta.breaks).map(({ date }) => date);
  return chartSvg({
    title: common === '' ? series.name : `${series.name}, ${common}`,
    unit: chartUnit(meta, lastDate),
    frequency: series.frequency,
    lines: points.map((of, lineNo) => ({ name: names[lineNo] ?? '', points: of, breaks })),
    width: look.width,
    height: look.height,
    theme: look.theme,
    isLog: look.log,
    base: computation?.transform === 'index' ? 100 : null,
    standalone: { caption: captionOf(drawn, meta.last_updated) },
  });
}

function captionOf({ series, vintage, release }: Drawn, lastUpdated: string | null): string {
  const dateText = (date: string): string => periodName(date, 'daily', true);
  const credit = series.attribution ?? (series.source === null ? null : `Source: ${series.source}`);
  const state =
    release === 'first'
      ? 'First published values'
      : vintage === null
        ? `Released ${lastUpdated === null ? 'never' : dateText(lastUpdated)}`
        : `As published by ${dateText(vintage)}`;
  return credit === null ? `${state}.` : `${credit.replace(/\.$/, '')}. ${state}.`;
}
