// The statements about the breaks of one series.
import type { Transaction } from '../../kernel/database.ts';

/** The date of the last break before which the points are in another unit; undefined if the series has none. */
export async function findLastBreak(on: Transaction, seriesNo: number): Promise<string | undefined> {
  const [row] = await on.query<{ date: string }>(
    'select date from data.series_breaks where series_no = $1 order by date desc limit 1',
    [seriesNo],
  );
  return row?.date;
}

/** Records the break; the points before it are in the unit that the series has at present. */
export async function insertBreak(
  on: Transaction,
  added: { seriesNo: number; date: string; note: string | null; declaredOn: string; loadNo: number },
): Promise<void> {
  await on.query(
    `insert into data.series_breaks (series_no, date, from_unit, from_unit_multiplier, note, declared_on, load_no)
     select series_no, $2, unit, unit_multiplier, $3, $4, $5 from data.series where series_no = $1`,
    [added.seriesNo, added.date, added.note, added.declaredOn, added.loadNo],
  );
}

/** Removes the last break: the series has the unit from before it. */
export async function deleteBreak(
  on: Transaction,
  { seriesNo, date, loadNo }: { seriesNo: number; date: string; loadNo: number },
): Promise<void> {
  await on.query(
    `with removed as (
       delete from data.series_breaks where series_no = $1 and date = $2 returning from_unit, from_unit_multiplier
     )
     update data.series set unit = r.from_unit, unit_multiplier = r.from_unit_multiplier, data_version = $3, updated_at = now()
     from removed r where series_no = $1`,
    [seriesNo, date, loadNo],
  );
}
