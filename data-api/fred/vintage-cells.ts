// The values of a series by vintage: a cell for each date and vintage, of the points as published, aggregated or transformed. Published
// points of all vintages need one read; computed ones are read for each vintage as in /v1/series.
import type { ServiceCall } from '../../kernel/http/server.ts';
import type { Dependencies } from '../dependencies.ts';
import { computationOf } from '../series/series.ts';
import { appendPoints, noPoints, type Points } from '../series/stored/point-columns.ts';
import { blockPoints } from '../series/stored/points.ts';
import { pageQueryOf, pointsOfQuery, requireSeries } from '../series/series-read.ts';
import type { SeriesRequest } from '../series/series-request.ts';
import { triangleRows } from '../triangle/cells.ts';
import { lineNoOf, type FredSeries } from './find-series.ts';

/** The values of one date: published digits; '' published as missing; null: the date is not in the vintage. */
export interface CellRow {
  date: string;
  cells: readonly (string | null)[];
}

/** The points of a request. @throws Failure as those of /v1/series. */
export async function readPointsOf(
  dependencies: Dependencies,
  call: ServiceCall,
  found: FredSeries,
  request: SeriesRequest,
): Promise<Points> {
  const { vintage, version } = request;
  const series =
    vintage === null
      ? found.series
      : await requireSeries(dependencies, call, found.askedId, vintage, version);
  // Before a merge, the id means another series, with loads of its own.
  const isOther = series.seriesNo !== found.series.seriesNo;
  const own = isOther ? { ...request, version: null } : request;
  const asked = pageQueryOf(series, own, dependencies.cursors);
  const lineNo = lineNoOf(series, found.values);
  const points = noPoints();
  if (lineNo === null) return points;
  const pageQuery = { ...asked, selection: { ...asked.selection, lineNos: [lineNo] } };
  const { longReads } = dependencies;
  const computation = await computationOf(longReads, pageQuery, request, call);
  for await (const block of pointsOfQuery(longReads, pageQuery, computation, blockPoints))
    appendPoints(points, block);
  return points;
}

/** The cells, by date ascending. @param vintages the days of the columns, ascending; today or later: the present values. */
export async function readCells(
  dependencies: Dependencies,
  call: ServiceCall,
  found: FredSeries,
  { request, vintages, today }: { request: SeriesRequest; vintages: readonly string[]; today: string },
): Promise<CellRow[]> {
  const { series, lineNo } = found;
  if (lineNo === null) return [];
  const isComputed =
    request.transform !== null || (request.frequency !== null && request.frequency !== series.frequency);
  if (!isComputed && series.merged === null && vintages.length > 1) {
    const { from, to } = request;
    const triangle = { series, lineNos: [lineNo], from, to, vintages, version: series.version };
    const rows: CellRow[] = [];
    for await (const row of triangleRows(dependencies.longReads, triangle)) rows.push(row);
    return rows;
  }
  const rows = new Map<string, (string | null)[]>();
  for (const [i, day] of vintages.entries()) {
    const vintage = day >= today ? null : day;
    const version = vintage === null ? null : series.version;
    const points = await readPointsOf(dependencies, call, found, { ...request, vintage, version });
    for (const [at, date] of points.dates.entries()) {
      const cells = rows.get(date) ?? Array<string | null>(vintages.length).fill(null);
      cells[i] = points.values[at] ?? '';
      rows.set(date, cells);
    }
  }
  return [...rows].map(([date, cells]) => ({ date, cells })).sort((a, b) => (a.date < b.date ? -1 : 1));
}
