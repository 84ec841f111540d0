// The statements about recurring releases; each entry of the calendar is one date of a release. A release is identified by its source and
// its publication, which is the title of the entry unless it is given.
import { z } from 'zod';
import { frequencies } from '../../domain/periods.ts';
import type { Queryable } from '../../kernel/database.ts';
import { entryAt } from '../../kernel/entries.ts';
import { utc } from '../instants.sql.ts';
import { presentId, rowVersion } from '../series/stored/series.sql.ts';
import { importances, releaseDate, releaseSchema, statusAt, type releaseStatuses } from './calendar.sql.ts';
import type { relatedSchema } from './discovery.sql.ts';

const instant = z.iso.datetime().nullable();

/** A release of the answer, without its id and that of its source. */
export const publicationShape = {
  name: z.string(),
  source: z.string(),
  frequency: z.enum(frequencies).nullable(),
  importance: z.enum(importances).nullable(),
  url: z.string().nullable().describe('Of its newest date that has one.'),
  series_count: z.int(),
  last_release_at: instant,
  next_release_at: instant,
};
export interface Publication extends z.output<z.ZodObject<typeof publicationShape>> {
  /** When the clock changes a value of this next; null for never. */
  changes_at: string | null;
}

const name = 'coalesce(publication, title)';
const newest = (column: string) =>
  `(array_agg(${column} order by release_at desc, release_id desc) filter (where ${column} is not null))[1]`;
const isActive = `(status is null or status not in ('cancelled', 'delayed'))`;

/** All releases. It scans the calendar and the ids of the series. */
export async function listPublications(database: Queryable, now: Date): Promise<Publication[]> {
  return database.query<Publication>(
    `with series_counts as (
       select source, name, count(*) as series_count
       from (select distinct source, ${name} as name, series_id from data.releases, unnest(series_ids) series_id) named
       join (select series_id from data.series where deleted_on is null) served using (series_id)
       group by source, name
     ), dated as (
       select source, ${name} as name, ${newest('frequency')} as frequency, ${newest('importance')} as importance,
         ${newest('url')} as url,
         ${utc(`max(release_at) filter (where release_at <= $1 and ${isActive})`)} as last_release_at,
         ${utc(`min(release_at) filter (where release_at > $1 and ${isActive})`)} as next_release_at
       from data.releases group by source, ${name}
     )
     select name, source, frequency, importance, url, coalesce(series_count, 0) as series_count, last_release_at,
       next_release_at, next_release_at as changes_at
     from dated left join series_counts using (source, name)`,
    [now],
  );
}

/** The columns that identify a release. */
export type PublicationName = Pick<Publication, 'source' | 'name'>;

/** The releases that contain any of the series. */
export async function findPublicationsOf(
  database: Queryable,
  seriesIds: readonly string[],
): Promise<PublicationName[]> {
  return database.query<PublicationName>(
    `select distinct source, ${name} as name from data.releases
     where series_ids && array(select ${presentId('asked')} from unnest($1::text[]) asked)`,
    [seriesIds],
    'publications_of_series',
  );
}

const seriesMax = 1_000;

/** The first thousand existing series of a release, by id. */
export async function listSeriesOf(
  database: Queryable,
  { source, name: named }: PublicationName,
): Promise<z.output<typeof relatedSchema>[]> {
  return database.query(
    `select s.series_id as id, s.name, s.unit, s.frequency
     from (select distinct unnest(series_ids) as series_id from data.releases where source = $1 and ${name} = $2) contained
     join data.series s using (series_id) where s.deleted_on is null order by s.series_id limit ${seriesMax}`,
    [source, named],
    'series_of_publication',
  );
}

/** One date of a release in the answer: an entry of the calendar. */
export const releaseDateSchema = releaseSchema.pick({
  id: true,
  release_at: true,
  release_date: true,
  reference_period: true,
  kind: true,
  status: true,
});
type ReleaseDate = z.output<typeof releaseDateSchema>;

const datesMax = 100;

/** The newest past dates of a release, or its next ones, those nearest to now first. */
export async function listDatesOf(
  database: Queryable,
  { source, name: named }: PublicationName,
  now: Date,
  which: 'past' | 'next',
): Promise<ReleaseDate[]> {
  const [side, direction] = which === 'past' ? ['<=', 'desc'] : ['>', 'asc'];
  return database.query<ReleaseDate>(
    `select release_id as id, ${utc('release_at')} as release_at, ${releaseDate} as release_date, reference_period, kind,
       ${statusAt('$3')} as status
     from data.releases where source = $1 and ${name} = $2 and release_at ${side} $3
     order by release_at ${direction}, release_id ${direction} limit ${datesMax}`,
    [source, named, now],
    `dates_of_publication_${which}`,
  );
}

/** The condition that a release contains a series. @param release the parameter of its source and name, an array. */
export const isInRelease = (release: string): string =>
  `series_id in (select unnest(series_ids) from data.releases where source = (${release}::text[])[1] and ${name} = (${release}::text[])[2])`;

/** Identifies the state of a series. */
export interface SeriesState {
  id: string;
  rowVersion: string;
  changedAt: Date;
}

/** The existing series of a release and their states, in the order of the code units of their ids. */
export async function listSeriesStatesOf(
  database: Queryable,
  { source, name: named }: PublicationName,
): Promise<SeriesState[]> {
  return database.query<SeriesState>(
    `select series_id as id, ${rowVersion('s')} as "rowVersion",
       greatest(s.updated_at, (select l.loaded_at from data.loads l where l.load_no = s.data_version)) as "changedAt"
     from data.series s where deleted_on is null and ${isInRelease('$1')} order by series_id collate "C"`,
    [[source, named]],
    'series_states_of_publication',
  );
}

/** A day on which a release is published. */
export interface ReleaseDay {
  /** The id of the release. */
  number: number;
  name: string;
  date: string;
}

interface DaysQuery {
  releases: readonly (PublicationName & { number: number })[];
  /** Days of the publisher, inclusive. */
  from: string;
  to: string;
  now: Date;
  statuses: readonly (typeof releaseStatuses)[number][];
  order: keyof ReleaseDay;
  direction: 'asc' | 'desc';
  offset: number;
  limit: number;
}

/** A page of the days of some releases, and how many there are. */
export async function listReleaseDays(
  database: Queryable,
  { releases, from, to, now, statuses, order, direction, offset, limit }: DaysQuery,
): Promise<{ count: number; rows: ReleaseDay[] }> {
  const rows = await database.query<{ count: number; rows: ReleaseDay[] }>(
    `with days as materialized (
       select distinct asked.number, asked.name, ${releaseDate} as date
       from unnest($1::text[], $2::text[], $3::bigint[]) asked (source, name, number)
       join data.releases r on r.source = asked.source and ${name} = asked.name
       where release_at between $4::date - interval '1 day' and $5::date + interval '2 days'
         and ${releaseDate} between $4 and $5 and ${statusAt('$6')} = any($7)
     )
     select (select count(*) from days) as count, (select coalesce(json_agg(page), '[]') from (
       select * from days order by ${order} ${direction}, date ${direction}, number limit $8 offset $9) page) as rows`,
    [
      releases.map(({ source }) => source),
      releases.map(({ name: named }) => named),
      releases.map(({ number }) => number),
      ...[from, to, now, statuses, limit, offset],
    ],
  );
  return entryAt(rows, 0);
}
