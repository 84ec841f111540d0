// GET /fred/tags, /fred/tags/series and /fred/series/tags: the tags of the series.
import { z } from 'zod';
import { oneOfParam } from '../../kernel/http/params.ts';
import { catalogList, catalogWhere, countTags } from '../discovery/discovery.sql.ts';
import { cachedUntilChanged } from '../discovery/cached-list.ts';
import { stateOf } from '../series/series-read.ts';
import {
  answerParams,
  fredEndpoint,
  limitParam,
  offsetParam,
  orderParam,
  pageOf,
  rowsReply,
  sortOrders,
} from './answer.ts';
import { requireFredSeries, seriesIdParam } from './find-series.ts';
import { seriesListParams, seriesListReply, seriesListSchema } from './series-lists.ts';

type Tag = Awaited<ReturnType<typeof countTags>>[number];

/** The only group of tags; a tag has neither notes nor a day of its own. */
const group = 'gen';

const nameOf = ({ name }: Tag): string => name;
const kind = {
  item: 'tag',
  schema: z
    .object({
      name: z.string(),
      group_id: z.literal(group),
      notes: z.string().describe('Always empty.'),
      created: z.string().describe('Always empty.'),
      popularity: z.int().describe('Always 0.'),
      series_count: z.int(),
    })
    .meta({ id: 'FredTag' }),
  shown: ({ name, count }: Tag) => ({
    ...{ name, group_id: group, notes: '', created: '', popularity: 0, series_count: count },
  }),
  orders: {
    series_count: ({ count }: Tag) => count,
    popularity: nameOf,
    created: nameOf,
    name: nameOf,
    group_id: nameOf,
  },
  last: nameOf,
};

const orderParams = {
  order_by: orderParam(kind).default('series_count').describe('All orders but `series_count` are by name.'),
  sort_order: oneOfParam(sortOrders).optional().describe('Default `desc` for `series_count`, else `asc`.'),
};

const cachedTags = cachedUntilChanged(catalogList.datasets, async ({ database }) => ({
  value: await countTags(database),
  untilMs: Infinity,
}));

/** FRED's direction of an order. */
const sorted = ({ order_by, sort_order }: z.output<z.ZodObject<typeof orderParams>>) => ({
  order_by,
  sort_order: sort_order ?? (order_by === 'series_count' ? ('desc' as const) : ('asc' as const)),
});

export const getFredTags = fredEndpoint({
  summary: 'The tags of the series, in the form of FRED.',
  query: {
    tag_names: z.string().optional().describe('Only these, separated by `;`.'),
    tag_group_id: oneOfParam(['freq', 'gen', 'geo', 'geot', 'rls', 'seas', 'src'])
      .optional()
      .describe('All tags are in the group `gen`.'),
    search_text: z.string().optional().describe('A part of the name.'),
    ...answerParams,
    ...orderParams,
    limit: limitParam(1_000),
    offset: offsetParam,
  },
  json: pageOf(kind),
  handler: async (dependencies, { query, call }) => {
    const state = await call.stage('lookup', () => cachedTags(dependencies));
    const names = query.tag_names?.split(';');
    const part = query.search_text?.toLowerCase() ?? '';
    const rows = state.value.filter(
      ({ name }) =>
        (names === undefined || names.includes(name)) &&
        (query.tag_group_id ?? group) === group &&
        name.toLowerCase().includes(part),
    );
    const list = { name: 'fred tags', query, state, rows };
    return rowsReply(dependencies, call, kind, list, { ...query, ...sorted(query) });
  },
});

export const getFredSeriesTags = fredEndpoint({
  summary: 'The tags of a series, in the form of FRED.',
  query: { series_id: seriesIdParam, ...answerParams, ...orderParams },
  json: pageOf(kind),
  errors: ['not_found', 'gone'],
  handler: async (dependencies, { query, call }) => {
    const { series, cached } = await call.stage('lookup', async () => {
      const { series } = await requireFredSeries(dependencies, call, query.series_id);
      return { series, cached: await cachedTags(dependencies) };
    });
    const rows = cached.value.filter(({ name }) => series.tags.includes(name));
    const state = { version: [cached.version, ...stateOf(series)], changedAt: cached.changedAt };
    const list = { name: 'fred series tags', query, state, rows };
    return rowsReply(dependencies, call, kind, list, { ...sorted(query), offset: 0, limit: 1_000 });
  },
});

const {
  filter_variable: _variable,
  filter_value: _value,
  tag_names: _names,
  ...listParams
} = seriesListParams;

export const getFredTagsSeries = fredEndpoint({
  summary: 'The series that have some tags, in the form of FRED.',
  query: {
    tag_names: z.string().describe('The tags that the series must have, separated by `;`.'),
    ...listParams,
  },
  json: seriesListSchema,
  handler: async (dependencies, { query, call }) =>
    seriesListReply(dependencies, call, { name: 'fred tags series', query, where: catalogWhere({}) }),
});
