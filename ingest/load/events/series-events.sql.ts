// The statements for the events of changed series. The ids never leave PostgreSQL, so memory does not grow with the load.
import type { Transaction } from '../../../kernel/database.ts';
import { eventSeriesMax } from '../../../kernel/events/catalogue.ts';

/** load_changed: the series that each load of the file changed, and whether the load changed or deleted published points. */
export async function createChanged(on: Transaction): Promise<void> {
  await on.query(`
    create temp table load_changed (
      series_no integer not null, load_no bigint not null, revised boolean not null
    ) on commit drop`);
}

/** Adds the series of load_totals to load_changed. */
export async function noteChanged(on: Transaction, loadNo: number): Promise<void> {
  await on.query(
    `insert into load_changed
     select series_no, $1, points_revised + points_deleted > 0 from load_totals`,
    [loadNo],
  );
}

/**
 * Writes `series.updated` and `series.revised` for the series in load_changed. Each series is listed by its present and earlier ids, with
 * the newest load that changed it; an event has at most 250 series of one load.
 */
export async function insertSeriesEvents(on: Transaction, at: Date): Promise<void> {
  await on.query('analyze load_changed'); // without it, the planner reads all series to find the few that changed
  await on.query(
    `with reported as (
       select place, type, id as series_id, max(c.load_no) as load_no
       from load_changed c
       -- Endpoints that filter by an earlier id go on.
       join (select series_no, series_id from data.series union all select series_no, alias from data.series_aliases)
         as s (series_no, id) using (series_no)
       cross join (values (1, 'series.updated'), (2, 'series.revised')) kind (place, type)
       where type = 'series.updated' or c.revised
       group by place, type, id
     ), numbered as (
       select *, row_number() over (partition by type, load_no order by series_id collate "C") - 1 as number from reported
     ), packed as (
       select place, type, load_no, number / $2 as pack, array_agg(series_id order by number) as series
       from numbered group by place, type, load_no, pack
     )
     select events.report(type, series, data, $1) from (
       select type, series,
         jsonb_build_object('load', load_no, 'published_at', ${instantText('$1::timestamptz')}, 'vintage', l.vintage) as data
       from packed join data.loads l using (load_no) order by place, load_no, pack) event`,
    [at, eventSeriesMax],
  );
}

/** SQL that formats an instant for events. */
export function instantText(instant: string): string {
  return `to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;
}
