// The servers of a test run: a private PostgreSQL with a migrated template, and a private Redis, on free ports of the loopback interface. Finds,
// starts and stops them.
import path from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../embedded/postgres.ts';
import { partitionObservations } from '../../migrations/partitions.ts';
import { openServiceRoles } from '../../migrations/roles.ts';
import { migrate } from '../../migrations/run.ts';
import { startPool } from '../production/pool.ts';
import { startPostgresUnit, startReplicaUnit } from '../services/postgres.ts';
import { startRedis } from '../services/redis.ts';
import { startRedisCluster } from '../services/redis-sets.ts';
import { needFont, needProgram } from './debian.ts';

const templateDatabase = 'almanac_template';

export interface Servers {
  /** The variables by which tests find them, to be added to the environment of AVA. */
  env: {
    TEST_POSTGRES_URL: string;
    TEST_REDIS_URL: string;
    TEST_REPLICA_URL?: string;
    TEST_REDIS_CLUSTER_URL?: string;
    TEST_POOL_URL?: string;
  };
  stop(): Promise<void>;
}

// Test data need not survive a crash of the machine: nothing waits for the disk, and the log stays small. No database exists long enough to need a
// vacuum, and the result of a test must not depend on whether one has run.
const settings = {
  ...{ fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_wal_size: '128MB' },
  autovacuum: 'off',
};

/**
 * @param directory for PostgreSQL's data; the user that it runs as must be able to enter it.
 * @param asInProduction adds a streaming replica, and a Redis Cluster; the observations have partitions.
 */
export async function startServers(directory: string, asInProduction = false): Promise<Servers> {
  needProgram('redis-server', 'redis-server');
  needFont();
  if (asInProduction) return startProductionServers(directory);
  const redis = await startRedis();
  const postgres = await startPostgres(directory).catch(async (error: unknown) => {
    await redis.stop();
    throw error;
  });
  return {
    env: { TEST_POSTGRES_URL: postgres.url, TEST_REDIS_URL: redis.url },
    async stop() {
      await redis.stop();
      await postgres.stop();
    },
  };
}

/**
 * A commit waits until the replica has applied it, so that rows that a test writes directly, not by a load, are visible there at once. Other tests
 * cover a replica that lags.
 */
async function startProductionServers(directory: string): Promise<Servers> {
  const over = new AbortController();
  const redis = await startRedis();
  const cluster = await startRedisCluster();
  const primary = await startPostgresUnit(directory, over.signal);
  // The same as for a single server; the replica is a copy and has them too.
  await run(primary.url, [
    ...['fsync', 'full_page_writes', 'autovacuum'].map((name) => `alter system set ${name} = off`),
    'select pg_reload_conf()',
  ]);
  await makeTemplate(primary.url, { partitions: 8 });
  const replica = await startReplicaUnit(primary, path.join(directory, 'replica'), over.signal);
  await run(primary.url, [
    "alter system set synchronous_standby_names = '*'",
    'alter system set synchronous_commit = remote_apply',
    'select pg_reload_conf()',
  ]);
  const pool = await startPool(directory);
  return {
    env: {
      ...{ TEST_POSTGRES_URL: primary.url, TEST_REDIS_URL: redis.url, TEST_POOL_URL: pool.url },
      ...{ TEST_REPLICA_URL: replica.url, TEST_REDIS_CLUSTER_URL: cluster.url },
    },
    async stop() {
      const { services, processes } = await pool.stop();
      process.stdout.write(`${services} services ran, in ${processes} processes\n`);
      over.abort();
      await cluster.stop();
      await redis.stop();
      await replica.kill();
      await primary.kill();
    },
  };
}

async function run(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Only PostgreSQL, with the migrated template. @param directory as for `startServers`. */
export async function startPostgres(directory: string): Promise<{ url: string; stop(): Promise<void> }> {
  const postgres = await startEmbeddedPostgres(directory, settings);
  try {
    await makeTemplate(postgres.url);
  } catch (error) {
    await postgres.stop();
    throw error;
  }
  return postgres;
}

/** Recreates the template: migrated, with the roles of the services. */
export async function makeTemplate(
  serverUrl: string,
  { partitions }: { partitions?: number } = {},
): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`drop database if exists ${templateDatabase} with (force)`);
  await client.query(`create database ${templateDatabase}`);
  await client.end();
  const template = new URL(serverUrl);
  template.pathname = `/${templateDatabase}`;
  await migrate(template.href);
  await openServiceRoles(template.href, true);
  if (partitions !== undefined) await partitionObservations(template.href, partitions);
}
