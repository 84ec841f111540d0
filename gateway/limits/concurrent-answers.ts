// Limits the concurrent answers of each account, and the duration of each answer. A call beyond the limit waits briefly. Every 200 ms the gateways
// exchange through Redis how many answers of each account have been running for that long. So no call waits for Redis, and the answers of a stopped
// gateway count for two more seconds.
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Log } from '../../kernel/log/log.ts';
import { RedisUnavailable, luaFile, script, type RedisLink } from '../../kernel/redis.ts';

/** An answer in flight. */
export interface Answer {
  /** Frees its slot. Further calls have no effect. */
  end(): void;
}

export interface ConcurrencyLimiterOptions {
  /** Undefined: each gateway counts by itself. */
  redis: Pick<RedisLink, 'run'> | undefined;
  /** The deadline of the complete answer. */
  withinMs: number;
  log: Log;
}

const waitMs = 250;
const exchangeEveryMs = 200;
const validMs = 2_000;
const exchangeKey = 'almanac:answers';
const exchangeScript = script(luaFile(new URL('concurrent-answers.lua', import.meta.url)));
const countsSchema = z.record(z.string(), z.int());
const repliesSchema = z.array(z.string());

type Counts = Map<string, number>; // by account

export class ConcurrencyLimiter {
  readonly #options: ConcurrencyLimiterOptions;
  readonly #gateway = randomUUID();
  readonly #accounts = new Map<string, AccountAnswers>();
  readonly #timer: NodeJS.Timeout;
  #others: Counts = new Map(); // long-running answers at other gateways
  #inspecting: Promise<void> | undefined;
  readonly #notExchanged = (error: unknown) =>
    this.#options.log.error(
      { err: error },
      'The counts of concurrent answers were not exchanged through Redis',
    );

  constructor(options: ConcurrencyLimiterOptions) {
    this.#options = options;
    this.#timer = setInterval(() => {
      this.#inspecting ??= this.#inspect()
        .catch(this.#notExchanged)
        .finally(() => void (this.#inspecting = undefined));
    }, exchangeEveryMs);
    this.#timer.unref();
  }

  /**
   * Begins an answer of the account as soon as fewer than `most` are in flight; null if that takes longer than 250 ms.
   * @param onLate called once if the answer has not ended by its deadline.
   */
  begin(accountId: string, most: number, onLate: () => void): Answer | Promise<Answer | null> {
    let account = this.#accounts.get(accountId);
    if (account === undefined) {
      account = new AccountAnswers(this.#others.get(accountId) ?? 0);
      this.#accounts.set(accountId, account);
    }
    return account.begin(most, onLate);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#inspecting;
    await this.#exchange(new Map()).catch(this.#notExchanged);
  }

  async #inspect(): Promise<void> {
    const long: Counts = new Map();
    for (const [accountId, account] of this.#accounts) {
      const count = account.inspect(this.#options.withinMs);
      if (count > 0) long.set(accountId, count);
    }
    this.#others = await this.#exchange(long);
    // Idle accounts are deleted here instead of at the end of each call, for the reason given at AccountAnswers.
    for (const [accountId, account] of this.#accounts)
      if (account.isIdle) this.#accounts.delete(accountId);
      else account.admitWaiting(this.#others.get(accountId) ?? 0);
  }

  /** Sends our counts to the other gateways. @returns theirs; empty while Redis is unavailable. */
  async #exchange(own: Counts): Promise<Counts> {
    const sums: Counts = new Map();
    const counts = own.size === 0 ? '' : JSON.stringify(Object.fromEntries(own));
    try {
      const args = [this.#gateway, counts, String(validMs)];
      const replies = await this.#options.redis?.run(exchangeScript, [exchangeKey], args);
      for (const reply of repliesSchema.parse(replies ?? []))
        for (const [accountId, count] of Object.entries(countsSchema.parse(JSON.parse(reply))))
          sums.set(accountId, (sums.get(accountId) ?? 0) + count);
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) throw error;
    }
    return sums;
  }
}

interface OpenAnswer extends Answer {
  readonly startedAtMs: number;
  /** Undefined once it has been called. */
  onLate: (() => void) | undefined;
}

/**
 * The answers of an account, in a list. A Set leaves its old tables to the garbage collector, each with a pointer to the next. Once one of them is in
 * the old generation, the requests in all later ones survive until a full collection, which made each minor collection five times longer
 * (2026-11-22).
 */
class AccountAnswers {
  readonly #open: OpenAnswer[] = [];
  readonly #waiting = new Set<{ most: number; begin: () => void }>();
  #others: number;

  constructor(others: number) {
    this.#others = others;
  }

  get isIdle(): boolean {
    return this.#open.length === 0 && this.#waiting.size === 0;
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

  /** @param others how many answers count at other gateways. */
  admitWaiting(others = this.#others): void {
    this.#others = others;
    for (const next of this.#waiting) {
      if (!this.#hasRoom(next.most)) return;
      this.#waiting.delete(next);
      next.begin();
    }
  }

  /** Ends late answers. @returns how many answers have been in flight for at least one exchange period. */
  inspect(withinMs: number): number {
    const nowMs = performance.now();
    let long = 0;
    for (const answer of [...this.#open]) {
      const ageMs = nowMs - answer.startedAtMs;
      if (ageMs >= exchangeEveryMs) long += 1;
      if (ageMs < withinMs) continue;
      const { onLate } = answer;
      answer.onLate = undefined;
      onLate?.();
    }
    return long;
  }

  #hasRoom(most: number): boolean {
    return this.#open.length + this.#others < most;
  }

  #add(onLate: () => void): Answer {
    const end = () => {
      const at = this.#open.indexOf(answer);
      if (at < 0) return;
      this.#open.splice(at, 1);
      this.admitWaiting();
    };
    const answer: OpenAnswer = { startedAtMs: performance.now(), onLate, end };
    this.#open.push(answer);
    return answer;
  }
}
