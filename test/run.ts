// The test run: a private PostgreSQL with a migrated template, a private Redis, then AVA; all of it stopped at the end.
// Arguments are passed on to AVA. In CI a skipped test fails the run.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../embedded/postgres.ts';
import { projectRoot } from '../kernel/settings.ts';
import { migrate } from '../migrations/run.ts';
import { freePort } from './instance.ts';
import { findLeaks, readRedis } from './traces.ts';

const templateDatabase = 'almanac_template';

// Everything that a test or one of its processes puts into the directory for temporary files goes with this one.
const directory = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
chmodSync(directory, 0o755); // the server's user must reach it where root runs the tests
const temporary = path.join(directory, 'tmp');
mkdirSync(temporary);
chmodSync(temporary, 0o1777);
const postgres = await startEmbeddedPostgres(directory);
const redis = await startRedis(directory);
try {
  await makeTemplate(postgres.url);
  const traces = path.join(directory, 'traces');
  mkdirSync(traces);
  const code = await runAva({
    TMPDIR: temporary,
    TEST_POSTGRES_URL: postgres.url,
    TEST_REDIS_URL: redis.url,
    TEST_TRACES: traces,
  });
  // A run that failed, or was stopped together with its servers, has failed whatever it left behind.
  process.exitCode = code === 0 && (await holdsSecrets(traces)) ? 1 : code;
} finally {
  redis.server.kill('SIGTERM');
  await postgres.stop();
  rmSync(directory, { recursive: true, force: true });
}

/** Says where a secret stands in what the run left: rows, log lines, Redis. @returns whether one does. */
async function holdsSecrets(traces: string): Promise<boolean> {
  const { leaks, secrets, bytes } = findLeaks(traces, [{ name: 'redis', text: await readRedis(redis.url) }]);
  for (const { what, where } of leaks.slice(0, 20)) process.stdout.write(`LEAK: ${what} in ${where}\n`);
  const searched = `${(bytes / 1e6).toFixed(1)} MB of rows and log lines searched for ${secrets} noted secrets`;
  process.stdout.write(`${searched} and the forms of all others: ${leaks.length} found\n`);
  return leaks.length > 0;
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

async function runAva(env: Record<string, string>): Promise<number> {
  const ava = path.join(projectRoot, 'node_modules/ava/entrypoints/cli.js');
  const child = spawn(process.execPath, [ava, ...process.argv.slice(2)], {
    cwd: projectRoot,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // Stopped from outside, the run still ends in good order: servers and directories are not left behind.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => child.kill('SIGTERM'));
  let tail = '';
  child.stdout.on('data', (chunk: Buffer) => {
    process.stdout.write(chunk);
    tail = (tail + chunk.toString()).slice(-4_000);
  });
  const code = await new Promise<number>((resolve) => child.once('close', (status) => resolve(status ?? 1)));
  if (code !== 0) return code;
  // AVA's closing lines are coloured words; this one line is for people and machines alike.
  const count = (word: string) => new RegExp(`(\\d+)(?: tests?)? ${word}`).exec(tail)?.[1] ?? '0';
  process.stdout.write(`${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped\n`);
  const skipped = /\d+ tests? (skipped|todo)/.exec(tail);
  if (skipped !== null && process.env['CI'] !== undefined) {
    process.stdout.write(`In CI no test may be left out: ${skipped[0]}.\n`);
    return 1;
  }
  return 0;
}
