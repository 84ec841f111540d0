// GET /fred/series/search and /fred/series/updates, and the common parts of all lists of series: parameters, filters, orders and pages.
import { z } from 'zod';
import { refuseParam } from '../../kernel/errors.ts';
import { isDate } from '../../kernel/dates.ts';
import type { Reply } from '../../kernel/http/answer.ts';
import { oneOfParam, readParam } from '../../kernel/http/params.ts';
import type { ServiceCall } from '../../kernel/http/server.ts';
import type { Dependencies } from '../dependencies.ts';
import { byRelevance, catalogList, catalogWhere } from '../discovery/discovery.sql.ts';
import { type Conditions, type DataState, escapeLike, findDataState, type List } from '../list.sql.ts';
import { seriesWords } from '../search/series-words.ts';
import { anyText, requireWord } from '../search/search-text.ts';
import { dayOf, searched } from '../search/state.ts';
import {
  answerParams,
  fredEndpoint,
  fredReply,
  limitParam,
  offsetParam,
  pageShape,
  realtimeShape,
  sortOrderParam,
  sortOrders,
  type FileType,
  type SortOrder,
} from './answer.ts';
import { findSeriesPage, seriesOrders, shownUnits } from './catalog.sql.ts';
import { realtimeFacts, realtimeOf, type Realtime } from './real-time.ts';
import { seriesRow, seriesSchema } from './fred-series.ts';

const orderNames = Object.keys(seriesOrders) as [keyof typeof seriesOrders];
const rankedOrderNames = ['search_rank', ...orderNames] as const;

/** The parameters that narrow a list of series. */
const filterParams = {
  filter_variable: oneOfParam(['frequency', 'units', 'seasonal_adjustment']).optional(),
  filter_value: z.string().optional().describe('Such as `Quarterly`, for `filter_variable`.'),
  tag_names: z.string().optional().describe('Tags that the series must all have, separated by `;`.'),
  exclude_tag_names: z.string().optional().describe('Tags that a series must not have.'),
};
type Filters = z.output<z.ZodObject<typeof filterParams>>;
const pageParams = { limit: limitParam(1_000), offset: offsetParam };

/** The parameters of a list of series, besides those that define the list. */
export const seriesListParams = {
  ...answerParams,
  order_by: oneOfParam(orderNames)
    .default('series_id')
    .describe('By real-time period or popularity, the order is that of the ids.'),
  sort_order: sortOrderParam,
  ...filterParams,
  ...pageParams,
};
type ListQuery = z.output<z.ZodObject<typeof seriesListParams>>;

const seriessOf = (head: z.ZodRawShape) =>
  z.object({
    ...realtimeShape,
    ...head,
    ...pageShape,
    seriess: z.array(z.object({ ...seriesSchema.shape, group_popularity: z.int().describe('Always 0.') })),
  });
/** The answer of such a list. */
export const seriesListSchema = seriessOf({ order_by: z.enum(orderNames) });

interface SeriesList {
  /** Distinguishes it from other lists of the same query. */
  name: string;
  /** The series of the list, before the query's filters. */
  where: Conditions;
  query: ListQuery;
  /** The datasets whose loads change it; by default those of the catalogue. */
  datasets?: readonly string[];
}

/** A page of a list of series. @throws Failure `invalid_parameter`. */
export async function seriesListReply(
  dependencies: Dependencies,
  call: ServiceCall,
  { name, where, query, datasets = catalogList.datasets }: SeriesList,
): Promise<Reply> {
  const realtime = realtimeOf(query, dependencies, call);
  const { order_by, sort_order } = query;
  const narrowed = narrowedBy(query, where);
  const state = await call.stage('lookup', () => findDataState(dependencies.database, datasets));
  return pageReply(dependencies, call, {
    ...{ name, query, realtime, state, head: { order_by, sort_order } },
    find: () => ({ list: catalogList, where: narrowed, order: seriesOrders[order_by], sort_order }),
  });
}

interface Page {
  name: string;
  query: { file_type: FileType; limit: number; offset: number };
  realtime: Realtime;
  state: DataState;
  head: Record<string, string>;
  find: () => Found | Promise<Found>;
}

/** The selection of the statement: the series, and their order in SQL. */
interface Found {
  list: List;
  where: Conditions;
  order: string;
  sort_order: SortOrder;
}

function pageReply(
  { database }: Pick<Dependencies, 'database'>,
  call: ServiceCall,
  { name, query, realtime, state, head, find }: Page,
): Reply {
  const { file_type, limit, offset } = query;
  return fredReply(file_type, {
    identity: [name, query, realtime, state.version],
    lastModified: state.changedAt,
    async read() {
      const { list, where, order, sort_order: direction } = await find();
      const { count, rows } = await call.stage('sql', () =>
        findSeriesPage(database, list, where, { order, direction, offset, limit }),
      );
      return {
        head: { ...realtimeFacts(realtime), ...head, count, offset, limit },
        root: 'seriess',
        item: 'series',
        rows: rows.map((row) => ({ ...seriesRow(row, realtime), group_popularity: 0 })),
      };
    },
  });
}

export const getFredSearch = fredEndpoint({
  summary: 'The series that have some words, or an id, in the form of FRED.',
  query: {
    search_text: anyText.describe('Words or their synonyms, or a part of an id.'),
    search_type: oneOfParam(['full_text', 'series_id'])
      .default('full_text')
      .describe('`series_id`: ids with that part; `*` is any text.'),
    ...answerParams,
    order_by: oneOfParam(rankedOrderNames).optional().describe('Default `search_rank`, of ids `series_id`.'),
    sort_order: oneOfParam(sortOrders).optional().describe('Default `desc` for `search_rank`, else `asc`.'),
    ...filterParams,
    ...pageParams,
  },
  json: seriessOf({ order_by: z.enum(rankedOrderNames) }),
  handler: async (dependencies, { query, call }) => {
    const { database, vocabulary } = dependencies;
    const realtime = realtimeOf(query, dependencies, call);
    const { search_text, search_type } = query;
    const isText = search_type === 'full_text';
    if (isText) requireWord('search_text', search_text);
    const { order_by = isText ? 'search_rank' : 'series_id' } = query;
    if (order_by === 'search_rank' && !isText)
      refuseParam('order_by', '"order_by" search_rank is for search_type=full_text.');
    const { sort_order = order_by === 'search_rank' ? 'desc' : 'asc' } = query;
    const state = await call.stage('lookup', () => findDataState(database, searched));
    return pageReply(dependencies, call, {
      ...{ name: 'fred search', query, realtime, state, head: { order_by, sort_order } },
      async find() {
        const words = isText ? await seriesWords(database, vocabulary, search_text) : undefined;
        const where = narrowedBy(query, isText ? catalogWhere({ words }) : withIdLike(search_text));
        if (order_by !== 'search_rank' || words === undefined) {
          const order = seriesOrders[order_by === 'search_rank' ? 'series_id' : order_by];
          return { list: catalogList, where, order, sort_order };
        }
        // The least is the best; series that are not ranked have none.
        const order = `coalesce(relevance::double precision, 'infinity')`;
        const isBestFirst = sort_order === 'desc';
        return {
          list: byRelevance({ words }, dayOf(state)),
          where,
          order,
          sort_order: isBestFirst ? 'asc' : 'desc',
        };
      },
    });
  },
});

/** The series whose id has a part, or is like a pattern with `*`. */
function withIdLike(text: string): Conditions {
  const pattern = escapeLike(text).replaceAll('*', '%');
  return catalogWhere({}).and(text.includes('*') ? pattern : `%${pattern}%`, (p) => `series_id ilike ${p}`);
}

/** FRED's names of seasonal adjustment → the values that series have. */
const adjustments: ReadonlyMap<string, readonly string[]> = new Map([
  ['seasonally adjusted', ['sa', 'seasonally adjusted']],
  ['not seasonally adjusted', ['nsa', 'not seasonally adjusted']],
  ['seasonally adjusted annual rate', ['saar', 'seasonally adjusted annual rate']],
]);

/** What answers show for an irregular series, and for one whose adjustment is unknown. */
const notApplicable = 'not applicable';

/** @throws Failure `invalid_parameter` if a filter has no value, or a value without a filter. */
function narrowedBy(
  { filter_variable, filter_value, tag_names, exclude_tag_names }: Filters,
  where: Conditions,
): Conditions {
  if ((filter_variable === undefined) !== (filter_value === undefined))
    refuseParam(
      filter_variable === undefined ? 'filter_value' : 'filter_variable',
      '"filter_variable" and "filter_value" belong together.',
    );
  const value = filter_value?.toLowerCase();
  const of = (variable: string) => (filter_variable === variable ? value : undefined);
  const [frequency, adjustment] = [of('frequency'), of('seasonal_adjustment')];
  return where
    .and(frequency === notApplicable ? 'irregular' : frequency, (p) => `frequency = ${p}`)
    .and(of('units'), (p) => `${p} in (lower(unit), lower(${shownUnits}))`)
    .and(
      adjustment && (adjustments.get(adjustment) ?? [adjustment]),
      (p) => `coalesce(lower(seasonal_adjustment), '${notApplicable}') = any(${p})`,
    )
    .and(tag_names?.split(';'), (p) => `tags @> ${p}::text[]`)
    .and(exclude_tag_names?.split(';'), (p) => `not tags && ${p}::text[]`);
}

/** The day of `YYYYMMDDhhmm`. */
const timeParam = readParam((text) => {
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)(?:[01]\d|2[0-3])[0-5]\d$/.exec(text) ?? [];
  const date = `${year}-${month}-${day}`;
  return isDate(date) ? date : null;
}, 'must be a time that exists, YYYYMMDDhhmm').meta({ override: { type: 'string' } });

export const getFredUpdates = fredEndpoint({
  summary: 'The series by the day of their newest points, newest first, in the form of FRED.',
  query: {
    ...answerParams,
    filter_value: oneOfParam(['all'])
      .default('all')
      .describe('Series are not divided into macro and regional.'),
    start_time: timeParam
      .optional()
      .describe('`YYYYMMDDhhmm`, with `end_time`: points published on that day or later, whatever the hour.'),
    end_time: timeParam.optional().describe('The same: on that day or earlier.'),
    ...pageParams,
  },
  json: seriessOf({
    filter_variable: z.literal('geography'),
    filter_value: z.literal('all'),
    order_by: z.literal('last_updated'),
  }),
  handler: async (dependencies, { query, call }) => {
    const realtime = realtimeOf(query, dependencies, call);
    const { filter_value, start_time, end_time } = query;
    if ((start_time === undefined) !== (end_time === undefined))
      refuseParam(
        start_time === undefined ? 'end_time' : 'start_time',
        '"start_time" and "end_time" belong together.',
      );
    if (start_time !== undefined && end_time !== undefined && start_time > end_time)
      refuseParam('start_time', '"start_time" must not be after "end_time".');
    const where = catalogWhere({}).during({ from: start_time, to: end_time }, 'last_updated');
    where.sql.push('last_updated is not null');
    const { database } = dependencies;
    const state = await call.stage('lookup', () => findDataState(database, catalogList.datasets));
    const head = { filter_variable: 'geography', filter_value, order_by: 'last_updated' };
    return pageReply(dependencies, call, {
      ...{ name: 'fred updates', query, realtime, state, head: { ...head, sort_order: 'desc' } },
      find: () => ({ list: catalogList, where, order: seriesOrders.last_updated, sort_order: 'desc' }),
    });
  },
});
