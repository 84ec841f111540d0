// The test run: a private PostgreSQL with a migrated template, a private Redis, then AVA; all of it stopped at the end.
// Arguments are passed on to AVA. In CI a skipped test fails the run.
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { projectRoot } from '../kernel/settings.ts';
import { startServers } from './servers.ts';
import { findLeaks, readRedis } from './traces.ts';

// Everything that a test or one of its processes puts into the directory for temporary files goes with this one.
const directory = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
chmodSync(directory, 0o755); // the server's user must reach it where root runs the tests
const temporary = path.join(directory, 'tmp');
mkdirSync(temporary);
chmodSync(temporary, 0o1777);
const servers = await startServers(directory);
try {
  const traces = path.join(directory, 'traces');
  mkdirSync(traces);
  const code = await runAva({ ...servers.env, TMPDIR: temporary, TEST_TRACES: traces });
  // A run that failed, or was stopped together with its servers, has failed whatever it left behind.
  process.exitCode = code === 0 && (await holdsSecrets(traces)) ? 1 : code;
} finally {
  await servers.stop();
  rmSync(directory, { recursive: true, force: true });
}

/** Says where a secret stands in what the run left: rows, log lines, Redis. @returns whether one does. */
async function holdsSecrets(traces: string): Promise<boolean> {
  const { leaks, secrets, bytes } = findLeaks(traces, [
    { name: 'redis', text: await readRedis(servers.env.TEST_REDIS_URL) },
  ]);
  for (const { what, where } of leaks.slice(0, 20)) process.stdout.write(`LEAK: ${what} in ${where}\n`);
  const searched = `${(bytes / 1e6).toFixed(1)} MB of rows and log lines searched for ${secrets} noted secrets`;
  process.stdout.write(`${searched} and the forms of all others: ${leaks.length} found\n`);
  return leaks.length > 0;
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
