// The statements of a retraction besides those of the points: the load that it concerns, and the records of both.
import type { Transaction } from '../../kernel/database.ts';

/** A load as a retraction sees it. */
export interface RetractableLoad {
  load_no: number;
  dataset: string;
  source_name: string;
  vintage: string;
  retracts: number | null;
  erases: boolean;
  /** The first load of its file. */
  file_load_no: number;
}

/** The load of that number, if there is one. */
export async function findLoad(on: Transaction, loadNo: number): Promise<RetractableLoad | undefined> {
  const [load] = await on.query<RetractableLoad>(
    `select load_no, dataset, source_name, vintage, retracts, erases, coalesce(part_of, load_no) as file_load_no
     from data.loads where load_no = $1`,
    [loadNo],
  );
  return load;
}

/** All loads of a file, which are retracted together. */
export interface LoadsOfFile {
  loadNos: number[];
  firstVintage: string;
  lastVintage: string;
  isOutOfForce: boolean;
  erasedBy: number | null;
  /** The newest retraction of the file, or of one of its retractions. */
  lastRetraction: number | null;
  /** Loads of one of their days that stated something again, of a version that did not keep what. */
  unknownRestatements: number[];
}

export async function findLoadsOfFile(on: Transaction, fileLoadNo: number): Promise<LoadsOfFile> {
  const [found] = await on.query<LoadsOfFile>(
    `with recursive file as (
       select * from data.loads where coalesce(part_of, load_no) = $1
     ), retractions as (
       select load_no from data.loads where retracts = $1
       union
       select l.load_no from data.loads l join retractions r on l.retracts = r.load_no
     )
     select json_agg(load_no order by load_no) as "loadNos", min(vintage) as "firstVintage", max(vintage) as "lastVintage",
       bool_or(upper_inf(out_of_force)) as "isOutOfForce", max(erased_by) as "erasedBy",
       (select max(load_no) from retractions) as "lastRetraction",
       to_json(array(select o.load_no from data.loads o
         where not bool_and(f.keeps_statements) and not o.keeps_statements and o.points_unchanged > 0
           and o.vintage = any(array_agg(f.vintage)) and not o.load_no = any(array_agg(f.load_no))
         order by o.load_no limit 5)) as "unknownRestatements"
     from file f`,
    [fileLoadNo],
  );
  if (found === undefined) throw new Error('an aggregate always gives one row');
  return found;
}

/** Records the retraction, a load without a file. @returns its number. */
export async function insertRetraction(
  on: Transaction,
  {
    retracted,
    vintage,
    erases,
    reason,
  }: { retracted: RetractableLoad; vintage: string; erases: boolean; reason: string | null },
): Promise<number> {
  const [row] = await on.query<{ load_no: number }>(
    `insert into data.loads (dataset, source_name, vintage, complete, keeps_statements, retracts, erases, reason)
     values ($1, $2, $3, false, true, $4, $5, $6) returning load_no`,
    [retracted.dataset, retracted.source_name, vintage, retracted.load_no, erases, reason],
  );
  if (row === undefined) throw new Error('the load got no number');
  return row.load_no;
}

/** Puts the loads out of force from the day on, or into it again. */
export async function setInForce(
  on: Transaction,
  { loadNos, day, inForce }: { loadNos: readonly number[]; day: string; inForce: boolean },
): Promise<void> {
  await on.query(
    `update data.loads set out_of_force = case when $3 then out_of_force - datemultirange(daterange($2, null))
       else out_of_force + datemultirange(daterange($2, null)) end
     where load_no = any($1)`,
    [loadNos, day, inForce],
  );
}

export async function setErased(
  on: Transaction,
  loadNos: readonly number[],
  erasedBy: number,
): Promise<void> {
  await on.query('update data.loads set erased_by = $2 where load_no = any($1)', [loadNos, erasedBy]);
}

/** How many of the points to fold each series has. */
export function countFoldedSeries(on: Transaction): Promise<{ series_no: number; points: number }[]> {
  return on.query('select series_no, count(*)::int as points from fold_points group by series_no');
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
