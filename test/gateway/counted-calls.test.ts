// Calls counted per second, in Redis, and per month: refused calls cost nothing, and served ones are charged exactly.
import test from 'ava';
import { createKey, revokeKey } from '../../accounts-api/operator/operator.ts';
import { until } from '../run/until.ts';
import { startRedis, type PrivateRedis } from '../services/redis.ts';
import { projectPlans, startServices, unhurried, type Services } from '../services/services.ts';

let redis: PrivateRedis;
let services: Services;
const freeLimit = 1_000;

test.before(async () => {
  redis = await startRedis();
  const plans = unhurried(projectPlans());
  // A plan that no other test uses, with a rate limit that the test can reach.
  const slow = { ...plans.all[0], id: 'slow', name: 'Slow', calls_second: 30, features: [] };
  const all = [...plans.all, slow as (typeof plans.all)[number]];
  services = await startServices({
    redisUrl: redis.url,
    plans: { ...plans, all, get: (id) => all.find((plan) => plan.id === id) },
  });
  await services.ingest('series_id,date,value\nA,2024-01-31,1\n');
});
test.after.always(async () => {
  await services?.close();
  await redis?.stop();
});

const get = (key: string, query = '') => services.call(`/v1/series/A${query}`, { key });

/** @returns the number of served calls. */
async function warmUp(key: string): Promise<number> {
  await get(key);
  return 1;
}

/** Resolves when this many calls have been charged to the account's month. */
async function untilUsed(key: string, wanted: number): Promise<void> {
  await until(`${wanted} calls are used`, async () => {
    const { json } = await services.call('/v1/usage', { key });
    return (json as { data?: { used: number } }).data?.used === wanted; // otherwise the rate limit was reached
  });
}

test.serial('the limit headers state the remaining calls of the second and the month', async (t) => {
  const { key } = await services.accountWithKey('free');
  const left = freeLimit - (await warmUp(key)) - 1;
  const { headers } = await get(key);
  t.is(headers.get('x-quota-limit'), String(freeLimit));
  t.is(headers.get('x-quota-remaining'), String(left));
  t.regex(headers.get('ratelimit') ?? '', new RegExp(`^"second";r=\\d+;t=1, "month";r=${left};t=\\d+$`));
});

test.serial('of 200 calls at once with 100 left, exactly 100 are served', async (t) => {
  const { accountId, key } = await services.accountWithKey('free');
  const calls = await warmUp(key);
  await untilUsed(key, calls);
  await services.accounts.db.sequelize.query(
    'update accounts.quota_months set used = used + $2 where account_id = $1',
    { bind: [accountId, freeLimit - 100 - calls] },
  );
  await services.setPlan(accountId, 'starter');
  await services.setPlan(accountId, 'free'); // the gateway requests the usage again
  const answers = await Promise.all(Array.from({ length: 200 }, () => get(key)));
  t.is(answers.filter(({ status }) => status === 200).length, 100);
  t.is(answers.filter(({ status }) => status === 402).length, 100);
});

test.serial('a call refused by the plan costs nothing, although it was charged at first', async (t) => {
  const { key } = await services.accountWithKey('free');
  const calls = await warmUp(key);
  for (let i = 0; i < 10; i += 1) t.is((await get(key, '?vintage=2024-01-31')).status, 403);
  await untilUsed(key, calls);
});

test.serial(
  'calls over the rate limit are refused and cost nothing; calls within it are served',
  async (t) => {
    const { accountId, key } = await services.accountWithKey('free');
    await services.setPlan(accountId, 'slow');
    const calls = await warmUp(key);
    const startedAtMs = performance.now();
    const answers = await Promise.all(Array.from({ length: 100 }, () => get(key)));
    const seconds = Math.ceil((performance.now() - startedAtMs) / 1000) + 1; // the number of seconds that the calls may span
    const served = answers.filter(({ status }) => status === 200).length;
    const refused = answers.filter(({ status }) => status === 429).length;
    t.is(served + refused, 100);
    t.true(served >= 30 - calls && served <= 30 * seconds, `${served} in at most ${seconds} seconds`);
    await untilUsed(key, served + calls);
  },
);

test.serial('a revoked key is refused on the next call, and charges nothing to its account', async (t) => {
  const { accountId, keyId, key } = await services.accountWithKey('free');
  const { key: other } = await createKey(services.accounts, accountId, 'other');
  const calls = (await warmUp(key)) + (await warmUp(other));
  await revokeKey(services.accounts, keyId);
  for (let i = 0; i < 10; i += 1) t.is((await get(key)).status, 401);
  await untilUsed(other, calls);
});
