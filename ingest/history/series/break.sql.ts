// The statements about the breaks of one series.
import type { Transaction } from '../../../kernel/database.ts';
import { insertFormerFacts } from '../../load/store/former-facts.sql.ts';

/** The last break of a series. */
export interface LastBreak {
  date: string;
  /** The id of the series as which it continues from then on; null if the break changes the unit. */
  continuedBy: string | null;
}

/** Undefined if the series has no break. A continuation as another series comes after all other breaks. */
export async function findLastBreak(on: Transaction, seriesNo: number): Promise<LastBreak | undefined> {
  const [row] = await on.query<LastBreak>(
    `select date, null as "continuedBy" from data.series_breaks where series_no = $1
     union all
     select c.date, n.series_id from data.series_continuations c join data.series n on n.series_no = c.continued_by
     where c.series_no = $1
     order by date desc limit 1`,
    [seriesNo],
  );
  return row;
}

/** Records the break; the points before it are in the present unit of the series. */
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

/** Removes the last break: the series gets the unit from before it. */
export async function deleteBreak(
  on: Transaction,
  { seriesNo, date, loadNo }: { seriesNo: number; date: string; loadNo: number },
): Promise<void> {
  await on.query(
    `with removed as (
       delete from data.series_breaks where series_no = $1 and date = $2 returning from_unit, from_unit_multiplier
     ), kept as (${insertFormerFacts('series', '$1', { load: '$3' })})
     update data.series set unit = r.from_unit, unit_multiplier = r.from_unit_multiplier, data_version = $3,
       row_version = row_version + 1, updated_at = now()
     from removed r where series_no = $1`,
    [seriesNo, date, loadNo],
  );
}
