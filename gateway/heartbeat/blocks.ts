// The blocks of calls granted to this gateway. A request draws its calls from the block at once; more are requested before the block is empty. A request
// that the block cannot cover waits briefly for calls that other gateways return. The rules are in block-rules.ts.
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
  returnUndrawnCalls,
  hasRoom,
  applyGrant,
  applyTotal,
  isUsedUp,
  leftIn,
  releaseCalls,
  usedOf,
  type Block,
  type Grant,
} from './block-rules.ts';

/** The block of one account for one month. */
interface AccountMonth {
  readonly accountId: string;
  readonly life: string;
  /** `YYYY-MM-01`, UTC. */
  readonly month: string;
  block: Block;
  /** Drawn calls that are neither served nor released. */
  inFlight: number;
  /** How many calls the waiting requests need. */
  neededCalls: number;
  asking: Promise<void> | undefined;
  /** When calls were last granted, and how many were drawn since: the pace of the account. */
  grantedAtMs: number;
  drawnSince: number;
  /** When fewer calls remain, more are requested in advance. */
  low: number;
  answeredAtMs: number;
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

/** The calls that a request in flight counts as. */
export interface Charge {
  readonly calls: number;
  /** The month that they are charged to: `YYYY-MM-01`, UTC. */
  readonly month: string;
  /** Whether the request may be answered 2xx or 304; false once the calls may have been granted to other gateways. */
  readonly isValid: boolean;
  /** Settles the reservation, once: charges its calls if they were served, otherwise releases them. */
  end(served: boolean): void;
}

/** Calls drawn from a block. */
export class DrawnCalls implements Charge {
  readonly calls: number;
  /** Calls used in the month, including these and all others in flight here. */
  readonly used: number;
  /** Null: unlimited. */
  readonly limit: number | null;
  readonly #accountMonth: AccountMonth;
  readonly #ledger: Ledger;

  constructor(accountMonth: AccountMonth, calls: number, ledger: Ledger) {
    this.#accountMonth = accountMonth;
    this.calls = calls;
    this.used = usedOf(accountMonth.block);
    this.limit = accountMonth.block.limit;
    this.#ledger = ledger;
  }

  get month(): string {
    return this.#accountMonth.month;
  }

  get isValid(): boolean {
    return this.#ledger.mayServe(this.#accountMonth.life);
  }

  end(served: boolean): void {
    this.#ledger.end(this.#accountMonth, this.calls, served);
  }
}

interface Ledger {
  mayServe(life: string): boolean;
  end(accountMonth: AccountMonth, calls: number, served: boolean): void;
}

/** @param nowMs the clock of the leases. */
export function createBlocks(
  heartbeat: Pick<Heartbeat, 'beat' | 'awaitedByCall' | 'life' | 'isLeased' | 'mayServe' | 'register'>,
  journal: Pick<Journal, 'spent' | 'flush'>,
  nowMs: () => number,
  log: Log,
) {
  // Nothing is evicted within a month: accounts-api counts totals per life, so earlier grants must be known. About 0.3 KB per account.
  const months = new Map<string, Map<string, AccountMonth>>();
  let newestMonth = '';
  const ledger: Ledger = {
    mayServe: heartbeat.mayServe,
    end(accountMonth, calls, served) {
      accountMonth.inFlight -= calls;
      if (served)
        return journal.spent(accountMonth.accountId, accountMonth.month, accountMonth.life, calls, 0);
      accountMonth.block = releaseCalls(accountMonth.block, calls);
      if (accountMonth.life !== heartbeat.life() || accountMonth.month !== newestMonth)
        returnUndrawn(accountMonth);
    },
  };

  function enterMonth(month: string): Map<string, AccountMonth> {
    const accounts = new Map<string, AccountMonth>();
    if (month > newestMonth) {
      newestMonth = month;
      for (const accountMonth of allAccountMonths()) returnUndrawn(accountMonth); // a new month has begun
    }
    for (const ended of [...months.keys()].toSorted().slice(0, 1 - monthsMax)) months.delete(ended);
    months.set(month, accounts);
    return accounts;
  }

  function accountMonthOf(accountId: string, month: string): AccountMonth {
    const accounts = months.get(month) ?? enterMonth(month);
    const known = accounts.get(accountId);
    if (known !== undefined) return known;
    const accountMonth: AccountMonth = {
      ...{ accountId, month, life: heartbeat.life(), block: emptyBlock, inFlight: 0, neededCalls: 0 },
      ...{ asking: undefined, grantedAtMs: nowMs(), drawnSince: 0, low: 0, answeredAtMs: -Infinity },
    };
    accounts.set(accountId, accountMonth);
    return accountMonth;
  }

  const allAccountMonths = (): AccountMonth[] =>
    [...months.values()].flatMap((accounts) => [...accounts.values()]);

  function returnUndrawn(accountMonth: AccountMonth): void {
    const before = accountMonth.block.returned;
    accountMonth.block = returnUndrawnCalls(accountMonth.block);
    const returned = accountMonth.block.returned - before;
    if (returned > 0)
      journal.spent(accountMonth.accountId, accountMonth.month, accountMonth.life, 0, returned);
  }

  heartbeat.register({
    onChanged(accountIds) {
      for (const accounts of months.values()) {
        const changed = accountIds?.flatMap((id) => accounts.get(id) ?? []) ?? accounts.values();
        for (const accountMonth of changed) accountMonth.block = forgetLimit(accountMonth.block);
      }
    },
    onRecalled(recalled) {
      for (const { account_id: accountId, month, granted } of recalled) {
        // Creates the block if it is missing: `granted` in later answers includes the calls returned here.
        const accountMonth = accountMonthOf(accountId, month);
        accountMonth.block = applyTotal(accountMonth.block, granted);
        returnUndrawn(accountMonth);
      }
      void journal.flush(); // at once, with all earlier entries: a call at another gateway waits for it
    },
    onNewLife() {
      // No returned calls are reported: accounts-api frees them when it closes the life. Calls in flight are still charged if they are served.
      for (const accountMonth of allAccountMonths())
        accountMonth.block = {
          ...accountMonth.block,
          returned: accountMonth.block.granted - accountMonth.block.drawn,
        };
      months.clear();
    },
  });

  function drawNow(accountMonth: AccountMonth, calls: number): DrawnCalls | undefined {
    const drawn = heartbeat.isLeased() ? draw(accountMonth.block, calls) : undefined;
    if (drawn === undefined) return undefined;
    accountMonth.block = drawn;
    accountMonth.inFlight += calls;
    accountMonth.drawnSince += calls;
    if (accountMonth.low > 0 && leftIn(drawn) < accountMonth.low) askEarly(accountMonth);
    return new DrawnCalls(accountMonth, calls, ledger);
  }

  const send = batched(itemsMax, async (all: readonly AccountMonth[]) => {
    await heartbeat.beat({ wants: all.map(wantOf) }, ({ grants }, place) => {
      for (const [i, accountMonth] of all.entries()) {
        const grant = grants[i];
        if (grant === undefined) throw new Error('A heartbeat was answered with too few grants.');
        receiveGrant(accountMonth, grant, place);
      }
    });
    return all.map(() => undefined);
  });

  function wantOf(accountMonth: AccountMonth): Want {
    const { accountId, month, block, neededCalls, drawnSince, grantedAtMs } = accountMonth;
    const paceOfLease = Math.floor((drawnSince * leaseMs) / Math.max(1, nowMs() - grantedAtMs));
    const calls = Math.max(1, neededCalls - leftIn(block));
    return {
      account_id: accountId,
      month,
      has: block.granted,
      calls,
      ahead: calls + Math.max(aheadLeast, paceOfLease),
    };
  }

  function receiveGrant(accountMonth: AccountMonth, grant: Grant, place: Place): void {
    if (place.life !== accountMonth.life) return;
    const before = accountMonth.block;
    accountMonth.block = applyGrant(before, grant, place.number, place.isCurrent);
    if (accountMonth.block === before) return;
    accountMonth.answeredAtMs = nowMs();
    const returned = accountMonth.block.returned - before.returned;
    if (returned > 0) {
      journal.spent(accountMonth.accountId, accountMonth.month, accountMonth.life, 0, returned);
      void journal.flush(); // at once: until then the month lacks these calls, also for this gateway
    }
    if (accountMonth.block.granted === before.granted) return;
    Object.assign(accountMonth, { grantedAtMs: nowMs(), drawnSince: 0 });
    const { granted, elsewhere, limit } = accountMonth.block;
    const isMostLeft = limit === null || elsewhere + granted < limit / 2;
    accountMonth.low = isMostLeft ? Math.floor(leftIn(accountMonth.block) / 3) : 0;
  }

  /** All waiting calls share one request. */
  function ask(accountMonth: AccountMonth): Promise<void> {
    accountMonth.asking ??= send(accountMonth).finally(() => (accountMonth.asking = undefined));
    return accountMonth.asking;
  }

  /** Runs at most once per grant. A failure is only logged: the first request that the block cannot cover asks again and reports the error. */
  function askEarly(accountMonth: AccountMonth): void {
    accountMonth.low = 0;
    ask(accountMonth).catch((error: unknown) =>
      log.debug({ err: error }, 'calls could not be requested in advance'),
    );
  }

  async function wait(accountId: string, month: string, calls: number): Promise<DrawnCalls | null> {
    const giveUpAtMs = nowMs() + waitMs;
    // The awaited message may have been sent before these calls were added, so they are requested once more after the deadline.
    let isLast = false;
    for (;;) {
      const accountMonth = accountMonthOf(accountId, month); // a different one after a new life has begun
      const { granted } = accountMonth.block;
      accountMonth.neededCalls += calls;
      await ask(accountMonth).finally(() => (accountMonth.neededCalls -= calls));
      const present = accountMonthOf(accountId, month);
      const drawn = drawNow(present, calls);
      if (drawn !== undefined) return drawn;
      const isLeased = heartbeat.isLeased(); // an answer may come without a lease; the next message then gets one
      if (isLeased && isUsedUp(present.block, present.inFlight, calls)) return null;
      const isOver = nowMs() >= giveUpAtMs;
      if (isLeased && isOver && !hasRoom(present.block, calls)) return null;
      if (isLast) fail('unavailable', 'The monthly quota cannot be checked at the moment. Try again.');
      isLast = isOver;
      if (present.block.granted === granted) await pause(askAgainAfterMs);
    }
  }

  return {
    /** Draws calls at once. @returns undefined if the block has too few, or there is no lease. */
    draw(accountId: string, month: string, calls: number): DrawnCalls | undefined {
      return drawNow(accountMonthOf(accountId, month), calls);
    },
    /**
     * Requests calls and draws them. If the month has too few but other gateways hold some, waits up to 250 ms for them.
     * @returns null if the month has too few. @throws Failure unavailable.
     */
    async drawLater(accountId: string, month: string, calls: number): Promise<DrawnCalls | null> {
      const accountMonth = accountMonthOf(accountId, month);
      const isKnown = heartbeat.isLeased() && nowMs() - accountMonth.answeredAtMs < knownForMs;
      if (isKnown && isUsedUp(accountMonth.block, accountMonth.inFlight, calls)) return null;
      return heartbeat.awaitedByCall(wait(accountId, month, calls));
    },
    /** What is known about an account's month as of the last answer; undefined if there was none. */
    state(accountId: string, month: string): (Pick<Block, 'limit'> & { used: number }) | undefined {
      const block = months.get(month)?.get(accountId)?.block ?? emptyBlock;
      if (block.isKnown) return { limit: block.limit, used: usedOf(block) };
      if (block.newestMessage > 0) return undefined; // the plan may have changed since
      // The month has just begun: use the limit known from an earlier month.
      const others = [...months.values()].flatMap((accounts) => accounts.get(accountId)?.block ?? []);
      const before = others.find(({ newestMessage }) => newestMessage > 0);
      return before && { limit: before.limit, used: 0 };
    },
    onGrant(accountId: string, grant: Grant, place: Place): void {
      receiveGrant(accountMonthOf(accountId, place.month), grant, place);
    },
  };
}
