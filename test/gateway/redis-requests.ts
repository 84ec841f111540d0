// Counts the requests that gateways send to a private Redis.
import type { PrivateRedis } from '../services/redis.ts';

/** The number of scripts that Redis has run. */
export async function scriptsRun(redis: PrivateRedis): Promise<number> {
  const stats = String(await redis.command('info', 'commandstats'));
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1]);
}

/**
 * Calls until one call needs only one request to Redis: earlier ones also had to look up the key, or get the lease of the cache. Later calls need one
 * too. @returns the number of calls made.
 */
export async function untilOneRequest(redis: PrivateRedis, call: () => Promise<unknown>): Promise<number> {
  for (let calls = 1; calls < 200; calls += 1) {
    const before = await scriptsRun(redis);
    await call();
    if ((await scriptsRun(redis)) - before === 1) return calls;
  }
  throw new Error('No call was let in by one question.');
}
