// Reads the points of a series in order, in blocks of whole dates, all of one version of the data. A load may commit between two blocks:
// every block is pinned, and no connection is held between them.
import type { Queryable } from '../../../kernel/database.ts';
import { entryAt } from '../../../kernel/entries.ts';
import { Failure } from '../../../kernel/errors.ts';
import { addDays } from '../../../kernel/dates.ts';
import { decimal, mean } from '../../decimal.ts';
import { createAggregator, sourceWindow, type Aggregation } from './aggregation.ts';
import { appendPoints, filterPoints, noPoints, reversePoints, type Points } from './point-columns.ts';
import { readPoints, type PointsRow, type Reading } from './points.sql.ts';
import { isRewrittenSince, type Series } from './series.sql.ts';

/** The points of a series that a call requests. */
export interface Selection {
  series: Series;
  lineNos: readonly number[];
  /** Inclusive. */
  from: string;
  /** Inclusive. */
  to: string;
  order: 'asc' | 'desc';
  vintage: string | null;
  release: 'first' | 'current';
  /** `values`: points with a value · `all`: also those published as missing · `not_zero`: values other than 0. */
  wanted: 'values' | 'all' | 'not_zero';
  /** Whether the day of publication and the status of each point are needed; by default they are not. */
  hasDetails?: boolean;
  /** The load that the points are read as of; the same for every page of a page query. */
  version: number;
  /** The cached facts of the series may be stale: each statement that reads points then checks them. */
  isUnchecked?: boolean;
  /** The points are computed from stored points of another frequency; `from` and `to` are those of the computed ones. */
  aggregation?: Aggregation | null;
}

/** Thrown by a read of an unchecked selection: the call restarts with the current facts. */
export class FactsChanged extends Error {}

/** A load has rewritten the history of the series since the call began. A call without a requested state restarts. */
export class HistoryRewritten extends Failure {
  constructor() {
    super(
      'gone',
      'A load has since rewritten the history of the series. Start again without a cursor or version.',
    );
  }
}

/** The approximate number of points in a block of a streamed answer, which bounds its memory. */
export const blockPoints = 5_000;

/**
 * The points of a selection, block by block; a block has whole dates.
 * @param pointsWanted how many the caller can use: it determines the size of the blocks, but is no limit.
 */
export async function* readBlocks(
  database: Queryable,
  selection: Selection,
  pointsWanted: number,
): AsyncGenerator<Points> {
  if (selection.lineNos.length === 0) return;
  const { aggregation = null } = selection;
  if (aggregation !== null) {
    yield* aggregatedBlocks(database, selection, aggregation, pointsWanted);
    return;
  }
  const average = averageOf(selection);
  if (average !== null) {
    const averaged = { ...selection, lineNos: average.of };
    for await (const block of readBlocks(database, averaged, pointsWanted * average.of.length))
      yield averageByDate(block, average.lineNo);
    return;
  }
  let { from, to } = selection;
  for (let blockNo = 1; from <= to; blockNo += 1) {
    // The wanted points are in the first two blocks, unless many points have no value: then in many more.
    const points = blockNo > 2 ? blockPoints : Math.min(pointsWanted, blockPoints);
    const perCombinationMax = Math.ceil(points / selection.lineNos.length) + 1;
    const row = await readPinned(database, { ...selection, from, to }, perCombinationMax, 'complete_dates');
    yield pointsOf(row, selection);
    const ended = row.lastComplete;
    if (ended === null || ended === (selection.order === 'asc' ? to : from)) return;
    if (selection.order === 'asc') from = addDays(ended, 1);
    else to = addDays(ended, -1);
  }
}

/** Whether no point can be selected: no combination passes, or no aggregated period ends in the window. */
export function readsNothing({ lineNos, aggregation = null, from, to }: Selection): boolean {
  return lineNos.length === 0 || (aggregation !== null && sourceWindow(aggregation, { from, to }) === null);
}

/** The points of an aggregated selection: stored points are read a little beyond it, so that its first and last periods are whole. */
async function* aggregatedBlocks(
  database: Queryable,
  selection: Selection,
  aggregation: Aggregation,
  pointsWanted: number,
): AsyncGenerator<Points> {
  const window = sourceWindow(aggregation, selection);
  if (window === null) return;
  const stored: Selection = { ...selection, ...window, wanted: 'all', aggregation: null };
  const aggregator = createAggregator(aggregation, selection);
  const storedWanted = Math.min(pointsWanted * aggregation.sourcePerPeriod, blockPoints);
  for await (const block of readBlocks(database, stored, storedWanted)) yield aggregator.add(block);
  yield aggregator.end();
}

/** The first point of each combination, in the order of the selection. */
export async function readFirst(database: Queryable, selection: Selection): Promise<Points> {
  if (selection.lineNos.length === 0) return noPoints();
  if (isStored(selection)) return pointsOf(await readPinned(database, selection, 1, 'all'), selection);
  const wanted = selection.wanted === 'not_zero' ? 'values' : selection.wanted;
  const isWanted = (value: string) => selection.wanted !== 'not_zero' || Number(value) !== 0;
  const first = noPoints();
  const seen = new Set<number>();
  for await (const block of readBlocks(database, { ...selection, wanted }, selection.lineNos.length)) {
    const isFirst = (i: number): boolean => {
      const lineNo = entryAt(block.lineNos, i);
      if (seen.has(lineNo) || !isWanted(entryAt(block.values, i))) return false;
      seen.add(lineNo);
      return true;
    };
    appendPoints(first, filterPoints(block, isFirst));
    if (seen.size === selection.lineNos.length) break;
  }
  return first;
}

/** The newest `count` points of each combination, ascending. */
export async function readNewest(database: Queryable, selection: Selection, count: number): Promise<Points> {
  if (!isStored(selection)) return readAll(database, { ...selection, order: 'asc' });
  const row = await readPinned(database, { ...selection, order: 'desc' }, count, 'all');
  return reversePoints(pointsOf(row, selection));
}

/** All points of a selection at once. For bounded windows. */
export async function readAll(database: Queryable, selection: Selection): Promise<Points> {
  const { aggregation = null } = selection;
  if (aggregation !== null) {
    const all = noPoints();
    for await (const block of readBlocks(database, selection, blockPoints)) appendPoints(all, block);
    return all;
  }
  const wholeSelection = 2_147_483_647;
  const average = averageOf(selection);
  const stored = average === null ? selection : { ...selection, lineNos: average.of };
  const points = pointsOf(await readPinned(database, stored, wholeSelection, 'all'), stored);
  return average === null ? points : averageByDate(points, average.lineNo);
}

/** Whether the points are read as stored: neither averages nor aggregated. */
export function isStored(selection: Selection): boolean {
  return (selection.aggregation ?? null) === null && averageOf(selection) === null;
}

/** The combinations whose average the selection is; null for stored combinations. An average is always selected alone. */
function averageOf({ series, lineNos }: Selection): { lineNo: number; of: readonly number[] } | null {
  const [lineNo = 0] = lineNos;
  const combination = lineNo < 0 ? series.combinations.find((each) => each.lineNo === lineNo) : undefined;
  return combination?.averageOf === undefined ? null : { lineNo, of: combination.averageOf };
}

/** The mean of the values on each date, with ten decimals or four more than the values have; '' if there is none. */
function averageByDate(points: Points, lineNo: number): Points {
  const averages = noPoints();
  for (let begin = 0, end = 0; begin < points.dates.length; begin = end) {
    const date = entryAt(points.dates, begin);
    while (points.dates[end] === date) end += 1;
    const values = points.values.slice(begin, end).filter((value) => value !== '');
    averages.dates.push(date);
    averages.values.push(values.length === 0 ? '' : mean(values.map(decimal), 10));
    averages.lineNos.push(lineNo);
    averages.publishedOn.push(points.publishedOn.slice(begin, end).reduce((a, b) => (a > b ? a : b)));
    averages.statuses.push(null);
  }
  return averages;
}

/**
 * One statement if the version is still the newest, and a second, slower one if a load arrived in between.
 * @throws HistoryRewritten if that load rewrote the history. FactsChanged.
 */
async function readPinned(
  database: Queryable,
  selection: Selection,
  perCombinationMax: number,
  cut: 'complete_dates' | 'all',
): Promise<PointsRow> {
  const { series, version } = selection;
  const { seriesNo, vintagePublishedOn } = series;
  const { hasDetails = false } = selection;
  const query = { ...selection, seriesNo, vintagePublishedOn, hasDetails, perCombinationMax, cut };
  const reading = version === series.version ? readingOf(selection) : pinnedReadingOf(selection);
  let row = await readPoints(database, { ...query, reading });
  if (selection.isUnchecked === true && row.rowVersion !== series.rowVersion) throw new FactsChanged();
  if (row.version === version) return row;
  if (reading !== pinnedReadingOf(selection)) {
    row = await readPoints(database, { ...query, reading: pinnedReadingOf(selection) });
  }
  if (await isRewrittenSince(database, series.seriesNo, version)) throw new HistoryRewritten();
  return row;
}

function readingOf({ series, vintage, release }: Selection): Reading {
  if (release === 'first') return 'first_release';
  if (vintage === null) return 'live';
  return series.vintageHasLostPoints ? 'history' : 'as_of';
}

function pinnedReadingOf({ release }: Selection): Reading {
  return release === 'first' ? 'first_release' : 'history';
}

function pointsOf(row: PointsRow, { lineNos }: Pick<Selection, 'lineNos'>): Points {
  if (row.dates === null) return noPoints();
  const dates = row.dates.split(',');
  const { length } = dates;
  const filled = <Value>(value: Value) => Array.from({ length }, () => value);
  return {
    dates,
    values: columnOf(row.values, length),
    lineNos:
      row.lineNos === undefined ? filled(entryAt(lineNos, 0)) : columnOf(row.lineNos, length).map(Number),
    publishedOn: row.publishedOn === undefined ? filled('') : columnOf(row.publishedOn, length),
    statuses: row.statuses ?? filled(null),
  };
}

function columnOf(joined: string | null, length: number): string[] {
  const column = joined?.split(',') ?? [];
  if (column.length !== length) throw new RangeError(`a column of ${column.length} for ${length} points`);
  return column;
}
