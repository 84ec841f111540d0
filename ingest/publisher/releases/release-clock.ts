// The clock of releases: that of the database, which all publishers share. Tests use one that they set.
import { setTimeout as wait } from 'node:timers/promises';
import type { Queryable } from '../../../kernel/database.ts';
import { readClock } from '../../../kernel/time/database-clock.sql.ts';

export interface ReleaseClock {
  now(on: Queryable): Promise<Date>;
  /** Resolves after this time, or once the signal is aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

export const databaseClock: ReleaseClock = {
  now: readClock,
  async pause(ms, signal) {
    try {
      await wait(ms, undefined, { signal });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  },
};
