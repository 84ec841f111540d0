// Finds the processes of a test run among all processes of this machine, and ends them. Wraps the differences between systems.
//
// A process belongs to a run by a variable of its environment, which every child inherits, even if it is detached or has another parent now. Process
// groups and sessions would miss PostgreSQL, which has its own sessions. PostgreSQL's backends and redis-server overwrite their environment with
// their titles; they are found by their working directory, which is below the run's.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export interface Run {
  /** `NAME=value` in the environment of its processes. */
  mark: string;
  directory: string;
}

export interface RunProcess {
  pid: number;
  /** Its command line, for messages. */
  command: string;
}

/** How long PostgreSQL may take to stop before it is killed. */
const stopWithinMs = 10_000;
const giveUpAfterMs = 30_000;
const betweenLooksMs = 50;

/** The running processes of the run, except this one. */
export function processesOf({ mark, directory }: Run): RunProcess[] {
  if (!existsSync('/proc/self/environ')) return processesByPs(mark);
  const found: RunProcess[] = [];
  for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    if (pid === process.pid) continue;
    try {
      const isMarked = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(mark);
      if (isMarked || isBelow(readlinkSync(`/proc/${pid}/cwd`), directory))
        found.push({ pid, command: commandOf(pid) });
    } catch {
      // it has ended, or belongs to another user
    }
  }
  return found;
}

function commandOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim().slice(0, 200);
}

/** For a deleted directory, Linux reports its former path and that it is deleted. */
function isBelow(place: string, directory: string): boolean {
  return `${place.replace(/ \(deleted\)$/, '')}${path.sep}`.startsWith(directory + path.sep);
}

/** Without /proc: only the mark, as shown by ps. */
function processesByPs(mark: string): RunProcess[] {
  const { stdout } = spawnSync('ps', ['-A', '-E', '-ww', '-o', 'pid=,command='], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  return stdout
    .split('\n')
    .filter((line) => line.includes(` ${mark}`))
    .map((line) => ({
      pid: Number.parseInt(line, 10),
      command: line.replace(/^\s*\d+\s+/, '').slice(0, 200),
    }))
    .filter(({ pid }) => pid !== process.pid);
}

/**
 * Ends the processes of the run, including stopped ones and ones started meanwhile. PostgreSQL is asked to stop, so that it releases its shared
 * memory; all others are killed. @returns those that are still running.
 */
export async function endProcesses(run: Run): Promise<RunProcess[]> {
  const startedAtMs = performance.now();
  let quiet = 0;
  for (;;) {
    const found = processesOf(run);
    const durationMs = performance.now() - startedAtMs;
    for (const { pid } of found) {
      if (durationMs < stopWithinMs && isPostgres(pid)) report(pid, 'SIGQUIT', 'SIGCONT');
      else report(pid, 'SIGKILL');
    }
    // The second pass finds processes that were just being started during the first.
    quiet = found.length === 0 ? quiet + 1 : 0;
    if (quiet === 2 || durationMs > giveUpAfterMs) return found;
    await pause(betweenLooksMs);
  }
}

function isPostgres(pid: number): boolean {
  try {
    return path.basename(readlinkSync(`/proc/${pid}/exe`)) === 'postgres';
  } catch {
    return false;
  }
}

function report(pid: number, ...signals: NodeJS.Signals[]): void {
  try {
    for (const signal of signals) process.kill(pid, signal);
  } catch {
    // it has ended
  }
}
