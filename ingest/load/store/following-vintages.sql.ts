// Stores a file of many vintages. Vintages later than all stored vintages of their series are stored in one pass over the rows of the file;
// the previous value of a row is that of the file's earlier vintage, else the live row. Vintages whose statements are all on record change
// nothing: only the repetition is recorded. Any other vintage is compared on its own, by ingest/load/store/store-difference.sql.ts. All three ways
// store the same rows.
import type { Transaction } from '../../../kernel/database.ts';
import { livePoints, type LoadCounts } from './load-record.sql.ts';
import { isOwnRow } from './stated-values.sql.ts';

/**
 * load_stated: how many points each vintage of the file contains, by series and dimensions.
 * load_places: the vintages of each series, numbered from 1 among those that follow.
 * load_steps: the live rows (place 0) and the changes of the points: the value that begins with the vintage at `place`, or a deletion.
 */
export async function createPlaces(on: Transaction): Promise<void> {
  await on.query(`
    create temp table load_stated (
      series_no integer not null, line_no integer not null, vintage date not null,
      points integer not null, first_date date not null, last_date date not null
    ) on commit drop`);
  await on.query(`
    create temp table load_places (
      series_no integer not null, vintage date not null, place integer not null, load_no bigint not null,
      points integer not null,      -- that it states
      follows boolean not null,     -- no vintage of its day or later is stored, and nothing of the series was retracted on it or later
      recorded boolean not null default false -- all that it states is stored
    ) on commit drop`);
  await on.query(`
    create temp table load_steps (
      series_no integer not null, line_no integer not null, date date not null, place integer not null,
      was_there boolean not null,   -- the point existed before
      states boolean not null, value numeric, status text -- states nothing: the point is deleted
    ) on commit drop`);
}

/**
 * Inserts a load for each vintage of load_rows, oldest first, and determines how each is stored. From the day on which a load was
 * retracted, an older vintage of the file may become visible again, although that day has changed nothing so far; up to that day no vintage
 * counts as following.
 * @returns the vintages that must be stored on their own, in that order and before `storeFollowing`.
 */
export async function planVintages(
  on: Transaction,
  load: { dataset: string; sourceName: string; complete: boolean },
): Promise<{ vintage: string; loadNo: number }[]> {
  await on.query(
    `insert into load_stated
     select series_no, line_no, vintage, count(*), min(date), max(date) from load_rows
     group by series_no, line_no, vintage`,
  );
  await on.query('analyze load_stated');
  await on.query(
    `with loads as (
       insert into data.loads (dataset, source_name, vintage, complete, keeps_statements)
       select $1, $2, vintage, $3, true from (select distinct vintage from load_stated order by vintage) vintages
       returning vintage, load_no
     ), retracted as materialized (
       select load_no, max(greatest(lower(r), upper(r))) as last from data.loads, unnest(out_of_force) r
       where out_of_force <> '{}' group by load_no
     ), turned as (
       select series_no, max(r.last) as last from (
         select series_no, v.load_no from data.vintages v
         union all
         select series_no, c.load_no from data.confirmations c join data.series_dims using (line_no)) said join retracted r using (load_no)
       where series_no in (select series_no from load_stated) group by series_no
     ), stored as materialized (
       select series_no, greatest(
         (select max(v.published_on) from data.vintages v where v.series_no = s.series_no),
         (select max(c.published_on) from data.series_dims d join data.confirmations c using (line_no) where d.series_no = s.series_no),
         t.last, '-infinity') as last
       from (select distinct series_no from load_stated) s left join turned t using (series_no)
     )
     insert into load_places
     select series_no, vintage, row_number() over (partition by series_no, follows order by vintage), load_no, points, follows
     from (select series_no, vintage, vintage > last as follows, sum(points) as points
           from load_stated join stored using (series_no) group by series_no, vintage, last) stated
     join loads using (vintage)`,
    [load.dataset, load.sourceName, load.complete],
  );
  await on.query('analyze load_places');
  await findRecorded(on, load.complete);
  return on.query(
    `select distinct vintage, load_no as "loadNo" from load_places where not follows and not recorded order by vintage`,
  );
}

/** An erased load leaves nothing, so its day counts as neither loaded nor retracted. */
const wasRetracted = `l.out_of_force <> '{}' and l.erased_by is null`;

/**
 * Finds the vintages that state nothing new: each value is visible at that day, and a load of that day is on record as having stated it, so
 * that no older vintage of the file can change it either. A day with a retracted load is compared point by point. A row that ended
 * within its day is found by `<=`: with equalities alone PostgreSQL may hash the whole table instead.
 */
async function findRecorded(on: Transaction, complete: boolean): Promise<void> {
  const stated = complete
    ? 'p.known'
    : `(p.known
       or o.published_on = r.vintage and exists (
         select from data.loads l where l.load_no = o.load_no and ${isOwnRow('o', 'l')})
       or exists (select from data.confirmations f
         where (f.line_no, f.published_on) = (r.line_no, r.vintage) and f.dates @> r.date)
       or exists (select from data.statements m
         where (m.line_no, m.date, m.published_on) = (r.line_no, r.date, r.vintage) and m.states)
       or exists (select from data.observations c join data.loads l using (load_no)
         where (c.line_no, c.date, c.published_on) = (r.line_no, r.date, r.vintage)
           and c.superseded_on <> 'infinity' and c.superseded_on <= r.vintage and ${isOwnRow('c', 'l')}))`;
  await on.query(
    `with earlier as materialized (
       select p.*, exists (select from data.vintages v where v.series_no = p.series_no and v.published_on = p.vintage
                           and v.complete) as known
       from load_places p
       where not follows
         and not exists (select from data.vintages v join data.loads l on l.load_no = v.load_no
           where v.series_no = p.series_no and v.published_on = p.vintage and l.vintage = p.vintage and ${wasRetracted})
         and not exists (select from data.series_dims d join data.confirmations f using (line_no)
           join data.loads l on l.load_no = f.load_no
           where d.series_no = p.series_no and f.published_on = p.vintage and ${wasRetracted})
     ), different as (
       select distinct r.series_no, r.vintage
       from load_rows r join earlier p using (series_no, vintage)
       left join lateral (
         select l.load_no, l.published_on, l.value, l.status from data.observations l
         where (l.line_no, l.date) = (r.line_no, r.date)
           and l.superseded_on = 'infinity' and l.published_on <= r.vintage
         union all
         (select c.load_no, c.published_on, c.value, c.status from data.observations c
          where (c.line_no, c.date) = (r.line_no, r.date)
            and c.superseded_on <> 'infinity' and c.published_on <= r.vintage and c.superseded_on > r.vintage
          order by c.published_on desc limit 1)
         limit 1) o on true
       where o.published_on is null or o.value is distinct from r.value or o.status is distinct from r.status
         or not ${stated}
     )
     ${complete ? existing : ''}
     update load_places p set recorded = true
     from earlier e where (e.series_no, e.vintage) = (p.series_no, p.vintage)
       and (p.series_no, p.vintage) not in (select series_no, vintage from different)
       ${complete ? 'and p.points = (select points from existing x where x.series_no = p.series_no and x.day <= p.vintage order by x.day desc limit 1)' : ''}`,
  );
}

/** How many points of each series exist from a day on: those begun by then, less those that have ended. */
const existing = `, existing as materialized (
  select series_no, day, sum(sum(change)) over (partition by series_no order by day) as points
  from (select distinct series_no from earlier) s join data.series_dims using (series_no) join data.observations o using (line_no),
    lateral (values (o.published_on, 1), (o.superseded_on, -1)) as changes (day, change)
  group by series_no, day)`;

/** Puts the rows of one vintage that is stored on its own into load_points, replacing those of the previous one. */
export async function stageVintage(on: Transaction, vintage: string): Promise<void> {
  await on.query('truncate load_points');
  await on.query(
    `insert into load_points
     select r.line, r.series_no, r.line_no, r.date, r.value, r.status
     from load_rows r join load_places p using (series_no, vintage)
     where r.vintage = $1 and not p.follows and not p.recorded`,
    [vintage],
  );
}

/** Indexes load_rows, so that `stageVintage` finds the rows of a vintage without reading all. */
export async function indexVintages(on: Transaction): Promise<void> {
  await on.query('create index on load_rows (vintage)');
}

/**
 * Stores all vintages that follow. @param complete points that a vintage omits are deleted as of it.
 * @returns the counts of each load, including those of the recorded vintages.
 */
export async function storeFollowing(
  on: Transaction,
  complete: boolean,
): Promise<(LoadCounts & { loadNo: number })[]> {
  await findSteps(on, complete);
  if (!complete) await confirm(on);
  await storeSteps(on);
  await restate(on, complete);
  return record(on, complete);
}

/** Fills load_steps. Without `complete`, a point that exists once exists in every later vintage. */
async function findSteps(on: Transaction, complete: boolean): Promise<void> {
  const was_there = complete ? 'before is not null and before = place - 1' : 'before is not null';
  await on.query(
    `insert into load_steps
     with said as (
       select r.series_no, r.line_no, r.date, p.place, r.value, r.status
       from load_rows r join load_places p using (series_no, vintage) where p.follows
       union all
       select s.series_no, o.line_no, o.date, 0, o.value, o.status
       from ${complete ? statedLines : statedLinesWithin} s join data.observations o using (line_no)
       where o.superseded_on = 'infinity' ${complete ? '' : withinStatedDates}
     ), ordered as (
       select *, lag(place) over points as before, lead(place) over points as after,
         lag(value) over points as old_value, lag(status) over points as old_status
       from said window points as (partition by line_no, date order by place)
     )
     select series_no, line_no, date, place, ${was_there}, true, value, status
     from ordered
     where place = 0 or not (${was_there}) or value is distinct from old_value or status is distinct from old_status
     ${complete ? deletions : ''}`,
  );
  await on.query('create index on load_steps (line_no, date, place)');
  await on.query('analyze load_steps');
}

const statedLines = `(
  select series_no, line_no from data.series_dims where series_no in (select series_no from load_places where follows))`;
/** A partial vintage concerns only points within its dates. */
const statedLinesWithin = `(
  select series_no, line_no, min(first_date) as first_date, max(last_date) as last_date
  from load_stated join load_places using (series_no, vintage) where follows group by series_no, line_no)`;
const withinStatedDates = 'and o.date between s.first_date and s.last_date';
const deletions = `
  union all
  select series_no, line_no, date, place + 1, true, false, null, null
  from ordered join (select series_no, max(place) as last from load_places where follows group by series_no) p
    using (series_no)
  where place < p.last and after is distinct from place + 1`;

/**
 * Ends the live rows that are revised or deleted, and inserts the new ones, each with its end if it has one. `+ 0`: see compareWithLive.
 */
async function storeSteps(on: Transaction): Promise<void> {
  await on.query(
    `update data.observations o set superseded_on = p.vintage, superseded_load_no = p.load_no
     from (select series_no, line_no, date, place = 0 as is_live,
             lead(place) over (partition by line_no, date order by place) as place
           from load_steps) s
     join load_places p using (series_no, place)
     where s.is_live and p.follows and (o.line_no, o.date) = (s.line_no + 0, s.date)
       and o.superseded_on = 'infinity'`,
  );
  await on.query(
    `insert into data.observations
       (line_no, date, published_on, superseded_on, load_no, superseded_load_no, value, status)
     select line_no, date, vintage, coalesce(ends_on, 'infinity'), load_no, ended_by, value, status
     from (
       select s.*, p.vintage, p.load_no, lead(p.vintage) over points as ends_on, lead(p.load_no) over points as ended_by
       from load_steps s join load_places p using (series_no, place)
       where p.follows
       window points as (partition by s.line_no, s.date order by s.place)
     ) steps
     where states`,
  );
}

/**
 * Stores confirmations, as ingest/load/store/confirmations.sql.ts does for one vintage: the whole span of dates if the vintage has every
 * point that exists in it, otherwise the runs between the points that it omits.
 */
async function confirm(on: Transaction): Promise<void> {
  await on.query(
    `insert into data.confirmations (line_no, published_on, load_no, dates)
     with changed as (
       select line_no, place, count(*) as points, count(*) filter (where not was_there) as new_points
       from load_steps where place > 0 group by line_no, place
     ), span as materialized (
       select t.*, p.place, p.load_no, t.points - coalesce(c.new_points, 0) = existing.points as whole
       from load_stated t join load_places p using (series_no, vintage)
       left join changed c using (line_no, place),
       lateral (
         select count(*) as points from load_steps b
         where b.line_no = t.line_no and b.date between t.first_date and t.last_date
           and b.place < p.place and not b.was_there) existing
       where p.follows and t.points > coalesce(c.points, 0)
     ), runs as (
       select s.line_no, s.vintage, s.load_no, b.date, r.line is not null and c.place is null as needed,
         count(*) filter (where r.line is null)
           over (partition by s.line_no, s.vintage order by b.date) as run
       from span s
       join load_steps b on b.line_no = s.line_no and b.place < s.place and not b.was_there
         and b.date between s.first_date and s.last_date
       left join load_rows r on (r.line_no, r.date, r.vintage) = (s.line_no, b.date, s.vintage)
       left join load_steps c on (c.line_no, c.date, c.place) = (s.line_no, b.date, s.place)
       where not s.whole
     ), ranges as (
       select line_no, vintage, load_no,
         daterange(min(date) filter (where needed), max(date) filter (where needed), '[]') as dates
       from runs group by line_no, vintage, load_no, run having bool_or(needed)
     )
     select line_no, vintage, load_no, datemultirange(daterange(first_date, last_date, '[]'))
     from span where whole
     union all
     select line_no, vintage, load_no, range_agg(dates) from ranges
     group by line_no, vintage, load_no`,
  );
}

/**
 * Records that the recorded vintages also state their points, as the loads that stated them first may be retracted. A complete vintage of a
 * series gets one row; any other gets one row for each combination of dimensions, whose date ranges leave out the points that it omits.
 */
async function restate(on: Transaction, complete: boolean): Promise<void> {
  await on.query(
    complete
      ? `insert into data.vintages (series_no, published_on, load_no, complete)
         select series_no, vintage, load_no, true from load_places where recorded`
      : `insert into data.confirmations (line_no, published_on, load_no, dates)
         with recorded as materialized (
           select series_no, vintage, load_no from load_places where recorded
         ), lines as materialized (
           select line_no from data.series_dims where series_no in (select series_no from recorded)
         ), points as (
           select line_no, date, row_number() over (partition by line_no order by date) as number
           from (
             select o.line_no, o.date from lines r
             join data.observations o on o.line_no = r.line_no and o.superseded_on = 'infinity'
             union
             select o.line_no, o.date from lines r
             join data.observations o on o.line_no = r.line_no and o.superseded_on <> 'infinity') stored
         ), numbered as (
           select line_no, r.vintage, p.load_no, date,
             number - row_number() over (partition by line_no, r.vintage order by date) as run
           from recorded p join load_rows r using (series_no, vintage) join points using (line_no, date)
         ), runs as (
           select line_no, vintage, load_no, daterange(min(date), max(date), '[]') as dates
           from numbered group by line_no, vintage, load_no, run
         )
         select line_no, vintage, load_no, range_agg(dates) from runs
         group by line_no, vintage, load_no`,
  );
}

/** Inserts the vintages, updates the series, and adds those changed to load_changed. @returns the counts of each load. */
async function record(on: Transaction, complete: boolean): Promise<(LoadCounts & { loadNo: number })[]> {
  await on.query(
    `create temp table load_counts on commit drop as
     select p.*, coalesce(c.points_new, 0) as points_new, coalesce(c.points_revised, 0) as points_revised,
       coalesce(c.points_deleted, 0) as points_deleted
     from load_places p
     left join (
       select series_no, place, count(*) filter (where states and not was_there) as points_new,
         count(*) filter (where states and was_there) as points_revised, count(*) filter (where not states) as points_deleted
       from load_steps where place > 0 group by series_no, place) c on p.follows and (c.series_no, c.place) = (p.series_no, p.place)
     where p.follows or p.recorded`,
  );
  await on.query(
    `insert into data.vintages (series_no, published_on, load_no, complete, points_new, points_revised, points_deleted)
     select series_no, vintage, load_no, $1, points_new, points_revised, points_deleted
     from load_counts where follows and $1 or points_new + points_revised + points_deleted > 0`,
    [complete],
  );
  await on.query(
    `update data.series s set data_version = t.load_no, row_version = s.row_version + 1, last_updated = greatest(s.last_updated, t.vintage),
       observation_count = c.count, first_date = c.first_date, last_date = c.last_date
     from (select series_no, max(vintage) as vintage, max(load_no) as load_no from load_counts
           where points_new + points_revised + points_deleted > 0 group by series_no) t, ${livePoints} c
     where t.series_no = s.series_no`,
  );
  await on.query(
    `insert into load_changed
     select series_no, max(load_no), sum(points_revised + points_deleted) > 0 from load_counts
     where points_new + points_revised + points_deleted > 0 group by series_no`,
  );
  return on.query(
    `select load_no as "loadNo", sum(points_new)::bigint as "pointsNew", sum(points_revised)::bigint as "pointsRevised",
       sum(points_deleted)::bigint as "pointsDeleted",
       sum(points - points_new - points_revised)::bigint as "pointsUnchanged"
     from load_counts group by load_no`,
  );
}
