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
  const code = await runAndRepeat(words, { ...servers.env, TEST_TRACES: traces });
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

/**
 * In CI files with failed tests are run once more, one after another: next to others, on a slow machine, a test may wait too long. The failure
 * stays in the output, and is a bug of the test.
 */
async function runAndRepeat(words: readonly string[], env: Record<string, string>): Promise<number> {
  const { code, failed } = await runAva(words, env);
  if (code === 0 || failed === null || process.env['CI'] === undefined) return code;
  process.stdout.write(`\nFAILED beside others, now alone: ${failed.join(' ')}\n`);
  return (await runAva(['--concurrency=1', ...failed], env)).code;
}

/** The files of the failed tests, or null if it is not known of each failure. @param output of AVA. */
function failedFiles(output: string): string[] | null {
  const count = Number(/^ {2}(\d+) tests? failed$/m.exec(output)?.[1] ?? 0);
  const titles = [...output.matchAll(/✘ \[fail\]: (.*)$/gm)].map(([, title = '']) => title);
  const files = globSync('**/*.test.ts', { cwd: projectRoot, exclude: ['**/node_modules'] });
  const found = titles.map((title) => fileOf(title, files));
  const isMore = /uncaught exception|unhandled rejection|exited|timed out|interrupted/i;
  const isKnown = count > 0 && found.length === count && !found.includes(null);
  if (!isKnown || isMore.test(output.slice(output.lastIndexOf('─')))) return null;
  return [...new Set(found.filter((file) => file !== null))];
}

/** AVA begins a title with the path of the file, less the folders that all files of the run share. @returns null if several may be meant. */
function fileOf(title: string, files: readonly string[]): string | null {
  const pathOf = (file: string, from: number) =>
    `${file
      .replace(/\.test\.ts$/, '')
      .split('/')
      .slice(from)
      .join(' › ')} › `;
  const whole = files.filter((file) => title.startsWith(pathOf(file, 0)));
  // The longest match: series.test.ts is next to series/latest.test.ts.
  if (whole.length > 0) return whole.reduce((a, b) => (a.length > b.length ? a : b));
  const ends = files.filter((file) => [1, 2].some((from) => title.startsWith(pathOf(file, from))));
  const [only] = ends;
  return ends.length === 1 && only !== undefined ? only : null;
}

/** @returns the exit code, and what `failedFiles` says. */
async function runAva(
  words: readonly string[],
  env: Record<string, string>,
): Promise<{ code: number; failed: string[] | null }> {
  const ava = path.join(projectRoot, 'node_modules/ava/entrypoints/cli.js');
  const child = spawn(process.execPath, [ava, ...words], {
    cwd: projectRoot,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    process.stdout.write(text);
    output += text;
  });
  const code = await endOf(child);
  output = stripVTControlCharacters(output);
  if (code !== 0) return { code, failed: failedFiles(output) };
  const tail = output.slice(-4_000);
  // AVA's closing lines are coloured words; this one line is for people and machines alike.
  const count = (word: string) => new RegExp(`(\\d+)(?: tests?)? ${word}`).exec(tail)?.[1] ?? '0';
  process.stdout.write(`${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped\n`);
  const skipped = /\d+ tests? (skipped|todo)/.exec(tail);
  if (skipped !== null && process.env['CI'] !== undefined) {
    process.stdout.write(`In CI no test may be left out: ${skipped[0]}.\n`);
    return { code: 1, failed: null };
  }
  return { code: 0, failed: [] };
}

async function endOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));
}
