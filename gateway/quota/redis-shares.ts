// The shares of this gateway in the allotments in Redis: the calls that it has drawn and that are under way, under a lease. Hides when
// Redis is told how calls ended, and that a share lapses if it is not seen: what a gateway had under way can then be drawn by others.
import { randomUUID } from 'node:crypto';
import { RedisUnavailable, luaFile, luaFunction, script, type RedisLink } from '../../kernel/redis.ts';
import { createAccountsCache } from './accounts-cache.ts';
import type { AccountMonth, Pace } from './allotments.ts';
import { leaseMs, renewAfterMs, renewEveryMs, type Source } from './hold.ts';
import type { Journal } from './journal.ts';

/** The totals of calls that have ended. */
export interface Ended {
  readonly served: number;
  readonly putBack: number;
}

export interface Share extends Source, AccountMonth, Pace {
  /** Of the allotment in Redis. */
  readonly key: string;
  /** Its name in the allotment. */
  readonly token: string;
  /** The id of the allotment; undefined before the first reply. */
  allotment: string | undefined;
  underWay: number;
  ended: Ended;
  /** The ends that Redis knows of. */
  told: Ended;
  leasedUntilMs: number;
}

export interface Shares {
  /** The share to draw by: another one after a draw without a reply, and after a lease has ended with calls under way. */
  of(month: AccountMonth): Share;
  /**
   * Notes that Redis drew calls by the share. @param told the ends of calls that it was told. @param allotment the id of the
   * allotment drawn from. @returns the share in that allotment, which may have replaced the one that this gateway knew.
   */
  drawn(share: Share, askedAtMs: number, told: Ended, allotment: string): Share;
  /** Notes calls under way. */
  begin(share: Share, calls: number): void;
  /** Draws no more by the share: Redis may have drawn calls by it that nobody knows of, which lapse with it. */
  retire(share: Share): void;
  /** Tells Redis now how calls have ended. */
  tell(): void;
  close(): void;
}

/** What the scripts that are told of ended calls have in common. */
export const endsLua =
  luaFunction('ended', luaFile(new URL('ended.lua', import.meta.url))) +
  luaFunction('lapsed', luaFile(new URL('lapsed.lua', import.meta.url)));
export const tellLua = endsLua + luaFile(new URL('tell.lua', import.meta.url));
const tellScript = script(tellLua);

/** Redis is told of served calls by the next draw, or when there was none for this time. */
const tellServedAfterMs = 20;
const tellAgainAfterMs = 500;

export interface SharesOptions {
  redis: RedisLink;
  journal: Pick<Journal, 'spent'>;
  nowMs: () => number;
}

export function createShares({ redis, journal, nowMs }: SharesOptions): Shares {
  const current = createAccountsCache<Share>();
  const busy = new Set<Share>(); // had calls under way since the last renewal: at the end of each call nothing is deleted, see answers.ts
  const untold = new Set<Share>(); // with calls whose end Redis may not know
  let isClosed = false;
  let telling: NodeJS.Timeout | undefined;
  let tellingNow: NodeJS.Immediate | undefined;
  let renewing: NodeJS.Timeout | undefined;

  function newShare(month: AccountMonth, token: string, ended: Ended): Share {
    const share: Share = {
      ...{ ...month, key: allotmentKey(month), token, ended, told: ended },
      ...{ allotment: undefined, underWay: 0, leasedUntilMs: -Infinity },
      ...{ toppedUpAtMs: nowMs(), drawnSince: 0 },
      spend(calls) {
        if (share.allotment === undefined)
          throw new Error('Calls are served only after they were drawn from an allotment.');
        end(share, calls, { ...share.ended, served: share.ended.served + calls });
        journal.spent(share.accountId, share.month, share.allotment, calls, 0);
        tellLater(tellServedAfterMs);
      },
      putBack(calls) {
        end(share, calls, { ...share.ended, putBack: share.ended.putBack + calls });
        tellingNow ??= setImmediate(tell); // for all of the turn: other gateways may wait for them
      },
    };
    current.set(share.key, share);
    return share;
  }

  function end(share: Share, calls: number, ended: Ended): void {
    share.ended = ended;
    share.underWay -= calls;
    untold.add(share);
  }

  /** Notes that Redis had the share after that instant, and what it was told. Redis answers in the order of the requests. */
  function confirm(share: Share, askedAtMs: number, told: Ended): void {
    share.leasedUntilMs = Math.max(share.leasedUntilMs, askedAtMs + leaseMs);
    share.told = told;
  }

  async function tellOf(share: Share): Promise<void> {
    const { key, allotment, token, ended } = share;
    if (allotment === undefined) return;
    const askedAtMs = nowMs();
    const words = [allotment, token, String(ended.served), String(ended.putBack)];
    try {
      const isThere = (await redis.run(tellScript, key, words)) === 1;
      if (isThere) confirm(share, askedAtMs, ended);
      else Object.assign(share, { told: ended, leasedUntilMs: -Infinity });
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) throw error;
      untold.add(share);
      tellLater(tellAgainAfterMs);
    }
  }

  function tell(): void {
    clearImmediate(tellingNow);
    tellingNow = undefined;
    for (const share of untold) {
      untold.delete(share);
      if (share.ended !== share.told) void tellOf(share);
    }
  }

  /** Tells of shares by which nothing is drawn at the moment: the next draw tells of the others. */
  function tellOfIdle(): void {
    const drawnAfterMs = nowMs() - tellServedAfterMs;
    for (const share of untold) {
      if (share.leasedUntilMs - leaseMs > drawnAfterMs) continue;
      untold.delete(share);
      if (share.ended !== share.told) void tellOf(share);
    }
    if (untold.size > 0) tellLater(tellServedAfterMs);
  }

  function tellLater(afterMs: number): void {
    if (isClosed) return;
    telling ??= setTimeout(() => {
      telling = undefined;
      tellOfIdle();
    }, afterMs);
  }

  function renewLater(): void {
    if (isClosed) return;
    renewing ??= setTimeout(() => {
      renewing = undefined;
      const dueBeforeMs = nowMs() + leaseMs - renewAfterMs;
      for (const share of busy) {
        if (share.underWay === 0) busy.delete(share);
        else if (share.leasedUntilMs < dueBeforeMs) void tellOf(share);
      }
      if (busy.size > 0) renewLater();
    }, renewEveryMs);
  }

  return {
    of(month) {
      const share = current.get(allotmentKey(month));
      const hasLapsed = share !== undefined && share.underWay > 0 && share.leasedUntilMs <= nowMs();
      return share === undefined || hasLapsed
        ? newShare(month, randomUUID(), { served: 0, putBack: 0 })
        : share;
    },
    drawn(drawnBy, askedAtMs, told, allotment) {
      let share = drawnBy;
      share.allotment ??= allotment;
      if (share.allotment !== allotment) {
        const next = current.get(share.key);
        const isNext = next?.allotment === allotment && next.token === share.token;
        share = isNext ? next : newShare(share, share.token, told);
        share.allotment = allotment;
      }
      confirm(share, askedAtMs, told);
      return share;
    },
    begin(share, calls) {
      share.underWay += calls;
      share.drawnSince += calls;
      busy.add(share);
      renewLater();
    },
    retire(share) {
      if (current.get(share.key) === share) current.delete(share.key);
    },
    tell,
    close() {
      isClosed = true;
      clearTimeout(telling);
      clearTimeout(renewing);
      clearImmediate(tellingNow);
    },
  };
}

export function allotmentKey({ accountId, month }: AccountMonth): string {
  return `almanac:allotment:{${accountId}}:${month}`;
}
