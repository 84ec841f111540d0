// The statements of a retraction besides those of the points: find the load that it concerns, and record what becomes of it.
import type { Queryable, Transaction } from '../../../kernel/database.ts';
import type { SeriesInFile } from '../../load/store/load-record.sql.ts';

/** All loads of a file, which are retracted together. */
export interface LoadsOfFile {
  /** The first of them. */
  fileLoadNo: number;
  loadNos: number[];
  firstVintage: string;
  lastVintage: string;
  isOutOfForce: boolean;
  erasedBy: number | null;
  /** The newest retraction of the file, or of one of its retractions. */
  lastRetraction: number | null;
  /** Loads of one of their days that repeated statements, from a version that did not record them. */
  unknownRestatements: number[];
  /**
   * The first load of their dataset, from the file on, that did not store what it replaced: it was made by an older version that was still
   * running.
   */
  unkept: number | null;
}

/** A load as a retraction sees it, with its file. For a retraction (of a retraction, …) it is the file that all of them concern. */
export interface RetractableLoad extends LoadsOfFile {
  load_no: number;
  dataset: string;
  source_name: string;
  retracts: number | null;
}

/** Expressions of a recursive `with`: `retractions`, all of them, each with the first load of the file that it concerns. */
export const allRetractions = `
  undoing as materialized (
    select load_no, retracts from data.loads where retracts is not null
  ), retractions (load_no, file_no) as (
    select u.load_no, coalesce(l.part_of, l.load_no) from undoing u join data.loads l on l.load_no = u.retracts where l.retracts is null
    union all
    select u.load_no, r.file_no from retractions r join undoing u on u.retracts = r.load_no
  )`;

const isUnkept = 'states_columns is null and retracts is null';

/** The loads of those numbers. @param datasets the datasets whose loads store what they replace. */
export function findRetractableLoads(
  on: Queryable,
  loadNos: readonly number[],
  datasets: readonly string[],
): Promise<RetractableLoad[]> {
  return on.query<RetractableLoad>(
    `with recursive ${allRetractions}, asked as materialized (
       select l.load_no, l.dataset, l.source_name, l.retracts, coalesce(r.file_no, l.part_of, l.load_no) as file_no
       from data.loads l left join retractions r using (load_no) where l.load_no = any($1)
     ), unkept as materialized (
       select dataset, max(load_no) as newest_no from data.loads where ${isUnkept} and dataset = any($2) group by dataset
     ), of_files as materialized (
       select *, coalesce(part_of, load_no) as file_no from data.loads where coalesce(part_of, load_no) in (select file_no from asked)
     ), restating as materialized (
       select load_no, vintage from data.loads
       where not keeps_statements and points_unchanged > 0 and vintage in (select vintage from of_files)
     ), files as (
       select file_no, json_agg(load_no order by load_no) as "loadNos", min(vintage) as "firstVintage", max(vintage) as "lastVintage",
         bool_or(upper_inf(out_of_force)) as "isOutOfForce", max(erased_by) as "erasedBy",
         to_json(array(select o.load_no from restating o
           where not bool_and(f.keeps_statements) and o.vintage = any(array_agg(f.vintage)) and not o.load_no = any(array_agg(f.load_no))
           order by o.load_no limit 5)) as "unknownRestatements"
       from of_files f group by file_no
     )
     select a.load_no, a.dataset, a.source_name, a.retracts, f.file_no as "fileLoadNo", f."loadNos", f."firstVintage", f."lastVintage",
       f."isOutOfForce", f."erasedBy", f."unknownRestatements",
       (select max(r.load_no) from retractions r where r.file_no = f.file_no) as "lastRetraction",
       (select min(u.load_no) from data.loads u
         where f.file_no <= n.newest_no and u.dataset = a.dataset and u.load_no >= f.file_no and ${isUnkept}) as unkept
     from asked a join files f using (file_no) left join unkept n using (dataset)`,
    [loadNos, datasets],
  );
}

/** Deactivates the loads from the day on, or reactivates them. */
export async function setActive(
  on: Transaction,
  { loadNos, day, isActive }: { loadNos: readonly number[]; day: string; isActive: boolean },
): Promise<void> {
  await on.query(
    `update data.loads set out_of_force = case when $3 then out_of_force - datemultirange(daterange($2, null))
       else out_of_force + datemultirange(daterange($2, null)) end
     where load_no = any($1)`,
    [loadNos, day, isActive],
  );
}

export async function setErased(
  on: Transaction,
  loadNos: readonly number[],
  erasedBy: number,
): Promise<void> {
  await on.query('update data.loads set erased_by = $2 where load_no = any($1)', [loadNos, erasedBy]);
}

/** Records for each line of fold_points since when it has had them: an erasure deletes that from their rows. */
export async function recordErasedFrom(on: Transaction): Promise<void> {
  await on.query(
    `with first as (
       select p.line_no, min(o.published_on) as day from fold_points p join data.observations o using (line_no, date) group by p.line_no
     )
     update data.series_dims d set erased_from = least(d.erased_from, first.day) from first where first.line_no = d.line_no`,
  );
}

/** How many points of each series are to be recomputed. */
export function countFoldedSeries(on: Transaction): Promise<SeriesInFile[]> {
  return on.query(
    `select series_no as "seriesNo", count(*)::int as points, 0 as "pointsWithValue", null as "firstDate", null as "lastDate"
     from fold_points group by series_no`,
  );
}

/** A series of fold_points with a vintage after the day. */
export async function findLaterVintage(
  on: Transaction,
  day: string,
): Promise<{ series_id: string; vintage: string } | undefined> {
  const [found] = await on.query<{ series_id: string; vintage: string }>(
    `select s.series_id, v.published_on as vintage
     from (select distinct series_no from fold_points) p join data.series s using (series_no) join data.vintages v using (series_no)
     where v.published_on > $1 order by v.published_on desc limit 1`,
    [day],
  );
  return found;
}
