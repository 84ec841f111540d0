// Limits the answers of an account that are under way at once, and the time of each. Hides the short wait of a call beyond the limit, and
// how gateways count together: every 200 ms they exchange through Redis how many answers of each account have been under way for
// that long. So a call asks Redis nothing, and the answers of a gateway that is gone count for two seconds.
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
  redis: Pick<RedisLink, 'run'> | undefined;
  /** The deadline of a whole answer. */
  withinMs: number;
  log: Log;
}

const waitMs = 250;
const exchangeEveryMs = 200;
const validMs = 2_000;
const exchangeKey = 'almanac:answers';
const exchangeScript = script(luaFile(new URL('answers.lua', import.meta.url)));
const countsSchema = z.record(z.string(), z.int());
const repliesSchema = z.array(z.string());

type Counts = Map<string, number>; // by account

export function createAnswers({ redis, withinMs, log }: AnswersOptions): Answers {
  const accounts = new Map<string, AccountAnswers>();
  const exchange = createExchange(redis);
  let others: Counts = new Map(); // long answers at other gateways

  async function inspect(): Promise<void> {
    const long: Counts = new Map();
    for (const [accountId, account] of accounts) {
      const count = account.inspect(withinMs);
      if (count > 0) long.set(accountId, count);
    }
    others = await exchange(long);
    // Idle accounts are forgotten here instead of at the end of each call: a map that shrinks and grows is slow to collect.
    for (const [accountId, account] of accounts)
      if (account.isIdle) accounts.delete(accountId);
      else account.setOthers(others.get(accountId) ?? 0);
  }

  const notExchanged = (error: unknown) => log.error({ err: error }, 'Answers under way were not exchanged');
  let inspecting: Promise<void> | undefined;
  const timer = setInterval(() => {
    inspecting ??= inspect()
      .catch(notExchanged)
      .finally(() => void (inspecting = undefined));
  }, exchangeEveryMs);
  timer.unref();

  return {
    begin(accountId, most, onLate) {
      let account = accounts.get(accountId);
      if (account === undefined) {
        account = new AccountAnswers(others.get(accountId) ?? 0);
        accounts.set(accountId, account);
      }
      return account.begin(most, onLate);
    },
    async close() {
      clearInterval(timer);
      await inspecting;
      await exchange(new Map()).catch(notExchanged);
    },
  };
}

class AccountAnswers {
  readonly #open: OpenAnswer[] = [];
  readonly #waiting = new Set<{ most: number; begin: () => void }>();
  #others: number;

  constructor(others: number) {
    this.#others = others;
  }

  begin(most: number, onLate: () => void): Answer | Promise<Answer | null> {
    if (this.#waiting.size === 0 && this.#hasRoom(most)) return this.#add(onLate);
    return new Promise((resolve) => {
      const begin = () => {
        clearTimeout(timer);
        resolve(this.#add(onLate));
      };
      const waiting = { most, begin };
      const timer = setTimeout(() => {
        this.#waiting.delete(waiting);
        resolve(null);
      }, waitMs);
      this.#waiting.add(waiting);
    });
  }

  get isIdle(): boolean {
    return this.#open.length === 0 && this.#waiting.size === 0;
  }

  setOthers(others: number): void {
    this.#others = others;
    this.#admitWaiting();
  }

  /** Ends late answers. @returns how many have been under way for as long as an exchange takes. */
  inspect(withinMs: number): number {
    const nowMs = performance.now();
    let long = 0;
    for (const answer of [...this.#open]) {
      const ageMs = nowMs - answer.beganAtMs;
      if (ageMs >= exchangeEveryMs) long += 1;
      if (ageMs >= withinMs) answer.endLate();
    }
    return long;
  }

  #hasRoom(most: number): boolean {
    return this.#open.length + this.#others < most;
  }

  #add(onLate: () => void): Answer {
    return new OpenAnswer(this.#open, onLate, () => this.#admitWaiting());
  }

  #admitWaiting(): void {
    for (const next of this.#waiting) {
      if (!this.#hasRoom(next.most)) return;
      this.#waiting.delete(next);
      next.begin();
    }
  }
}

/**
 * An answer in a list whose last one takes the place of one that ends. A Set leaves its old tables to the collector, each with a
 * pointer to the next: once one of them is old, the requests in all later ones stay until a full collection. That made each minor
 * collection five times longer (2026-11-22).
 */
class OpenAnswer implements Answer {
  readonly beganAtMs = performance.now();
  readonly #list: OpenAnswer[];
  readonly #onEnd: () => void;
  /** Undefined after it was called. */
  #onLate: (() => void) | undefined;
  /** Its place in the list; -1 once it has ended. */
  #at: number;

  constructor(list: OpenAnswer[], onLate: () => void, onEnd: () => void) {
    this.#list = list;
    this.#onLate = onLate;
    this.#onEnd = onEnd;
    this.#at = list.push(this) - 1;
  }

  endLate(): void {
    const onLate = this.#onLate;
    this.#onLate = undefined;
    onLate?.();
  }

  end(): void {
    if (this.#at < 0) return;
    const last = this.#list.pop();
    if (last !== undefined && last !== this) {
      this.#list[this.#at] = last;
      last.#at = this.#at;
    }
    this.#at = -1;
    this.#onEnd();
  }
}

/** Sends our counts to the other gateways. @returns theirs; none while Redis cannot be used. */
function createExchange(redis: AnswersOptions['redis']): (own: Counts) => Promise<Counts> {
  const gateway = randomUUID();
  return async (own) => {
    const sums: Counts = new Map();
    if (redis === undefined) return sums;
    const counts = own.size === 0 ? '' : JSON.stringify(Object.fromEntries(own));
    try {
      const replies = await redis.run(exchangeScript, exchangeKey, [gateway, counts, String(validMs)]);
      for (const reply of repliesSchema.parse(replies))
        for (const [accountId, count] of Object.entries(countsSchema.parse(JSON.parse(reply))))
          sums.set(accountId, (sums.get(accountId) ?? 0) + count);
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) throw error;
    }
    return sums;
  };
}
