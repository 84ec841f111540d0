// GET /v1/releases and /v1/releases/{id}: the recurring releases of publishers, with their series and dates.
import { z } from 'zod';
import { nameId } from '../../domain/name-id.ts';
import { frequencies } from '../../domain/periods.ts';
import { memberOf } from '../../kernel/entries.ts';
import { fail } from '../../kernel/errors.ts';
import { listOf, oneOf, rowOf } from '../../kernel/http/list.ts';
import { nearestHint, oneOfParam } from '../../kernel/http/params.ts';
import { endpoint } from '../endpoint.ts';
import { recordReply } from '../list.ts';
import { relatedSchema } from './discovery.sql.ts';
import { cachedListParams, cachedListReply, cachedUntilChanged, type Computed } from './cached-list.ts';
import {
  findPublicationsOf,
  listDatesOf,
  listPublications,
  listSeriesOf,
  publicationShape,
  releaseDateSchema,
  type PublicationName,
} from './releases.sql.ts';

export const publicationSchema = z.object({
  id: z.string(),
  ...publicationShape,
  source_id: z.string().describe('An id of `/v1/sources`.'),
});
export type PublicationRow = z.output<typeof publicationSchema>;

/** The id of a release. */
export const releaseIdOf = ({ source, name }: PublicationName): string => nameId(name, source);

/** The releases, cached until the calendar, a deleted, restored or merged series or the clock changes them. */
export const cachedReleases = cachedUntilChanged(
  ['calendar', 'series', 'observations'],
  async ({ database }, now): Promise<Computed<PublicationRow[]>> => {
    const found = await listPublications(database, now);
    return {
      value: found.map(({ changes_at: _changesAt, ...row }) => ({
        id: releaseIdOf(row),
        ...row,
        source_id: nameId(row.source),
      })),
      untilMs: earliestMs(found),
    };
  },
);

/** When the clock changes one of the rows next, in ms; Infinity: never. */
export function earliestMs(rows: readonly { changes_at: string | null }[]): number {
  return rows.reduce(
    (earliest, { changes_at: at }) => (at === null ? earliest : Math.min(earliest, Date.parse(at))),
    Infinity,
  );
}

const { params, bounded } = cachedListParams({
  shape: publicationSchema.shape,
  sorts: ['name', 'last_release_at', 'next_release_at'],
  sort: 'name',
  filters: {
    source: z.string().describe('The exact source.'),
    frequency: oneOfParam(frequencies),
    series: z.string().describe('The id of a series that it contains.'),
  },
});

export const getReleases = endpoint({
  summary: 'The releases: the recurring publications of the publishers.',
  query: params,
  json: listOf(rowOf(publicationSchema)),
  caching: 'public',
  handler: async (dependencies, { query, call }) => {
    const { source, frequency, series } = query;
    const cached = await call.stage('lookup', () => cachedReleases(dependencies));
    const containing =
      series === undefined
        ? null
        : new Set((await findPublicationsOf(dependencies.database, series)).map(releaseIdOf));
    const rows = cached.value.filter(
      (row) =>
        (source?.includes(row.source) ?? true) &&
        (frequency === undefined || (row.frequency !== null && frequency.includes(row.frequency))) &&
        (containing === null || containing.has(row.id)),
    );
    return cachedListReply(dependencies, call, { name: 'releases', rows, query, cached, bounded });
  },
});

const detailSchema = z.object({
  ...publicationSchema.shape,
  series: z.array(relatedSchema).describe('The first thousand, by id.'),
  past_dates: z.array(releaseDateSchema).describe('The newest hundred, newest first.'),
  next_dates: z.array(releaseDateSchema).describe('The next hundred, soonest first.'),
});

export const getRelease = endpoint({
  summary: 'A release: its series, its past and its next dates.',
  params: { id: z.string().describe('An id of `/v1/releases`.') },
  json: oneOf(detailSchema),
  caching: 'public',
  errors: ['not_found'],
  handler: async (dependencies, { params, call }) => {
    const { database, clock } = dependencies;
    const cached = await call.stage('lookup', () => cachedReleases(dependencies));
    const release = requireNamed(cached.value, memberOf(params, 'id'), 'release');
    const data = await call.stage('sql', async () => {
      const now = clock.now();
      const past_dates = await listDatesOf(database, release, now, 'past');
      const next_dates = await listDatesOf(database, release, now, 'next');
      return { ...release, series: await listSeriesOf(database, release), past_dates, next_dates };
    });
    const [next] = data.next_dates;
    if (next !== undefined) call.changesAt(Date.parse(next.release_at));
    call.changesAt(cached.untilMs);
    return recordReply({ data, state: cached });
  },
});

/** The row of the id. @throws Failure `not_found`, which suggests the nearest id if there is one. */
export function requireNamed<Row extends { id: string }>(
  rows: readonly Row[],
  id: string,
  what: 'release' | 'source',
): Row {
  const found = rows.find((row) => row.id === id);
  if (found !== undefined) return found;
  const ids = rows.map((row) => row.id);
  const hint = nearestHint(id, ids, `GET /v1/${what}s lists them.`);
  return fail('not_found', `There is no ${what} "${id.slice(0, 80)}". ${hint}`, { param: 'id' });
}
