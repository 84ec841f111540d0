// The statements about sources: who publishes how many series, and how current they are by the calendar.
import { z } from 'zod';
import type { Queryable } from '../../kernel/database.ts';
import { utc } from '../instants.sql.ts';

export const sourceStates = ['current', 'due', 'late', 'unscheduled', 'empty'] as const;
const instant = z.iso.datetime().nullable();

/** The freshness of a source in the answer. Instants are UTC. */
export const currencyShape = {
  /**
   * `current`: everything that the calendar has released is loaded · `due`: something was released within the last day and is not loaded ·
   * `late`: the same, released earlier · `unscheduled`: the source is not in the calendar, so this is unknown · `empty`: nothing was ever
   * loaded.
   */
  state: z.enum(sourceStates).describe('Whether the releases of the calendar are loaded.'),
  last_success_at: instant.describe('When the last load with new data ended.'),
  last_data_date: z.iso.date().nullable(),
  series_count: z.int(),
  /** The last release in the calendar up to now; only releases that name series, if any do. */
  last_release_at: instant,
  next_release_at: instant,
  /** Whole; 0 if all are loaded; null without a calendar. */
  lag_hours: z.int().nullable().describe('Hours since the oldest release that is not loaded.'),
};

export const licenceSchema = z.object({ licence: z.string().nullable(), url: z.url().nullable() });

/** The totals over the series of a source. */
interface SourceTotals {
  source: string;
  series_count: number;
  /** The newest load that changed one of them. */
  data_version: number;
  last_date: string | null;
  licences: z.output<typeof licenceSchema>[];
}

/** All sources that series name. It scans every series. */
export async function readSourceTotals(database: Queryable): Promise<SourceTotals[]> {
  return database.query<SourceTotals>(
    `select source, sum(series_count)::bigint as series_count, max(data_version) as data_version, max(last_date) as last_date,
       coalesce(json_agg(json_build_object('licence', licence, 'url', licence_url) order by licence, licence_url)
         filter (where licence is not null or licence_url is not null), '[]') as licences
     from (
       select source, licence, licence_url, count(*) as series_count, max(data_version) as data_version, max(last_date) as last_date
       from data.series where deleted_on is null and source is not null group by source, licence, licence_url) counted
     group by source`,
  );
}

export interface SourceState extends z.output<z.ZodObject<typeof currencyShape>> {
  source: string;
  licences: z.output<typeof licenceSchema>[];
  /** When the clock changes a value of this next; null for never. */
  changes_at: string | null;
}

/** All sources, ordered by name. */
export async function listSources(
  database: Queryable,
  now: Date,
  totals: readonly SourceTotals[],
): Promise<SourceState[]> {
  return database.query<SourceState>(
    `with loaded as (
       select t.source, t.series_count, t.last_date, t.licences, l.loaded_at
       from jsonb_to_recordset($2) t (source text, series_count bigint, data_version bigint, last_date date, licences jsonb)
       left join data.loads l on l.load_no = t.data_version
     ), in_force as (
       select * from data.releases where status is null or status not in ('cancelled', 'delayed')
     ), released as (
       select source,
         coalesce(max(release_at) filter (where release_at <= $1 and series_ids <> '{}'),
           max(release_at) filter (where release_at <= $1)) as last_at,
         coalesce(min(release_at) filter (where release_at > $1 and series_ids <> '{}'),
           min(release_at) filter (where release_at > $1)) as next_at,
         min(release_at) filter (where release_at > $1) as comes_at,
         bool_or(series_ids <> '{}') as names_series
       from in_force group by source
     ), released_series as (
       select source, series_id, max(release_at) as last_at
       from in_force, unnest(series_ids) series_id where release_at <= $1 group by source, series_id
     ), missed_series as (
       select r.source, min(r.last_at) as missed_at
       from released_series r join data.series s using (series_id) left join data.loads l on l.load_no = s.data_version
       where s.deleted_on is null and (l.loaded_at is null or l.loaded_at < r.last_at) group by r.source
     ), sources as (
       select *, case when names_series then missed_at when loaded_at < last_at then last_at end as waits_since
       from loaded left join released using (source) left join missed_series using (source)
     ), timed as (
       select *, floor(extract(epoch from $1 - waits_since) / 3600)::integer as waits_hours from sources
     )
     select source,
       case when loaded_at is null then 'empty' when coalesce(last_at, next_at) is null then 'unscheduled'
         when waits_since is null then 'current' when waits_since > $1 - interval '1 day' then 'due' else 'late' end as state,
       ${utc('loaded_at')} as last_success_at, last_date as last_data_date, series_count,
       ${utc('last_at')} as last_release_at, ${utc('next_at')} as next_release_at,
       case when last_at is not null then coalesce(waits_hours, 0) end as lag_hours, licences,
       ${utc(`least(comes_at, waits_since + (waits_hours + 1) * interval '1 hour')`)} as changes_at
     from timed order by source`,
    [now, JSON.stringify(totals)],
  );
}

/** A scheduled source in the answer: when it was fetched, without its URL, which may contain a token. Instants are UTC. */
export const fetchedShape = {
  name: z.string(),
  source: z.string().nullable().describe('As in `sources`; null: its file states it.'),
  schedule: z.string().describe('When it is fetched, in the time zone of the installation.'),
  last_fetch_at: instant.describe('The end of the last attempt, whatever came of it.'),
  last_change_at: instant.describe('When a fetch last brought another content, which was loaded.'),
  failures: z.int().describe('How many attempts in a row have failed; 0: the last one succeeded.'),
  next_fetch_at: z.iso.datetime(),
};
export type FetchedSource = z.output<z.ZodObject<typeof fetchedShape>>;

/** By name. */
export function listFetchedSources(database: Queryable): Promise<FetchedSource[]> {
  return database.query<FetchedSource>(
    `select name, source, schedule, ${utc('fetched_at')} as last_fetch_at, ${utc('changed_at')} as last_change_at, failures,
       ${utc('fetch_at')} as next_fetch_at
     from data.fetched_sources order by name`,
  );
}
