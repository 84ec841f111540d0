// GET /v1/series/{id} and /v1/series/{id}/latest: points in pages, or as one stream.
import { z } from 'zod';
import type { Queryable } from '../../kernel/database.ts';
import { memberOf } from '../../kernel/entries.ts';
import type { ErrorCode } from '../../kernel/errors.ts';
import type { Content, Reply } from '../../kernel/http/answer.ts';
import type { ServiceCall } from '../../kernel/http/server.ts';
import type { Dependencies } from '../dependencies.ts';
import { endpoint, type Asked } from '../endpoint.ts';
import { unknownValues } from './dims.ts';
import { reversePoints, type Points } from './stored/point-columns.ts';
import { blockPoints, type Selection } from './stored/points.ts';
import { seriesCsv, seriesJson, seriesNdjson, type SeriesLines } from './series-envelope.ts';
import { metaOf } from './series-meta.ts';
import {
  cachedPageQuery,
  pageQueryOf,
  pointsOfQuery,
  readLatest,
  readPage,
  requireSeries,
  stateOf,
  withPointNotes,
  type PageQuery,
} from './series-read.ts';
import {
  includesNotes,
  latestParams,
  limitDefault,
  requireWorkbook,
  seriesParams,
  toRequest,
  type SeriesRequest,
} from './series-request.ts';
import { readerOfSeries, workbookSheets } from './table.ts';
import { writeWorkbook } from '../workbook/workbook.ts';
import { seriesSchema } from './series-schema.ts';
import type { Series } from './stored/series.sql.ts';
import { prepareTransform, type Computation } from './computed/transformed-points.ts';

/** The path parameter of a series. */
export const seriesParam = { id: z.string().describe('The id of a series, case-sensitive.') };

/** The errors of every read of a series. */
export const seriesErrors: readonly ErrorCode[] = [
  'not_found',
  'unknown_dimension',
  'transform_not_applicable',
  'plan_required',
  'gone',
];
/** The header with the permanent URL of a past state that is not pinned yet. */
export const pinnedHeaders = ['Content-Location'];

export const getSeries = endpoint({
  summary: 'The points of a series.',
  params: seriesParam,
  query: seriesParams,
  json: seriesSchema,
  headers: pinnedHeaders,
  errors: seriesErrors,
  handler: async (dependencies, asked) => {
    requireWorkbook(asked.query);
    const request = toRequest(asked.query, asked.call, dependencies);
    // A stream is read by several statements, and sent data cannot be revoked.
    const mayUseCached = asked.mayUseCached && !isStream(request);
    const pageQuery = await lookUp(dependencies, { ...asked, mayUseCached }, request);
    return seriesReply(dependencies, asked, { endpoint: 'series', pageQuery, request });
  },
});

interface Page {
  computation: Computation | null;
  points: Points;
  nextCursor: string | null;
}

/** The read that the call requests. @throws Failure `not_found`, and those of `pageQueryOf`. */
async function lookUp(
  dependencies: Dependencies,
  { params, call, mayUseCached }: Omit<Asked<unknown>, 'query'>,
  request: SeriesRequest,
): Promise<PageQuery> {
  const id = memberOf(params, 'id');
  const known = mayUseCached ? cachedPageQuery(dependencies, call, id, request) : null;
  if (known !== null) return known;
  const series = await call.stage('lookup', () => requireSeriesWithNotes(dependencies, call, id, request));
  return pageQueryOf(series, request, dependencies.cursors);
}

/** The series, with the notes on its points if the request includes them. @throws Failure `not_found`. */
export async function requireSeriesWithNotes(
  dependencies: Dependencies,
  call: ServiceCall,
  id: string,
  request: SeriesRequest,
): Promise<Series> {
  const series = await requireSeries(dependencies, call, id, request.vintage, request.version);
  return withPointNotes(dependencies, call, series, request);
}

/** CSV or NDJSON without a limit. */
function isStream({ format, limit, last }: SeriesRequest): boolean {
  return format !== 'json' && limit === undefined && last === null;
}

async function readPageOf(
  dependencies: Dependencies,
  call: ServiceCall,
  pageQuery: PageQuery,
  request: SeriesRequest,
): Promise<Page> {
  const { limit = limitDefault, last } = request;
  const database = readerOf(dependencies, pointsOf(pageQuery, request));
  const computation = await computationOf(database, pageQuery, request, call);
  const { cursors } = dependencies;
  const page = await call.stage('sql', () =>
    readPage({ database, cursors }, pageQuery, computation, { limit, last }),
  );
  return { computation, ...page };
}

/** The points of a series: a page, or all of them for CSV or NDJSON without a limit. */
export function seriesReply(
  dependencies: Dependencies,
  { call, url }: Pick<Asked<unknown>, 'call' | 'url'>,
  asked: { endpoint: string; pageQuery: PageQuery; request: SeriesRequest },
): Reply {
  const { pageQuery, request } = asked;
  const { series } = pageQuery.selection;
  const { version, limit, last, format, fields } = request;
  return {
    ...validityOf(url, pageQuery, request),
    identity: [asked.endpoint, ...identityOf(pageQuery), version, limit, last, format, fields],
    format,
    fileName: series.id,
    async read() {
      if (format === 'xlsx') return workbook(dependencies, call, pageQuery, request);
      if (isStream(request)) {
        const { longReads } = dependencies;
        const computation = await computationOf(longReads, pageQuery, request, call);
        return {
          parts: partsOf(
            linesOf(series, request),
            pointsOfQuery(longReads, pageQuery, computation, blockPoints),
          ),
        };
      }
      const page = await readPageOf(dependencies, call, pageQuery, request);
      return pageText(call, { selection: pageQuery.selection, request, ...page });
    },
  };
}

/** The points as a workbook. @throws Failure `invalid_parameter` if they are too many. */
async function workbook(
  { longReads, cursors, publicUrl }: Dependencies,
  call: ServiceCall,
  pageQuery: PageQuery,
  request: SeriesRequest,
): Promise<Content> {
  const computation = await computationOf(longReads, pageQuery, request, call);
  const read = readerOfSeries(longReads, cursors, request.last);
  const sheets = await call.stage('sql', () =>
    workbookSheets([{ pageQuery, computation }], { read, publicUrl }),
  );
  return { bytes: await call.stage('render', () => writeWorkbook(sheets)) };
}

export const getLatest = endpoint({
  summary: 'The newest point of each combination of dimension values.',
  params: seriesParam,
  query: latestParams,
  json: seriesSchema,
  headers: pinnedHeaders,
  errors: seriesErrors,
  handler: async (dependencies, asked) => {
    const { query, call, url } = asked;
    const { database } = dependencies;
    const request: SeriesRequest = { ...toRequest(query, call, dependencies), sort: 'desc' };
    const pageQuery = await lookUp(dependencies, asked, request);
    const { selection } = pageQuery;
    const { version, format, fields } = request;
    return {
      ...validityOf(url, pageQuery, request),
      identity: ['latest', ...identityOf(pageQuery), query.sort, version, format, fields],
      format,
      fileName: `${selection.series.id}-latest`,
      async read() {
        const computation = await computationOf(database, pageQuery, request, call);
        const newest = await call.stage('sql', () => readLatest(database, selection, computation));
        const points = query.sort === 'desc' ? reversePoints(newest) : newest;
        return pageText(call, { selection, request, computation, points, nextCursor: null });
      },
    };
  },
});

/** The facts that identify the points of a page query, for its ETag: the query, the page's position, the state of the series. */
export function identityOf({ query, after, selection: { series, version } }: PageQuery): unknown[] {
  return [query, after, ...stateOf(series), version];
}

/** How long the answer is valid; for a past state that is not pinned yet, also its permanent URL. */
export function validityOf(
  url: string,
  { selection }: PageQuery,
  request: SeriesRequest,
): Pick<Reply, 'lastModified' | 'isPinned' | 'headers'> {
  const { vintage, release, version } = request;
  const lastModified = selection.series.changedAt;
  if (includesNotes(request)) return { lastModified };
  const isPast = vintage !== null || release === 'first';
  if (version !== null || !isPast) return { lastModified, isPinned: version !== null };
  const pinned = new URL(url, 'http://host');
  pinned.searchParams.set('version', String(selection.version));
  return { lastModified, headers: { 'content-location': pinned.pathname + pinned.search } };
}

/** The approximate number of stored points that an answer reads. */
export function pointsOf(
  { selection: { lineNos, aggregation } }: PageQuery,
  { limit = limitDefault, last }: SeriesRequest,
): number {
  return (last === null ? limit : last * lineNos.length) * (aggregation?.sourcePerPeriod ?? 1);
}

/** The pool for a read of so many points: long reads have a few connections of their own. */
export function readerOf({ database, longReads }: Dependencies, points: number): Queryable {
  return points > blockPoints ? longReads : database;
}

/** The transform of a request, ready to be computed; null if the request has none. */
export async function computationOf(
  database: Queryable,
  { selection }: PageQuery,
  { transform, base }: SeriesRequest,
  call: ServiceCall,
): Promise<Computation | null> {
  if (transform === null) return null;
  return call.stage('transform', () => prepareTransform(database, selection, transform, base));
}

/** The selection, with warnings about what the client probably did not intend. */
export const hinted = (selection: Selection, { filter }: SeriesRequest) => ({
  ...selection,
  hints: unknownValues(selection.series, filter),
});

interface PageAnswer extends Page {
  selection: Selection;
  request: SeriesRequest;
}

async function pageText(call: ServiceCall, page: PageAnswer): Promise<Content> {
  const { selection, request, computation, points, nextCursor } = page;
  const { series } = selection;
  const text = await call.stage('render', () => {
    if (request.format === 'json') {
      const meta = metaOf(series, hinted(selection, request), computation);
      return seriesJson(series, meta, { points, nextCursor }, request.fields);
    }
    const { header, lines } = linesOf(series, request);
    return header + lines(points);
  });
  return { text, nextCursor };
}

const linesOf = (series: Series, { format, fields }: SeriesRequest) =>
  format === 'ndjson' ? seriesNdjson(series, fields) : seriesCsv(series, fields);

/** The CSV of a whole selection. */
export const csvParts = (
  series: Series,
  { fields }: Pick<SeriesRequest, 'fields'>,
  blocks: AsyncGenerator<Points>,
): AsyncGenerator<string> => partsOf(seriesCsv(series, fields), blocks);

async function* partsOf(
  { header, lines }: SeriesLines,
  blocks: AsyncGenerator<Points>,
): AsyncGenerator<string> {
  let isFirst = true;
  for await (const block of blocks) {
    yield isFirst ? header + lines(block) : lines(block);
    isFirst = false;
  }
  if (isFirst) yield header;
}
