// The public endpoints that say what there is: /v1/catalog, /v1/catalog/{id}, /v1/status.
import { z } from 'zod';
import type { Handler } from '../../kernel/http/server.ts';
import { booleanParam, oneOfParam, parseQuery } from '../../kernel/http/params.ts';
import { frequencies } from '../../domain/periods.ts';
import type { Dependencies } from '../dependencies.ts';
import {
  catalogList,
  catalogWhere,
  countCatalogFacets,
  findRelated,
  listSources,
  type CatalogFacets,
  type SourceState,
} from './discovery.sql.ts';
import { jsonType } from '../envelope.ts';
import { listParams, sendList } from '../list.ts';
import { cachingHeaders, sendNotModified, sendText } from '../../kernel/http/reply.ts';
import { factsOf } from '../series/series-meta.ts';
import { requireSeries } from '../series/series-read.ts';

const catalogQuery = z.object({
  q: z.string().optional(),
  category: z.string().optional(),
  source: z.string().optional(),
  frequency: oneOfParam(frequencies).optional(),
  geography: z.string().optional(),
  tag: z.string().optional(),
  facets: booleanParam.default(false),
  ...listParams(catalogList),
});

/** GET /v1/catalog: the series, filtered. */
export function getCatalog(dependencies: Dependencies): Handler {
  return async function getCatalog(request, response, call) {
    const { q, category, source, frequency, geography, tag, facets, ...asked } = await call.stage(
      'parse',
      () => parseQuery(catalogQuery, request.url),
    );
    const where = catalogWhere({ q, category, source, frequency, geography, tag });
    const counted = where.copy().and(asked.updated_after, (p) => `last_updated > ${p}`);
    const extra = {
      name: 'facets' as const,
      read: async () => ({
        meta: { facets: toFacets(await countCatalogFacets(dependencies.database, counted)) },
      }),
    };
    const withFacets = facets ? { extra } : {};
    await sendList(request, response, call, dependencies, { list: catalogList, asked, where, ...withFacets });
  };
}

function toFacets(counts: readonly CatalogFacets[]) {
  const facets: Record<CatalogFacets['facet'], { value: string; count: number }[]> = {
    category: [],
    source: [],
    frequency: [],
    geography: [],
  };
  for (const { facet, value, count } of counts) facets[facet].push({ value, count });
  return facets;
}

/** GET /v1/catalog/{id}: everything known of one series, and a URL to try. */
export function getCatalogEntry(dependencies: Dependencies): Handler {
  const { database } = dependencies;
  return async function getCatalogEntry(request, response, call) {
    await call.stage('parse', () => parseQuery(z.object({}), request.url));
    const series = await call.stage('sql', () =>
      requireSeries(dependencies, String(request.params['id']), null),
    );
    const data = {
      id: series.id,
      ...factsOf(series),
      related: await call.stage('related', () => findRelated(database, series.seriesNo)),
      sample_url: `/v1/series/${series.id}?sort=desc&limit=12`,
    };
    const headers = cachingHeaders(request, {
      identity: ['catalog', data],
      lastModified: series.changedAt,
      cacheControl: 'public',
    });
    if (sendNotModified(request, response, headers)) return;
    await sendText(request, response, {
      type: jsonType,
      headers,
      text: JSON.stringify({ success: true, data }),
    });
  };
}

const sourcesKeptMs = 1_000;

/** GET /v1/status: whether the parts work, and how fresh each source is. */
export function getStatus({ database, log, clock }: Dependencies): Handler {
  // Anybody may ask, and the answer goes over every series: one statement a second serves all who do.
  let reading: { since: number; sources: Promise<SourceState[]> } | null = null;
  function readSources(): Promise<SourceState[]> {
    const now = clock.now().getTime();
    if (reading === null || now - reading.since >= sourcesKeptMs) {
      reading = { since: now, sources: listSources(database, clock.now()) };
    }
    return reading.sources;
  }

  return async function getStatus(request, response, call) {
    await call.stage('parse', () => parseQuery(z.object({}), request.url));
    let sources: SourceState[] = [];
    let databaseState = 'operational';
    try {
      sources = await call.stage('sql', readSources);
    } catch (error) {
      // This endpoint exists to say so; the log has the cause.
      log.error({ err: error }, 'the status could not be read from the database');
      databaseState = 'down';
    }
    const data = {
      state: databaseState === 'operational' ? 'operational' : 'degraded',
      checked_at: clock.now().toISOString(),
      components: [
        { name: 'data-api', state: 'operational' },
        { name: 'database', state: databaseState },
      ],
      sources,
    };
    await sendText(request, response, {
      type: jsonType,
      headers: { 'cache-control': 'no-cache' },
      text: JSON.stringify({ success: true, data }),
    });
  };
}
