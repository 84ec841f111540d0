// Allotments in this process, for a gateway without Redis, or whose Redis does not answer. Calls granted in advance save requests;
// those not drawn soon are returned, so that another gateway can have them. Hides the lease under which its calls may be served.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../kernel/log/log.ts';
import type { Accounts } from '../accounts.ts';
import { createAccountsCache } from './accounts-cache.ts';
import {
  expectedIn,
  keyOf,
  type AccountMonth,
  type Credit,
  type Drawn,
  type Holder,
  type Pace,
} from './allotments.ts';
import { Hold, leaseMs, renewAfterMs, renewEveryMs, type Source } from './hold.ts';
import type { Journal } from './journal.ts';

export interface ProcessAllotments extends Holder {
  /** Returns all undrawn calls. */
  close(): void;
}

export interface ProcessAllotmentsOptions {
  journal: Pick<Journal, 'spent' | 'flush'>;
  accounts: Pick<Accounts, 'renew'>;
  log: Log;
  /** The clock of the leases; `performance.now()` by default. */
  nowMs?: () => number;
}

type Rest = 'none' | 'some' | 'most';

interface Allotment extends AccountMonth, Source, Pace {
  readonly id: string;
  /** The totals granted and returned, and of the calls that are under way or were served. */
  granted: number;
  drawn: number;
  returned: number;
  underWay: number;
  /** Calls charged to the month outside the allotment. */
  elsewhere: number;
  /** How much of the month was left when it was last topped up; `none`: others may wait for each call. */
  rest: Rest;
  /** Until when granted calls may be drawn. */
  keepUntilMs: number;
  leasedUntilMs: number;
}

/** How long a gateway keeps undrawn calls, by what is left of the month. */
const keepMs = { none: 10, some: 100, most: 2_000 } as const;
/** A top-up requests the lacking calls, and those expected in this time at the current rate. */
const aheadMs = 50;
/**
 * While most of the month is left, half of it and 10,000 calls at least, a top-up requests those of a second, so that few calls wait for one.
 * What a gateway keeps for two seconds another lacks only if all of that is used up meanwhile.
 */
const farAheadMs = 1_000;
const restLeast = 10_000;
/** It is then topped up again when the calls of so many ms are left; not sooner after the last top-up than the rate is known. */
const earlyMs = 250;
const rateKnownAfterMs = 20;
/** How long a top-up waits until what was returned before is in the month again: as long as for any answer of accounts-api. */
const waitForReturnMs = 2_000;

export function createProcessAllotments({
  journal,
  accounts,
  log,
  nowMs = () => performance.now(),
}: ProcessAllotmentsOptions): ProcessAllotments {
  const allotments = createAccountsCache<Allotment>();
  const notEmpty = new Set<Allotment>();
  const busy = new Set<Allotment>(); // had calls under way since the last renewal
  let returning: NodeJS.Timeout | undefined;
  let returnAtMs = Infinity;
  let returned = Promise.resolve(); // until what was returned last is in the month again
  let renewing: NodeJS.Timeout | undefined;

  function newAllotment(month: AccountMonth): Allotment {
    const allotment: Allotment = {
      ...{ ...month, id: randomUUID(), granted: 0, drawn: 0, returned: 0, underWay: 0, elsewhere: 0 },
      ...{ rest: 'some', toppedUpAtMs: nowMs(), drawnSince: 0, keepUntilMs: 0, leasedUntilMs: -Infinity },
      spend(calls) {
        end(allotment, calls);
        journal.spent(allotment.accountId, allotment.month, allotment.id, calls, 0);
      },
      putBack(calls) {
        end(allotment, calls);
        if (nowMs() >= allotment.leasedUntilMs) return; // others may have been granted them
        allotment.drawn -= calls;
        keep(allotment);
      },
    };
    allotments.set(keyOf(month), allotment);
    return allotment;
  }

  function end(allotment: Allotment, calls: number): void {
    allotment.underWay -= calls;
  }

  /** The allotment to draw from. One whose lease has ended may have been reclaimed, with the calls under way. */
  function allotmentOf(month: AccountMonth): Allotment {
    const allotment = allotments.get(keyOf(month));
    if (allotment === undefined) return newAllotment(month);
    const isInUse = allotment.underWay > 0 || leftIn(allotment) > 0;
    if (isInUse && allotment.leasedUntilMs <= nowMs()) {
      notEmpty.delete(allotment);
      return newAllotment(month);
    }
    return allotment;
  }

  function keep(allotment: Allotment): void {
    allotment.keepUntilMs = nowMs() + keepMs[allotment.rest];
    notEmpty.add(allotment);
    returnBy(allotment.keepUntilMs);
  }

  /** Returns the calls that may be drawn only until that instant. */
  function returnUnused(untilMs: number): void {
    let sum = 0;
    for (const allotment of notEmpty) {
      if (leftIn(allotment) > 0 && allotment.keepUntilMs > untilMs) continue;
      notEmpty.delete(allotment);
      sum += giveBack(allotment);
    }
    if (sum > 0) returned = journal.flush(); // at once: other gateways may wait for it
  }

  function giveBack(allotment: Allotment): number {
    const left = leftIn(allotment);
    if (left === 0) return 0;
    allotment.returned += left;
    journal.spent(allotment.accountId, allotment.month, allotment.id, 0, left);
    return left;
  }

  function returnBy(atMs: number): void {
    if (atMs >= returnAtMs) return;
    clearTimeout(returning);
    returnAtMs = atMs;
    returning = setTimeout(
      () => {
        returnAtMs = Infinity;
        returnUnused(nowMs());
        for (const { keepUntilMs } of notEmpty) returnBy(keepUntilMs);
      },
      Math.max(0, atMs - nowMs()),
    );
  }

  let renewal: Promise<void> | undefined;
  function renewLater(): void {
    renewing ??= setTimeout(() => {
      renewing = undefined;
      renewal ??= renew()
        .catch((error: unknown) => log.warn({ err: error }, 'leases on quota allotments were not renewed'))
        .finally(() => (renewal = undefined));
      if (busy.size > 0) renewLater();
    }, renewEveryMs);
  }

  /** Renews the leases on allotments with calls under way, in time for another try. */
  async function renew(): Promise<void> {
    const askedAtMs = nowMs();
    // Deleting at the end of each call instead would cost minor collections their speed, see answers.ts.
    for (const allotment of busy) if (allotment.underWay === 0) busy.delete(allotment);
    const due = [...busy].filter(({ leasedUntilMs }) => leasedUntilMs < askedAtMs + leaseMs - renewAfterMs);
    if (due.length === 0) return;
    const open = await accounts.renew(due);
    for (const allotment of due)
      allotment.leasedUntilMs = open.has(allotment.id) ? askedAtMs + leaseMs : -Infinity;
  }

  function credit(
    allotment: Allotment,
    { granted, elsewhere, askedAtMs }: Credit,
    limit: number | null,
  ): void {
    const now = nowMs();
    const isMore = granted > allotment.granted;
    allotment.granted = Math.max(allotment.granted, granted);
    allotment.leasedUntilMs = Math.max(allotment.leasedUntilMs, askedAtMs + leaseMs);
    const used = elsewhere + allotment.granted - allotment.returned;
    Object.assign(allotment, { elsewhere, rest: restOf(limit, used), drawnSince: 0, toppedUpAtMs: now });
    if (isMore) keep(allotment);
  }

  function draw(
    month: AccountMonth,
    wanted: readonly number[],
    limit: number | null,
    toppedUp: Credit | undefined,
  ): Drawn {
    const allotment = allotmentOf(month);
    const now = nowMs();
    if (toppedUp?.allotment === allotment.id) credit(allotment, toppedUp, limit);
    else if (allotment.keepUntilMs <= now && giveBack(allotment) > 0) returned = journal.flush();
    const withinLimit = limit === null ? Infinity : limit - allotment.elsewhere - allotment.drawn;
    let free = Math.min(leftIn(allotment), withinLimit);
    let lacking = 0;
    const holds = wanted.map((calls) => {
      if (calls > free) {
        lacking += calls;
        return null;
      }
      free -= calls;
      allotment.drawn += calls;
      allotment.underWay += calls;
      allotment.drawnSince += calls;
      return new Hold(allotment, calls, nowMs);
    });
    if (allotment.underWay > 0) {
      busy.add(allotment);
      renewLater();
    }
    const { id, granted, underWay, elsewhere, drawn, rest, toppedUpAtMs } = allotment;
    const hasMost = rest === 'most';
    return {
      ...{ allotment: id, holds, granted, left: leftIn(allotment), used: elsewhere + drawn },
      low: hasMost && now - toppedUpAtMs >= rateKnownAfterMs ? expectedIn(earlyMs, allotment, now) : 0,
      ahead: lacking + expectedIn(hasMost ? farAheadMs : aheadMs, allotment, now),
      mayCome: underWay > 0,
    };
  }

  return {
    name: 'process',
    async draw(month, wanted, limit, toppedUp) {
      const drawn = draw(month, wanted, limit, toppedUp);
      // A top-up follows, which must find in the month what was returned.
      if (drawn.holds.includes(null)) await Promise.race([returned, pause(waitForReturnMs)]);
      return drawn;
    },
    discard(month, id) {
      const allotment = allotments.get(keyOf(month));
      if (allotment?.id === id) {
        allotments.delete(keyOf(month));
        notEmpty.delete(allotment);
        allotment.leasedUntilMs = -Infinity;
      }
      return Promise.resolve();
    },
    close() {
      clearTimeout(returning);
      clearTimeout(renewing);
      returnAtMs = Infinity;
      renewing = undefined;
      returnUnused(Infinity);
    },
  };
}

function restOf(limit: number | null, used: number): Rest {
  if (limit === null) return 'most';
  if (used >= limit) return 'none';
  return used < limit / 2 && limit - used >= restLeast ? 'most' : 'some';
}

function leftIn({ granted, drawn, returned }: Allotment): number {
  return granted - drawn - returned;
}
