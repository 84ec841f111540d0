// Which core does what: the server that is measured has the first to itself, all else stays on the second.
// Hides taskset; where it is missing, or there is one core, nothing is pinned and the ratios are a little rougher.
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

const canPin = availableParallelism() > 1 && spawnSync('taskset', ['-V']).status === 0;

/** Moves this process, and all that it starts from now on, off the measured core. */
export function leaveMeasuredCore(): void {
  if (canPin) spawnSync('taskset', ['-acp', '1', String(process.pid)]);
}

/** The command that runs on the measured core. */
export function onMeasuredCore(command: readonly [string, ...string[]]): [string, ...string[]] {
  return canPin ? ['taskset', '-c', '0', ...command] : [...command];
}
