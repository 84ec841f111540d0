// Brings a database to the newest schema: numbered SQL files, forward only, each in a transaction of its own.
// Hides umzug and the table of what was applied. Two that run at once take turns by an advisory lock.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { schemaDifferences, selectMigrations, type Migration } from '../kernel/schema.sql.ts';

const lockId = 4_115_201; // any constant of our own
const isMigration = /^0.*\.sql$/;

/** The migrations of this version, in the order of their numbers. */
export function knownMigrations(
  directory: string = import.meta.dirname,
): readonly (Migration & { readonly sql: string })[] {
  const files = readdirSync(directory).filter((file) => isMigration.test(file));
  return files.toSorted().map((file) => {
    const sql = readFileSync(path.join(directory, file), 'utf8').replaceAll('\r\n', '\n'); // git may write either
    return {
      name: path.basename(file, '.sql'),
      checksum: createHash('sha256').update(sql).digest('hex'),
      sql,
    };
  });
}

/**
 * Runs the migrations that the database lacks, in the order of their names. If it lacks none it is only read: a service may start with
 * a role that cannot change the schema.
 * @returns their names, in order; empty if it was up to date.
 * @throws Error if a newer version has migrated the database, or if the file of an applied migration has changed: nothing is run then.
 * Error from PostgreSQL; the failing migration leaves nothing behind, those before it stay.
 */
export async function migrate(
  databaseUrl: string,
  directory: string = import.meta.dirname,
): Promise<string[]> {
  const known = knownMigrations(directory);
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'almanac migrate' });
  await client.connect();
  try {
    if ((await lackedBy(client, known)) === null) return [];
    await client.query('select pg_advisory_lock($1)', [lockId]);
    const lacked = await lackedBy(client, known); // another process may have run them meanwhile
    if (lacked === null) return [];
    return await run(client, known, lacked);
  } finally {
    await client.end();
  }
}

/**
 * The names of the migrations that the database lacks. An empty list: only their record has to be completed. Null: nothing is to be done.
 * @throws Error if this version must not touch the database.
 */
async function lackedBy(client: pg.Client, known: readonly Migration[]): Promise<string[] | null> {
  const columns = await client.query<{ attname: string }>(
    `select attname from pg_attribute
     where attrelid = to_regclass('public.almanac_migrations') and attname in ('name', 'checksum')`,
  );
  if (columns.rowCount === 0) return known.map(({ name }) => name);
  const text =
    columns.rowCount === 1
      ? 'select name, null as checksum from public.almanac_migrations order by 1' // of an older version
      : selectMigrations;
  const { rows: applied } = await client.query<Migration>(text);
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
  const isRecorded = applied.every(({ checksum }) => checksum !== null);
  return missing.length === 0 && isRecorded ? null : missing;
}

async function run(
  client: pg.Client,
  known: readonly (Migration & { sql: string })[],
  lacked: readonly string[],
): Promise<string[]> {
  const { Umzug } = await import('umzug'); // here: most starts have nothing to migrate
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
      name text primary key, applied_at timestamptz not null default now())`);
    await client.query('alter table public.almanac_migrations add column if not exists checksum text');
    // What an older version applied, and did not take the checksum of, counts as unchanged.
    await client.query(
      `update public.almanac_migrations as applied set checksum = known.checksum
       from unnest($1::text[], $2::text[]) as known (name, checksum)
       where applied.name = known.name and applied.checksum is null`,
      [known.map(({ name }) => name), known.map(({ checksum }) => checksum)],
    );
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
    await client.query('rollback');
    throw new Error(`migration ${name} failed`, { cause: error });
  }
}

/** Whether PostgreSQL refused a statement to this role (42501), or to one that only reads (25006). Umzug keeps what a migration threw as the cause. */
function isForbidden(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return ['42501', '25006'].includes(error.code ?? '');
  return error instanceof Error && error.cause !== undefined && isForbidden(error.cause);
}

function ofTheOwner(lacked: readonly string[], cause: unknown): Error {
  const what =
    lacked.length === 0 ? 'the record of its migrations is incomplete' : `it lacks ${lacked.join(', ')}`;
  return new Error(
    `The role of DATABASE_URL may not migrate this database, and ${what}. Run "almanac migrate" with the owner's DATABASE_URL first.`,
    { cause },
  );
}
