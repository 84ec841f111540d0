// Charges calls to the month of their account, and refunds those that are not served; nothing else in the gateway does. The calls
// are drawn from an allotment in Redis, or in this process if there is no Redis or it does not answer; if the allotment cannot be
// topped up, QUOTA_OUTAGE decides. Hides which of them it was, and that calls share requests.
import type { ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import { type Clock, instantText, nextUtcMonth, utcMonth } from '../../kernel/clock.ts';
import { Failure, fail } from '../../kernel/errors.ts';
import { RedisUnavailable } from '../../kernel/redis.ts';
import { batchedBy } from '../batched.ts';
import type { Call } from '../call.ts';
import type { Allotments, Grant } from './allotments.ts';
import type { Journal } from './journal.ts';

export interface Take {
  granted: boolean;
  /** The number of calls requested. */
  calls: number;
  /** Null: unlimited. */
  limit: number | null;
  /** Calls used this month, including this one if granted; null if unknown. */
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
  /** Distributes the calls granted by an allotment among the calls of an account. */
  share(accountId: string, calls: readonly number[], grant: Grant): Take[];
  /** Charges the call with what was taken for it. It is refunded if the response closes without having been served. */
  charge(call: Call, response: ServerResponse, accountId: string, take: Take): void;
}

export type QuotaOutage = 'bounded' | 'closed' | 'open';

export interface MonthOptions {
  /** The allotments in Redis; undefined without Redis. */
  inRedis: Allotments | undefined;
  inProcess: Allotments;
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
// During an outage of accounts-api, a gateway serves each account this part of its plan, or a minimum number of calls if that is
// more; but none to an account it has not seen before, and never more than the last known remaining quota.
const outagePart = 0.02;
const outageCallsLeast = 100;
const accountsSeenMax = 100_000;

/** The last known state of an account's month. */
interface LastSeen {
  month: string;
  left: number;
  /** Calls served since then during an outage. */
  takenInOutage: number;
}

export function createMonth({ inRedis, inProcess, journal, outage, clock }: MonthOptions): Month {
  const lastSeen = new LRUCache<string, LastSeen>({ max: accountsSeenMax });

  async function takeUpTo(accountId: string, calls: number, limit: number | null): Promise<Grant> {
    const grant =
      (await takeFromRedis(accountId, calls, limit)) ?? (await inProcess.take(accountId, calls, limit));
    see(accountId, grant);
    return grant;
  }

  /** @returns undefined if Redis is unavailable. */
  async function takeFromRedis(
    accountId: string,
    calls: number,
    limit: number | null,
  ): Promise<Grant | undefined> {
    try {
      return await inRedis?.take(accountId, calls, limit);
    } catch (error) {
      if (error instanceof RedisUnavailable) return undefined;
      throw error;
    }
  }

  function see(accountId: string, { limit, used, resetsAt }: Grant): void {
    if (limit === null || used === null) return;
    lastSeen.set(accountId, { month: monthBefore(resetsAt), left: limit - used, takenInOutage: 0 });
  }

  /** Grants what may be served during an outage; it is charged afterwards. */
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
      const { accountId, limit } = items.at(-1) as Item; // the most recent limit
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

  /** Distributes a grant among the account's calls, first come first served; a call gets all it needs or nothing. */
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
      // Over the limit for an outage. The month may have calls left, so this is not a 402.
      if (!taken.granted && taken.used === null)
        fail('unavailable', 'The monthly quota cannot be checked at the moment. Try again.');
      return taken;
    },
    share(accountId, calls, grant) {
      see(accountId, grant);
      return shareOut(accountId, calls, grant);
    },
    charge(call, response, accountId, { calls, month }) {
      call.charge = { calls, month };
      const refundUnlessServed = () => {
        if (!isServed(response)) journal.refund(accountId, month, calls);
      };
      if (response.closed) refundUnlessServed();
      else response.once('close', refundUnlessServed);
    },
  };
}

/** Whether the client received a complete 2xx or 304: only then is a call billed. */
export function isServed({ writableFinished, statusCode }: ServerResponse): boolean {
  return writableFinished && ((statusCode >= 200 && statusCode < 300) || statusCode === 304);
}

function callsPerItem(items: readonly Item[]): number[] {
  return items.map(({ calls }) => calls);
}

/** @param resetsAt the ISO instant at which the next month begins. */
function monthBefore(resetsAt: string): string {
  return utcMonth(new Date(Date.parse(resetsAt) - 1));
}
