// Several series as one table: long, a line per point, or wide, a column per series. Hides that a wide table is put together in windows of
// time, so that no more than some hundred thousand points are held at once.
import { dayNumber, fromDayNumber } from '../../kernel/dates.ts';
import { entryAt } from '../../kernel/entries.ts';
import { harmless } from '../../kernel/formula.ts';
import { csvLine } from '../../kernel/http/list.ts';
import { writeDims } from '../../domain/dims-text.ts';
import type { Computation } from './computed/transformed-points.ts';
import type { Points } from './point-columns.ts';
import { seriesCsv, seriesNdjson } from './series-envelope.ts';
import type { PageQuery } from './series-read.ts';
import type { SeriesRequest } from './series-request.ts';

/** One series of a table: what is asked of it, and its transform. */
export interface TableSeries {
  pageQuery: PageQuery;
  computation: Computation | null;
}

/** Reads the points of a series in blocks, in the order of the request. @param window the dates, both inclusive; null: those of its selection. */
export type ReadSeries = (series: TableSeries, window: Window | null) => AsyncIterable<Points>;

interface Window {
  from: string;
  to: string;
}

/** About how many points a wide table holds at once. */
const heldPoints = 200_000;

/**
 * A line per point: `series`, then the columns of the CSV of one series, with those of the dimensions of all; or as NDJSON, with the id as
 * `series` in each line. The series follow each other in the order of the request.
 */
export async function* longTable(
  all: readonly TableSeries[],
  { format, fields }: Pick<SeriesRequest, 'format' | 'fields'>,
  read: ReadSeries,
): AsyncGenerator<string> {
  const dimensions = [...new Set(all.flatMap(({ pageQuery }) => pageQuery.selection.series.dimensions))];
  let isFirst = true;
  for (const each of all) {
    const { series } = each.pageQuery.selection;
    const { header, lines } =
      format === 'ndjson'
        ? seriesNdjson(series, fields, series.id)
        : seriesCsv({ ...series, dimensions }, fields, series.id);
    if (isFirst) yield header;
    isFirst = false;
    for await (const block of read(each, null)) yield lines(block);
  }
}

/**
 * A line per date, and a column per series, or per combination of dimension values of a series that has dimensions: `DEMO.FX currency:EUR`.
 * A series without a value on a date has an empty cell there. @param last only so many of the newest points of each column; null: all.
 */
export async function* wideTable(
  all: readonly TableSeries[],
  { last, read }: { last: number | null; read: ReadSeries },
): AsyncGenerator<string> {
  const columns = all.flatMap(columnNames);
  yield csvLine(['date', ...columns]);
  for (const window of windowsOf(all, last)) {
    const rows = new Map<string, string[]>();
    let first = 0;
    for (const each of all) {
      const { lineNos } = each.pageQuery.selection;
      const columnOf = new Map(lineNos.map((lineNo, i) => [lineNo, first + i]));
      for await (const block of read(each, window))
        addCells(rows, block, { columnOf, width: columns.length });
      first += lineNos.length;
    }
    yield linesOf(rows, all[0]?.pageQuery.selection.order ?? 'asc');
  }
}

function columnNames({ pageQuery: { selection } }: TableSeries): string[] {
  const { series, lineNos } = selection;
  const dimsOf = new Map(series.combinations.map(({ lineNo, dims }) => [lineNo, dims]));
  return lineNos.map((lineNo) => {
    const dims = Object.entries(dimsOf.get(lineNo) ?? {});
    const text = writeDims(Object.fromEntries(dims.map(([name, value]) => [name, [value]])));
    return harmless(text === '' ? series.id : `${series.id} ${text}`);
  });
}

function addCells(
  rows: Map<string, string[]>,
  { dates, values, lineNos }: Points,
  { columnOf, width }: { columnOf: ReadonlyMap<number, number>; width: number },
): void {
  for (let i = 0; i < dates.length; i += 1) {
    const date = entryAt(dates, i);
    let row = rows.get(date);
    if (row === undefined) rows.set(date, (row = Array<string>(width).fill('')));
    row[columnOf.get(entryAt(lineNos, i)) ?? 0] = entryAt(values, i);
  }
}

function linesOf(rows: ReadonlyMap<string, readonly string[]>, order: 'asc' | 'desc'): string {
  const dates = [...rows.keys()].sort();
  if (order === 'desc') dates.reverse();
  return dates.map((date) => `${date},${(rows.get(date) ?? []).join(',')}\r\n`).join('');
}

/** The windows of time of a wide table, in its order: few points each if the points are spread evenly. */
function windowsOf(all: readonly TableSeries[], last: number | null): Window[] {
  const selections = all.map(({ pageQuery }) => pageQuery.selection);
  const [first] = selections;
  if (first === undefined) return [];
  const { from, to, order } = first;
  if (last !== null) return [{ from, to }];
  const data = selections.map(({ series }) => series).filter(({ firstDate }) => firstDate !== null);
  const oldest = data.flatMap(({ firstDate }) => firstDate ?? []).sort()[0] ?? from;
  const newest =
    data
      .flatMap(({ lastDate }) => lastDate ?? [])
      .sort()
      .at(-1) ?? from;
  const begin = dayNumber(oldest > from ? oldest : from);
  const days = dayNumber(newest < to ? newest : to) - begin + 1;
  const points = data.reduce((sum, { observationCount }) => sum + observationCount, 0);
  const daysOfWindow = Math.max(1, Math.ceil((days * heldPoints) / Math.max(points, heldPoints)));
  const count = Math.max(1, Math.ceil(days / daysOfWindow));
  const windows = Array.from({ length: count }, (_, i) => ({
    from: i === 0 ? from : fromDayNumber(begin + i * daysOfWindow),
    to: i === count - 1 ? to : fromDayNumber(begin + (i + 1) * daysOfWindow - 1),
  }));
  return order === 'desc' ? windows.reverse() : windows;
}
