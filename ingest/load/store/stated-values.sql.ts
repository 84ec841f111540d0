// The statements of loads, that is, which value (or absence) each load gave for a point, and the recomputation of points from them ("fold").
// A statement is recorded as a row that the load began, in data.statements, in data.confirmations, or as a complete vintage. The last two
// store no value: it is the value visible on the day of the load, as a same-day correction saves the old value first.
import type { Transaction } from '../../../kernel/database.ts';
import { entryAt } from '../../../kernel/entries.ts';
import type { LoadRow } from './load-record.sql.ts';

/** Whether the value of a row is from the file of its load. A load also moves rows of other loads to the day on which its own value ends. */
export const isOwnRow = (row: string, load: string): string =>
  `${load}.vintage = ${row}.published_on and ${load}.retracts is null and ${load}.erased_by is null`;

const ofPoint = (row: string): string => `(${row}.line_no, ${row}.date) = (p.line_no, p.date)`;

/** Rows of the point p. Each is in one of two indexes, so the query names both for PostgreSQL. */
const rowsOfPoint = (columns: string, condition: string): string => `
  select ${columns} from data.observations o
  where ${ofPoint('o')} and o.superseded_on = 'infinity' and ${condition}
  union all
  select ${columns} from data.observations o
  where ${ofPoint('o')} and o.superseded_on <> 'infinity' and ${condition}`;

/** In fold_rows: the row of a point that is valid at the end of a day. */
const isValidAt = (row: string, of: string, day: string): string =>
  `(${row}.line_no, ${row}.date) = (${of}.line_no, ${of}.date)
     and ${row}.published_on <= ${day} and ${row}.superseded_on > ${day}`;

/**
 * Records what loads stated by a confirmation or a complete vintage, before the value of that day changes.
 * @param changed a query of the points p that change: `day`, and the value so far: `was_there`, `old_value`, `old_status`.
 * @param loadNo of the load that changes them.
 */
async function recordStatements(
  on: Transaction,
  changed: string,
  loadNo: number,
  values: readonly unknown[] = [],
): Promise<void> {
  await on.query(
    `insert into data.statements (line_no, date, published_on, load_no, states, value, status)
     with changed as materialized (${changed}), stated as (
       select p.*, v.load_no from changed p join data.vintages v
         on (v.series_no, v.published_on) = (p.series_no, p.day) and v.complete
       union all
       select p.*, f.load_no from changed p join data.confirmations f
         on (f.line_no, f.published_on) = (p.line_no, p.day) and f.dates @> p.date and p.was_there
     )
     select line_no, date, day, load_no, was_there, old_value, old_status
     from stated p
     where load_no <> $1 and not exists (${rowsOfPoint('1', 'o.published_on = p.day and o.load_no = p.load_no')})
     on conflict do nothing`,
    [loadNo, ...values],
  );
}

/** Records what other loads of the day stated about the points of load_changes. Runs before they change. */
export function recordCorrected(on: Transaction, load: LoadRow): Promise<void> {
  return recordStatements(
    on,
    `select c.series_no, c.line_no, c.date, $2::date as day, c.began_on is not null as was_there, c.old_value, c.old_status
     from load_changes c join load_series s using (series_no) where s.rewrites`,
    load.loadNo,
    [load.vintage],
  );
}

/** Records what loads stated about the points whose history changes, on the days on which it does. */
export function recordFolded(on: Transaction, load: Pick<LoadRow, 'loadNo'>): Promise<void> {
  return recordStatements(on, `select * from fold_days where ${differs}`, load.loadNo);
}

/** Whether the recomputed value of a point at a day differs from the stored value. */
export const differs = `(was_there <> is_there or value is distinct from old_value or status is distinct from old_status)`;

/**
 * fold_points: the points to recompute. fold_rows: all their rows. fold_wanted: the days on which their value may change.
 * fold_days: for each of these, whether a value is stored (`was_there`, in the row published on `began_on`), and whether the active loads give
 * one (`is_there`).
 */
export async function createFold(on: Transaction): Promise<void> {
  await on.query(`
    create temp table if not exists fold_points (
      series_no integer not null, line_no integer not null, date date not null
    ) on commit drop`);
  await on.query(`
    create temp table if not exists fold_rows (
      series_no integer not null, line_no integer not null, date date not null,
      published_on date not null, superseded_on date not null, load_no bigint not null,
      is_own boolean not null, value numeric, status text
    ) on commit drop`);
  await on.query(`
    create temp table if not exists fold_wanted (
      series_no integer not null, line_no integer not null, date date not null, day date not null
    ) on commit drop`);
  await on.query(`
    create temp table if not exists fold_days (
      series_no integer not null, line_no integer not null, date date not null, day date not null,
      began_on date, was_there boolean not null, old_value numeric, old_status text,
      is_there boolean not null, value numeric, status text
    ) on commit drop`);
  await on.query('truncate fold_points, fold_rows, fold_wanted, fold_days');
}

/**
 * Fills fold_points with all points whose value or absence the loads may have given. A complete vintage also gives the absence of all
 * other points of its series, and these may have no row any longer. @returns how many.
 */
export async function findPointsOf(on: Transaction, loadNos: readonly number[]): Promise<number> {
  const found = await on.query<{ points: number }>(
    `with spoken_of as materialized (
       select series_no, bool_or(complete) as complete from (
         select series_no, complete from data.vintages where load_no = any($1)
         union all
         select series_no, false from data.confirmations join data.series_dims using (line_no) where load_no = any($1)
         union all
         select series_no, false from data.statements join data.series_dims using (line_no) where load_no = any($1)) s
       group by series_no
     ), lines as materialized (
       select series_no, line_no, complete from spoken_of join data.series_dims using (series_no)
     ), stored as (
       select n.series_no, o.line_no, o.date, n.complete or o.load_no = any($1) as said
       from lines n join data.observations o on o.line_no = n.line_no and o.superseded_on = 'infinity'
       union all
       select n.series_no, o.line_no, o.date, n.complete or o.load_no = any($1)
       from lines n join data.observations o on o.line_no = n.line_no and o.superseded_on <> 'infinity'
     ), inserted as (
       insert into fold_points
       select series_no, line_no, date from stored where said
       union
       select n.series_no, m.line_no, m.date from lines n join data.statements m using (line_no) where m.load_no = any($1)
       union
       select n.series_no, m.line_no, m.date from lines n join data.statements m using (line_no) where n.complete
       union
       select o.series_no, o.line_no, o.date
       from (select line_no, range_agg(dates) as dates from data.confirmations
             where load_no = any($1) group by line_no) f
       join stored o using (line_no) where f.dates @> o.date
       returning 1
     )
     select count(*)::int as points from inserted`,
    [loadNos],
  );
  await on.query('analyze fold_points');
  return entryAt(found, 0).points;
}

/**
 * The days after parameter 1 on which loads of the series were retracted or restored: series_no, load_no, day.
 * @param series a query of series_no. An erased load is active on no day.
 */
const retractionDays = (series: string): string => `
  with retracted as materialized (
    select l.load_no, e.day
    from data.loads l cross join lateral unnest(l.out_of_force) r cross join lateral (values (lower(r)), (upper(r))) e (day)
    where l.out_of_force <> '{}' and l.erased_by is null and e.day > $1
  )
  select v.series_no, load_no, r.day from retracted r join data.vintages v using (load_no) where v.series_no in (${series})
  union
  select d.series_no, load_no, r.day from retracted r join data.confirmations f using (load_no) join data.series_dims d using (line_no)
  where d.series_no in (${series})`;

const backfilled = 'select series_no from load_series where backfill';

/** Whether a load of one of the same series was retracted or restored after the vintage of this load, which is old. */
export async function hasRetractionsAfter(on: Transaction, load: LoadRow): Promise<boolean> {
  return (await on.query(`${retractionDays(backfilled)} limit 1`, [load.vintage])).length > 0;
}

/** Fills fold_points with the points of those series that the load has just stored. */
export async function findPointsOfBackfill(on: Transaction, load: LoadRow): Promise<void> {
  await on.query(
    `insert into fold_points
     with turned as materialized (select distinct series_no from (${retractionDays(backfilled)}) t)
     select p.series_no, p.line_no, p.date from load_points p join turned using (series_no)
     union
     select series_no, o.line_no, o.date
     from turned join data.series_dims using (series_no) join data.observations o using (line_no) where $2`,
    [load.vintage, load.complete],
  );
  await on.query('analyze fold_points');
}

const isActiveAt = (at: string): string =>
  `l.retracts is null and l.erased_by is null and not l.out_of_force @> ${at}.day`;
const point = 'series_no, line_no, date';
/** The columns that identify a point within a series. */
const key = 'line_no, date';

/**
 * The statements about the point by the loads active at w.day, until the end of it; the newest is the value. For one load, a recorded value
 * (rank 0) comes before the value visible on the day. At least one row for each of fold_wanted. All are joins of tables, since a million
 * points are folded, except for confirmations: a point may be in hundreds, and the newest usually decides. Confirmations of versions before
 * 000120 may belong to a load of another day: the load was not recorded.
 */
const statements = `
  select ${point}, w.day, o.published_on, o.load_no, 0 as rank, true as states, o.value, o.status
  from fold_wanted w join fold_rows o using (${point}) join data.loads l using (load_no)
  where o.is_own and o.published_on <= w.day and ${isActiveAt('w')}
  union all
  select ${point}, w.day, m.published_on, m.load_no, 0, m.states, m.value, m.status
  from fold_wanted w join data.statements m using (${key}) join data.loads l using (load_no)
  where m.published_on <= w.day and ${isActiveAt('w')}
  union all
  select p.*, f.* from fold_wanted p cross join lateral (
    select f.published_on, f.load_no, 1, true, o.value, o.status
    from data.confirmations f join data.loads l using (load_no) join fold_rows o on ${isValidAt('o', 'p', 'f.published_on')}
    where f.line_no = p.line_no and f.published_on <= p.day and f.dates @> p.date
      and (l.vintage <> f.published_on or ${isActiveAt('p')})
    order by f.published_on desc, f.load_no desc limit 1) f
  union all
  select w.*, v.published_on, v.load_no, 1, o.published_on is not null, o.value, o.status
  from fold_wanted w join complete v using (series_no, day)
  left join fold_rows o on ${isValidAt('o', 'w', 'v.published_on')}
  union all
  select w.*, '-infinity', 0, 1, false, null, null from fold_wanted w`;

/** The newest complete vintage of each series that is active at a day. */
const complete = `
  select d.series_no, d.day, v.published_on, v.load_no
  from (select distinct series_no, day from fold_wanted) d cross join lateral (
    select v.published_on, v.load_no from data.vintages v join data.loads l using (load_no)
    where v.series_no = d.series_no and v.published_on <= d.day and v.complete and ${isActiveAt('d')}
    order by v.published_on desc, v.load_no desc limit 1) v`;

/** Fills fold_rows for the points of fold_points; `is_own`: see isOwnRow. */
async function findRows(on: Transaction): Promise<void> {
  for (const isStored of [`o.superseded_on = 'infinity'`, `o.superseded_on <> 'infinity'`])
    await on.query(
      `insert into fold_rows
       select ${point}, o.published_on, o.superseded_on, o.load_no, coalesce(${isOwnRow('o', 'l')}, false), o.value, o.status
       from fold_points join data.observations o using (${key}) left join data.loads l using (load_no) where ${isStored}`,
    );
  await on.query('create index if not exists fold_rows_point on fold_rows (line_no, date)');
  await on.query('analyze fold_rows');
}

/**
 * Fills fold_days for the points of fold_points, from fold_rows.
 * @param days a query of the days of each point: series_no, line_no, date, day.
 */
async function fold(on: Transaction, days: string, values: readonly unknown[]): Promise<void> {
  // In index order, so that the lookups of confirmations find cached pages.
  await on.query(`insert into fold_wanted select * from (${days}) d order by ${point}, day`, [...values]);
  await on.query('analyze fold_wanted');
  await on.query(
    `insert into fold_days
     with complete as materialized (${complete})
     select n.series_no, n.line_no, n.date, n.day, old.published_on, old.published_on is not null, old.value, old.status,
       n.states, n.value, n.status
     from (
       select distinct on (${point}, day) * from (${statements}) said
       order by ${point}, day, published_on desc, load_no desc, rank) n
     left join fold_rows old on ${isValidAt('old', 'n', 'n.day')}`,
  );
  await on.query('analyze fold_days');
}

/** Recomputes the points at one day. */
export async function foldAt(on: Transaction, day: string): Promise<void> {
  await findRows(on);
  await fold(on, 'select *, $1::date as day from fold_points', [day]);
}

/** The points of the dates that f confirms, by the index: a join by series alone compares every confirmation with every point. */
const ofDates = `
  select p.* from fold_points p
  where p.line_no = f.line_no and p.date >= lower(f.period) and p.date < upper(f.period) offset 0`;

/**
 * Recomputes the points at `day`, and at every later day on which their value may change: the day of a load, or of the retraction or
 * restoration of a load that contains the point.
 */
export async function foldSince(on: Transaction, day: string): Promise<void> {
  await findRows(on);
  await on.query('create index if not exists fold_points_point on fold_points (line_no, date)');
  await fold(
    on,
    `with confirmed as materialized (
       select d.series_no, f.line_no, f.published_on, f.load_no, period
       from (select distinct series_no, line_no from fold_points) d join data.confirmations f using (line_no)
       cross join lateral unnest(f.dates) period
     )
     select *, $1::date as day from fold_points
     union
     select ${point}, e.day from fold_rows o
     cross join lateral (values (o.published_on), (o.superseded_on)) e (day) where e.day > $1 and e.day < 'infinity'
     union
     select p.*, m.published_on from fold_points p join data.statements m using (${key})
     where m.published_on > $1
     union
     select p.*, f.published_on from confirmed f cross join lateral (${ofDates}) p where f.published_on > $1
     union
     select p.*, v.published_on from fold_points p join data.vintages v using (series_no)
     where v.published_on > $1 and v.complete
     union
     (with turns as materialized (${retractionDays('select series_no from fold_points')})
      select ${point}, t.day from fold_rows o join turns t using (series_no, load_no) where o.is_own
      union all
      select p.*, t.day from fold_points p join data.statements m using (${key}) join turns t using (series_no, load_no)
      union all
      select p.*, t.day from turns t join confirmed f using (series_no, load_no) cross join lateral (${ofDates}) p
      union all
      select p.*, t.day from turns t join data.vintages v using (series_no, load_no)
      join fold_points p using (series_no) where v.complete)`,
    [day],
  );
}
