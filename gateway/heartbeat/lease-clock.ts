// The clock by which leases are counted.
import type { Clock } from '../../kernel/clock.ts';

/** A smaller difference comes from reading two clocks one after the other. */
const suspendedMsMin = 100;

/**
 * The clock of the leases, in ms: it never goes back, and counts the time for which the process or the whole machine was suspended,
 * as the monotonic clock of Node does not.
 */
export function leaseClock(clock: Clock): () => number {
  const differenceMs = () => clock.now().getTime() - performance.now();
  let beforeMs = differenceMs();
  let suspendedMs = 0;
  return () => {
    const nowMs = differenceMs();
    // A clock that was set forward counts as a suspension. It may be set back again: the leases go on from there.
    if (nowMs - beforeMs > suspendedMsMin) suspendedMs += nowMs - beforeMs;
    beforeMs = nowMs;
    return performance.now() + suspendedMs;
  };
}
