// The statement about the vintages of a series. Hides that one vintage may have come in several loads.
import type { Queryable } from '../../kernel/database.ts';
import { utc } from '../instants.sql.ts';

/** A day on which the series was published anew, as it is sent. */
interface Vintage extends Record<string, unknown> {
  vintage: string;
  points_new: number;
  points_revised: number;
  points_deleted: number;
  /** When the last load of it came in, UTC. */
  loaded_at: string;
}

interface VintagesFilter {
  seriesNo: number;
  /** Inclusive. */
  from: string;
  /** Inclusive. */
  to: string;
  sort: 'vintage' | '-vintage';
  limit: number;
}

/** The vintages that changed something, in order of their day. */
export async function listVintages(database: Queryable, filter: VintagesFilter): Promise<Vintage[]> {
  const order = filter.sort === 'vintage' ? 'asc' : 'desc';
  return database.query<Vintage>(
    `select v.published_on as vintage, sum(v.points_new) as points_new, sum(v.points_revised) as points_revised,
       sum(v.points_deleted) as points_deleted,
       ${utc('max(l.loaded_at)')} as loaded_at
     from data.vintages v join data.loads l using (load_no)
     where v.series_no = $1 and v.published_on between $2 and $3
     group by v.published_on having sum(v.points_new + v.points_revised + v.points_deleted) > 0
     order by v.published_on ${order} limit $4`,
    [filter.seriesNo, filter.from, filter.to, filter.limit],
    `vintages_${order}`,
  );
}
