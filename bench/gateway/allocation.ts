// How much a gateway allocates on V8's heap for each call. V8 counts that itself; a file preloaded into the gateway tells the count.
// Buffers outside the heap are not in it.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export interface AllocationProbe {
  /** Of Node, for the measured program. */
  flags: readonly string[];
  env: Record<string, string>;
  /** All that the program has allocated since it started. */
  bytes(pid: number): Promise<number>;
}

const tellsWithinMs = 5_000;

/** @param file where the program tells it. */
export function allocationProbe(file: string): AllocationProbe {
  return {
    flags: ['--import', path.join(import.meta.dirname, 'tell-allocation.ts')],
    env: { BENCH_ALLOCATION_FILE: file },
    async bytes(pid) {
      rmSync(file, { force: true });
      process.kill(pid, 'SIGUSR2');
      const giveUpAtMs = performance.now() + tellsWithinMs;
      while (!existsSync(file)) {
        if (performance.now() > giveUpAtMs) throw new Error('A gateway did not tell what it has allocated.');
        await pause(10);
      }
      return Number(readFileSync(file, 'utf8'));
    },
  };
}
