// The test run: a private PostgreSQL with a migrated template, a private Redis, then AVA; nothing of it outlives the run, however
// that ends. Arguments are passed on to AVA. In CI a skipped test fails the run.
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { projectRoot } from '../kernel/settings.ts';
import { startGuard, type Guard } from './guard.ts';
import { processesOf } from './run-processes.ts';
import { startServers } from './servers.ts';
import { findLeaks, readRedis } from './traces.ts';

const stopped = stopSignal();
const guard = await startGuard();
Object.assign(process.env, guard.env);
const outcome = await Promise.race([stopped, runTests(guard)]).finally(guard.end);
if (typeof outcome === 'number') process.exit(outcome);
// Whoever started the run sees it ended by the signal that ended it.
process.removeAllListeners(outcome);
process.kill(process.pid, outcome);

/** Resolves when the run is told to end: by a signal, or by the end of the npm that started it, which when killed tells nobody. */
function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals) => {
      process.on('uncaughtException', () => undefined); // what is under way fails as its servers go
      resolve(signal);
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
    const npm = Number(process.env['TEST_PARENT_PID']);
    if (npm > 0) setInterval(() => process.ppid !== npm && stop('SIGTERM'), 250).unref();
  });
}

/** @returns the exit code. */
async function runTests({ directory }: Guard): Promise<number> {
  const traces = path.join(directory, 'traces');
  mkdirSync(traces);
  const servers = await startServers(directory);
  const code = await runAva({ ...servers.env, TEST_TRACES: traces });
  const holds = code === 0 && (await holdsSecrets(traces, servers.env.TEST_REDIS_URL));
  await servers.stop();
  const isLeft = await leavesProcesses();
  return code === 0 && (holds || isLeft) ? 1 : code;
}

/** Names the processes that tests have started and not ended. A moment is theirs: some were only just told to. */
async function leavesProcesses(): Promise<boolean> {
  for (const giveUpAtMs = performance.now() + 5_000; ; await pause(50)) {
    const left = processesOf(guard);
    if (left.length > 0 && performance.now() < giveUpAtMs) continue;
    for (const { pid, command } of left) process.stdout.write(`LEFT RUNNING: process ${pid}, ${command}\n`);
    return left.length > 0;
  }
}

/** Says where a secret stands in what the run left: rows, log lines, Redis. @returns whether one does. */
async function holdsSecrets(traces: string, redisUrl: string): Promise<boolean> {
  const { leaks, secrets, bytes } = findLeaks(traces, [{ name: 'redis', text: await readRedis(redisUrl) }]);
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
