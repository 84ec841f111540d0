// Credentials that gateways keep in their own processes, because there is no Redis or they do not use it: a key is looked up once, and
// refused from the moment at which its revocation is answered. REVOCATION_TRIALS (default 500) says how many keys are revoked.
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import type { KeyCredential } from '../../gateway/accounts.ts';
import { systemClock } from '../../kernel/clock.ts';
import { credentialLeaseMs } from '../../kernel/credentials/cache.ts';
import { selectLeases } from '../../accounts-api/keys/credential-leases.sql.ts';
import { createLease, type Term } from '../../gateway/lease.ts';
import { createProcessCache } from '../../gateway/credentials/process-cache.ts';
import { startAccountsService, type AccountsService } from '../services/accounts-service.ts';
import { silentLog } from '../services/harness.ts';
import { startProxy, type Proxy } from '../services/proxy.ts';
import { startRedis, type PrivateRedis } from '../services/redis.ts';
import { until } from '../run/until.ts';
import { startDoor, type Door } from './doors.ts';
import { makeVictims, revoke, tryOut, type Victim } from './revocations.ts';

const trials = Math.ceil(Number(process.env['REVOCATION_TRIALS'] ?? 500) / 5);
const noon = '2026-11-20T10:00:00.000Z';
const noTrouble = { begin: () => Promise.resolve(), end: () => Promise.resolve() };

let redis: PrivateRedis;
let withoutRedis: AccountsService;
let withRedis: AccountsService;
test.before(async () => {
  redis = await startRedis();
  withoutRedis = await startAccountsService(noon);
  withRedis = await startAccountsService(noon, silentLog, { redisUrl: redis.url });
});
test.after.always(async () => {
  await withoutRedis?.close();
  await withRedis?.close();
  await redis?.stop();
});

/** Resolves when the gateway answers for the key by itself. */
async function untilKept(door: Door, { hash }: Victim): Promise<void> {
  await until('the gateway keeps the credential', async () => {
    const asked = door.questions();
    return (await door.opensFor(hash)) && door.questions() === asked;
  });
}

/** A gateway without Redis, with a proxy between it and accounts-api. */
async function startDoorBehindProxy(service: AccountsService): Promise<{ door: Door; toAccounts: Proxy }> {
  const toAccounts = await startProxy(Number(new URL(service.url).port));
  const { clock } = service;
  return {
    door: await startDoor({ url: `http://127.0.0.1:${toAccounts.port}`, clock }, undefined),
    toAccounts,
  };
}

for (const [what, service, redisOf] of [
  ['gateways and accounts-api have no Redis', () => withoutRedis, []],
  ['only some of the gateways have no Redis', () => withRedis, [() => redis.url, () => redis.url]],
] as const) {
  test.serial(
    `if ${what}, no lookup that begins after the answer to a revocation finds the key`,
    async (t) => {
      const doors: Door[] = [];
      t.teardown(() => Promise.all(doors.map((door) => door.close())));
      for (const url of [...redisOf.map((each) => each()), undefined, undefined]) {
        doors.push(await startDoor(service(), url));
      }
      const victims = await makeVictims(service(), trials);
      const { after, found } = await tryOut({ service: service(), doors }, victims, noTrouble);
      t.is(found, 0);
      t.true(after >= victims.length * doors.length * 3);
    },
  );
}

test.serial('a key in use is looked up once, and once more after any credential has changed', async (t) => {
  const door = await startDoor(withoutRedis, undefined);
  t.teardown(() => door.close());
  const [used, other] = (await makeVictims(withoutRedis, 2)) as [Victim, Victim];
  await untilKept(door, used);
  const before = door.questions();
  await Promise.all(Array.from({ length: 100 }, () => door.opensFor(used.hash)));
  t.is(door.questions(), before);
  await revoke(withoutRedis, other);
  t.true(await door.opensFor(used.hash));
  t.is(door.questions(), before + 1);
});

test.serial('an invalid key is looked up each time, as it may be created at any moment', async (t) => {
  const door = await startDoor(withoutRedis, undefined);
  t.teardown(() => door.close());
  const [victim] = (await makeVictims(withoutRedis, 1)) as [Victim];
  await untilKept(door, victim);
  await revoke(withoutRedis, victim);
  const before = door.questions();
  for (let i = 1; i <= 3; i += 1) {
    t.false(await door.opensFor(victim.hash));
    t.is(door.questions(), before + i);
  }
});

test.serial(
  'a gateway that is cut off from accounts-api refuses a key once its revocation is answered',
  async (t) => {
    const { door, toAccounts } = await startDoorBehindProxy(withoutRedis);
    t.teardown(() => toAccounts.close());
    t.teardown(() => door.close());
    const victims = await makeVictims(withoutRedis, 5);
    for (const victim of victims) await untilKept(door, victim);
    toAccounts.cut();
    await Promise.all(victims.map((victim) => revoke(withoutRedis, victim)));
    for (const { hash } of victims) t.false(await door.opensFor(hash));
  },
);

test.serial('entries cached before a lease ended are not used with the next lease', async (t) => {
  const { door, toAccounts } = await startDoorBehindProxy(withRedis);
  t.teardown(() => toAccounts.close());
  t.teardown(() => door.close());
  const [victim] = (await makeVictims(withRedis, 1)) as [Victim];
  await untilKept(door, victim);
  toAccounts.cut();
  const { given } = door.leases;
  await until('accounts-api knows of no lease', async () => {
    const leases = await selectLeases(withRedis.deps.db.sequelize);
    return leases.every(({ heldIn }) => heldIn === 'redis');
  });
  await revoke(withRedis, victim); // begins no generation: no gateway could use what it keeps
  toAccounts.mend();
  await until('there is a lease again', () => door.leases.given > given);
  t.false(await door.opensFor(victim.hash));
});

test('an answer of accounts-api that is older than the lease is used once, and not cached', async (t) => {
  let lease: Term<number> = { generation: 1 };
  const answers: (() => void)[] = [];
  let asked = 0;
  const owner = {
    accountId: 'a',
    keyId: 'k',
    sessionId: null,
    plan: 'free',
    active: true,
    operator: 'no' as const,
  };
  const find = createProcessCache({
    lease: { current: () => lease, open: () => Promise.resolve(), close: () => Promise.resolve() },
    ask: () => {
      asked += 1;
      return new Promise((resolve) => {
        answers.push(() => resolve({ credential: owner, expiresAt: Infinity, expiresInMs: Infinity }));
      });
    },
    clock: withoutRedis.clock,
  });
  const early = find('hash');
  lease = { generation: 2 };
  const other = find('another hash');
  for (const answer of answers) answer();
  t.deepEqual([await early, await other], [owner, owner]);
  t.is(await find('another hash'), owner);
  t.is(asked, 2);
  void find('hash');
  t.is(asked, 3);
});

test('accounts-api decides when a key expires, not the clock of a gateway, slow or fast', async (t) => {
  const owner = { accountId: 'a', keyId: 'k', sessionId: null, plan: 'free', active: true } as const;
  const lease = { generation: 1 };
  const now = systemClock.now().getTime();
  for (const [aheadMs, expiresInMs] of [
    [-20_000, 5],
    [120_000, 60_000],
  ] as const) {
    let answer: KeyCredential | null = {
      ...{ credential: { ...owner, operator: 'no' }, expiresAt: now + expiresInMs, expiresInMs },
    };
    const find = createProcessCache({
      lease: { current: () => lease, open: () => Promise.resolve(), close: () => Promise.resolve() },
      ask: () => Promise.resolve(answer),
      clock: { now: () => new Date(now + aheadMs) },
    });
    t.truthy(await find('hash'), 'valid by accounts-api');
    t.truthy(await find('hash'), 'valid by accounts-api');
    answer = null;
    await until('it is asked again', async () => (await find('hash')) === null, 30_000);
  }
});

test.serial('a cached key is refused from the instant at which it expires', async (t) => {
  const door = await startDoor(withoutRedis, undefined);
  t.teardown(() => door.close());
  const [victim] = (await makeVictims(withoutRedis, 1)) as [Victim];
  const expiresAt = new Date(withoutRedis.clock.now().getTime() + 60_000);
  await withoutRedis.deps.db.keys.update({ expiresAt }, { where: { id: victim.keyId } });
  await untilKept(door, victim);
  withoutRedis.clock.advance(59_999);
  t.true(await door.opensFor(victim.hash));
  withoutRedis.clock.advance(1);
  t.false(await door.opensFor(victim.hash));
});

test('a lease is requested when first needed, renewed while in use, and not renewed otherwise', async (t) => {
  let asked = 0;
  const lease = createLease<number>({
    on: 'the credential cache',
    ask: () => Promise.resolve((asked += 1) && 7),
    end: () => Promise.resolve(),
    ...{ leaseMs: credentialLeaseMs.process, renewEveryMs: 1, idleAfterMs: 20, log: silentLog },
  });
  t.teardown(() => lease.close());
  await pause(5);
  t.is(asked, 0);
  t.is(lease.current(), undefined);
  await until('there is a lease', () => lease.current() !== undefined);
  const term = lease.current();
  t.deepEqual(term, { generation: 7 });
  await until('it is renewed', () => lease.current() !== undefined && asked > 5);
  t.is(lease.current(), term, 'the same lease, as it had no gap');
  await until('it is given up', async () => {
    const before = asked;
    await pause(50);
    return asked === before;
  });
});
