// Recomputes the rows of a table from the active loads ("fold"): each cell takes its value from the newest of them whose file has its
// column. A load that repeated a row unchanged stores no copy of it; the row as it was after that load is used.
import type { Transaction } from '../../../kernel/database.ts';
import { entryAt } from '../../../kernel/entries.ts';
import type { LoadCounts } from '../../load/store/load-record.sql.ts';
import { countOf, keyOf, recordedContent } from '../../load/store/stated-rows.sql.ts';

/** A table whose loads can be retracted. */
export interface FoldedTable {
  dataset: string;
  target: string;
  /** Columns as the table has them. */
  key: readonly string[];
  others: readonly string[];
}

/** Fills undo_rows with the numbers of all rows that the files of the loads contain. @returns how many. */
export async function findStatedRows(
  on: Transaction,
  { target }: FoldedTable,
  loadNos: readonly number[],
): Promise<number> {
  await on.query('create temp table undo_rows (row_no bigint primary key) on commit drop');
  const found = await on.query<{ rows: number }>(
    `with inserted as (
       insert into undo_rows
       select row_no from ${target} where load_no = any($1)
       union
       select row_no from data.replaced_rows where load_no = any($1)
       union
       select generate_series(lower(rows), upper(rows) - 1) from data.row_statements where load_no = any($1)
       returning 1
     )
     select count(*) as rows from inserted`,
    [loadNos],
  );
  await on.query('analyze undo_rows');
  return entryAt(found, 0).rows;
}

/** The first five active loads after the given one whose files contain rows of undo_rows. */
export async function findLaterLoads(
  on: Transaction,
  { target }: FoldedTable,
  loadNo: number,
): Promise<number[]> {
  const found = await on.query<{ load_no: number }>(
    `select l.load_no from data.loads l
     where l.load_no > $1 and ${isActive}
       and (exists (select from ${target} k join undo_rows using (row_no) where k.load_no = l.load_no)
         or exists (select from data.replaced_rows r join undo_rows using (row_no) where r.load_no = l.load_no)
         or exists (select from data.row_statements s join undo_rows u on s.rows @> u.row_no where s.load_no = l.load_no))
     order by l.load_no limit 5`,
    [loadNo],
  );
  return found.map((load) => load.load_no);
}

const isActive = `l.retracts is null and not upper_inf(l.out_of_force)`;

/**
 * Fills undo_folded: for each of undo_rows, the present row (`old`; null: deleted) and the row recomputed from the active loads (`new`;
 * null: none). Load 0 represents all loads of older versions. Where the files of all active loads have the same columns for a row, the
 * result is the row after the newest of them, without the other columns; otherwise each cell is looked up separately, which takes several
 * times as long.
 */
export async function foldRows(on: Transaction, { target }: FoldedTable): Promise<void> {
  await on.query(
    'create temp table undo_versions (row_no bigint, load_no bigint, replaced_by bigint, content jsonb) on commit drop',
  );
  await on.query(
    `insert into undo_versions
     select row_no, coalesce(load_no, 0), replaced_by, content from data.replaced_rows join undo_rows using (row_no)
     union all
     select k.row_no, coalesce(k.load_no, 0), null, ${recordedContent} from ${target} k join undo_rows using (row_no)`,
  );
  // The planner has no statistics on rows that were just written, or on a common table expression: a plan for a few rows would take hours
  // for millions.
  await on.query('analyze undo_versions');
  await on.query(
    'create temp table undo_folded (row_no bigint primary key, old jsonb, new jsonb) on commit drop',
  );
  await on.query(
    `insert into undo_folded
     with stated as (
       select row_no, load_no from undo_versions
       union
       select u.row_no, s.load_no from undo_rows u join data.row_statements s on s.rows @> u.row_no
     ), stating as materialized (
       select l.load_no, l.states_columns, array(
           select attname::text from pg_attribute
           where attrelid = '${target}'::regclass and attnum > 0 and attname::text <> all(l.states_columns)) as unstated
       from data.loads l where l.load_no in (select load_no from stated) and ${isActive}
     ), in_force as (
       select s.row_no, s.load_no, l.states_columns
       from stated s left join stating l using (load_no) where s.load_no = 0 or l.load_no is not null
     ), newest as materialized (
       select row_no, max(load_no) as load_no,
         min(coalesce(states_columns, '{}')) = max(coalesce(states_columns, '{}')) as is_alike
       from in_force group by row_no
     ), cells as (
       select distinct on (row_no, name) row_no, name, value
       from in_force f join newest n using (row_no)
       join undo_versions v using (row_no) cross join jsonb_each(v.content) cell (name, value)
       where not n.is_alike and ${isVersionAt('f')} and (f.states_columns is null or name = any(f.states_columns))
       order by row_no, name, f.load_no desc
     ), folded as (
       select row_no, case when l.unstated is null then v.content else v.content - l.unstated end as content
       from newest n join undo_versions v using (row_no) left join stating l on l.load_no = n.load_no
       where n.is_alike and ${isVersionAt('n')}
       union all
       select row_no, jsonb_object_agg(name, value) from cells group by row_no
     )
     select u.row_no, now.content, folded.content
     from undo_rows u
     left join undo_versions now on now.row_no = u.row_no and now.replaced_by is null
     left join folded on folded.row_no = u.row_no`,
  );
  await on.query('analyze undo_folded');
}

/** The condition that `v` is the row as it was after load `load`. */
const isVersionAt = (load: string) =>
  `v.load_no <= ${load}.load_no and (v.replaced_by is null or v.replaced_by > ${load}.load_no)`;

const differs = `jsonb_strip_nulls(f.old) <> jsonb_strip_nulls(f.new)`;

/** Replaces the rows with the recomputed ones, as changes of the load. @returns how many rows it restored, changed and deleted. */
export async function storeFold(
  on: Transaction,
  { dataset, target, key, others }: FoldedTable,
  loadNo: number,
): Promise<Omit<LoadCounts, 'pointsUnchanged'>> {
  await on.query(
    `insert into data.replaced_rows (row_no, load_no, replaced_by, content)
     select f.row_no, k.load_no, $1, f.old from undo_folded f join ${target} k using (row_no) where f.new is null or ${differs}`,
    [loadNo],
  );
  const pointsDeleted = await countOf(
    on,
    `absent as (
       insert into data.absent_rows (row_no, dataset, key)
       select k.row_no, $1, ${keyOf('k', key)} from undo_folded f join ${target} k using (row_no) where f.new is null
     ), done as (
       delete from ${target} k using undo_folded f where k.row_no = f.row_no and f.new is null returning 1
     )`,
    [dataset],
  );
  const cells = `undo_folded f cross join lateral jsonb_populate_record(null::${target}, f.new) n`;
  const pointsRevised = await countOf(
    on,
    `done as (
       update ${target} k set ${others.map((name) => `${name} = n.${name}`).join(', ')}, load_no = $1
       from ${cells} where k.row_no = f.row_no and ${differs} returning 1
     )`,
    [loadNo],
  );
  const columns = [...key, ...others];
  const pointsNew = await countOf(
    on,
    `done as (
       insert into ${target} (${columns.join(', ')}, row_no, load_no)
       select ${columns.map((name) => `n.${name}`).join(', ')}, f.row_no, $1
       from ${cells} where f.old is null and f.new is not null returning row_no
     ), present as (
       delete from data.absent_rows a using done where a.row_no = done.row_no
     )`,
    [loadNo],
  );
  return { pointsNew, pointsRevised, pointsDeleted };
}
