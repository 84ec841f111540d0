// The statement that reads the record of loads, for the operator.
import type { Queryable } from '../../kernel/database.ts';

export interface LoadEntry {
  load_no: number;
  /** ISO 8601, UTC. */
  loaded_at: string;
  dataset: string;
  /** Of a retraction: of the load that it retracts. */
  source_name: string;
  vintage: string;
  complete: boolean;
  rows_read: number;
  rows_rejected: number;
  points_new: number;
  points_revised: number;
  points_unchanged: number;
  points_deleted: number;
  /** The first load of the same file, if the file has many vintages. */
  part_of: number | null;
  /** It is a retraction of that load. */
  retracts: number | null;
  erases: boolean;
  reason: string | null;
  /** The retraction that put it out of force, or erased it; null while it is in force. */
  retracted_by: number | null;
  is_erased: boolean;
}

export interface LoadQuery {
  loadNo?: number;
  dataset?: string;
  /** Only older loads. */
  before?: number;
  limit: number;
}

/** The loads, newest first. A retraction is not in force once its load was retracted again, or is in force again. */
export function listLoads(
  on: Queryable,
  { loadNo, dataset, before, limit }: LoadQuery,
): Promise<LoadEntry[]> {
  return on.query<LoadEntry>(
    `select l.load_no, to_char(l.loaded_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as loaded_at, l.dataset,
       l.source_name, l.vintage, l.complete, l.rows_read, l.rows_rejected, l.points_new, l.points_revised,
       l.points_unchanged, l.points_deleted, l.part_of, l.retracts, l.erases, l.reason,
       coalesce(l.erased_by, (
         select max(r.load_no) from data.loads r
         where r.retracts = case when l.retracts is null then coalesce(l.part_of, l.load_no) else l.load_no end
           and (l.retracts is not null or upper_inf(l.out_of_force)))) as retracted_by,
       l.erased_by is not null as is_erased
     from data.loads l
     where ($1::bigint is null or l.load_no = $1) and ($2::text is null or l.dataset = $2)
       and ($3::bigint is null or l.load_no < $3)
     order by l.load_no desc limit $4`,
    [loadNo ?? null, dataset ?? null, before ?? null, limit],
  );
}

/** The ids of series that the load changed or stated whole, sorted; at most so many. */
export async function seriesOfLoad(
  on: Queryable,
  loadNo: number,
  limit: number,
): Promise<{ count: number; series: string[] }> {
  const [row] = await on.query<{ count: number; series: string[] }>(
    `with ids as materialized (
       select distinct s.series_id from data.vintages v join data.series s using (series_no) where v.load_no = $1
     )
     select (select count(*)::int from ids) as count,
       array(select series_id from ids order by series_id collate "C" limit $2) as series`,
    [loadNo, limit],
  );
  if (row === undefined) throw new Error('an aggregate always gives one row');
  return row;
}
