// The statements about the continuation of a series as another one.
import type { Transaction } from '../../../kernel/database.ts';
import { entryAt } from '../../../kernel/entries.ts';
import { markChanged } from '../../load/store/after-series-change.sql.ts';

/** The ids of the series that continue as this one. */
export async function findContinued(on: Transaction, seriesNo: number): Promise<string[]> {
  const rows = await on.query<{ id: string }>(
    `select s.series_id as id from data.series_continuations c join data.series s using (series_no)
     where c.continued_by = $1 order by s.series_id`,
    [seriesNo],
  );
  return rows.map(({ id }) => id);
}

/** Whether the series continues as the other one, directly or through further series. */
export async function continuesAs(on: Transaction, seriesNo: number, other: number): Promise<boolean> {
  const rows = await on.query(
    `with recursive later as (
       select continued_by as series_no from data.series_continuations where series_no = $1
       union select c.continued_by from later join data.series_continuations c using (series_no)
     )
     select from later where series_no = $2`,
    [seriesNo, other],
  );
  return rows.length > 0;
}

export async function readFrequency(on: Transaction, seriesNo: number): Promise<string> {
  const rows = await on.query<{ frequency: string }>(
    'select frequency from data.series where series_no = $1',
    [seriesNo],
  );
  return entryAt(rows, 0).frequency;
}

/** Today's points from the date on, published as missing or with a value: how many, and the date of the last. */
export async function findPointsFrom(
  on: Transaction,
  seriesNo: number,
  date: string,
): Promise<{ count: number; last: string | null }> {
  const found = await on.query<{ count: number; last: string | null }>(
    `select count(*)::int as count, max(date) as last
     from data.series_dims join data.observations using (line_no)
     where series_no = $1 and date >= $2 and superseded_on = 'infinity'`,
    [seriesNo, date],
  );
  return entryAt(found, 0);
}

/** Records that the series continues as the other one. */
export async function insertContinuation(
  on: Transaction,
  added: {
    seriesNo: number;
    date: string;
    continuedBy: number;
    note: string | null;
    declaredOn: string;
    loadNo: number;
  },
): Promise<void> {
  await on.query(
    `insert into data.series_continuations (series_no, date, continued_by, note, declared_on, load_no)
     values ($1, $2, $3, $4, $5, $6)`,
    [added.seriesNo, added.date, added.continuedBy, added.note, added.declaredOn, added.loadNo],
  );
  await markChanged(on, [added.seriesNo, added.continuedBy], added.loadNo);
}

/** Removes the continuation of the series. */
export async function deleteContinuation(
  on: Transaction,
  { seriesNo, loadNo }: { seriesNo: number; loadNo: number },
): Promise<void> {
  const removed = await on.query<{ continued_by: number }>(
    'delete from data.series_continuations where series_no = $1 returning continued_by',
    [seriesNo],
  );
  await markChanged(on, [seriesNo, entryAt(removed, 0).continued_by], loadNo);
}
