// Brings a database to the newest schema: numbered SQL files, forward only, each in a transaction of its own.
// Hides umzug. Two that run at once take turns by an advisory lock.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { Umzug } from 'umzug';

const lockId = 4_115_201; // any constant of our own

/**
 * Runs the migrations that the database lacks, in the order of their names. What was applied is never run again, whatever its
 * file says now; what the database has and the directory lacks, as after a newer version, is left as it is.
 * @returns their names, in order; empty where it was up to date.
 * @throws Error from PostgreSQL; the failing migration leaves nothing behind, those before it stay.
 */
export async function migrate(
  databaseUrl: string,
  directory: string = import.meta.dirname,
): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'almanac migrate' });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [lockId]);
    await client.query(`create table if not exists public.almanac_migrations (
      name text primary key, applied_at timestamptz not null default now())`);
    const umzug = new Umzug({
      context: client,
      logger: undefined,
      migrations: {
        glob: ['0*.sql', { cwd: directory }],
        resolve: ({ name, path: file }) => sqlMigration(name, file),
      },
      storage: {
        async executed() {
          const result = await client.query<{ name: string }>(
            'select name from public.almanac_migrations order by 1',
          );
          return result.rows.map((row) => row.name);
        },
        // The version row is written in the migration's own transaction, below.
        logMigration: () => Promise.resolve(),
        unlogMigration: () => Promise.reject(new Error('migrations only go forward')),
      },
    });
    return (await umzug.up()).map((migration) => migration.name);
  } finally {
    await client.end();
  }
}

function sqlMigration(name: string, file: string | undefined) {
  if (file === undefined) throw new Error(`migration ${name} has no file`);
  const sql = readFileSync(file, 'utf8');
  return {
    name: path.basename(name, '.sql'),
    async up({ context: client }: { context: pg.Client }) {
      await client.query('begin');
      try {
        await client.query('insert into public.almanac_migrations (name) values ($1)', [
          path.basename(name, '.sql'),
        ]);
        await client.query(sql);
        await client.query('commit');
      } catch (error) {
        await client.query('rollback');
        throw new Error(`migration ${name} failed`, { cause: error });
      }
    },
  };
}
