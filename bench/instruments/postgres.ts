// A PostgreSQL for one run of a bench: migrated databases, and the CPU time of their backends. It is removed with the run, also when the run is
// interrupted.
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../embedded/postgres.ts';
import { migrate } from '../../migrations/run.ts';

export interface BenchPostgres {
  /** A directory for the files of the run, removed with it. */
  directory: string;
  /** A new, migrated database. @returns its URL. */
  createDatabase(name: string): Promise<string>;
  dropDatabase(name: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts it. Ctrl-C and SIGTERM stop it too, and end the bench. @param settings of the server, besides those of an embedded one. */
export async function startBenchPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<BenchPostgres> {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-bench-'));
  chmodSync(directory, 0o755); // the server's user needs access when root runs the bench
  const starting = startEmbeddedPostgres(directory, settings);
  const remove = async (): Promise<void> => {
    await (await starting).stop();
    rmSync(directory, { recursive: true, force: true });
  };
  const onSignal = () => {
    process.on('uncaughtException', () => undefined); // running work fails when its server stops
    void remove().finally(() => process.exit(130));
  };
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.once(signal, onSignal);
  const postgres = await starting;
  await migrate(postgres.url);
  return {
    directory,
    async createDatabase(name) {
      const url = new URL(postgres.url);
      const template = url.pathname.slice(1);
      url.pathname = '/postgres';
      await statement(url.href, `create database ${name} template ${template}`);
      url.pathname = `/${name}`;
      return url.href;
    },
    async dropDatabase(name) {
      await statement(postgres.url, `drop database ${name} with (force)`);
    },
    async stop() {
      for (const signal of signals) process.off(signal, onSignal);
      await remove();
    },
  };
}

async function statement(url: string, text: string): Promise<void> {
  await withClient(url, (client) => client.query(text));
}

export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The CPU time that the backends of a database have used since they started; Linux only, otherwise NaN. */
export async function backendCpuUs(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>(
    'select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  try {
    // The first number of schedstat is the time on a core, in nanoseconds.
    const times = rows.map(({ pid }) => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]));
    return times.reduce((sum, time) => sum + time, 0) / 1000;
  } catch {
    return Number.NaN;
  }
}
