// Counts the requests that gateways send to a Redis of their own.
import type { PrivateRedis } from '../services/redis.ts';

/** How many scripts Redis has run. */
export async function scriptsRun(redis: PrivateRedis): Promise<number> {
  const stats = String(await redis.command('info', 'commandstats'));
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1]);
}

/**
 * Calls until one is let in by one question: until then its key, or the lease on the cache, had to be found. The next goes
 * the same way. @returns how many calls that took.
 */
export async function untilOneQuestion(redis: PrivateRedis, call: () => Promise<unknown>): Promise<number> {
  for (let calls = 1; calls < 200; calls += 1) {
    const before = await scriptsRun(redis);
    await call();
    if ((await scriptsRun(redis)) - before === 1) return calls;
  }
  throw new Error('No call was let in by one question.');
}
