// GET /v1/sources and /v1/sources/{id}: who publishes the series, under which licences, and how current they are.
import { z } from 'zod';
import { nameId } from '../../domain/name-id.ts';
import { memberOf } from '../../kernel/entries.ts';
import { listOf, oneOf, rowOf } from '../../kernel/http/list.ts';
import { oneOfParam, severalText } from '../../kernel/http/params.ts';
import { endpoint } from '../endpoint.ts';
import { recordReply } from '../list.ts';
import { catalogList } from './discovery.sql.ts';
import { cachedListParams, cachedListReply, cachedUntilChanged, type Computed } from './cached-list.ts';
import { earliestMs, cachedReleases, publicationSchema, requireNamed } from './releases.ts';
import { currencyShape, licenceSchema, listSources, readSourceTotals, sourceStates } from './sources.sql.ts';

const sourceSchema = z.object({
  id: z.string(),
  name: z.string().describe('As the series have it.'),
  ...currencyShape,
  licences: z.array(licenceSchema).describe('The terms of use of its series.'),
});
export type SourceRow = z.output<typeof sourceSchema>;

/** The sources, cached until a load or the clock changes them: their series are scanned once per load. */
export const cachedSources = cachedUntilChanged(
  [...catalogList.datasets, 'calendar'],
  async ({ database }, now): Promise<Computed<SourceRow[]>> => {
    const found = await listSources(database, now, await readSourceTotals(database));
    return {
      value: found.map(({ source, changes_at: _changesAt, ...row }) => ({
        id: nameId(source),
        name: source,
        ...row,
      })),
      untilMs: earliestMs(found),
    };
  },
);

const { params, bounded } = cachedListParams({
  shape: sourceSchema.shape,
  sorts: ['name', 'series_count', 'last_success_at', 'next_release_at'],
  sort: 'name',
  filters: { state: oneOfParam(sourceStates) },
});

export const getSources = endpoint({
  summary: 'The sources: who publishes the series.',
  query: { q: z.string().optional().describe('A part of the name.'), ...params },
  json: listOf(rowOf(sourceSchema)),
  caching: 'public',
  handler: async (dependencies, { query, call }) => {
    const { q, state } = query;
    const cached = await call.stage('sql', () => cachedSources(dependencies));
    const rows = cached.value.filter(
      (row) =>
        (q === undefined || row.name.toLowerCase().includes(q.toLowerCase())) &&
        (state?.includes(row.state) ?? true),
    );
    return cachedListReply(dependencies, call, { name: 'sources', rows, query, cached, bounded });
  },
});

const detailSchema = z.object({
  ...sourceSchema.shape,
  releases: z.array(publicationSchema.omit({ source: true, source_id: true })).describe('By name.'),
  catalog_url: z.string().describe('The path of its series.'),
});

export const getSource = endpoint({
  summary: 'A source: its licences, its releases, and how current it is.',
  params: { id: z.string().describe('An id of `/v1/sources`.') },
  json: oneOf(detailSchema),
  caching: 'public',
  errors: ['not_found'],
  handler: async (dependencies, { params, call }) => {
    const cached = await call.stage('sql', () => cachedSources(dependencies));
    const source = requireNamed(cached.value, memberOf(params, 'id'), 'source');
    const calendar = await call.stage('lookup', () => cachedReleases(dependencies));
    const own = calendar.value
      .filter((release) => release.source === source.name)
      .map(({ source: _source, source_id: _id, ...release }) => release)
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const catalog_url = `/v1/catalog?${new URLSearchParams({ source: severalText([source.name]) }).toString()}`;
    call.changesAt(Math.min(cached.untilMs, calendar.untilMs));
    return recordReply({ data: { ...source, releases: own, catalog_url }, state: cached });
  },
});
