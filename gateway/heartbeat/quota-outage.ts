// QUOTA_OUTAGE: what is served beyond the blocks while accounts-api is unavailable. It is charged afterwards, even beyond the limit. Nothing is
// served without a lease, so this covers a few seconds.
import type { Blocks, Charge } from './blocks.ts';
import { createAccountsCache } from './accounts-cache.ts';
import type { Journal } from './journal.ts';

/** `bounded`: a part of the plan; `closed`: nothing; `open`: everything. */
export type QuotaOutage = 'bounded' | 'closed' | 'open';

export type Outage = ReturnType<typeof createOutage>;

/**
 * With `bounded`, a gateway serves an account this fraction of its plan, or `callsLeast` if that is more, but never more than the month had left at
 * the last answer.
 */
const part = 0.02;
const callsLeast = 100;

export function createOutage(
  mode: QuotaOutage,
  blocks: Pick<Blocks, 'state'>,
  journal: Pick<Journal, 'charge'>,
  isLeased: () => boolean,
) {
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
    /** Grants calls although accounts-api cannot be asked; undefined: refused. */
    reserve(accountId: string, month: string, calls: number): Charge | undefined {
      const before = served.get(accountId);
      const sum = before?.month === month ? before : { month, calls: 0 };
      if (sum !== before) served.set(accountId, sum);
      if (sum.calls + calls > allowed(accountId, month)) return undefined;
      sum.calls += calls;
      return {
        ...{ calls, month, isValid: true },
        end(isServed) {
          if (isServed) journal.charge(accountId, month, calls);
          else sum.calls -= calls;
        },
      };
    },
    /** Ends the outage of an account, as accounts-api has answered a request for its calls. */
    endOutage(accountId: string): void {
      served.delete(accountId);
    },
  };
}
