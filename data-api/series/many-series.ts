// GET /v1/series?ids= and POST /v1/series/query: several series in one call, each by itself or as one table.
import type { Reply } from '../../kernel/http/answer.ts';
import type { ServiceCall } from '../../kernel/http/server.ts';
import type { Dependencies } from '../dependencies.ts';
import { endpoint, type Asked } from '../endpoint.ts';
import { seriesJson } from './series-envelope.ts';
import { metaOf } from './series-meta.ts';
import { pageQueryOf, readPage, requireEach, type PageQuery } from './series-read.ts';
import {
  idsMax,
  limitDefault,
  manySeriesParams,
  queriedSeriesParams,
  queryBytesMax,
  requireFewNewest,
  requireFewPoints,
  requireTable,
  toRequest,
  type ManySeriesQuery,
  type SeriesRequest,
} from './series-request.ts';
import { manySeriesSchema } from './series-schema.ts';
import type { Series } from './stored/series.sql.ts';
import {
  computationOf,
  hinted,
  identityOf,
  pointsOf,
  readerOf,
  requireSeriesWithNotes,
  seriesErrors,
} from './series.ts';
import { longTable, readerOfSeries, wideTable, workbookSheets, type TableSeries } from './table.ts';
import { writeWorkbook } from '../workbook/workbook.ts';

/** Answers for all series or, if one fails, for none. */
async function readMany(
  dependencies: Dependencies,
  { query, call }: Pick<Asked<ManySeriesQuery>, 'query' | 'call'>,
): Promise<Reply> {
  requireFewPoints(query);
  requireTable(query);
  const request = toRequest(query, call, dependencies);
  const found = await call.stage('lookup', () =>
    requireEach(query.ids, (id) => requireSeriesWithNotes(dependencies, call, id, request)),
  );
  const pageQueries = found.map((series) => pageQueryOf(series, request, dependencies.cursors));
  requireFewNewest(
    request.last,
    pageQueries.reduce((sum, { selection }) => sum + selection.lineNos.length, 0),
  );
  const asked = { found, pageQueries, request, layout: query.layout ?? 'long' };
  return request.format === 'json'
    ? envelopesReply(dependencies, call, asked)
    : tableReply(dependencies, call, asked);
}

const many = { json: manySeriesSchema, errors: seriesErrors, handler: readMany } as const;

export const getManySeries = endpoint({
  ...many,
  summary: 'Several series in one call, each by itself or as one table; counts as one call per series.',
  query: manySeriesParams,
});

export const querySeries = endpoint({
  ...many,
  summary:
    'As `GET /v1/series`, for up to 1,000 series: its parameters as the fields of a JSON body. It changes nothing.',
  method: 'POST',
  query: queriedSeriesParams,
  bodyBytesMax: queryBytesMax,
  caching: 'none',
});

/** The request about several series. */
interface AskedSeries {
  found: readonly Series[];
  pageQueries: readonly PageQuery[];
  request: SeriesRequest;
  layout: string;
}

const lastModifiedOf = (found: readonly Series[]): Date =>
  new Date(Math.max(...found.map((series) => series.changedAt.getTime())));

/** The envelope of each series. More series than a URL can name are sent as they are read. */
function envelopesReply(
  dependencies: Dependencies,
  call: ServiceCall,
  { found, pageQueries, request }: AskedSeries,
): Reply {
  const { cursors } = dependencies;
  const { limit = limitDefault, last } = request;
  const points = pageQueries.reduce((sum, pageQuery) => sum + pointsOf(pageQuery, request), 0);
  const database = readerOf(dependencies, points);
  async function envelopeOf(pageQuery: PageQuery): Promise<string> {
    const { selection } = pageQuery;
    const computation = await computationOf(database, pageQuery, request, call);
    const page = await readPage({ database, cursors }, pageQuery, computation, { limit, last });
    const meta = metaOf(selection.series, hinted(selection, request), computation);
    return seriesJson(selection.series, meta, page, request.fields);
  }
  async function* parts(): AsyncGenerator<string> {
    let before = '{"success":true,"data":[';
    // One connection per call.
    for (const pageQuery of pageQueries) {
      yield before + (await envelopeOf(pageQuery));
      before = ',';
    }
    const count = pageQueries.length;
    yield `],"count":${count},"pagination":${JSON.stringify({ next_cursor: null, count })}}`;
  }
  return {
    identity: ['many', ...pageQueries.flatMap(identityOf), request.limit, last, request.fields],
    lastModified: lastModifiedOf(found),
    format: 'json',
    fileName: 'series',
    read: async () =>
      pageQueries.length > idsMax
        ? { parts: parts() }
        : { text: (await call.stage('sql', () => Array.fromAsync(parts()))).join('') },
  };
}

/** All points of the series, or the newest, as one CSV, NDJSON or workbook. */
function tableReply(
  dependencies: Dependencies,
  call: ServiceCall,
  { found, pageQueries, request, layout }: AskedSeries,
): Reply {
  const { longReads, cursors, publicUrl } = dependencies;
  const { last, fields, format } = request;
  const read = readerOfSeries(longReads, cursors, last);
  return {
    identity: ['table', ...pageQueries.flatMap(identityOf), layout, last, format, fields],
    lastModified: lastModifiedOf(found),
    format,
    fileName: 'series',
    async read() {
      const all: TableSeries[] = [];
      for (const pageQuery of pageQueries)
        all.push({ pageQuery, computation: await computationOf(longReads, pageQuery, request, call) });
      if (format === 'xlsx') {
        const sheets = await call.stage('sql', () => workbookSheets(all, { read, publicUrl }));
        return { bytes: await call.stage('render', () => writeWorkbook(sheets)) };
      }
      return { parts: layout === 'wide' ? wideTable(all, { last, read }) : longTable(all, request, read) };
    },
  };
}
