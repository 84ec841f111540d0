// Every path of the gateway × every failure that can happen to it: the right status, the right code, always the envelope, or the form of FRED.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { exchange, lines } from './gateway/raw.ts';
import test, { type ExecutionContext } from 'ava';
import { parse } from 'yaml';
import { hashApiKey, mintApiKey } from '../kernel/credentials/api-key.ts';
import { errorTable } from '../kernel/errors.ts';
import { projectRoot } from '../kernel/project.ts';
import { projectPlans, startServices, type Services } from './services/services.ts';
import { until } from './run/until.ts';

interface Endpoint {
  methods?: string[];
  paths: string[];
}
interface RouteFile {
  apiEndpoints: Record<string, Endpoint | Endpoint[]>;
  pipelines: Record<string, { apiEndpoints: string[]; policies: Record<string, unknown>[] }>;
}

const routeFile = parse(
  readFileSync(path.join(projectRoot, 'config/gateway.config.yml'), 'utf8'),
) as RouteFile;

/** The plans of the project, and three more: two calls a month, one call a second, a thousand calls at once. */
const plans = (() => {
  const own = projectPlans();
  const base = {
    price_usd_month: 0,
    prices: [],
    concurrency: 1000,
    series_per_call: 1,
    features: ['vintages' as const, 'bulk' as const],
  };
  const all = [
    ...own.all,
    { ...base, id: 'two', name: 'Two', calls_month: 2, calls_second: 1000 },
    { ...base, id: 'slow', name: 'Slow', calls_month: 1000, calls_second: 1 },
    { ...base, id: 'burst', name: 'Burst', calls_month: 1000, calls_second: 1000 },
  ];
  return { ...own, all, get: (id: string) => all.find((plan) => plan.id === id) };
})();

let services: Services;
test.before(async () => {
  services = await startServices({ plans, publisher: true });
  await services.ingest('series_id,date,value\nGDP,2024-01-31,1.50\nGDP,2024-02-29,2\n', {
    set: { name: 'GDP' },
  });
});
test.after.always(() => services.close());

/** The endpoints of a pipeline with a policy, every method of each, with an existing id for `:id`. */
function endpointsOf(policy: string): { method: string; target: string }[] {
  return Object.values(routeFile.pipelines)
    .filter((pipeline) => pipeline.policies.some((step) => Object.hasOwn(step, policy)))
    .flatMap((pipeline) => pipeline.apiEndpoints)
    .flatMap((name) => [routeFile.apiEndpoints[name] ?? []].flat())
    .flatMap(({ methods = ['GET'], paths }) =>
      methods.flatMap((method) => paths.map((target) => ({ method, target }))),
    )
    .filter(({ method }) => method !== 'OPTIONS')
    .map(({ method, target }) => ({
      method,
      target: target.replace('/series/:id', '/series/GDP').replaceAll(/:\w+/g, 'x').replace('*', 'x'),
    }));
}

/** `/v1/checkout` takes a credential, and needs none. */
const keyed = endpointsOf('credential').filter(({ target }) => target !== '/v1/checkout');
const data = endpointsOf('quota');

/** The parameters without which a call is not accepted. */
const sent = (target: string): RequestInit =>
  target === '/v1/series/query'
    ? { body: '{"ids":["GDP"]}', headers: { 'content-type': 'application/json' } }
    : {};

function assertEnvelope(
  t: ExecutionContext,
  answer: { status: number; json: unknown; text: string },
  code: keyof typeof errorTable,
  what: string,
) {
  t.is(answer.status, errorTable[code].status, what);
  if (/(?:^| )\/(?:fred|graph)\//.test(what)) {
    const form = what.includes('/fred/v2/')
      ? `"error_code":${answer.status},"error_message":"[^]{11,}"`
      : `<error code="${answer.status}" message="[^"]{11,}"/>`;
    t.regex(answer.text, new RegExp(form), what);
    return;
  }
  t.like(answer.json, { success: false, error: { code } }, what);
  const { message, request_id: requestId } = (
    answer.json as { error: { message: string; request_id: string } }
  ).error;
  t.true(message.length > 10, what);
  t.true(requestId.length > 10, what);
}

/** The calls used of the month, once so many calls are settled: refunds are in the same batch. */
async function usedOnceRecorded(key: string, calls: number): Promise<number> {
  let used = Number.NaN;
  await until(`${calls} calls are settled`, async () => {
    const { json } = await services.call('/v1/usage', { key });
    const { data } = json as { data: { used: number; by_key: { calls: number }[] } };
    used = data.used;
    return (data.by_key[0]?.calls ?? 0) >= calls;
  });
  return used;
}

test('every route is tried', (t) => {
  t.true(keyed.length > 30);
  t.true(data.length > 20);
});

test('without a key, and with a bad, unknown or repeated one, every keyed endpoint answers 401', async (t) => {
  const { key } = await services.accountWithKey();
  for (const { method, target } of keyed) {
    const what = `${method} ${target}`;
    assertEnvelope(t, await services.call(target, { method }), 'unauthorized', what);
    assertEnvelope(t, await services.call(target, { method, key: 'pk_live_nonsense' }), 'unauthorized', what);
    assertEnvelope(t, await services.call(target, { method, key: mintApiKey() }), 'unauthorized', what);
    assertEnvelope(
      t,
      await services.call(`${target}?api_key=${mintApiKey()}`, { method, key }),
      'unauthorized',
      what,
    );
  }
});

test('a revoked key is refused on the very next request, at every keyed endpoint', async (t) => {
  const { key, keyId } = await services.accountWithKey();
  t.is((await services.call('/v1/series/GDP', { key })).status, 200);
  t.is((await services.call(`/v1/keys/${keyId}`, { method: 'DELETE', key })).status, 204);
  for (const { method, target } of keyed) {
    assertEnvelope(t, await services.call(target, { method, key }), 'unauthorized', `${method} ${target}`);
  }
});

test("when the month's calls are used up every data endpoint answers 402, and account endpoints keep working", async (t) => {
  const { key } = await services.accountWithKey('two');
  t.is((await services.call('/v1/series/GDP', { key })).status, 200);
  t.is((await services.call('/v1/series/GDP/latest', { key })).status, 200);
  for (const { method, target } of data) {
    const answer = await services.call(target, { ...sent(target), method, key });
    assertEnvelope(t, answer, 'quota_exceeded', target);
    t.truthy(answer.headers.get('retry-after'), target);
    t.is(answer.headers.get('x-quota-remaining'), '0', target);
  }
  t.is((await services.call('/v1/usage', { key })).status, 200);
});

test('an inactive subscription is 402 at every data endpoint', async (t) => {
  const { key, accountId } = await services.accountWithKey();
  await services.accounts.db.accounts.update({ subscriptionState: 'inactive' }, { where: { id: accountId } });
  for (const { method, target } of data) {
    assertEnvelope(t, await services.call(target, { method, key }), 'subscription_inactive', target);
  }
});

test('vintages on the free plan are 403 and name the plan, and cost nothing', async (t) => {
  const { key } = await services.accountWithKey('free');
  for (const target of [
    '/v1/series/GDP?vintage=2024-03-31',
    '/v1/series/GDP/latest?vintage=2024-03-31',
    '/v1/series/GDP/vintages',
    '/v1/series/GDP/triangle',
  ]) {
    const answer = await services.call(target, { key });
    assertEnvelope(t, answer, 'plan_required', target);
    t.regex(answer.text, /Pro/, target);
  }
  t.is(await usedOnceRecorded(key, 4), 0);
});

test('too many calls a second are 429 with Retry-After at every data endpoint', async (t) => {
  for (const { method, target } of data) {
    const { key } = await services.accountWithKey('slow');
    // More than two seconds allow, as the calls may come at their border.
    const answers = await Promise.all(
      Array.from({ length: 7 }, () => services.call(target, { method, key })),
    );
    const limited = answers.filter(({ status }) => status === 429);
    t.true(limited.length >= 1, target);
    for (const answer of limited) {
      assertEnvelope(t, answer, 'rate_limited', target);
      t.truthy(answer.headers.get('retry-after'), target);
    }
  }
});

test('a path without a route is 404, a method it does not take 405 with Allow', async (t) => {
  const { key } = await services.accountWithKey();
  for (const target of [
    '/',
    '/v1',
    '/v1/seriesX/GDP',
    '/v1/series/GDP/x',
    '/internal/heartbeat',
    '/V1/status',
    '/v1/series/',
  ]) {
    assertEnvelope(t, await services.call(target, { key }), 'not_found', target);
  }
  for (const { target } of data) {
    const answer = await services.call(target, { method: 'PUT', key });
    assertEnvelope(t, answer, 'method_not_allowed', target);
    t.regex(answer.headers.get('allow') ?? '', /GET, HEAD/, target);
  }
});

test('an unknown series is 404 and costs nothing; an unknown or wrong parameter is 400 and costs nothing', async (t) => {
  const { key } = await services.accountWithKey('burst');
  t.is((await services.call('/v1/series/GDP', { key })).status, 200);
  assertEnvelope(t, await services.call('/v1/series/NOWHERE', { key }), 'not_found', 'unknown series');
  const faults = [
    'limit=0',
    'from=2024-02-30',
    'frm=2024',
    'sort=up',
    'limit=1&limit=2',
    'cursor=zzz',
    'format=xml',
  ];
  for (const fault of faults) {
    const answer = await services.call(`/v1/series/GDP?${fault}`, { key });
    t.true([400, 406].includes(answer.status), `${fault}: ${answer.status}`);
    t.like(answer.json, { success: false, error: { param: fault.split('=')[0] } }, fault);
  }
  t.is(await usedOnceRecorded(key, 2 + faults.length), 1, 'the one that was served');
});

test('200 requests at once against an account with 100 calls left: exactly 100 are served', async (t) => {
  const { key, accountId } = await services.accountWithKey('burst'); // 1,000 a month
  t.is((await services.call('/v1/series/GDP', { key })).status, 200);
  // Calls that a gateway holds in advance are among those that are used.
  await services.database.query('update accounts.quota_months set used = used + 899 where account_id = $1', [
    accountId,
  ]);
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => services.call('/v1/series/GDP', { key })),
  );
  const count = (status: number) => answers.filter((answer) => answer.status === status).length;
  t.deepEqual([count(200), count(402)], [100, 100]);
});

test('no answer to a client shows the hash or the value of a key', async (t) => {
  const { key } = await services.accountWithKey();
  for (const { target } of endpointsOf('credential').filter(({ method }) => method === 'GET')) {
    const { text } = await services.call(target, { key });
    t.false(text.includes(key), target);
    t.false(text.includes(hashApiKey(key)), target);
  }
});

test('a URL and headers of whatever length are served or refused as too long, and no service is in the way', async (t) => {
  const { key } = await services.accountWithKey('burst');
  const statuses = new Set<number>();
  const ask = async (target: string, headers: Record<string, string> = {}) => {
    const { status, text } = await services.call(target, { key, headers });
    t.true([200, 400, 414, 431].includes(status), `${target.length}: ${status} ${text.slice(0, 200)}`);
    statuses.add(status);
  };
  for (let length = 14_000; length <= 16_500; length += 100) {
    await ask(`/v1/series/GDP?limit=1&from=${'0'.repeat(length)}`);
    await ask('/v1/series/GDP', { 'user-agent': 'a'.repeat(length) });
  }
  t.deepEqual([...statuses].toSorted(), [200, 400, 414, 431]);
});

test('the link to the next page repeats a URL of 14 KB whole, of signs that each become three', async (t) => {
  const { key } = await services.accountWithKey('burst');
  await services.ingest('series_id,date,value,side\nSIDES,2024-01-31,1,buy\nSIDES,2024-02-29,2,buy\n');
  const query = Array.from({ length: 7 }, () => `&dims=side:buy|${'"'.repeat(1_980)}`).join('');
  const request = lines(
    `GET /v1/series/SIDES?limit=1${query} HTTP/1.1`,
    ...['Host: a', 'Connection: close', `X-API-Key: ${key}`],
  );
  const [answer] = await exchange(services.url, request);
  t.is(answer?.status, 200, answer?.body);
  const link = /^link: <(.+)>; rel="next"\r?$/m.exec(answer?.headers ?? '')?.[1] ?? '';
  t.true(link.length > 40_000);
  t.is(new URL(link, services.url).searchParams.getAll('dims').join('&dims='), query.slice('&dims='.length));
});
