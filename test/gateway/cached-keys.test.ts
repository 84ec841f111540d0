// Keys that gateways cache under their lease: a key is looked up once, and nothing cached is used without a lease or after a change. Late, lost or
// duplicated answers change nothing.
import test, { type ExecutionContext } from 'ava';
import { setPlan } from '../../accounts-api/operator/operator.ts';
import { Failure } from '../../kernel/errors.ts';
import { leaseMs } from '../../kernel/heartbeat/times.ts';
import { until } from '../run/until.ts';
import { startAccountsService, type AccountsService } from '../services/accounts-service.ts';
import { fakeClock } from '../services/harness.ts';
import {
  closeSilent,
  createWay,
  passSilently,
  startLife,
  type GatewayLife,
  type LifeOptions,
} from './lives.ts';
import { makeVictims, revoke, type Victim } from './revocations.ts';

const noon = '2026-11-20T10:00:00.000Z';

let service: AccountsService;
test.before(async () => {
  service = await startAccountsService(noon);
});
test.after.always(() => service?.close());

async function start(t: ExecutionContext, options: LifeOptions = {}, at = service): Promise<GatewayLife> {
  const life = await startLife({ url: at.url, clock: at.clock }, options);
  t.teardown(async () => {
    life.crash();
    await passSilently(service, [life], leaseMs + 100);
  });
  return life;
}

async function makeVictim(): Promise<Victim> {
  const [victim] = await makeVictims(service, 1);
  return victim as Victim;
}

test.serial('a key in use is looked up once, and again after a change of its own account only', async (t) => {
  const life = await start(t);
  const [used, other] = [await makeVictim(), await makeVictim()];
  const looks = () => Promise.all(Array.from({ length: 100 }, () => life.opensFor(used.hash)));
  t.false((await looks()).includes(false));
  t.is(life.keysAsked(), 1, 'calls share a lookup');
  await revoke(service, other);
  t.false((await looks()).includes(false));
  t.is(life.keysAsked(), 1);
  await setPlan(service.deps, used.accountId, 'pro');
  t.false((await looks()).includes(false));
  t.is(life.keysAsked(), 2);
});

test.serial('an invalid key is looked up each time, as it may be created at any moment', async (t) => {
  const life = await start(t);
  const victim = await makeVictim();
  await revoke(service, victim);
  for (let i = 1; i <= 3; i += 1) {
    t.false(await life.opensFor(victim.hash));
    t.is(life.keysAsked(), i);
  }
});

test.serial(
  'while accounts-api is unavailable, only cached keys are found, until the lease ends',
  async (t) => {
    const way = createWay();
    const life = await start(t, { through: way.through, clockAdvances: false });
    const [cached, other] = [await makeVictim(), await makeVictim()];
    t.true(await life.opensFor(cached.hash));
    way.cut();
    life.pass(leaseMs - 5_000);
    t.true(await life.opensFor(cached.hash));
    t.false(await life.opensFor(other.hash));
    life.pass(5_000);
    t.false(await life.opensFor(cached.hash));
    way.mend();
    t.true(await life.opensFor(cached.hash));
  },
);

test.serial(
  'state cached under an ended lease is not used under the next one if it has changed meanwhile',
  async (t) => {
    const way = createWay();
    const life = await start(t, { through: way.through });
    const victim = await makeVictim();
    t.true(await life.opensFor(victim.hash));
    way.cut();
    await passSilently(service, [life], leaseMs + 100);
    await revoke(service, victim);
    way.mend();
    await until('there is a lease again', () => life.heartbeat.isLeased());
    t.false(await life.opensFor(victim.hash));
  },
);

test.serial('a lease counts from the request, however late the answer arrives', async (t) => {
  const late = Promise.withResolvers<void>();
  let isBroken = false;
  const life = await start(t, {
    clockAdvances: false,
    async through(message, send) {
      if (isBroken) throw new Failure('unavailable', 'The way is broken.');
      const answer = await send(message);
      if (message.keys.length === 0) return answer;
      isBroken = true;
      await late.promise;
      return answer;
    },
  });
  const victim = await makeVictim();
  const looks = life.opensFor(victim.hash);
  await until('accounts-api has answered', () => isBroken);
  life.pass(leaseMs);
  late.resolve();
  await looks;
  t.false(life.heartbeat.isLeased());
  t.false(await life.opensFor(victim.hash));
});

test.serial('a lookup that is overtaken by a change is repeated, and its answer is never used', async (t) => {
  const victim = await makeVictim();
  const late = Promise.withResolvers<void>();
  let isLate = true;
  const life = await start(t, {
    async through(message, send) {
      const answer = await send(message);
      if (message.keys.length > 0 && isLate) {
        isLate = false;
        await late.promise;
      }
      return answer;
    },
  });
  const looks = life.opensFor(victim.hash);
  await until('accounts-api has answered', () => !isLate);
  await revoke(service, victim); // the gateway acknowledges the change while the answer is in transit
  late.resolve();
  t.false(await looks);
  t.is(life.keysAsked(), 2);
  t.false(await life.opensFor(victim.hash));
});

test.serial(
  'duplicated or lost answers change nothing: each key is found, each call granted and charged once',
  async (t) => {
    const client = await service.newClient('free');
    const victim = await makeVictim();
    const way = createWay();
    const life = await start(t, { outage: 'closed', through: way.through });
    way.double();
    t.true(await life.opensFor(victim.hash));
    t.truthy((await life.serve(client.accountId, 300)).charge);
    way.deafen();
    await t.throwsAsync(life.serve(client.accountId, 600));
    way.mend();
    t.truthy((await life.serve(client.accountId, 600)).charge, 'it was granted once');
    t.is((await life.serve(client.accountId, 101)).charge, null);
    t.truthy((await life.serve(client.accountId, 100)).charge);
    way.double();
    await life.flushJournal();
    t.is(await service.used(client), 1000);
  },
);

test.serial('accounts-api decides when a key expires, whatever the clock of a gateway says', async (t) => {
  const now = service.clock.now().getTime();
  const victim = await makeVictim();
  await service.deps.db.keys.update({ expiresAt: new Date(now + 10_000) }, { where: { id: victim.keyId } });
  for (const aheadMs of [-20_000, 120_000]) {
    const clock = fakeClock(new Date(now + aheadMs).toISOString());
    const life = await start(t, { clockAdvances: false }, { ...service, clock });
    t.true(await life.opensFor(victim.hash));
    life.pass(9_999);
    t.true(await life.opensFor(victim.hash));
    t.is(life.keysAsked(), 1);
    life.pass(1);
    t.true(await life.opensFor(victim.hash), 'it is valid by accounts-api');
    t.is(life.keysAsked(), 2, 'it is asked again');
  }
});

test.serial('a cached key is refused from the instant at which it expires', async (t) => {
  t.teardown(() => service.clock.set(noon));
  const life = await start(t, { clockAdvances: false });
  const victim = await makeVictim();
  const expiresAt = new Date(service.clock.now().getTime() + 10_000);
  await service.deps.db.keys.update({ expiresAt }, { where: { id: victim.keyId } });
  t.true(await life.opensFor(victim.hash));
  service.clock.advance(9_999);
  t.true(await life.opensFor(victim.hash));
  service.clock.advance(1);
  t.false(await life.opensFor(victim.hash));
});

test.serial('after the end of a life a new one begins, with nothing cached from the old one', async (t) => {
  const way = createWay();
  const life = await start(t, { through: way.through });
  const [victim, client] = [await makeVictim(), await service.newClient('free')];
  t.true(await life.opensFor(victim.hash));
  t.truthy((await life.serve(client.accountId, 1)).charge);
  const before = life.heartbeat.life();
  const keysAsked = life.keysAsked();
  way.cut();
  await closeSilent(service, [life]);
  way.mend();
  t.true(await life.opensFor(victim.hash));
  t.true(life.keysAsked() > keysAsked);
  t.not(life.heartbeat.life(), before);
  const asked = life.wantsAsked();
  t.truthy((await life.serve(client.accountId, 1)).charge);
  t.true(life.wantsAsked() > asked);
});
