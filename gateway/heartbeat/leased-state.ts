// Combines what a gateway caches under its lease: keys, blocks of calls, and the journal of served calls.
import { type Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log/log.ts';
import { createBlocks } from './blocks.ts';
import { createCredentials, type Credentials } from './credential-cache.ts';
import { createHeartbeat, type Heartbeat, type HeartbeatOptions } from './heartbeat.ts';
import { createJournal, type Journal } from './journal.ts';
import { leaseClock } from './lease-clock.ts';
import { createMonth, type Month } from './month-quota.ts';
import { createOutage, type QuotaOutage } from './quota-outage.ts';

export interface HoldingsOptions {
  send: HeartbeatOptions['send'];
  /** What is served beyond the blocks while accounts-api is unavailable. */
  outage: QuotaOutage;
  /** How often served calls are reported. */
  flushEveryMs: number;
  /** How long `close` tries to report the last calls. */
  closeWithinMs: number;
  clock: Clock;
  /** The clock of the leases; by default that of `leaseClock`. */
  nowMs?: (() => number) | undefined;
  log: Log;
}

export interface Holdings {
  readonly heartbeat: Heartbeat;
  readonly journal: Journal;
  readonly credentials: Credentials;
  readonly month: Month;
  /** Reports the last calls and ends the life. Call it when no call is running. */
  close(): Promise<void>;
}

export function createHoldings(options: HoldingsOptions): Holdings {
  const { send, outage: mode, flushEveryMs, closeWithinMs, clock, log } = options;
  const nowMs = options.nowMs ?? leaseClock(clock);
  const heartbeat = createHeartbeat({ send, clock, nowMs, log });
  const journal = createJournal({
    send: (batch) => heartbeat.beat({ batch }, () => undefined),
    end: (ended) => heartbeat.beat({ ended }, () => undefined),
    ...{ flushEveryMs, closeWithinMs, clock, log },
  });
  journal.beginLife(heartbeat.life());
  heartbeat.hold({ onNewLife: journal.beginLife });
  const blocks = createBlocks({ heartbeat, journal, nowMs, log });
  const { isLeased } = heartbeat;
  return {
    ...{ heartbeat, journal },
    credentials: createCredentials({ heartbeat, blocks, nowMs }),
    month: createMonth({ blocks, outage: createOutage({ mode, blocks, journal, isLeased }), clock }),
    async close() {
      await blocks.settled();
      heartbeat.close();
      await journal.close();
    },
  };
}
