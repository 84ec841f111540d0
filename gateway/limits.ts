// Counts calls a second, shared over all gateways by Redis, or in this process where there is none or it does not answer.
// Hides the limiters and the fallback: an error or a stall of Redis is never a limit, and never an open door.
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { RedisUnavailable, type RedisLink } from '../kernel/redis.ts';

export interface Taken {
  allowed: boolean;
  remaining: number;
  /** Until the window of one second ends. */
  resetMs: number;
}

export interface Limits {
  /** Takes one call. @param key who is limited. @param callsPerSecond how many the key may make. */
  take(key: string, callsPerSecond: number): Promise<Taken>;
}

interface Limiter {
  consume(key: string): Promise<RateLimiterRes>;
}

/** @param redis undefined: count in this process. */
export function createLimits(redis: RedisLink | undefined): Limits {
  const memory = perLimit((points) => new RateLimiterMemory({ points, duration: 1, keyPrefix: '' }));
  if (redis === undefined) return { take: (key, points) => take(memory(points), key, points) };
  const shared = perLimit(
    (points) =>
      new RateLimiterRedis({
        storeClient: redis.client,
        useRedisPackage: true, // node-redis 6 is not recognised by its constructor's name
        points,
        duration: 1,
        keyPrefix: 'almanac:rate',
      }),
  );
  return {
    async take(key, points) {
      try {
        return await redis.ask(() => take(shared(points), key, points));
      } catch (error) {
        if (!(error instanceof RedisUnavailable)) throw error;
        return take(memory(points), key, points);
      }
    },
  };
}

/** The library rejects both for a limit and for an error; only the former is an answer. */
async function take(limiter: Limiter, key: string, points: number): Promise<Taken> {
  try {
    const result = await limiter.consume(key);
    return {
      allowed: true,
      remaining: Math.max(0, points - result.consumedPoints),
      resetMs: result.msBeforeNext,
    };
  } catch (rejection) {
    if (!(rejection instanceof RateLimiterRes)) throw rejection;
    return { allowed: false, remaining: 0, resetMs: rejection.msBeforeNext };
  }
}

function perLimit(create: (points: number) => Limiter): (points: number) => Limiter {
  const limiters = new Map<number, Limiter>();
  return (points) => {
    const known = limiters.get(points) ?? create(points);
    limiters.set(points, known);
    return known;
  };
}
