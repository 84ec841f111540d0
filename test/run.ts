// The test run: a private PostgreSQL with a migrated template, a private Redis, then AVA; it leaves nothing behind, however
// it ends. With --check as its first argument types and lint come first. Other arguments are passed to AVA. In CI a skipped test
// fails the run, and so does a file that a test leaves in the project. With TEST_SET_UP=production the services read from a replica, and
// use a Redis Cluster (test/production/run.ts).
import { spawn, type ChildProcess } from 'node:child_process';
import { globSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { projectRoot } from '../kernel/project.ts';
import { runGuarded } from './run/guard.ts';
import { processesOf, type Run } from './run/run-processes.ts';
import { startServers } from './run/servers.ts';
import { findLeaks, readRedis } from './run/traces.ts';
import { within } from './run/until.ts';
import { leftInWorkTree, workTreeOf } from './run/work-tree.ts';

await runGuarded(async (run) => {
  const words = process.argv.slice(2);
  if (words[0] !== '--check') return runTests(run, words);
  const check = await endOf(spawn('npm', ['run', 'check'], { stdio: 'inherit' }));
  return check === 0 ? runTests(run, words.slice(1)) : check;
});

/** @param words for AVA. @returns the exit code. */
async function runTests(run: Run, words: readonly string[]): Promise<number> {
  const before = workTreeOf(projectRoot);
  const traces = path.join(run.directory, 'traces');
  mkdirSync(traces);
  const servers = await startServers(run.directory, process.env['TEST_SET_UP'] === 'production');
  await stripTypes(words);
  const code = await runAva(words, { ...servers.env, TEST_TRACES: traces });
  const hasLeaks = code === 0 && (await reportLeaks(traces, servers.env.TEST_REDIS_URL));
  await servers.stop();
  const isLeft = await leavesProcesses(run);
  const isWritten = leavesFiles(before);
  return code === 0 && (hasLeaks || isLeft || isWritten) ? 1 : code;
}

/** Names the files that tests have left in the project. Only CI fails for them: elsewhere somebody may be editing. */
function leavesFiles(before: ReadonlySet<string> | null): boolean {
  const left = leftInWorkTree(projectRoot, before);
  for (const line of left.slice(0, 20)) process.stdout.write(`LEFT IN THE PROJECT: ${line}\n`);
  return left.length > 0 && process.env['CI'] !== undefined;
}

/** Names the processes that tests have started and not ended. A moment is theirs: some were only just asked to. */
async function leavesProcesses(run: Run): Promise<boolean> {
  for (const giveUpAtMs = performance.now() + 5_000; ; await pause(50)) {
    const left = processesOf(run);
    if (left.length > 0 && performance.now() < giveUpAtMs) continue;
    for (const { pid, command } of left) process.stdout.write(`LEFT RUNNING: process ${pid}, ${command}\n`);
    return left.length > 0;
  }
}

/** Reports secrets in the leftovers of the run: rows, log lines, Redis. @returns whether there is one. */
async function reportLeaks(traces: string, redisUrl: string): Promise<boolean> {
  const { leaks, secrets, bytes } = findLeaks(traces, [
    { name: 'redis', text: await within('Redis is read', readRedis(redisUrl)) },
  ]);
  for (const { what, where } of leaks.slice(0, 20)) process.stdout.write(`LEAK: ${what} in ${where}\n`);
  const searched = `${(bytes / 1e6).toFixed(1)} MB of rows and log lines searched for ${secrets} noted secrets`;
  process.stdout.write(`${searched} and the forms of all others: ${leaks.length} found\n`);
  return leaks.length > 0;
}

/** Has the compile cache of the run hold the test files without types. @param words for AVA, which runs all test files if they name none. */
async function stripTypes(words: readonly string[]): Promise<void> {
  const named = words.filter((word) => word.endsWith('.test.ts'));
  if (named.length > 0 && named.length < 10) return; // it takes longer than it saves
  const files =
    named.length > 0 ? named : globSync('**/*.test.ts', { cwd: projectRoot, exclude: ['**/node_modules'] });
  const program = path.join(import.meta.dirname, 'run/strip-types.ts');
  const code = await endOf(
    spawn(process.execPath, [program, ...files], { cwd: projectRoot, stdio: 'inherit' }),
  );
  if (code !== 0) throw new Error(`test/run/strip-types.ts ended with ${code}.`);
}

/** @returns the exit code. */
async function runAva(words: readonly string[], env: Record<string, string>): Promise<number> {
  const ava = path.join(projectRoot, 'node_modules/ava/entrypoints/cli.js');
  const child = spawn(process.execPath, [ava, ...words], {
    cwd: projectRoot,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let tail = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    process.stdout.write(text);
    tail = (tail + text).slice(-8_000);
  });
  const code = await endOf(child);
  if (code !== 0) return code;
  tail = stripVTControlCharacters(tail);
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

async function endOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));
}
