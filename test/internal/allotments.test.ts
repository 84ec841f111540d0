// POST /internal/quota/top-up, and the allotments that it fills: each top-up is charged once, and the rest of a closed allotment
// is refunded only after every gateway has had time to report what it has served.
import { randomUUID } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { QueryTypes } from 'sequelize';
import { setPlan } from '../../accounts-api/operator/operator.ts';
import { reclaimLostAllotments } from '../../accounts-api/quota/allotments.ts';
import { selectUsed } from '../../accounts-api/usage/usage.sql.ts';
import { until } from '../run/until.ts';
import { propertyRuns } from '../run/property-runs.ts';
import {
  assertError,
  startAccountsService,
  type AccountsService,
  type Client,
} from '../services/accounts-service.ts';

let service: AccountsService;
test.before(async () => {
  service = await startAccountsService('2026-11-20T10:00:00.000Z');
});
test.after.always(() => service.close());

const month = '2026-11-01';
const limit = 1000;

interface Question {
  allotment: string;
  /** All that was ever granted to the allotment, as far as who asks knows. */
  seen: number;
  calls: number;
  holder?: 'redis' | 'process';
  ahead?: number;
}

interface Filled {
  granted: number;
  elsewhere: number;
  limit: number | null;
  closed: boolean;
  held: boolean;
}

async function topUp(
  { accountId }: Client,
  { allotment, holder = 'redis', ahead = 1000, ...asked }: Question,
  of: string = month,
): Promise<Filled> {
  const topUps = [{ account_id: accountId, month: of, allotment_id: allotment, holder, ahead, ...asked }];
  const { status, body } = await service.internally('/internal/quota/top-up', { top_ups: topUps });
  if (status !== 200) throw new Error(`The top-up was answered ${status}: ${JSON.stringify(body)}`);
  return (body as { allotments: [Filled] }).allotments[0];
}

/** Reports calls of an allotment that were served, and calls that are returned unused. */
async function report(client: Client, allotment: string, calls: number, returned = 0): Promise<void> {
  const spent = [{ account_id: client.accountId, month, allotment_id: allotment, calls, returned }];
  const batch = { batch_id: randomUUID(), usage: [], spent, last_used: [] };
  const answer = await service.internally('/internal/quota/settle', batch);
  if (answer.status !== 200) throw new Error(`The batch was answered ${answer.status}.`);
}

/** What the month was charged, allotments included. */
async function charged({ accountId }: Client): Promise<number> {
  const [row] = await service.deps.db.sequelize.query<{ used: number }>(
    'select used::float8 as used from accounts.quota_months where account_id = $1 and month = $2',
    { bind: [accountId, month], type: QueryTypes.SELECT },
  );
  return row?.used ?? 0;
}

test('a repeated top-up, concurrent or later, is charged once and answered the same', async (t) => {
  const asked = fc.record({ calls: fc.integer({ min: 1, max: 300 }), times: fc.integer({ min: 1, max: 4 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(asked, { minLength: 1, maxLength: 6 }), async (questions) => {
      const client = await service.newClient('free');
      const allotment = randomUUID();
      let seen = 0;
      for (const { calls, times } of questions) {
        const ask = () => topUp(client, { allotment, seen, calls });
        const first = await ask();
        for (const again of [await ask(), ...(await Promise.all(Array.from({ length: times }, ask)))]) {
          t.deepEqual(again, first);
        }
        t.is(await charged(client), first.granted);
        t.true(first.granted <= limit);
        t.true(first.granted === limit || first.granted >= seen + calls, 'what is lacking is granted');
        seen = first.granted;
      }
    }),
    { numRuns: propertyRuns(8) },
  );
});

test('concurrent top-ups of the same new allotment are each granted what they lack, and the month is charged what the allotment holds', async (t) => {
  const client = await service.newClient('free');
  const allotment = randomUUID();
  const asked = [40, 300, 120, 7, 300];
  const answers = await Promise.all(asked.map((calls) => topUp(client, { allotment, seen: 0, calls })));
  for (const [i, calls] of asked.entries()) t.true((answers[i]?.granted ?? 0) >= calls);
  const holds = Math.max(...answers.map(({ granted }) => granted));
  t.is(await charged(client), holds);
  t.true(holds <= limit);
});

test('a new allotment closes the previous one, which is no longer topped up and answers that it is closed', async (t) => {
  const client = await service.newClient('free');
  const [lost, next] = [randomUUID(), randomUUID()];
  t.like(await topUp(client, { allotment: lost, seen: 0, calls: 400 }), { granted: 400, closed: false });
  t.like(await topUp(client, { allotment: next, seen: 0, calls: 100 }), {
    granted: 100,
    elsewhere: 400,
    closed: false,
  });
  t.like(await topUp(client, { allotment: lost, seen: 400, calls: 50 }), { granted: 400, closed: true });
  t.is(await charged(client), 500);
  t.like(await topUp(client, { allotment: next, seen: 100, calls: 50 }), { granted: 150, closed: false });
});

/** An allotment of so many calls whose Redis was lost: another has taken its place. */
async function loseAllotment(client: Client, calls: number): Promise<{ lost: string; next: string }> {
  const [lost, next] = [randomUUID(), randomUUID()];
  await topUp(client, { allotment: lost, seen: 0, calls });
  await topUp(client, { allotment: next, seen: 0, calls: 1 });
  return { lost, next };
}

async function isReclaimed(t: ExecutionContext, client: Client, expected: boolean, was: number) {
  await reclaimLostAllotments(service.deps);
  if (expected) t.true((await charged(client)) < was);
  else t.is(await charged(client), was);
}

test.serial(
  'what a closed allotment holds stays charged for a minute and a half, while gateways may still report what they served',
  async (t) => {
    const client = await service.newClient('free');
    const { lost, next } = await loseAllotment(client, 600);
    const before = await charged(client);
    await isReclaimed(t, client, false, before);
    // A gateway that has not told yet has served from it; nobody may be granted these calls again meanwhile.
    const { granted } = await topUp(client, { allotment: next, seen: 0, calls: limit });
    t.is(granted, limit - 600);
    service.clock.advance(90_000);
    await isReclaimed(t, client, false, limit);
    await report(client, lost, 450);
    service.clock.advance(1);
    await isReclaimed(t, client, true, limit);
    t.is(await charged(client), limit - 600 + 450);
    t.is(await selectUsed(service.deps.db, client.accountId, month), 450);
    t.is(await reclaimLostAllotments(service.deps), 0, 'it comes back once');
    t.is(await charged(client), limit - 600 + 450);
  },
);

test.serial(
  'calls that are reported as served after their allotment was reclaimed are charged then',
  async (t) => {
    const client = await service.newClient('free');
    const { lost } = await loseAllotment(client, 600);
    await report(client, lost, 100);
    service.clock.advance(90_001);
    await reclaimLostAllotments(service.deps);
    const base = (await charged(client)) - 100;
    for (const [calls, used] of [
      [150, 250],
      [350, 600],
    ] as const) {
      await report(client, lost, calls, 7); // what is returned has come back already
      t.is(await charged(client), base + used);
      t.is(await selectUsed(service.deps.db, client.accountId, month), used);
    }
  },
);

test('a top-up grants what is lacking, or up to a fiftieth of what is left and at most a thousand, and never more than is left', async (t) => {
  const client = await service.newClient('pro'); // 250,000 a month
  const allotment = randomUUID();
  t.like(await topUp(client, { allotment, seen: 0, calls: 1 }), { granted: 1000, limit: 250_000 });
  t.like(await topUp(client, { allotment, seen: 1000, calls: 2000 }), { granted: 3000 });
  t.like(await topUp(client, { allotment, seen: 3000, calls: 246_000 }), { granted: 249_000 });
  t.like(await topUp(client, { allotment, seen: 249_000, calls: 1 }), { granted: 249_020 });
  t.like(await topUp(client, { allotment, seen: 249_020, calls: 5000 }), { granted: 250_000 });
  t.like(await topUp(client, { allotment, seen: 250_000, calls: 1 }), { granted: 250_000 });
  const unlimited = await service.newClient('enterprise');
  t.like(await topUp(unlimited, { allotment, seen: 0, calls: 1 }), { granted: 1000, limit: null });
  t.like(await topUp(unlimited, { allotment, seen: 1000, calls: 5000 }), { granted: 6000, limit: null });
});

test('a gateway that draws at once is granted what is lacking, or what it requests ahead within a fiftieth of what is left', async (t) => {
  const client = await service.newClient('free');
  const ask = (seen: number, calls: number, ahead: number) =>
    topUp(client, { allotment: 'a', holder: 'process', seen, calls, ahead });
  t.like(await ask(0, 3, 0), { granted: 3 });
  t.like(await ask(3, 1, 12), { granted: 15 });
  t.like(await ask(15, 1, 500), { granted: 15 + 19 });
  t.is(await charged(client), 34);
});

test('allotments in processes coexist with each other and with the one in Redis; none closes another', async (t) => {
  const client = await service.newClient('free');
  const ask = (allotment: string, holder: 'redis' | 'process', seen = 0) =>
    topUp(client, { allotment, holder, seen, calls: 10, ahead: 0 });
  for (const [i, [id, holder]] of (
    [
      ['a', 'process'],
      ['r', 'redis'],
      ['b', 'process'],
    ] as const
  ).entries()) {
    t.like(await ask(id, holder), { granted: 10, elsewhere: 10 * i, closed: false });
  }
  t.like(await ask('a', 'process', 10), { granted: 20, elsewhere: 20, closed: false });
  t.like(await ask('r', 'redis', 10), { granted: 20, closed: false });
  t.like(await ask('s', 'redis'), { granted: 10, closed: false });
  t.like(await ask('r', 'redis', 20), { closed: true });
  t.like(await ask('b', 'process', 10), { granted: 20, closed: false });
});

test('returned calls are refunded to the month, and what was ever granted still counts them', async (t) => {
  const client = await service.newClient('free');
  const allotment = randomUUID();
  await topUp(client, { allotment, holder: 'process', seen: 0, calls: 100 });
  await report(client, allotment, 20, 30);
  t.is(await charged(client), 70);
  await report(client, allotment, 30, 15);
  t.is(await charged(client), 55);
  t.is(await service.used(client), 50);
  // The holder has drawn 50 of 100, returned 45, and lacks 10 beyond 5.
  t.like(await topUp(client, { allotment, holder: 'process', seen: 100, calls: 10, ahead: 0 }), {
    granted: 110,
    elsewhere: 0,
  });
  t.is(await charged(client), 65);
});

test.serial(
  'a top-up says that other gateways hold calls as long as they may return them; calls that they served do not count',
  async (t) => {
    const client = await service.newClient('free');
    const ask = (allotment: string, holder: 'redis' | 'process', seen: number, calls: number) =>
      topUp(client, { allotment, holder, seen, calls, ahead: 0 });
    t.like(await ask('a', 'process', 0, 600), { held: false });
    t.like(await ask('b', 'process', 0, 300), { granted: 300, held: true });
    t.like(await ask('r', 'redis', 0, 300), { granted: 100, held: true });
    await report(client, 'b', 300);
    t.like(await ask('r', 'redis', 100, 1), { granted: 100, held: true });
    t.like(await ask('b', 'process', 300, 1), { granted: 300, held: true });
    t.like(await ask('a', 'process', 600, 1), { granted: 600, held: false }); // it holds them itself, and Redis returns nothing
    await report(client, 'a', 590, 10);
    t.like(await ask('r', 'redis', 100, 1), { granted: 101, held: false });
    t.is(await charged(client), limit - 10 + 1);
    const other = await service.newClient('free');
    const askOther = () => topUp(other, { allotment: 'd', holder: 'redis', seen: 0, calls: 1 });
    await topUp(other, { allotment: 'c', holder: 'process', seen: 0, calls: limit });
    service.clock.advance(90_000);
    t.like(await askOther(), { granted: 0, held: true }, 'a call may be under way for long');
    service.clock.advance(1);
    await reclaimLostAllotments(service.deps);
    t.like(await askOther(), { held: false });
  },
);

async function renew(client: Client, ...allotments: string[]): Promise<string[]> {
  const asked = allotments.map((allotment_id) => ({ account_id: client.accountId, month, allotment_id }));
  const { status, body } = await service.internally('/internal/quota/renew', { allotments: asked });
  if (status !== 200) throw new Error(`The renewal was answered ${status}.`);
  return (body as { open: string[] }).open;
}

test.serial(
  'what the gateway of an allotment in a process has not served comes back a minute and a half after it was last seen, and can no longer be drawn',
  async (t) => {
    const client = await service.newClient('free');
    const allotment = randomUUID();
    await topUp(client, { allotment, holder: 'process', seen: 0, calls: 300 });
    service.clock.advance(90_000);
    await topUp(client, { allotment, holder: 'process', seen: 300, calls: 300 });
    service.clock.advance(90_000);
    t.deepEqual(await renew(client, allotment, 'unknown'), [allotment]);
    await report(client, allotment, 450);
    service.clock.advance(90_000);
    await isReclaimed(t, client, false, 600);
    service.clock.advance(1);
    await isReclaimed(t, client, true, 600);
    t.is(await charged(client), 450);
    t.deepEqual(await renew(client, allotment), [], 'it is closed');
    await report(client, allotment, 50, 100); // late
    t.is(await charged(client), 500);
    t.like(await topUp(client, { allotment, holder: 'process', seen: 600, calls: 1 }), { closed: true });
    t.is(await charged(client), 500);
  },
);

test.serial(
  'an empty allotment in a process stays open, however long there is no call to draw from it',
  async (t) => {
    const client = await service.newClient('free');
    const allotment = randomUUID();
    await topUp(client, { allotment, holder: 'process', seen: 0, calls: 5, ahead: 0 });
    await report(client, allotment, 3, 2);
    service.clock.advance(3_600_000);
    await reclaimLostAllotments(service.deps);
    const asked = { allotment, holder: 'process', seen: 5, calls: 1, ahead: 0 } as const;
    t.like(await topUp(client, asked), { granted: 6, closed: false });
  },
);

test('an account that is disabled is granted nothing, and a changed plan is in force on the next top-up', async (t) => {
  const client = await service.newClient('free');
  const allotment = randomUUID();
  t.like(await topUp(client, { allotment, seen: 0, calls: 5000 }), { granted: limit, limit });
  await setPlan(service.deps, client.accountId, 'starter');
  t.like(await topUp(client, { allotment, seen: limit, calls: 500 }), { granted: 1500, limit: 25_000 });
  await service.deps.db.accounts.update({ status: 'disabled' }, { where: { id: client.accountId } });
  t.like(await topUp(client, { allotment, seen: 1500, calls: 1 }), { granted: 0, limit: 0, closed: false });
  t.is(await charged(client), 1500);
});

test.serial(
  'a month is topped up only while it is current, with a tolerance of a minute for clock differences',
  async (t) => {
    const client = await service.newClient('free');
    const december = '2026-12-01';
    const ask = (of: string) => topUp(client, { allotment: randomUUID(), seen: 0, calls: 1 }, of);
    t.teardown(() => service.clock.set('2026-11-20T10:00:00.000Z'));
    service.clock.set('2026-11-30T23:58:59.999Z');
    t.is((await ask(december)).granted, 0);
    t.true((await ask(month)).granted > 0);
    service.clock.advance(1);
    t.true((await ask(december)).granted > 0);
    service.clock.set('2026-12-01T00:00:59.999Z');
    t.true((await ask(month)).granted > 0);
    service.clock.advance(1);
    t.is((await ask(month)).granted, 0);
    t.true((await ask(december)).granted > 0);
  },
);

test.serial('accounts-api reclaims allotments by itself', async (t) => {
  const client = await service.newClient('free');
  await topUp(client, { allotment: randomUUID(), holder: 'process', seen: 0, calls: 5, ahead: 0 });
  t.is(await charged(client), 5);
  service.clock.advance(90_001);
  await until('it has come back', async () => (await charged(client)) === 0);
});

test.serial('a locked month does not delay the reclaiming of others, and takes no connection', async (t) => {
  const stuck = await service.newClient('free');
  await topUp(stuck, { allotment: randomUUID(), holder: 'process', seen: 0, calls: 5, ahead: 0 });
  const { sequelize } = service.deps.db;
  await sequelize.transaction(async (transaction) => {
    await sequelize.query('select from accounts.quota_months where account_id = $1 for update', {
      bind: [stuck.accountId],
      transaction,
    });
    for (let round = 0; round < 3; round += 1) {
      const other = await service.newClient('free');
      await topUp(other, { allotment: randomUUID(), holder: 'process', seen: 0, calls: 5, ahead: 0 });
      service.clock.advance(90_001);
      await until('it has come back', async () => (await charged(other)) === 0);
    }
    const waiting = await sequelize.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      { type: QueryTypes.SELECT },
    );
    t.is(waiting.length, 0);
    t.is(await charged(stuck), 5);
  });
  await until('it has come back too', async () => (await charged(stuck)) === 0);
});

test('a top-up that names an account twice, or requests nothing, is refused whole', async (t) => {
  const client = await service.newClient('free');
  const id = { account_id: client.accountId, month, allotment_id: randomUUID() };
  const one = { ...id, holder: 'redis', seen: 0, calls: 1, ahead: 0 };
  for (const topUps of [
    [one, one],
    [{ ...one, calls: 0 }],
    [{ ...one, seen: -1 }],
    [{ ...one, month: 'x' }],
    [{ ...one, holder: 'nobody' }],
    [{ ...one, ahead: -1 }],
  ]) {
    assertError(
      t,
      await service.internally('/internal/quota/top-up', { top_ups: topUps }),
      400,
      'invalid_body',
    );
  }
  const twice = await service.internally('/internal/quota/top-up', { top_ups: [one, one] });
  t.is(assertError(t, twice, 400, 'invalid_body').message, '"top_ups": must name an account once.');
  t.is(await charged(client), 0);
});

test.serial('allotments reclaimed long ago do not delay the reclaiming of another', async (t) => {
  const client = await service.newClient('free');
  await service.take(client, 1); // the month has a row
  await service.deps.db.sequelize.query(
    `insert into accounts.quota_allotments (account_id, month, allotment_id, granted, spent, closed_at, reclaimed_at)
     select $1, $2, '000-' || n, 0, 0, $3::timestamptz, $3 from generate_series(1, 600) as n`,
    { bind: [client.accountId, month, new Date(service.clock.now().getTime() - 3_600_000)] },
  );
  await loseAllotment(client, 200);
  // So that they are read first, as in a table that has grown with time.
  await service.deps.db.sequelize.query('cluster accounts.quota_allotments using quota_allotments_pkey');
  const before = await charged(client);
  service.clock.advance(90_001);
  await isReclaimed(t, client, true, before);
  t.is(await charged(client), before - 200);
});
