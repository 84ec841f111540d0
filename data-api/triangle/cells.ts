// The cells of a triangle: the value of each point of a series in each vintage, read in one pass over its revisions. The pass is divided
// into bounded statements; no connection is held while the client reads.
import type { Queryable } from '../../kernel/database.ts';
import { entryAt } from '../../kernel/entries.ts';
import { HistoryRewritten } from '../series/stored/points.ts';
import { isRewrittenSince, type Series } from '../series/stored/series.sql.ts';
import { readRevisions, type RevisionsRow } from './revisions.sql.ts';

/** The selection of a triangle. */
export interface Triangle {
  series: Series;
  lineNos: readonly number[];
  /** The first date; inclusive, like `to`. */
  from: string;
  to: string;
  /** The days of the vintages shown, ascending. */
  vintages: readonly string[];
  /** The load as of which everything is read. */
  version: number;
}

/** A point in every vintage of the triangle. */
export interface TriangleRow {
  lineNo: number;
  date: string;
  /** By vintage: the published digits; '' published as missing; null: the point is not in the vintage. */
  cells: readonly (string | null)[];
}

/** The approximate number of revisions in memory. */
const blockRevisions = 5_000;
const combinationsMax = 50;

/** The rows in order of combination, then date. Points that are in none of the vintages are omitted. */
export async function* triangleRows(database: Queryable, triangle: Triangle): AsyncGenerator<TriangleRow> {
  const { lineNos, vintages } = triangle;
  if (vintages.length === 0) return;
  // A point has at most one revision a vintage, and one from before them: so a part always has whole points.
  const perPointMax = vintages.length + 1;
  const together = Math.min(combinationsMax, Math.max(1, Math.floor(blockRevisions / (perPointMax + 1))));
  for (let begin = 0; begin < lineNos.length; begin += together) {
    const combinations = lineNos.slice(begin, begin + together);
    const perCombinationMax = Math.max(perPointMax + 1, Math.ceil(blockRevisions / combinations.length));
    const revisions = await readPart(database, triangle, combinations, triangle.from, perCombinationMax);
    for (const { lineNo, first, end } of combinationsOf(revisions)) {
      if (end - first < perCombinationMax) yield* rowsOf(revisions, first, end, vintages);
      else yield* longCombination(database, triangle, { lineNo, revisions, first, end });
    }
  }
}

/** A combination of which only the first part was read: its last date may be incomplete, and is read again. */
async function* longCombination(
  database: Queryable,
  triangle: Triangle,
  { lineNo, ...part }: { lineNo: number; revisions: Revisions; first: number; end: number },
): AsyncGenerator<TriangleRow> {
  // Several times the maximum for a point, as its last point is read again.
  const perCombinationMax = Math.max(blockRevisions, 4 * (triangle.vintages.length + 2));
  let { revisions, first, end } = part;
  for (;;) {
    const from = entryAt(revisions.dates, end - 1);
    let complete = end;
    while (complete > first && revisions.dates[complete - 1] === from) complete -= 1;
    yield* rowsOf(revisions, first, complete, triangle.vintages);
    revisions = await readPart(database, triangle, [lineNo], from, perCombinationMax);
    [first, end] = [0, revisions.dates.length];
    if (end < perCombinationMax) break;
  }
  yield* rowsOf(revisions, first, end, triangle.vintages);
}

/** Revisions as columns of equal length. */
interface Revisions {
  lineNos: readonly number[];
  dates: readonly string[];
  values: readonly string[];
  publishedOn: readonly string[];
  supersededOn: readonly string[];
}

/** @throws HistoryRewritten if a load has rewritten the history since. */
async function readPart(
  database: Queryable,
  { series: { seriesNo }, to, vintages, version }: Triangle,
  lineNos: readonly number[],
  from: string,
  perCombinationMax: number,
): Promise<Revisions> {
  const [firstVintage, lastVintage] = [entryAt(vintages, 0), entryAt(vintages, vintages.length - 1)];
  const window = { from, to, firstVintage, lastVintage, version, perCombinationMax };
  const row = await readRevisions(database, { seriesNo, lineNos, ...window });
  if (row.version !== version && (await isRewrittenSince(database, seriesNo, version)))
    throw new HistoryRewritten();
  return columnsOf(row);
}

function columnsOf({ lineNos, dates, values, publishedOn, supersededOn }: RevisionsRow): Revisions {
  if (dates === null) return { lineNos: [], dates: [], values: [], publishedOn: [], supersededOn: [] };
  const column = (joined: string | null): string[] => joined?.split(',') ?? [];
  return {
    lineNos: column(lineNos).map(Number),
    dates: column(dates),
    values: column(values),
    publishedOn: column(publishedOn),
    supersededOn: column(supersededOn),
  };
}

function* combinationsOf({ lineNos }: Revisions): Generator<{ lineNo: number; first: number; end: number }> {
  for (let first = 0, end = 0; first < lineNos.length; first = end) {
    const lineNo = entryAt(lineNos, first);
    while (lineNos[end] === lineNo) end += 1;
    yield { lineNo, first, end };
  }
}

function* rowsOf(
  revisions: Revisions,
  first: number,
  end: number,
  vintages: readonly string[],
): Generator<TriangleRow> {
  for (let begin = first, until = first; begin < end; begin = until) {
    const date = entryAt(revisions.dates, begin);
    while (until < end && revisions.dates[until] === date) until += 1;
    const cells = cellsOf(revisions, begin, until, vintages);
    if (cells.some((cell) => cell !== null)) yield { lineNo: entryAt(revisions.lineNos, begin), date, cells };
  }
}

/** The cells of one point. Its revisions follow each other in time, with gaps where it was deleted. */
function cellsOf(
  { values, publishedOn, supersededOn }: Revisions,
  begin: number,
  end: number,
  vintages: readonly string[],
): (string | null)[] {
  const cells: (string | null)[] = [];
  for (let i = begin; i < end; i += 1) {
    const [value, since, until] = [entryAt(values, i), entryAt(publishedOn, i), entryAt(supersededOn, i)];
    while (cells.length < vintages.length && entryAt(vintages, cells.length) < since) cells.push(null);
    // Text compares as days do; `infinity` is after every day.
    while (cells.length < vintages.length && entryAt(vintages, cells.length) < until) cells.push(value);
  }
  while (cells.length < vintages.length) cells.push(null);
  return cells;
}
