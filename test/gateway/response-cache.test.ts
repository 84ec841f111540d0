// The response cache of the gateway in front of the real data-api and accounts-api. The requests that reach data-api are recorded.
import { setTimeout as pause } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { until } from '../run/until.ts';
import { startAccountsService, sumOf } from '../services/accounts-service.ts';
import { startListService } from '../services/list-service.ts';
import { projectPlans, unhurried } from '../services/services.ts';
import { plainOptions, startRecordingUpstream, startTestGateway } from './recording-upstream.ts';
import { start } from '../../gateway/main.ts';

const now = '2024-07-01T12:00:00Z';
const accounts = await startAccountsService(now);
const data = await startListService();
data.clock.set(now);
const creating = { create: true, set: { frequency: 'monthly', unit: 'Index', source: 'Test' } };
const rows = (value: number) => ['series_id,date,value', `CPI,2024-01-01,${value}`];
await data.load('observations', [...rows(1), 'PPI,2024-01-01,2'], creating);
const recorder = await startRecordingUpstream('data-api', data.url);
const plans = unhurried(projectPlans());
const gateway = await startTestGateway({ accounts, plans, responseCacheMb: 64, dataApiUrls: [recorder.url] });
const { key } = await accounts.newClient('pro');

test.after.always(async () => {
  await gateway.close();
  await recorder.close();
  await data.close();
  await accounts.close();
});

const call = async (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) => {
  const response = await fetch(gateway.url + path, {
    ...init,
    headers: { 'x-api-key': key, 'accept-encoding': 'identity', ...headers },
  });
  const text = await response.text();
  const isHit = response.headers.get('server-timing')?.includes('cache;desc=hit') === true;
  return { status: response.status, headers: response.headers, text, isHit };
};

/** Repeats the call until the answer is from the cache: the first call requests a lease, which may expire again on a busy machine. */
async function hit(path: string, headers: Record<string, string> = {}, init: RequestInit = {}) {
  let answer = await call(path, headers, init);
  await until(
    `${path} is kept`,
    async () => answer.isHit || (answer = await call(path, headers, init)).isHit,
  );
  return answer;
}

/** The headers that are the same in repeated answers. */
function sharedHeaders(headers: Headers): Record<string, string> {
  const own = [
    'connection',
    'keep-alive',
    'date',
    'x-request-id',
    'server-timing',
    'x-quota-remaining',
    'ratelimit',
    'transfer-encoding',
  ];
  return Object.fromEntries([...headers].filter(([name]) => !own.includes(name)));
}

const askedOf = (path: string) => recorder.received.filter(({ url }) => url === path).length;

test.serial(
  'a cached answer equals that of data-api, as 200, 304 and HEAD, with the same headers',
  async (t) => {
    const path = '/v1/series/CPI?fields=date,value';
    const direct = await call(path, { accept: 'text/x, */*' });
    t.false(direct.isHit);
    const cached = await hit(path);
    t.deepEqual([cached.status, cached.text], [200, direct.text]);
    t.deepEqual(sharedHeaders(cached.headers), sharedHeaders(direct.headers));
    const head = await hit(path, {}, { method: 'HEAD' });
    t.deepEqual([head.status, head.text], [200, '']);
    t.deepEqual(sharedHeaders(head.headers), sharedHeaders(direct.headers));
    const etag = cached.headers.get('etag') ?? '';
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const same = await hit(path, { 'if-none-match': tag });
      t.deepEqual([same.status, same.text], [304, ''], tag);
    }
    const other = '/v1/series/CPI?fields=value,date';
    const fresh = await call(other, { 'if-none-match': '*' });
    t.deepEqual([fresh.status, fresh.isHit], [304, false]);
    const memory = await hit(other, { 'if-none-match': '*' });
    t.is(memory.status, 304);
    t.deepEqual(
      sharedHeaders(memory.headers),
      sharedHeaders(fresh.headers),
      'the 304 of memory has the headers of the other',
    );
  },
);

test.serial('calls marked as a cache hit did not reach data-api, and all others did', async (t) => {
  const path = '/v1/series/CPI?limit=11';
  let [misses, hits] = [0, 0];
  while (hits < 10) {
    if ((await call(path)).isHit) hits += 1;
    else misses += 1;
  }
  t.is(askedOf(path), misses);
});

test.serial(
  'a call with an ETag confirmed by data-api is answered 304 from the cache, and one without gets the body',
  async (t) => {
    const path = '/v1/series/PPI?limit=7';
    const etag =
      (
        await fetch(`${data.url}${path}`, {
          headers: { ...data.headers(path), 'accept-encoding': 'identity' },
        })
      ).headers.get('etag') ?? '';
    await hit(path, { 'if-none-match': etag });
    const plain = await call(path);
    t.deepEqual([plain.status, plain.isHit], [200, false], 'only the head was known');
    t.regex(plain.text, /"value":2/);
    t.is((await hit(path)).text, plain.text);
  },
);

test.serial('answers that depend on more than the data are cached separately', async (t) => {
  const path = '/v1/series/CPI?limit=5';
  await hit(path);
  for (const [other, headers] of [
    ['/v1/series/CPI?limit=6', {}],
    [path, { accept: 'text/csv' }],
    [path, { 'accept-encoding': 'gzip' }],
    [path, { 'accept-encoding': 'br' }],
  ] as const)
    t.false((await call(other, headers)).isHit, `${other} ${JSON.stringify(headers)}`);
  await hit(path, { 'user-agent': 'another', 'x-forwarded-for': '192.0.2.1' });
  await hit(`${path}&api_key=${key}`); // the key is no part of the URL
});

test.serial('an answer for one plan is not given to another, which still gets 403', async (t) => {
  const path = '/v1/series/CPI?vintage=2024-06-30';
  const pro = await call(path);
  t.is(pro.status, 200, pro.text);
  await hit(path);
  const { key: free } = await accounts.newClient('free');
  const refused = await call(path, { 'x-api-key': free });
  t.is(refused.status, 403);
  const plain = '/v1/series/CPI?limit=9';
  await hit(plain);
  t.false((await call(plain, { 'x-api-key': free })).isHit, 'the features are part of the question');
});

test.serial(
  'every check and charge also applies to a cached answer: quota, usage, a revoked key',
  async (t) => {
    const path = '/v1/series/CPI?limit=4';
    await hit(path);
    const client = await accounts.newClient('free');
    const headers = { 'x-api-key': client.key };
    await hit(path, headers);
    const remaining = (answer: { headers: Headers }) => Number(answer.headers.get('x-quota-remaining'));
    const first = remaining(await call(path, headers));
    t.is(remaining(await call(path, headers)), first - 1);
    const calls = 1_000 - first + 1; // of the plan's month
    await until('the usage is settled', async () => sumOf(await accounts.ledger(client)).billed === calls);
    t.is(await accounts.used(client), calls);
    await accounts.as(client, `/v1/keys/${client.keyId}`, { method: 'DELETE' });
    t.is((await call(path, headers)).status, 401);
    t.is((await call(path, { 'x-api-key': 'pk_live_none' })).status, 401);
  },
);

test.serial('once a load is reported as done, no gateway gives an older answer', async (t) => {
  const second = await start({
    ...plainOptions,
    plans,
    clock: accounts.clock,
    dataApiUrls: [data.url],
    accountsApiUrls: [accounts.url],
  });
  t.teardown(() => second.close());
  const urls = [gateway.url, second.url];
  const values = async () => {
    const answers = await Promise.all(
      urls.map((url) => fetch(`${url}/v1/series/CPI`, { headers: { 'x-api-key': key } })),
    );
    const bodies = await Promise.all(
      answers.map((answer) => answer.json() as Promise<{ data: { value: number }[] }>),
    );
    return bodies.map((body) => body.data[0]?.value);
  };
  for (let value = 10; value < 16; value += 1) {
    const loading = { isRunning: true };
    const asking = (async () => {
      while (loading.isRunning) await values(); // keeps the leases and the cached answers in use
    })();
    await data.load('observations', rows(value), { noGateway: false });
    const seen = await values();
    loading.isRunning = false;
    await asking;
    t.deepEqual(seen, [value, value]);
  }
  await hit('/v1/series/CPI');
});

test.serial('an answer that names the next release is not cached beyond it', async (t) => {
  const release = 'release_id,source,title,release_at,time_zone,series_ids';
  await data.load('calendar', [release, 'ppi-6,Test,Prices,2024-07-01T13:00:00,UTC,PPI'], {
    noGateway: false,
  });
  const paths = ['/v1/series/PPI', '/v1/series?ids=CPI,PPI', '/v1/calendar?from=2024-07-01'];
  for (const path of paths) await hit(path);
  data.clock.set('2024-07-01T13:00:00Z');
  accounts.clock.set('2024-07-01T13:00:00Z');
  for (const path of paths) {
    const answer = await call(path);
    t.false(answer.isHit, path);
    t.notRegex(answer.text, /"next_release":"2024|"status":"scheduled"/, path);
  }
  data.clock.set(now);
  accounts.clock.set(now);
  for (const path of paths)
    t.regex((await call(path)).text, /"next_release":"2024|"status":"scheduled"/, path);
});

test.serial('calls for an answer that is not cached yet share one request to data-api', async (t) => {
  let limit = 100;
  // They share it only with a lease, which may expire on a busy machine.
  await until('twenty calls share one', async () => {
    await hit('/v1/series/CPI');
    const path = `/v1/series/CPI?limit=${(limit += 1)}`;
    const answers = await Promise.all(Array.from({ length: 20 }, () => call(path)));
    t.is(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1);
    return askedOf(path) === 1;
  });
});

test.serial('a client that leaves does not fail the calls that wait for the same answer', async (t) => {
  await hit('/v1/series/CPI');
  const path = '/v1/series/CPI?limit=78';
  const released = Promise.withResolvers<void>();
  const passOn = recorder.answer;
  t.teardown(() => void (recorder.answer = passOn));
  let first = true;
  recorder.answer = (request, response) => {
    if (request.url !== path || !first) return passOn(request, response);
    first = false;
    void released.promise.then(() => passOn(request, response));
  };
  const leaver = new AbortController();
  const left = call(path, {}, { signal: leaver.signal });
  await until('the first is under way', () => Promise.resolve(askedOf(path) === 1));
  const others = [call(path), call(path)];
  await pause(20); // until they wait, unless the machine is busy
  leaver.abort();
  await t.throwsAsync(left);
  for (const answer of await Promise.all(others)) t.is(answer.status, 200);
  released.resolve();
});

test.serial('errors, long answers and the state of the service are not cached', async (t) => {
  const days = Array.from({ length: 20_000 }, (_, i) => {
    const day = new Date(Date.UTC(1960, 0, 1 + i)).toISOString().slice(0, 10);
    return `LONG,${day},${i}.25`;
  });
  const daily = {
    create: true,
    set: { frequency: 'daily', unit: 'Index', source: 'Test' },
    noGateway: false,
  };
  await data.load('observations', ['series_id,date,value', ...days], daily);
  await hit('/v1/series/LONG?limit=10');
  for (const path of [
    '/v1/series/NONE',
    '/v1/series/CPI?limit=x',
    '/v1/series/LONG?limit=100000',
    '/v1/series/LONG?format=csv',
    '/v1/status',
  ]) {
    for (let i = 0; i < 3; i += 1) t.false((await call(path)).isHit, path);
  }
});

test.serial('without a lease every call is forwarded', async (t) => {
  const path = '/v1/series/CPI?limit=13';
  const alone = await startRecordingUpstream('data-api', data.url);
  const cut = await startTestGateway({ accounts, plans, responseCacheMb: 64, dataApiUrls: [alone.url] });
  t.teardown(async () => {
    await cut.close();
    await alone.close();
  });
  const isHit = async () => {
    const { headers } = await fetch(cut.url + path, { headers: { 'x-api-key': key } });
    return headers.get('server-timing')?.includes('cache;desc=hit') === true;
  };
  await until('it is kept', isHit);
  alone.answerOurselves = (_request, response) => void response.writeHead(503).end();
  await until('the lease ends', async () => !(await isHit()));
  for (let i = 0; i < 5; i += 1) t.false(await isHit());
  alone.answerOurselves = undefined;
  await until('there is a lease again', isHit);
});

test.serial('the metrics count the sources of answers, and RESPONSE_CACHE_MB=0 caches none', async (t) => {
  await checkUncached(t);
});

async function checkUncached(t: ExecutionContext): Promise<void> {
  const uncached = await start({
    ...plainOptions,
    plans,
    clock: accounts.clock,
    dataApiUrls: [data.url],
    accountsApiUrls: [accounts.url],
    responseCacheMb: 0,
    metrics: { host: '127.0.0.1', port: 0 },
  });
  t.teardown(() => uncached.close());
  for (let i = 0; i < 5; i += 1) {
    const { headers } = await fetch(`${uncached.url}/v1/series/CPI`, { headers: { 'x-api-key': key } });
    t.notRegex(headers.get('server-timing') ?? '', /cache/);
    await pause(30);
  }
  const metrics = await (await fetch(`${uncached.metricsUrl}/metrics`)).text();
  t.regex(metrics, /almanac_gateway_response_cache_total\{result="hit"\} 0\n/);
  t.regex(metrics, /almanac_gateway_response_cache_answers 0\n/);
}
