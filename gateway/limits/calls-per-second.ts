// Limits calls per second, per account, credential or IP address. Each gateway decides at once from its own calls and those of the others as of the
// last exchange through Redis, so no call waits for Redis. A second can exceed the limit by at most the calls that arrive within one exchange. While
// Redis is unavailable, each gateway allows its share of the limit.
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Log } from '../../kernel/log/log.ts';
import { RedisUnavailable, luaFile, script, type RedisLink } from '../../kernel/redis.ts';

export interface RateDecision {
  allowed: boolean;
  /** How many more calls this gateway allows in this second, as far as it knows. */
  remaining: number;
  /** The time until the second ends. */
  resetMs: number;
}

export interface RateLimiterOptions {
  /** Undefined: this gateway counts alone. */
  redis: Pick<RedisLink, 'isUsable' | 'isCluster' | 'clockOffsetMs' | 'run'> | undefined;
  /** How many gateways run, including this one. */
  gateways: () => number;
  log: Log;
  nowMs?: () => number;
  exchangeEveryMs?: number;
}

/** The calls of one client in one second. */
interface Counter {
  readonly key: string;
  own: number;
  /** As of the last exchange. */
  others: number;
  /** Whether the last exchange failed. */
  isAlone: boolean;
  /** Whether at least half of the limit would be used if all gateways allowed as many calls as this one. */
  isNear: boolean;
}

interface Second {
  /** The second since the epoch by Redis' clock, on which gateways agree better than on their own clocks; without Redis, by this machine's clock. */
  readonly number: number;
  readonly counters: Map<string, Counter>;
  /** The counters whose current number of own calls has not been sent. */
  readonly unsent: Set<Counter>;
}

const countScript = script(luaFile(new URL('calls-per-second.lua', import.meta.url)));
const countsSchema = z.array(z.int());
/** The most clients in one exchange: Redis serves nobody else while its script runs. */
const clientsMax = 200;
/** Counters far from their limit take part in every fourth exchange. */
const everyOf = 4;

export class RateLimiter {
  readonly #options: RateLimiterOptions;
  readonly #gateway = randomUUID();
  readonly #nowMs: () => number;
  readonly #exchangeEveryMs: number;
  #second = newSecond(0);
  #timer: NodeJS.Timeout | undefined;
  #turn = 0;
  #exchanging: Promise<void> | undefined;

  constructor(options: RateLimiterOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? Date.now;
    this.#exchangeEveryMs = options.exchangeEveryMs ?? 15;
  }

  /** Counts a call if it is within the limit. @param key identifies the limited client. */
  countCall(key: string, callsPerSecond: number): RateDecision {
    const { redis, gateways } = this.#options;
    const nowMs = this.#enterSecond();
    const { counters, unsent } = this.#second;
    let counter = counters.get(key);
    if (counter === undefined) counters.set(key, (counter = newCounter(key)));
    const isShared = redis?.isUsable === true && !counter.isAlone;
    const running = Math.max(1, gateways());
    const part = isShared ? callsPerSecond : Math.ceil(callsPerSecond / running);
    const left = Math.min(part, callsPerSecond - counter.others) - counter.own;
    const allowed = left > 0;
    if (allowed) {
      counter.own += 1;
      if (redis !== undefined) {
        counter.isNear = 2 * Math.max(counter.own * running, counter.own + counter.others) >= callsPerSecond;
        unsent.add(counter);
      }
    }
    if (unsent.size > 0) this.#schedule();
    const resetMs = Math.min(1000, (this.#second.number + 1) * 1000 - nowMs);
    return { allowed, remaining: Math.max(0, left - 1), resetMs };
  }

  /** Exchanges the counts that are due with the other gateways, all by default, unless an exchange is running. Never rejects. */
  exchange(isDue: (counter: Counter) => boolean = () => true): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#exchanging ??= this.#exchangeUnsent(isDue)
      .catch((error: unknown) =>
        this.#options.log.error(
          { err: error },
          'The counts of calls per second were not exchanged through Redis',
        ),
      )
      .finally(() => {
        this.#exchanging = undefined;
        if (this.#second.unsent.size > 0) this.#schedule();
      });
    return this.#exchanging;
  }

  /** Sends the last counts, also those that an exchange in flight lacks. */
  async close(): Promise<void> {
    await this.#exchanging;
    await this.exchange();
    clearTimeout(this.#timer);
  }

  /** Deletes the counters of a second that has ended. @returns the current instant by the clock of the counters. */
  #enterSecond(): number {
    const nowMs = this.#nowMs() + (this.#options.redis?.clockOffsetMs ?? 0);
    const number = Math.floor(nowMs / 1000);
    // If the clock is set back by a few ms, the second that has just begun continues instead of beginning again.
    if (number !== this.#second.number && number !== this.#second.number - 1)
      this.#second = newSecond(number);
    return nowMs;
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#exchanging !== undefined || this.#options.gateways() <= 1) return;
    this.#timer = setTimeout(() => {
      this.#turn = (this.#turn + 1) % everyOf;
      void this.exchange(this.#turn === 0 ? () => true : ({ isNear }) => isNear);
    }, this.#exchangeEveryMs);
    this.#timer.unref();
  }

  async #exchangeUnsent(isDue: (counter: Counter) => boolean): Promise<void> {
    this.#enterSecond();
    const second = this.#second;
    const counters = [...second.unsent].filter(isDue);
    for (const counter of counters) second.unsent.delete(counter);
    const most = this.#options.redis?.isCluster === true ? 1 : clientsMax;
    const parts: Promise<void>[] = [];
    for (let i = 0; i < counters.length; i += most)
      parts.push(this.#exchangeCounters(second, counters.slice(i, i + most)));
    await Promise.all(parts);
  }

  async #exchangeCounters(second: Second, counters: readonly Counter[]): Promise<void> {
    const keys = counters.map(({ key }) => `almanac:rate:${second.number}:${key}`);
    const calls = counters.map(({ own }) => String(own));
    try {
      const answer = await this.#options.redis?.run(countScript, keys, [this.#gateway, ...calls]);
      const others = countsSchema.parse(answer);
      for (const [i, counter] of counters.entries()) {
        counter.isAlone = false;
        counter.others = others[i] ?? 0;
      }
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) throw error;
      for (const counter of counters) {
        counter.isAlone = true;
        second.unsent.add(counter);
      }
    }
  }
}

function newCounter(key: string): Counter {
  return { key, own: 0, others: 0, isAlone: false, isNear: false };
}

function newSecond(number: number): Second {
  return { number, counters: new Map(), unsent: new Set() };
}
