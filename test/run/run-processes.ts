// The processes of a test run, found among all of this machine, and their end. Hides how each system lists them.
//
// A process belongs to a run by a variable of its environment, which every child inherits, detached or not and whoever its parent
// is now; process groups and sessions would miss PostgreSQL, which has sessions of its own. PostgreSQL's backends and redis-server
// write their titles over their environment; those are found by their working directory, which is below the run's.
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
  /** Its words, for people. */
  command: string;
}

/** What a PostgreSQL that is asked to stop may take before it is killed. */
const stopWithinMs = 10_000;
const giveUpAfterMs = 30_000;
const betweenLooksMs = 50;

/** The processes of the run that live, but for this one. */
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
      // it has ended, or is somebody else's
    }
  }
  return found;
}

function commandOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim().slice(0, 200);
}

/** Linux says of a directory that is gone where it was, and that it is gone. */
function isBelow(place: string, directory: string): boolean {
  return `${place.replace(/ \(deleted\)$/, '')}${path.sep}`.startsWith(directory + path.sep);
}

/** Where there is no /proc: the mark alone, as ps shows it. */
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
 * Ends the processes of the run, also those that are stopped and those that are started meanwhile. PostgreSQL is asked to stop, so
 * that it gives its shared memory back; all others are killed. @returns those that live on all the same.
 */
export async function endProcesses(run: Run): Promise<RunProcess[]> {
  const beganAtMs = performance.now();
  let quiet = 0;
  for (;;) {
    const found = processesOf(run);
    const tookMs = performance.now() - beganAtMs;
    for (const { pid } of found) {
      if (tookMs < stopWithinMs && isPostgres(pid)) report(pid, 'SIGQUIT', 'SIGCONT');
      else report(pid, 'SIGKILL');
    }
    // A process that was just being started when the others ended is seen by the second look.
    quiet = found.length === 0 ? quiet + 1 : 0;
    if (quiet === 2 || tookMs > giveUpAfterMs) return found;
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
