// QUOTA_OUTAGE: what is served beyond the blocks while accounts-api is away. It is charged afterwards, beyond the limit if need be.
// Without a lease nothing is served at all, so this decides about seconds.
import type { Blocks, Charge } from './blocks.ts';
import { createAccountsCache } from './accounts-cache.ts';
import type { Journal } from './journal.ts';

/** `bounded`: a part of the plan; `closed`: nothing; `open`: everything. */
export type QuotaOutage = 'bounded' | 'closed' | 'open';

export interface Outage {
  /** Calls that may be served though accounts-api cannot be asked; undefined: none may. */
  take(accountId: string, month: string, calls: number): Charge | undefined;
  /** accounts-api has answered about the account. */
  isOver(accountId: string): void;
}

export interface OutageOptions {
  mode: QuotaOutage;
  blocks: Pick<Blocks, 'state'>;
  journal: Pick<Journal, 'charge'>;
  isLeased: () => boolean;
}

/** With `bounded`, a gateway serves an account this part of its plan, or so many calls if that is more; never more than was last left of the month. */
const part = 0.02;
const callsLeast = 100;

export function createOutage({ mode, blocks, journal, isLeased }: OutageOptions): Outage {
  const served = createAccountsCache<{ month: string; calls: number }>();

  function allowed(accountId: string, month: string): number {
    if (mode === 'closed' || !isLeased()) return 0;
    if (mode === 'open') return Infinity;
    const state = blocks.state(accountId, month);
    if (state === undefined) return 0; // an account that this gateway has not seen before
    if (state.limit === null) return Infinity;
    return Math.min(state.limit - state.used, Math.max(callsLeast, Math.floor(state.limit * part)));
  }

  return {
    take(accountId, month, calls) {
      const before = served.get(accountId);
      const sum = before?.month === month ? before : { month, calls: 0 };
      if (sum !== before) served.set(accountId, sum);
      if (sum.calls + calls > allowed(accountId, month)) return undefined;
      sum.calls += calls;
      let hasEnded = false;
      return {
        ...{ calls, month, isValid: true },
        end(isServed) {
          if (hasEnded) return;
          hasEnded = true;
          if (isServed) journal.charge(accountId, month, calls);
          else sum.calls -= calls;
        },
      };
    },
    isOver: (accountId) => void served.delete(accountId),
  };
}
