// Several series as one table: long, a line per point, or wide, a column per series, as CSV or as a workbook. A wide table is built in
// windows of time, so that no more than some hundred thousand points are in memory at once.
import { dayNumber, fromDayNumber } from '../../kernel/dates.ts';
import type { Queryable } from '../../kernel/database.ts';
import { entryAt } from '../../kernel/entries.ts';
import { refuseParam } from '../../kernel/errors.ts';
import { harmless } from '../../kernel/formula.ts';
import type { Cursors } from '../../kernel/http/cursor.ts';
import { csvLine } from '../../kernel/http/list.ts';
import { writeDims } from '../../domain/dims-text.ts';
import type { Computation } from './computed/transformed-points.ts';
import type { Points } from './stored/point-columns.ts';
import { seriesCsv, seriesNdjson } from './series-envelope.ts';
import { requestedPoints, type PageQuery } from './series-read.ts';
import type { SeriesRequest } from './series-request.ts';
import { metaOf } from './series-meta.ts';
import { columnsMax, type Cell, type Sheet } from '../workbook/workbook.ts';

/** One series of a table: its page query and its transform. */
export interface TableSeries {
  pageQuery: PageQuery;
  computation: Computation | null;
}

/** Reads the points of a series in blocks, in the order of the request. @param window the dates, both inclusive; null: those of its selection. */
export type ReadSeries = (series: TableSeries, window: Window | null) => AsyncIterable<Points>;

/** @param last only this many of the newest points of each combination; null for all. */
export const readerOfSeries = (database: Queryable, cursors: Cursors, last: number | null): ReadSeries =>
  async function* read({ pageQuery, computation }, window) {
    const selection = { ...pageQuery.selection, ...window }; // with "last" there is one window
    yield* requestedPoints(database, cursors, { pageQuery: { ...pageQuery, selection }, computation, last });
  };

interface Window {
  from: string;
  to: string;
}

/** The approximate number of points of a wide table in memory. */
const pointsInMemory = 200_000;

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
 * A series without a value on a date has an empty cell there. @param last only this many of the newest points of each column; null for all.
 */
export async function* wideTable(
  all: readonly TableSeries[],
  { last, read }: { last: number | null; read: ReadSeries },
): AsyncGenerator<string> {
  const columns = all.flatMap(columnNames);
  yield csvLine(['date', ...columns.map(harmless)]);
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
    return text === '' ? series.id : `${series.id} ${text}`;
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
  const daysOfWindow = Math.max(1, Math.ceil((days * pointsInMemory) / Math.max(points, pointsInMemory)));
  const count = Math.max(1, Math.ceil(days / daysOfWindow));
  const windows = Array.from({ length: count }, (_, i) => ({
    from: i === 0 ? from : fromDayNumber(begin + i * daysOfWindow),
    to: i === count - 1 ? to : fromDayNumber(begin + (i + 1) * daysOfWindow - 1),
  }));
  return order === 'desc' ? windows.reverse() : windows;
}

/** A workbook is built in memory. */
const workbookPointsMax = 100_000;

/**
 * The sheets of a workbook: the wide table, and the facts of each series. @param publicUrl where clients reach the gateway.
 * @throws Failure `invalid_parameter` for more points or columns than a workbook may have.
 */
export async function workbookSheets(
  all: readonly TableSeries[],
  { read, publicUrl }: { read: ReadSeries; publicUrl: string },
): Promise<Sheet[]> {
  const columns = all.flatMap(columnNames);
  if (columns.length >= columnsMax)
    refuseSize(`columns may have at most ${columnsMax}, and this one has ${columns.length + 1}`);
  const rows = new Map<string, [number, Cell][]>();
  let [first, points] = [1, 0];
  for (const each of all) {
    const { lineNos } = each.pageQuery.selection;
    const columnOf = new Map(lineNos.map((lineNo, i) => [lineNo, first + i]));
    for await (const block of read(each, null)) {
      points += block.dates.length;
      if (points > workbookPointsMax) refuseSize(`points may have at most ${workbookPointsMax}`);
      for (let i = 0; i < block.dates.length; i += 1) {
        const [date, digits] = [entryAt(block.dates, i), entryAt(block.values, i)];
        const column = columnOf.get(entryAt(block.lineNos, i)) ?? 0;
        rows
          .getOrInsertComputed(date, () => [[0, { date }]])
          .push([column, digits === '' ? null : { digits }]);
      }
    }
    first += lineNos.length;
  }
  const dates = [...rows.keys()].sort();
  if (all[0]?.pageQuery.selection.order === 'desc') dates.reverse();
  const data = {
    header: ['date', ...columns],
    rows: dates.map((date) => rows.get(date) ?? []),
    widths: [11],
  };
  return [{ name: 'Data', ...data }, factsSheet(all, publicUrl)];
}

function refuseSize(what: string): never {
  const message = `A workbook of these ${what}. Narrow it by from, to, dims or last, or use format=csv.`;
  return refuseParam('format', message);
}

const factNames = ['series', 'name', 'unit', 'frequency', 'source', 'licence', 'vintage', 'version', 'last_updated', 'transform', 'citation_url'] as const; // prettier-ignore

/** A row of facts per series, with the citation URL of its data in the table. */
function factsSheet(all: readonly TableSeries[], publicUrl: string): Sheet {
  const rows = all.map(({ pageQuery: { selection }, computation }) => {
    const { id } = selection.series;
    const meta = metaOf(selection.series, selection, computation);
    const cited = new URL(`${publicUrl}/v1/series/${encodeURIComponent(id)}/cite`);
    if (meta.vintage !== null) cited.searchParams.set('vintage', meta.vintage);
    const facts: Record<(typeof factNames)[number], Cell> = {
      ...{ series: id, name: meta.name, unit: meta.unit, frequency: meta.frequency, source: meta.source },
      ...{ licence: meta.licence, transform: meta.transform, citation_url: cited.href },
      vintage: dateCell(meta.vintage),
      last_updated: dateCell(meta.last_updated),
      version: { digits: String(meta.version) },
    };
    return factNames.map((name, column): [number, Cell] => [column, facts[name]]);
  });
  return { name: 'Series', header: factNames, rows, widths: [24, 40, 24, 11, 24, 24, 11, 9, 12, 12, 60] };
}

const dateCell = (date: string | null): Cell => (date === null ? null : { date });
