// Counts calls a second, shared over all gateways by Redis, or in this process where there is none or it does not answer.
// Hides the limiters and the fallback: an error or a stall of Redis is never a limit, and never an open door.
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { createClient } from 'redis';
import type { Log } from '../kernel/log.ts';

export interface Taken {
  allowed: boolean;
  remaining: number;
  /** Until the window of one second ends. */
  resetMs: number;
}

export interface Limits {
  /** Takes one call. @param key who is limited. @param callsPerSecond how many the key may make. */
  take(key: string, callsPerSecond: number): Promise<Taken>;
  close(): void;
}

interface Limiter {
  consume(key: string): Promise<RateLimiterRes>;
}

// Redis answers in well under 1 ms; beyond this it is stalled. node-redis' own command timeout does not cover commands
// already written, so the deadline is ours.
const redisDeadlineMs = 200;
// After a failure Redis is left alone for a while, so that a stall does not cost every call the deadline.
const retryAfterMs = 1_000;

/** @param redisUrl undefined: count in this process. */
export function createLimits(redisUrl: string | undefined, log: Log): Limits {
  const memory = perLimit((points) => new RateLimiterMemory({ points, duration: 1, keyPrefix: '' }));
  if (redisUrl === undefined) {
    return { take: (key, points) => take(memory(points), key, points), close: () => undefined };
  }
  const client = connect(redisUrl, log);
  const shared = perLimit(
    (points) =>
      new RateLimiterRedis({
        storeClient: client,
        useRedisPackage: true, // node-redis 6 is not recognised by its constructor's name
        points,
        duration: 1,
        keyPrefix: 'almanac:rate',
      }),
  );
  let leaveAloneUntil = 0;
  return {
    async take(key, points) {
      if (performance.now() >= leaveAloneUntil && client.isReady) {
        try {
          return await withDeadline(take(shared(points), key, points));
        } catch (error) {
          leaveAloneUntil = performance.now() + retryAfterMs;
          log.warn({ err: error }, 'Redis does not answer; limits are counted in this process');
        }
      }
      return take(memory(points), key, points);
    },
    close: () => client.destroy(),
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

async function withDeadline(work: Promise<Taken>): Promise<Taken> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${redisDeadlineMs} ms`)), redisDeadlineMs);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

function connect(url: string, log: Log) {
  const client = createClient({
    url,
    disableOfflineQueue: true, // while it is away, fail at once
    commandsQueueMaxLength: 10_000,
    pingInterval: 1_000, // with socketTimeout: a half-open connection is found and made anew
    socket: { socketTimeout: 5_000, reconnectStrategy: (attempt) => Math.min(50 * 2 ** attempt, 1_000) },
  });
  client.on('error', (error: unknown) => log.warn({ err: error }, 'Redis connection failed'));
  client.connect().catch((error: unknown) => log.warn({ err: error }, 'Redis connection given up'));
  return client;
}
