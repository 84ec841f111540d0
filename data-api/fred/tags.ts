// GET /fred/tags, /fred/tags/series and /fred/series/tags: the tags of the series.
import { z } from 'zod';
import { oneOfParam } from '../../kernel/http/params.ts';
import type { Reply } from '../../kernel/http/answer.ts';
import type { ServiceCall } from '../../kernel/http/server.ts';
import type { Dependencies } from '../dependencies.ts';
import { catalogList, catalogWhere, countTags } from '../discovery/discovery.sql.ts';
import { keptUntilChanged, sharedAmongEndpoints } from '../discovery/kept-list.ts';
import { endpoint } from '../endpoint.ts';
import { stateOf } from '../series/series-read.ts';
import {
  fileTypeParam,
  fileTypes,
  fredReply,
  limitParam,
  offsetParam,
  pageOf,
  pageShape,
  realtimeShape,
  sortOrders,
  type FileType,
  type SortOrder,
} from './answer.ts';
import { requireFredSeries, seriesIdParam } from './find-series.ts';
import { realtimeFacts, realtimeOf, realtimeParams } from './real-time.ts';
import { seriesListParams, seriesListReply, seriesListSchema } from './series-lists.ts';

type Tag = Awaited<ReturnType<typeof countTags>>[number];

/** A tag has no group but this, and neither notes nor a day of its own. */
const group = 'gen';

const tagSchema = z
  .object({
    name: z.string(),
    group_id: z.literal(group),
    notes: z.string().describe('Always empty.'),
    created: z.string().describe('Always empty.'),
    popularity: z.int().describe('Always 0.'),
    series_count: z.int(),
  })
  .meta({ id: 'FredTag' });

const nameOf = ({ name }: Tag): string => name;
const orders = {
  series_count: ({ count }: Tag) => count,
  popularity: nameOf,
  created: nameOf,
  name: nameOf,
  group_id: nameOf,
};
const orderNames = Object.keys(orders) as [keyof typeof orders];

const orderParams = {
  order_by: oneOfParam(orderNames).default('series_count').describe('Those but `series_count` are by name.'),
  sort_order: oneOfParam(sortOrders).optional().describe('Default `desc` for `series_count`, else `asc`.'),
};
const tagsSchema = z.object({
  ...realtimeShape,
  order_by: z.enum(orderNames),
  ...pageShape,
  tags: z.array(tagSchema),
});

const keptTags = sharedAmongEndpoints(({ database, clock }: Dependencies) =>
  keptUntilChanged({ database, clock }, catalogList.datasets, async () => ({
    value: await countTags(database),
    untilMs: Infinity,
  })),
);

interface TagsQuery {
  file_type: FileType;
  realtime_start?: string | undefined;
  realtime_end?: string | undefined;
  order_by: keyof typeof orders;
  sort_order?: SortOrder | undefined;
  offset: number;
  limit: number;
}

/** A page of tags. @param list `identity` is what they depend on besides the query. */
function tagsReply(
  dependencies: Dependencies,
  call: ServiceCall,
  list: { identity: readonly unknown[]; lastModified: Date | null; tags: readonly Tag[]; query: TagsQuery },
): Reply {
  const { identity, lastModified, tags, query } = list;
  const realtime = realtimeOf(query, dependencies, call);
  const { order_by, offset, limit } = query;
  const { sort_order = order_by === 'series_count' ? 'desc' : 'asc' } = query;
  return fredReply(query.file_type, {
    identity: [...identity, query, realtime],
    lastModified,
    read: () => ({
      head: { ...realtimeFacts(realtime), order_by, sort_order, count: tags.length, offset, limit },
      root: 'tags',
      item: 'tag',
      rows: pageOf(tags, [orders[order_by], nameOf], { sort_order, offset, limit }).map(
        ({ name, count }) => ({
          ...{ name, group_id: group, notes: '', created: '', popularity: 0, series_count: count },
        }),
      ),
    }),
  });
}

export const getFredTags = endpoint({
  summary: 'The tags of the series, in the form of FRED.',
  query: {
    tag_names: z.string().optional().describe('Only these, with `;` between them.'),
    tag_group_id: oneOfParam(['freq', 'gen', 'geo', 'geot', 'rls', 'seas', 'src'])
      .optional()
      .describe('All tags are of `gen`.'),
    search_text: z.string().optional().describe('A part of the name.'),
    file_type: fileTypeParam,
    ...realtimeParams,
    ...orderParams,
    limit: limitParam(1_000),
    offset: offsetParam,
  },
  formats: fileTypes,
  json: tagsSchema,
  caching: 'public',
  handler: (dependencies) => {
    const tags = keptTags(dependencies);
    return async ({ query, call }) => {
      const { value: all, version, changedAt } = await call.stage('lookup', tags);
      const names = query.tag_names?.split(';');
      const part = query.search_text?.toLowerCase() ?? '';
      const found = all.filter(
        ({ name }) =>
          (names === undefined || names.includes(name)) &&
          (query.tag_group_id ?? group) === group &&
          name.toLowerCase().includes(part),
      );
      const identity = ['fred tags', version];
      return tagsReply(dependencies, call, { identity, lastModified: changedAt, tags: found, query });
    };
  },
});

export const getFredSeriesTags = endpoint({
  summary: 'The tags of a series, in the form of FRED.',
  query: { series_id: seriesIdParam, file_type: fileTypeParam, ...realtimeParams, ...orderParams },
  formats: fileTypes,
  json: tagsSchema,
  caching: 'public',
  errors: ['not_found', 'gone'],
  handler: (dependencies) => {
    const tags = keptTags(dependencies);
    return async ({ query, call }) => {
      const { series, kept } = await call.stage('lookup', async () => {
        const { series } = await requireFredSeries(dependencies, call, query.series_id);
        return { series, kept: await tags() };
      });
      const found = kept.value.filter(({ name }) => series.tags.includes(name));
      return tagsReply(dependencies, call, {
        identity: ['fred series tags', kept.version, ...stateOf(series)],
        lastModified: kept.changedAt,
        tags: found,
        query: { ...query, offset: 0, limit: 1_000 },
      });
    };
  },
});

const {
  filter_variable: _variable,
  filter_value: _value,
  tag_names: _names,
  ...listParams
} = seriesListParams;

export const getFredTagsSeries = endpoint({
  summary: 'The series that have some tags, in the form of FRED.',
  query: {
    tag_names: z.string().describe('The tags, all of which a series has, with `;` between them.'),
    ...listParams,
  },
  formats: fileTypes,
  json: seriesListSchema,
  caching: 'public',
  handler:
    (dependencies) =>
    async ({ query, call }) =>
      seriesListReply(dependencies, call, { name: 'fred tags series', query, where: catalogWhere({}) }),
});
