import test from 'ava';
import { callsOf } from '../../gateway/policies/quota.ts';
import { startAccountsService, sumOf, type Client } from '../services/accounts-service.ts';
import { projectPlans, unhurried } from '../services/services.ts';
import { until } from '../run/until.ts';
import { noon, startTestGateway, type Upstream } from './recording-upstream.ts';

const accounts = await startAccountsService(noon);
const gateway = await startTestGateway({ accounts });
const { dataApi } = gateway;
const plainAnswer = dataApi.answer;
test.beforeEach(() => void (dataApi.answer = plainAnswer));
test.after.always(async () => {
  await gateway.close();
  await accounts.close();
});

const get = (path: string, key: string, init: RequestInit = {}) =>
  fetch(gateway.url + path, { ...init, headers: { 'x-api-key': key } });

/** The monthly calls of the free plan. */
const limit = 1000;

/** A client of the free plan with this many calls left this month. */
async function clientWithLeft(left: number): Promise<Client & { key: string }> {
  const client = await accounts.newClient('free');
  if (left < limit) await accounts.charge(client, limit - left);
  return client;
}

/** Resolves when this many calls of the client are settled; refunds are in the same batch. */
async function untilRecorded(client: Client, calls: number): Promise<void> {
  await until(`${calls} calls are settled`, async () => sumOf(await accounts.ledger(client)).calls >= calls);
}

const answerWith =
  (status: number): Upstream['answer'] =>
  (_request, response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(status === 304 ? undefined : '{}');

test.serial('of 200 calls at once with 100 left, exactly 100 are served', async (t) => {
  const unlimitedRate = await startTestGateway({ accounts, plans: unhurried(projectPlans()) });
  t.teardown(() => unlimitedRate.close());
  const client = await clientWithLeft(100);
  const headers = { 'x-api-key': client.key };
  const responses = await Promise.all(
    Array.from({ length: 200 }, () => fetch(`${unlimitedRate.url}/v1/series/A`, { headers })),
  );
  t.is(responses.filter(({ status }) => status === 200).length, 100);
  t.is(responses.filter(({ status }) => status === 402).length, 100);
  t.is(unlimitedRate.dataApi.received.length, 100);
  await unlimitedRate.close();
  t.is(await accounts.used(client), limit);
  t.deepEqual(sumOf(await accounts.ledger(client)), { calls: 200, billed: 100 });
});

test.serial('a call beyond the quota is 402, and names the reset and how to get more calls', async (t) => {
  const { key } = await clientWithLeft(0);
  const response = await get('/v1/series/A', key);
  t.is(response.status, 402);
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  t.is(error.code, 'quota_exceeded');
  t.regex(error.message, /2026-12-01T00:00:00Z/);
  t.regex(error.message, /\/v1\/plans/);
  t.is(response.headers.get('retry-after'), String(10.5 * 24 * 3600));
  t.is(response.headers.get('x-quota-remaining'), '0');
});

test.serial('a served call states the remaining calls of the rate limit and of the month', async (t) => {
  const { key } = await clientWithLeft(990);
  const { headers } = await get('/v1/series/A', key);
  t.is(headers.get('x-quota-limit'), '1000');
  t.is(headers.get('x-quota-remaining'), '989');
  t.is(headers.get('x-quota-reset'), '2026-12-01T00:00:00Z');
  t.is(headers.get('ratelimit-policy'), '"second";q=5;w=1, "month";q=1000;w=2592000');
  t.is(headers.get('ratelimit'), '"second";r=4;t=1, "month";r=989;t=907200');
});

test.serial('an unlimited plan has no month policy, but its calls are still counted', async (t) => {
  const client = await accounts.newClient('enterprise');
  const { headers } = await get('/v1/series/A', client.key);
  t.is(headers.get('x-quota-limit'), 'unlimited');
  t.is(headers.get('x-quota-remaining'), null);
  t.is(headers.get('ratelimit-policy'), '"second";q=200;w=1');
  await untilRecorded(client, 1);
  t.is(await accounts.used(client), 1);
});

for (const status of [200, 204, 304]) {
  test.serial(`a call answered ${status} is billed`, async (t) => {
    const client = await accounts.newClient('free');
    dataApi.answer = answerWith(status);
    t.is((await get('/v1/series/A', client.key)).status, status);
    await untilRecorded(client, 1);
    t.is(await accounts.used(client), 1);
    t.deepEqual(sumOf(await accounts.ledger(client)), { calls: 1, billed: 1 });
  });
}

for (const status of [400, 404, 406, 500, 503]) {
  test.serial(`a call answered ${status} costs nothing but is in the usage`, async (t) => {
    const client = await accounts.newClient('free');
    dataApi.answer = answerWith(status);
    t.is((await get('/v1/funds/A', client.key)).status, status);
    await untilRecorded(client, 1);
    t.is(await accounts.used(client), 0);
    t.deepEqual(await accounts.ledger(client), [
      { endpoint: 'funds', status_class: Math.floor(status / 100), calls: 1, billed: 0 },
    ]);
  });
}

test.serial('a call whose client leaves before the answer costs nothing', async (t) => {
  const client = await accounts.newClient('free');
  const left = new AbortController();
  dataApi.answer = () => left.abort();
  await t.throwsAsync(get('/v1/series/A', client.key, { signal: left.signal }));
  await untilRecorded(client, 1);
  t.is(await accounts.used(client), 0);
});

test.serial('an answer that is cut off in the middle costs nothing', async (t) => {
  const client = await accounts.newClient('free');
  dataApi.answer = (_request, response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('half', () => response.destroy());
  };
  await t.throwsAsync(async () => (await get('/v1/series/A', client.key)).text());
  await untilRecorded(client, 1);
  t.is(await accounts.used(client), 0);
});

test.serial('calls that the gateway refuses cost nothing', async (t) => {
  const client = await accounts.newClient('free');
  const { key } = client;
  t.is((await get('/v1/series/A?vintage=2024-01-01', key)).status, 403);
  const burst = await Promise.all(Array.from({ length: 20 }, () => get('/v1/series/A', key)));
  const served = burst.filter(({ status }) => status === 200).length;
  t.true(burst.some(({ status }) => status === 429));
  await untilRecorded(client, 21);
  await until('what was granted ahead is returned', async () => (await accounts.used(client)) === served);
  t.pass();
});

test.serial('account and public endpoints are free', async (t) => {
  const client = await accounts.newClient('free');
  for (const path of ['/v1/usage', '/v1/keys', '/v1/catalog', '/v1/plans']) {
    t.is((await get(path, client.key)).status, 200);
  }
  t.is((await get('/v1/series/A', client.key)).status, 200);
  await untilRecorded(client, 1);
  t.is(await accounts.used(client), 1);
  t.deepEqual(sumOf(await accounts.ledger(client)), { calls: 1, billed: 1 });
});

test.serial('a list of series counts as one call per series, all of them or none', async (t) => {
  const client = await clientWithLeft(5);
  const { key } = client;
  t.is((await get('/v1/series?ids=A,B,C', key)).status, 200);
  const used = (calls: number) =>
    until(`${calls} calls are used`, async () => (await accounts.used(client)) === calls);
  await used(limit - 2);
  const refused = await get('/v1/series?ids=A,B,C', key);
  t.is(refused.status, 402);
  t.regex(
    ((await refused.json()) as { error: { message: string } }).error.message,
    /counts as 3 calls, and 2 of this month's 1000 are left/,
  );
  await untilRecorded(client, 3 + 1); // a refused list counts once
  t.is(await accounts.used(client), limit - 2);
  t.is((await get('/v1/series?ids=A,B', key)).status, 200);
  await used(limit);
});

const queryOf = (key: string, body: string, { type = 'application/json', url = gateway.url } = {}) =>
  fetch(`${url}/v1/series/query`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': type },
    body,
  });

test.serial('a query counts as one call per series that its body names, all of them or none', async (t) => {
  const client = await clientWithLeft(5);
  const body = JSON.stringify({ ids: ['A', 'B', 'C'] });
  t.is((await queryOf(client.key, body)).status, 200);
  t.is(gateway.dataApi.received.at(-1)?.body, body);
  await until('3 calls are used', async () => (await accounts.used(client)) === limit - 2);
  const refused = await queryOf(client.key, body);
  t.is(refused.status, 402);
  t.regex(await refused.text(), /counts as 3 calls, and 2 of this month's 1000 are left/);
});

test.serial(
  'a body that a service could read differently from the gateway is refused, and costs nothing',
  async (t) => {
    const own = await startTestGateway({ accounts, plans: unhurried(projectPlans()) });
    t.teardown(() => own.close());
    const client = await clientWithLeft(1);
    for (const [status, type, body] of [
      [415, 'text/plain', '{"ids":["A"]}'],
      [415, 'application/json; charset=utf-7', '{"ids":["A+ACIALAAi-B"]}'],
      [415, 'application/json;charset=utf-16', '{"ids":["A"]}'],
      [400, 'application/json', '{"ids":["A"'],
      [400, 'application/json', ''],
      [413, 'application/json', ' '.repeat(145 * 1024)],
    ] as const) {
      t.is(
        (await queryOf(client.key, body, { type, url: own.url })).status,
        status,
        `${type} ${body.slice(0, 30)}`,
      );
    }
    t.is(own.dataApi.received.length, 0);
    const read = { type: 'Application/JSON; charset="UTF-8"', url: own.url };
    t.is((await queryOf(client.key, '\u{feff}{"ids":["A"]}', read)).status, 200);
    await own.close();
    t.is(await accounts.used(client), limit);
  },
);

test('a list counts as at most the maximum number of series in a list, or as the plan counts them', (t) => {
  const each = { series_per_call: 1 };
  const get = (path: string, query: string) => ({ path, query, body: undefined });
  t.is(callsOf(get('/v1/series', `ids=${'A,'.repeat(1_000_000)}`), each), 1_000);
  t.is(callsOf(get('/v1/series', ''), each), 1);
  t.is(callsOf(get('/v1/series/A', 'ids=A,B'), each), 1);
  const query = (fields: unknown) => ({
    ...get('/v1/series/query', 'ids=A,B'),
    body: { bytes: Buffer.alloc(0), fields },
  });
  for (const fields of [null, 7, ['A', 'B'], {}, { ids: 'A,B' }, { ids: [] }, { ids: { length: 5 } }])
    t.is(callsOf(query(fields), each), 1, JSON.stringify(fields));
  for (const [count, calls] of [
    [1, 1],
    [10, 1],
    [11, 2],
    [25, 3],
    [1_000, 100],
  ] as const) {
    const ids = Array.from({ length: count }, (_, i) => `S${i}`);
    t.is(callsOf(query({ ids }), { series_per_call: 10 }), calls);
    t.is(callsOf(get('/v1/series', `ids=${ids.join()}`), { series_per_call: 10 }), calls);
    t.is(callsOf(query({ ids }), each), count);
  }
});
