// Turns a request into the points of one series: the selection, its pages, its newest points. A page never changes a value.
import type { Queryable } from '../../kernel/database.ts';
import { entryAt } from '../../kernel/entries.ts';
import { Failure, fail, refuseParam } from '../../kernel/errors.ts';
import { nearestHint } from '../../kernel/http/params.ts';
import { isSeriesId } from '../../domain/series-id.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { ServiceCall } from '../../kernel/http/server.ts';
import type { Cursors } from '../../kernel/http/cursor.ts';
import type { Dependencies } from '../dependencies.ts';
import { combinationsThatPass } from './dims.ts';
import { lowerFrequencies, sourcePerPeriod } from '../../domain/aggregates.ts';
import type { Aggregation } from './stored/aggregation.ts';
import {
  appendPoints,
  filterPoints,
  firstPoints,
  noPoints,
  reversePoints,
  type Points,
} from './stored/point-columns.ts';
import {
  blockPoints,
  isStored,
  readBlocks,
  readFirst,
  readNewest,
  readsNothing,
  type Selection,
} from './stored/points.ts';
import { canonicalRequest, includesNotes, requireFewNewest, type SeriesRequest } from './series-request.ts';
import { withBreaksAt } from './series-meta.ts';
import { findMergedSeries, findNeighbourIds, findPointNotes, type Series } from './stored/series.sql.ts';
import { isApplicable } from '../../domain/transforms.ts';
import { transformedBlocks, type Computation } from './computed/transformed-points.ts';

/** The position of a point in the order. */
interface Place {
  date: string;
  lineNo: number;
}

/** The request for a page of one series. */
export interface PageQuery {
  selection: Selection;
  /** Identifies the cursors of this page query. */
  query: string;
  /** The page begins after this point. Null: at the beginning. */
  after: Place | null;
}

/**
 * The series, with its coming releases: answers name the next one, and change when it comes. By an id of a series that was merged into
 * another, the state before the merge is that of the merged one.
 * @throws Failure `not_found`, which suggests the nearest id if there is one; `gone` if the series was deleted.
 */
export async function requireSeries(
  { database, seriesFacts, clock }: Dependencies,
  call: Pick<ServiceCall, 'changesAt'>,
  id: string,
  vintage: string | null,
  version: number | null = null,
): Promise<Series> {
  const isValidId = isSeriesId(id);
  const series = isValidId ? await seriesFacts.find(id, vintage) : undefined;
  if (series !== undefined && series.deletedOn !== null)
    fail('gone', `The series "${id}" was deleted on ${series.deletedOn}.`, { param: 'id' });
  if (series?.merged && isBefore(series.merged, vintage, version)) {
    const merged = await findMergedSeries(database, { id, seriesNo: series.merged.seriesNo }, vintage);
    if (merged === undefined) throw new Error(`the series that ${id} was is gone`);
    return { ...merged, deletedOn: null };
  }
  if (series !== undefined) return withUpcomingReleases(series, call, clock);
  const neighbours = isValidId ? await findNeighbourIds(database, id) : [];
  const hint = nearestHint(id, neighbours, 'GET /v1/catalog lists them.');
  const shown = isValidId ? `"${id}"` : 'of that id';
  return fail('not_found', `There is no series ${shown}. ${hint}`, { param: 'id' });
}

/** The maximum number of series looked up at once: more would take the connections from other calls. */
const lookupsMax = 100;

/** Looks several series up. @throws Failure as `find` throws it, but of the parameter `ids`. */
export async function requireEach(
  ids: readonly string[],
  find: (id: string) => Promise<Series>,
): Promise<Series[]> {
  const ofIds = (error: unknown): never => {
    if (!(error instanceof Failure) || error.param !== 'id') throw error;
    throw new Failure(error.code, error.message, {
      param: 'ids',
      headers: error.headers,
      detail: error.detail,
    });
  };
  const found: Series[] = [];
  for (let i = 0; i < ids.length; i += lookupsMax) {
    const some = ids.slice(i, i + lookupsMax);
    found.push(...(await Promise.all(some.map((id) => find(id).catch(ofIds)))));
  }
  return found;
}

const isBefore = (
  { on, loadNo }: NonNullable<Series['merged']>,
  vintage: string | null,
  version: number | null,
): boolean => (vintage !== null && vintage < on) || (version !== null && version < loadNo);

function withUpcomingReleases(series: Series, call: Pick<ServiceCall, 'changesAt'>, clock: Clock): Series {
  const now = clock.now().getTime();
  const releases = series.releases.filter((releaseAt) => Date.parse(releaseAt) > now);
  const [next] = releases;
  if (next !== undefined) call.changesAt(Date.parse(next));
  return { ...series, releases };
}

/** The facts that identify an answer about the present state of a series, for its ETag. Series of one load have the same row version. */
export const stateOf = ({ seriesNo, renamedFrom, rowVersion, changedAt, releases }: Series): unknown[] => [
  seriesNo,
  renamedFrom,
  rowVersion,
  changedAt,
  releases[0],
];

/** The series with the notes on its points, both of one state, if the request includes them. @throws Failure `not_found`. */
export async function withPointNotes(
  dependencies: Dependencies,
  call: Pick<ServiceCall, 'changesAt'>,
  series: Series,
  request: SeriesRequest,
): Promise<Series> {
  if (!includesNotes(request)) return series;
  const found = await findPointNotes(dependencies.database, series.seriesNo, request);
  if (found?.rowVersion === series.rowVersion) return { ...series, pointNotes: found.notes };
  const current = await requireSeries(
    dependencies,
    call,
    series.renamedFrom ?? series.id,
    request.vintage,
    request.version,
  ); // a load committed between the two statements
  return withPointNotes(dependencies, call, current, request);
}

/**
 * The page query from cached facts. The statement that reads its points checks them, so that a call takes one round trip to PostgreSQL
 * instead of two. Null if no facts are cached, or if the call would fail with them: then `requireSeries` reads the current ones.
 */
export function cachedPageQuery(
  { seriesFacts, cursors, clock }: Dependencies,
  call: Pick<ServiceCall, 'changesAt'>,
  id: string,
  request: SeriesRequest,
): PageQuery | null {
  const { vintage, version, transform } = request;
  const known = seriesFacts.known(id, vintage);
  if (known === undefined || known.deletedOn !== null || includesNotes(request)) return null;
  if (known.merged && isBefore(known.merged, vintage, version)) return null;
  if (transform !== null && !isApplicable(transform, request.frequency ?? known.frequency)) return null;
  try {
    const { selection, ...pageQuery } = pageQueryOf(
      withUpcomingReleases(known, call, clock),
      request,
      cursors,
    );
    if (readsNothing(selection)) return null; // no statement would run that checks the facts
    return { ...pageQuery, selection: { ...selection, isUnchecked: true } };
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
}

/** @throws Failure `unknown_dimension`, `invalid_cursor`, or `invalid_parameter` for a version that does not exist yet. */
export function pageQueryOf(found: Series, request: SeriesRequest, cursors: Cursors): PageQuery {
  const query = canonicalRequest(found.seriesNo, request);
  const [version = request.version ?? found.version, date, lineNo] =
    request.cursor === undefined ? [] : (cursors.open(request.cursor, query) as [number, string, number]);
  if (request.version !== null && request.version !== version)
    fail('invalid_cursor', `The cursor is of version ${version}.`, { param: 'cursor' });
  if (version > found.version)
    refuseParam('version', `"version" must be at most ${found.version}, the newest.`);
  const published = withBreaksAt(found, request.vintage, version);
  const aggregation = aggregationOf(published, request);
  const series = aggregation === null ? published : { ...published, frequency: aggregation.target };
  const { from, to, sort, vintage, release, wanted, fields } = request;
  const hasDetails = fields.includes('published_on') || fields.includes('status');
  const lineNos = combinationsThatPass(series, request.filter);
  requireFewNewest(request.last, lineNos.length);
  return {
    query,
    after: date === undefined || lineNo === undefined ? null : { date, lineNo },
    selection: {
      ...{ series, lineNos, from, to, order: sort, vintage, release, wanted, hasDetails, version },
      aggregation,
    },
  };
}

/**
 * How points are aggregated to the requested frequency; null if they already have it.
 * @throws Failure `invalid_parameter` if it is higher than that of the series, or its periods are never complete.
 */
function aggregationOf(
  { id, frequency: source, fiscalYearEnd, breaks }: Series,
  { frequency: target, aggregate, incomplete, transform }: SeriesRequest,
): Aggregation | null {
  if (target === null || target === source) return null;
  const allowed = lowerFrequencies(source);
  if (!allowed.includes(target)) {
    const hint = allowed.length === 0 ? 'None is lower.' : `Lower ones are ${allowed.join(', ')}.`;
    refuseParam(
      'frequency',
      `"frequency" must not be higher than that of ${id}, which is ${source}: ${target} values cannot be known. ${hint}`,
    );
  }
  if (source === 'irregular' && !incomplete)
    refuseParam(
      'frequency',
      `${id} is irregular, so no period is known to be complete. Add incomplete=true.`,
    );
  return {
    ...{ source, target, aggregate, incomplete, fiscalYearEnd },
    breaks: breaks.map(({ date }) => date),
    // A value computed from means has ten significant digits only if the means have more, even where two differ only in the noise of doubles.
    meanDecimals: transform === null ? 10 : 30,
    sourcePerPeriod: sourcePerPeriod(source, target),
  };
}

/** The points of a page query in blocks, transformed if requested. @param pointsWanted sizes the blocks, but is no limit. */
export async function* pointsOfQuery(
  database: Queryable,
  { selection, after }: PageQuery,
  computation: Computation | null,
  pointsWanted: number,
): AsyncGenerator<Points> {
  const ahead = selection.order === 'asc' ? 1 : -1;
  const rest = after === null ? {} : selection.order === 'asc' ? { from: after.date } : { to: after.date };
  for await (const block of blocksOf(database, { ...selection, ...rest }, computation, pointsWanted)) {
    // Blocks have whole dates: only the date of the position itself can have points that were already sent.
    yield after === null
      ? block
      : filterPoints(
          block,
          (i) => block.dates[i] !== after.date || (entryAt(block.lineNos, i) - after.lineNo) * ahead > 0,
        );
  }
}

/** All points of a page query, or the newest of each combination, in blocks. */
export async function* requestedPoints(
  database: Queryable,
  cursors: Cursors,
  {
    pageQuery,
    computation,
    last,
  }: { pageQuery: PageQuery; computation: Computation | null; last: number | null },
): AsyncGenerator<Points> {
  if (last === null) yield* pointsOfQuery(database, pageQuery, computation, blockPoints);
  else yield (await readPage({ database, cursors }, pageQuery, computation, { limit: last, last })).points;
}

/** One page, and the cursor of the next if more points follow. */
export async function readPage(
  { database, cursors }: { database: Queryable; cursors: Cursors },
  pageQuery: PageQuery,
  computation: Computation | null,
  { limit, last }: { limit: number; last: number | null },
): Promise<{ points: Points; nextCursor: string | null }> {
  const { selection, query } = pageQuery;
  if (last !== null) {
    const newest = await readLatest(database, { ...selection, order: 'desc' }, computation, last);
    return { points: selection.order === 'asc' ? newest : reversePoints(newest), nextCursor: null };
  }
  let points = noPoints();
  for await (const block of pointsOfQuery(database, pageQuery, computation, limit + 1)) {
    if (points.dates.length === 0) points = block;
    else appendPoints(points, block);
    if (points.dates.length > limit) break;
  }
  if (points.dates.length <= limit) return { points, nextCursor: null };
  const place = [entryAt(points.dates, limit - 1), entryAt(points.lineNos, limit - 1)];
  return {
    points: firstPoints(points, limit),
    nextCursor: cursors.seal([selection.version, ...place], query),
  };
}

/** The newest points of each combination, one unless more are requested, oldest first. @param selection descending. */
export async function readLatest(
  database: Queryable,
  selection: Selection,
  computation: Computation | null,
  count = 1,
): Promise<Points> {
  if (computation === null && count === 1) return reversePoints(await readFirst(database, selection));
  if (computation === null && isStored(selection)) return readNewest(database, selection, count);
  const newest = noPoints();
  const missing = new Map(selection.lineNos.map((lineNo) => [lineNo, count]));
  const pointsWanted = (count + 1) * selection.lineNos.length;
  for await (const block of blocksOf(database, selection, computation, pointsWanted)) {
    const isWanted = (i: number): boolean => {
      const lineNo = entryAt(block.lineNos, i);
      const left = missing.get(lineNo);
      if (left === undefined) return false;
      if (left === 1) missing.delete(lineNo);
      else missing.set(lineNo, left - 1);
      return true;
    };
    appendPoints(newest, filterPoints(block, isWanted));
    if (missing.size === 0) break;
  }
  return reversePoints(newest);
}

function blocksOf(
  database: Queryable,
  selection: Selection,
  computation: Computation | null,
  pointsWanted: number,
): AsyncGenerator<Points> {
  return computation === null
    ? readBlocks(database, selection, pointsWanted)
    : transformedBlocks(database, selection, computation, pointsWanted);
}
