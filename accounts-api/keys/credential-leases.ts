// Knows which generations of cached credentials gateways may still use. Hides the polling, which all who wait share.
import { setTimeout as pause } from 'node:timers/promises';
import type { Sequelize } from 'sequelize';
import { selectLeases, type LeaseRow } from './credential-leases.sql.ts';

export interface CredentialLeases {
  /** Whether a gateway may use credentials cached in its process, which no entry in Redis can invalidate. */
  areInProcesses(): Promise<boolean>;
  /**
   * Resolves when no gateway uses a generation before this one, which has begun: gateways that are up say so within their interval of
   * renewal; the leases of others end.
   */
  noneBefore(generation: number): Promise<void>;
}

const pollsMs = { first: 10, most: 100 };

export function createCredentialLeases(sequelize: Sequelize): CredentialLeases {
  const read = shared(() => selectLeases(sequelize));
  return {
    areInProcesses: async () => (await read()).some(({ heldIn }) => heldIn === 'process'),
    async noneBefore(generation) {
      const before = (leases: readonly LeaseRow[]) => leases.filter((lease) => lease.generation < generation);
      let earlier = before(await read());
      // Every lease given from now on is on this generation or a later one, so those of now are the last on earlier ones.
      const endedAtMs = performance.now() + Math.max(0, ...earlier.map(({ endsInMs }) => endsInMs));
      for (let pollMs = pollsMs.first; earlier.length > 0; pollMs = Math.min(2 * pollMs, pollsMs.most)) {
        const leftMs = endedAtMs - performance.now();
        if (leftMs <= 0) return;
        await pause(Math.min(pollMs, leftMs));
        earlier = before(await read());
      }
    },
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
