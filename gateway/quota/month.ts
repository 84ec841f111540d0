// Charges calls to the month of their account, and refunds those that are not served; nothing else in the gateway does. The calls
// are drawn from an allotment in Redis, or in this process if there is no Redis or it does not answer; if the allotment cannot be
// topped up, QUOTA_OUTAGE decides. Hides which of them it was, and that calls share requests.
import type { ServerResponse } from 'node:http';
import { setImmediate as endOfTurn, setTimeout as pause } from 'node:timers/promises';
import { type Clock, nextUtcMonthText, utcDate, utcMonth } from '../../kernel/clock.ts';
import { Failure, fail } from '../../kernel/errors.ts';
import { RedisUnavailable } from '../../kernel/redis.ts';
import { batchedBy } from '../batched.ts';
import { whenClosed, type Call } from '../call.ts';
import { createAccountsCache } from './accounts-cache.ts';
import type { Allotments, Grant } from './allotments.ts';
import { Hold, type Source } from './hold.ts';
import type { Journal } from './journal.ts';

export interface Take {
  granted: boolean;
  /** The number of calls requested. */
  calls: number;
  /** The calls, if they were granted. */
  hold: Hold | null;
  /** Null: unlimited. */
  limit: number | null;
  /** Calls used this month, with those under way, and these if granted; null if unknown. */
  used: number | null;
  /** ISO instant. */
  resetsAt: string;
  /** The whole seconds until then, rounded up; at least 1. */
  resetSeconds: number;
  monthSeconds: number;
}

export interface Month {
  /**
   * Takes calls from the account's month, all or none. If there are too few, but calls are under way that may come back, it waits
   * for them, 250 ms at most. @param limit of its plan. @throws Failure unavailable.
   */
  take(accountId: string, calls: number, limit: number | null): Promise<Take>;
  /** The takes of an account's calls, by what an allotment has given. */
  share(accountId: string, calls: readonly number[], grant: Grant): Take[];
  /** Charges the call with what was taken for it. If the response closes without having been served, the next call can have it. */
  charge(call: Call, response: ServerResponse, take: Take): void;
  /** Resolves when no take and no top-up is under way, and what was taken for clients that have left is put back. Each is bounded. */
  allTaken(): Promise<void>;
}

export type QuotaOutage = 'bounded' | 'closed' | 'open';

export interface MonthOptions {
  /** The allotments in Redis; undefined without Redis. */
  inRedis: Allotments | undefined;
  inProcess: Allotments;
  journal: Pick<Journal, 'charge'>;
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
/** How long a call waits for others that are under way, before it is refused, and how often it asks meanwhile. */
const waitMs = 250;
const askAgainAfterMs = 25;

/** The last known state of an account's month. */
interface LastSeen {
  month: string;
  left: number;
  /** Calls served since then during an outage. */
  takenInOutage: number;
}

export function createMonth({ inRedis, inProcess, journal, outage, clock }: MonthOptions): Month {
  const lastSeen = createAccountsCache<LastSeen>();

  async function takeAll(accountId: string, wanted: readonly number[], limit: number | null): Promise<Grant> {
    const grant =
      (await takeFromRedis(accountId, wanted, limit)) ?? (await inProcess.take(accountId, wanted, limit));
    see(accountId, grant);
    return grant;
  }

  /** @returns undefined if Redis is unavailable. */
  async function takeFromRedis(
    accountId: string,
    wanted: readonly number[],
    limit: number | null,
  ): Promise<Grant | undefined> {
    try {
      return await inRedis?.take(accountId, wanted, limit);
    } catch (error) {
      if (error instanceof RedisUnavailable) return undefined;
      throw error;
    }
  }

  function see(accountId: string, { limit, used, resetsAt }: Grant): void {
    if (limit === null || used === null) return;
    lastSeen.set(accountId, { month: monthUntil(resetsAt).month, left: limit - used, takenInOutage: 0 });
  }

  /** Grants what may be served during an outage; what is served is charged afterwards. */
  function takeInOutage(accountId: string, wanted: readonly number[], limit: number | null): Grant {
    const now = clock.now();
    const month = utcMonth(now);
    const seen = lastSeen.get(accountId);
    let free = outage === 'open' || limit === null ? Infinity : allowed(seen, limit, month);
    const source: Source = {
      leasedUntilMs: Infinity,
      spend: (calls) => journal.charge(accountId, month, calls),
      putBack(calls) {
        if (seen !== undefined) seen.takenInOutage -= calls;
      },
    };
    const holds = wanted.map((calls) => {
      if (calls > free) return null;
      free -= calls;
      if (seen !== undefined) seen.takenInOutage += calls;
      return new Hold(source, calls, () => 0);
    });
    return { holds, limit, used: null, resetsAt: nextUtcMonthText(now), mayCome: false };
  }

  function allowed(seen: LastSeen | undefined, limit: number, month: string): number {
    if (seen === undefined) return 0;
    if (seen.month !== month) Object.assign(seen, { month, left: limit, takenInOutage: 0 });
    const most = Math.min(seen.left, Math.max(outageCallsLeast, Math.floor(limit * outagePart)));
    return most - seen.takenInOutage;
  }

  const takeTogether = batchedBy(
    batchMax,
    (item: Item) => item.accountId,
    async (items): Promise<Answer[]> => {
      const { accountId } = items[0] as Item;
      const limit = leastLimit(items);
      const wanted = items.map(({ calls }) => calls);
      let grant: Grant;
      try {
        grant = await takeAll(accountId, wanted, limit);
      } catch (error) {
        if (!(error instanceof Failure) || outage === 'closed') throw error;
        grant = takeInOutage(accountId, wanted, limit);
        if (grant.holds.every((hold) => hold === null)) throw error;
      }
      return toTakes(wanted, grant, clock).map((take) => ({ take, mayCome: grant.mayCome }));
    },
  );

  async function takeOrWait(accountId: string, calls: number, limit: number | null): Promise<Take> {
    const giveUpAtMs = performance.now() + waitMs;
    for (;;) {
      const { take, mayCome } = await takeTogether({ accountId, calls, limit });
      // Over the limit for an outage. The month may have calls left, so this is not a 402.
      if (!take.granted && take.used === null)
        fail('unavailable', 'The monthly quota cannot be checked at the moment. Try again.');
      if (take.granted || !mayCome || performance.now() >= giveUpAtMs) return take;
      await pause(askAgainAfterMs);
    }
  }

  let underWay = 0;
  let noneLeft: (() => void) | undefined;

  return {
    async take(accountId, calls, limit) {
      underWay += 1;
      try {
        return await takeOrWait(accountId, calls, limit);
      } finally {
        underWay -= 1;
        if (underWay === 0) noneLeft?.();
      }
    },
    async allTaken() {
      if (underWay > 0) await new Promise<void>((resolve) => (noneLeft = resolve));
      await Promise.all([inRedis?.allToppedUp(), inProcess.allToppedUp()]);
      await endOfTurn(); // the last caller ends its hold
    },
    share(accountId, calls, grant) {
      see(accountId, grant);
      return toTakes(calls, grant, clock);
    },
    charge(call, response, { hold, resetsAt }) {
      if (hold === null) return;
      call.charge = hold;
      call.chargedUntil = resetsAt;
      whenClosed(call, response, () => hold.end(isServed(response)));
    },
  };
}

/**
 * Where the plan has just changed, one that waits may know an earlier one. By the least none is given more than its own plan allows, and
 * where that is not enough, accounts-api says which limit is in force.
 */
function leastLimit(items: readonly Item[]): number | null {
  const limits = items.flatMap(({ limit }) => limit ?? []);
  return limits.length === 0 ? null : Math.min(...limits);
}

interface Answer {
  take: Take;
  /** Calls are under way: some may come back soon. */
  mayCome: boolean;
}

function toTakes(wanted: readonly number[], { holds, limit, used, resetsAt }: Grant, clock: Clock): Take[] {
  const { resetsAtMs, monthSeconds } = monthUntil(resetsAt);
  const resetSeconds = Math.max(1, Math.ceil((resetsAtMs - clock.now().getTime()) / 1000));
  let taken = 0;
  for (const hold of holds) taken += hold?.calls ?? 0;
  let usedSoFar = used === null ? null : used - taken;
  return wanted.map((calls, i): Take => {
    const hold = holds[i] ?? null;
    if (hold !== null && usedSoFar !== null) usedSoFar += calls;
    return {
      granted: hold !== null,
      calls,
      hold,
      limit,
      used: usedSoFar,
      resetsAt,
      resetSeconds,
      monthSeconds,
    };
  });
}

/** Whether the client received a complete 2xx or 304: only then is a call billed. */
export function isServed({ writableFinished, statusCode }: ServerResponse): boolean {
  return writableFinished && ((statusCode >= 200 && statusCode < 300) || statusCode === 304);
}

interface CalendarMonth {
  resetsAt: string;
  resetsAtMs: number;
  monthSeconds: number;
  /** `YYYY-MM-01`. */
  month: string;
  /** `YYYY-MM-DD`. */
  lastDay: string;
}

let latest: CalendarMonth | undefined;

/** The month that ends at an ISO instant; computed once while it is the same, as gateways need it on every call. */
function monthUntil(resetsAt: string): CalendarMonth {
  if (latest?.resetsAt === resetsAt) return latest;
  const resetsAtMs = Date.parse(resetsAt);
  const end = new Date(resetsAtMs - 1);
  const [month, lastDay] = [utcMonth(end), utcDate(end)];
  const monthSeconds = (resetsAtMs - Date.parse(month)) / 1000;
  return (latest = { resetsAt, resetsAtMs, monthSeconds, month, lastDay });
}

/** The day, `YYYY-MM-DD`, or the nearest to it of the month that ends at that instant. */
export function dayWithin(resetsAt: string, day: string): string {
  const { month, lastDay } = monthUntil(resetsAt);
  if (day < month) return month;
  return day > lastDay ? lastDay : day;
}
