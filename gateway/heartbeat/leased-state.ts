// Combines what a gateway caches under its lease: keys, blocks of calls, and the journal of served calls.
import type { Clock } from '../../kernel/clock.ts';
import { createBlocks } from './blocks.ts';
import { createCredentials } from './credential-cache.ts';
import { createHeartbeat, type HeartbeatOptions } from './heartbeat.ts';
import { createJournal, type JournalOptions } from './journal.ts';
import { createMonth } from './month-quota.ts';
import { createOutage, type QuotaOutage } from './quota-outage.ts';

export type LeasedStateOptions = Omit<HeartbeatOptions, 'nowMs'> &
  Pick<JournalOptions, 'flushEveryMs' | 'closeWithinMs'> & {
    /** What is served beyond the blocks while accounts-api is unavailable. */
    outage: QuotaOutage;
  };

export type LeasedState = ReturnType<typeof createLeasedState>;

/** @param nowMs the clock of the leases. */
export function createLeasedState(
  options: LeasedStateOptions,
  nowMs: () => number = leaseClock(options.clock),
) {
  const { send, outage: mode, flushEveryMs, closeWithinMs, clock, log } = options;
  const heartbeat = createHeartbeat({ send, clock, nowMs, log });
  const journal = createJournal({
    send: (batch) => heartbeat.beat({ batch }, () => undefined),
    end: (ended) => heartbeat.beat({ ended }, () => undefined),
    ...{ flushEveryMs, closeWithinMs, clock, log },
  });
  journal.beginLife(heartbeat.life());
  heartbeat.register({ onNewLife: journal.beginLife });
  const blocks = createBlocks(heartbeat, journal, nowMs, log);
  const outage = createOutage(mode, blocks, journal, heartbeat.isLeased);
  return {
    ...{ heartbeat, journal },
    credentials: createCredentials(heartbeat, blocks, nowMs),
    month: createMonth(blocks, outage, clock),
    /** Reports the last calls and ends the life. Call it when no call is running. */
    async close(): Promise<void> {
      await heartbeat.whenIdle();
      heartbeat.close();
      await journal.close();
    },
  };
}

/** A smaller jump between the two clocks is no suspension: they are read one after the other. */
const suspendedMsMin = 100;

/**
 * The clock of the leases, in ms. It never goes back. Unlike Node's monotonic clock it also counts the time for which the process or the machine was
 * suspended.
 */
function leaseClock(clock: Clock): () => number {
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
