// A Redis that is dead, stalled, slow, cut off, loading, read-only or without its scripts: no call fails, the month is served to its exact limit, and
// each gateway allows its share of the calls per second until Redis recovers.
import test from 'ava';
import { startAccountsService, type AccountsService, type Client } from '../services/accounts-service.ts';
import { startProxy, type Proxy } from '../services/proxy.ts';
import { startRedis, type PrivateRedis } from '../services/redis.ts';
import { projectPlans, unhurried } from '../services/services.ts';
import { until } from '../run/until.ts';
import { allowancesAt, callAll, countTogether, serveTheRest } from './bursts.ts';
import { noon, startTestGateway, type TestGateway } from './recording-upstream.ts';

let redis: PrivateRedis;
let way: Proxy; // between the gateways and Redis
let accounts: AccountsService;
let gateways: TestGateway[] = [];
const plans = unhurried(projectPlans());
const perSecond = plans.get('free')?.calls_second ?? 0;
const limit = 1_000;
test.before(async () => {
  redis = await startRedis();
  way = await startProxy(redis.port);
  accounts = await startAccountsService(noon);
  const redisUrl = `redis://127.0.0.1:${way.port}`;
  gateways = await Promise.all([1, 2].map(() => startTestGateway({ accounts, redisUrl, plans })));
});
test.after.always(async () => {
  await Promise.all(gateways.map((gateway) => gateway.close()));
  await accounts?.close();
  await way?.close();
  await redis?.stop();
});

const newClient = () => accounts.newClient('free');
const newUnlimitedKey = async () => (await accounts.newClient('enterprise')).key;

interface Fault {
  begin(): unknown;
  end(): unknown;
  /** Redis counts again. */
  isMild?: true;
}

const readOnly = (yes: boolean) =>
  redis.command('replicaof', ...(yes ? ['127.0.0.1', String(way.port)] : ['no', 'one']));

const faults: Record<string, Fault> = {
  'is stopped and started again': { begin: () => redis.kill(), end: () => redis.restart() },
  'is stalled': { begin: () => redis.stall(), end: () => redis.goOn() },
  'answers five seconds late': { begin: () => way.delay(5_000), end: () => way.restore() },
  'is cut off': { begin: () => way.cut(), end: () => way.restore() },
  'does what it is asked and is not heard': { begin: () => way.pauseReplies(), end: () => way.restore() },
  'is a read-only replica': { begin: () => readOnly(true), end: () => readOnly(false) },
  'takes no writes': {
    begin: () => redis.command('config', 'set', 'min-replicas-to-write', '1'),
    end: () => redis.command('config', 'set', 'min-replicas-to-write', '0'),
  },
  'has no memory left': {
    begin: () => redis.command('config', 'set', 'maxmemory', '1'),
    end: () => redis.command('config', 'set', 'maxmemory', '0'),
  },
  'forgets its scripts': {
    begin: () => redis.command('script', 'flush'),
    end: () => undefined,
    isMild: true,
  },
  'is emptied': { begin: () => redis.command('flushall'), end: () => undefined, isMild: true },
};

/** Makes this many concurrent calls of the client at both gateways. @returns the statuses other than 200. */
async function failures(client: Client & { key: string }, calls: number): Promise<number[]> {
  return (await callAll(gateways, client.key, calls)).filter((status) => status !== 200);
}

for (const [what, fault] of Object.entries(faults)) {
  test.serial(
    `while Redis ${what}, no call fails, each gateway allows its share of a second, and the month is served to its exact limit`,
    async (t) => {
      const client = await newClient();
      t.deepEqual(await failures(client, 200), []);
      await fault.begin();
      t.deepEqual(await failures(client, 300), []);
      if (fault.isMild !== true)
        await until('each gateway allows its part', async () => {
          const allowances = await allowancesAt(gateways, (await newClient()).key);
          return allowances.every((most) => most === perSecond / gateways.length);
        });
      t.deepEqual(await failures(client, 10), []);
      await fault.end();
      t.is(510 + (await serveTheRest(gateways, client.key)), limit);
      await until('all are charged', async () => (await accounts.used(client)) >= limit);
      t.is(await accounts.used(client), limit);
      await t.notThrowsAsync(countTogether(gateways, perSecond, newUnlimitedKey));
    },
  );
}

async function isLoading(server: PrivateRedis): Promise<boolean> {
  return server.command('get', 'key:0').then(
    () => false,
    (error: Error) => error.message.startsWith('LOADING'),
  );
}

test.serial('while Redis loads its data, no call fails', async (t) => {
  const big = await startRedis(
    ...['--enable-debug-command', 'yes', '--key-load-delay', '2000'],
    ...['--loading-process-events-interval-bytes', '1024'],
  );
  t.teardown(() => big.stop());
  const loading = await startTestGateway({ accounts, redisUrl: big.url, plans });
  t.teardown(() => loading.close());
  const { key } = await newClient();
  await big.command('debug', 'populate', '500');
  t.deepEqual(await callAll([loading], key, 1), [200]);
  const reloaded = big.command('debug', 'reload').catch(() => undefined);
  await until('it loads', () => isLoading(big));
  t.deepEqual(new Set(await callAll([loading], key, 20)), new Set([200]));
  await reloaded;
  t.deepEqual(new Set(await callAll([loading], key, 20)), new Set([200]));
});

test.serial(
  'a gateway that starts while Redis is unavailable serves calls, and counts with the others once Redis is back',
  async (t) => {
    await redis.kill();
    const redisUrl = `redis://127.0.0.1:${way.port}`;
    const late = await startTestGateway({ accounts, redisUrl, plans });
    t.teardown(() => late.close());
    const { key } = await newClient();
    t.deepEqual(new Set(await callAll([late, ...gateways], key, 30)), new Set([200]));
    await redis.restart();
    await t.notThrowsAsync(countTogether([late, ...gateways], perSecond, newUnlimitedKey));
  },
);
