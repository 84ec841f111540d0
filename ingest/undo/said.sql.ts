// What loads stated, as it is on record: by a row that the load began, by data.statements, by data.confirmations, or by a complete
// vintage. The last two hold no value: it is what the day of the load shows, as whatever corrects it within the day keeps it first.
import type { Transaction } from '../../kernel/database.ts';
import type { LoadRow } from '../load/revise.sql.ts';

/** Whether the load of a row stated it: loads also move rows of others, to the day at which their own value ends. */
export const isOwnRow = (row: string, load: string): string =>
  `${load}.vintage = ${row}.published_on and ${load}.retracts is null and ${load}.erased_by is null`;

const ofPoint = (row: string): string =>
  `(${row}.series_no, ${row}.dims_no, ${row}.date) = (p.series_no, p.dims_no, p.date)`;

/** Rows of the point p: each stands in one of two indexes, so PostgreSQL must be told of both. */
export const rowsOfPoint = (columns: string, condition: string): string => `
  select ${columns} from data.observations o
  where ${ofPoint('o')} and o.superseded_on = 'infinity' and ${condition}
  union all
  select ${columns} from data.observations o
  where ${ofPoint('o')} and o.superseded_on <> 'infinity' and ${condition}`;

/** The row of the point p that stands at the end of a day. */
const standingAt = (day: string): string =>
  rowsOfPoint(
    'o.ctid as row_id, true as stands, o.value, o.status',
    `o.published_on <= ${day} and o.superseded_on > ${day}`,
  );

/**
 * Keeps what loads stated by a confirmation or a complete vintage, before the value of that day changes.
 * @param changed a query of the points p that change: `day`, and what stands there so far: `stood`, `old_value`, `old_status`.
 * @param loadNo of the load that changes them.
 */
async function keepStatements(
  on: Transaction,
  changed: string,
  loadNo: number,
  values: readonly unknown[] = [],
): Promise<void> {
  await on.query(
    `insert into data.statements (series_no, dims_no, date, published_on, load_no, states, value, status)
     select p.series_no, p.dims_no, p.date, p.day, l.load_no, p.stood, p.old_value, p.old_status
     from (${changed}) p cross join lateral (
       select v.load_no from data.vintages v
       where v.series_no = p.series_no and v.published_on = p.day and v.complete
       union
       select f.load_no from data.confirmations f
       where (f.series_no, f.dims_no, f.published_on) = (p.series_no, p.dims_no, p.day) and f.dates @> p.date and p.stood
     ) l
     where l.load_no <> $1
       and not exists (${rowsOfPoint('1', 'o.published_on = p.day and o.load_no = l.load_no')})
     on conflict do nothing`,
    [loadNo, ...values],
  );
}

/** Keeps what other loads of the day stated of the points of load_changes. Runs before they change. */
export function keepCorrected(on: Transaction, load: LoadRow): Promise<void> {
  return keepStatements(
    on,
    `select c.series_no, c.dims_no, c.date, $2::date as day, c.row_id is not null as stood, c.old_value, c.old_status
     from load_changes c join load_series s using (series_no) where s.rewrites`,
    load.loadNo,
    [load.vintage],
  );
}

/** Keeps what loads stated of the points whose history changes, on the days on which it does. */
export function keepFolded(on: Transaction, load: Pick<LoadRow, 'loadNo'>): Promise<void> {
  return keepStatements(on, `select * from fold_days where ${differs}`, load.loadNo);
}

/** Whether the fold of a point at a day is not what is stored. */
export const differs = `(stood <> stands or value is distinct from old_value or status is distinct from old_status)`;

/**
 * fold_points: the points to fold. fold_days: for each of them, on the days on which their value may change, what is stored
 * (`stood`, with the row) and what the fold of the loads in force says (`stands`).
 */
export async function createFold(on: Transaction): Promise<void> {
  await on.query(`
    create temp table if not exists fold_points (
      series_no integer not null, dims_no integer not null, date date not null
    ) on commit drop`);
  await on.query(`
    create temp table if not exists fold_days (
      series_no integer not null, dims_no integer not null, date date not null, day date not null,
      row_id tid, stood boolean not null, old_value numeric, old_status text,
      stands boolean not null, value numeric, status text
    ) on commit drop`);
  await on.query('truncate fold_points, fold_days');
}

/** Fills fold_points with all points that the loads may have stated. @returns how many. */
export async function findPointsOf(on: Transaction, loadNos: readonly number[]): Promise<number> {
  const [found] = await on.query<{ points: number }>(
    `with spoken_of as materialized (
       select series_no, bool_or(complete) as complete from (
         select series_no, complete from data.vintages where load_no = any($1)
         union all
         select series_no, false from data.confirmations where load_no = any($1)
         union all
         select series_no, false from data.statements where load_no = any($1)) s
       group by series_no
     ), stored as (
       select o.series_no, o.dims_no, o.date, s.complete or o.load_no = any($1) as said
       from spoken_of s join data.observations o on o.series_no = s.series_no and o.superseded_on = 'infinity'
       union all
       select o.series_no, o.dims_no, o.date, s.complete or o.load_no = any($1)
       from spoken_of s join data.observations o on o.series_no = s.series_no and o.superseded_on <> 'infinity'
     ), inserted as (
       insert into fold_points
       select series_no, dims_no, date from stored where said
       union
       select series_no, dims_no, date from data.statements where load_no = any($1)
       union
       select o.series_no, o.dims_no, o.date
       from (select series_no, dims_no, range_agg(dates) as dates from data.confirmations
             where load_no = any($1) group by series_no, dims_no) f
       join stored o using (series_no, dims_no) where f.dates @> o.date
       returning 1
     )
     select count(*)::int as points from inserted`,
    [loadNos],
  );
  await on.query('analyze fold_points');
  return found?.points ?? 0;
}

/** Fills fold_points with the points of the series that the load, an old vintage, has just stored. */
export async function findPointsOfBackfill(on: Transaction, load: LoadRow): Promise<void> {
  await on.query(
    `insert into fold_points
     select p.series_no, p.dims_no, p.date from load_points p join load_series s using (series_no) where s.backfill
     union
     select o.series_no, o.dims_no, o.date from load_series s join data.observations o using (series_no)
     where $1 and s.backfill`,
    [load.complete],
  );
  await on.query('analyze fold_points');
}

/** Whether a load was put out of force, or into it again, after the day. */
export async function hasRetractionsAfter(on: Transaction, day: string): Promise<boolean> {
  const rows = await on.query(
    `select from data.loads, unnest(out_of_force) r
     where out_of_force <> '{}' and (lower(r) > $1 or (not upper_inf(r) and upper(r) > $1)) limit 1`,
    [day],
  );
  return rows.length > 0;
}

const isInForce = `l.retracts is null and l.erased_by is null and not l.out_of_force @> p.day`;
const newestFirst = 'order by published_on desc, load_no desc limit 1';

/**
 * The last statement of the point p by the end of p.day, of the loads in force at that day. Of one load, what is kept with a value
 * comes before what the day shows. Confirmations of versions before 000120 may be of a load of another day: nobody knows whose they are.
 */
const lastSaid = `
  select * from (
    (select o.published_on, o.load_no, 0 as rank, true as states, o.value, o.status
     from data.observations o join data.loads l using (load_no)
     where ${ofPoint('o')} and o.superseded_on = 'infinity' and o.published_on <= p.day and ${isOwnRow('o', 'l')} and ${isInForce})
    union all
    (select o.published_on, o.load_no, 0, true, o.value, o.status
     from data.observations o join data.loads l using (load_no)
     where ${ofPoint('o')} and o.superseded_on <> 'infinity' and o.published_on <= p.day and ${isOwnRow('o', 'l')} and ${isInForce}
     ${newestFirst})
    union all
    (select m.published_on, m.load_no, 0, m.states, m.value, m.status
     from data.statements m join data.loads l using (load_no)
     where ${ofPoint('m')} and m.published_on <= p.day and ${isInForce}
     ${newestFirst})
    union all
    (select f.published_on, f.load_no, 1, true, o.value, o.status
     from data.confirmations f join data.loads l using (load_no) cross join lateral (${standingAt('f.published_on')}) o
     where (f.series_no, f.dims_no) = (p.series_no, p.dims_no) and f.published_on <= p.day and f.dates @> p.date
       and (l.vintage <> f.published_on or ${isInForce})
     ${newestFirst})
    union all
    (select v.published_on, v.load_no, 1, coalesce(o.stands, false), o.value, o.status
     from data.vintages v join data.loads l using (load_no) left join lateral (${standingAt('v.published_on')}) o on true
     where v.series_no = p.series_no and v.published_on <= p.day and v.complete and ${isInForce}
     ${newestFirst})
  ) said order by published_on desc, load_no desc, rank limit 1`;

/**
 * Fills fold_days for the points of fold_points. @param days a query of the days of each point: series_no, dims_no, date, day.
 */
async function fold(on: Transaction, days: string, values: readonly unknown[]): Promise<void> {
  await on.query(
    `insert into fold_days
     select p.series_no, p.dims_no, p.date, p.day, old.row_id, coalesce(old.stands, false), old.value, old.status,
       coalesce(said.states, false), said.value, said.status
     from (${days}) p
     left join lateral (${standingAt('p.day')}) old on true
     left join lateral (${lastSaid}) said on true`,
    [...values],
  );
  await on.query('analyze fold_days');
}

/** Folds the points at one day. */
export function foldAt(on: Transaction, day: string): Promise<void> {
  return fold(on, 'select *, $1::date as day from fold_points', [day]);
}

/** Folds the points at every day from one on that may change a value. */
export function foldSince(on: Transaction, day: string): Promise<void> {
  return fold(
    on,
    `select *, $1::date as day from fold_points
     union
     select p.*, e.day from fold_points p
     cross join lateral (${rowsOfPoint('o.published_on, o.superseded_on', 'o.superseded_on > $1')}) o
     cross join lateral (values (o.published_on), (o.superseded_on)) e (day) where e.day > $1 and e.day < 'infinity'
     union
     select p.*, m.published_on from fold_points p join data.statements m using (series_no, dims_no, date)
     where m.published_on > $1
     union
     select p.*, f.published_on from fold_points p join data.confirmations f using (series_no, dims_no)
     where f.published_on > $1 and f.dates @> p.date
     union
     select p.*, v.published_on from fold_points p join data.vintages v using (series_no)
     where v.published_on > $1 and v.complete
     union
     select p.*, e.day from fold_points p, (
       select lower(r) as day from data.loads, unnest(out_of_force) r
       union select upper(r) from data.loads, unnest(out_of_force) r where not upper_inf(r)) e
     where e.day > $1`,
    [day],
  );
}
