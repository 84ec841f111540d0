// The clock that leases are measured by.
import type { Clock } from '../../kernel/clock.ts';

/** A smaller difference results from reading two clocks one after the other. */
const suspendedMsMin = 100;

/**
 * The clock of the leases, in ms. It never goes back. Unlike Node's monotonic clock it also counts the time for which the process or the machine was
 * suspended.
 */
export function leaseClock(clock: Clock): () => number {
  let beforeMs = clock.now().getTime() - performance.now();
  let suspendedMs = 0;
  return () => {
    const monotonicMs = performance.now();
    const differenceMs = clock.now().getTime() - monotonicMs;
    // Setting the clock forward counts as a suspension. Setting it back later has no effect on the leases.
    if (differenceMs - beforeMs > suspendedMsMin) suspendedMs += differenceMs - beforeMs;
    beforeMs = differenceMs;
    return monotonicMs + suspendedMs;
  };
}
