// The blocks of calls granted to gateways: together they serve exactly the limit; unused calls of one soon move to another that needs them; and the
// calls of a gateway that is gone are freed once.
import { setImmediate as turn } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { QueryTypes } from 'sequelize';
import { closeLives } from '../../accounts-api/heartbeat/blocks.ts';
import { setPlan } from '../../accounts-api/operator/operator.ts';
import { hashApiKey } from '../../kernel/credentials/api-key.ts';
import { Failure } from '../../kernel/errors.ts';
import { closeAfterMs, leaseMs } from '../../kernel/heartbeat/times.ts';
import { until } from '../run/until.ts';
import { startAccountsService, type AccountsService, type Client } from '../services/accounts-service.ts';
import {
  closeSilent,
  createWay,
  isValid,
  newDirectory,
  passSilently,
  startLife,
  type GatewayLife,
  type LifeOptions,
} from './lives.ts';

const limit = 1000; // of the free plan
const november = '2026-11-20T10:00:00.000Z';

let service: AccountsService;
test.before(async () => {
  service = await startAccountsService(november);
});
test.after.always(() => service?.close());

async function start(t: ExecutionContext, options: LifeOptions = {}): Promise<GatewayLife> {
  const life = await startLife(service, { outage: 'closed', ...options });
  t.teardown(async () => {
    life.crash();
    await passSilently(service, [life], leaseMs + 100);
  });
  return life;
}

/** @returns undefined if the call is refused, or cannot be decided. */
const isServed = async (life: GatewayLife, { accountId }: Client, calls: number): Promise<boolean> =>
  (await life.serve(accountId, calls)).charge !== null;

interface MonthRow {
  used: number;
  out: number;
}

/** The stored block. */
async function monthOf({ accountId }: Client, month = '2026-11-01'): Promise<MonthRow> {
  const [row] = await service.deps.db.sequelize.query<MonthRow>(
    'select used::float8 as used, out::float8 as out from accounts.quota_months where account_id = $1 and month = $2',
    { bind: [accountId, month], type: QueryTypes.SELECT },
  );
  return row ?? { used: 0, out: 0 };
}

for (let round = 1; round <= 3; round += 1) {
  test.serial(
    `with three times the remaining calls over three gateways, exactly the remaining ones are served (${round})`,
    async (t) => {
      const client = await service.newClient('free');
      const gateways = [await start(t), await start(t), await start(t)];
      let served = 0;
      const callers = Array.from({ length: 60 }, async (_, i) => {
        const gateway = gateways[i % 3] as GatewayLife;
        for (let calls = 0; calls < 50; calls += 1) {
          if (!(await isServed(gateway, client, 1))) return;
          served += 1;
        }
      });
      await Promise.all(callers);
      t.true(served <= limit);
      // On a busy machine, some calls are not returned in time.
      await until('all is served', async () => {
        for (const gateway of gateways) while (await isServed(gateway, client, 1)) served += 1;
        return served >= limit;
      });
      for (const gateway of gateways) t.false(await isServed(gateway, client, 1));
      for (const gateway of gateways) await gateway.flushJournal();
      t.is(served, limit);
      t.is(await service.used(client), limit);
      t.deepEqual(await monthOf(client), { used: limit, out: 0 });
    },
  );
}

test.serial(
  'calls granted to an idle gateway are recalled for another one that needs all remaining calls',
  async (t) => {
    const client = await service.newClient('free');
    const [idle, other] = [await start(t), await start(t)];
    t.true(await isServed(idle, client, 1));
    t.true((await monthOf(client)).out > 1, 'it holds more');
    // A call waits for them; on a busy machine it is refused before they have arrived, and is retried.
    await until('the other is granted all', () => isServed(other, client, limit - 1));
    t.false(await isServed(idle, client, 1));
  },
);

test.serial(
  'a call waits for the calls that another gateway returns, and asks for them again meanwhile',
  async (t) => {
    const client = await service.newClient('free');
    const other = await start(t, { clockAdvances: false }); // it waits until it is granted them
    const idle = await start(t, {
      async through(message, send) {
        const answer = await send(message);
        if (answer.recalled.length > 0) await until('the other asks again', () => other.wantsAsked() > 4);
        return answer;
      },
    });
    t.true(await isServed(idle, client, 1));
    t.true(await isServed(other, client, limit - 1));
  },
);

test.serial('calls in flight are not recalled', async (t) => {
  const client = await service.newClient('free');
  const [busy, other] = [await start(t), await start(t)];
  const { charge } = await busy.begin(client.accountId, 600);
  await until('the other is granted the rest', () => isServed(other, client, limit - 600));
  t.false(await isServed(other, client, 1));
  charge?.end(true);
  for (const life of [busy, other]) await life.flushJournal();
  t.deepEqual(await monthOf(client), { used: limit, out: 0 });
});

test.serial('a successor with the journal frees the calls of a killed gateway at once', async (t) => {
  const client = await service.newClient('free');
  const killed = await start(t, { journalDirectory: newDirectory() });
  const other = await start(t);
  t.true(await isServed(killed, client, 5));
  t.truthy((await killed.begin(client.accountId, 300)).charge, 'it is cut');
  await turn(); // the served calls are on the disk
  const journalDirectory = killed.crash();
  t.false(await isServed(other, client, limit - 5));
  const successor = await start(t, { journalDirectory });
  await until('the other is granted all', () => isServed(other, client, limit - 5));
  for (const life of [successor, other]) await life.flushJournal();
  t.deepEqual(await monthOf(client), { used: limit, out: 0 });
});

test.serial(
  'calls that were in flight at a killed gateway are freed once, after two minutes, and never counted as usage',
  async (t) => {
    const client = await service.newClient('free');
    const [killed, other] = [await start(t), await start(t)];
    for (let i = 0; i < 10; i += 1) t.true(await isServed(killed, client, 1));
    for (let i = 0; i < 50; i += 1) t.truthy((await killed.begin(client.accountId, 1)).charge);
    await killed.flushJournal();
    killed.crash();
    t.true(await isServed(other, client, 100));
    await passSilently(service, [killed], leaseMs + closeAfterMs - 60_000);
    await closeLives(service.deps);
    t.false(await isServed(other, client, limit - 110), 'they may have been served');
    await other.flushJournal();
    t.is(await service.used(client), 110);
    await closeSilent(service, [killed]);
    t.true(await isServed(other, client, limit - 110));
    await closeLives(service.deps);
    t.false(await isServed(other, client, 1), 'nothing comes back twice');
    await other.flushJournal();
    t.is(await service.used(client), limit);
  },
);

test.serial('a stopping gateway returns its granted calls', async (t) => {
  const client = await service.newClient('free');
  const life = await startLife(service);
  t.true(await isServed(life, client, 3));
  await life.close();
  t.deepEqual(await monthOf(client), { used: 3, out: 0 });
});

for (const outage of ['closed', 'bounded', 'open'] as const) {
  test.serial(`without a lease nothing is drawn or served, with QUOTA_OUTAGE=${outage}`, async (t) => {
    const client = await service.newClient('free');
    const way = createWay();
    const life = await start(t, { outage, through: way.through });
    t.true(await isServed(life, client, 1));
    way.cut();
    t.true(await isServed(life, client, 1), 'it holds some');
    await passSilently(service, [life], leaseMs);
    await t.throwsAsync(life.serve(client.accountId, 1), { message: /temporarily unavailable|broken/ });
    way.mend();
    t.true(await isServed(life, client, 1));
    await life.flushJournal();
    t.is(await service.used(client), 3);
  });
}

for (const [outage, more] of [
  ['closed', 0],
  ['bounded', 100],
  ['open', 1200],
] as const) {
  test.serial(
    `while accounts-api is unavailable a lease serves ${more} calls beyond the granted ones with QUOTA_OUTAGE=${outage}; they are charged afterwards, and the next outage allows them again`,
    async (t) => {
      const client = await service.newClient('free');
      const way = createWay();
      const life = await start(t, { outage, through: way.through, clockAdvances: false });
      t.true(await isServed(life, client, 1));
      let drawable = (await monthOf(client)).out - 1;
      let served = 1;
      for (let time = 1; time <= 2; time += 1) {
        way.cut();
        for (let calls = 0; calls < drawable + more; calls += 1) t.true(await isServed(life, client, 1));
        served += drawable + more;
        if (outage !== 'open') await t.throwsAsync(isServed(life, client, 1));
        way.mend();
        await life.flushJournal();
        t.deepEqual(await monthOf(client), { used: served, out: 0 });
        const isLeft = served < limit;
        t.is(await isServed(life, client, 1), isLeft);
        if (!isLeft) break;
        await life.flushJournal();
        served += 1;
        drawable = (await monthOf(client)).out;
      }
    },
  );
}

test.serial(
  'in an outage no account is served beyond its remaining calls, and no unknown account is served',
  async (t) => {
    const [client, unknown] = [await service.newClient('free'), await service.newClient('free')];
    const way = createWay();
    const life = await start(t, { outage: 'bounded', through: way.through });
    t.true(await isServed(life, client, limit - 30));
    way.cut();
    t.false(await isServed(life, client, 31), 'it is known that fewer are left');
    await t.throwsAsync(isServed(life, unknown, 1));
    t.true(await isServed(life, client, 30));
    way.mend();
    await life.flushJournal();
    t.false(await isServed(life, client, 1));
  },
);

test.serial('a request for calls refused as malformed counts as an outage, as by QUOTA_OUTAGE', async (t) => {
  const client = await service.newClient('free');
  let isRefused = false;
  const life = await start(t, {
    outage: 'open',
    through: (message, send) =>
      send(isRefused && message.wants.length > 0 ? { ...message, month: 'x' } : message),
  });
  isRefused = true;
  t.true(await isServed(life, client, 1));
  isRefused = false;
  await life.flushJournal();
  t.is(await service.used(client), 1);
});

test.serial(
  'a call in flight when the lease ends may be served until the life may be closed, and not after',
  async (t) => {
    const client = await service.newClient('free');
    const way = createWay();
    const life = await start(t, { through: way.through, clockAdvances: false });
    const other = await start(t);
    const { charge } = await life.begin(client.accountId, limit);
    way.cut();
    life.pass(leaseMs - 5_000);
    t.true(life.heartbeat.isLeased());
    life.pass(5_000);
    t.false(life.heartbeat.isLeased());
    t.true(isValid(charge));
    life.pass(closeAfterMs - 5_100);
    t.true(isValid(charge));
    t.is(await closeLives(service.deps), 0);
    t.false(await isServed(other, client, 1));
    life.pass(5_100);
    t.false(isValid(charge));
    await closeSilent(service, [life]);
    t.true(await isServed(other, client, limit));
    way.mend();
    t.false(await isServed(life, client, 1), 'a new life has begun');
    t.false(isValid(charge));
  },
);

test.serial(
  'calls that a life had served before it was closed are charged when reported, even beyond the limit',
  async (t) => {
    const client = await service.newClient('free');
    const way = createWay();
    const [life, other] = [await start(t, { through: way.through }), await start(t)];
    t.true(await isServed(life, client, 300));
    way.cut();
    await closeSilent(service, [life]);
    t.true(await isServed(other, client, limit));
    way.mend();
    for (const each of [life, other]) await each.flushJournal();
    t.deepEqual(await monthOf(client), { used: limit + 300, out: 0 });
    t.false(await isServed(life, client, 1));
  },
);

test.serial(
  'a gateway whose clock is in another month cannot check the quota, and calls no quota used up',
  async (t) => {
    t.teardown(() => service.clock.set(november));
    const client = await service.newClient('free');
    const inJanuary = { ...service, clock: { now: () => new Date('2027-01-01T00:00:00.000Z') } };
    const life = await startLife(inJanuary as AccountsService, { outage: 'closed', clockAdvances: false });
    t.teardown(() => life.crash());
    t.true(await life.opensFor(hashApiKey(client.key)), 'the key is found');
    const error = await t.throwsAsync(life.begin(client.accountId, 1), { instanceOf: Failure });
    t.is(error.code, 'unavailable');
  },
);

test.serial('a call that fails after its month has ended returns its calls to that month', async (t) => {
  t.teardown(() => service.clock.set(november));
  service.clock.set('2026-11-30T23:59:59.000Z'); // so that the life continues
  const client = await service.newClient('free');
  const life = await start(t);
  const { charge } = await life.begin(client.accountId, 5);
  service.clock.set('2026-12-01T00:00:00.000Z');
  t.true(await isServed(life, client, 1));
  await life.flushJournal();
  t.deepEqual(await monthOf(client), { used: 0, out: 5 }, 'all others are returned');
  charge?.end(false);
  await life.flushJournal();
  t.deepEqual(await monthOf(client), { used: 0, out: 0 });
});

test.serial('a month that is used up is refused without asking again, until the plan changes', async (t) => {
  const client = await service.newClient('free');
  const life = await start(t, { clockAdvances: false });
  t.true(await isServed(life, client, limit));
  t.false(await isServed(life, client, 1));
  const asked = life.wantsAsked();
  for (let i = 0; i < 100; i += 1) t.false(await isServed(life, client, 1));
  t.is(life.wantsAsked(), asked);
  await setPlan(service.deps, client.accountId, 'starter');
  t.true(await isServed(life, client, 1));
  await setPlan(service.deps, client.accountId, 'free');
  t.false(await isServed(life, client, 1));
  await life.flushJournal();
  t.is(await service.used(client), limit + 1);
});

test.serial('a lower plan applies at once at gateways with calls granted under the higher one', async (t) => {
  const client = await service.newClient('starter');
  const gateways = [await start(t), await start(t)];
  for (const life of gateways) t.true(await isServed(life, client, 400));
  await setPlan(service.deps, client.accountId, 'free');
  let served = 800;
  await until('all is served', async () => {
    for (const life of gateways) while (await isServed(life, client, 1)) served += 1;
    return served >= limit;
  });
  for (const life of gateways) t.false(await isServed(life, client, 1));
  t.is(served, limit);
});

test.serial(
  'a failed call is available again at once at its gateway, and at another one that needs it',
  async (t) => {
    const client = await service.newClient('free');
    const [one, other] = [await start(t), await start(t)];
    for (let i = 0; i < 3; i += 1) {
      const { charge } = await one.begin(client.accountId, limit);
      t.false(await isServed(one, client, 1));
      charge?.end(false);
    }
    await until('it is spent elsewhere', () => isServed(other, client, limit));
    t.false(await isServed(one, client, 1));
  },
);

test.serial(
  'when a month ends, its granted calls are returned, and the new month has all its calls',
  async (t) => {
    t.teardown(() => service.clock.set(november));
    const client = await service.newClient('free');
    const life = await start(t);
    const { charge } = await life.begin(client.accountId, 5);
    t.true(await isServed(life, client, 2));
    service.clock.set('2026-12-01T00:00:00.000Z');
    t.true(await isServed(life, client, limit));
    t.false(await isServed(life, client, 1));
    charge?.end(true);
    await life.flushJournal();
    t.deepEqual(await monthOf(client), { used: 7, out: 0 });
    t.deepEqual(await monthOf(client, '2026-12-01'), { used: limit, out: 0 });
  },
);
