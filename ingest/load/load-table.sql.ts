// The statements for table datasets: stage rows, check them, insert or update them by key.
import type { Transaction } from '../../kernel/database.ts';
import type { Frequency } from '../../domain/periods.ts';
import { entryAt } from '../../kernel/entries.ts';
import type { Column } from '../cells/cells.ts';
import type { Dataset, Identity, Reference, Rule } from '../datasets/dataset.ts';
import { changeNeighboursOfStaged, shownBySeries } from './store/after-series-change.sql.ts';
import {
  countOf,
  insertNumbered,
  recordRestated,
  recordStatedColumns,
  recordDeleted,
  recordAndUpdate,
} from './store/stated-rows.sql.ts';

/** The columns that the stage does not store as text. */
const sqlTypes: Partial<Record<Column['type'], string>> = {
  date: 'date',
  number: 'numeric',
  integer: 'integer',
  boolean: 'boolean',
  time: 'time',
  list: 'text[]',
  dims: 'jsonb',
};

/** Creates load_table: the line, and the columns of the file. It replaces that of an earlier load of the transaction. */
export async function createTableStage(on: Transaction, columns: readonly Column[]): Promise<void> {
  const definitions = columns.map((column) => `${column.name} ${sqlTypes[column.type] ?? 'text'}`);
  await on.query('drop table if exists pg_temp.load_table');
  await on.query(
    `create temp table load_table (line integer not null, ${definitions.join(', ')}) on commit drop`,
  );
}

/** Replaces earlier ids of series by their present ids. */
export async function resolveAliases(on: Transaction, columns: readonly Column[]): Promise<void> {
  for (const { name } of columns.filter(({ type }) => type === 'series_id'))
    await on.query(
      `update load_table t set ${name} = s.series_id
       from data.series_aliases a join data.series s using (series_no) where a.alias = t.${name}`,
    );
  if (columns.some(({ name }) => name === 'series_ids'))
    await on.query(
      `update load_table t set series_ids = array(
         select coalesce(s.series_id, id) from unnest(t.series_ids) with ordinality as named (id, place)
         left join data.series_aliases a on a.alias = id left join data.series s using (series_no) order by place)
       where exists (select from data.series_aliases a where a.alias = any(t.series_ids))`,
    );
}

/** Removes rows that name deleted series. @returns the removed rows, each with its column and the first such series. */
export async function rejectDeletedSeries(
  on: Transaction,
  columns: readonly Column[],
): Promise<{ line: number; column: string; id: string }[]> {
  const rejected: { line: number; column: string; id: string }[] = [];
  for (const { name, type } of columns) {
    if (type !== 'series_id' && name !== 'series_ids') continue;
    const named = type === 'series_id' ? `t.${name}` : `any(t.${name})`;
    const rows = await on.query<{ line: number; column: string; id: string }>(
      `delete from load_table t using (
         select distinct on (t.line) t.line, s.series_id
         from data.series s join load_table t on s.series_id = ${named}
         where s.deleted_on is not null order by t.line, s.series_id) gone
       where gone.line = t.line returning t.line, '${name}' as column, gone.series_id as id`,
    );
    rejected.push(...rows);
  }
  return rejected;
}

/**
 * Sets the key of rows that identify a stored row, or an earlier row of the file, by something other than the key. A row whose key is
 * stored keeps it.
 */
export async function resolveKeys(
  on: Transaction,
  dataset: Dataset,
  present: readonly Column[],
): Promise<void> {
  const { identity, key, target } = dataset;
  const has = new Set(present.map(({ name }) => name));
  if (identity === undefined) return;
  const keyOf = (row: string) => key.map((name) => `${row}.${name}`).join(', ');
  const among = async (other: string, others: Identity['by'], isOther: string, first: string) => {
    const same = others.map((each) => each.same(`t.${each.given}`, `k.${each.stored}`));
    if (same.length === 0) return;
    await on.query(
      `update load_table t set (${key.join(', ')}) = (${keyOf('found')})
       from (select distinct on (t.line) t.line, ${keyOf('k')}
             from load_table t join ${other} k on k.${identity.within} = t.${identity.within} and (${same.join(' or ')})
             where ${isOther} order by t.line, ${first}) found
       where found.line = t.line`,
    );
  };
  const known = identity.by.filter(({ given }) => has.has(given));
  const isNew = `not exists (select from ${target} e where ${onKey(dataset, 't', 'e')})`;
  await among(target, known, isNew, keyOf('k'));
  const inFile = known.filter(({ stored }) => has.has(stored));
  await among('load_table', inFile, 'k.line < t.line', 'k.line');
}

/** Removes every row but the first of each key from the stage; rows of unknown series have no dates yet. @returns the removed rows. */
export function rejectRepeatedKeys(
  on: Transaction,
  dataset: Dataset,
): Promise<{ line: number; first_line: number; key: string }[]> {
  const key = dataset.key.join(', ');
  return on.query(
    `with numbered as (select line, min(line) over (partition by ${key}) as first_line from load_table where (${key}) is not null)
     delete from load_table t using numbered n where n.line = t.line and n.line > n.first_line
     returning t.line, n.first_line, concat_ws(', ', ${dataset.key.map((name) => `t.${name}`).join(', ')}) as key`,
  );
}

/** Removes the rows of new keys that lack required columns. @returns the removed rows, each with the first column it lacks. */
export function rejectIncomplete(
  on: Transaction,
  dataset: Dataset,
  present: readonly Column[],
): Promise<{ line: number; column: string }[]> {
  const has = new Set(present.map((column) => column.name));
  const needed = dataset.columns.filter(({ name, required }) => required && !dataset.key.includes(name));
  if (needed.length === 0) return Promise.resolve([]);
  const lacking = needed.map(
    (column) => `when ${has.has(column.name) ? `t.${column.name} is null` : 'true'} then '${column.name}'`,
  );
  return on.query(
    `with checked as (
       select t.line, case ${lacking.join(' ')} end as lacks from ${stageOf(dataset)} t
       where not exists (select from ${dataset.target} k where ${onKey(dataset, 't', 'k')}))
     delete from load_table t using checked c where c.line = t.line and c.lacks is not null
     returning t.line, c.lacks as column`,
  );
}

/**
 * Removes rows that would change how the dates of existing observations are read. @returns the removed rows.
 * @param seriesId SQL for the series of a row `t`.
 */
export function rejectRedatings(
  on: Transaction,
  column: string,
  seriesId: string,
): Promise<{ line: number; value: string | null; kept: string | null }[]> {
  return on.query(
    `delete from load_table t using data.series s
     where s.series_id = ${seriesId} and s.${column} is distinct from t.${column}
       and exists (select from data.vintages v where v.series_no = s.series_no)
     returning t.line, t.${column} as value, s.${column} as kept`,
  );
}

/** How the file writes a date, and which series it belongs to. */
export interface WrittenDate {
  text: string;
  frequency: Frequency;
  fiscalYearEnd: string;
}

/** The distinct dates of points in a column, for the series that exist. */
export function findWrittenDates(on: Transaction, column: Column): Promise<WrittenDate[]> {
  return on.query(
    `select distinct t.${column.name} as text, s.frequency, coalesce(s.fiscal_year_end, '12-31') as "fiscalYearEnd"
     from load_table t join data.series s using (series_id) where t.${column.name} <> $1`,
    [column.unlessGiven],
  );
}

/**
 * Replaces dates as the file writes them by the dates of the points, and removes rows whose date is not one of a point. @returns the
 * removed rows.
 * Rows of unknown series lose their dates: they are rejected later because of their series.
 */
export async function setPointDates(
  on: Transaction,
  column: Column,
  dates: readonly (WrittenDate & { date: string | null })[],
): Promise<{ line: number; value: string; frequency: Frequency }[]> {
  const { name } = column;
  const refused = await on.query<{ line: number; value: string; frequency: Frequency }>(
    `with dated as (
       select t.line, s.frequency, w.date from load_table t left join data.series s using (series_id)
       left join jsonb_to_recordset($1) w (text text, frequency text, "fiscalYearEnd" text, date text)
         on w.text = t.${name} and w.frequency = s.frequency and w."fiscalYearEnd" = coalesce(s.fiscal_year_end, '12-31')
       where t.${name} <> $2
     ), gone as (
       delete from load_table t using dated d where d.line = t.line and d.date is null and d.frequency is not null
       returning t.line, t.${name} as value, d.frequency
     ), moved as (
       update load_table t set ${name} = d.date from dated d
       where d.line = t.line and (d.date is not null or d.frequency is null)
     )
     select * from gone order by line`,
    [JSON.stringify(dates), column.unlessGiven],
  );
  await on.query(`alter table load_table alter column ${name} type date using ${name}::date`);
  return refused;
}

/** Removes calendar rows that name unknown series. @returns the removed rows, each with the first such series. */
export function rejectUnknownSeries(on: Transaction): Promise<{ line: number; unknown: string }[]> {
  return on.query(
    `delete from load_table t using (
       select distinct on (line) line, id from load_table, unnest(series_ids) id
       where not exists (select from data.series s where s.series_id = id) order by line) gone
     where gone.line = t.line returning t.line, gone.id as unknown`,
  );
}

/** Removes rows whose time zone PostgreSQL does not know: Node knows some that tzdata has dropped. @returns the removed rows. */
export function rejectUnknownZones(on: Transaction): Promise<{ line: number; zone: string }[]> {
  return on.query(
    `delete from load_table t where lower(t.time_zone) not in (select lower(name) from pg_timezone_names)
     returning t.line, t.time_zone as zone`,
  );
}

/** Replaces alternative names, such as an ISIN, by the key of the row they refer to. */
export async function resolveNames(
  on: Transaction,
  { column, table, key, alsoBy }: Reference,
): Promise<void> {
  if (alsoBy === undefined) return;
  await on.query(
    `with unknown as materialized (
       select distinct t.${column} as name from load_table t
       where t.${column} is not null and not exists (select from ${table} k where k.${key} = t.${column}))
     update load_table t set ${column} = k.${key} from unknown u join ${table} k on ${alsoBy('u.name')}
     where t.${column} = u.name`,
  );
}

/** Removes rows that refer to a row that is neither in the table nor (if it is the target) in the file. @returns the removed rows. */
export function rejectDanglingReferences(
  on: Transaction,
  dataset: Dataset,
  { column, table, key }: Reference,
): Promise<{ line: number; value: string }[]> {
  const inFile =
    table === dataset.target ? `and not exists (select from load_table f where f.${key} = t.${column})` : '';
  return on.query(
    `delete from load_table t
     where t.${column} is not null and not exists (select from ${table} k where k.${key} = t.${column}) ${inFile}
     returning t.line, t.${column} as value`,
  );
}

/** Removes rows whose value of the column another row has, in the table or earlier in the file. @returns the removed rows. */
export function rejectDuplicateValues(
  on: Transaction,
  dataset: Dataset,
  column: string,
): Promise<{ line: number; value: string; owner: string }[]> {
  const [key = ''] = dataset.key;
  return on.query(
    `delete from load_table t using (
       select t.line, coalesce(k.${key}, nullif(first_value(t.${key}) over same, t.${key})) as owner
       from load_table t left join ${dataset.target} k on k.${column} = t.${column} and k.${key} <> t.${key}
       where t.${column} is not null
       window same as (partition by t.${column} order by t.line)) found
     where found.line = t.line and found.owner is not null
     returning t.line, t.${column} as value, found.owner`,
  );
}

/** Removes rows that violate a rule; a column that the file lacks has its stored value. @returns the removed rows. */
export function rejectRuleViolations(
  on: Transaction,
  dataset: Dataset,
  { columns, holds }: Rule,
  isPresent: (name: string) => boolean,
): Promise<{ line: number; value: string | null }[]> {
  const cells = columns.map((name) => `${isPresent(name) ? 't' : 'k'}.${name}`);
  const stored = columns.every(isPresent) ? '' : `join ${dataset.target} k on ${onKey(dataset, 't', 'k')}`;
  return on.query(
    `delete from load_table l using (select t.line, ${cells.join(', ')} from ${stageOf(dataset)} t ${stored}) t
     where l.line = t.line and not (${holds}) returning l.line, t.${columns[0]}::text as value`,
  );
}

/** Inserts and updates rows. @returns how many rows were new, and how many changed; the others were identical. */
export async function upsert(
  on: Transaction,
  dataset: Dataset,
  present: readonly Column[],
  loadNo: number,
): Promise<{ inserted: number; updated: number }> {
  const cells = present.map((column) => ({
    name: storedName(dataset, column.name),
    value: cell(dataset, column),
  }));
  const others = cells.filter((_, i) => !dataset.key.includes(entryAt(present, i).name));
  const assignments = others.map(({ name, value }) => `${name} = ${value}`);
  const differences = others.map(({ name, value }) => `k.${name} is distinct from ${value}`).join(' or ');
  const rows = storedRows(dataset);
  const { returning, change, needsLoad } = shownBySeries(dataset);
  if (dataset.retractable === true || dataset.recordsFormerRows === true) {
    const updated =
      others.length === 0
        ? 0
        : await countOf(on, recordAndUpdate(rows, `(${differences})`, { assignments, returning }) + change, [
            loadNo,
          ]);
    const numbered = insertNumbered(rows, storedKey(dataset), { cells, returning });
    return { updated, inserted: await countOf(on, numbered + change, [loadNo, dataset.name]) };
  }
  const { target, staged, isSame } = rows;
  if (target === 'data.series' && present.some(({ name }) => name === 'frequency'))
    await changeNeighboursOfStaged(on);
  const values = needsLoad ? [loadNo] : [];
  // Readers' caches depend on the version, so a change of metadata counts as a change of the series.
  const versions =
    target === 'data.series'
      ? ', data_version = $1, row_version = k.row_version + 1, updated_at = now()'
      : '';
  const updated =
    others.length === 0
      ? 0
      : await countOf(
          on,
          `done as (update ${target} k set ${assignments.join(', ')}${versions}
           from ${staged} t where ${isSame} and (${differences}) returning ${returning})${change}`,
          values,
        );
  const inserted = await countOf(
    on,
    `done as (insert into ${target} as k (${cells.map(({ name }) => name).join(', ')})
     select ${cells.map(({ value }) => value).join(', ')} from ${staged} t
     where not exists (select from ${target} k where ${isSame}) returning ${returning})${change}`,
    values,
  );
  return { inserted, updated };
}

/** Records the rows and columns of the load, for its retraction. @param unchanged how many rows it repeats unchanged. */
export async function recordStatements(
  on: Transaction,
  dataset: Dataset,
  present: readonly Column[],
  { loadNo, unchanged }: { loadNo: number; unchanged: number },
): Promise<void> {
  const columns = present.map(({ name }) => storedName(dataset, name));
  await recordStatedColumns(on, loadNo, columns);
  if (unchanged > 0) await recordRestated(on, { loadNo, ...storedRows(dataset) });
}

/** How the rows of a load of the table are found. */
const storedRows = (dataset: Dataset) => ({
  target: dataset.target,
  staged: statedRowsOf(dataset),
  isSame: onKey(dataset, 't', 'k'),
});

/** Deletes the rows that a complete file omits. @returns how many. */
export async function deleteLeftOut(on: Transaction, dataset: Dataset, loadNo: number): Promise<number> {
  if (dataset.whole === undefined) return 0;
  const wholeColumns = dataset.whole.map((name) => storedName(dataset, name));
  const { returning, change, needsLoad } =
    dataset.recordsFormerRows === true ? recordDeleted : shownBySeries(dataset);
  return countOf(
    on,
    `done as (delete from ${dataset.target} k using (select distinct ${wholeColumns.join(', ')} from ${stageOf(dataset)} t) stated
     where ${wholeColumns.map((name) => `k.${name} = stated.${name}`).join(' and ')}
       and not exists (select from ${statedRowsOf(dataset)} t where ${onKey(dataset, 't', 'k')}) returning ${returning})${change}`,
    needsLoad ? [loadNo] : [],
  );
}

/** The number of rows in the stage that are to be stored. */
export async function countStaged(on: Transaction, dataset: Dataset): Promise<number> {
  const rows = await on.query<{ count: number }>(`select count(*) as count from ${statedRowsOf(dataset)} t`);
  return entryAt(rows, 0).count;
}

/** A cell of the stage, converted for the table. */
function cell(dataset: Dataset, { name, type }: Column): string {
  if (type === 'list') return `coalesce(t.${name}, '{}')`;
  if (type !== 'instant') return `t.${storedName(dataset, name)}`;
  return `case when t.${name} ~ '(Z|[+-][0-9:]+)$' and length(t.${name}) > 10 then t.${name}::timestamptz
    else t.${name}::timestamp at time zone t.time_zone end`;
}

/** The stage, joined with the numbers of the rows that it refers to. */
function stageOf(dataset: Dataset): string {
  const numbered = (dataset.references ?? []).filter(({ number }) => number !== undefined);
  if (numbered.length === 0) return 'load_table';
  const joins = numbered.map(
    ({ table, key, column }, i) => `join ${table} r${i} on r${i}.${key} = s.${column}`,
  );
  return `(select s.*, ${numbered.map(({ number }, i) => `r${i}.${number}`).join(', ')} from load_table s ${joins.join(' ')})`;
}

/** The stage without the rows that are not stored. */
function statedRowsOf(dataset: Dataset): string {
  const stage = stageOf(dataset);
  return dataset.statedBy === undefined
    ? stage
    : `(select * from ${stage} staged where ${dataset.statedBy} is not null)`;
}

/** The target's name for a column of the file. */
export function storedName(dataset: Dataset, name: string): string {
  return dataset.references?.find(({ column }) => column === name)?.number ?? name;
}

const storedKey = (dataset: Dataset): string[] => dataset.key.map((name) => storedName(dataset, name));

function onKey(dataset: Dataset, stage: string, target: string): string {
  return storedKey(dataset)
    .map((name) => `${target}.${name} = ${stage}.${name}`)
    .join(' and ');
}
