// The size of a database: bytes and dead rows of each table and index, and the vacuum that is due between loads. Autovacuum is off in the bench, so
// that it does not run during a measurement; its work is done between loads.
import type pg from 'pg';
import type { Database } from '../../kernel/database.ts';

/** A table with its TOAST table, or an index. */
export interface Relation {
  name: string;
  /** `heap` or `index`. */
  kind: string;
  bytes: number;
  /** Rows or index entries, as counted by the last vacuum or analyze. */
  entries: number;
  /** Rows that no vacuum has removed yet; 0 for an index. */
  dead: number;
}

/** The relations of schema data, largest first. */
export async function readRelations(client: pg.Client): Promise<Relation[]> {
  await client.query('select pg_stat_clear_snapshot()');
  const { rows } = await client.query<Relation>(
    `select c.relname as name, case when c.relkind = 'i' then 'index' else 'heap' end as kind,
       (case when c.relkind = 'i' then pg_relation_size(c.oid) else pg_table_size(c.oid) end)::float8 as bytes,
       greatest(c.reltuples, 0)::float8 as entries, coalesce(s.n_dead_tup, 0)::float8 as dead
     from pg_class c left join pg_stat_all_tables s on s.relid = c.oid
     where c.relnamespace = 'data'::regnamespace and c.relkind in ('r', 'i')
     order by bytes desc, name`,
  );
  return rows;
}

/** Tables that autovacuum would vacuum or analyze now, by its rules and the table's settings. @returns the statements. */
export async function findVacuumDue(client: pg.Client): Promise<string[]> {
  await client.query('select pg_stat_clear_snapshot()');
  const setting = (name: string): string =>
    `coalesce((select option_value from pg_options_to_table(c.reloptions) where option_name = '${name}'),
       current_setting('${name}'))::float8`;
  const limit = (kind: string): string =>
    `${setting(`autovacuum_${kind}_threshold`)} + ${setting(`autovacuum_${kind}_scale_factor`)} * greatest(c.reltuples, 0)`;
  const { rows } = await client.query<{ name: string; isVacuum: boolean; isAnalyze: boolean }>(
    `select c.oid::regclass::text as name,
       s.n_dead_tup > ${limit('vacuum')} or s.n_ins_since_vacuum > ${limit('vacuum_insert')} as "isVacuum",
       s.n_mod_since_analyze > ${limit('analyze')} as "isAnalyze"
     from pg_class c join pg_stat_all_tables s on s.relid = c.oid
     where c.relnamespace = 'data'::regnamespace and c.relkind = 'r' order by name`,
  );
  return rows
    .filter(({ isVacuum, isAnalyze }) => isVacuum || isAnalyze)
    .map(({ name, isVacuum, isAnalyze }) =>
      isVacuum ? `vacuum${isAnalyze ? ' analyze' : ''} ${name}` : `analyze ${name}`,
    );
}

/** The current observations, and all their rows including ended ones. */
export async function countObservations(client: pg.Client): Promise<{ points: number; rows: number }> {
  const { rows } = await client.query<{ points: number; rows: number }>(
    `select count(*) filter (where superseded_on = 'infinity')::float8 as points, count(*)::float8 as rows from data.observations`,
  );
  return rows[0] ?? { points: Number.NaN, rows: Number.NaN };
}

/** The write-ahead log written since the cluster was created, in bytes. */
export async function readLogBytes(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ bytes: number }>(
    `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes`,
  );
  return rows[0]?.bytes ?? Number.NaN;
}

/** The highest load number. */
export async function readLastLoad(database: Database): Promise<number> {
  const [row] = await database.query<{ load_no: number }>('select max(load_no) as load_no from data.loads');
  if (row === undefined) throw new Error('an aggregate has one row');
  return row.load_no;
}
