// Changes of accounts and keys: who waits for the next one, and who waits until one is in force at every gateway. Hides the polling,
// which all who wait share.
import type { Sequelize } from 'sequelize';
import { createSignal, listenTo, type Notifications } from '../../kernel/notifications.ts';
import { selectAcknowledged } from './changes.sql.ts';
import { isInForce } from './state.ts';

export interface Changes extends Notifications {
  /** Resolves when every change that was committed before the call is in force: seen by each life, or its lease has ended. */
  settle(): Promise<void>;
  /** A gateway has acknowledged changes, as this process knows. */
  acknowledged(this: void): void;
}

const pollsMs = { first: 5, most: 50 };

export function createChanges(sequelize: Sequelize, databaseUrl: string): Changes {
  const read = shared(() => selectAcknowledged(sequelize));
  const acknowledgement = createSignal();
  return {
    async settle() {
      let count = acknowledgement.count();
      let state = await read();
      const { no } = state;
      for (let ms = pollsMs.first; !isInForce(no, state.gateways, state.nowMs); ms *= 2) {
        await acknowledgement.after(count, Math.min(ms, pollsMs.most));
        count = acknowledgement.count();
        state = await read();
      }
    },
    acknowledged: acknowledgement.give,
    ...listenTo('almanac_changes', databaseUrl),
  };
}

/** Reads once for all who ask while a read is under way: none gets a read that began before it asked. */
function shared<T>(read: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  return () => {
    next ??= underWay.then(() => {
      const reading = read();
      underWay = reading.catch(() => undefined); // thrown to those who wait for it
      next = undefined;
      return reading;
    });
    return next;
  };
}
