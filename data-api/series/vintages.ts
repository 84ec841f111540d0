// GET /v1/series/{id}/vintages: the days on which a series was published anew, and how much changed.
import { z } from 'zod';
import type { Handler } from '../../kernel/http/server.ts';
import { integerParam, oneOfParam, parseQuery, windowOf, windowParams } from '../../kernel/http/params.ts';
import { addDays } from '../../kernel/dates.ts';
import type { Dependencies } from '../dependencies.ts';
import { csvType, jsonType, listCsv, listJson } from '../envelope.ts';
import { cachingHeaders, nextPageLink, sendNotModified, sendText } from '../../kernel/http/reply.ts';
import { requireSeries } from './series-read.ts';
import { requireVintages } from './series-request.ts';
import { listVintages } from './vintages.sql.ts';

const vintagesQuery = z.object({
  ...windowParams,
  sort: oneOfParam(['vintage', '-vintage']).default('vintage'),
  limit: integerParam(1, 1_000).default(100),
  cursor: z.string().optional(),
  format: oneOfParam(['json', 'csv']).default('json'),
});

const columns = ['vintage', 'points_new', 'points_revised', 'points_deleted', 'loaded_at'];

export function getVintages(dependencies: Dependencies): Handler {
  const { database, cursors } = dependencies;
  return async function getVintages(request, response, call) {
    const { sort, limit, cursor, format, ...window } = await call.stage('parse', () => {
      const query = parseQuery(vintagesQuery, request.url);
      requireVintages(undefined, call);
      return query;
    });
    const series = await call.stage('lookup', () =>
      requireSeries(dependencies, String(request.params['id']), null),
    );
    let { from = '0001-01-01', to = '9999-12-31' } = windowOf(window);
    const pageQuery = JSON.stringify(['vintages', series.id, from, to, sort]);
    if (cursor !== undefined) {
      const last = String(cursors.open(cursor, pageQuery)[0]);
      if (sort === 'vintage') from = addDays(last, 1);
      else to = addDays(last, -1);
    }
    const headers = cachingHeaders(request, {
      identity: [pageQuery, from, to, limit, format, series.rowVersion],
      lastModified: series.changedAt,
      cacheControl: 'private',
    });
    if (sendNotModified(request, response, headers)) return;
    const found = await call.stage('sql', () =>
      listVintages(database, { seriesNo: series.seriesNo, from, to, sort, limit: limit + 1 }),
    );
    const rows = found.slice(0, limit);
    const last = rows.at(-1);
    const nextCursor =
      found.length > limit && last !== undefined ? cursors.seal([last.vintage], pageQuery) : null;
    if (format === 'csv') {
      const text = listCsv(rows, columns);
      await sendText(request, response, {
        type: csvType,
        headers: { ...headers, ...nextPageLink(request, nextCursor) },
        text,
      });
      return;
    }
    await sendText(request, response, { type: jsonType, headers, text: listJson(rows, nextCursor) });
  };
}
