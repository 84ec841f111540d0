// The servers of a test run: a private PostgreSQL with a migrated template, and a private Redis, on free ports of the
// loopback interface. Hides where they come from and how they start and stop.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import pg from 'pg';
import { startEmbeddedPostgres } from '../embedded/postgres.ts';
import { migrate } from '../migrations/run.ts';
import { freePort } from './instance.ts';

const templateDatabase = 'almanac_template';

export interface Servers {
  /** What the tests find them by: to be added to the environment of AVA. */
  env: { TEST_POSTGRES_URL: string; TEST_REDIS_URL: string };
  stop(): Promise<void>;
}

/** @param directory where their data goes; the user that PostgreSQL runs as must be able to enter it. */
export async function startServers(directory: string): Promise<Servers> {
  const postgres = await startEmbeddedPostgres(directory);
  const redis = await startRedis(directory);
  await makeTemplate(postgres.url);
  return {
    env: { TEST_POSTGRES_URL: postgres.url, TEST_REDIS_URL: redis.url },
    async stop() {
      redis.server.kill('SIGTERM');
      await postgres.stop();
    },
  };
}

async function makeTemplate(serverUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`create database ${templateDatabase}`);
  await client.end();
  const template = new URL(serverUrl);
  template.pathname = `/${templateDatabase}`;
  await migrate(template.href);
}

/** A Redis of our own on a free port: never one that runs already. */
async function startRedis(dataDir: string): Promise<{ url: string; server: ChildProcess }> {
  if (!has('redis-server')) installRedis();
  const port = await freePort();
  const options = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    dataDir,
  ];
  const server = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`redis-server ended with code ${code}`)));
    server.stdout.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('Ready to accept connections')) resolve();
    });
  });
  return { url: `redis://127.0.0.1:${port}`, server };
}

function installRedis(): void {
  if (!existsSync('/etc/debian_version') || process.getuid?.() !== 0) {
    throw new Error(
      'The tests need redis-server on the PATH: install it (Debian: apt-get install redis-server).',
    );
  }
  process.stdout.write('Installing redis-server for the tests …\n');
  // Debian starts the service after installing; policy-rc.d is left alone, the tests never speak to that one.
  for (const args of [
    ['update', '-qq'],
    ['install', '-y', '-qq', '--no-install-recommends', 'redis-server'],
  ]) {
    const result = spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'] });
    if (result.status !== 0) throw new Error(`apt-get ${args.join(' ')} failed`);
  }
}

function has(program: string): boolean {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
}
