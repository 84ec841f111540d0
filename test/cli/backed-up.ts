// A database with the demo data and its backup, for tests; and the content of a database.
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { ExecutionContext } from 'ava';
import pg from 'pg';
import { createTestDatabase } from '../services/harness.ts';
import { commandLine, settingsOf } from './terminal.ts';

export const folder = mkdtempSync(path.join(tmpdir(), 'almanac-backup-'));
export const file = path.join(folder, 'demo.backup.gz');
export const source = await createTestDatabase();
export const almanac = commandLine(settingsOf(source.url));
export let stateBefore: Record<string, unknown>;

/** Fills the database, and backs it up. */
export async function backUpDemo(): Promise<void> {
  await almanac(['seed']);
  await almanac(['keys', 'create', 'demo@almanac.example']);
  const release = path.join(folder, 'release.csv');
  writeFileSync(release, 'series_id,date,value\nDEMO.CPI,2024-01,1\n');
  await almanac(['ingest', 'observations', release, '--release-at', '2199-12-16T10:00:00Z']);
  await onDatabase(source.url, async (query) => {
    await query(
      `update data.series set description = E'a\\tb\\nc\\\\.\\n\\\\.\\n\\\\N é€😀' where series_id = 'DEMO.CPI'`,
    );
    await query('select data.refresh_search(array(select series_no from data.series))');
  });
  stateBefore = await stateOf(source.url);
  const { code, stderr } = await almanac(['backup', file]);
  if (code !== 0) throw new Error(stderr);
}

export async function removeBackups(): Promise<void> {
  await source.drop();
  rmSync(folder, { recursive: true });
}

export type Query = (text: string) => Promise<Record<string, unknown>[]>;

export async function onDatabase<T>(url: string, work: (query: Query) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'tests' });
  await client.connect();
  try {
    return await work(async (text) => (await client.query<Record<string, unknown>>(text)).rows);
  } finally {
    await client.end();
  }
}

/** The content of every table, its constraints and triggers, and the sequences. */
export function stateOf(url: string): Promise<Record<string, unknown>> {
  return onDatabase(url, async (query) => {
    const state: Record<string, unknown> = {};
    const inSchemas = `in ('data'::regnamespace, 'accounts'::regnamespace, 'events'::regnamespace, 'embargo'::regnamespace)`;
    const tables = await query(
      `select oid::regclass::text as name from pg_class where relkind in ('r', 'p') and relnamespace ${inSchemas}`,
    );
    for (const { name } of tables)
      [state[String(name)]] = await query(
        `select count(*)::int as rows, md5(string_agg(r::text, '|' order by r::text)) as content from ${String(name)} r`,
      );
    state['constraints'] = await query(
      `select conrelid::regclass::text, conname, pg_get_constraintdef(oid), convalidated from pg_constraint
       where connamespace ${inSchemas} order by 1, 2`,
    );
    state['triggers'] = await query(
      `select tgrelid::regclass::text, tgname, tgenabled from pg_trigger where not tgisinternal order by 1, 2`,
    );
    state['sequences'] = await query(
      `select schemaname, sequencename, last_value from pg_sequences
       where schemaname in ('data', 'accounts', 'events', 'embargo') order by 1, 2`,
    );
    return state;
  });
}

/** A database of its own, its command line, and its state. */
export async function emptyDatabase(t: ExecutionContext) {
  const database = await createTestDatabase();
  t.teardown(() => database.drop());
  return {
    url: database.url,
    almanac: commandLine(settingsOf(database.url)),
    state: () => stateOf(database.url),
  };
}

/** Without the parts that a restore changes on purpose: numbers that must be new to every client. */
export function withoutNumbers(state: Record<string, unknown>): Record<string, unknown> {
  const sequences = (state['sequences'] as { sequencename: string }[]).filter(
    ({ sequencename }) => sequencename !== 'loads_load_no_seq',
  );
  return { ...state, 'data.loads': null, 'accounts.change_counter': null, sequences };
}

/** The numbers by which gateways and clients track changes. */
export async function numbersOf(url: string): Promise<{ load: number; change: number; nextLoad: number }> {
  const [row] = await onDatabase(url, (query) =>
    query(
      `select (select max(load_no) from data.loads)::float8 as load, no::float8 as change,
              nextval('data.loads_load_no_seq')::float8 as "nextLoad" from accounts.change_counter`,
    ),
  );
  return row as { load: number; change: number; nextLoad: number };
}

/** The backup with its text changed. */
export function changed(change: (text: string) => string, of = file): string {
  const before = gunzipSync(readFileSync(of)).toString();
  const after = change(before);
  if (after === before) throw new Error('nothing was changed');
  const other = path.join(folder, `${createHash('sha256').update(after).digest('hex')}.gz`);
  writeFileSync(other, gzipSync(after, { level: 1 }));
  return other;
}
