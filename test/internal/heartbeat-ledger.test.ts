// POST /internal/heartbeat, what it charges: the limit holds at any concurrency, and a batch counts once.
import { randomUUID } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { QueryTypes } from 'sequelize';
import { prune } from '../../accounts-api/housekeeping.sql.ts';
import type { Batch, UsageRow } from '../../kernel/heartbeat/message.ts';
import { setPlan } from '../../accounts-api/operator/operator.ts';
import { selectUsed } from '../../accounts-api/usage/usage.sql.ts';
import { utcMonth } from '../../kernel/clock.ts';
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

interface Grant {
  granted: number;
  limit: number | null;
  used: number;
}

/** A block, as a report names it. */
type BlockId = Pick<Batch['spent'][number], 'life' | 'account_id' | 'month'>;

/** Has calls granted to a new life for each account, for calls under way. */
async function draw(
  ...takes: [client: Pick<Client, 'accountId'>, calls: number][]
): Promise<(Grant & { of: BlockId })[]> {
  const life = randomUUID();
  const of = takes.map(([{ accountId: account_id }]) => ({
    account_id,
    month: utcMonth(service.clock.now()),
  }));
  const wants = takes.map(([, calls], i) => ({ ...(of[i] as (typeof of)[number]), has: 0, calls, ahead: 0 }));
  const { grants } = await service.heartbeats.beat({ life, begins: true, wants });
  // No change of another test is to wait for it.
  await service.deps.db.sequelize.query(
    'update accounts.gateways set leased_until = clock_timestamp() where life = $1',
    { bind: [life] },
  );
  return grants.map(({ granted, elsewhere, limit }, i) => ({
    ...{ granted, limit, used: elsewhere + granted, of: { life, ...(of[i] as (typeof of)[number]) } },
  }));
}

/** The same, and reports that all of them were served. */
async function serve(...takes: [client: Pick<Client, 'accountId'>, calls: number][]): Promise<Grant[]> {
  const grants = await draw(...takes);
  await report({ spent: grants.map(({ of, granted }) => ({ ...of, calls: granted, returned: 0 })) });
  return grants.map(({ granted, limit, used: usedThen }) => ({ granted, limit, used: usedThen }));
}

const report = (batch: Partial<Batch>) => service.heartbeats.report(batch);

const month = '2026-11-01';
const used = (client: Client) => selectUsed(service.deps.db, client.accountId, month);

/** What the month was charged, with what is out. */
async function charged({ accountId }: Client): Promise<number> {
  const [row] = await service.deps.db.sequelize.query<{ used: number }>(
    'select (used + out)::float8 as used from accounts.quota_months where account_id = $1 and month = $2',
    { bind: [accountId, month], type: QueryTypes.SELECT },
  );
  return row?.used ?? 0;
}

function usageOf(client: Client, calls: number, more: Partial<UsageRow> = {}): UsageRow {
  return {
    account_id: client.accountId,
    key_id: client.keyId,
    day: '2026-11-20',
    endpoint: 'series',
    status_class: 2,
    calls,
    billed: calls,
    ...more,
  };
}

async function ledger(client: Client): Promise<{ calls: number; billed: number }> {
  const rows = await service.deps.db.sequelize.query<{ calls: number; billed: number }>(
    `select coalesce(sum(calls), 0)::int as calls, coalesce(sum(billed), 0)::int as billed
     from accounts.usage_daily where account_id = $1`,
    { bind: [client.accountId], type: QueryTypes.SELECT },
  );
  return rows[0] ?? { calls: -1, billed: -1 };
}

async function lastUsed(client: Client): Promise<string | undefined> {
  return (await service.deps.db.keys.findByPk(client.keyId))?.lastUsedAt?.toISOString();
}

test('a take is charged at once, and what is over the limit is not granted', async (t) => {
  const client = await service.newClient();
  t.deepEqual(await serve([client, 998]), [{ granted: 998, limit: 1000, used: 998 }]);
  t.deepEqual(await serve([client, 3]), [{ granted: 2, limit: 1000, used: 1000 }]);
  t.deepEqual(await serve([client, 1]), [{ granted: 0, limit: 1000, used: 1000 }]);
  t.is(await used(client), 1000);
});

test('grants come in the order of the takes; an unknown and a disabled account get nothing', async (t) => {
  const [one, two, three] = [
    await service.newClient(),
    await service.newClient('starter'),
    await service.newClient(),
  ];
  await service.deps.db.accounts.update({ status: 'disabled' }, { where: { id: three.accountId } });
  const unknown = { accountId: 'acct_unknown', keyId: 'key_unknown' };
  const grants = await serve([two, 5], [unknown, 5], [one, 7], [three, 9]);
  t.deepEqual(
    grants.map((grant) => [grant.granted, grant.limit]),
    [
      [5, 25_000],
      [0, 0],
      [7, 1000],
      [0, 0],
    ],
  );
  t.is(await used(three), 0);
});

test('200 takers of 1 to 20 calls at once get exactly the limit, and never more', async (t) => {
  for (let round = 0; round < 3; round += 1) {
    const client = await service.newClient();
    const asked = Array.from({ length: 200 }, (_, i) => 1 + ((i * 7 + round) % 20));
    t.true(asked.reduce((sum, calls) => sum + calls, 0) > 1000);
    const grants = await Promise.all(asked.map((calls) => serve([client, calls])));
    const granted = grants.flat().reduce((sum, grant) => sum + grant.granted, 0);
    t.is(granted, 1000);
    t.is(await used(client), 1000);
  }
});

test('whatever batches arrive at once, each account is granted the less of what was asked and its limit', async (t) => {
  const batch = fc.uniqueArray(fc.tuple(fc.nat(4), fc.integer({ min: 1, max: 400 })), {
    selector: ([account]) => account,
    minLength: 1,
    maxLength: 5,
  });
  const plans = ['free', 'free', 'free', 'starter', 'enterprise'];
  await fc.assert(
    fc.asyncProperty(fc.array(batch, { minLength: 4, maxLength: 16 }), async (batches) => {
      const clients: Client[] = [];
      for (const plan of plans) clients.push(await service.newClient(plan));
      const client = (index: number) => clients[index] as Client;
      // Batches name the accounts in any order: the service locks them in one.
      const grants = await Promise.all(
        batches.map((takes) =>
          serve(...takes.map(([index, calls]): [Client, number] => [client(index), calls])),
        ),
      );
      for (const [index, plan] of plans.entries()) {
        const limit = service.deps.plans.get(plan)?.calls_month ?? Infinity;
        let asked = 0;
        let granted = 0;
        for (const [b, takes] of batches.entries()) {
          for (const [i, [account, calls]] of takes.entries()) {
            if (account !== index) continue;
            asked += calls;
            granted += grants[b]?.[i]?.granted ?? Number.NaN;
          }
        }
        t.is(granted, Math.min(asked, limit));
        t.is(await used(client(index)), granted);
      }
    }),
    { numRuns: propertyRuns(12) },
  );
});

test('takes and settles of the same accounts at once neither deadlock nor lose a call', async (t) => {
  const clients: Client[] = [];
  for (let i = 0; i < 4; i += 1) clients.push(await service.newClient('pro'));
  const work = Array.from({ length: 60 }, async (_, i) => {
    const order = i % 2 === 0 ? clients : clients.toReversed();
    const grants = await draw(...order.map((client): [Client, number] => [client, 10]));
    t.true(grants.every((grant) => grant.granted === 10));
    const answer = await report({
      usage: order.map((client) => usageOf(client, 10, { billed: 7, day: `2026-11-${10 + (i % 3)}` })),
      spent: grants.map(({ of }) => ({ ...of, calls: 7, returned: i % 4 })),
      last_used: order.map((client) => ({ key_id: client.keyId, at: '2026-11-20T09:59:00.000Z' })),
    });
    t.is(answer.status, 200);
  });
  await Promise.all(work);
  for (const client of clients) {
    t.is(await used(client), 420);
    t.deepEqual(await ledger(client), { calls: 600, billed: 420 }); // the month can be counted again from the ledger
    t.is(await charged(client), 420 + 90, 'and what is neither served nor returned');
  }
});

test('concurrent settles that bill some accounts, note others and charge yet others never deadlock', async (t) => {
  const clients: Client[] = [];
  for (let i = 0; i < 5; i += 1) clients.push(await service.newClient('pro'));
  await serve(...clients.map((client): [Client, number] => [client, 1_000]));
  const statuses = await Promise.all(
    Array.from({ length: 200 }, async (_, i) => {
      const at = (j: number) => clients[(i + j) % clients.length] as Client;
      const answer = await report({
        usage: [
          usageOf(at(0), 1),
          ...clients.map((client) => usageOf(client, 1, { status_class: 4, billed: 0 })),
        ],
        charges: [{ account_id: at(2).accountId, month, calls: 1 }],
      });
      return answer.status;
    }),
  );
  t.deepEqual([...new Set(statuses)], [200]);
  for (const client of clients) {
    t.is(await used(client), 1040);
    t.deepEqual(await ledger(client), { calls: 240, billed: 40 });
  }
});

test('an unlimited plan is granted all it asks for, and still counted', async (t) => {
  const client = await service.newClient('enterprise');
  t.like((await serve([client, 1_000_000]))[0], { granted: 1_000_000, limit: null, used: 1_000_000 });
  t.like((await serve([client, 1]))[0], { granted: 1, used: 1_000_001 });
});

test('a changed plan applies to the next take, upwards and downwards', async (t) => {
  const client = await service.newClient('free');
  t.like((await serve([client, 2000]))[0], { granted: 1000 });
  await setPlan(service.deps, client.accountId, 'starter');
  t.like((await serve([client, 2000]))[0], { granted: 2000, limit: 25_000, used: 3000 });
  await setPlan(service.deps, client.accountId, 'free');
  t.like((await serve([client, 1]))[0], { granted: 0, limit: 1000, used: 3000 });
});

test.serial(
  'a month begins at midnight UTC with the whole limit, and the old month keeps its count',
  async (t) => {
    const client = await service.newClient();
    service.clock.set('2026-11-30T23:59:59.999Z');
    try {
      const [drawn] = await draw([client, 1000]);
      t.like(drawn, { granted: 1000 });
      t.like((await serve([client, 1]))[0], { granted: 0 });
      service.clock.advance(1);
      t.like((await serve([client, 5]))[0], { granted: 5, used: 5 });
      // A call that was charged in November and failed in December is given back to November.
      if (drawn !== undefined) await report({ spent: [{ ...drawn.of, calls: 999, returned: 1 }] });
      t.is(await used(client), 999);
      t.is(await charged(client), 999);
      t.is(await selectUsed(service.deps.db, client.accountId, '2026-12-01'), 5);
    } finally {
      service.clock.set('2026-11-20T10:00:00.000Z');
    }
  },
);

test('a batch that is settled again changes nothing, not even ten times at once', async (t) => {
  const client = await service.newClient();
  const grants = await draw([client, 10]);
  const batch: Partial<Batch> = {
    batch_id: randomUUID(),
    usage: [usageOf(client, 10, { billed: 6 })],
    spent: grants.map(({ of }) => ({ ...of, calls: 6, returned: 4 })),
    last_used: [{ key_id: client.keyId, at: '2026-11-20T09:00:00.000Z' }],
  };
  const answers = await Promise.all(Array.from({ length: 10 }, () => report(batch)));
  answers.push(
    await report({ ...batch, last_used: [{ key_id: client.keyId, at: '2026-11-20T09:30:00.000Z' }] }),
  );
  for (const answer of answers) t.is(answer.status, 200);
  t.is(await used(client), 6);
  t.is(await charged(client), 6);
  t.deepEqual(await ledger(client), { calls: 10, billed: 6 });
  t.is(await lastUsed(client), '2026-11-20T09:00:00.000Z');
});

test('entries of one batch about the same thing are added up', async (t) => {
  const client = await service.newClient();
  const spent = (await draw([client, 9])).map(({ of }) => ({ ...of, calls: 2, returned: 1 }));
  await report({ usage: [usageOf(client, 2), usageOf(client, 3)], spent: [...spent, ...spent] });
  t.deepEqual(await ledger(client), { calls: 5, billed: 5 });
  t.is(await used(client), 4);
  t.is(await charged(client), 7);
});

test('at most what is out of a block is returned; calls of an unknown block are used, as they were served', async (t) => {
  const client = await service.newClient();
  const spent = (await draw([client, 2])).map(({ of }) => ({ ...of, calls: 1, returned: 5 }));
  const other = { ...{ account_id: client.accountId, life: randomUUID() }, calls: 1, returned: 5 };
  const answer = await report({
    spent: [
      ...spent,
      { ...other, month },
      { ...other, month: '2026-10-01' },
      { ...other, month, account_id: 'acct_unknown' },
    ],
  });
  t.is(answer.status, 200);
  t.is(await used(client), 2);
  t.is(await charged(client), 2);
  t.like((await serve([client, 1001]))[0], { granted: 998 });
});

test('the last use of a key moves forward only, at most once a minute, and never into the future', async (t) => {
  const client = await service.newClient();
  const use = (...instants: string[]) =>
    report({ last_used: instants.map((at) => ({ key_id: client.keyId, at })) });
  await use('2026-11-20T09:00:00.000Z');
  t.is(await lastUsed(client), '2026-11-20T09:00:00.000Z');
  await use('2026-11-20T09:00:59.999Z');
  t.is(await lastUsed(client), '2026-11-20T09:00:00.000Z');
  await use('2026-11-20T08:00:00.000Z', '2026-11-20T09:01:00.000Z');
  t.is(await lastUsed(client), '2026-11-20T09:01:00.000Z');
  await use('2026-11-20T08:00:00.000Z');
  t.is(await lastUsed(client), '2026-11-20T09:01:00.000Z');
  await use('2031-01-01T00:00:00.000Z');
  t.is(await lastUsed(client), '2026-11-20T10:00:00.000Z');
});

test.serial('a settled batch is deleted after a week, not before', async (t) => {
  const client = await service.newClient();
  const batch: Partial<Batch> = { batch_id: randomUUID(), usage: [usageOf(client, 1)] };
  await report(batch);
  await prune(service.deps.db, new Date('2026-11-27T10:00:00.000Z'));
  await report(batch);
  t.deepEqual(await ledger(client), { calls: 1, billed: 1 });
  await prune(service.deps.db, new Date('2026-11-27T10:00:00.001Z'));
  await report(batch);
  t.deepEqual(await ledger(client), { calls: 2, billed: 2 });
});

test('a batch as large as after an outage is settled whole', async (t) => {
  const client = await service.newClient('pro');
  const usage = Array.from({ length: 10_000 }, (_, i) => usageOf(client, 1, { endpoint: `endpoint-${i}` }));
  t.is((await report({ usage })).status, 200);
  t.deepEqual(await ledger(client), { calls: 10_000, billed: 10_000 });
});

for (const [what, batch, message] of [
  [
    'more billed than called',
    { usage: [{ calls: 1, billed: 2 }] },
    '"batch.usage.1" must not bill more calls than there were.',
  ],
  [
    'a day that does not exist',
    { usage: [{ day: '2026-02-30' }] },
    '"batch.usage.1.day" must be a date, YYYY-MM-DD, that exists.',
  ],
  ['an invalid class', { usage: [{ status_class: 6 }] }],
  ['an endpoint without a name', { usage: [{ endpoint: '' }] }],
  ['a field that is not known', { usage: [{ plan: 'free' }] }],
  ['more than a billion calls', { usage: [{ calls: 1_000_000_001, billed: 0 }] }],
  ['a negative charge', { charges: [{ account_id: 'acct_x', month, calls: -1 }] }],
  [
    'a month that begins on its second day',
    { charges: [{ account_id: 'acct_x', month: '2026-11-02', calls: 1 }] },
    '"batch.charges.0.month" must be the first day of a month.',
  ],
  ['an id that is no UUID', { batch_id: '1' }],
] as const) {
  test(`a batch with ${what} is refused whole`, async (t) => {
    const client = await service.newClient();
    const usage = 'usage' in batch ? batch.usage.map((entry) => ({ ...usageOf(client, 1), ...entry })) : [];
    const answer = await report({ ...batch, usage: [usageOf(client, 1), ...usage] } as Partial<Batch>);
    const error = assertError(t, answer, 400, 'invalid_body');
    if (message !== undefined) t.is(error.message, message);
    t.deepEqual(await ledger(client), { calls: 0, billed: 0 });
  });
}
