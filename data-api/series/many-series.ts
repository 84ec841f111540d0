// GET /v1/series?ids=: several series in one call, each by itself or as one table.
import type { Reply } from '../../kernel/http/answer.ts';
import type { ServiceCall } from '../../kernel/http/server.ts';
import type { Dependencies } from '../dependencies.ts';
import { endpoint } from '../endpoint.ts';
import { seriesJson } from './series-envelope.ts';
import { metaOf } from './series-meta.ts';
import { pageQueryOf, readPage, requireEach, wantedPoints, type PageQuery } from './series-read.ts';
import {
  limitDefault,
  manySeriesParams,
  requireFewNewest,
  requireFewPoints,
  requireTable,
  toRequest,
  type SeriesRequest,
} from './series-request.ts';
import { manySeriesSchema } from './series-schema.ts';
import type { Series } from './series.sql.ts';
import {
  computationOf,
  hinted,
  identityOf,
  pointsOf,
  readerOf,
  requireNoted,
  seriesErrors,
} from './series.ts';
import { longTable, wideTable, type ReadSeries, type TableSeries } from './table.ts';

/** Answers for all series or, if one fails, for none. */
export const getManySeries = endpoint({
  summary: 'Several series in one call, each by itself or as one table; counts as one call per series.',
  query: manySeriesParams,
  json: manySeriesSchema,
  errors: seriesErrors,
  handler: (dependencies) => {
    const { cursors } = dependencies;
    return async ({ query, call }) => {
      requireFewPoints(query);
      requireTable(query);
      const request = toRequest(query, call, dependencies);
      const { limit = limitDefault, last } = request;
      const found = await call.stage('lookup', () =>
        requireEach(query.ids, (id) => requireNoted(dependencies, call, id, request)),
      );
      const pageQueries = found.map((series) => pageQueryOf(series, request, cursors));
      requireFewNewest(
        last,
        pageQueries.reduce((sum, { selection }) => sum + selection.lineNos.length, 0),
      );
      if (request.format === 'csv') {
        return tableReply(dependencies, call, {
          found,
          pageQueries,
          request,
          layout: query.layout ?? 'long',
        });
      }
      const database = readerOf(
        dependencies,
        pageQueries.reduce((sum, pageQuery) => sum + pointsOf(pageQuery, request), 0),
      );
      const readOne = async (pageQuery: PageQuery): Promise<string> => {
        const { selection } = pageQuery;
        const computation = await computationOf(database, pageQuery, request, call);
        const page = await readPage({ database, cursors }, pageQuery, computation, { limit, last });
        const meta = metaOf(selection.series, hinted(selection, request), computation);
        return seriesJson(selection.series, meta, page, request.fields);
      };
      return {
        identity: ['many', ...pageQueries.flatMap(identityOf), request.limit, last, request.fields],
        lastModified: new Date(Math.max(...found.map((series) => series.changedAt.getTime()))),
        format: 'json',
        fileName: 'series',
        async read() {
          const envelopes = await call.stage('sql', async () => {
            const texts: string[] = [];
            for (const pageQuery of pageQueries) texts.push(await readOne(pageQuery)); // one connection per call
            return texts;
          });
          const count = envelopes.length;
          const pagination = JSON.stringify({ next_cursor: null, count });
          return {
            text: `{"success":true,"data":[${envelopes.join(',')}],"count":${count},"pagination":${pagination}}`,
          };
        },
      };
    };
  },
});

/** All points of the series, or the newest, as one CSV. */
function tableReply(
  dependencies: Dependencies,
  call: ServiceCall,
  asked: {
    found: readonly Series[];
    pageQueries: readonly PageQuery[];
    request: SeriesRequest;
    layout: string;
  },
): Reply {
  const { found, pageQueries, request, layout } = asked;
  const { longReads, cursors } = dependencies;
  const { last, fields } = request;
  const read: ReadSeries = async function* read({ pageQuery, computation }, window) {
    const selection = { ...pageQuery.selection, ...window }; // with "last" there is one window
    yield* wantedPoints(longReads, cursors, { pageQuery: { ...pageQuery, selection }, computation, last });
  };
  return {
    identity: ['table', ...pageQueries.flatMap(identityOf), layout, last, fields],
    lastModified: new Date(Math.max(...found.map((series) => series.changedAt.getTime()))),
    format: 'csv',
    fileName: 'series',
    async read() {
      const all: TableSeries[] = [];
      for (const pageQuery of pageQueries)
        all.push({ pageQuery, computation: await computationOf(longReads, pageQuery, request, call) });
      return { parts: layout === 'wide' ? wideTable(all, { last, read }) : longTable(all, fields, read) };
    },
  };
}
