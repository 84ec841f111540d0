// Bounds the answers of an account that are under way at once, and the time of each. Hides the short wait of a call beyond the bound, and
// how gateways count together: every 200 ms each tells the others, through Redis, how many answers of each account have been under
// way for that long. So a call itself asks Redis nothing, and the answers of a gateway that is gone count for two seconds.
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Log } from '../../kernel/log/log.ts';
import { RedisUnavailable, luaFile, script, type RedisLink } from '../../kernel/redis.ts';

/** An answer under way. */
export interface Answer {
  /** Frees its place; more than once does nothing more. */
  end(): void;
}

export interface Answers {
  /**
   * Begins an answer of the account, as soon as fewer than `most` are under way; null if that takes longer than 250 ms.
   * @param onLate called once if the answer has not ended by its deadline.
   */
  begin(accountId: string, most: number, onLate: () => void): Answer | Promise<Answer | null>;
  close(): Promise<void>;
}

export interface AnswersOptions {
  /** Undefined: each gateway counts by itself. */
  redis: RedisLink | undefined;
  /** The deadline of a whole answer. */
  withinMs: number;
  log: Log;
}

interface Waiting {
  most: number;
  begin: () => void;
}

interface Account {
  underWay: number;
  readonly waiting: Set<Waiting>;
}

const waitMs = 250;
const exchangeEveryMs = 200;
const validMs = 2_000;
const exchangeKey = 'almanac:answers';
const exchangeScript = script(luaFile(new URL('answers.lua', import.meta.url)));
const countsSchema = z.record(z.string(), z.int());
const exchanged = z.array(z.string());

export function createAnswers({ redis, withinMs, log }: AnswersOptions): Answers {
  const accounts = new Map<string, Account>();
  const open = new OpenAnswers(withinMs);
  const exchange = createExchange(redis);
  let elsewhere = new Map<string, number>(); // by account: the long answers of other gateways

  const hasRoom = (accountId: string, { underWay }: Account, most: number): boolean =>
    underWay + (elsewhere.get(accountId) ?? 0) < most;

  function opened(accountId: string, account: Account, onLate: () => void): Answer {
    account.underWay += 1;
    return open.add(accountId, onLate, () => {
      account.underWay -= 1;
      admitWaiting(accountId, account);
    });
  }

  function admitWaiting(accountId: string, account: Account): void {
    for (const next of account.waiting) {
      if (!hasRoom(accountId, account, next.most)) return;
      account.waiting.delete(next);
      next.begin();
    }
  }

  function whenRoom(
    accountId: string,
    account: Account,
    most: number,
    onLate: () => void,
  ): Promise<Answer | null> {
    return new Promise((resolve) => {
      const waiting: Waiting = {
        most,
        begin() {
          clearTimeout(timer);
          resolve(opened(accountId, account, onLate));
        },
      };
      const timer = setTimeout(() => {
        account.waiting.delete(waiting);
        resolve(null);
      }, waitMs);
      account.waiting.add(waiting);
    });
  }

  let exchanging: Promise<void> | undefined;
  async function look(): Promise<void> {
    elsewhere = await exchange(open.inspect());
    // Idle accounts are forgotten here instead of at the end of each call, for the reason that OpenAnswers has.
    for (const [accountId, account] of accounts)
      if (account.underWay === 0 && account.waiting.size === 0) accounts.delete(accountId);
      else admitWaiting(accountId, account);
  }
  const notExchanged = (error: unknown) =>
    log.error({ err: error }, 'the answers under way were not exchanged');
  const timer = setInterval(() => {
    exchanging ??= look()
      .catch(notExchanged)
      .finally(() => void (exchanging = undefined));
  }, exchangeEveryMs);
  timer.unref();

  return {
    begin(accountId, most, onLate) {
      let account = accounts.get(accountId);
      if (account === undefined) accounts.set(accountId, (account = { underWay: 0, waiting: new Set() }));
      if (account.waiting.size === 0 && hasRoom(accountId, account, most))
        return opened(accountId, account, onLate);
      return whenRoom(accountId, account, most, onLate);
    },
    async close() {
      clearInterval(timer);
      await exchanging;
      await exchange(new Map()).catch(notExchanged);
    },
  };
}

class OpenAnswer implements Answer {
  readonly accountId: string;
  readonly beganAtMs = performance.now();
  /** Undefined after it was called. */
  onLate: (() => void) | undefined;
  /** Its place in the list; -1 once it has ended. */
  at: number;
  readonly #list: OpenAnswer[];
  readonly #onEnd: () => void;

  constructor(list: OpenAnswer[], accountId: string, onLate: () => void, onEnd: () => void) {
    this.#list = list;
    this.accountId = accountId;
    this.onLate = onLate;
    this.#onEnd = onEnd;
    this.at = list.push(this) - 1;
  }

  end(): void {
    if (this.at < 0) return;
    const last = this.#list.pop();
    if (last !== undefined && last !== this) {
      this.#list[this.at] = last;
      last.at = this.at;
    }
    this.at = -1;
    this.#onEnd();
  }
}

/**
 * The answers under way, in a list whose last one takes the place of one that ends. A Set leaves its old tables to the collector, each
 * with a pointer to the next: once one of them is old, the requests in all later ones stay until a full collection. That made
 * each minor collection five times longer (2026-11-22).
 */
class OpenAnswers {
  readonly #list: OpenAnswer[] = [];
  readonly #withinMs: number;

  /** @param withinMs the deadline of an answer. */
  constructor(withinMs: number) {
    this.#withinMs = withinMs;
  }

  add(accountId: string, onLate: () => void, onEnd: () => void): Answer {
    return new OpenAnswer(this.#list, accountId, onLate, onEnd);
  }

  /** Ends what is late. @returns by account: the answers under way for longer than an exchange. */
  inspect(): Map<string, number> {
    const now = performance.now();
    const long = new Map<string, number>();
    for (const answer of [...this.#list]) {
      const { accountId, beganAtMs, onLate } = answer;
      if (now - beganAtMs >= exchangeEveryMs) long.set(accountId, (long.get(accountId) ?? 0) + 1);
      if (onLate === undefined || now - beganAtMs < this.#withinMs) continue;
      answer.onLate = undefined;
      onLate();
    }
    return long;
  }
}

/** Tells the other gateways our counts. @returns theirs by account; none while Redis cannot be used. */
function createExchange(redis: RedisLink | undefined) {
  const gateway = randomUUID();
  return async function exchange(own: ReadonlyMap<string, number>): Promise<Map<string, number>> {
    const sums = new Map<string, number>();
    if (redis === undefined) return sums;
    const told = own.size === 0 ? '' : JSON.stringify(Object.fromEntries(own));
    try {
      const texts = exchanged.parse(
        await redis.run(exchangeScript, exchangeKey, [gateway, told, String(validMs)]),
      );
      for (const text of texts)
        for (const [accountId, count] of Object.entries(countsSchema.parse(JSON.parse(text))))
          sums.set(accountId, (sums.get(accountId) ?? 0) + count);
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) throw error;
    }
    return sums;
  };
}
