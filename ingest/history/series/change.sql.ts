// The statements of a change of one series.
import type { Transaction } from '../../../kernel/database.ts';
import { insertFormerFacts } from '../../load/store/former-facts.sql.ts';
import { changeNeighbours } from '../../load/store/after-series-change.sql.ts';

export interface FoundSeries {
  seriesNo: number;
  /** The present id. */
  id: string;
  /** The day of deletion, `YYYY-MM-DD`; null if the series is served. */
  deletedOn: string | null;
  /** It has the prices of a commodity, which determines its id and facts. */
  isOfItem: boolean;
  /** The requested id belonged to another series, which was merged into this one. */
  byMergedId: boolean;
  /** The id of the series into which it was merged, which now has its ids. */
  mergedInto: string | null;
}

/** The series with the ids, now or earlier, by the requested id. */
export const findByIds = (on: Transaction, ids: readonly string[]): Promise<Map<string, FoundSeries>> =>
  find(
    on,
    ids,
    `coalesce((select a.series_no from data.series_aliases a where a.alias = w.asked),
       (select o.series_no from data.series o where o.series_id = w.asked))`,
  );

/** The series with the id, now or earlier. */
export const findById = async (on: Transaction, id: string): Promise<FoundSeries | undefined> =>
  (await findByIds(on, [id])).get(id);

/** The series that was merged into another and had the id until then. */
export async function findMerged(on: Transaction, id: string): Promise<FoundSeries | undefined> {
  const merged = `(select o.series_no from data.series_aliases a join data.series o on o.series_no = a.merged_from
    where a.alias = w.asked and o.series_id = w.asked)`;
  return (await find(on, [id], merged)).get(id);
}

/** @param seriesNo SQL for the number of the series of `w.asked`. */
async function find(
  on: Transaction,
  ids: readonly string[],
  seriesNo: string,
): Promise<Map<string, FoundSeries>> {
  const rows = await on.query<FoundSeries & { asked: string }>(
    `select w.asked, s.series_no as "seriesNo", s.series_id as id, s.deleted_on as "deletedOn",
       exists (select from data.commodity_items i where i.series_no = s.series_no) as "isOfItem",
       exists (select from data.series_aliases a
         where a.alias = w.asked and a.series_no = s.series_no and a.merged_from is not null) as "byMergedId",
       (select n.series_id from data.series_aliases a join data.series n on n.series_no = a.series_no
        where a.alias = s.series_id) as "mergedInto"
     from unnest($1::text[]) as w (asked) join data.series s on s.series_no = ${seriesNo}`,
    [ids],
  );
  return new Map(rows.map(({ asked, ...series }) => [asked, series]));
}

/** The present id of the series and its earlier ones, sorted; at most 250, as an event has. */
export async function allIdsOf(on: Transaction, seriesNo: number): Promise<string[]> {
  const rows = await on.query<{ id: string }>(
    `select id from (select series_id as id from data.series where series_no = $1
       union select alias from data.series_aliases where series_no = $1) ids order by id collate "C" limit 250`,
    [seriesNo],
  );
  return rows.map(({ id }) => id);
}

/** Gives the series the new id; the old one becomes an earlier id, and the calendar names the new one, also in its former rows. */
export async function giveId(
  on: Transaction,
  { seriesNo, from, to, loadNo }: { seriesNo: number; from: string; to: string; loadNo: number },
): Promise<void> {
  await on.query(insertFormerFacts('aliases', '$1', { load: '$2' }), [seriesNo, loadNo]);
  await on.query('delete from data.series_aliases where series_no = $1 and alias = $2', [seriesNo, to]);
  await on.query('insert into data.series_aliases (alias, series_no) values ($1, $2)', [from, seriesNo]);
  await on.query(
    `with kept as (${insertFormerFacts('series', '$1', { load: '$3' })})
     update data.series set series_id = $2, data_version = $3, row_version = row_version + 1, updated_at = now()
     where series_no = $1`,
    [seriesNo, to, loadNo],
  );
  await on.query(
    'update data.releases set series_ids = array_replace(series_ids, $1, $2) where series_ids @> array[$1]',
    [from, to],
  );
  await on.query(
    `update data.replaced_rows r
     set content = jsonb_set(content, '{series_ids}', replace(content ->> 'series_ids', to_json($1::text)::text, to_json($2::text)::text)::jsonb)
     from data.releases k where k.row_no = r.row_no and r.content -> 'series_ids' ? $1`,
    [from, to],
  );
  await changeNeighbours(on, seriesNo);
}

/** Hides the series from all readers from the day on; null restores it. */
export async function setDeleted(
  on: Transaction,
  { seriesNo, deletedOn, loadNo }: { seriesNo: number; deletedOn: string | null; loadNo: number },
): Promise<void> {
  await on.query(
    `with kept as (${insertFormerFacts('series', '$1', { load: '$3' })})
     update data.series set deleted_on = $2, data_version = $3, row_version = row_version + 1, updated_at = now()
     where series_no = $1`,
    [seriesNo, deletedOn, loadNo],
  );
  await changeNeighbours(on, seriesNo);
}
