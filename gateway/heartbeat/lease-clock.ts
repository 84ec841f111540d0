// The clock by which leases are counted.
import type { Clock } from '../../kernel/clock.ts';

/** A smaller difference comes from reading two clocks one after the other. */
const suspendedMsMin = 100;

/**
 * The clock of the leases, in ms: it never goes back, and counts the time for which the process or the whole machine was suspended,
 * as the monotonic clock of Node does not.
 */
export function leaseClock(clock: Clock): () => number {
  let beforeMs = clock.now().getTime() - performance.now();
  let suspendedMs = 0;
  return () => {
    const monotonicMs = performance.now();
    const differenceMs = clock.now().getTime() - monotonicMs;
    // A clock that was set forward counts as a suspension. It may be set back again: the leases go on from there.
    if (differenceMs - beforeMs > suspendedMsMin) suspendedMs += differenceMs - beforeMs;
    beforeMs = differenceMs;
    return monotonicMs + suspendedMs;
  };
}
