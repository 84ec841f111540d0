// Revocation is strict, tried often: gateways as far as they look keys up, over the real accounts-api, PostgreSQL and Redis,
// with calls that fill the credential cache all the while. Whatever is wrong with Redis or with the way to it, no lookup that begins
// after a revocation was answered finds the key. REVOCATION_TRIALS (default 500) says how many keys are revoked.
import { randomUUID } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { connect } from '../../accounts-api/database.ts';
import { selectGeneration } from '../../accounts-api/keys/credential-cache.sql.ts';
import { credentialCacheKey, keptInOutageMs } from '../../kernel/credentials/cache.ts';
import { openRedis } from '../../kernel/redis.ts';
import { startAccountsService, type AccountsService } from '../services/accounts-service.ts';
import { silentLog } from '../services/harness.ts';
import { startProxy, type Proxy } from '../services/proxy.ts';
import { startRedis, type PrivateRedis } from '../services/redis.ts';
import { until } from '../run/until.ts';
import { startDoor, type Door } from './doors.ts';
import { makeVictims, revoke, tryOut, type Trouble, type Victim } from './revocations.ts';

const trials = Number(process.env['REVOCATION_TRIALS'] ?? 500);
const atOnce = 100;

let redis: PrivateRedis;
let otherMaster: PrivateRedis; // as after a failover that only accounts-api has heard of
let way: Proxy; // from accounts-api to Redis
let toAccountsApi: Proxy; // from the gateways
let service: AccountsService;
let doors: Door[];
test.before(async () => {
  redis = await startRedis();
  otherMaster = await startRedis();
  way = await startProxy(redis.port);
  service = await startAccountsService('2026-11-20T10:00:00.000Z', silentLog, {
    redisUrl: `redis://127.0.0.1:${way.port}`,
  });
  toAccountsApi = await startProxy(Number(new URL(service.url).port));
  const behind = { url: `http://127.0.0.1:${toAccountsApi.port}`, clock: service.clock };
  doors = await Promise.all(Array.from({ length: 4 }, () => startDoor(behind, redis.url)));
});
test.after.always(async () => {
  for (const door of doors ?? []) await door.close();
  await toAccountsApi?.close();
  await service?.close();
  await way?.close();
  await redis?.stop();
  await otherMaster?.stop();
});

/** A gateway with a proxy between it and accounts-api. */
async function startDoorBehindProxy(t: ExecutionContext): Promise<{ toAccounts: Proxy; door: Door }> {
  const toAccounts = await startProxy(Number(new URL(service.url).port));
  t.teardown(() => toAccounts.close());
  const url = `http://127.0.0.1:${toAccounts.port}`;
  // On a busy machine, Redis must not count as stalled.
  const door = await startDoor({ url, clock: service.clock }, redis.url, { deadlineMs: 30_000 });
  t.teardown(() => door.close());
  return { toAccounts, door };
}

async function untilCached(door: Door, { hash }: Victim): Promise<void> {
  await until('Redis has a valid cache entry', async () => {
    await door.opensFor(hash);
    return (await door.cacheSays(hash)) === true;
  });
}

const nothing = () => Promise.resolve();
const at = (work: () => void) => () => Promise.resolve(work());

const troubles: Record<string, Trouble> = {
  'while all is well': { begin: nothing, end: nothing },
  'while Redis is emptied': { begin: () => redis.command('flushall'), end: nothing },
  'while Redis forgets its scripts': { begin: () => redis.command('script', 'flush'), end: nothing },
  'while Redis takes no writes': {
    begin: () => redis.command('config', 'set', 'min-replicas-to-write', '1'),
    end: () => redis.command('config', 'set', 'min-replicas-to-write', '0'),
  },
  'while the way from accounts-api to Redis is cut': {
    begin: at(() => way.cut()),
    end: at(() => way.mend()),
  },
  'while accounts-api hears nothing of Redis': { begin: at(() => way.deafen()), end: at(() => way.mend()) },
  'while accounts-api speaks to another master than the gateways': {
    async begin() {
      way.leadTo(otherMaster.port);
      await until(
        'accounts-api has found the other master',
        async () => (await otherMaster.command('exists', 'almanac:heartbeat')) === 1,
      );
    },
    end: at(() => way.leadTo(redis.port)),
  },
  'while no gateway reaches accounts-api': {
    begin: at(() => toAccountsApi.cut()),
    end: at(() => toAccountsApi.mend()),
  },
  'while no gateway hears accounts-api': {
    begin: at(() => toAccountsApi.deafen()),
    end: at(() => toAccountsApi.mend()),
  },
  'while Redis is stalled': { begin: at(() => redis.stall()), end: at(() => redis.goOn()) },
  'while Redis is killed and comes back': { begin: () => redis.kill(), end: () => redis.restart() },
};

const names = Object.keys(troubles);
for (const [i, name] of names.entries()) {
  test.serial(
    `of the keys that are revoked ${name}, none is found by a lookup that begins after the answer`,
    async (t) => {
      let left = Math.ceil((trials - i) / names.length);
      while (left > 0) {
        const victims = await makeVictims(service, Math.min(left, atOnce));
        left -= victims.length;
        const { after, found } = await tryOut({ service, doors }, victims, troubles[name] as Trouble);
        t.is(found, 0);
        t.true(after >= victims.length * doors.length * 3);
      }
    },
  );
}

interface CutOff {
  /** Goes between the gateway and accounts-api, while accounts-api cannot reach Redis. */
  begin(toAccounts: Proxy, door: Door): Promise<unknown>;
  /** When the revocation is answered, before the gateway is asked. */
  answered(toAccounts: Proxy, door: Door): Promise<unknown>;
}

const cutsOff: Record<string, CutOff> = {
  'is cut off from accounts-api': { begin: (to) => Promise.resolve(to.cut()), answered: nothing },
  'hears its lease on the cache after the answer': {
    async begin(to, { leases }) {
      const { asked } = leases;
      to.deafen();
      await until('the gateway asks for a lease', () => leases.asked > asked);
      // By now accounts-api has given it.
      await service.internally('/internal/credential-cache/lease', {
        ...{ gateway: randomUUID(), in: 'process', using: null },
      });
    },
    async answered(to, { leases }) {
      const { given } = leases;
      to.mend();
      await until('the gateway has heard it', () => leases.given > given);
    },
  },
};

// Together, as each waits for the end of a lease.
test.serial(
  `while accounts-api cannot write Redis, a gateway that ${Object.keys(cutsOff).join(', and one that ')}, refuse a key once its revocation is answered`,
  async (t) => {
    const cases = await Promise.all(
      Object.values(cutsOff).map(async (cutOff) => ({ ...cutOff, ...(await startDoorBehindProxy(t)) })),
    );
    const victims = await makeVictims(service, 5);
    for (const victim of victims) {
      for (const { door } of cases) await untilCached(door, victim);
    }
    t.teardown(() => way.mend());
    way.cut();
    for (const { begin, toAccounts, door } of cases) await begin(toAccounts, door);
    // Nothing but a lease of its own lets a gateway use its entries: until the answer, it does.
    for (const { hash } of victims) {
      for (const { door } of cases) t.true(await door.opensFor(hash));
    }
    await Promise.all(victims.map((victim) => revoke(service, victim)));
    for (const { answered, toAccounts, door } of cases) await answered(toAccounts, door);
    for (const { hash } of victims) {
      for (const { door } of cases) {
        t.not(await door.cacheSays(hash), true);
        t.false(await door.opensFor(hash));
      }
    }
  },
);

test.serial(
  'while accounts-api is away, keys in use are found, also those that are due for another lookup',
  async (t) => {
    const { toAccounts, door } = await startDoorBehindProxy(t);
    const [victim] = (await makeVictims(service, 1)) as [Victim];
    await untilCached(door, victim);
    toAccounts.cut();
    const { asked } = door.leases;
    while (door.leases.asked < asked + 5) t.true(await door.opensFor(victim.hash));
    // Due for another lookup: used for a while, and no longer.
    const dueSince = async (ms: number) => {
      const { generation } = await selectGeneration(service.deps.db.sequelize);
      await redis.command(
        'hset',
        credentialCacheKey(generation, victim.hash),
        'until',
        String(Date.now() - ms),
      );
    };
    await dueSince(keptInOutageMs / 3);
    t.true(await door.opensFor(victim.hash));
    await dueSince(keptInOutageMs + 1_000);
    t.false(await door.opensFor(victim.hash));
    toAccounts.mend();
    await until('accounts-api is asked again', () => door.opensFor(victim.hash));
  },
);

test.serial('a cached key is refused from the instant at which it expires', async (t) => {
  const door = doors[0] as Door;
  const [victim] = await makeVictims(service, 1);
  const { keyId, hash } = victim as Victim;
  const expiresAt = new Date(service.clock.now().getTime() + 60_000);
  await service.deps.db.keys.update({ expiresAt }, { where: { id: keyId } });
  await until('Redis has a valid cache entry', async () => {
    await door.opensFor(hash);
    return (await door.cacheSays(hash)) === true;
  });
  service.clock.advance(59_999);
  t.not(await door.cacheSays(hash), false);
  t.true(await door.opensFor(hash));
  service.clock.advance(1);
  t.not(await door.cacheSays(hash), true);
  t.false(await door.opensFor(hash));
});

test.serial(
  'even more changes than fit in one batch are all in force when the change is answered',
  async (t) => {
    const door = doors[0] as Door;
    const victims = await makeVictims(service, 600);
    let missing = victims;
    await until('Redis has entries of all', async () => {
      await Promise.all(missing.map(({ hash }) => door.opensFor(hash)));
      const cached = await Promise.all(missing.map(({ hash }) => door.cacheSays(hash)));
      missing = missing.filter((_victim, i) => cached[i] !== true);
      return missing.length === 0;
    });
    const link = openRedis(redis.url, silentLog);
    t.teardown(() => link.close());
    await link.opened();
    const db = connect(service.databaseUrl, link);
    t.teardown(() => db.close());
    await db.inTransaction((transaction) =>
      db.sequelize.query(
        'update accounts.api_keys set revoked_at = $2, slot = null where id = any($1::text[])',
        {
          bind: [victims.map(({ keyId }) => keyId), service.clock.now()],
          transaction,
        },
      ),
    );
    const found = await Promise.all(victims.map(({ hash }) => door.opensFor(hash)));
    t.is(found.filter(Boolean).length, 0);
  },
);
