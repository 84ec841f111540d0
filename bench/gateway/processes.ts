// Starts the programs of the bench, each on its core (with taskset), and reads the CPU time of their processes from /proc.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

const cores = Number(process.env['BENCH_CORES'] ?? availableParallelism());

/** The target's core. */
export const targetCore = '0';
/** The core of the load, and of everything without a core of its own. */
export const otherCore = '1';
/** Separate cores if the machine has them, as in a cluster, so that the load does not wait for its own peers. */
export const upstreamCore = cores >= 4 ? '3' : otherCore;
export const redisCore = cores >= 3 ? '2' : otherCore;

export interface Program {
  pid: number;
  /** The first group of the pattern that its output was waited for with. */
  readyOutput: string;
  stop(): Promise<void>;
}

/** Where and how a program runs. */
export interface Start {
  core: string;
  /** Receives its output, like an access log; a pipe would have to be drained during the measurement. */
  outputFile: string;
  env?: Record<string, string>;
}

/** Starts a program on a core and waits until its output matches. @throws Error with its output if it ends first. */
export async function startOn(
  { core, outputFile, env = {} }: Start,
  command: readonly string[],
  ready: RegExp,
): Promise<Program> {
  const output = openSync(outputFile, 'w');
  const child = spawn('taskset', ['-c', core, ...command], {
    env: { ...process.env, ...env },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const ended = once(child, 'close');
  await once(child, 'spawn');
  for (;;) {
    const printed = readFileSync(outputFile, 'utf8');
    const readyOutput = ready.exec(printed)?.[1];
    if (readyOutput !== undefined) {
      const pid = child.pid ?? 0; // taskset replaces itself with the program, so the id stays
      return { pid, readyOutput, stop: async () => void (child.kill('SIGTERM') && (await ended)) };
    }
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`${command.join(' ')} ended:\n${printed}`);
    }
    await pause(20);
  }
}

const ticksPerSecond = 100; // USER_HZ, fixed on Linux

/** The CPU time used by processes and all their descendants, including ended ones. */
export function cpuSeconds(roots: readonly number[]): number {
  const ticks = roots.flatMap(withDescendants).map((pid) => {
    const stat = textOf(`/proc/${pid}/stat`);
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // utime, stime, and the same of the reaped children; the fields before them are cut off.
    return fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
  });
  return ticks.reduce((sum, each) => sum + each, 0) / ticksPerSecond;
}

/** The current memory of a process and its descendants, in MiB; shared pages count once. 0 if it has ended. */
export function memoryOf(root: number): number {
  const kib = withDescendants(root).map((pid) =>
    Number(/^Pss:\s+(\d+)/m.exec(textOf(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0),
  );
  return kib.reduce((sum, each) => sum + each, 0) / 1024;
}

function withDescendants(pid: number): number[] {
  const children = textOf(`/proc/${pid}/task/${pid}/children`).trim();
  return [
    pid,
    ...(children === '' ? [] : children.split(' ').flatMap((child) => withDescendants(Number(child)))),
  ];
}

/** A file of /proc; empty for a process that has just ended, as its time is then added to its parent's. */
export function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
