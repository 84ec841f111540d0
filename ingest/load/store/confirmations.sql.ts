// The points that a partial load repeats unchanged: stored as runs of dates in data.confirmations, for each load of a day.
// A run may span dates at which the series has no point, but never a point that the load leaves out.
import type { Transaction } from '../../../kernel/database.ts';
import type { LoadRow } from './load-record.sql.ts';

/**
 * Stores confirmations for the points of load_points that are not in load_changes, even where an earlier load of the same day has the same value,
 * as that load may be retracted. Runs before storeChanges because it reads the previous state.
 * `span`: the combinations of series and dimensions with points to confirm, and the dates that the load spans. `whole`: the load has every
 * existing point in the span, so the span is one run; others are interrupted by points which the load omits.
 */
export async function insertConfirmations(on: Transaction, load: LoadRow): Promise<void> {
  await on.query(
    `insert into data.confirmations (line_no, published_on, load_no, dates)
     with staged as (
       select p.line_no, s.backfill, count(*) as points,
         min(p.date) as first_date, max(p.date) as last_date
       from load_points p join load_series s using (series_no)
       where not s.fresh
       group by p.line_no, s.backfill
     ), changed as (
       select line_no, count(*) as points, count(*) filter (where began_on is null) as new_points
       from load_changes where states group by line_no
     ), unchanged as (
       select staged.*, staged.points - coalesce(changed.new_points, 0) as points_standing
       from staged left join changed using (line_no)
       where staged.points > coalesce(changed.points, 0)
     ), span as materialized (
       select u.*, not u.backfill and u.points_standing = live.points as whole
       from unchanged u, lateral (
         select count(*) as points from data.observations o
         where not u.backfill and o.line_no = u.line_no
           and o.superseded_on = 'infinity' and o.date between u.first_date and u.last_date) live
     ), following as (
       select o.line_no, o.date
       from span join data.observations o using (line_no)
       where not span.whole and not span.backfill and o.superseded_on = 'infinity'
         and o.date between span.first_date and span.last_date
       union all
       select t.line_no, t.date
       from load_later_state t join span using (line_no) where not span.whole
     ), runs as (
       select t.line_no, t.date,
         p.line is not null and c.date is null as needed,
         count(*) filter (where p.line is null)
           over (partition by t.line_no order by t.date) as run
       from following t
       left join load_points p on (p.line_no, p.date) = (t.line_no, t.date)
       left join load_changes c on (c.line_no, c.date) = (t.line_no, t.date)
     ), ranges as (
       select line_no,
         daterange(min(date) filter (where needed), max(date) filter (where needed), '[]') as dates
       from runs group by line_no, run having bool_or(needed)
     )
     select line_no, $1::date, $2::bigint, datemultirange(daterange(first_date, last_date, '[]'))
     from span where whole
     union all
     select line_no, $1, $2, range_agg(dates) from ranges group by line_no`,
    [load.vintage, load.loadNo],
  );
}

/**
 * Removes the dates of points that the load adds from the confirmation runs of its day and, for a backfill, of later days: those runs did
 * not include the points, which did not exist then.
 */
export async function narrowConfirmations(on: Transaction, load: LoadRow): Promise<void> {
  await on.query(
    `with added as (
       select line_no, ends_on, range_agg(daterange(date, date, '[]')) as dates
       from load_changes where began_on is null group by line_no, ends_on
     ), passed_over as (
       select f.line_no, f.published_on, f.load_no, range_agg(a.dates) as dates
       from added a join data.confirmations f using (line_no)
       where f.published_on >= $1 and f.published_on < a.ends_on and f.dates && a.dates and f.load_no <> $2
       group by f.line_no, f.published_on, f.load_no
     )
     update data.confirmations f set dates = f.dates - p.dates
     from passed_over p
     where (f.line_no, f.published_on, f.load_no) = (p.line_no, p.published_on, p.load_no)`,
    [load.vintage, load.loadNo],
  );
}
