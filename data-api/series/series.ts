// GET /v1/series/{id}, /v1/series/{id}/latest and /v1/series?ids=: points by page, as one stream, of many series.
// Hides nothing: each handler reads from the parameters to the answer.
import type { Request, Response } from 'express';
import type { ServiceCall, Handler } from '../../kernel/http/server.ts';
import type { Dependencies } from '../dependencies.ts';
import { csvType, jsonType, seriesCsv, seriesJson } from '../envelope.ts';
import { blockPoints, type Points, type Selection } from './points.ts';
import {
  cachingHeaders,
  encodingFor,
  nextPageLink,
  sendAnswer,
  sendNotModified,
  sendStream,
  sendText,
  type CachingHeaders,
} from '../../kernel/http/reply.ts';
import type { CachedResponse } from '../../kernel/http/response-cache.ts';
import { metaOf } from './series-meta.ts';
import {
  pointsOfQuery,
  readLatest,
  readPage,
  requireSeries,
  pageQueryOf,
  type PageQuery,
} from './series-read.ts';
import {
  limitDefault,
  parseLatestRequest,
  parseManySeriesRequest,
  parseSeriesRequest,
  type SeriesRequest,
} from './series-request.ts';
import type { Series } from './series.sql.ts';
import { prepareTransform, type Computation } from './transformed-points.ts';

/** GET /v1/series/{id}. */
export function getSeries(dependencies: Dependencies): Handler {
  return byAddress(dependencies, async function getSeries(request, response, call) {
    const asked = await call.stage('parse', () => parseSeriesRequest(request.url, call, dependencies));
    const series = await call.stage('lookup', () =>
      requireSeries(dependencies, String(request.params['id']), asked.vintage),
    );
    const answer = { endpoint: 'series', series, asked };
    return { series, headers: await sendSeries(request, response, call, dependencies, answer) };
  });
}

type SeriesHandler = (...call: Parameters<Handler>) => Promise<{ series: Series; headers: CachingHeaders }>;

/** Answers as the URL was answered before, where that still holds; where not, and the first time, by `handler`. */
function byAddress({ urlValidatorCache, responseCache }: Dependencies, handler: SeriesHandler): Handler {
  return async function sendKnown(request, response, call) {
    const encoding = encodingFor(request.headers['accept-encoding']);
    const url = `${encoding} ${call.identity.features.join(',')} ${request.url}`;
    const known = urlValidatorCache.get(url);
    if (known !== undefined && (await call.stage('lookup', () => urlValidatorCache.holds(known)))) {
      if (sendNotModified(request, response, known.headers)) return;
      const kept = responseCache.get(known.headers.etag);
      if (kept !== undefined) return sendAnswer(response, kept);
    }
    const { series, headers } = await handler(request, response, call);
    urlValidatorCache.keep(url, headers, series);
  };
}

/**
 * Answers with the points of a series: a page, or all of them where CSV is asked for without a limit.
 * @returns the caching headers of the answer.
 */
export async function sendSeries(
  request: Request,
  response: Response,
  call: ServiceCall,
  dependencies: Dependencies,
  { endpoint, series, asked }: { endpoint: string; series: Series; asked: SeriesRequest },
): Promise<CachingHeaders> {
  const { database, cursors, responseCache } = dependencies;
  const pageQuery = pageQueryOf(series, asked, cursors);
  const headers = cachingHeaders(request, {
    identity: [endpoint, ...identityOf(pageQuery), asked.version, asked.limit, asked.format, asked.fields],
    lastModified: series.changedAt,
    cacheControl: asked.version === null ? 'private' : 'pinned',
  });
  Object.assign(headers, pinnedUrl(request, pageQuery, asked));
  if (sendNotModified(request, response, headers)) return headers;
  const kept = responseCache.get(headers.etag);
  if (kept !== undefined) {
    sendAnswer(response, kept);
    return headers;
  }
  const computation = await computationOf(dependencies, pageQuery, asked, call);
  if (asked.format === 'csv' && asked.limit === undefined) {
    const blocks = pointsOfQuery(database, pageQuery, computation, blockPoints);
    await sendCsvStream(request, response, { headers, series, asked, blocks });
    return headers;
  }
  const { points, last } = await call.stage('sql', () =>
    readPage(database, pageQuery, computation, asked.limit ?? limitDefault),
  );
  const { version } = pageQuery.selection;
  const nextCursor = last === null ? null : cursors.seal([version, last.date, last.dimsNo], pageQuery.query);
  const page = { headers, selection: pageQuery.selection, asked, computation, points, nextCursor };
  responseCache.keep(headers.etag, await sendPage(request, response, call, page));
  return headers;
}

/** GET /v1/series/{id}/latest: the newest point of each combination. */
export function getLatest(dependencies: Dependencies): Handler {
  const { database, cursors, responseCache } = dependencies;
  return byAddress(dependencies, async function getLatest(request, response, call) {
    const asked = await call.stage('parse', () => parseLatestRequest(request.url, call, dependencies));
    const series = await call.stage('lookup', () =>
      requireSeries(dependencies, String(request.params['id']), asked.vintage),
    );
    const pageQuery = pageQueryOf(series, asked, cursors);
    const headers = cachingHeaders(request, {
      identity: ['latest', ...identityOf(pageQuery), asked.version, asked.format, asked.fields],
      lastModified: series.changedAt,
      cacheControl: asked.version === null ? 'private' : 'pinned',
    });
    Object.assign(headers, pinnedUrl(request, pageQuery, asked));
    if (sendNotModified(request, response, headers)) return { series, headers };
    const computation = await computationOf(dependencies, pageQuery, asked, call);
    const points = await call.stage('sql', () => readLatest(database, pageQuery.selection, computation));
    const page = { headers, selection: pageQuery.selection, asked, computation, points, nextCursor: null };
    responseCache.keep(headers.etag, await sendPage(request, response, call, page));
    return { series, headers };
  });
}

/** GET /v1/series?ids=a,b,c: a list of series envelopes; all of them or, where one cannot be told, none. */
export function getManySeries(dependencies: Dependencies): Handler {
  const { database, cursors, responseCache } = dependencies;
  return async function getManySeries(request, response, call) {
    const asked = await call.stage('parse', () => parseManySeriesRequest(request.url, call, dependencies));
    const found = await call.stage('lookup', () =>
      Promise.all(asked.ids.map((id) => requireSeries(dependencies, id, asked.vintage))),
    );
    const pageQueries = found.map((series) => pageQueryOf(series, asked, cursors));
    const headers = cachingHeaders(request, {
      identity: ['many', ...pageQueries.flatMap(identityOf), asked.limit, asked.fields],
      lastModified: new Date(
        Math.max(...pageQueries.map(({ selection }) => selection.series.changedAt.getTime())),
      ),
      cacheControl: 'private',
    });
    if (sendNotModified(request, response, headers)) return;
    const kept = responseCache.get(headers.etag);
    if (kept !== undefined) return sendAnswer(response, kept);
    const envelopes = await call.stage('sql', async () => {
      const texts: string[] = [];
      for (const pageQuery of pageQueries) {
        const { series, version } = pageQuery.selection;
        const computation = await computationOf(dependencies, pageQuery, asked, call);
        const { points, last } = await readPage(
          database,
          pageQuery,
          computation,
          asked.limit ?? limitDefault,
        );
        const nextCursor =
          last === null ? null : cursors.seal([version, last.date, last.dimsNo], pageQuery.query);
        texts.push(
          seriesJson(
            series,
            metaOf(series, pageQuery.selection, computation),
            { points, nextCursor },
            asked.fields,
          ),
        );
      }
      return texts;
    });
    const count = envelopes.length;
    const pagination = JSON.stringify({ next_cursor: null, count });
    const text = `{"success":true,"data":[${envelopes.join(',')}],"count":${count},"pagination":${pagination}}`;
    responseCache.keep(headers.etag, await sendText(request, response, { type: jsonType, headers, text }));
  };
}

/** What decides the points of a page query, for its ETag: the query, the page's place, the state of the series. */
function identityOf({ query, after, selection: { series, version } }: PageQuery): unknown[] {
  return [query, after, series.rowVersion, version, series.releases[0]];
}

/** `Content-Location`: where a past state that is not pinned yet stands for ever. */
function pinnedUrl(request: Request, { selection }: PageQuery, asked: SeriesRequest): Record<string, string> {
  const isPast = asked.vintage !== null || asked.release === 'first';
  if (!isPast || asked.version !== null) return {};
  const url = new URL(request.url, 'http://host');
  url.searchParams.set('version', String(selection.version));
  return { 'content-location': url.pathname + url.search };
}

async function computationOf(
  { database }: Dependencies,
  { selection }: PageQuery,
  { transform, base }: SeriesRequest,
  call: ServiceCall,
): Promise<Computation | null> {
  if (transform === null) return null;
  return call.stage('transform', () => prepareTransform(database, selection, transform, base));
}

interface PageAnswer {
  headers: Record<string, string>;
  selection: Selection;
  asked: SeriesRequest;
  computation: Computation | null;
  points: Points;
  nextCursor: string | null;
}

async function sendPage(
  request: Request,
  response: Response,
  call: ServiceCall,
  page: PageAnswer,
): Promise<CachedResponse> {
  const { headers, selection, asked, computation, points, nextCursor } = page;
  const { series } = selection;
  if (asked.format === 'json') {
    const text = await call.stage('render', () =>
      seriesJson(series, metaOf(series, selection, computation), { points, nextCursor }, asked.fields),
    );
    return sendText(request, response, { type: jsonType, headers, text });
  }
  const text = await call.stage('render', () => {
    const csv = seriesCsv(series, asked.fields);
    return csv.header + csv.lines(points);
  });
  return sendText(request, response, {
    type: csvType,
    headers: { ...headers, ...attachment(series), ...nextPageLink(request, nextCursor) },
    text,
  });
}

interface StreamAnswer {
  headers: Record<string, string>;
  series: Series;
  asked: SeriesRequest;
  blocks: AsyncGenerator<Points>;
}

async function sendCsvStream(
  request: Request,
  response: Response,
  { headers, series, asked, blocks }: StreamAnswer,
): Promise<void> {
  const csv = seriesCsv(series, asked.fields);
  async function* parts(): AsyncGenerator<string> {
    let isFirst = true;
    for await (const block of blocks) {
      yield isFirst ? csv.header + csv.lines(block) : csv.lines(block);
      isFirst = false;
    }
    if (isFirst) yield csv.header;
  }
  await sendStream(request, response, {
    type: csvType,
    headers: { ...headers, ...attachment(series) },
    parts: parts(),
  });
}

function attachment(series: Series): Record<string, string> {
  // The letters of an id need no quoting in a header.
  return { 'content-disposition': `attachment; filename="${series.id}.csv"` };
}
