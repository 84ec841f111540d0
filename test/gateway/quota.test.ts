import test from 'ava';
import { callsOf } from '../../gateway/policies/quota.ts';
import { startTestGateway, type Upstream } from './stand-ins.ts';

const gateway = await startTestGateway();
const { dataApi, accounts } = gateway;
const plainAnswer = dataApi.answer;
test.beforeEach(() => void (dataApi.answer = plainAnswer));
test.after.always(() => gateway.close());

const get = (path: string, key: string, init: RequestInit = {}) =>
  fetch(gateway.url + path, { ...init, headers: { 'x-api-key': key } });

/** Waits until what is journalled has been handed over. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

const usageOf = (id: string) => accounts.settled.usage.filter(({ account_id }) => account_id === id);
const sumOf = (id: string, of: 'calls' | 'billed') => usageOf(id).reduce((sum, row) => sum + row[of], 0);

const answerWith =
  (status: number): Upstream['answer'] =>
  (_request, response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(status === 304 ? undefined : '{}');

test.serial('of 200 calls at once with 100 left, exactly 100 are served', async (t) => {
  const { account, key } = accounts.addAccount({ limit: 100 });
  const responses = await Promise.all(Array.from({ length: 200 }, () => get('/v1/series/A', key)));
  t.is(responses.filter(({ status }) => status === 200).length, 100);
  t.is(responses.filter(({ status }) => status === 402).length, 100);
  t.is(account.used, 100);
  t.is(dataApi.received.filter(({ identity }) => identity?.accountId === account.id).length, 100);
  await until(() => sumOf(account.id, 'calls') === 200);
  t.is(sumOf(account.id, 'billed'), 100);
});

test.serial('a call beyond the quota is 402, saying when it starts anew and how to get more', async (t) => {
  const { key } = accounts.addAccount({ limit: 10, used: 10 });
  const response = await get('/v1/series/A', key);
  t.is(response.status, 402);
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  t.is(error.code, 'quota_exceeded');
  t.regex(error.message, /2026-12-01T00:00:00\.000Z/);
  t.regex(error.message, /\/v1\/plans/);
  t.is(response.headers.get('retry-after'), String(10.5 * 24 * 3600));
  t.is(response.headers.get('x-quota-remaining'), '0');
});

test.serial('a served call says what is left of the second and of the month', async (t) => {
  const { key } = accounts.addAccount({ plan: 'free', limit: 1000, used: 10 });
  const { headers } = await get('/v1/series/A', key);
  t.is(headers.get('x-quota-limit'), '1000');
  t.is(headers.get('x-quota-remaining'), '989');
  t.is(headers.get('x-quota-reset'), '2026-12-01T00:00:00.000Z');
  t.is(headers.get('ratelimit-policy'), '"second";q=5;w=1, "month";q=1000;w=2592000');
  t.is(headers.get('ratelimit'), '"second";r=4;t=1, "month";r=989;t=907200');
});

test.serial('an unlimited plan has no month policy, and its calls are still counted', async (t) => {
  const { account, key } = accounts.addAccount({ limit: null });
  const { headers } = await get('/v1/series/A', key);
  t.is(headers.get('x-quota-limit'), 'unlimited');
  t.is(headers.get('x-quota-remaining'), null);
  t.is(headers.get('ratelimit-policy'), '"second";q=200;w=1');
  await until(() => sumOf(account.id, 'billed') === 1);
  t.is(account.used, 1);
});

for (const status of [200, 204, 304]) {
  test.serial(`a call answered ${status} is billed`, async (t) => {
    const { account, key } = accounts.addAccount({ limit: 10 });
    dataApi.answer = answerWith(status);
    t.is((await get('/v1/series/A', key)).status, status);
    await until(() => usageOf(account.id).length === 1);
    t.is(account.used, 1);
    t.is(sumOf(account.id, 'billed'), 1);
  });
}

for (const status of [400, 404, 406, 500, 503]) {
  test.serial(`a call answered ${status} costs nothing and is still in the usage`, async (t) => {
    const { account, key } = accounts.addAccount({ limit: 10 });
    dataApi.answer = answerWith(status);
    t.is((await get('/v1/funds/A', key)).status, status);
    await until(() => usageOf(account.id).length === 1);
    t.is(account.used, 0);
    t.like(usageOf(account.id), [
      { endpoint: 'funds', status_class: Math.floor(status / 100), calls: 1, billed: 0 },
    ]);
  });
}

test.serial('a call whose client leaves before the answer costs nothing', async (t) => {
  const { account, key } = accounts.addAccount({ limit: 10 });
  const left = new AbortController();
  dataApi.answer = () => left.abort();
  await t.throwsAsync(get('/v1/series/A', key, { signal: left.signal }));
  await until(() => usageOf(account.id).length === 1);
  t.is(account.used, 0);
});

test.serial('an answer that is cut off in the middle costs nothing', async (t) => {
  const { account, key } = accounts.addAccount({ limit: 10 });
  dataApi.answer = (_request, response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('half', () => response.destroy());
  };
  await t.throwsAsync(async () => (await get('/v1/series/A', key)).text());
  await until(() => usageOf(account.id).length === 1);
  t.is(account.used, 0);
});

test.serial('calls that the gateway refuses cost nothing', async (t) => {
  const { account, key } = accounts.addAccount({ plan: 'free', limit: 1000 });
  t.is((await get('/v1/series/A?vintage=2024-01-01', key)).status, 403);
  const burst = await Promise.all(Array.from({ length: 20 }, () => get('/v1/series/A', key)));
  const served = burst.filter(({ status }) => status === 200).length;
  t.true(burst.some(({ status }) => status === 429));
  await until(() => sumOf(account.id, 'calls') === 21);
  t.is(account.used, served);
});

test.serial('account and public addresses are free', async (t) => {
  const { account, key } = accounts.addAccount({ limit: 10 });
  for (const path of ['/v1/usage', '/v1/keys', '/v1/catalog', '/v1/plans']) {
    t.is((await get(path, key)).status, 200);
  }
  t.is(account.used, 0);
});

test.serial('a list of series counts as one call a series, all of them or none', async (t) => {
  const { account, key } = accounts.addAccount({ limit: 5 });
  t.is((await get('/v1/series?ids=A,B,C', key)).status, 200);
  t.is(account.used, 3);
  const refused = await get('/v1/series?ids=A,B,C', key);
  t.is(refused.status, 402);
  t.regex(
    ((await refused.json()) as { error: { message: string } }).error.message,
    /counts as 3 calls and 2 are left/,
  );
  await until(() => account.used === 3);
  t.is((await get('/v1/series?ids=A,B', key)).status, 200);
  t.is(account.used, 5);
});

test('a list counts at most as many calls as a list may hold', (t) => {
  t.is(callsOf('/v1/series', `ids=${'A,'.repeat(1_000_000)}`), 100);
  t.is(callsOf('/v1/series', ''), 1);
  t.is(callsOf('/v1/series/A', 'ids=A,B'), 1);
});
