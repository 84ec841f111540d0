// Makes the history of a series independent of the order of its loads. After a load into the past, or into a day that is already stored,
// adjacent rows with equal values are merged, and the changes of every affected vintage are counted again. If a vintage consists of several
// loads, its counts are stored in the row of its newest load; the others have 0.
import type { Transaction } from '../../../kernel/database.ts';
import { entryAt } from '../../../kernel/entries.ts';
import type { LoadRow } from './load-record.sql.ts';
import { isOwnRow } from './stated-values.sql.ts';

/**
 * Created only by the few loads that need them.
 * load_events: how many more (if negative, fewer) points the load has made a vintage add, revise and delete.
 * load_runs: adjacent rows of a point with equal values; `continues`: all rows of a run but the first.
 */
export async function createHistory(on: Transaction): Promise<void> {
  await on.query(`
    create temp table if not exists load_events (
      series_no integer not null, day date not null,
      points_new integer not null, points_revised integer not null, points_deleted integer not null
    ) on commit drop`);
  await on.query(`
    create temp table if not exists load_runs (
      series_no integer not null, line_no integer not null, date date not null,
      published_on date not null, superseded_on date not null, load_no bigint not null, superseded_load_no bigint,
      value numeric, status text,
      run integer not null, continues boolean not null
    ) on commit drop`);
}

/** The rows, visible in some vintage, of the points of load_changes whose stored history the load may change. */
const touchedRows = `
  select c.series_no, o.* from load_changes c join load_series s using (series_no)
  cross join lateral (
    select p.* from data.observations p
    where (p.line_no, p.date) = (c.line_no, c.date) and p.superseded_on = 'infinity'
    union all
    select p.* from data.observations p
    where (p.line_no, p.date) = (c.line_no, c.date) and p.superseded_on <> 'infinity'
  ) o
  where s.rewrites and o.published_on < o.superseded_on`;

/**
 * Counts the changes of the vintages from D on, at the points of load_changes. The change of a vintage is the difference between the end of
 * its day and the end of the day before. @param moment `before` the rows change subtracts the counts in load_events, `after` adds them.
 */
export async function countChanges(
  on: Transaction,
  load: LoadRow,
  moment: 'before' | 'after',
): Promise<void> {
  if (moment === 'before') {
    await on.query('analyze load_changes');
    await on.query('truncate load_events, load_runs');
  }
  await on.query(
    `insert into load_events
     select series_no, day, $2 * count(*) filter (where begins and not ends),
       $2 * count(*) filter (where begins and ends), $2 * count(*) filter (where not begins)
     from (
       select o.series_no, e.day, bool_or(e.is_begin) as begins, bool_or(not e.is_begin) as ends
       from (${touchedRows}) o
       cross join lateral (values (o.published_on, true), (o.superseded_on, false)) e (day, is_begin)
       where e.day >= $1 and e.day < 'infinity'
       group by o.series_no, o.line_no, o.date, e.day) events
     group by series_no, day`,
    [load.vintage, moment === 'before' ? -1 : 1],
  );
}

/**
 * Matches a row by point and first day. This is unique among rows visible in some vintage; the caller excludes rows that ended on the day
 * on which they began.
 */
const isRow = (of: string): string =>
  `(o.line_no, o.date, o.published_on) = (${of}.line_no, ${of}.date, ${of}.published_on)`;

/**
 * Merges adjacent rows with equal values: loads in order would have stored one row. The statement of each merged row's load is recorded,
 * as an older vintage that is loaded later is valid only until that day.
 */
export async function mergeRows(on: Transaction): Promise<void> {
  const found = await on.query<{ rows: number }>(
    `with linked as (
       select o.*, coalesce(lag(o.superseded_on) over point = o.published_on
           and lag(o.value) over point is not distinct from o.value
           and lag(o.status) over point is not distinct from o.status, false) as continues
       from (${touchedRows}) o
       window point as (partition by o.line_no, o.date order by o.published_on)
     ), numbered as (
       select *, count(*) filter (where not continues) over point as run, lead(continues) over point as is_continued
       from linked window point as (partition by line_no, date order by published_on)
     ), stored as (
       insert into load_runs
       select series_no, line_no, date, published_on, superseded_on, load_no, superseded_load_no, value, status,
         run, continues
       from numbered where continues or is_continued
       returning 1
     )
     select count(*)::int as rows from stored`,
  );
  if (entryAt(found, 0).rows === 0) return;
  await on.query('analyze load_runs');
  await recordMergedStatements(on);
  for (const isStored of [`o.superseded_on = 'infinity'`, `o.superseded_on <> 'infinity'`])
    await on.query(
      `delete from data.observations o using load_runs r
       where ${isRow('r')} and ${isStored} and o.superseded_on = r.superseded_on and r.continues`,
    );
  // The first row of a run has ended: another one follows it.
  await on.query(
    `update data.observations o set superseded_on = m.superseded_on, superseded_load_no = m.superseded_load_no
     from (select line_no, date, min(published_on) as published_on, max(superseded_on) as superseded_on,
             (array_agg(superseded_load_no order by published_on desc))[1] as superseded_load_no
           from load_runs group by line_no, date, run) m
     where ${isRow('m')} and o.superseded_on <> 'infinity' and o.superseded_on > o.published_on`,
  );
}

/**
 * Records the statements of the merged rows' loads. A row that another load has moved to that day is already recorded by the statement
 * there.
 */
async function recordMergedStatements(on: Transaction): Promise<void> {
  await on.query(
    `insert into data.statements (line_no, date, published_on, load_no, states, value, status)
     select r.line_no, r.date, r.published_on, r.load_no, true, r.value, r.status
     from load_runs r join data.loads l using (load_no)
     where r.continues and ${isOwnRow('r', 'l')}
     on conflict do nothing`,
  );
}

/**
 * Adds load_events to the counts of the vintages, and records which data states the load reverted: a value that had ended on D and is
 * visible again. A day that so far only confirmed points gets a row of the confirming load. The day of a retraction that has changed
 * nothing so far gets a row of this load.
 */
export async function recountVintages(on: Transaction, load: LoadRow): Promise<void> {
  await on.query(
    `with changed as (
       select series_no, day, sum(points_new) as points_new, sum(points_revised) as points_revised,
         sum(points_deleted) as points_deleted
       from load_events group by series_no, day
       having sum(points_new) <> 0 or sum(points_revised) <> 0 or sum(points_deleted) <> 0
     ), counted as (
       select c.series_no, c.day, coalesce(v.load_no, (
           select max(f.load_no) from data.series_dims d join data.confirmations f using (line_no)
           join data.loads l on l.load_no = f.load_no
           where d.series_no = c.series_no and f.published_on = c.day and l.vintage = c.day), $1) as load_no,
         c.points_new + coalesce(v.points_new, 0) as points_new,
         c.points_revised + coalesce(v.points_revised, 0) as points_revised,
         c.points_deleted + coalesce(v.points_deleted, 0) as points_deleted
       from changed c cross join lateral (
         select max(v.load_no) as load_no, sum(v.points_new) as points_new, sum(v.points_revised) as points_revised,
           sum(v.points_deleted) as points_deleted
         from data.vintages v where v.series_no = c.series_no and v.published_on = c.day) v
     ), cleared as (
       update data.vintages v set points_new = 0, points_revised = 0, points_deleted = 0
       from counted c where v.series_no = c.series_no and v.published_on = c.day and v.load_no <> c.load_no
     )
     insert into data.vintages (series_no, published_on, load_no, complete, points_new, points_revised, points_deleted)
     select series_no, day, load_no, false, points_new, points_revised, points_deleted from counted
     on conflict (series_no, published_on, load_no) do update set points_new = excluded.points_new,
       points_revised = excluded.points_revised, points_deleted = excluded.points_deleted`,
    [load.loadNo],
  );
  await on.query(
    `update data.vintages v set takes_back = r.load_no
     from (
       select series_no, min(ended_by) as load_no from (
         select *, lag(superseded_load_no) over (
           partition by line_no, date, run order by published_on) as ended_by
         from load_runs) r
       where continues and published_on = $1 group by series_no
     ) r
     where v.series_no = r.series_no and v.published_on = $1 and v.load_no = $2`,
    [load.vintage, load.loadNo],
  );
}
