// The records of a load besides its rows: vintages, confirmations, the counts of series and loads.
import type { Transaction } from '../../../kernel/database.ts';
import { entryAt } from '../../../kernel/entries.ts';

/** A series that is not in load_points: its points are stored directly, or it has none in the file. */
export interface SeriesInFile {
  seriesNo: number;
  points: number;
  pointsWithValue: number;
  /** Among the points with a value. */
  firstDate: string | null;
  lastDate: string | null;
}

/** The columns of these series, for `jsonb_to_recordset`. */
export const seriesInFileColumns =
  '("seriesNo" integer, points integer, "pointsWithValue" integer, "firstDate" date, "lastDate" date)';

/** The load being stored. */
export interface LoadRow {
  loadNo: number;
  vintage: string;
  /** Points that the file omits are deleted as of the vintage. */
  complete: boolean;
}

/** A load, a change of series or a retraction, before its counts are known. */
export interface NewLoad {
  dataset: string;
  sourceName: string;
  vintage: string;
  /** As of LoadRow; default: false. */
  complete?: boolean;
  reason?: string | null;
  /** For a retraction: the load that it retracts, and whether it erases it. */
  retracts?: number;
  erases?: boolean;
}

/** @returns load_no. */
export async function insertLoad(
  on: Transaction,
  { dataset, sourceName, vintage, complete = false, reason = null, retracts, erases = false }: NewLoad,
): Promise<number> {
  const rows = await on.query<{ load_no: number }>(
    `insert into data.loads (dataset, source_name, vintage, complete, keeps_statements, reason, retracts, erases)
     values ($1, $2, $3, $4, true, $5, $6, $7) returning load_no`,
    [dataset, sourceName, vintage, complete, reason, retracts ?? null, erases],
  );
  return entryAt(rows, 0).load_no;
}

/** Points, or the rows of a table dataset. */
export interface LoadCounts {
  pointsNew: number;
  pointsRevised: number;
  pointsUnchanged: number;
  pointsDeleted: number;
}

export const noCounts: LoadCounts = { pointsNew: 0, pointsRevised: 0, pointsUnchanged: 0, pointsDeleted: 0 };

/** Stores the results of loads of one file. @param counts of each load, by load_no. */
export async function finishLoads(
  on: Transaction,
  counts: ReadonlyMap<number, LoadCounts>,
  file: { rowsRead: number; rowsRejected: number },
): Promise<void> {
  const loads = [...counts].map(([loadNo, of]) => ({ loadNo, ...of }));
  await on.query(
    `update data.loads l set rows_read = $1, rows_rejected = $2, points_new = c."pointsNew", points_revised = c."pointsRevised",
       points_unchanged = c."pointsUnchanged", points_deleted = c."pointsDeleted", part_of = $4
     from jsonb_to_recordset($3) as c ("loadNo" bigint, "pointsNew" bigint, "pointsRevised" bigint, "pointsUnchanged" bigint,
       "pointsDeleted" bigint)
     where l.load_no = c."loadNo"`,
    [
      ...[file.rowsRead, file.rowsRejected, JSON.stringify(loads)],
      counts.size > 1 ? Math.min(...counts.keys()) : null,
    ],
  );
}

/** load_totals: the result of the load, one row per changed series. */
export async function createTotals(on: Transaction): Promise<void> {
  await on.query(`
    create temp table load_totals (
      series_no integer not null, points_new integer not null, points_revised integer not null,
      points_deleted integer not null,
      values_gained bigint not null,  -- live points with a value, after less before
      first_date date, last_date date, -- of the points with a value in the load
      recount boolean not null         -- the dates and the count cannot be derived from the changes alone
    ) on commit drop`);
}

/** Fills load_totals from load_changes and the points of fresh series. @returns the counts of the whole load. */
export async function sumChanges(on: Transaction): Promise<LoadCounts> {
  await on.query('truncate load_totals');
  await on.query(
    `insert into load_totals
     select series_no, points, 0, 0, points_with_value, first_date, last_date, false
     from load_series where fresh and points > 0
     union all
     select series_no, count(*) filter (where states and began_on is null),
       count(*) filter (where states and began_on is not null), count(*) filter (where not states),
       count(value) - count(old_value),
       min(date) filter (where value is not null), max(date) filter (where value is not null),
       backfill or bool_or(old_value is not null and value is null)
     from load_changes join load_series using (series_no) group by series_no, backfill`,
  );
  const sums = await on.query<LoadCounts>(
    `select coalesce(sum(points_new), 0)::bigint as "pointsNew", coalesce(sum(points_revised), 0)::bigint as "pointsRevised",
       coalesce(sum(points_deleted), 0)::bigint as "pointsDeleted",
       (select coalesce(sum(points), 0) from load_series)::bigint - coalesce(sum(points_new + points_revised), 0)::bigint as "pointsUnchanged"
     from load_totals`,
  );
  return entryAt(sums, 0);
}

/**
 * Stores the vintage for each series that the load changed, and for each that it contains completely: a complete vintage without changes
 * has no counts, and is stored because it ends the values of an older vintage that is loaded later, and because an earlier load of the day
 * may be retracted.
 * If other loads have made vintages of D or later, `recountVintages` must follow.
 */
export async function insertVintages(on: Transaction, load: LoadRow): Promise<void> {
  await on.query(
    `insert into data.vintages (series_no, published_on, load_no, complete, points_new, points_revised, points_deleted)
     select s.series_no, $1, $2, $3, coalesce(c.points_new, 0), coalesce(c.points_revised, 0), coalesce(c.points_deleted, 0)
     from load_series s left join load_totals t using (series_no)
     left join load_totals c on c.series_no = s.series_no and not s.rewrites
     where t.series_no is not null or $3
     on conflict do nothing -- the load may have been stored, and its history be folded after that`,
    [load.vintage, load.loadNo, load.complete],
  );
}

/**
 * For series whose first points are already in data.observations: stores the vintage, updates their facts, and adds them to load_changed,
 * as `storeVintage` does by comparison. @returns the counts of the load.
 */
export async function storeNewSeries(
  on: Transaction,
  load: LoadRow,
  brought: readonly SeriesInFile[],
): Promise<LoadCounts> {
  await on.query(
    `with brought as (
       select * from jsonb_to_recordset($4) as b ${seriesInFileColumns} where points > 0
     ), vintages as (
       insert into data.vintages (series_no, published_on, load_no, complete, points_new, points_revised, points_deleted)
       select "seriesNo", $1, $2, $3, points, 0, 0 from brought
     ), changed as (
       insert into load_changed select "seriesNo", $2, false from brought
     )
     update data.series s set data_version = $2, row_version = s.row_version + 1,
       last_updated = greatest(s.last_updated, $1),
       observation_count = s.observation_count + b."pointsWithValue",
       first_date = least(s.first_date, b."firstDate"), last_date = greatest(s.last_date, b."lastDate")
     from brought b where s.series_no = b."seriesNo"`,
    [load.vintage, load.loadNo, load.complete, JSON.stringify(brought)],
  );
  const pointsNew = brought.reduce((sum, { points }) => sum + points, 0);
  return { pointsNew, pointsRevised: 0, pointsUnchanged: 0, pointsDeleted: 0 };
}

/** Present points with a value of the series `t`: their count, and the first and last date. */
export const livePoints = `lateral (
  select count(o.value) as count, min(o.date) filter (where o.value is not null) as first_date,
    max(o.date) filter (where o.value is not null) as last_date
  from data.series_dims d join data.observations o using (line_no)
  where d.series_no = t.series_no and o.superseded_on = 'infinity')`;

/** Updates the facts of the changed series once their vintages are counted; other series are not touched. */
export async function updateSeries(on: Transaction, load: LoadRow): Promise<void> {
  await on.query(
    `update data.series s set
       data_version = $2, row_version = s.row_version + 1,
       last_updated = case when not l.rewrites then greatest(s.last_updated, $1) else (
         select max(v.published_on) from data.vintages v
         where v.series_no = s.series_no and v.points_new + v.points_revised + v.points_deleted > 0) end,
       observation_count = s.observation_count + t.values_gained,
       first_date = least(s.first_date, t.first_date), last_date = greatest(s.last_date, t.last_date)
     from load_totals t join load_series l using (series_no) where t.series_no = s.series_no`,
    [load.vintage, load.loadNo],
  );
  await on.query(
    `update data.series s set row_version = s.row_version + 1,
       observation_count = c.count, first_date = c.first_date, last_date = c.last_date
     from load_totals t, ${livePoints} c where t.series_no = s.series_no and t.recount`,
  );
}

/** Updates the planner's statistics on the observations once they have doubled since the last time. */
export async function analyzeIfGrown(on: Transaction, pointsStored: number): Promise<void> {
  if (pointsStored <= 1_000) return;
  const tables = await on.query<{ rows: number }>(
    `select greatest(reltuples, 0)::float8 as rows from pg_class where oid = 'data.observations'::regclass`,
  );
  if (pointsStored > entryAt(tables, 0).rows) await on.query('analyze data.observations');
}
