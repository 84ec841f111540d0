// Measures how much a gateway allocates on V8's heap per call. V8 counts this itself; a file preloaded into the gateway reports it. Buffers outside
// the heap are not included.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export interface AllocationProbe {
  /** Node flags for the measured program. */
  flags: readonly string[];
  env: Record<string, string>;
  /** The bytes that the program has allocated since it started. */
  bytes(pid: number): Promise<number>;
}

const reportsWithinMs = 5_000;

/** @param file where the program writes the count. */
export function allocationProbe(file: string): AllocationProbe {
  return {
    flags: ['--import', path.join(import.meta.dirname, 'report-allocation.ts')],
    env: { BENCH_ALLOCATION_FILE: file },
    async bytes(pid) {
      rmSync(file, { force: true });
      process.kill(pid, 'SIGUSR2');
      const giveUpAtMs = performance.now() + reportsWithinMs;
      while (!existsSync(file)) {
        if (performance.now() > giveUpAtMs)
          throw new Error('A gateway did not report what it has allocated.');
        await pause(10);
      }
      return Number(readFileSync(file, 'utf8'));
    },
  };
}
