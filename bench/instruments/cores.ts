// Assigns cores with taskset: the measured server has the first to itself, everything else the second. Without taskset, or with one core, nothing is
// pinned and the ratios are a little less precise.
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

const canPin = availableParallelism() > 1 && spawnSync('taskset', ['-V']).status === 0;

/** Moves this process, and everything that it starts later, off the measured core. */
export function leaveMeasuredCore(): void {
  if (canPin) spawnSync('taskset', ['-acp', '1', String(process.pid)]);
}

/** The command that runs on the measured core. */
export function onMeasuredCore(command: readonly [string, ...string[]]): [string, ...string[]] {
  return canPin ? ['taskset', '-c', '0', ...command] : [...command];
}
