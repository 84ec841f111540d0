// Waits for the next change of accounts and keys, and until a change is active at every gateway. All waiting callers share the polling.
import type { Sequelize } from 'sequelize';
import { createSignal, listenTo, type Notifications } from '../../kernel/notifications.ts';
import { selectAcknowledged } from './changes.sql.ts';
import { isActiveEverywhere } from './block-rules.ts';

export interface Changes extends Notifications {
  /** Resolves when every change committed before the call is active: each life has seen it, or its lease has ended. */
  awaitCacheInvalidation(): Promise<void>;
  /** Reports that a gateway has acknowledged changes, as seen by this process. */
  acknowledged(this: void): void;
}

const pollsMs = { first: 5, most: 50 };

export function createChanges(sequelize: Sequelize, databaseUrl: string): Changes {
  const read = coalesced(() => selectAcknowledged(sequelize));
  const acknowledgement = createSignal();
  return {
    async awaitCacheInvalidation() {
      let count = acknowledgement.count();
      let state = await read();
      const { no } = state;
      for (let ms = pollsMs.first; !isActiveEverywhere(no, state.gateways, state.nowMs); ms *= 2) {
        await acknowledgement.after(count, Math.min(ms, pollsMs.most));
        count = acknowledgement.count();
        state = await read();
      }
    },
    acknowledged: acknowledgement.notify,
    ...listenTo('almanac_changes', databaseUrl),
  };
}

/** Shares reads: callers during a read share the next one, so that no caller gets a read that began before it asked. */
function coalesced<T>(read: () => Promise<T>): () => Promise<T> {
  let inFlight: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  return () => {
    next ??= inFlight.then(() => {
      const reading = read();
      inFlight = reading.catch(() => undefined); // its own callers receive the error
      next = undefined;
      return reading;
    });
    return next;
  };
}
