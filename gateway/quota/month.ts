// Takes calls from the month of an account: from its allotment in Redis, or from PostgreSQL where there is no Redis or it does not
// answer; and where neither answers, from what QUOTA_OUTAGE allows. Hides which of them it was, and that calls share questions.
import { LRUCache } from 'lru-cache';
import { type Clock, instantText, nextUtcMonth, utcMonth } from '../../kernel/clock.ts';
import { Failure, fail } from '../../kernel/errors.ts';
import { RedisUnavailable } from '../../kernel/redis.ts';
import type { Accounts, Grant } from '../accounts.ts';
import { batchedBy } from '../batched.ts';
import type { Journal } from './journal.ts';
import type { Allotments } from './allotments.ts';

export interface Take {
  granted: boolean;
  /** How many were wanted. */
  calls: number;
  /** Null: unlimited. */
  limit: number | null;
  /** Calls used this month, this one included where it was granted; null while nobody can say. */
  used: number | null;
  /** ISO instant. */
  resetsAt: string;
  /** The same in ms since 1970. */
  resetsAtMs: number;
  /** `YYYY-MM-01`, the UTC month that was charged. */
  month: string;
  monthSeconds: number;
}

export interface Month {
  /** Takes calls from the account's month, all or none. @param limit of its plan. @throws Failure unavailable. */
  take(accountId: string, calls: number, limit: number | null): Promise<Take>;
  /** Shares out what an allotment has granted to calls of an account. */
  share(accountId: string, calls: readonly number[], grant: Grant): Take[];
}

export type QuotaOutage = 'bounded' | 'closed' | 'open';

export interface MonthOptions {
  accounts: Pick<Accounts, 'take'>;
  /** Undefined where there is no Redis. */
  allotments: Allotments | undefined;
  journal: Pick<Journal, 'refund' | 'charge'>;
  outage: QuotaOutage;
  clock: Clock;
}

interface Item {
  accountId: string;
  calls: number;
  limit: number | null;
}

const batchMax = 500;
// While nobody can be asked, a gateway serves an account so much of its plan, or so many calls where that is more; but none
// to an account that it knows nothing of, and never more than it last saw to be left.
const outagePart = 0.02;
const outageCallsLeast = 100;
const accountsSeenMax = 100_000;

/** An account's month as a gateway last saw it. */
interface LastSeen {
  month: string;
  left: number;
  /** Calls served since then, while nobody could be asked. */
  takenInOutage: number;
}

export function createMonth({ accounts, allotments, journal, outage, clock }: MonthOptions): Month {
  const lastSeen = new LRUCache<string, LastSeen>({ max: accountsSeenMax });

  async function takeUpTo(accountId: string, calls: number, limit: number | null): Promise<Grant> {
    const handBack = (late: Grant) => {
      if (late.granted > 0) journal.refund(accountId, monthBefore(late.resetsAt), late.granted);
    };
    const grant =
      (await fromAllotment(accountId, calls, limit)) ?? (await accounts.take(accountId, calls, handBack));
    see(accountId, grant);
    return grant;
  }

  function see(accountId: string, { limit, used, resetsAt }: Grant): void {
    if (limit === null || used === null) return;
    lastSeen.set(accountId, { month: monthBefore(resetsAt), left: limit - used, takenInOutage: 0 });
  }

  /** @returns undefined where Redis cannot be asked. */
  async function fromAllotment(
    accountId: string,
    calls: number,
    limit: number | null,
  ): Promise<Grant | undefined> {
    try {
      return await allotments?.take(accountId, calls, limit);
    } catch (error) {
      if (error instanceof RedisUnavailable) return undefined;
      throw error;
    }
  }

  /** What may be served while nobody can be asked; it is charged when somebody can. */
  function takeInOutage(accountId: string, calls: number, limit: number | null): Grant {
    const now = clock.now();
    const granted =
      outage === 'open' || limit === null ? calls : Math.min(calls, allowed(accountId, limit, utcMonth(now)));
    const seen = lastSeen.get(accountId);
    if (seen !== undefined) seen.takenInOutage += granted;
    if (granted > 0) journal.charge(accountId, utcMonth(now), granted);
    return { granted, limit, used: null, resetsAt: instantText(nextUtcMonth(now)) };
  }

  function allowed(accountId: string, limit: number, month: string): number {
    const seen = lastSeen.get(accountId);
    if (seen === undefined) return 0;
    if (seen.month !== month) Object.assign(seen, { month, left: limit, takenInOutage: 0 });
    const most = Math.min(seen.left, Math.max(outageCallsLeast, Math.floor(limit * outagePart)));
    return Math.max(0, most - seen.takenInOutage);
  }

  const take = batchedBy(
    batchMax,
    (item: Item) => item.accountId,
    async (items) => {
      const { accountId, limit } = items.at(-1) as Item; // the limit as it was looked up last
      const calls = items.reduce((sum, item) => sum + item.calls, 0);
      try {
        return shareOut(accountId, callsPerItem(items), await takeUpTo(accountId, calls, limit));
      } catch (error) {
        if (!(error instanceof Failure) || outage === 'closed') throw error;
        const grant = takeInOutage(accountId, calls, limit);
        if (grant.granted === 0) throw error;
        return shareOut(accountId, callsPerItem(items), grant);
      }
    },
  );

  /** Gives what an account was granted to its calls, first come first served; a call gets all it needs or nothing. */
  function shareOut(accountId: string, wanted: readonly number[], grant: Grant): Take[] {
    const { limit, resetsAt } = grant;
    const month = monthBefore(resetsAt);
    const resetsAtMs = Date.parse(resetsAt);
    const monthSeconds = (resetsAtMs - Date.parse(month)) / 1000;
    let left = grant.granted;
    let used = grant.used === null ? null : grant.used - grant.granted;
    const takes = wanted.map((calls): Take => {
      const granted = left >= calls;
      if (granted) {
        left -= calls;
        if (used !== null) used += calls;
      }
      return { granted, calls, limit, used, resetsAt, resetsAtMs, month, monthSeconds };
    });
    if (left > 0) journal.refund(accountId, month, left);
    return takes;
  }

  return {
    async take(accountId, calls, limit) {
      const taken = await take({ accountId, calls, limit });
      // Beyond what may be served in an outage. Whether the month has calls left, nobody can say: this is no 402.
      if (!taken.granted && taken.used === null)
        fail('unavailable', 'The monthly quota cannot be checked at the moment. Try again.');
      return taken;
    },
    share(accountId, calls, grant) {
      see(accountId, grant);
      return shareOut(accountId, calls, grant);
    },
  };
}

function callsPerItem(items: readonly Item[]): number[] {
  return items.map(({ calls }) => calls);
}

/** @param resetsAt the ISO instant at which the next month begins. */
function monthBefore(resetsAt: string): string {
  return utcMonth(new Date(Date.parse(resetsAt) - 1));
}
