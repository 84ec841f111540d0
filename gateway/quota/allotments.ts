// Takes calls of a month from an allotment: calls that accounts-api has charged to the month in advance. Hides the top-ups. Where an
// allotment is held, in Redis or in this process, is its holder's matter (redis-allotments.ts, process-allotments.ts).
import { setTimeout as pause } from 'node:timers/promises';
import { type Clock, instantText, nextUtcMonth, utcMonth } from '../../kernel/clock.ts';
import type { Accounts } from '../accounts.ts';
import type { Journal } from './journal.ts';

/** What was taken from a month. */
export interface Grant {
  /** At most what was asked for. */
  granted: number;
  /** Null: unlimited. */
  limit: number | null;
  /** Calls used this month, these included; null where it is unknown. */
  used: number | null;
  /** ISO instant. */
  resetsAt: string;
}

/** Whose month an allotment belongs to. */
export interface AccountMonth {
  accountId: string;
  /** `YYYY-MM-01`, UTC. */
  month: string;
}

/** What a draw came to. */
export interface Drawn {
  /** The id of the allotment. */
  allotment: string;
  taken: number;
  /** All that was ever granted to the allotment, as far as its holder knows. */
  granted: number;
  /** All that is used of the month. */
  used: number;
  /** How many calls a top-up may grant at once, those that are lacking included. */
  ahead: number;
}

/** What a top-up has brought. */
export interface Credit {
  allotment: string;
  /** All that was ever granted to the allotment. */
  granted: number;
  /** What is charged to the month outside the allotment. */
  elsewhere: number;
}

export interface Holder {
  readonly name: 'redis' | 'process';
  /** Draws up to so many calls, and begins an allotment where there is none. @throws RedisUnavailable. */
  draw(month: AccountMonth, calls: number, limit: number | null, credit?: Credit): Promise<Drawn>;
  /** Removes an allotment that accounts-api has closed. @throws RedisUnavailable. */
  discard(month: AccountMonth, allotment: string): Promise<void>;
}

export interface Allotments {
  /** Takes up to so many calls. @param limit of the account's plan. @throws RedisUnavailable; Failure unavailable. */
  take(accountId: string, calls: number, limit: number | null): Promise<Grant>;
}

export interface AllotmentsOptions {
  accounts: Pick<Accounts, 'topUp'>;
  journal: Pick<Journal, 'refund'>;
  clock: Clock;
}

// Another gateway returns what it holds and does not need within this time.
const waitForReturnsMs = 250;
const askAgainAfterMs = 50;

/** Allotments of one holder. Not to be asked twice at once for one account. */
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
          // More was in it, and others were faster: it is topped up again.
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
