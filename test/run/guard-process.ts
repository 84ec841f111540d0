// The process that guards a test run: it creates the run's directory, prints its name, waits until standard input is closed, and then
// removes everything of the run. Started by test/run/guard.ts. Usage: node test/run/guard-process.ts NAME=value
import { spawnSync } from 'node:child_process';
import { chmodSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { endProcesses } from './run-processes.ts';
import { scratchDirectory } from './scratch.ts';

const [mark = ''] = process.argv.slice(2);
const directory = makeDirectory();
// A shutdown of the machine, for example, also signals the runner; the guard ends after the runner has ended.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
// The reader of these streams may have ended.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);
process.stdout.write(`${directory}\n`);
await text(process.stdin);

const left = await endProcesses({ mark, directory });
for (const { pid, command } of left) process.stderr.write(`test: process ${pid} does not end: ${command}\n`);
const segments = sharedMemory();
rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
for (const segment of segments) spawnSync('ipcrm', ['-m', segment], { stdio: 'ignore' });
process.exitCode = left.length === 0 ? 0 : 1;

function makeDirectory(): string {
  const made = mkdtempSync(path.join(scratchDirectory(), 'almanac-test-'));
  chmodSync(made, 0o755);
  mkdirSync(path.join(made, 'tmp'));
  chmodSync(path.join(made, 'tmp'), 0o1777);
  return made;
}

/**
 * The System V segments of killed servers: PostgreSQL records its segment in the seventh line of its lock file. `globSync` follows no links, unlike a
 * recursive `readdirSync`: tests leave links to the directory itself, and to all packages.
 */
function sharedMemory(): string[] {
  return globSync('**/postmaster.pid', { cwd: directory }).flatMap((name) => {
    const [, , , , , , segment = ''] = readFileSync(path.join(directory, name), 'utf8').split('\n');
    return segment.trim().split(/\s+/).slice(1);
  });
}
