// A cluster of three masters, and a master watched by sentinels: gateways count the calls of a second together as with one server. While a server is
// lost and replaced, no call fails, and the month is served to its exact limit.
import test, { type ExecutionContext } from 'ava';
import { startAccountsService, type AccountsService, type Client } from '../services/accounts-service.ts';
import type { PrivateRedis } from '../services/redis.ts';
import {
  follows,
  startRedisCluster,
  startWatchedRedis,
  type RedisCluster,
  type WatchedRedis,
} from '../services/redis-sets.ts';
import { projectPlans, unhurried } from '../services/services.ts';
import { until } from '../run/until.ts';
import { callAll, countTogether, serveTheRest } from './bursts.ts';
import { noon, startTestGateway, type TestGateway } from './recording-upstream.ts';

interface Set {
  accounts: AccountsService;
  gateways: TestGateway[];
  close(): Promise<void>;
}

const plans = unhurried(projectPlans());
const perSecond = plans.get('free')?.calls_second ?? 0;
const limit = 1_000;

async function startSet(redisUrl: string): Promise<Set> {
  const accounts = await startAccountsService(noon);
  const gateways = await Promise.all([1, 2].map(() => startTestGateway({ accounts, redisUrl, plans })));
  return {
    accounts,
    gateways,
    async close() {
      await Promise.all(gateways.map((gateway) => gateway.close()));
      await accounts.close();
    },
  };
}

let cluster: RedisCluster;
let watched: WatchedRedis;
let inCluster: Set;
let underWatch: Set;
test.before(async () => {
  [cluster, watched] = await Promise.all([startRedisCluster(), startWatchedRedis()]);
  [inCluster, underWatch] = await Promise.all([startSet(cluster.url), startSet(watched.url)]);
});
test.after.always(async () => {
  await inCluster?.close();
  await underWatch?.close();
  await cluster?.stop();
  await watched?.stop();
});

type KeyOwner = Client & { key: string };

/** The number of accounts, so that their counters are very likely on all servers of a set. */
const newClients = ({ accounts }: Set) =>
  Promise.all(Array.from({ length: 6 }, () => accounts.newClient('free')));

async function allServed(t: ExecutionContext, set: Set, clients: readonly KeyOwner[], calls: number) {
  for (const { key } of clients)
    t.deepEqual(new Set(await callAll(set.gateways, key, calls)), new Set([200]));
}

/** Of two of the clients, as Redis does not count the calls of a month. @param before the number of calls served so far. */
async function restIsServed(t: ExecutionContext, set: Set, clients: readonly KeyOwner[], before: number) {
  for (const client of clients.slice(0, 2)) {
    t.is(before + (await serveTheRest(set.gateways, client.key)), limit);
    await until('all are charged', async () => (await set.accounts.used(client)) >= limit);
    t.is(await set.accounts.used(client), limit, 'the ledger has what was served');
  }
}

/** Checks that the gateways count the calls of several accounts together, whose counters are very likely on all servers of a set. */
async function allCountTogether({ gateways, accounts }: Set): Promise<void> {
  const newKey = async () => (await accounts.newClient('enterprise')).key;
  for (let account = 0; account < 6; account += 1) await countTogether(gateways, perSecond, newKey);
}

for (const [name, setOf] of [
  ['a cluster of three masters', () => inCluster],
  ['a master that sentinels watch', () => underWatch],
] as const) {
  test.serial(
    `in ${name}, gateways count the calls of a second together, and serve exactly the month's limit`,
    async (t) => {
      await allCountTogether(setOf());
      await restIsServed(t, setOf(), await newClients(setOf()), 0);
    },
  );
}

test.serial(
  "when a replica replaces a cluster's master, no call fails, and the calls of a second are counted together again",
  async (t) => {
    const clients = await newClients(inCluster);
    await allServed(t, inCluster, clients, 100);
    await cluster.masters[0]?.kill();
    await cluster.replica.command('cluster', 'failover', 'takeover');
    await allServed(t, inCluster, clients, 100);
    await allCountTogether(inCluster);
    await restIsServed(t, inCluster, clients, 200);
  },
);

test.serial(
  'when the remaining masters promote a replica, no call fails, and the calls of a second are counted together again',
  async (t) => {
    const [former] = cluster.masters as [PrivateRedis];
    const present = cluster.replica; // it has taken over the slots
    await former.restart();
    await until('the former master follows the present one', () => follows(former));
    const clients = await newClients(inCluster);
    await allServed(t, inCluster, clients, 50);
    await present.kill();
    await allServed(t, inCluster, clients, 50);
    await until('the masters that are left have made the replica one', async () =>
      String(await former.command('info', 'replication')).includes('role:master'),
    );
    await allCountTogether(inCluster);
    await restIsServed(t, inCluster, clients, 100);
  },
);

test.serial('while a master without a replica is lost, no call fails', async (t) => {
  const [, , lost] = cluster.masters as [PrivateRedis, PrivateRedis, PrivateRedis];
  const clients = await newClients(inCluster);
  await allServed(t, inCluster, clients, 50);
  await lost.kill();
  await allServed(t, inCluster, clients, 50);
  await lost.restart();
  await allCountTogether(inCluster);
  await restIsServed(t, inCluster, clients, 100);
});

test.serial(
  'when the sentinels promote a replica, no call fails, and the calls of a second are counted together again',
  async (t) => {
    const clients = await newClients(underWatch);
    await allServed(t, underWatch, clients, 50);
    await watched.master.kill();
    await allServed(t, underWatch, clients, 50);
    await until('the sentinels have another master', async () => {
      return (await watched.presentMaster()) !== watched.master.port;
    });
    await allServed(t, underWatch, clients, 50);
    await allCountTogether(underWatch);
    await restIsServed(t, underWatch, clients, 150);
  },
);
