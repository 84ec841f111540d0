// A Redis that is dead, stalled, slow, cut off, loading, read-only or without its scripts: calls of the month continue, counted
// once, none above the limit, and none waits for Redis longer than its deadline. With each of the three values of QUOTA_OUTAGE
// if accounts-api is down as well.
import test from 'ava';
import { selectUsed } from '../../accounts-api/usage/usage.sql.ts';
import type { Failure } from '../../kernel/errors.ts';
import { startAccountsService, type AccountsService, type Client } from '../services/accounts-service.ts';
import { silentLog } from '../services/harness.ts';
import { startProxy, type Proxy } from '../services/proxy.ts';
import { startRedis, type PrivateRedis } from '../services/redis.ts';
import { until } from '../run/until.ts';
import { connected, serveTheRest, startCountingGateway, type CountingGateway } from './months.ts';

let redis: PrivateRedis;
let way: Proxy; // from the gateways to Redis
let service: AccountsService;
let gateways: CountingGateway[];
test.before(async () => {
  redis = await startRedis();
  way = await startProxy(redis.port);
  service = await startAccountsService('2026-11-20T10:00:00.000Z', silentLog, { redisUrl: redis.url });
  const url = `redis://127.0.0.1:${way.port}`;
  gateways = await Promise.all([1, 2].map(() => startCountingGateway(service, url)));
});
test.after.always(async () => {
  for (const gateway of gateways ?? []) gateway.crash();
  await service?.close();
  await way?.close();
  await redis?.stop();
});

const limit = 1_000;

async function serve(client: Client, calls: number): Promise<number> {
  const takes = await Promise.all(
    Array.from({ length: calls }, (_, i) =>
      (gateways[i % gateways.length] as CountingGateway).take(client.accountId, 1, limit),
    ),
  );
  return takes.filter(({ granted }) => granted).length;
}

async function settleAll(): Promise<void> {
  for (const gateway of gateways) await gateway.settle();
}

interface Fault {
  begin(): unknown;
  end(): unknown;
}

const readOnly = (yes: boolean) =>
  redis.command('replicaof', ...(yes ? ['127.0.0.1', String(way.port)] : ['no', 'one']));

const faults: Record<string, Fault> = {
  'is stopped and started again': { begin: () => redis.kill(), end: () => redis.restart() },
  'is stalled': { begin: () => redis.stall(), end: () => redis.goOn() },
  'answers five seconds late': { begin: () => way.delay(5_000), end: () => way.mend() },
  'is cut off': { begin: () => way.cut(), end: () => way.mend() },
  'does what it is asked and is not heard': { begin: () => way.deafen(), end: () => way.mend() },
  'is a read-only replica': { begin: () => readOnly(true), end: () => readOnly(false) },
  'takes no writes': {
    begin: () => redis.command('config', 'set', 'min-replicas-to-write', '1'),
    end: () => redis.command('config', 'set', 'min-replicas-to-write', '0'),
  },
  'has no memory left': {
    begin: () => redis.command('config', 'set', 'maxmemory', '1'),
    end: () => redis.command('config', 'set', 'maxmemory', '0'),
  },
  'forgets its scripts': { begin: () => redis.command('script', 'flush'), end: () => undefined },
  'is emptied': { begin: () => redis.command('flushall'), end: () => undefined },
};

for (const [what, fault] of Object.entries(faults)) {
  test.serial(`while Redis ${what}, calls are served and counted once, up to the exact limit`, async (t) => {
    const client = await service.newClient();
    t.is(await serve(client, 200), 200);
    await settleAll();
    await fault.begin();
    t.is(await serve(client, 300), 300);
    t.is(await serve(client, 10), 10);
    await fault.end();
    const served = 510 + (await serveTheRest(service, gateways, () => serve(client, 100)));
    t.is(served, limit);
    t.is(await selectUsed(service.deps.db, client.accountId, '2026-11-01'), limit);
  });
}

test.serial('the circuit to a silent Redis opens after one deadline: not every call asks it', async (t) => {
  const client = await service.newClient();
  await serve(client, 2);
  t.teardown(() => redis.goOn());
  redis.stall();
  for (let call = 0; call < 50; call += 1) {
    t.is(await serve(client, 2), 2);
    t.deepEqual(
      gateways.map((gateway) => gateway.redis?.isUsable), // where it is not, it is not asked
      [false, false],
    );
  }
  redis.goOn();
  await Promise.all(gateways.map(connected));
});

async function isLoading(server: PrivateRedis): Promise<boolean> {
  return server.command('get', 'key:0').then(
    () => false,
    (error: Error) => error.message.startsWith('LOADING'),
  );
}

test.serial('while Redis loads its data, it counts as unavailable', async (t) => {
  const big = await startRedis(
    '--enable-debug-command',
    'yes',
    '--key-load-delay',
    '2000',
    '--loading-process-events-interval-bytes',
    '1024',
  );
  const gateway = await startCountingGateway(service, big.url);
  const client = await service.newClient();
  try {
    await big.command('debug', 'populate', '500');
    t.true((await gateway.take(client.accountId, 1, limit)).granted);
    const reloaded = big.command('debug', 'reload').catch(() => undefined);
    await until('it loads', () => isLoading(big));
    t.true((await gateway.take(client.accountId, 1, limit)).granted);
    await reloaded;
    await connected(gateway);
    t.true((await gateway.take(client.accountId, 1, limit)).granted);
  } finally {
    gateway.crash();
    await big.stop();
  }
});

for (const [outage, before, most] of [
  ['closed', 1, 0],
  ['bounded', 1, 100],
  ['bounded', 930, 70],
  ['bounded', 1_000, 0],
  ['open', 1_000, 400],
] as const) {
  test.serial(
    `with neither Redis nor accounts-api, QUOTA_OUTAGE=${outage} serves ${most} calls after ${before} of ${limit}, and charges them later`,
    async (t) => {
      const client = await service.newClient();
      const accountsWay = await startProxy(Number(new URL(service.url).port));
      const url = `http://127.0.0.1:${accountsWay.port}`;
      const gateway = await startCountingGateway({ url, clock: service.clock }, redis.url, outage);
      try {
        t.true((await gateway.take(client.accountId, before, limit)).granted);
        gateway.redis?.close();
        accountsWay.cut();
        // In two rounds: what the first one was served counts against the second.
        const round = () =>
          Promise.allSettled(Array.from({ length: 200 }, () => gateway.take(client.accountId, 1, limit)));
        const outcomes = [...(await round()), ...(await round())];
        // Whoever is refused is told 503: that the month is used up, 402, nobody can say.
        const served = outcomes.filter((each) => each.status === 'fulfilled');
        t.is(served.length, most);
        for (const { value } of served) t.true(value.granted);
        for (const each of outcomes) {
          if (each.status === 'rejected') t.is((each.reason as Failure).code, 'unavailable');
        }
        accountsWay.mend();
        await gateway.settle();
        t.is(await selectUsed(service.deps.db, client.accountId, '2026-11-01'), before + most);
      } finally {
        gateway.crash();
        await accountsWay.close();
      }
    },
  );
}

test.serial(
  'with neither Redis nor accounts-api, a new month has its own outage quota, and is charged separately',
  async (t) => {
    const client = await service.newClient();
    const accountsWay = await startProxy(Number(new URL(service.url).port));
    t.teardown(() => accountsWay.close());
    const url = `http://127.0.0.1:${accountsWay.port}`;
    const gateway = await startCountingGateway({ url, clock: service.clock }, undefined, 'bounded');
    t.teardown(() => gateway.crash());
    t.true((await gateway.take(client.accountId, limit, limit)).granted);
    accountsWay.cut();
    await t.throwsAsync(gateway.take(client.accountId, 1, limit));
    t.teardown(() => service.clock.set('2026-11-20T10:00:00.000Z'));
    service.clock.set('2026-12-01T00:00:00.000Z');
    const outcomes = await Promise.allSettled(
      Array.from({ length: 150 }, () => gateway.take(client.accountId, 1, limit)),
    );
    t.is(outcomes.filter((each) => each.status === 'fulfilled').length, 100);
    accountsWay.mend();
    await gateway.settle();
    t.is(await selectUsed(service.deps.db, client.accountId, '2026-11-01'), limit);
    t.is(await selectUsed(service.deps.db, client.accountId, '2026-12-01'), 100);
  },
);

test.serial(
  'a gateway whose allotment was closed by another gets a new one: exactly the limit is served',
  async (t) => {
    const client = await service.newClient();
    // Two databases of one server, as two masters are that have each been the only one.
    const urls = [redis.url, `${redis.url}/1`];
    const both = await Promise.all(urls.map((url) => startCountingGateway(service, url)));
    t.teardown(() => both.forEach((gateway) => gateway.crash()));
    const [one, other] = both as [CountingGateway, CountingGateway];
    const take = async (gateway: CountingGateway, calls: number) =>
      (await gateway.take(client.accountId, calls, limit)).granted;
    t.true(await take(one, 100));
    t.true(await take(other, 100));
    t.true(await take(one, 200), 'what is lacking of its own comes from a new one');
    const serveOne = async () => {
      const granted = await Promise.all(Array.from({ length: 100 }, (_, i) => take(i % 2 ? one : other, 1)));
      return granted.filter(Boolean).length;
    };
    t.is(400 + (await serveTheRest(service, both, serveOne)), limit);
    t.is(await selectUsed(service.deps.db, client.accountId, '2026-11-01'), limit);
  },
);

test.serial(
  'a Redis that restarts from an old snapshot grants nothing twice: exactly the limit is served',
  async (t) => {
    const own = await startRedis();
    t.teardown(() => own.stop());
    const client = await service.newClient();
    const gateway = await startCountingGateway(service, own.url);
    t.teardown(() => gateway.crash());
    const take = async (calls: number) => (await gateway.take(client.accountId, calls, limit)).granted;
    t.true(await take(300));
    await own.command('save');
    for (let i = 0; i < 4; i += 1) t.true(await take(100));
    await own.restart();
    const serveSome = async () => {
      const granted = await Promise.all(Array.from({ length: 100 }, () => take(1)));
      return granted.filter(Boolean).length;
    };
    t.is(700 + (await serveTheRest(service, [gateway], serveSome)), limit);
    t.is(await selectUsed(service.deps.db, client.accountId, '2026-11-01'), limit);
  },
);
