// The statements of a backup and of a restore. They read the names of tables from PostgreSQL's catalogue, so a new table needs no change
// here.
import pg from 'pg';
import {
  from as copyFrom,
  to as copyTo,
  type CopyStreamQuery,
  type CopyToStreamQuery,
} from 'pg-copy-streams';
import type { Queryable, Transaction } from '../../kernel/database.ts';
import { selectMigrations, type Migration } from '../../kernel/schema.sql.ts';

// Schema jobs is omitted: it belongs to pg-boss and has only queued e-mails.
const schemas = ['data', 'accounts', 'events', 'embargo'];

/** A table, and the columns that can be written. */
export interface Table {
  table: string;
  columns: string[];
}

/** Reads everything from one snapshot, whatever the duration; and texts that do not depend on settings of the server. */
export async function beginReading(on: Transaction): Promise<void> {
  await on.query('set transaction isolation level repeatable read, read only');
  await plainTexts(on);
}

/** The process of PostgreSQL that serves this connection. */
export async function backendOf(on: Queryable): Promise<number> {
  const [row] = await on.query<{ pid: number }>('select pg_backend_pid() as pid');
  return row?.pid ?? 0;
}

/** Cancels the statement for which another connection waits. */
export async function cancelStatement(on: Queryable, backend: number): Promise<void> {
  await on.query('select pg_cancel_backend($1)', [backend]);
}

/** The maximum number of values, in both directions. */
async function plainTexts(on: Transaction): Promise<void> {
  await on.query(
    `select set_config('datestyle', 'ISO, YMD', true), set_config('intervalstyle', 'postgres', true),
       set_config('extra_float_digits', '3', true), set_config('bytea_output', 'hex', true), set_config('timezone', 'UTC', true),
       set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)`,
  );
}

export function readMigrations(on: Queryable): Promise<Migration[]> {
  return on.query<Migration>(selectMigrations);
}

/** All tables, by name. Columns that PostgreSQL computes are left out. */
export function readTables(on: Queryable): Promise<Table[]> {
  return on.query<Table>(
    `select format('%I.%I', n.nspname, c.relname) as table,
            array_agg(quote_ident(a.attname) order by a.attnum) as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     where n.nspname = any($1) and c.relkind in ('r', 'p') and not c.relispartition
     group by n.nspname, c.relname order by n.nspname, c.relname`,
    [schemas],
  );
}

/** The last value of each sequence; 0 if it was never used. */
export async function readSequences(on: Queryable): Promise<Record<string, string>> {
  const rows = await on.query<{ name: string; value: string }>(
    `select format('%I.%I', schemaname, sequencename) as name, coalesce(last_value, 0)::text as value
     from pg_sequences where schemaname = any($1) order by 1`,
    [schemas],
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

/** The rows of a table, in COPY's text format. */
export function copyOut({ client }: Transaction, { table, columns }: Table): CopyToStreamQuery {
  return client.query(copyTo(`copy (select ${columns.join(', ')} from ${table}) to stdout`));
}

export function copyIn({ client }: Transaction, { table, columns }: Table): CopyStreamQuery {
  return client.query(copyFrom(`copy ${table} (${columns.join(', ')}) from stdin`));
}

export async function countRows(on: Queryable, { table }: Table): Promise<number> {
  const [row] = await on.query<{ count: number }>(`select count(*) as count from ${table}`);
  return row?.count ?? 0;
}

/** Whether anything was loaded, or anybody has signed up: all other rows depend on one of these. */
export async function isEmpty(on: Queryable): Promise<boolean> {
  const [row] = await on.query<{ empty: boolean }>(
    `select not exists (select from data.loads) and not exists (select from data.series)
        and not exists (select from accounts.accounts) and not exists (select from accounts.signups) as empty`,
  );
  return row?.empty === true;
}

/** The programs of Almanac that are connected to this database, besides this one. */
export async function connectedPrograms(on: Queryable): Promise<string[]> {
  // The name of a connection by another role may be hidden.
  const rows = await on.query<{ program: string }>(
    `select distinct case when application_name like 'almanac%' then application_name else usename end as program
     from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
       and (application_name like 'almanac%' or usename ~ '^almanac_((data|accounts)_api|publisher)') order by 1`,
  );
  return rows.map(({ program }) => program);
}

/**
 * Empties all tables, and lets them accept rows in any order, without the effects of triggers.
 * @returns the foreign keys that `endRestore` adds again, which checks all rows at once.
 */
export async function beginRestore(on: Transaction, tables: readonly Table[]): Promise<string[]> {
  await plainTexts(on);
  const names = tables.map(({ table }) => table);
  const keys = await on.query<{ drop: string; add: string }>(
    `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop,
            format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as add
     from pg_constraint where contype = 'f' and conparentid = 0 and conrelid = any($1::regclass[]) order by conrelid::regclass::text, conname`,
    [names],
  );
  for (const { drop } of keys) await on.query(drop);
  for (const table of names) await on.query(`alter table ${table} disable trigger user`);
  await on.query(`truncate ${names.join(', ')}`);
  return keys.map(({ add }) => add);
}

/** Adds what `beginRestore` removed. @throws Error of PostgreSQL if a row has a broken reference. */
export async function endRestore(
  on: Transaction,
  tables: readonly Table[],
  keys: readonly string[],
): Promise<void> {
  for (const { table } of tables) await on.query(`alter table ${table} enable trigger user`);
  for (const key of keys) await on.query(key);
}

/** @param sequences by names that `readSequences` gave of this database. */
export async function setSequences(
  on: Queryable,
  sequences: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, value] of Object.entries(sequences)) {
    // It gives the sequence a new file, which a rollback discards: setval alone would outlast it.
    await on.query(`alter sequence ${name} restart`);
    await on.query('select setval($1::regclass, greatest($2::bigint, 1), $2::bigint > 0)', [name, value]);
  }
}

/** Deletes the queued e-mails: they belong to the state that is replaced. pg-boss creates its tables again. */
export async function emptyJobs(on: Queryable): Promise<void> {
  await on.query('drop schema jobs cascade');
  await on.query('create schema jobs');
  await on.query(`do $$ begin
    if exists (select from pg_roles where rolname = 'almanac_accounts_api') then
      grant usage, create on schema jobs to almanac_accounts_api;
    end if;
  end $$`);
}

/**
 * Makes numbers from before the restore useless to anyone who still has them: the newest load and the last change of an account get numbers
 * that no earlier one has reached, the milliseconds since 1970 (a load takes more than one). The registrations of gateways are deleted: each
 * registers again.
 * @returns the number of the newest load.
 */
export async function advanceNumbers(on: Queryable): Promise<number> {
  const [row] = await on.query<{ now: number }>(
    'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now',
  );
  const [load] = await on.query<{ load_no: number }>(
    `insert into data.loads (load_no, dataset, source_name, vintage, complete) overriding system value
     select greatest(max(load_no) + 1, $1), 'restore', 'almanac restore', current_date, true from data.loads returning load_no`,
    [row?.now],
  );
  if (load === undefined) throw new Error('the restored state got no number');
  await on.query(`select setval(pg_get_serial_sequence('data.loads', 'load_no'), $1)`, [load.load_no]);
  await on.query(
    'update accounts.change_counter set no = greatest(no + 1, $1), forgotten = greatest(no + 1, $1)',
    [row?.now],
  );
  await on.query('delete from accounts.quota_blocks');
  await on.query('delete from accounts.gateways');
  await on.query('update accounts.quota_months set out = 0 where out > 0');
  return load.load_no;
}

/** Analyzes the tables, so that the first calls are planned well. */
export async function analyze(on: Queryable, tables: readonly Table[]): Promise<void> {
  await on.query(`analyze ${tables.map(({ table }) => table).join(', ')}`);
}

/** Whether PostgreSQL refused a statement to the role. */
export function isForbidden(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '42501';
}
