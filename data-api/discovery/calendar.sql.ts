// The statement of the release calendar: the releases in a window. The day of a release is its local day where it is published.
import { z } from 'zod';
import type { Queryable } from '../../kernel/database.ts';
import { entryAt } from '../../kernel/entries.ts';
import { utc } from '../instants.sql.ts';
import type { Bound } from '../list-params.ts';
import { Conditions } from '../list.sql.ts';
import { presentId } from '../series/stored/series.sql.ts';

export const releaseStatuses = ['scheduled', 'released', 'delayed', 'cancelled'] as const;
export const importances = ['low', 'medium', 'high'] as const;
const text = z.string().nullable();

/** A release of the answer. */
export const releaseSchema = z.object({
  id: z.string(),
  title: z.string(),
  source: z.string(),
  release_at: z.iso.datetime(),
  release_date: z.iso.date().describe('The local day of the publisher.'),
  time_zone: z.string().describe('An IANA name.'),
  time_confirmed: z.boolean().describe('False: only the day is known, not the time.'),
  reference_period: text,
  frequency: text,
  kind: text,
  status: z.enum(releaseStatuses),
  importance: z.enum(importances).nullable(),
  series: z.array(z.string()).describe('The ids of the series in the release.'),
  url: text,
});
type Release = z.output<typeof releaseSchema>;

/** A release with the source's own statements; null where a value is derived. */
export type StatedRelease = Release & {
  stated_publication: string | null;
  stated_status: string | null;
  stated_time_confirmed: boolean | null;
};

/** The filter of releases. */
export interface ReleaseFilter {
  /** Publication days, inclusive, each in the release's own time zone. */
  from: string;
  to: string;
  now: Date;
  source: readonly string[] | undefined;
  series: readonly string[] | undefined;
  status: readonly string[] | undefined;
  importance: readonly string[] | undefined;
  ids: readonly string[] | undefined;
  /** Days of UTC. */
  bounds: readonly Bound[];
}

/** A page of them. */
interface ReleaseQuery extends ReleaseFilter {
  sort: 'release_at' | '-release_at';
  /** The page begins after this release: its instant and id. */
  after: readonly [releaseAt: string, id: string] | null;
  /** Null for all. */
  limit: number | null;
  /** Whether the columns of `StatedRelease` are wanted. */
  stated: boolean;
}

/** A status that the publisher does not give follows the clock. */
export const statusAt = (now: string) =>
  `coalesce(status, case when release_at <= ${now} then 'released' else 'scheduled' end)`;
/** The local day of the publisher. */
export const releaseDate = '(release_at at time zone time_zone)::date';

const instantOf = (instant: Date, { values }: Conditions): string => `$${values.push(instant)}::timestamptz`;

/** The conditions of the filter. */
function releasesWhere(query: ReleaseFilter): Conditions {
  const where = new Conditions();
  const [from, to] = [query.from, query.to].map((value) => `$${where.values.push(value)}`);
  // Time zones are within a day of UTC: the index finds the surrounding days, and the second line filters exactly.
  where.sql.push(
    `release_at between ${from}::date - interval '1 day' and ${to}::date + interval '2 days'
       and ${releaseDate} between ${from} and ${to}`,
  );
  where
    .isOneOf(query.source, 'source')
    .any(query.series, (p) => `series_ids @> array[${presentId(p)}]`)
    .isOneOf(query.importance, 'importance')
    .isOneOf(query.ids, 'release_id');
  if (query.status !== undefined) where.isOneOf(query.status, statusAt(instantOf(query.now, where)));
  for (const bound of query.bounds) where.within(bound, `(release_at at time zone 'UTC')::date`);
  return where;
}

/** The number of releases that pass the filter. */
export async function countReleases(database: Queryable, query: ReleaseFilter): Promise<number> {
  const where = releasesWhere(query);
  const rows = await database.query<{ count: number }>(
    `select count(*) as count from data.releases where ${where.sql.join(' and ')}`,
    where.values,
  );
  return entryAt(rows, 0).count;
}

/** A page of releases in chronological order. */
export async function listReleases(database: Queryable, query: ReleaseQuery): Promise<StatedRelease[]> {
  const [ahead, direction] = query.sort === 'release_at' ? ['>', 'asc'] : ['<', 'desc'];
  const where = releasesWhere(query);
  const [at, id] = query.after ?? [];
  if (at !== undefined)
    where.sql.push(
      `(release_at, release_id) ${ahead} ($${where.values.push(at)}::timestamptz, $${where.values.push(id)}::text)`,
    );
  return database.query<StatedRelease>(
    `select release_id as id, title, source, ${utc('release_at')} as release_at, ${releaseDate} as release_date, time_zone,
       coalesce(time_confirmed, (release_at at time zone time_zone)::time <> '00:00') as time_confirmed, reference_period,
       frequency, kind, ${statusAt(instantOf(query.now, where))} as status, importance, series_ids as series, url
       ${query.stated ? ', publication as stated_publication, status as stated_status, time_confirmed as stated_time_confirmed' : ''}
     from data.releases where ${where.sql.join(' and ')}
     order by release_at ${direction}, release_id ${direction} limit $${where.values.push(query.limit)}`,
    where.values,
  );
}
