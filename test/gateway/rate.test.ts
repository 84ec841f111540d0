import test, { type ExecutionContext } from 'ava';
import { accountCounter, createLimits, type Limits } from '../../gateway/quota/limits.ts';
import { openRedis } from '../../kernel/redis.ts';
import { startAccountsService } from '../services/accounts-service.ts';
import { silentLog, testRedisUrl } from '../services/harness.ts';
import { startRedis, type PrivateRedis } from '../services/redis.ts';
import { until } from '../run/until.ts';
import { noon, startTestGateway } from './recording-upstream.ts';

const accounts = await startAccountsService(noon, silentLog, { redisUrl: testRedisUrl() });
test.after.always(() => accounts.close());

/** A limit that no burst of a test outlasts within its second. */
const limit = 20;
const burst = 100;

/** Takes a burst in one go; how many were allowed. */
async function allowedOf(limits: Limits, key: string): Promise<number> {
  const taken = await Promise.all(Array.from({ length: burst }, () => limits.take(key, limit)));
  return taken.filter(({ allowed }) => allowed).length;
}

/** A window may end in the middle of a burst, so that a second one's calls are allowed too; never more. */
function isLimited(t: ExecutionContext, allowed: number): void {
  t.true(
    allowed >= limit && allowed <= 2 * limit,
    `${allowed} of ${burst} were allowed, the limit is ${limit}`,
  );
}

/** A gateway's limits over a connection of its own. */
async function sharedLimits(t: ExecutionContext, url: string): Promise<Limits> {
  const redis = openRedis(url, silentLog);
  t.teardown(() => redis.close());
  await redis.opened();
  return createLimits(redis);
}

/** A Redis of the test's own, which goes with it, stalled or not. */
async function ownRedis(t: ExecutionContext): Promise<PrivateRedis> {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  return redis;
}

/** Resolves once the counts are Redis' own: two gateways then share them. */
async function sharesWith(one: Limits, two: Limits): Promise<void> {
  await until('both count in Redis', async () => {
    const key = `probe ${crypto.randomUUID()}`;
    await one.take(key, limit);
    const { remaining } = await two.take(key, limit);
    return remaining === limit - 2;
  });
}

test('in one process a burst is limited', async (t) => {
  isLimited(t, await allowedOf(createLimits(undefined), 'a'));
});

test('several gateways share one limit through Redis', async (t) => {
  const [one, two] = [await sharedLimits(t, testRedisUrl()), await sharedLimits(t, testRedisUrl())];
  await sharesWith(one, two);
  const key = crypto.randomUUID();
  const allowed = await Promise.all([allowedOf(one, key), allowedOf(two, key)]);
  isLimited(t, allowed[0] + allowed[1]);
});

test('a counter in Redis without an expiry is given one, so it limits nobody for ever', async (t) => {
  const redis = await ownRedis(t);
  const limits = await sharedLimits(t, redis.url);
  await redis.command('set', accountCounter('a'), '1000000');
  // Where Redis is slow on a busy machine, its counter is not asked.
  await until('Redis refuses it', async () => !(await limits.take('account:a', limit)).allowed);
  t.true(Number(await redis.command('pttl', accountCounter('a'))) !== -1);
  await until('its window has ended', async () => (await limits.take('account:a', limit)).allowed);
});

test('while Redis is dead a burst is still limited', async (t) => {
  const redis = await ownRedis(t);
  const [limits, other] = [await sharedLimits(t, redis.url), await sharedLimits(t, redis.url)];
  await sharesWith(limits, other);
  await redis.kill();
  isLimited(t, await allowedOf(limits, crypto.randomUUID()));
});

test('while Redis is stalled a burst is still limited, and the limit is shared again when it resumes', async (t) => {
  const redis = await ownRedis(t);
  const [limits, other] = [await sharedLimits(t, redis.url), await sharedLimits(t, redis.url)];
  await sharesWith(limits, other);
  redis.stall();
  isLimited(t, await allowedOf(limits, crypto.randomUUID()));
  redis.goOn();
  await sharesWith(limits, other);
});

test('a Redis that was never reachable locks nobody out', async (t) => {
  const limits = await sharedLimits(t, 'redis://127.0.0.1:1');
  const { allowed } = await limits.take('a', limit);
  t.true(allowed);
  isLimited(t, await allowedOf(limits, 'b'));
});

for (const [name, redisUrl] of [
  ['in one process', undefined],
  ['through Redis', testRedisUrl()],
] as const) {
  test(`calls beyond the plan's rate are 429 with Retry-After, ${name}`, async (t) => {
    const gateway = await startTestGateway({ accounts, redisUrl });
    t.teardown(() => gateway.close());
    const { key } = await accounts.newClient('free');
    const other = await accounts.newClient('free');
    const get = (apiKey: string) => fetch(`${gateway.url}/v1/series/A`, { headers: { 'x-api-key': apiKey } });
    const responses = await Promise.all(Array.from({ length: 40 }, () => get(key)));
    const [refused = new Response()] = responses.filter(({ status }) => status === 429);
    t.is(refused.status, 429);
    t.is(refused.headers.get('retry-after'), '1');
    t.is(refused.headers.get('ratelimit-policy'), '"second";q=5;w=1');
    t.is(refused.headers.get('ratelimit'), '"second";r=0;t=1');
    t.is(((await refused.json()) as { error: { code: string } }).error.code, 'rate_limited');
    t.is((await get(other.key)).status, 200);
  });

  test(`public and auth endpoints are limited by client IP, ${name}`, async (t) => {
    const gateway = await startTestGateway({
      accounts,
      redisUrl,
      publicCallsPerSecond: 3,
      trustedProxyHops: 1,
    });
    t.teardown(() => gateway.close());
    const client = `2001:db8:${Math.floor(Math.random() * 65_536).toString(16)}:1::`;
    const get = (path: string, host: string, method = 'GET') =>
      fetch(gateway.url + path, { method, headers: { 'x-forwarded-for': `6.6.6.6, ${client}${host}` } });
    const beganAtMs = performance.now();
    const responses = await Promise.all([
      ...Array.from({ length: 20 }, (_, i) => get('/v1/catalog', (i + 1).toString(16))),
      ...Array.from({ length: 20 }, (_, i) => get('/auth/login', (i + 1).toString(16), 'POST')),
    ]);
    // On a busy machine a burst may last some windows of a second.
    const windows = Math.floor((performance.now() - beganAtMs) / 1000) + 2;
    const allowed = responses.filter(({ status }) => status !== 429).length;
    t.true(allowed >= 3 && allowed <= 3 * windows, `${allowed} in ${windows} windows`);
    t.is(
      (await fetch(`${gateway.url}/v1/catalog`, { headers: { 'x-forwarded-for': '192.0.2.77' } })).status,
      200,
    );
  });
}
