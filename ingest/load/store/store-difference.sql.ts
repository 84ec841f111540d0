// Compares a staged vintage with the stored points, one by one, and stores the difference in data.observations only. `vintage` is the day D
// of the load. A statement is what a load states about a point: a value, or that the point does not exist.
import type { Transaction } from '../../../kernel/database.ts';
import { entryAt } from '../../../kernel/entries.ts';
import { isOwnRow } from './stated-values.sql.ts';
import { seriesInFileColumns, type LoadRow, type SeriesInFile } from './load-record.sql.ts';

/**
 * load_series: the series of the load.
 * load_changes: the changes to make, one row per point: end the row published on `began_on` at D (null: there is no row), insert the new
 * value from D until `ends_on` (if there is one), and restore the old value from there until `old_ends_on` (null: the row has no end).
 * load_later_state: the state at D of the series that have later vintages.
 */
export async function createDifference(on: Transaction): Promise<void> {
  await on.query(`
    create temp table load_series (
      series_no integer primary key,
      fresh boolean not null,         -- nothing was ever published: every point is new
      backfill boolean not null,      -- something was published after D
      rewrites boolean not null,      -- or D has statements already: their record may change
      points integer not null, points_with_value integer not null, -- staged
      first_date date, last_date date -- of the staged points with a value
    ) on commit drop`);
  await on.query(`
    create temp table load_changes (
      series_no integer not null, line_no integer not null, date date not null,
      began_on date, ends_on date not null, states boolean not null, value numeric, status text,
      old_ends_on date, old_value numeric, old_status text
    ) on commit drop`);
  await on.query(`
    create temp table load_later_state (
      series_no integer not null, line_no integer not null, date date not null,
      published_on date not null, superseded_on date not null, value numeric, status text
    ) on commit drop`);
}

/** Fills load_series from load_points and from the other series of the file. */
export async function findLoadSeries(
  on: Transaction,
  load: LoadRow,
  fileSeries: readonly SeriesInFile[],
): Promise<{ fresh: number; known: number; backfill: number; rewrites: number }> {
  await on.query('truncate load_series, load_changes, load_later_state');
  await on.query(
    `with s as (
       select series_no, coalesce(staged.points, named.points) as points,
         coalesce(staged.points_with_value, named."pointsWithValue") as points_with_value,
         coalesce(staged.first_date, named."firstDate") as first_date,
         coalesce(staged.last_date, named."lastDate") as last_date
       from (
         select series_no, count(*) as points, count(value) as points_with_value,
           min(date) filter (where value is not null) as first_date,
           max(date) filter (where value is not null) as last_date
         from load_points group by series_no
       ) staged full join (
         select "seriesNo" as series_no, * from jsonb_to_recordset($2) as f ${seriesInFileColumns}) named using (series_no)
     )
     insert into load_series
     select s.series_no, fresh, backfill,
       backfill or exists (select from data.vintages v where v.series_no = s.series_no and v.published_on = $1)
         or exists (select from data.series_dims d join data.confirmations c using (line_no)
                    where d.series_no = s.series_no and c.published_on = $1),
       s.points, s.points_with_value, s.first_date, s.last_date
     from s cross join lateral (
       select not exists (select from data.vintages v where v.series_no = s.series_no) as fresh,
         exists (select from data.vintages v where v.series_no = s.series_no and v.published_on > $1)
           or exists (select from data.series_dims d join data.confirmations c using (line_no)
                      where d.series_no = s.series_no and c.published_on > $1) as backfill) known`,
    [load.vintage, JSON.stringify(fileSeries)],
  );
  const found = await on.query<{ fresh: number; known: number; backfill: number; rewrites: number }>(
    `select count(*) filter (where fresh) as fresh, count(*) filter (where not fresh and not backfill) as known,
       count(*) filter (where backfill) as backfill, count(*) filter (where rewrites) as rewrites
     from load_series`,
  );
  const counts = entryAt(found, 0);
  if (counts.known + counts.backfill > 0) await on.query('analyze load_series, load_points');
  return counts;
}

/** Stores the staged points of series that had no points, without a comparison. */
export async function storeFresh(on: Transaction, load: LoadRow): Promise<void> {
  await on.query(
    `insert into data.observations (line_no, date, published_on, load_no, value, status)
     select line_no, date, $1, $2, value, status
     from load_points join load_series using (series_no) where fresh`,
    [load.vintage, load.loadNo],
  );
}

/**
 * Finds the changes of series without later vintages: their state at D is the current one.
 * `+ 0` keeps the planner from joining by line alone: without statistics on a new series
 * that looks free, and it compares every point with every other (6,700 points took 22 s).
 */
export async function compareWithLive(on: Transaction, load: LoadRow): Promise<void> {
  await on.query(
    `insert into load_changes
     select p.series_no, p.line_no, p.date, o.published_on, 'infinity', true, p.value, p.status, null, o.value, o.status
     from load_points p join load_series s using (series_no)
     left join data.observations o on (o.line_no, o.date) = (p.line_no + 0, p.date)
       and o.superseded_on = 'infinity'
     where not s.fresh and not s.backfill
       and (o.line_no is null or o.value is distinct from p.value or o.status is distinct from p.status)`,
  );
  if (!load.complete) return;
  await on.query(
    `insert into load_changes
     select s.series_no, o.line_no, o.date, o.published_on, 'infinity', false, null, null, null, o.value, o.status
     from load_series s join data.series_dims d using (series_no) join data.observations o using (line_no)
     where not s.fresh and not s.backfill and o.superseded_on = 'infinity'
       and not exists (select from load_points p
                       where (p.line_no + 0, p.date) = (o.line_no, o.date))`,
  );
}

/**
 * Finds the changes of series with later vintages. The load's value of a point is valid until the next statement about it: a later row,
 * complete vintage, confirmation, or separately recorded statement. No statement lies between, so at most one row exists there. A row that
 * ended within its day is a statement only if its own load ended it, not if a retraction or an older vintage did. A confirmation covers
 * only points that existed; a point that did not exist at D has a row before it.
 */
export async function compareWithVintage(on: Transaction, load: LoadRow): Promise<void> {
  await on.query(
    `insert into load_later_state
     select s.series_no, o.line_no, o.date, o.published_on, o.superseded_on, o.value, o.status
     from load_series s join data.series_dims d using (series_no) join data.observations o using (line_no)
     where s.backfill and o.published_on <= $1 and o.superseded_on > $1`,
    [load.vintage],
  );
  await on.query('analyze load_later_state');
  // If the statistics contain no ended row yet, a plan may begin with all ended rows and look up the change of each.
  await on.query('create index if not exists load_changes_point on load_changes (line_no, date)');
  await findConfirmed(on, load);
  await on.query(
    `with said as (
       select p.series_no, p.line_no, p.date, true as states, p.value, p.status
       from load_points p join load_series s using (series_no) where s.backfill
       union all
       select t.series_no, t.line_no, t.date, false, null, null
       from load_later_state t
       where $2 and not exists (select from load_points p
                                where (p.line_no, p.date) = (t.line_no, t.date))
     ), changed as (
       select said.*, t.published_on as began_on, t.superseded_on as old_ends_on, t.value as old_value, t.status as old_status
       from said left join load_later_state t
         on (t.line_no, t.date) = (said.line_no, said.date)
       where t.published_on is null or not said.states
          or t.value is distinct from said.value or t.status is distinct from said.status
     ), next_complete as materialized (
       select s.series_no, (select min(v.published_on) from data.vintages v
         where v.series_no = s.series_no and v.published_on > $1 and v.complete) as published_on
       from load_series s where s.backfill
     )
     insert into load_changes
     select c.series_no, c.line_no, c.date, c.began_on,
       least(
         (select min(o.published_on) from data.observations o
          where (o.line_no, o.date) = (c.line_no, c.date)
            and o.superseded_on = 'infinity' and o.published_on > $1),
         (select min(o.published_on) from data.observations o
          where (o.line_no, o.date) = (c.line_no, c.date)
            and o.superseded_on <> 'infinity' and o.published_on > $1
            and (o.superseded_on > o.published_on or exists (
              select from data.loads l where l.load_no = o.load_no and ${isOwnRow('o', 'l')}))),
         w.published_on,
         (select case when n.last_date >= c.date then n.published_on end from load_confirmed n
          where c.began_on is not null and n.line_no = c.line_no and n.first_date <= c.date
          order by n.first_date desc limit 1),
         (select min(m.published_on) from data.statements m
          where (m.line_no, m.date) = (c.line_no, c.date) and m.published_on > $1),
         'infinity') as ends_on,
       c.states, c.value, c.status, c.old_ends_on, c.old_value, c.old_status
     from changed c join next_complete w using (series_no)`,
    [load.vintage, load.complete],
  );
}

/**
 * Fills load_confirmed: for the dates that the load concerns, the next vintage that confirms them. One step finds it for all dates of a
 * confirmation, and the next confirmation is queried only for the remaining dates: a point reads no confirmation that skips it.
 */
async function findConfirmed(on: Transaction, load: LoadRow): Promise<void> {
  await on.query(`
    create temp table if not exists load_confirmed (
      line_no integer not null, first_date date not null, last_date date not null,
      published_on date not null, primary key (line_no, first_date)
    ) on commit drop`);
  await on.query('truncate load_confirmed');
  await on.query(
    `insert into load_confirmed
     with recursive asked (line_no, published_on, load_no, confirmed, missing) as (
       select line_no, $1::date, 0::bigint, '{}'::datemultirange,
         datemultirange(daterange(min(date), max(date), '[]'))
       from (
         select line_no, date from load_later_state where $2
         union all
         select line_no, date from load_points join load_series s using (series_no) where s.backfill and not $2) concerned
       group by line_no
       union all
       select a.line_no, f.published_on, f.load_no, f.dates * a.missing, a.missing - f.dates
       from asked a cross join lateral (
         select f.published_on, f.load_no, f.dates from data.confirmations f
         where f.line_no = a.line_no and f.published_on > $1
           and (f.published_on, f.load_no) > (a.published_on, a.load_no) and f.dates && a.missing
         order by f.published_on, f.load_no limit 1) f
     )
     select line_no, lower(dates), upper(dates) - 1, published_on
     from asked cross join lateral unnest(confirmed) dates`,
    [load.vintage, load.complete],
  );
  await on.query('analyze load_confirmed');
}

/** Applies load_changes. */
export async function storeChanges(on: Transaction, load: LoadRow): Promise<void> {
  await on.query('analyze load_changes');
  const isChangedRow = '(o.line_no, o.date, o.published_on) = (c.line_no, c.date, c.began_on)';
  await on.query(
    `update data.observations o set superseded_on = $1, superseded_load_no = $2
     from load_changes c
     where (c.old_ends_on is null or c.old_ends_on = 'infinity') and ${isChangedRow} and o.superseded_on = 'infinity'`,
    [load.vintage, load.loadNo],
  );
  // A row that has ended keeps the load that ended it: readers pinned to an earlier load see it as open. There may also be rows that ended on the day
  // on which they began.
  await on.query(
    `update data.observations o set superseded_on = $1
     from load_changes c
     where c.old_ends_on <> 'infinity' and ${isChangedRow} and o.superseded_on <> 'infinity' and o.superseded_on > $1`,
    [load.vintage],
  );
  await on.query(
    `insert into data.observations
       (line_no, date, published_on, superseded_on, load_no, superseded_load_no, value, status)
     select line_no, date, $1, ends_on, $2::bigint, case when ends_on <> 'infinity' then $2::bigint end,
       value, status
     from load_changes where states
     union all
     select line_no, date, ends_on, old_ends_on, $2, case when old_ends_on <> 'infinity' then $2 end,
       old_value, old_status
     from load_changes where old_ends_on > ends_on`,
    [load.vintage, load.loadNo],
  );
}
