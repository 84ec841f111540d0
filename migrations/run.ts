// Migrates a database to the newest schema, with umzug: numbered SQL files, forward only, each in its own transaction. An advisory lock makes
// concurrent runs wait for each other.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { SteadyClient } from '../kernel/database-circuit.ts';
import { schemaDifferences, selectMigrations, type Migration } from '../kernel/schema.sql.ts';
import { isBeforeBaseline } from './baseline.ts';

const lockId = 4_115_201; // any constant of our own
const isMigration = /^0.*\.sql$/;

/** The migrations of this version, in the order of their numbers. */
export function knownMigrations(
  directory: string = import.meta.dirname,
): readonly (Migration & { readonly sql: string })[] {
  const files = readdirSync(directory).filter((file) => isMigration.test(file));
  return files.toSorted().map((file) => {
    const sql = readFileSync(path.join(directory, file), 'utf8').replaceAll('\r\n', '\n'); // git may write either line end
    return {
      name: path.basename(file, '.sql'),
      checksum: createHash('sha256').update(sql).digest('hex'),
      sql,
    };
  });
}

/**
 * Runs the missing migrations in the order of their names. If none is missing, the database is only read, so a service may start with a role that
 * cannot change the schema.
 * @returns their names, in order; empty if it was up to date.
 * @throws Error if a newer version, or one before the baseline, has migrated the database, or if the file of an applied migration has changed;
 * nothing is run then. Error from PostgreSQL: the failing migration is rolled back, earlier ones remain.
 */
export async function migrate(
  databaseUrl: string,
  directory: string = import.meta.dirname,
): Promise<string[]> {
  const known = knownMigrations(directory);
  const client = new SteadyClient({ connectionString: databaseUrl, application_name: 'almanac migrate' });
  await client.connect();
  try {
    if ((await lackedBy(client, known)).length === 0) return [];
    await client.query('select pg_advisory_lock($1)', [lockId]);
    const lacked = await lackedBy(client, known); // another process may have run them meanwhile
    return lacked.length === 0 ? [] : await run(client, known, lacked);
  } finally {
    await client.end();
  }
}

/** The names of the missing migrations. @throws Error if this version must not change the database. */
async function lackedBy(client: pg.Client, known: readonly Migration[]): Promise<string[]> {
  const table = await client.query<{ exists: boolean }>(
    `select to_regclass('public.almanac_migrations') is not null as exists`,
  );
  if (table.rows[0]?.exists !== true) return known.map(({ name }) => name);
  const { rows: applied } = await client.query<Migration>(selectMigrations);
  if (isBeforeBaseline(applied)) {
    throw new Error(
      'A version of Almanac before 0.2 has made this database, and its schema cannot be migrated. Run "almanac backup <file>" with that version, ' +
        'and "almanac restore <file>" with this one, into an empty database. See "Upgrades" in docs/operations.md.',
    );
  }
  const { missing, changed, newer } = schemaDifferences(known, applied);
  if (newer.length > 0) {
    throw new Error(
      `A newer version of Almanac has migrated this database (${newer.join(', ')}). Start that version, or restore a backup from before.`,
    );
  }
  if (changed.length > 0) {
    throw new Error(
      `These migrations were applied with another text: ${changed.join(', ')}. An applied migration never changes: ` +
        'restore its file, and make the change in a new migration.',
    );
  }
  return missing;
}

async function run(
  client: pg.Client,
  known: readonly (Migration & { sql: string })[],
  lacked: readonly string[],
): Promise<string[]> {
  const { Umzug } = await import('umzug'); // loaded here, as most starts have nothing to migrate
  const umzug = new Umzug({
    context: client,
    logger: undefined,
    migrations: known.map((migration) => ({
      name: migration.name,
      up: () => runOne(client, migration),
    })),
    storage: {
      executed: () => Promise.resolve(known.map(({ name }) => name).filter((name) => !lacked.includes(name))),
      // The row is written in the migration's own transaction, below.
      logMigration: () => Promise.resolve(),
      unlogMigration: () => Promise.reject(new Error('migrations only go forward')),
    },
  });
  try {
    await client.query(`create table if not exists public.almanac_migrations (
      name text primary key, applied_at timestamptz not null default now(), checksum text not null)`);
    return (await umzug.up()).map(({ name }) => name);
  } catch (error) {
    throw isForbidden(error) ? ofTheOwner(lacked, error) : error;
  }
}

async function runOne(
  client: pg.Client,
  { name, checksum, sql }: Migration & { sql: string },
): Promise<void> {
  await client.query('begin');
  try {
    await client.query('insert into public.almanac_migrations (name, checksum) values ($1, $2)', [
      name,
      checksum,
    ]);
    await client.query(sql);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined); // without a connection the server has done it
    throw new Error(`migration ${name} failed`, { cause: error });
  }
}

/**
 * Whether PostgreSQL refused a statement to this role (42501), or in a read-only session (25006). Umzug stores the migration's error as the cause.
 */
function isForbidden(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return ['42501', '25006'].includes(error.code ?? '');
  return error instanceof Error && error.cause !== undefined && isForbidden(error.cause);
}

function ofTheOwner(lacked: readonly string[], cause: unknown): Error {
  return new Error(
    `The role of DATABASE_URL may not migrate this database, and it lacks ${lacked.join(', ')}. Run "almanac migrate" with the owner's DATABASE_URL first.`,
    { cause },
  );
}
