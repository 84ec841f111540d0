// /v1/usage and /v1/usage/history: settled calls, with the same counts in every view, and only those of the own account.
import test from 'ava';
import type { Group, HistoryRow, Interval } from '../../accounts-api/usage/usage.sql.ts';
import {
  assertError,
  dataOf,
  startAccountsService,
  type AccountsService,
  type Client,
} from '../services/accounts-service.ts';

let service: AccountsService;

test.before(async () => {
  service = await startAccountsService('2026-11-20T10:00:00.000Z');
});
test.after.always(() => service.close());

/** Reserves and settles calls like the gateway: those answered 2xx are charged. */
async function serve(
  client: Client,
  calls: { day: string; endpoint: string; status_class: number; calls: number }[],
): Promise<void> {
  const usage = calls.map((entry) => ({
    account_id: client.accountId,
    key_id: client.keyId,
    ...entry,
    billed: entry.status_class === 2 ? entry.calls : 0,
  }));
  await service.charge(
    client,
    usage.reduce((sum, entry) => sum + entry.billed, 0),
  );
  await service.heartbeats.report({ usage });
}

async function history(
  client: Client,
  query: { interval?: Interval; by?: Group; from?: string; to?: string },
) {
  const answer = await service.as(client, `/v1/usage/history?${new URLSearchParams(query).toString()}`);
  return (answer.body as { data: HistoryRow[] }).data;
}

test('a new account has used nothing of its limit', async (t) => {
  const client = await service.newClient();
  t.deepEqual(dataOf(t, await service.as(client, '/v1/usage')), {
    month: '2026-11-01',
    plan: 'free',
    used: 0,
    limit: 1000,
    remaining: 1000,
    resets_at: '2026-12-01T00:00:00Z',
    by_key: [],
    by_endpoint: [],
  });
});

test('the usage of this month is the sum of its settled calls, by key and by endpoint; failed calls cost nothing', async (t) => {
  const client = await service.newClient();
  await serve(client, [
    { day: '2026-11-20', endpoint: 'series', status_class: 2, calls: 7 },
    { day: '2026-11-20', endpoint: 'series', status_class: 4, calls: 2 },
    { day: '2026-11-20', endpoint: 'funds', status_class: 2, calls: 3 },
  ]);
  const usage = dataOf(t, await service.as(client, '/v1/usage')) as { by_key: object[] };
  t.like(usage, { used: 10, remaining: 990 });
  t.like(usage.by_key[0], { key_id: client.keyId, name: 'first', calls: 12, billed: 10 });
  t.like(usage, {
    by_endpoint: [
      { endpoint: 'series', calls: 9, billed: 7 },
      { endpoint: 'funds', calls: 3, billed: 3 },
    ],
  });
});

test('an unlimited plan has neither limit nor remainder', async (t) => {
  const client = await service.newClient('enterprise');
  await serve(client, [{ day: '2026-11-20', endpoint: 'series', status_class: 2, calls: 5000 }]);
  t.like(dataOf(t, await service.as(client, '/v1/usage')), { used: 5000, limit: null, remaining: null });
});

test('after a change to a smaller plan the remainder is zero, not negative', async (t) => {
  const client = await service.newClient('starter');
  await serve(client, [{ day: '2026-11-20', endpoint: 'series', status_class: 2, calls: 3000 }]);
  await service.deps.db.accounts.update({ plan: 'free' }, { where: { id: client.accountId } });
  t.like(dataOf(t, await service.as(client, '/v1/usage')), { used: 3000, limit: 1000, remaining: 0 });
});

test('the history has a row for each day with calls, and each month dated to its last day', async (t) => {
  const client = await service.newClient('pro');
  await serve(client, [
    { day: '2026-02-01', endpoint: 'series', status_class: 2, calls: 1 },
    { day: '2026-02-28', endpoint: 'funds', status_class: 2, calls: 2 },
    { day: '2026-11-05', endpoint: 'series', status_class: 2, calls: 4 },
    { day: '2026-11-05', endpoint: 'series', status_class: 5, calls: 8 },
  ]);
  t.deepEqual(await history(client, { from: '2026' }), [
    { date: '2026-02-01', calls: 1, billed: 1 },
    { date: '2026-02-28', calls: 2, billed: 2 },
    { date: '2026-11-05', calls: 12, billed: 4 },
  ]);
  t.deepEqual(await history(client, { interval: 'month', from: '2026-01', to: '2026-11' }), [
    { date: '2026-02-28', calls: 3, billed: 3 },
    { date: '2026-11-30', calls: 12, billed: 4 },
  ]);
  t.deepEqual(await history(client, { by: 'status' }), [
    { date: '2026-11-05', status: '2xx', calls: 4, billed: 4 },
    { date: '2026-11-05', status: '5xx', calls: 8, billed: 0 },
  ]);
  t.deepEqual(await history(client, { by: 'endpoint', to: '2026-02', interval: 'month' }), [
    { date: '2026-02-28', endpoint: 'funds', calls: 2, billed: 2 },
    { date: '2026-02-28', endpoint: 'series', calls: 1, billed: 1 },
  ]);
  t.deepEqual(await history(client, { by: 'key', from: '2026-11-05', to: '2026-11-05' }), [
    { date: '2026-11-05', key_id: client.keyId, calls: 12, billed: 4 },
  ]);
});

test('a history that reaches the first or last day of the calendar ends there', async (t) => {
  const client = await service.newClient('free');
  for (const query of [
    'to=0001-01-01',
    'from=0001&to=0001',
    'to=0001&interval=month',
    'from=9999-06&to=9999-12',
    'from=9999&to=9999&interval=month',
    'from=9999-12-31&to=9999-12-31',
  ]) {
    const { status, body } = await service.as(client, `/v1/usage/history?${query}`);
    t.is(status, 200, query);
    t.deepEqual((body as { data: unknown }).data, [], query);
  }
  t.is((await service.as(client, '/v1/usage/history?from=0001')).status, 400, 'too long a range');
  const late = assertError(
    t,
    await service.as(client, '/v1/usage/history?from=2027'),
    400,
    'invalid_parameter',
  );
  t.is(late.message, '"from" must not be in the future; today is 2026-11-20.');
});

test('the history as CSV has the same rows under a header, with CRLF', async (t) => {
  const client = await service.newClient();
  await serve(client, [{ day: '2026-11-19', endpoint: '=series()', status_class: 2, calls: 1 }]);
  const answer = await service.as(
    client,
    '/v1/usage/history?format=csv&by=endpoint&from=2026-11&to=2026-11-20',
  );
  t.is(answer.headers.get('content-type'), 'text/csv; charset=utf-8');
  t.is(answer.headers.get('content-disposition'), 'attachment; filename="usage-2026-11-01-2026-11-20.csv"');
  t.is(answer.body, "date,endpoint,calls,billed\r\n2026-11-19,'=series(),1,1\r\n");
});

test('the history by a group shows it, and its rows are in order of date and group', async (t) => {
  const client = await service.newClient();
  const days = ['2026-11-19', '2026-11-20'];
  await serve(
    client,
    days.flatMap((day) =>
      ['series', 'funds'].map((endpoint) => ({ day, endpoint, status_class: 2, calls: 1 })),
    ),
  );
  const path = '/v1/usage/history?by=endpoint&fields=calls,endpoint';
  const { body } = await service.as(client, `${path}&sort=-date&limit=3`);
  const { data } = body as { data: object[] };
  t.deepEqual(data, [
    { endpoint: 'series', calls: 1 },
    { endpoint: 'funds', calls: 1 },
    { endpoint: 'series', calls: 1 },
  ]);
  const refused = await service.as(client, '/v1/usage/history?by=status&fields=date,endpoint');
  const error = assertError(t, refused, 400, 'invalid_parameter');
  t.deepEqual([error.param, error.message], ['fields', '"fields": endpoint needs by=endpoint.']);
});

test('a cursor of the history is valid only for its own range, interval and group', async (t) => {
  const client = await service.newClient();
  await serve(
    client,
    ['2026-11-19', '2026-11-20'].map((day) => ({ day, endpoint: 'series', status_class: 2, calls: 1 })),
  );
  const { body } = await service.as(client, '/v1/usage/history?limit=1');
  const { next_cursor: cursor } = (body as { pagination: { next_cursor: string } }).pagination;
  t.is((await service.as(client, `/v1/usage/history?cursor=${cursor}`)).status, 200);
  for (const other of ['from=2026-11-18', 'to=2026-11-20', 'interval=month', 'by=key']) {
    const answer = await service.as(client, `/v1/usage/history?cursor=${cursor}&${other}`);
    assertError(t, answer, 400, 'invalid_cursor');
  }
});

test("no account sees another's usage", async (t) => {
  const [owner, stranger] = [await service.newClient(), await service.newClient()];
  await serve(owner, [{ day: '2026-11-20', endpoint: 'series', status_class: 2, calls: 5 }]);
  t.like(dataOf(t, await service.as(stranger, '/v1/usage')), { used: 0, by_key: [], by_endpoint: [] });
  t.deepEqual(await history(stranger, {}), []);
  const mixed = { ...stranger, keyId: owner.keyId };
  t.deepEqual(await history(mixed, { by: 'key' }), []);
});

for (const [query, param] of [
  ['from=2026-11-02&to=2026-11-01', 'from'],
  ['from=2024-11-19&to=2026-11-20', 'from'],
  ['from=2010&interval=month', 'from'],
  ['from=2026-02-30', 'from'],
  ['to=yesterday', 'to'],
  ['interval=hour', 'interval'],
  ['by=account', 'by'],
  ['by=key&by=status', 'by'],
  ['format=xml', 'format'],
  ['account_id=acct_other', 'account_id'],
] as const) {
  test(`the history refuses ${query} and names the parameter`, async (t) => {
    const client = await service.newClient();
    const answer = await service.as(client, `/v1/usage/history?${query}`);
    t.is(assertError(t, answer, 400, 'invalid_parameter').param, param);
  });
}

test('without a range the history covers the last thirty days, including today', async (t) => {
  const client = await service.newClient();
  await serve(
    client,
    ['2026-10-21', '2026-10-22', '2026-11-20'].map((day) => ({
      day,
      endpoint: 'series',
      status_class: 2,
      calls: 1,
    })),
  );
  t.deepEqual(
    (await history(client, {})).map(({ date }) => date),
    ['2026-10-22', '2026-11-20'],
  );
});

test('a history may span exactly its most months, and not a day more', async (t) => {
  const client = await service.newClient();
  for (const [interval, most, tooEarly] of [
    ['day', '2025-11-20', '2025-11-19'],
    ['month', '2016-11-20', '2016-11-19'],
  ] as const) {
    const ask = (from: string) =>
      service.as(client, `/v1/usage/history?interval=${interval}&from=${from}&to=2026-11-20`);
    t.is((await ask(most)).status, 200, interval);
    assertError(t, await ask(tooEarly), 400, 'invalid_parameter');
  }
});

test('the sums of this month include no day of the previous or next month', async (t) => {
  const client = await service.newClient();
  await serve(
    client,
    ['2026-10-31', '2026-11-01', '2026-11-30', '2026-12-01'].map((day) => ({
      day, // as reported by gateways whose clocks are slightly off at the end of the month
      endpoint: 'series',
      status_class: 2,
      calls: 1,
    })),
  );
  t.like(dataOf(t, await service.as(client, '/v1/usage')), {
    by_key: [{ calls: 2, billed: 2 }],
    by_endpoint: [{ endpoint: 'series', calls: 2, billed: 2 }],
  });
});
