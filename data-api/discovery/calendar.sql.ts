// The statement of the release calendar: the releases in a window.
// Hides time zones: the day of a release is its local day where it is published.
import { z } from 'zod';
import type { Queryable } from '../../kernel/database.ts';
import { utc } from '../instants.sql.ts';
import { presentId } from '../series/series.sql.ts';

export const releaseStatuses = ['scheduled', 'released', 'delayed', 'cancelled'] as const;
export const importances = ['low', 'medium', 'high'] as const;
const text = z.string().nullable();

/** A release as it is sent. */
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

/** A release, and what the source itself states of it; null where that is derived. */
export type StatedRelease = Release & {
  stated_publication: string | null;
  stated_status: string | null;
  stated_time_confirmed: boolean | null;
};

export interface ReleaseQuery {
  /** Publication days, inclusive, each in the release's own time zone. */
  from: string;
  to: string;
  now: Date;
  source: string | undefined;
  series: string | undefined;
  status: string | undefined;
  importance: string | undefined;
  sort: 'release_at' | '-release_at';
  /** The page begins after this release: its instant and id. */
  after: readonly [releaseAt: string, id: string] | null;
  /** Null: all. */
  limit: number | null;
  /** Whether the columns of `StatedRelease` are wanted. */
  stated: boolean;
}

/** Unless the publisher states it, a status follows the clock. */
export const statusAt = (now: string) =>
  `coalesce(status, case when release_at <= ${now} then 'released' else 'scheduled' end)`;
/** The local day of the publisher. */
export const releaseDate = '(release_at at time zone time_zone)::date';

/** A page of releases in chronological order. */
export async function listReleases(database: Queryable, query: ReleaseQuery): Promise<StatedRelease[]> {
  const [ahead, direction] = query.sort === 'release_at' ? ['>', ''] : ['<', 'desc'];
  return database.query<StatedRelease>(
    `select release_id as id, title, source, ${utc('release_at')} as release_at, ${releaseDate} as release_date, time_zone,
       coalesce(time_confirmed, (release_at at time zone time_zone)::time <> '00:00') as time_confirmed, reference_period,
       frequency, kind, ${statusAt('$3')} as status, importance, series_ids as series, url
       ${query.stated ? ', publication as stated_publication, status as stated_status, time_confirmed as stated_time_confirmed' : ''}
     from data.releases
     -- Time zones are within a day of UTC: the index finds the surrounding days, and the second line filters exactly.
     where release_at between $1::date - interval '1 day' and $2::date + interval '2 days'
       and ${releaseDate} between $1 and $2
       and ($4::text is null or source = $4) and ($5::text is null or series_ids @> array[${presentId('$5')}])
       and ($6::text is null or ${statusAt('$3')} = $6) and ($7::text is null or importance = $7)
       and ($8::timestamptz is null or (release_at, release_id) ${ahead} ($8, $9::text))
     order by release_at ${direction}, release_id ${direction} limit $10`,
    [
      query.from,
      query.to,
      query.now,
      query.source,
      query.series,
      query.status,
      query.importance,
      ...(query.after ?? [null, null]),
      query.limit,
    ],
  );
}
