// GET /fred/sources, /fred/source, /fred/source/releases and /fred/release/sources: who publishes the series.
import { z } from 'zod';
import { numberOfNameId } from '../../domain/name-id.ts';
import { cachedReleases } from '../discovery/releases.ts';
import { cachedSources, type SourceRow } from '../discovery/sources.ts';
import {
  allOf,
  answerParams,
  fredEndpoint,
  limitParam,
  offsetParam,
  orderParam,
  pageOf,
  realtimeShape,
  rowsReply,
  sortOrderParam,
} from './answer.ts';
import { numberParam, requireNumbered } from './find-series.ts';
import { realtimeFacts, type Realtime } from './real-time.ts';
import { releaseListParams, releaseListReply, releaseListSchema } from './releases.ts';

type NamedSource = Pick<SourceRow, 'id' | 'name'>;
const numberOf = ({ id }: NamedSource): number => numberOfNameId(id);
const kind = {
  item: 'source',
  schema: z
    .object({
      id: z.int(),
      ...realtimeShape,
      name: z.string(),
      link: z.string().describe('The source under /v1.'),
    })
    .meta({ id: 'FredSource' }),
  shown: ({ id, name }: NamedSource, realtime: Realtime, publicUrl: string) => ({
    id: numberOfNameId(id),
    ...realtimeFacts(realtime),
    name,
    link: `${publicUrl}/v1/sources/${id}`,
  }),
  orders: {
    source_id: numberOf,
    name: ({ name }: NamedSource) => name,
    realtime_start: numberOf,
    realtime_end: numberOf,
  },
  last: numberOf,
};

export const getFredSources = fredEndpoint({
  summary: 'The sources, in the form of FRED.',
  query: {
    ...answerParams,
    order_by: orderParam(kind).default('source_id'),
    sort_order: sortOrderParam,
    limit: limitParam(1_000),
    offset: offsetParam,
  },
  json: pageOf(kind),
  handler: async (dependencies, { query, call }) => {
    const state = await call.stage('sql', () => cachedSources(dependencies));
    const list = { name: 'fred sources', query, state, rows: state.value };
    return rowsReply(dependencies, call, kind, list, query);
  },
});

const sourceIdParam = numberParam('source');

export const getFredSource = fredEndpoint({
  summary: 'A source, in the form of FRED.',
  query: { source_id: sourceIdParam, ...answerParams },
  json: allOf(kind),
  errors: ['not_found', 'conflict'],
  handler: async (dependencies, { query, call }) => {
    const state = await call.stage('sql', () => cachedSources(dependencies));
    const rows = [requireNumbered(state.value, query.source_id, 'source')];
    return rowsReply(dependencies, call, kind, { name: 'fred source', query, state, rows });
  },
});

export const getFredSourceReleases = fredEndpoint({
  summary: 'The releases of a source, in the form of FRED.',
  query: { source_id: sourceIdParam, ...releaseListParams },
  json: releaseListSchema,
  errors: ['not_found', 'conflict'],
  handler: async (dependencies, { query, call }) => {
    const known = await call.stage('sql', () => cachedSources(dependencies));
    const cached = await call.stage('lookup', () => cachedReleases(dependencies));
    const source = requireNumbered(known.value, query.source_id, 'source');
    const rows = cached.value.filter((release) => release.source === source.name);
    return releaseListReply(dependencies, call, { name: 'fred source releases', rows, query, state: cached });
  },
});

export const getFredReleaseSources = fredEndpoint({
  summary: 'The source of a release, in the form of FRED.',
  query: { release_id: numberParam('release'), ...answerParams },
  json: allOf(kind),
  errors: ['not_found', 'conflict'],
  handler: async (dependencies, { query, call }) => {
    const state = await call.stage('lookup', () => cachedReleases(dependencies));
    const { source_id: id, source: name } = requireNumbered(state.value, query.release_id, 'release');
    const rows = [{ id, name }];
    return rowsReply(dependencies, call, kind, { name: 'fred release sources', query, state, rows });
  },
});
