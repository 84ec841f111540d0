// GET /fred/releases, /fred/release and the paths below them, and /fred/series/release: recurring releases of publishers.
import { z } from 'zod';
import { numberOfNameId } from '../../domain/name-id.ts';
import { refuseParam } from '../../kernel/errors.ts';
import type { Reply } from '../../kernel/http/answer.ts';
import { dateParam, flagParam, oneOfParam } from '../../kernel/http/params.ts';
import type { ServiceCall } from '../../kernel/http/server.ts';
import type { Dependencies } from '../dependencies.ts';
import { catalogList, catalogWhere } from '../discovery/discovery.sql.ts';
import type { Cached } from '../discovery/cached-list.ts';
import {
  findPublicationsOf,
  isInRelease,
  listReleaseDays,
  type ReleaseDay,
} from '../discovery/releases.sql.ts';
import { cachedReleases, releaseIdOf, type PublicationRow } from '../discovery/releases.ts';
import { stateOf } from '../series/series-read.ts';
import {
  allOf,
  answerParams,
  fileTypeParam,
  fredEndpoint,
  fredReply,
  limitParam,
  offsetParam,
  orderParam,
  pageOf,
  pageShape,
  realtimeShape,
  rowsReply,
  sortOrderParam,
  sortOrders,
} from './answer.ts';
import { numberParam, requireFredSeries, requireNumbered, seriesIdParam } from './find-series.ts';
import { firstDay, lastDay, realtimeFacts, realtimeOf, type Realtime } from './real-time.ts';
import { seriesListParams, seriesListReply, seriesListSchema } from './series-lists.ts';

const releaseSchema = z
  .object({
    id: z.int(),
    ...realtimeShape,
    name: z.string(),
    press_release: z.boolean().describe('Whether the calendar has an address for it.'),
    link: z.string().describe('The address of the release in the calendar, or else the release under /v1.'),
  })
  .meta({ id: 'FredRelease' });
const numberOf = ({ id }: PublicationRow): number => numberOfNameId(id);
const kind = {
  item: 'release',
  schema: releaseSchema,
  shown: ({ id, name, url }: PublicationRow, realtime: Realtime, publicUrl: string) => ({
    id: numberOfNameId(id),
    ...realtimeFacts(realtime),
    name,
    press_release: url !== null,
    link: url ?? `${publicUrl}/v1/releases/${id}`,
  }),
  orders: {
    release_id: numberOf,
    name: ({ name }: PublicationRow) => name,
    press_release: ({ url }: PublicationRow) => Number(url !== null),
    realtime_start: numberOf,
    realtime_end: numberOf,
  },
  last: numberOf,
};

/** The parameters of a list of releases. */
export const releaseListParams = {
  ...answerParams,
  order_by: orderParam(kind).default('release_id'),
  sort_order: sortOrderParam,
  limit: limitParam(1_000),
  offset: offsetParam,
};
type ListQuery = z.output<z.ZodObject<typeof releaseListParams>>;
/** The answer of such a list. */
export const releaseListSchema = pageOf(kind);

/** A page of releases. @param list `name` distinguishes it from other lists of the same query. */
export const releaseListReply = (
  dependencies: Dependencies,
  call: ServiceCall,
  list: { name: string; rows: readonly PublicationRow[]; query: ListQuery; state: Cached<unknown> },
): Reply => rowsReply(dependencies, call, kind, list, list.query);

export const getFredReleases = fredEndpoint({
  summary: 'The releases, in the form of FRED.',
  query: releaseListParams,
  json: releaseListSchema,
  handler: async (dependencies, { query, call }) => {
    const state = await call.stage('lookup', () => cachedReleases(dependencies));
    return releaseListReply(dependencies, call, { name: 'fred releases', rows: state.value, query, state });
  },
});

const releaseIdParam = numberParam('release');

export const getFredRelease = fredEndpoint({
  summary: 'A release, in the form of FRED.',
  query: { release_id: releaseIdParam, ...answerParams },
  json: allOf(kind),
  errors: ['not_found', 'conflict'],
  handler: async (dependencies, { query, call }) => {
    const state = await call.stage('lookup', () => cachedReleases(dependencies));
    const rows = [requireNumbered(state.value, query.release_id, 'release')];
    return rowsReply(dependencies, call, kind, { name: 'fred release', query, state, rows });
  },
});

export const getFredSeriesRelease = fredEndpoint({
  summary: 'The releases that contain a series, in the form of FRED.',
  query: { series_id: seriesIdParam, ...answerParams },
  json: allOf(kind),
  errors: ['not_found', 'gone'],
  handler: async (dependencies, { query, call }) => {
    const { cached, series, containing } = await call.stage('lookup', async () => {
      const { series } = await requireFredSeries(dependencies, call, query.series_id);
      const found = await findPublicationsOf(dependencies.database, [series.id]);
      return {
        cached: await cachedReleases(dependencies),
        series,
        containing: new Set(found.map(releaseIdOf)),
      };
    });
    const rows = cached.value
      .filter(({ id }) => containing.has(id))
      .sort((a, b) => numberOf(a) - numberOf(b));
    const state = { version: [...stateOf(series), cached.version], changedAt: cached.changedAt };
    return rowsReply(dependencies, call, kind, { name: 'fred series release', query, state, rows });
  },
});

export const getFredReleaseSeries = fredEndpoint({
  summary: 'The series of a release, in the form of FRED.',
  query: { release_id: releaseIdParam, ...seriesListParams },
  json: seriesListSchema,
  errors: ['not_found', 'conflict'],
  handler: async (dependencies, { query, call }) => {
    const cached = await call.stage('lookup', () => cachedReleases(dependencies));
    const { source, name } = requireNumbered(cached.value, query.release_id, 'release');
    return seriesListReply(dependencies, call, {
      ...{ name: 'fred release series', query, datasets: [...catalogList.datasets, 'calendar'] },
      where: catalogWhere({}).and([source, name], isInRelease),
    });
  },
});

const datesParams = (start: string) => ({
  file_type: fileTypeParam,
  realtime_start: dateParam.optional().describe(`Only dates from that day on; default ${start}.`),
  realtime_end: dateParam.default(lastDay).describe('Only dates up to that day.'),
  include_release_dates_with_no_data: flagParam(false).describe('Also the dates that are scheduled.'),
  offset: offsetParam,
});
type DatesQuery = z.output<z.ZodObject<ReturnType<typeof datesParams>>> & {
  sort_order: (typeof sortOrders)[number];
  limit: number;
};
const dateShape = { release_id: z.int(), date: z.iso.date() };

export const getFredReleasesDates = fredEndpoint({
  summary: 'The dates of all releases, in the form of FRED.',
  query: {
    ...datesParams('the first of this year'),
    order_by: oneOfParam(['release_date', 'release_id', 'release_name']).default('release_date'),
    sort_order: oneOfParam(sortOrders).default('desc'),
    limit: limitParam(1_000),
  },
  json: z.object({
    ...realtimeShape,
    order_by: z.enum(['release_date', 'release_id', 'release_name']),
    ...pageShape,
    release_dates: z.array(z.object({ ...dateShape, release_name: z.string() })),
  }),
  handler: async (dependencies, { query, call }) => {
    const cached = await call.stage('lookup', () => cachedReleases(dependencies));
    const now = dependencies.clock.now();
    const { today } = realtimeOf({}, dependencies, call);
    return datesReply(dependencies, call, {
      ...{ query, cached, now, releases: cached.value, start: `${today.slice(0, 4)}-01-01` },
      row: ({ number, name, date }) => ({ release_id: number, release_name: name, date }),
    });
  },
});

export const getFredReleaseDates = fredEndpoint({
  summary: 'The dates of a release, in the form of FRED.',
  query: {
    release_id: releaseIdParam,
    ...datesParams(firstDay),
    sort_order: sortOrderParam,
    limit: limitParam(10_000),
  },
  json: z.object({
    ...realtimeShape,
    order_by: z.literal('release_date'),
    ...pageShape,
    release_dates: z.array(z.object(dateShape)),
  }),
  errors: ['not_found', 'conflict'],
  handler: async (dependencies, { query, call }) => {
    const cached = await call.stage('lookup', () => cachedReleases(dependencies));
    const now = dependencies.clock.now();
    const release = requireNumbered(cached.value, query.release_id, 'release');
    return datesReply(dependencies, call, {
      ...{ query: { ...query, order_by: 'release_date' as const }, cached, now, releases: [release] },
      start: firstDay,
      row: ({ number, date }) => ({ release_id: number, date }),
    });
  },
});

const dayOrders = { release_date: 'date', release_id: 'number', release_name: 'name' } as const;

interface Dates {
  query: DatesQuery & { order_by: keyof typeof dayOrders };
  cached: Cached<unknown>;
  /** Read after `kept`, so that every release scheduled now is in it. */
  now: Date;
  releases: readonly PublicationRow[];
  /** The first day, unless the query has one. */
  start: string;
  row: (day: ReleaseDay) => Record<string, string | number>;
}

/** A page of dates. They are read for each call, as the clock changes them, and identify the answer. */
async function datesReply(
  { database }: Dependencies,
  call: ServiceCall,
  { query, cached, now, releases, start, row }: Dates,
): Promise<Reply> {
  const { order_by, sort_order, offset, limit } = query;
  const [from, to] = [query.realtime_start ?? start, query.realtime_end];
  if (from > to) refuseParam('realtime_start', '"realtime_start" must not be after "realtime_end".');
  const { count, rows } = await call.stage('sql', () =>
    listReleaseDays(database, {
      releases: releases.map((release) => ({ ...release, number: numberOf(release) })),
      ...{ from, to, now, order: dayOrders[order_by], direction: sort_order, offset, limit },
      statuses: query.include_release_dates_with_no_data ? ['released', 'scheduled'] : ['released'],
    }),
  );
  call.changesAt(cached.untilMs);
  return fredReply(query.file_type, {
    identity: ['fred release dates', query, from, count, rows],
    lastModified: cached.changedAt,
    read: () => ({
      head: { realtime_start: from, realtime_end: to, order_by, sort_order, count, offset, limit },
      root: 'release_dates',
      item: 'release_date',
      text: 'date',
      rows: rows.map(row),
    }),
  });
}
