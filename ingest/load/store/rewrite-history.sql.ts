// Rewrites the history of points to match the fold (fold_days of stated-values.sql.ts): only of points whose history differs, from the first
// folded day on.
import type { Transaction } from '../../../kernel/database.ts';
import { entryAt } from '../../../kernel/entries.ts';
import { differs, isOwnRow } from './stated-values.sql.ts';

/** Fills load_changes with the points whose fold at the one day of fold_days differs from the stored value. */
export async function findFoldChanges(on: Transaction): Promise<void> {
  await on.query(
    `insert into load_changes
     select series_no, line_no, date, began_on, 'infinity', is_there, value, status, null, old_value, old_status
     from fold_days where ${differs}`,
  );
}

/**
 * Fills load_changes with the points whose history differs, each with the change of its newest value, and load_series with their series. A
 * point that changes only in the past counts as revised.
 * @returns how many points differ, and how many of them the load had not changed before.
 */
export async function findRewritten(on: Transaction): Promise<{ points: number; others: number }> {
  const found = await on.query<{ points: number; others: number }>(
    `with differing as (
       select line_no, date from fold_days where ${differs} group by line_no, date
     )
     select count(*)::int as points, count(*) filter (where not exists (
       select from load_changes c where (c.line_no, c.date) = (d.line_no, d.date)))::int as others
     from differing d`,
  );
  const counts = entryAt(found, 0);
  if (counts.points === 0) return counts;
  await on.query('truncate load_changes, load_series');
  await on.query(
    `insert into load_changes
     select series_no, line_no, date, case when was_there or not is_there then day end, 'infinity', is_there or not was_there,
       value, status, null, old_value, old_status
     from (
       select distinct on (line_no, date) *,
         bool_or(${differs}) over (partition by line_no, date) as is_rewritten
       from fold_days order by line_no, date, day desc) newest
     where is_rewritten`,
  );
  await on.query(
    `insert into load_series (series_no, fresh, backfill, rewrites, points, points_with_value)
     select distinct series_no, false, true, true, 0, 0 from load_changes`,
  );
  await on.query('analyze load_changes, load_series');
  return counts;
}

/** Removes dates from confirmations that skipped them because the point did not exist then, but now exists on that day. */
export async function narrowPassedOver(on: Transaction): Promise<void> {
  await on.query(
    `with passed_over as (
       select f.line_no, f.published_on, f.load_no, range_agg(daterange(d.date, d.date, '[]')) as dates
       from fold_days d join data.confirmations f
         on (f.line_no, f.published_on) = (d.line_no, d.day) and f.dates @> d.date
       where not d.was_there and d.is_there
       group by f.line_no, f.published_on, f.load_no
     )
     update data.confirmations f set dates = f.dates - p.dates from passed_over p
     where (f.line_no, f.published_on, f.load_no) = (p.line_no, p.published_on, p.load_no)`,
  );
}

const isRewritten = `(o.line_no, o.date) = (c.line_no, c.date)`;
/** The conditions of the two indexes of rows. */
const [live, closed] = [`o.superseded_on = 'infinity'`, `o.superseded_on <> 'infinity'`];

/** Replaces the rows of the points of load_changes, from the day on, with the recomputed ones. */
export async function rewriteRows(
  on: Transaction,
  { loadNo, day }: { loadNo: number; day: string },
): Promise<void> {
  for (const isStored of [live, closed]) {
    await on.query(
      `insert into data.statements (line_no, date, published_on, load_no, states, value, status)
       select o.line_no, o.date, o.published_on, o.load_no, true, o.value, o.status
       from load_changes c join data.observations o on ${isRewritten} and ${isStored} join data.loads l using (load_no)
       where o.published_on >= $1 and o.published_on < o.superseded_on and ${isOwnRow('o', 'l')}
       on conflict do nothing`,
      [day],
    );
    await on.query(
      `delete from data.observations o using load_changes c
       where ${isRewritten} and ${isStored} and o.published_on >= $1 and o.published_on < o.superseded_on`,
      [day],
    );
    await on.query(
      `update data.observations o set superseded_on = $1, superseded_load_no = coalesce(o.superseded_load_no, $2)
       from load_changes c where ${isRewritten} and ${isStored} and o.published_on < $1 and o.superseded_on > $1`,
      [day, loadNo],
    );
  }
  await on.query(
    `insert into data.observations
       (line_no, date, published_on, superseded_on, load_no, superseded_load_no, value, status)
     with steps as (
       select d.*, coalesce(lag(d.is_there) over point = d.is_there and lag(d.value) over point is not distinct from d.value
           and lag(d.status) over point is not distinct from d.status, false) as continues
       from fold_days d join load_changes c using (line_no, date)
       window point as (partition by d.line_no, d.date order by d.day)
     ), begun as (
       select line_no, date, day, coalesce(lead(day) over point, 'infinity') as ends_on, is_there, value, status
       from steps where not continues
       window point as (partition by line_no, date order by day)
     )
     select line_no, date, day, ends_on, $1::bigint, case when ends_on <> 'infinity' then $1::bigint end, value, status
     from begun where is_there`,
    [loadNo],
  );
}

/** Deletes all statements of the loads. Their rows that still show a value no longer count as statements. */
export async function forgetStatements(on: Transaction, loadNos: readonly number[]): Promise<void> {
  await on.query('delete from data.statements where load_no = any($1)', [loadNos]);
  await on.query(
    `delete from data.confirmations f using data.loads l
     where f.load_no = any($1) and l.load_no = f.load_no and l.vintage = f.published_on`,
    [loadNos],
  );
  await on.query('update data.vintages set complete = false where load_no = any($1) and complete', [loadNos]);
  await on.query(
    `delete from data.observations o using (select distinct line_no, date from fold_points) p
     where (o.line_no, o.date) = (p.line_no, p.date)
       and o.superseded_on <> 'infinity' and o.superseded_on = o.published_on and o.load_no = any($1)`,
    [loadNos],
  );
}

/** States of the changed series from before the load can no longer be read: pinned readers get 410. */
export async function invalidateEarlierStates(on: Transaction, loadNo: number): Promise<void> {
  await on.query('update data.vintages set takes_back = 0 where load_no = $1', [loadNo]);
}
