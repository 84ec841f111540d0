// Strict revocation with gateways in separate processes and under traffic: whatever happens to Redis, no call that begins after the answer is
// accepted. A few trials of complete HTTP calls; revocation-trials.test.ts has many trials of only the lookup.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { createKey, revokeKey } from '../../accounts-api/operator/operator.ts';
import { startGatewayProcess, type GatewayProcess } from './gateway-process.ts';
import { startRedis, type PrivateRedis } from '../services/redis.ts';
import { startServices, type Services } from '../services/services.ts';
import { until } from '../run/until.ts';

const trials = 8;
const plansFile = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-plans-')), 'plans.yml');
const plans = readFileSync('config/plans.yml', 'utf8');
writeFileSync(plansFile, plans.replaceAll(/(calls_second|concurrency): \d+/g, '$1: 100000'));

let redis: PrivateRedis;
let services: Services;
let gateways: GatewayProcess[];

test.before(async () => {
  redis = await startRedis();
  services = await startServices({ redisUrl: redis.url });
  await services.ingest('series_id,date,value\nA,2024-01-31,1\n');
  gateways = await Promise.all(
    Array.from({ length: 3 }, () =>
      startGatewayProcess({
        REDIS_URL: redis.url,
        PLANS_FILE: plansFile,
        DATA_API_URL: services.dataApiUrl,
        ACCOUNTS_API_URL: services.accountsApiUrl,
      }),
    ),
  );
});
test.after.always(async () => {
  for (const gateway of gateways ?? []) await gateway.stop();
  await services?.close();
  await redis?.stop();
});

const urls = () => [services.url, ...gateways.map(({ url }) => url)];

async function call(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/v1/series/A`, { headers: { 'x-api-key': key } });
  await response.arrayBuffer();
  return response.status;
}

/** Calls every gateway repeatedly until stopped. @returns the accepted calls, by the time when they began. */
function traffic(key: string) {
  const client = { stopped: false };
  const acceptedAtMs: number[] = [];
  const loops = urls().map(async (url) => {
    while (!client.stopped) {
      const startedAtMs = performance.now();
      if ((await call(url, key)) === 200) acceptedAtMs.push(startedAtMs);
    }
  });
  return {
    acceptedAtMs,
    async stop() {
      client.stopped = true;
      await Promise.all(loops);
    },
  };
}

const throughGateway = async (keyId: string, manager: string) => {
  const response = await fetch(`${services.url}/v1/keys/${keyId}`, {
    method: 'DELETE',
    headers: { 'x-api-key': manager },
  });
  if (response.status !== 204) throw new Error(`DELETE answered ${response.status}`);
};

const ways: Record<string, (keyId: string, manager: string) => Promise<void>> = {
  'while all is well': throughGateway,
  'by a command line that knows no Redis': async (keyId) => void (await revokeKey(services.accounts, keyId)),
  'while Redis is emptied': async (keyId, manager) => {
    await Promise.all([redis.command('flushall'), throughGateway(keyId, manager)]);
  },
  'while Redis is stalled': async (keyId, manager) => {
    redis.stall();
    await throughGateway(keyId, manager);
    redis.goOn();
  },
  'while Redis is killed and comes back': async (keyId, manager) => {
    await redis.kill();
    await throughGateway(keyId, manager);
    await redis.restart();
  },
};

test.serial(
  'a plan that is changed within a month applies from the next call on, at every gateway',
  async (t) => {
    const { accountId, key } = await services.accountWithKey('free');
    const limits = () =>
      Promise.all(
        urls().map(async (url) => {
          const response = await fetch(`${url}/v1/series/A`, { headers: { 'x-api-key': key } });
          await response.arrayBuffer();
          return [response.status, response.headers.get('x-quota-limit')];
        }),
      );
    const every = (status: number, limit: string) => urls().map(() => [status, limit]);
    t.deepEqual(await limits(), every(200, '1000'));
    // The lower plan is exhausted. The higher one allows more calls; after the change back, calls are refused again.
    await services.accounts.db.sequelize.query(
      'update accounts.quota_months set used = used + 1000 where account_id = $1',
      {
        bind: [accountId],
      },
    );
    await services.setPlan(accountId, 'pro');
    await services.setPlan(accountId, 'free'); // the gateways request the usage again
    t.deepEqual(await limits(), every(402, '1000'));
    await services.setPlan(accountId, 'starter');
    t.deepEqual(await limits(), every(200, '25000'));
    await services.setPlan(accountId, 'free');
    t.deepEqual(await limits(), every(402, '1000'));
  },
);

const names = Object.keys(ways);
for (const [i, name] of names.entries()) {
  test.serial(`no call that begins after a revocation ${name} is accepted`, async (t) => {
    const count = Math.ceil((trials - i) / names.length);
    const { accountId, key: manager } = await services.accountWithKey('enterprise');
    for (let trial = 0; trial < count; trial += 1) {
      const { id, key } = await createKey(services.accounts, accountId, `trial ${trial}`);
      const calls = traffic(key);
      await until('every gateway accepts the key', () => calls.acceptedAtMs.length >= 12);
      await ways[name]?.(id, manager);
      const answeredAtMs = performance.now();
      const after = await Promise.all(urls().flatMap((url) => [call(url, key), call(url, key)]));
      t.deepEqual([...new Set(after)], [401], `trial ${trial}`);
      await calls.stop();
      t.deepEqual(
        calls.acceptedAtMs.filter((startedAtMs) => startedAtMs > answeredAtMs),
        [],
        `trial ${trial}`,
      );
    }
  });
}
