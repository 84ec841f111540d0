// GET /fred/sources, /fred/source, /fred/source/releases and /fred/release/sources: who publishes the series.
import { z } from 'zod';
import { numberOfNameId } from '../../domain/name-id.ts';
import { oneOfParam } from '../../kernel/http/params.ts';
import { keptReleases } from '../discovery/releases.ts';
import { keptSources, type SourceRow } from '../discovery/sources.ts';
import { endpoint } from '../endpoint.ts';
import {
  fileTypeParam,
  fileTypes,
  fredReply,
  limitParam,
  offsetParam,
  pageOf,
  pageShape,
  realtimeShape,
  sortOrderParam,
} from './answer.ts';
import { numberParam, requireNumbered } from './find-series.ts';
import { realtimeFacts, realtimeOf, realtimeParams, type Realtime } from './real-time.ts';
import { releaseListParams, releaseListReply, releaseListSchema } from './releases.ts';

const sourceSchema = z
  .object({
    id: z.int(),
    ...realtimeShape,
    name: z.string(),
    link: z.string().describe('The source under /v1.'),
  })
  .meta({ id: 'FredSource' });
const someSources = z.object({ ...realtimeShape, sources: z.array(sourceSchema) });

type NamedSource = Pick<SourceRow, 'id' | 'name'>;

const sourceRow = ({ id, name }: NamedSource, realtime: Realtime, publicUrl: string) => ({
  id: numberOfNameId(id),
  ...realtimeFacts(realtime),
  name,
  link: `${publicUrl}/v1/sources/${id}`,
});

const numberOf = ({ id }: NamedSource): number => numberOfNameId(id);
const orders = {
  source_id: numberOf,
  name: ({ name }: NamedSource) => name,
  realtime_start: numberOf,
  realtime_end: numberOf,
};
const orderNames = Object.keys(orders) as [keyof typeof orders];

export const getFredSources = endpoint({
  summary: 'The sources, in the form of FRED.',
  query: {
    file_type: fileTypeParam,
    ...realtimeParams,
    order_by: oneOfParam(orderNames).default('source_id'),
    sort_order: sortOrderParam,
    limit: limitParam(1_000),
    offset: offsetParam,
  },
  formats: fileTypes,
  json: z.object({
    ...realtimeShape,
    order_by: z.enum(orderNames),
    ...pageShape,
    sources: z.array(sourceSchema),
  }),
  caching: 'public',
  handler: (dependencies) => {
    const sources = keptSources(dependencies);
    return async ({ query, call }) => {
      const realtime = realtimeOf(query, dependencies, call);
      const { value: all, version, changedAt } = await call.stage('sql', sources);
      const { order_by, sort_order, offset, limit } = query;
      return fredReply(query.file_type, {
        identity: ['fred sources', query, realtime, version],
        lastModified: changedAt,
        read: () => ({
          head: { ...realtimeFacts(realtime), order_by, sort_order, count: all.length, offset, limit },
          root: 'sources',
          item: 'source',
          rows: pageOf(all, [orders[order_by], numberOf], query).map((row) =>
            sourceRow(row, realtime, dependencies.publicUrl),
          ),
        }),
      });
    };
  },
});

const sourceIdParam = numberParam('source');

export const getFredSource = endpoint({
  summary: 'A source, in the form of FRED.',
  query: { source_id: sourceIdParam, file_type: fileTypeParam, ...realtimeParams },
  formats: fileTypes,
  json: someSources,
  caching: 'public',
  errors: ['not_found', 'conflict'],
  handler: (dependencies) => {
    const sources = keptSources(dependencies);
    return async ({ query, call }) => {
      const realtime = realtimeOf(query, dependencies, call);
      const { value: all, version, changedAt } = await call.stage('sql', sources);
      const source = requireNumbered(all, query.source_id, 'source');
      return fredReply(query.file_type, {
        identity: ['fred source', query, realtime, version],
        lastModified: changedAt,
        read: () => ({
          head: realtimeFacts(realtime),
          root: 'sources',
          item: 'source',
          rows: [sourceRow(source, realtime, dependencies.publicUrl)],
        }),
      });
    };
  },
});

export const getFredSourceReleases = endpoint({
  summary: 'The releases of a source, in the form of FRED.',
  query: { source_id: sourceIdParam, ...releaseListParams },
  formats: fileTypes,
  json: releaseListSchema,
  caching: 'public',
  errors: ['not_found', 'conflict'],
  handler: (dependencies) => {
    const [sources, releases] = [keptSources(dependencies), keptReleases(dependencies)];
    return async ({ query, call }) => {
      const known = await call.stage('sql', sources);
      const kept = await call.stage('lookup', releases);
      const source = requireNumbered(known.value, query.source_id, 'source');
      const rows = kept.value.filter((release) => release.source === source.name);
      return releaseListReply(dependencies, call, { name: 'fred source releases', rows, query, state: kept });
    };
  },
});

export const getFredReleaseSources = endpoint({
  summary: 'The source of a release, in the form of FRED.',
  query: { release_id: numberParam('release'), file_type: fileTypeParam, ...realtimeParams },
  formats: fileTypes,
  json: someSources,
  caching: 'public',
  errors: ['not_found', 'conflict'],
  handler: (dependencies) => {
    const releases = keptReleases(dependencies);
    return async ({ query, call }) => {
      const realtime = realtimeOf(query, dependencies, call);
      const kept = await call.stage('lookup', releases);
      const { source_id: id, source: name } = requireNumbered(kept.value, query.release_id, 'release');
      return fredReply(query.file_type, {
        identity: ['fred release sources', query, realtime, kept.version],
        lastModified: kept.changedAt,
        read: () => ({
          head: realtimeFacts(realtime),
          root: 'sources',
          item: 'source',
          rows: [sourceRow({ id, name }, realtime, dependencies.publicUrl)],
        }),
      });
    };
  },
});
