// Takes calls of a month from an allotment: calls that accounts-api has charged to the month in advance. Hides the top-ups. The
// holders store the allotments, in Redis or in this process (redis-allotments.ts, process-allotments.ts).
import { setTimeout as pause } from 'node:timers/promises';
import { type Clock, instantText, nextUtcMonth, utcMonth } from '../../kernel/clock.ts';
import type { Accounts } from '../accounts.ts';
import type { Journal } from './journal.ts';

/** Calls taken from a month. */
export interface Grant {
  /** At most the number requested. */
  granted: number;
  /** Null: unlimited. */
  limit: number | null;
  /** Calls used this month, including these; null if unknown. */
  used: number | null;
  /** ISO instant. */
  resetsAt: string;
}

/** The account and month of an allotment. */
export interface AccountMonth {
  accountId: string;
  /** `YYYY-MM-01`, UTC. */
  month: string;
}

/** The result of a draw. */
export interface Drawn {
  /** The id of the allotment. */
  allotment: string;
  taken: number;
  /** The total ever granted to the allotment, as far as its holder knows. */
  granted: number;
  /** The total used of the month. */
  used: number;
  /** How many calls a top-up may grant at once, including the lacking ones. */
  ahead: number;
}

/** The result of a top-up. */
export interface Credit {
  allotment: string;
  /** The total ever granted to the allotment. */
  granted: number;
  /** Calls charged to the month outside the allotment. */
  elsewhere: number;
}

export interface Holder {
  readonly name: 'redis' | 'process';
  /** Draws up to `calls`, and begins an allotment if there is none. @throws RedisUnavailable. */
  draw(month: AccountMonth, calls: number, limit: number | null, credit?: Credit): Promise<Drawn>;
  /** Removes an allotment that accounts-api has closed. @throws RedisUnavailable. */
  discard(month: AccountMonth, allotment: string): Promise<void>;
}

export interface Allotments {
  /** Takes up to `calls`. @param limit of the account's plan. @throws RedisUnavailable; Failure unavailable. */
  take(accountId: string, calls: number, limit: number | null): Promise<Grant>;
}

export interface AllotmentsOptions {
  accounts: Pick<Accounts, 'topUp'>;
  journal: Pick<Journal, 'refund'>;
  clock: Clock;
}

// Within this time other gateways return calls that they hold but do not need.
const waitForReturnsMs = 250;
const askAgainAfterMs = 50;

/** The allotments of one holder. Concurrent calls for one account are not allowed. */
export function createAllotments(
  holder: Holder,
  { accounts, journal, clock }: AllotmentsOptions,
): Allotments {
  return {
    async take(accountId, calls, limit) {
      const now = clock.now();
      const month = { accountId, month: utcMonth(now) };
      let drawn = await holder.draw(month, calls, limit);
      let { taken } = drawn;
      let bound = limit;
      const waitUntilMs = performance.now() + waitForReturnsMs;
      try {
        for (let isMore = true; isMore && taken < calls; taken += drawn.taken) {
          const lacking = calls - taken;
          const { allotment, granted: seen, ahead } = drawn;
          const topUp = { ...month, holder: holder.name, allotment, seen, calls: lacking, ahead };
          const { granted, elsewhere, held, ...state } = await accounts.topUp(topUp);
          bound = state.limit;
          if (state.closed) await holder.discard(month, allotment);
          const credit = state.closed ? undefined : { allotment, granted, elsewhere };
          drawn = await holder.draw(month, lacking, bound, credit);
          // The allotment was topped up meanwhile, but others drew the calls first: top up again.
          if (state.closed || granted > seen || drawn.allotment !== allotment) continue;
          isMore = held && performance.now() < waitUntilMs;
          if (isMore && drawn.taken < lacking) await pause(askAgainAfterMs);
        }
        return { granted: taken, limit: bound, used: drawn.used, resetsAt: instantText(nextUtcMonth(now)) };
      } catch (error) {
        if (taken > 0) journal.refund(accountId, month.month, taken);
        throw error;
      }
    },
  };
}
