// The queries of `almanac vintages`.
import type { Queryable } from '../../../kernel/database.ts';

export interface VintageRow {
  /** `YYYY-MM-DD`. */
  vintage: string;
  points_new: number;
  points_revised: number;
  points_deleted: number;
}

/** The vintages of the series with that id, now or earlier, oldest first; null if the series does not exist. */
export async function findVintages(on: Queryable, seriesId: string): Promise<VintageRow[] | null> {
  const [series] = await on.query<{ series_no: number | null }>(
    `select coalesce(
       (select series_no from data.series_aliases where alias = $1),
       (select series_no from data.series where series_id = $1)) as series_no`,
    [seriesId],
  );
  if (!series?.series_no) return null;
  return on.query<VintageRow>(
    `select published_on as vintage, sum(points_new)::int as points_new, sum(points_revised)::int as points_revised,
            sum(points_deleted)::int as points_deleted
     from data.vintages where series_no = $1 group by published_on
     having sum(points_new + points_revised + points_deleted) > 0 order by published_on`,
    [series.series_no],
  );
}
