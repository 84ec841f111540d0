// Allotments in this process, for a gateway without Redis, or whose Redis does not answer. Calls granted in advance save requests;
// those not drawn soon are returned, so that another gateway can have them.
import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Drawn, Holder, AccountMonth } from './allotments.ts';
import type { Journal } from './journal.ts';

export interface ProcessAllotments extends Holder {
  /** Returns all undrawn calls. */
  close(): void;
}

export interface ProcessAllotmentsOptions {
  journal: Pick<Journal, 'drawn' | 'flush'>;
  /** A monotonic clock, in ms; `performance.now()` by default. */
  nowMs?: () => number;
}

interface Allotment extends AccountMonth {
  id: string;
  /** The totals granted, drawn and returned. */
  granted: number;
  drawn: number;
  returned: number;
  /** Calls charged to the month outside the allotment. */
  elsewhere: number;
  /** When it was last topped up, and how many calls were drawn since. */
  toppedUpAtMs: number;
  drawnSince: number;
  /** Until when granted calls may be drawn. */
  keepUntilMs: number;
}

const accountsMax = 100_000;
/** How long a gateway keeps undrawn calls. */
const keepMs = 100;
/** A top-up requests the lacking calls, and those expected in this time at the current rate. */
const aheadMs = 50;

export function createProcessAllotments({
  journal,
  nowMs = () => performance.now(),
}: ProcessAllotmentsOptions): ProcessAllotments {
  const allotments = new LRUCache<string, Allotment>({ max: accountsMax });
  const notEmpty = new Set<Allotment>();
  let timer: NodeJS.Timeout | undefined;

  function allotmentOf(month: AccountMonth): Allotment {
    const key = `${month.accountId} ${month.month}`;
    let allotment = allotments.get(key);
    if (allotment === undefined) {
      allotment = {
        ...{ ...month, id: randomUUID(), granted: 0, drawn: 0, returned: 0, elsewhere: 0 },
        ...{ toppedUpAtMs: nowMs(), drawnSince: 0, keepUntilMs: 0 },
      };
      allotments.set(key, allotment);
    }
    return allotment;
  }

  /** Returns the calls that may be drawn only until that instant. */
  function returnUnused(untilMs: number): void {
    let returned = 0;
    for (const allotment of notEmpty) {
      if (leftIn(allotment) > 0 && allotment.keepUntilMs > untilMs) continue;
      notEmpty.delete(allotment);
      returned += giveBack(allotment);
    }
    if (returned > 0) journal.flush(); // at once: other gateways may wait for it
  }

  function tell({ accountId, month, id, drawn, returned }: Allotment): void {
    journal.drawn(accountId, month, id, drawn, returned);
  }

  function giveBack(allotment: Allotment): number {
    const left = leftIn(allotment);
    if (left === 0) return 0;
    allotment.returned += left;
    tell(allotment);
    return left;
  }

  function returnLater(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      returnUnused(nowMs());
      if (notEmpty.size > 0) returnLater();
    }, keepMs);
  }

  function draw(
    month: AccountMonth,
    calls: number,
    limit: number | null,
    credit: Parameters<Holder['draw']>[3],
  ): Drawn {
    const allotment = allotmentOf(month);
    const now = nowMs();
    if (credit?.allotment === allotment.id) {
      Object.assign(allotment, {
        elsewhere: credit.elsewhere,
        drawnSince: 0,
        toppedUpAtMs: now,
      });
      if (credit.granted > allotment.granted) allotment.keepUntilMs = now + keepMs;
      allotment.granted = Math.max(allotment.granted, credit.granted);
    } else if (allotment.keepUntilMs <= now) giveBack(allotment);
    const withinLimit = limit === null ? Infinity : limit - allotment.elsewhere - allotment.drawn;
    const taken = Math.max(0, Math.min(calls, leftIn(allotment), withinLimit));
    if (taken > 0) {
      allotment.drawn += taken;
      allotment.drawnSince += taken;
      tell(allotment);
    }
    if (leftIn(allotment) > 0) {
      notEmpty.add(allotment);
      returnLater();
    }
    const lacking = calls - taken;
    return {
      ...{ allotment: allotment.id, taken, granted: allotment.granted },
      used: allotment.elsewhere + allotment.drawn,
      ahead: lacking + expectedIn(aheadMs, allotment, now),
    };
  }

  return {
    name: 'process',
    draw: (month, calls, limit, credit) => Promise.resolve(draw(month, calls, limit, credit)),
    discard(month, id) {
      const allotment = allotmentOf(month);
      if (allotment.id === id) {
        allotments.delete(`${month.accountId} ${month.month}`);
        notEmpty.delete(allotment);
      }
      return Promise.resolve();
    },
    close() {
      clearTimeout(timer);
      timer = undefined;
      returnUnused(Infinity);
    },
  };
}

function leftIn({ granted, drawn, returned }: Allotment): number {
  return granted - drawn - returned;
}

/** The number of calls expected in `ms`, at the rate since the last top-up. */
function expectedIn(ms: number, { drawnSince, toppedUpAtMs }: Allotment, nowMs: number): number {
  return Math.floor((drawnSince * ms) / Math.max(1, nowMs - toppedUpAtMs));
}
