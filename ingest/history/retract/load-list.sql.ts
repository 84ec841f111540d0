// The statement that reads the record of loads, for the operator.
import type { Queryable } from '../../../kernel/database.ts';
import { entryAt } from '../../../kernel/entries.ts';
import { allRetractions } from './retract.sql.ts';

export interface LoadEntry {
  load_no: number;
  /** ISO 8601, UTC. */
  loaded_at: string;
  dataset: string;
  /** For a retraction: the dataset of the load that it retracts. */
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
  /** Set if it is a retraction: the load that it retracts. */
  retracts: number | null;
  erases: boolean;
  reason: string | null;
  /** The retraction that deactivated or erased it; for a retraction, the next one of the same file. Null while it is active. */
  retracted_by: number | null;
  is_erased: boolean;
  /** The database role, its address and client program, and the operator's account; null for a load of a version that did not record it. */
  loaded_by: string | null;
}

/** Whether a load is active: until a retraction deactivates it or erases it from the history. */
export type LoadStatus = 'in_force' | 'retracted' | 'erased';

export function statusOf({ is_erased: isErased, retracted_by: retractedBy }: LoadEntry): LoadStatus {
  if (isErased) return 'erased';
  return retractedBy === null ? 'in_force' : 'retracted';
}

export interface LoadQuery {
  loadNo?: number;
  dataset?: string;
  kind?: 'load' | 'retraction';
  status?: LoadStatus;
  /** Only older loads. */
  before?: number;
  /** Only newer loads, the oldest of them first. */
  after?: number;
  limit: number;
}

/**
 * The loads, newest first unless those after one are requested. A retraction is no longer active once its load was retracted again or
 * reactivated.
 */
export function listLoads(
  on: Queryable,
  { loadNo, dataset, kind, status, before, after, limit }: LoadQuery,
): Promise<LoadEntry[]> {
  return on.query<LoadEntry>(
    `with recursive ${allRetractions}
     select * from (
       select l.load_no, to_char(l.loaded_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as loaded_at, l.dataset,
         l.source_name, l.vintage, l.complete, l.rows_read, l.rows_rejected, l.points_new, l.points_revised,
         l.points_unchanged, l.points_deleted, l.part_of, l.retracts, l.erases, l.reason,
         coalesce(l.erased_by, case
           when l.retracts is not null then (
             select min(r.load_no) from retractions o join retractions r using (file_no)
             where o.load_no = l.load_no and r.load_no > l.load_no)
           when upper_inf(l.out_of_force) then (
             select max(r.load_no) from retractions r where r.file_no = coalesce(l.part_of, l.load_no)) end) as retracted_by,
         l.erased_by is not null as is_erased, l.loaded_by
       from data.loads l
     ) l
     where ($1::bigint is null or load_no = $1) and ($2::text is null or dataset = $2)
       and ($3::bigint is null or load_no < $3) and ($4::bigint is null or load_no > $4)
       and ($5::text is null or ($5 = 'retraction') = (retracts is not null))
       and ($6::text is null or $6 = case when is_erased then 'erased' when retracted_by is null then 'in_force' else 'retracted' end)
     order by load_no ${after === undefined ? 'desc' : 'asc'} limit $7`,
    [
      ...[loadNo ?? null, dataset ?? null, before ?? null, after ?? null],
      ...[kind ?? null, status ?? null, limit],
    ],
  );
}

/** The ids of series that the load changed or loaded completely, sorted; at most so many. */
export async function seriesOfLoad(
  on: Queryable,
  loadNo: number,
  limit: number,
): Promise<{ count: number; series: string[] }> {
  const rows = await on.query<{ count: number; series: string[] }>(
    `with ids as materialized (
       select distinct s.series_id from data.vintages v join data.series s using (series_no) where v.load_no = $1
     )
     select (select count(*)::int from ids) as count,
       array(select series_id from ids order by series_id collate "C" limit $2) as series`,
    [loadNo, limit],
  );
  return entryAt(rows, 0);
}
