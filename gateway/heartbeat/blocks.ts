// The blocks of calls granted to this gateway. A call is drawn from its block at once; more calls are requested before the block is empty. A call
// that finds too few waits briefly for calls that other gateways return. The rules are in state.ts.
import { setTimeout as pause } from 'node:timers/promises';
import { fail } from '../../kernel/errors.ts';
import { leaseMs } from '../../kernel/heartbeat/times.ts';
import type { Log } from '../../kernel/log/log.ts';
import { batched } from '../event-loop/batched.ts';
import type { Heartbeat, Place } from './heartbeat.ts';
import type { Journal } from './journal.ts';
import { itemsMax, type Want } from '../../kernel/heartbeat/message.ts';
import {
  draw,
  emptyBlock,
  forgetLimit,
  giveBack,
  hasRoom,
  hearGrant,
  hearTotal,
  isUsedUp,
  leftIn,
  putBack,
  usedOf,
  type Block,
  type Grant,
} from './state.ts';

/** The block of one account for one month. */
interface Held {
  readonly accountId: string;
  readonly life: string;
  /** `YYYY-MM-01`, UTC. */
  readonly month: string;
  block: Block;
  /** Drawn calls that are neither served nor put back yet. */
  underWay: number;
  /** The calls that wait for the answer. */
  lacking: number;
  asking: Promise<void> | undefined;
  /** When calls were last granted, and how many were drawn since: the pace of the account. */
  grantedAtMs: number;
  drawnSince: number;
  /** When fewer calls remain, more are requested in advance. */
  low: number;
  heardAtMs: number;
}

export type Blocks = ReturnType<typeof createBlocks>;

/** How many months of totals are cached: a clock may be set past the end of a month and back. */
const monthsMax = 3;
const waitMs = 250;
const askAgainAfterMs = 10;
/** The smallest number of calls to request in advance. */
const aheadLeast = 8;
/** How often an exhausted month is checked, in ms. A change of the plan is reported at once. */
const knownForMs = 1_000;

/** The calls that one request counts as, while it runs. */
export interface Charge {
  readonly calls: number;
  /** The month that they are charged to: `YYYY-MM-01`, UTC. */
  readonly month: string;
  /** Whether the request may be answered 2xx or 304; false once the calls may have been granted to other gateways. */
  readonly isValid: boolean;
  /** Ends the calls, on the first call of `end`: they are charged if they were served. */
  end(served: boolean): void;
}

/** Calls drawn from a block. */
export class Hold implements Charge {
  readonly calls: number;
  /** Calls used in the month, including these and all others in flight here. */
  readonly used: number;
  /** Null: unlimited. */
  readonly limit: number | null;
  readonly #held: Held;
  readonly #ledger: Ledger;
  #hasEnded = false;

  constructor(held: Held, calls: number, ledger: Ledger) {
    this.#held = held;
    this.calls = calls;
    this.used = usedOf(held.block);
    this.limit = held.block.limit;
    this.#ledger = ledger;
  }

  get month(): string {
    return this.#held.month;
  }

  get isValid(): boolean {
    return this.#ledger.mayServe(this.#held.life);
  }

  end(served: boolean): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#ledger.end(this.#held, this.calls, served);
  }
}

interface Ledger {
  mayServe(life: string): boolean;
  end(held: Held, calls: number, served: boolean): void;
}

/** @param nowMs the clock of the leases. */
export function createBlocks(
  heartbeat: Pick<Heartbeat, 'beat' | 'life' | 'isLeased' | 'mayServe' | 'hold'>,
  journal: Pick<Journal, 'spent' | 'flush'>,
  nowMs: () => number,
  log: Log,
) {
  // Nothing is evicted within a month: accounts-api counts totals per life, so earlier grants must be known. About 0.3 KB per account.
  const months = new Map<string, Map<string, Held>>();
  let newestMonth = '';
  const waiting = new Set<Promise<unknown>>();
  const ledger: Ledger = {
    mayServe: heartbeat.mayServe,
    end(held, calls, served) {
      held.underWay -= calls;
      if (served) return journal.spent(held.accountId, held.month, held.life, calls, 0);
      held.block = putBack(held.block, calls);
      if (held.life !== heartbeat.life() || held.month !== newestMonth) returnUndrawn(held);
    },
  };

  function enterMonth(month: string): Map<string, Held> {
    const accounts = new Map<string, Held>();
    if (month > newestMonth) {
      newestMonth = month;
      for (const held of allHeld()) returnUndrawn(held); // a new month has begun
    }
    for (const ended of [...months.keys()].toSorted().slice(0, 1 - monthsMax)) months.delete(ended);
    months.set(month, accounts);
    return accounts;
  }

  function heldOf(accountId: string, month: string): Held {
    const accounts = months.get(month) ?? enterMonth(month);
    const known = accounts.get(accountId);
    if (known !== undefined) return known;
    const held: Held = {
      ...{ accountId, month, life: heartbeat.life(), block: emptyBlock, underWay: 0, lacking: 0 },
      ...{ asking: undefined, grantedAtMs: nowMs(), drawnSince: 0, low: 0, heardAtMs: -Infinity },
    };
    accounts.set(accountId, held);
    return held;
  }

  const allHeld = (): Held[] => [...months.values()].flatMap((accounts) => [...accounts.values()]);

  function returnUndrawn(held: Held): void {
    const before = held.block.returned;
    held.block = giveBack(held.block);
    const returned = held.block.returned - before;
    if (returned > 0) journal.spent(held.accountId, held.month, held.life, 0, returned);
  }

  heartbeat.hold({
    onChanged(accountIds) {
      for (const accounts of months.values()) {
        const changed = accountIds?.flatMap((id) => accounts.get(id) ?? []) ?? accounts.values();
        for (const held of changed) held.block = forgetLimit(held.block);
      }
    },
    onRecalled(recalled) {
      for (const { account_id: accountId, month, granted } of recalled) {
        // Stored even if this gateway had no block: the total in the next answer includes what is returned here.
        const held = heldOf(accountId, month);
        held.block = hearTotal(held.block, granted);
        returnUndrawn(held);
      }
      void journal.flush(); // at once, with all earlier entries: a call at another gateway waits for it
    },
    onNewLife() {
      // Nothing is returned: the month already has these calls again. Calls in flight are charged when they are served.
      for (const held of allHeld())
        held.block = { ...held.block, returned: held.block.granted - held.block.drawn };
      months.clear();
    },
  });

  function drawNow(held: Held, calls: number): Hold | undefined {
    const drawn = heartbeat.isLeased() ? draw(held.block, calls) : undefined;
    if (drawn === undefined) return undefined;
    held.block = drawn;
    held.underWay += calls;
    held.drawnSince += calls;
    if (held.low > 0 && leftIn(drawn) < held.low) askEarly(held);
    return new Hold(held, calls, ledger);
  }

  const send = batched(itemsMax, async (all: readonly Held[]) => {
    await heartbeat.beat({ wants: all.map(wantOf) }, ({ grants }, place) => {
      for (const [i, held] of all.entries()) {
        const grant = grants[i];
        if (grant === undefined) throw new Error('A heartbeat was answered with too few grants.');
        hearOf(held, grant, place);
      }
    });
    return all.map(() => undefined);
  });

  function wantOf(held: Held): Want {
    const { accountId, month, block, lacking, drawnSince, grantedAtMs } = held;
    const paceOfLease = Math.floor((drawnSince * leaseMs) / Math.max(1, nowMs() - grantedAtMs));
    const calls = Math.max(1, lacking - leftIn(block));
    return {
      account_id: accountId,
      month,
      has: block.granted,
      calls,
      ahead: calls + Math.max(aheadLeast, paceOfLease),
    };
  }

  function hearOf(held: Held, grant: Grant, place: Place): void {
    if (place.life !== held.life) return;
    const before = held.block;
    held.block = hearGrant(before, grant, place.number, place.isCurrent);
    if (held.block === before) return;
    held.heardAtMs = nowMs();
    const returned = held.block.returned - before.returned;
    if (returned > 0) {
      journal.spent(held.accountId, held.month, held.life, 0, returned);
      void journal.flush(); // at once: until then the month lacks these calls, also for this gateway
    }
    if (held.block.granted === before.granted) return;
    Object.assign(held, { grantedAtMs: nowMs(), drawnSince: 0 });
    const { granted, elsewhere, limit } = held.block;
    const isMostLeft = limit === null || elsewhere + granted < limit / 2;
    held.low = isMostLeft ? Math.floor(leftIn(held.block) / 3) : 0;
  }

  /** All waiting calls share one request. */
  function ask(held: Held): Promise<void> {
    held.asking ??= send(held).finally(() => (held.asking = undefined));
    return held.asking;
  }

  /** Once per grant. If it fails, the first call that finds too few requests again and reports why it cannot be served. */
  function askEarly(held: Held): void {
    held.low = 0;
    ask(held).catch((error: unknown) => log.debug({ err: error }, 'calls could not be requested in advance'));
  }

  async function wait(accountId: string, month: string, calls: number): Promise<Hold | null> {
    const giveUpAtMs = nowMs() + waitMs;
    // The answer may be to a request that did not include these calls yet: they are then requested once more.
    let isLast = false;
    for (;;) {
      const held = heldOf(accountId, month); // a different one after a new life has begun
      const { granted } = held.block;
      held.lacking += calls;
      await ask(held).finally(() => (held.lacking -= calls));
      const present = heldOf(accountId, month);
      const hold = drawNow(present, calls);
      if (hold !== undefined) return hold;
      const isLeased = heartbeat.isLeased(); // an answer may come without a lease; the next message then gets one
      if (isLeased && isUsedUp(present.block, present.underWay, calls)) return null;
      const isOver = nowMs() >= giveUpAtMs;
      if (isLeased && isOver && !hasRoom(present.block, calls)) return null;
      if (isLast) fail('unavailable', 'The monthly quota cannot be checked at the moment. Try again.');
      isLast = isOver;
      if (present.block.granted === granted) await pause(askAgainAfterMs);
    }
  }

  return {
    /** Draws calls at once. @returns undefined if the block has too few, or there is no lease. */
    draw(accountId: string, month: string, calls: number): Hold | undefined {
      return drawNow(heldOf(accountId, month), calls);
    },
    /**
     * Requests calls and draws them. If the month has too few but other gateways hold some, waits up to 250 ms for them.
     * @returns null if the month has too few. @throws Failure unavailable.
     */
    async drawLater(accountId: string, month: string, calls: number): Promise<Hold | null> {
      const held = heldOf(accountId, month);
      const isKnown = heartbeat.isLeased() && nowMs() - held.heardAtMs < knownForMs;
      if (isKnown && isUsedUp(held.block, held.underWay, calls)) return null;
      const hold = wait(accountId, month, calls);
      waiting.add(hold);
      try {
        return await hold;
      } finally {
        waiting.delete(hold);
      }
    },
    /** What is known about an account's month as of the last answer; undefined if there was none. */
    state(accountId: string, month: string): (Pick<Block, 'limit'> & { used: number }) | undefined {
      const block = months.get(month)?.get(accountId)?.block ?? emptyBlock;
      if (block.isKnown) return { limit: block.limit, used: usedOf(block) };
      if (block.heard > 0) return undefined; // the plan may have changed since
      // The month has just begun: use the limit known from an earlier month.
      const others = [...months.values()].flatMap((accounts) => accounts.get(accountId)?.block ?? []);
      const before = others.find(({ heard }) => heard > 0);
      return before && { limit: before.limit, used: 0 };
    },
    onGrant(accountId: string, grant: Grant, place: Place): void {
      hearOf(heldOf(accountId, place.month), grant, place);
    },
    /** Resolves when no call is waiting. */
    async settled(): Promise<void> {
      while (waiting.size > 0) await Promise.allSettled(waiting);
    },
  };
}
