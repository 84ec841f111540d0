// Runs the suite repeatedly, ends each run by a random signal at a random moment, and reports leftovers: processes,
// files, shared memory, ports. Exits with 1 if there are any. Linux only.
// Usage: node test/run/killed-runs.ts [--runs N] [--seed N] [--within SECONDS] [--at-once N] [--alone] [-- arguments of the suite]
// With --alone, every new file in /tmp, /var/tmp or /dev/shm also counts as a run's; for machines that nobody else uses.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { projectRoot } from '../../kernel/project.ts';
import { createRandom, type Random } from '../chaos/random.ts';
import { endProcesses, processesOf, type Run } from './run-processes.ts';
import { scratchDirectory } from './scratch.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '50' },
    seed: { type: 'string' },
    within: { type: 'string', default: '200' },
    'at-once': { type: 'string', default: '2' },
    alone: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32));
/** How long a run may take to end completely: a type check or lint may be running. */
const endsWithinMs = 60_000;
const ownPrefix = 'almanac-killed-';

interface Plan {
  number: number;
  afterMs: number;
  signal: NodeJS.Signals;
  target: 'runner' | 'npm' | 'group';
}

const random = createRandom(seed);
const plans = Array.from({ length: Number(values.runs) }, (_, i) => drawPlan(random, i + 1));
printLine(`killed runs: seed ${seed}`);
const wrong: Plan[] = [];
async function work(): Promise<void> {
  for (let plan = plans.shift(); plan !== undefined; plan = plans.shift())
    if (!(await leavesNothing(plan))) wrong.push(plan);
}
await Promise.all(Array.from({ length: Number(values['at-once']) }, work));
printLine(
  wrong.length === 0
    ? 'killed runs: nothing was left'
    : `killed runs: ${wrong.length} left something; seed ${seed}`,
);
process.exitCode = wrong.length === 0 ? 0 : 1;

function drawPlan(draw: Random, number: number): Plan {
  return {
    number,
    afterMs: draw.between(0, Number(values.within) * 1000),
    signal: draw.pick(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'] as const),
    target: draw.pick(['runner', 'npm', 'group'] as const),
  };
}

/** Starts a run, ends it as planned, and reports its leftovers. */
async function leavesNothing({ number, afterMs, signal, target }: Plan): Promise<boolean> {
  const directory = mkdtempSync(path.join(scratchDirectory(), ownPrefix));
  chmodSync(directory, 0o755);
  const before = new Set(commonFiles());
  const name = `ALMANAC_KILLED_RUN_${randomBytes(8).toString('hex')}`;
  const run: Run = { mark: `${name}=1`, directory };
  const npm = spawn('npm', ['test', '--', ...positionals], {
    cwd: projectRoot,
    env: { ...process.env, [name]: '1', TMPDIR: directory },
    stdio: 'ignore',
    detached: true, // a process group of its own
  });
  const ended = once(npm, 'exit').then(([code, by]) => String(code ?? by));
  const early = await Promise.race([ended, pause(afterMs)]);
  const resources = resourcesOf(run);
  const found = processesOf(run);
  const runner = found.find(({ command }) => /^\S*node \S*test\/run\.ts/.test(command))?.pid;
  const pid = target === 'group' ? -(npm.pid ?? 0) : target === 'npm' ? npm.pid : (runner ?? npm.pid);
  if (early === undefined && pid !== undefined) process.kill(pid, signal);
  const signalledAtMs = performance.now();
  let left = remains(run, before, resources);
  while (left.length > 0 && performance.now() - signalledAtMs < endsWithinMs) {
    await pause(250);
    left = remains(run, before, resources);
  }
  const duration = `${((performance.now() - signalledAtMs) / 1000).toFixed(1)} s`;
  const how = early === undefined ? `${signal} to the ${target}` : `had ended by itself with ${early}`;
  const at = `${(afterMs / 1000).toFixed(1)} s, ${found.length} processes, ${resources.length} things held`;
  printLine(
    `${number}: after ${at}: ${how}: ${left.length === 0 ? `nothing left after ${duration}` : 'LEFT'}`,
  );
  for (const each of left) printLine(`  LEFT: ${each}`);
  await endProcesses(run);
  rmSync(directory, { recursive: true, force: true });
  return left.length === 0;
}

/** The present remains of the run, in words. */
function remains(run: Run, before: ReadonlySet<string>, resources: readonly Resource[]): string[] {
  const processes = processesOf(run).map(({ pid, command }) => `process ${pid}: ${command}`);
  const names = readdirSync(run.directory).filter((name) => name !== 'node-compile-cache'); // npm's own
  return [
    ...processes,
    ...names.map((name) => `in the directory for temporary files: ${name}`),
    ...resources.filter(({ isThere }) => isThere()).map(({ what }) => what),
    ...commonFiles().filter((file) => !before.has(file)),
  ];
}

/** Files in shared directories. They can be attributed to a run only if nobody else uses the machine. */
function commonFiles(): string[] {
  if (!values.alone) return [];
  return ['/tmp', '/var/tmp', '/dev/shm']
    .flatMap((directory) => readdirSync(directory).map((name) => path.join(directory, name)))
    .filter((file) => !path.basename(file).startsWith(ownPrefix));
}

/** A system resource that may outlive its process. */
interface Resource {
  what: string;
  isThere(): boolean;
}

/** The resources that the processes of the run use now. */
function resourcesOf(run: Run): Resource[] {
  const sockets = new Map(listeningSockets().map(({ inode, port }) => [`socket:[${inode}]`, port]));
  const isOpen = (port: number) => listeningSockets().some((socket) => socket.port === port);
  const resources = new Map<string, () => boolean>();
  for (const { pid } of processesOf(run)) {
    for (const { id } of segments().filter(({ creator }) => creator === pid))
      resources.set(`System V shared memory ${id}`, () => segments().some((segment) => segment.id === id));
    try {
      for (const [file] of readFileSync(`/proc/${pid}/maps`, 'utf8').matchAll(/\/dev\/shm\/\S+$/gm))
        resources.set(file, () => existsSync(file));
      for (const fd of readdirSync(`/proc/${pid}/fd`)) {
        const port = sockets.get(readlinkSync(`/proc/${pid}/fd/${fd}`));
        if (port !== undefined) resources.set(`port ${port}`, () => isOpen(port));
      }
    } catch {
      // it has ended
    }
  }
  return [...resources].map(([what, isThere]) => ({ what, isThere }));
}

function segments(): { id: string; creator: number }[] {
  return table('/proc/sysvipc/shm').map((columns) => ({ id: columns[1] ?? '', creator: Number(columns[4]) }));
}

function listeningSockets(): { inode: string; port: number }[] {
  return ['/proc/net/tcp', '/proc/net/tcp6']
    .flatMap(table)
    .filter((columns) => columns[3] === '0A') // listens
    .map((columns) => ({
      inode: columns[9] ?? '',
      port: Number.parseInt(columns[1]?.split(':')[1] ?? '', 16),
    }));
}

/** The columns of the lines of such a file, without its heading. */
function table(file: string): string[][] {
  const [, ...lines] = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => line.trim().split(/\s+/));
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}
