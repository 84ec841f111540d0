// The statement that writes release events: the calendar entries that a load has completed.
import type { Transaction } from '../../../kernel/database.ts';
import { eventSeriesMax } from '../../../kernel/events/catalogue.ts';
import { instantText } from './series-events.sql.ts';

/** The event compares at most this many changed series with every calendar entry. */
const comparedMax = 100;

const isRecent = `release_at <= $1 and release_at > $1::timestamptz - interval '1 year' and series_ids <> '{}'`;

/**
 * Whether the calendar has any entry that a load may complete. Planning the statement below takes milliseconds, as long as storing a
 * thousand points.
 */
async function hasReleases(on: Transaction, at: Date): Promise<boolean> {
  const found = await on.query(`select from data.releases where ${isRecent} limit 1`, [at]);
  return found.length > 0;
}

/**
 * Writes `release.published` for the calendar entries that the series of load_changed complete, once per entry.
 * An entry is complete when every series it names was changed, or loaded completely, by a load that began at its time or later, in a
 * vintage of its day or later. For each changed series only the newest entry is considered, and none older than a year: the first load of a
 * history does not publish past releases. Cancelled and delayed entries are left out, as in `/v1/status`.
 */
export async function insertReleaseEvents(on: Transaction, at: Date, seriesTimeZone: string): Promise<void> {
  if (!(await hasReleases(on, at))) return;
  await on.query(
    `with changed as materialized (
       select s.series_id, max(c.load_no) as load_no, max(l.vintage) as vintage
       from load_changed c join data.series s using (series_no) join data.loads l using (load_no) group by s.series_id
     ), entry as materialized (
       -- A vintage is a day in the time zone of the series or, as some operators state it, of the publisher.
       select *, least(release_date, (release_at at time zone $2)::date) as first_vintage
       from (select *, (release_at at time zone time_zone)::date as release_date from data.releases
             where ${isRecent}
               and (status is null or status not in ('cancelled', 'delayed'))
               -- Comparing with all ids costs their number for each entry: with many it is cheaper to join them below.
               and case when (select count(*) from changed) > $4 then true
                 else series_ids && (select array_agg(series_id) from changed) end) passed
     ), named as (
       select release_id, series_id, first_vintage, rank() over (partition by series_id order by release_at desc) as age
       from entry, unnest(series_ids) series_id
     ), candidate as (
       select release_id, max(c.load_no) as load_no
       from named n join changed c using (series_id)
       where n.age = 1 and c.vintage >= n.first_vintage
         and not exists (select from data.published_releases p where p.release_id = n.release_id)
       group by release_id
     ), complete as (
       select e.release_id, e.title, e.source, e.release_at, e.release_date, e.reference_period, e.series_ids, c.load_no
       from candidate c join entry e using (release_id)
       where not exists (
         select from unnest(e.series_ids) named_id join data.series s on s.series_id = named_id and s.deleted_on is null
         where not exists (select from changed c where c.series_id = named_id and c.vintage >= e.first_vintage)
           and not exists (
             select from data.vintages v join data.loads l using (load_no)
             where v.series_no = s.series_no and v.published_on >= e.first_vintage
               -- A load of this transaction becomes visible now: its instant is set before the commit (prepared-loads.sql.ts).
               and case when l.loaded_at = now() then $1 else l.loaded_at end >= e.release_at
               and l.retracts is null and not upper_inf(l.out_of_force) and l.erased_by is null))
     ), noted as (
       insert into data.published_releases (release_id, load_no) select release_id, load_no from complete
     )
     select events.report('release.published', series, data, $1) from (select part.series,
       jsonb_build_object('load', load_no, 'published_at', ${instantText('$1::timestamptz')}, 'release', release_id,
         'title', title, 'source', source, 'release_at', ${instantText('release_at')}, 'release_date', release_date,
         'reference_period', reference_period) as data
     from complete, lateral (
       select place / $3 as pack, array_agg(id order by place) as series
       from (select id, row_number() over (order by id collate "C") - 1 as place
             from (select unnest(series_ids) as id
                   union
                   select a.alias from data.series_aliases a join data.series s using (series_no)
                   where s.series_id = any(series_ids)) ids) placed
       group by pack) part
     order by release_at, release_id, part.pack) event`,
    [at, seriesTimeZone, eventSeriesMax, comparedMax],
  );
}
