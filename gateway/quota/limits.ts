// Counts calls per second, shared by all gateways through Redis, or in this process if there is none or it does not answer.
// Hides the limiters and the fallback: a failing or stalled Redis neither refuses calls nor lifts the limit.
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { RedisUnavailable, luaFile, script, type RedisLink, type Script } from '../../kernel/redis.ts';
import { batchedBy } from '../batched.ts';

export const countLua = luaFile(new URL('count.lua', import.meta.url));

export interface Taken {
  allowed: boolean;
  remaining: number;
  /** The time until the one-second window ends. */
  resetMs: number;
}

export interface Limits {
  /** Takes one call. @param key identifies the limited client. @param callsPerSecond its limit. */
  take(key: string, callsPerSecond: number): Promise<Taken>;
}

interface Limiter {
  consume(key: string, points: number): Promise<RateLimiterRes>;
}

interface Item {
  key: string;
  callsPerSecond: number;
}

const batchMax = 500;
const keyPrefix = 'almanac:rate';

/** The counter of an account's calls. */
export function accountCounter(accountId: string): string {
  return `${keyPrefix}:account:${accountId}`;
}

/** @param redis undefined: count in this process. */
export function createLimits(redis: RedisLink | undefined): Limits {
  const memory = perLimit((points) => new RateLimiterMemory({ points, duration: 1, keyPrefix: '' }));
  if (redis === undefined) {
    return {
      async take(key, points) {
        const [taken] = await takeAll(memory(points), key, points, 1);
        return taken as Taken;
      },
    };
  }
  const storeClient = scriptClient(redis);
  const shared = perLimit(
    (points) =>
      new RateLimiterRedis({
        storeClient,
        useRedisPackage: true, // it is called like node-redis
        points,
        duration: 1,
        keyPrefix,
        customIncrTtlLuaScript: countLua,
      }),
  );
  // Waiting calls of one account are counted by one request.
  const take = batchedBy(
    batchMax,
    ({ key, callsPerSecond }: Item) => `${callsPerSecond} ${key}`,
    async (items) => {
      const { key, callsPerSecond } = items[0] as Item;
      try {
        return await takeAll(shared(callsPerSecond), key, callsPerSecond, items.length);
      } catch (error) {
        if (!(error instanceof RedisUnavailable)) throw error;
        return takeAll(memory(callsPerSecond), key, callsPerSecond, items.length);
      }
    },
  );
  return { take: (key, callsPerSecond) => take({ key, callsPerSecond }) };
}

/** Counts several calls at once. */
async function takeAll(limiter: Limiter, key: string, points: number, calls: number): Promise<Taken[]> {
  const { consumedPoints, msBeforeNext } = await consume(limiter, key, calls);
  return share(calls, { counted: consumedPoints, resetMs: msBeforeNext }, points);
}

/** Distributes a count among the calls it includes: the first ones are allowed, up to the limit. */
export function share(
  calls: number,
  { counted, resetMs }: { counted: number; resetMs: number },
  limit: number,
): Taken[] {
  const taken: Taken[] = [];
  for (let consumed = counted - calls + 1; consumed <= counted; consumed += 1)
    taken.push({ allowed: consumed <= limit, remaining: Math.max(0, limit - consumed), resetMs });
  return taken;
}

/** The library rejects both for a limit and for an error; only the former is a result. */
async function consume(limiter: Limiter, key: string, points: number): Promise<RateLimiterRes> {
  try {
    return await limiter.consume(key, points);
  } catch (rejection) {
    if (rejection instanceof RateLimiterRes) return rejection;
    throw rejection;
  }
}

/** The part of node-redis that the library uses. It would send the text of its script with each call; we send the SHA-1. */
function scriptClient(redis: RedisLink) {
  const scripts = new Map<string, Script>();
  return {
    eval(text: string, { keys, arguments: args }: { keys: [string]; arguments: string[] }): Promise<unknown> {
      const known = scripts.get(text) ?? script(text);
      scripts.set(text, known);
      return redis.run(known, keys[0], args);
    },
  };
}

function perLimit(create: (points: number) => Limiter): (points: number) => Limiter {
  const limiters = new Map<number, Limiter>();
  return (points) => {
    const known = limiters.get(points) ?? create(points);
    limiters.set(points, known);
    return known;
  };
}
