// The recorded statements of table loads: an unchanged row that the load wrote, the earlier form of a row that another load changed, and
// the rows that a load repeated unchanged. The load's row in data.loads lists the columns of its file.
import type { Transaction } from '../../../kernel/database.ts';
import { entryAt } from '../../../kernel/entries.ts';

/** A row `k` of the table as it is recorded: its columns without those of the record itself. */
export const recordedContent = `to_jsonb(k) - array['row_no', 'load_no', 'updated_on']`;

/** The keys of rows, to find the number of a deleted one. @param columns of the key, as the table has them. */
export const keyOf = (row: string, columns: readonly string[]): string =>
  `jsonb_build_array(${columns.map((name) => `${row}.${name}`).join(', ')})`;

/** Counts the rows of `done` in the database, as a file may have millions. @param expressions common table expressions. */
export async function countOf(
  on: Transaction,
  expressions: string,
  values: readonly unknown[],
): Promise<number> {
  const rows = await on.query<{ count: number }>(
    `with ${expressions} select count(*) as count from done`,
    values,
  );
  return entryAt(rows, 0).count;
}

/** A load of a table: the table, and SQL that finds a staged row `t` in it. */
export interface StatedRows {
  loadNo: number;
  target: string;
  /** A query of the staged rows, with their `line`. */
  staged: string;
  /** The condition that `k` is the row of `t`. */
  isSame: string;
}

/** Records which columns the file of the load has. */
export async function recordStatedColumns(
  on: Transaction,
  loadNo: number,
  columns: readonly string[],
): Promise<void> {
  await on.query('update data.loads set states_columns = $2 where load_no = $1', [loadNo, columns]);
}

/**
 * Common table expressions that record the rows which differ and then update them; `done` has a row for each. Parameter 1 is the load.
 * @param differs the condition that `t` changes `k`. @param assignments of the update, of cells of `t`. @param returning what `done` has.
 */
export const recordAndUpdate = (
  { target, staged, isSame }: Omit<StatedRows, 'loadNo'>,
  differs: string,
  { assignments, returning }: { assignments: readonly string[]; returning: string },
): string => `
  changing as materialized (
    select t.line, coalesce(k.row_no, nextval('data.row_nos')) as row_no, k.load_no, ${recordedContent} as content
    from ${target} k join ${staged} t on ${isSame} where ${differs}
  ), replaced as (
    insert into data.replaced_rows (row_no, load_no, replaced_by, content) select row_no, load_no, $1, content from changing
  ), done as (
    update ${target} k set ${assignments.join(', ')}, row_no = c.row_no, load_no = $1
    from changing c join ${staged} t using (line) where ${isSame} returning ${returning}
  )`;

/**
 * Common table expressions that insert the staged rows which the table lacks; `done` has a row for each. A row that existed before gets its
 * number again. Parameters are the load and the dataset.
 * @param key the columns of the key, as the table has them. @param cells the columns to insert, with their values in `t`. @param returning
 * what `done` has besides the number.
 */
export const insertNumbered = (
  { target, staged, isSame }: Omit<StatedRows, 'loadNo'>,
  key: readonly string[],
  { cells, returning }: { cells: readonly { name: string; value: string }[]; returning: string },
): string => `
  done as (
    insert into ${target} as k (${cells.map(({ name }) => name).join(', ')}, row_no, load_no)
    select ${cells.map(({ value }) => value).join(', ')}, coalesce(a.row_no, nextval('data.row_nos')), $1
    from ${staged} t left join data.absent_rows a on a.dataset = $2 and a.key = ${keyOf('t', key)}
    where not exists (select from ${target} k where ${isSame}) returning row_no, ${returning}
  ), present as (
    delete from data.absent_rows a using done where a.row_no = done.row_no
  )`;

/** As `Shown`: records the rows that `done` has deleted. A row that comes back has another number. */
export const recordDeleted = {
  returning: `k.row_no, k.load_no, ${recordedContent} as content`,
  change: `, kept as (
    insert into data.replaced_rows (row_no, load_no, replaced_by, content) select row_no, load_no, $1, content from done)`,
  needsLoad: true,
};

/**
 * Records the rows that the load repeats unchanged. Rows that no load has changed since rows are numbered are omitted: their present values
 * are the only ones.
 */
export async function recordRestated(
  on: Transaction,
  { loadNo, target, staged, isSame }: StatedRows,
): Promise<void> {
  await on.query(
    `insert into data.row_statements (load_no, rows)
     select $1, int8range(min(row_no), max(row_no), '[]')
     from (
       select k.row_no, k.row_no - row_number() over (order by k.row_no) as run
       from ${target} k join ${staged} t on ${isSame} where k.row_no is not null and k.load_no <> $1) restated
     group by run`,
    [loadNo],
  );
}
