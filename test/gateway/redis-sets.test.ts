// With a cluster of three masters, and with a master watched by sentinels: keys, the month and the second are counted in
// Redis as with one server, and after a failover no call is served twice or admitted wrongly.
import test, { type ExecutionContext } from 'ava';
import { Seconds } from '../../gateway/limits/seconds.ts';
import { hashApiKey } from '../../kernel/credentials/api-key.ts';
import { RedisUnavailable } from '../../kernel/redis.ts';
import { startAccountsService, type AccountsService, type Client } from '../services/accounts-service.ts';
import { silentLog } from '../services/harness.ts';
import type { PrivateRedis } from '../services/redis.ts';
import {
  follows,
  startRedisCluster,
  startWatchedRedis,
  type RedisCluster,
  type WatchedRedis,
} from '../services/redis-sets.ts';
import { until } from '../run/until.ts';
import { startDoor, type Door } from './doors.ts';
import { connected, serveTheRest, startCountingGateway, type CountingGateway } from './months.ts';

interface Set {
  service: AccountsService;
  gateways: CountingGateway[];
  doors: Door[];
  close(): Promise<void>;
}

async function startSet(url: string): Promise<Set> {
  const service = await startAccountsService('2026-11-20T10:00:00.000Z', silentLog, { redisUrl: url });
  const gateways = await Promise.all([1, 2].map(() => startCountingGateway(service, url)));
  const doors = await Promise.all([1, 2].map(() => startDoor(service, url)));
  return {
    service,
    gateways,
    doors,
    async close() {
      for (const door of doors) await door.close();
      for (const gateway of gateways) gateway.crash();
      await service.close();
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

const freeLimit = 1_000;

/** Asks for calls one by one at all gateways at once. @returns how many were served. */
async function serve({ gateways }: Set, client: Client, calls: number): Promise<number> {
  const takes = await Promise.all(
    Array.from({ length: calls }, (_, i) =>
      (gateways[i % gateways.length] as CountingGateway).take(client.accountId, 1, freeLimit),
    ),
  );
  return takes.filter(({ granted }) => granted).length;
}

function ifUnavailable(error: unknown): undefined {
  if (!(error instanceof RedisUnavailable)) throw error;
}

async function untilCached({ doors }: Set, hash: string): Promise<void> {
  for (const door of doors) {
    await until('Redis has a valid cache entry', async () => {
      await door.opensFor(hash);
      // After a failover the circuit may open once more: then it is asked again.
      return (await door.cacheSays(hash).catch(ifUnavailable)) === true;
    });
  }
}

async function revokedAtOnce(t: ExecutionContext, set: Set, client: Client & { key: string }): Promise<void> {
  const hash = hashApiKey(client.key);
  const answer = await set.service.as(client, `/v1/keys/${client.keyId}`, { method: 'DELETE' });
  t.is(answer.status, 204);
  for (const door of set.doors) t.false(await door.opensFor(hash));
}

for (const [name, setOf] of [
  ['a cluster of three masters', () => inCluster],
  ['a master that sentinels watch', () => underWatch],
] as const) {
  test.serial(`in ${name}, keys are cached and a revoked one is refused at once`, async (t) => {
    const set = setOf();
    const clients = await Promise.all(Array.from({ length: 12 }, () => set.service.newClient()));
    for (const client of clients) await untilCached(set, hashApiKey(client.key));
    for (const client of clients) await revokedAtOnce(t, set, client);
  });

  test.serial(`in ${name}, exactly the month's limit is served, over two gateways`, async (t) => {
    const set = setOf();
    for (let account = 0; account < 3; account += 1) {
      t.is(await serve(set, await set.service.newClient(), freeLimit + 300), freeLimit);
    }
  });

  test.serial(`in ${name}, all gateways share one rate limit`, async (t) => {
    const midSecond = Math.floor(Date.now() / 1000) * 1000 + 500; // the clock stands still, so no second ends
    const [one, other] = setOf().gateways.map(
      ({ redis }) => new Seconds({ redis, gateways: () => 2, log: silentLog, nowMs: () => midSecond }),
    ) as [Seconds, Seconds];
    for (let account = 0; account < 6; account += 1) {
      const key = `account:of ${name} ${account}`;
      for (let i = 0; i < 10; i += 1) t.true(one.take(key, 1_000).allowed);
      let calls = 0;
      await until('the other gateway counts them', () => {
        calls += 1;
        return other.take(key, 1_000).remaining === 1_000 - 10 - calls;
      });
    }
  });
}

test.serial(
  "when a replica replaces a cluster's master, nobody gets a second allowance or loses the first",
  async (t) => {
    const set = inCluster;
    const clients = await Promise.all(Array.from({ length: 6 }, () => set.service.newClient()));
    const before = await Promise.all(clients.map((client) => serve(set, client, 300)));
    t.deepEqual(before, [300, 300, 300, 300, 300, 300]);
    await cluster.masters[0]?.kill();
    await cluster.replica.command('cluster', 'failover', 'takeover');
    const during = await Promise.all(clients.map((client) => serve(set, client, 100)));
    t.deepEqual(during, [100, 100, 100, 100, 100, 100]);
    for (const client of clients) {
      const rest = await serveTheRest(set.service, set.gateways, () => serve(set, client, 200));
      t.is(rest, freeLimit - 400);
      t.is(await set.service.used(client), freeLimit, 'the ledger has what was served');
    }
  },
);

test.serial(
  'keys that are revoked while a master of a cluster is lost are not accepted, neither then nor when its replica has replaced it',
  async (t) => {
    const set = inCluster;
    const [former] = cluster.masters as [PrivateRedis];
    const present = cluster.replica; // it has taken the slots over
    await former.restart();
    await until('the former master follows the present one', () => follows(former));
    await Promise.all(set.gateways.map(connected));
    const clients = await Promise.all(Array.from({ length: 12 }, () => set.service.newClient()));
    for (const client of clients) await untilCached(set, hashApiKey(client.key));
    await present.kill();
    for (const client of clients) await revokedAtOnce(t, set, client);
    await until('the masters that are left have made the replica one', async () =>
      String(await former.command('info', 'replication')).includes('role:master'),
    );
    await Promise.all(set.gateways.map(connected));
    for (const client of clients)
      for (const door of set.doors) t.false(await door.opensFor(hashApiKey(client.key)));
  },
);

test.serial(
  'while a master of a cluster is lost that has no replica, revoked keys are refused, and exactly the limit is served',
  async (t) => {
    const set = inCluster;
    const [, , lost] = cluster.masters as [PrivateRedis, PrivateRedis, PrivateRedis];
    const clients = await Promise.all(Array.from({ length: 6 }, () => set.service.newClient()));
    for (const client of clients) t.is(await serve(set, client, 300), 300);
    const revoked = await Promise.all(Array.from({ length: 6 }, () => set.service.newClient()));
    for (const client of revoked) await untilCached(set, hashApiKey(client.key));
    await lost.kill();
    for (const client of revoked) await revokedAtOnce(t, set, client);
    for (const client of clients) t.is(await serve(set, client, 100), 100);
    await lost.restart();
    await Promise.all(set.gateways.map(connected));
    for (const client of revoked)
      for (const door of set.doors) t.false(await door.opensFor(hashApiKey(client.key)));
    for (const client of clients) {
      const rest = await serveTheRest(set.service, set.gateways, () => serve(set, client, 200));
      t.is(rest, freeLimit - 400);
      t.is(await set.service.used(client), freeLimit, 'the ledger has what was served');
    }
  },
);

test.serial(
  'when the sentinels make a replica the master, nobody gets a second allowance or loses the first',
  async (t) => {
    const set = underWatch;
    const client = await set.service.newClient();
    t.is(await serve(set, client, 300), 300);
    await watched.master.kill();
    t.is(await serve(set, client, 100), 100);
    await until('the sentinels have another master', async () => {
      return (await watched.presentMaster()) !== watched.master.port;
    });
    const rest = await serveTheRest(set.service, set.gateways, () => serve(set, client, 200));
    t.is(rest, freeLimit - 400);
    t.is(await set.service.used(client), freeLimit, 'the ledger has what was served');
  },
);

test.serial(
  "a key that is revoked while the master is lost is not accepted from the replica's cache entry",
  async (t) => {
    const set = underWatch;
    const present = await watched.presentMaster();
    const master = watched.replicas.find(({ port }) => port === present);
    const client = await set.service.newClient();
    await untilCached(set, hashApiKey(client.key));
    await master?.kill();
    await revokedAtOnce(t, set, client);
    const hash = hashApiKey(client.key);
    await until('the sentinels have another master', async () => {
      for (const door of set.doors) t.false(await door.opensFor(hash));
      return (await watched.presentMaster()) !== present;
    });
    await Promise.all(set.gateways.map(connected));
    for (const door of set.doors) t.false(await door.opensFor(hash));
  },
);
