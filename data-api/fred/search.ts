// GET /fred/series/search: the series that have some words, or an id.
import { z } from 'zod';
import { fail } from '../../kernel/errors.ts';
import { oneOfParam } from '../../kernel/http/params.ts';
import { byRelevance, catalogWhere } from '../discovery/discovery.sql.ts';
import { endpoint } from '../endpoint.ts';
import { type Conditions, escapeLike, findDataState } from '../list.sql.ts';
import { seriesWords } from '../search/series-words.ts';
import { dayOf, searched } from '../search/state.ts';
import { fileTypeParam, fileTypes, fredReply } from './answer.ts';
import { findSeriesPage, seriesOrders } from './catalog.sql.ts';
import { limitParam, offsetParam, pageShape } from './observations.ts';
import { realtimeFacts, realtimeOf, realtimeParams } from './real-time.ts';
import { seriesRow, seriesSchema } from './series-facts.ts';

const orderNames = ['search_rank', ...(Object.keys(seriesOrders) as (keyof typeof seriesOrders)[])] as const;

const searchParams = {
  search_text: z
    .string()
    .max(200, 'must not be longer than 200 characters')
    .describe('Words or their synonyms, or a part of an id.'),
  search_type: oneOfParam(['full_text', 'series_id'])
    .default('full_text')
    .describe('`series_id`: ids with that part; `*` is any text.'),
  file_type: fileTypeParam,
  ...realtimeParams,
  order_by: oneOfParam(orderNames).optional().describe('Default `search_rank`, of ids `series_id`.'),
  sort_order: oneOfParam(['asc', 'desc'])
    .optional()
    .describe('Default `desc` for `search_rank`, else `asc`.'),
  filter_variable: oneOfParam(['frequency', 'units', 'seasonal_adjustment']).optional(),
  filter_value: z.string().optional().describe('Such as `Quarterly`, for `filter_variable`.'),
  tag_names: z.string().optional().describe('Tags that a series has, all of them, with `;` between them.'),
  exclude_tag_names: z.string().optional().describe('Tags of which it has none.'),
  limit: limitParam(1_000),
  offset: offsetParam,
};
type Query = z.output<z.ZodObject<typeof searchParams>>;

export const getFredSearch = endpoint({
  summary: 'The series that have some words, or an id, in the form of FRED.',
  query: searchParams,
  formats: fileTypes,
  json: z.object({
    realtime_start: z.iso.date(),
    realtime_end: z.iso.date(),
    order_by: z.enum(orderNames),
    ...pageShape,
    seriess: z.array(z.object({ ...seriesSchema.shape, group_popularity: z.int().describe('Always 0.') })),
  }),
  caching: 'public',
  handler:
    (dependencies) =>
    async ({ query, call }) => {
      const { database, vocabulary } = dependencies;
      const realtime = realtimeOf(query, dependencies, call);
      const { search_text, search_type, offset, limit } = query;
      const isText = search_type === 'full_text';
      const { order_by = isText ? 'search_rank' : 'series_id' } = query;
      if (order_by === 'search_rank' && !isText)
        fail('invalid_parameter', '"order_by" search_rank is for search_type=full_text.', {
          param: 'order_by',
        });
      const { sort_order = order_by === 'search_rank' ? 'desc' : 'asc' } = query;
      const state = await call.stage('lookup', () => findDataState(database, searched));
      return fredReply(query.file_type, {
        identity: ['fred search', query, realtime, state.version],
        lastModified: state.changedAt,
        async read() {
          const words = isText ? await seriesWords(database, vocabulary, search_text) : undefined;
          const where = narrowed(query, catalogWhere({ words }));
          const ordered = where.copy();
          const isRanked = order_by === 'search_rank' && words !== undefined;
          const rank = isRanked
            ? byRelevance(words, dayOf(state), ordered).fields['relevance']?.sql
            : undefined;
          const order = rank ?? seriesOrders[order_by === 'search_rank' ? 'series_id' : order_by];
          const isReversed = isRanked !== (sort_order === 'desc'); // the least rank is the best
          const direction = isReversed ? 'desc' : 'asc';
          const { count, rows } = await call.stage('sql', () =>
            findSeriesPage(database, where, { order, values: ordered.values, direction, offset, limit }),
          );
          return {
            head: { ...realtimeFacts(realtime), order_by, sort_order, count, offset, limit },
            root: 'seriess',
            item: 'series',
            rows: rows.map((row) => ({ ...seriesRow(row, realtime), group_popularity: 0 })),
          };
        },
      });
    },
});

/** FRED's names of seasonal adjustment → what series state. */
const adjustments: Readonly<Record<string, readonly string[]>> = {
  'seasonally adjusted': ['sa', 'seasonally adjusted'],
  'not seasonally adjusted': ['nsa', 'not seasonally adjusted'],
  'seasonally adjusted annual rate': ['saar'],
};

/** @throws Failure `invalid_parameter` if a filter has no value, or a value no filter. */
function narrowed(query: Query, where: Conditions): Conditions {
  const { search_type, search_text, filter_variable, filter_value, tag_names, exclude_tag_names } = query;
  if ((filter_variable === undefined) !== (filter_value === undefined))
    fail('invalid_parameter', '"filter_variable" and "filter_value" belong together.', {
      param: filter_variable === undefined ? 'filter_value' : 'filter_variable',
    });
  if (search_type === 'series_id') {
    const pattern = escapeLike(search_text).replaceAll('*', '%');
    where.and(search_text.includes('*') ? pattern : `%${pattern}%`, (p) => `series_id ilike ${p}`);
  }
  const value = filter_value?.toLowerCase();
  const of = (variable: string) => (filter_variable === variable ? value : undefined);
  const adjustment = of('seasonal_adjustment');
  return where
    .and(of('frequency'), (p) => `frequency = ${p}`)
    .and(of('units'), (p) => `lower(unit) = ${p}`)
    .and(
      adjustment && (adjustments[adjustment] ?? [adjustment]),
      (p) => `lower(seasonal_adjustment) = any(${p})`,
    )
    .and(tag_names?.split(';'), (p) => `tags @> ${p}::text[]`)
    .and(exclude_tag_names?.split(';'), (p) => `not tags && ${p}::text[]`);
}
