// Shared by the tests: a database per test file, cloned from the migrated template; a private Redis; a clock that tests can set.
// `npm test` (test/run.ts) starts the servers and passes their URLs.
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import { createLog, type Log } from '../../kernel/log/log.ts';
import { saveRows, logTrace } from '../run/traces.ts';
import { eventsIn } from './outbox.ts';
import { requireFreshSearch } from '../migrations/search-entries.ts';

const leaveTimeoutMs = 3_000;

/** Shows nothing; its lines are searched for secrets at the end of the run. */
export const silentLog: Log = createLog('test', 'trace', logTrace);

/** For services that tests start; 32 characters or more. */
export const testIdentitySecret = 'a secret of the tests, long enough';

export interface MovableClock extends Clock {
  set(instant: string): void;
  advance(milliseconds: number): void;
}

/** Stopped until it is moved. */
export interface FakeClock extends MovableClock {
  /** Receives the time, in ms since 1970: now, and whenever the clock is moved. */
  follow(listener: (nowMs: number) => void): void;
}

export function fakeClock(start: string): FakeClock {
  let now = Date.parse(start);
  const listeners: ((nowMs: number) => void)[] = [];
  const move = (to: number) => {
    now = to;
    for (const listener of listeners) listener(now);
  };
  return {
    now: () => new Date(now),
    set: (instant) => move(Date.parse(instant)),
    advance: (milliseconds) => move(now + milliseconds),
    follow: (listener) => {
      listeners.push(listener);
      listener(now);
    },
  };
}

/** A fresh database with all migrations applied; call `drop` at the end of the file. */
export async function createTestDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const server = requireEnv('TEST_POSTGRES_URL');
  const name = `test_${randomBytes(8).toString('hex')}`;
  await onServer(server, `create database ${name} template almanac_template strategy file_copy`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  async function drop(): Promise<void> {
    await saveRows(url.href);
    try {
      await eventsIn(url.href); // throws if a test has written an event that does not match the catalogue
      await requireFreshSearch(url.href); // throws if a test has changed a series without its search entry
    } finally {
      await dropDatabase(server, name);
    }
  }
  return { url: url.href, drop };
}

/** The same database on the replica of this run, for data-api; undefined: the run has no replica. */
export function testReplica(databaseUrl: string): { url: string; lagMaxMs: number } | undefined {
  const server = process.env['TEST_REPLICA_URL'];
  if (server === undefined) return undefined;
  const url = new URL(databaseUrl);
  url.host = new URL(server).host;
  return { url: url.href, lagMaxMs: 0 };
}

/** The Redis Cluster of this run; undefined: the run has no cluster. */
export function testRedisClusterUrl(): string | undefined {
  return process.env['TEST_REDIS_CLUSTER_URL'];
}

/** The private Redis of this run. Test files share its keys: use a prefix or ids of your own. */
export function testRedisUrl(): string {
  return requireEnv('TEST_REDIS_URL');
}

/**
 * A pool that has ended may still have a closing socket. A backend that is terminated then makes its client throw without a listener. So this waits
 * for the connections to close, and terminates only the remaining ones.
 */
async function dropDatabase(server: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    const deadline = Date.now() + leaveTimeoutMs;
    for (;;) {
      const { rowCount } = await client.query('select from pg_stat_activity where datname = $1', [name]);
      if (rowCount === 0 || Date.now() > deadline) break;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await client.query(`drop database ${name} with (force)`);
  } finally {
    await client.end();
  }
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // Two files may clone the template at once: PostgreSQL refuses while another session uses it.
    await client.query('select pg_advisory_lock(1)');
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function requireEnv(name: string): string {
  const value = process.env[name];
  if (value === undefined)
    throw new Error(`${name} is not set: run the tests by npm test (or node test/run.ts FILE).`);
  return value;
}

/** A log, and the messages written to it. */
export function listening(): { log: Log; messages: string[] } {
  const messages: string[] = [];
  const write = (line: string) => void messages.push((JSON.parse(line) as { msg: string }).msg);
  return { log: createLog('test', 'info', { write }), messages };
}
