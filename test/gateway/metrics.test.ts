import test, { type ExecutionContext } from 'ava';
import { startAccountsService } from '../services/accounts-service.ts';
import { startProxy } from '../services/proxy.ts';
import { until } from '../run/until.ts';
import { mintApiKey } from '../../kernel/credentials/api-key.ts';
import { head, startRawUpstream, type RawRequest } from './raw-upstream.ts';
import { exchange } from './raw.ts';
import { answerPlainly, noon, startTestGateway } from './recording-upstream.ts';

const accounts = await startAccountsService(noon);
test.after.always(() => accounts.close());

const metrics = { host: '127.0.0.1', port: 0 };

/** Every sample by its name and labels as text. */
async function scrape(t: ExecutionContext, url: string | undefined): Promise<Map<string, number>> {
  const response = await fetch(`${url}/metrics`);
  t.is(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  const samples = new Map<string, number>();
  const text = await response.text();
  t.true(text.endsWith('\n'));
  const families = new Map<string, string>();
  for (const line of text.trimEnd().split('\n')) {
    const type = /^# TYPE (\w+) (counter|gauge|histogram)$/.exec(line);
    if (type !== null) families.set(type[1] ?? '', type[2] ?? '');
    if (line.startsWith('#')) {
      t.regex(line, /^# (?:HELP \w+ \S.*|TYPE \w+ \w+)$/);
      continue;
    }
    const sample = /^(\w+)((?:\{(?:\w+="(?:[^"\\\n]|\\[\\"n])*",?)+\})?) (\S+)$/.exec(line);
    const [, name = '', labels = '', value = ''] = sample ?? [];
    t.true(
      families.has(name) || families.get(name.replace(/_(?:bucket|sum|count)$/, '')) === 'histogram',
      line,
    );
    t.true(Number.isFinite(Number(value)), line);
    t.false(samples.has(name + labels), `${line} occurs twice`);
    samples.set(name + labels, Number(value));
  }
  return samples;
}

/** Resolves once the calls have also ended at the gateway, which is after their answers have reached the client. */
async function allEnded(t: ExecutionContext, url: string | undefined): Promise<Map<string, number>> {
  let samples = new Map<string, number>();
  await until('all calls have ended', async () => {
    samples = await scrape(t, url);
    return samples.get('almanac_gateway_requests_under_way') === 0;
  });
  return samples;
}

test.serial(
  'requests are counted by group and status class, refusals by code, and no label identifies a client',
  async (t) => {
    const gateway = await startTestGateway({ accounts, metrics });
    t.teardown(() => gateway.close());
    const client = await accounts.newClient('free');
    await accounts.charge(client, 998); // two are left
    const { accountId, key } = client;
    const get = (path: string, apiKey = key) =>
      fetch(gateway.url + path, { headers: { 'x-api-key': apiKey } });
    t.is((await get('/v1/series/SECRET.SERIES')).status, 200);
    t.is((await get('/v1/funds/1/nav')).status, 200);
    t.is((await get('/v1/series/B')).status, 402);
    t.is((await get('/v1/series/B', `${key}x`)).status, 401);
    const burst = await Promise.all(Array.from({ length: 40 }, () => get('/v1/trade')));
    const limited = burst.filter(({ status }) => status === 429).length;
    t.true(limited > 0);
    t.is((await get('/v1/nothing')).status, 404);
    t.is((await get('/nowhere')).status, 404);
    t.is((await exchange(gateway.url, 'HELO mail\r\n\r\n'))[0]?.status, 400);

    const { metricsUrl } = gateway.gateway;
    const samples = await allEnded(t, metricsUrl);
    const requests = (group: string, status: string) =>
      samples.get(`almanac_gateway_requests_total{group="${group}",status="${status}"}`);
    t.is(requests('series', '2xx'), 1);
    t.is(requests('series', '4xx'), 2);
    t.is(requests('funds', '2xx'), 1);
    t.is(requests('trade', '4xx'), 40);
    t.is(requests('other', '4xx'), 2);
    const failures = (code: string) => samples.get(`almanac_gateway_failures_total{code="${code}"}`);
    t.is(failures('unauthorized'), 1);
    t.is(failures('rate_limited'), limited);
    t.is(failures('quota_exceeded'), 1 + 40 - limited);
    t.is(failures('not_found'), 2);
    t.is(samples.get('almanac_gateway_requests_malformed_total'), 1);
    t.is(samples.get('almanac_gateway_requests_cut_off_total'), 0);

    const series = 'almanac_gateway_request_duration_seconds_bucket{group="trade",le="';
    const buckets = [...samples].filter(([name]) => name.startsWith(series));
    // Dashboards that use these bounds break if one changes.
    t.is(
      buckets.map(([name]) => name.slice(series.length, -2)).join(' '),
      '0.001 0.0025 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10 30 +Inf',
    );
    const counts = buckets.map(([, count]) => count);
    t.deepEqual(
      counts,
      counts.toSorted((a, b) => a - b),
    );
    t.is(counts.at(-1), 40);
    t.is(samples.get('almanac_gateway_request_duration_seconds_count{group="trade"}'), 40);
    t.true((samples.get('almanac_gateway_request_duration_seconds_sum{group="trade"}') ?? 0) > 0);
    t.true((samples.get('almanac_gateway_stage_seconds_total{stage="upstream"}') ?? 0) > 0);

    const text = await (await fetch(`${metricsUrl}/metrics`)).text();
    for (const secret of [key, accountId, 'SECRET.SERIES', 'nowhere']) t.false(text.includes(secret), secret);
    t.is((await fetch(`${metricsUrl}/anything`)).status, 404);
    await gateway.close();
    await t.throwsAsync(fetch(`${metricsUrl}/metrics`), undefined, 'it ends with the gateway');
  },
);

test.serial('an unreachable service and an unreachable Redis are visible', async (t) => {
  const gateway = await startTestGateway({
    accounts,
    metrics,
    dataApiUrls: ['http://127.0.0.1:1'],
    redisUrl: 'redis://127.0.0.1:1',
  });
  t.teardown(() => gateway.close());
  const { metricsUrl } = gateway.gateway;
  const { key } = await accounts.newClient('enterprise');
  const up = (service: string, url: string) =>
    `almanac_gateway_upstream_up{service="${service}",url="${url}"}`;
  const before = await scrape(t, metricsUrl);
  t.is(before.get(up('data-api', 'http://127.0.0.1:1')), 1);
  t.is(before.get('almanac_gateway_redis_up'), 0);
  t.is(before.get('almanac_gateway_journal_entries'), 0);
  const response = await fetch(`${gateway.url}/v1/series/A`, { headers: { 'x-api-key': key } });
  t.is(response.status, 502);
  const after = await allEnded(t, metricsUrl);
  t.is(after.get(up('data-api', 'http://127.0.0.1:1')), 0);
  t.is(after.get(up('accounts-api', accounts.url)), 1);
  t.is(after.get('almanac_gateway_failures_total{code="upstream_error"}'), 1);
});

test.serial(
  'a silent service still gets its turn of calls; an unreachable one gets none until it answers again',
  async (t) => {
    const toAccounts = await startProxy(Number(new URL(accounts.url).port));
    t.teardown(() => toAccounts.close());
    const accountsUrl = `http://127.0.0.1:${toAccounts.port}`;
    const gateway = await startTestGateway({
      metrics,
      clock: accounts.clock,
      accountsApiUrls: [accountsUrl],
      upstreamTimeoutMs: 500,
    });
    t.teardown(() => gateway.close());
    const { key } = await accounts.newClient('enterprise');
    const get = async (path: string) =>
      (await fetch(gateway.url + path, { headers: { 'x-api-key': key } })).status;
    const isUp = async (service: string, url: string) =>
      (await scrape(t, gateway.gateway.metricsUrl)).get(
        `almanac_gateway_upstream_up{service="${service}",url="${url}"}`,
      );
    const { dataApi } = gateway;
    dataApi.answer = () => undefined;
    t.is((await fetch(`${gateway.url}/v1/catalog`)).status, 504); // without the key, which is not cached yet
    t.is(await isUp('data-api', dataApi.url), 1, 'it is overloaded, and so may be those beside it');
    dataApi.answer = answerPlainly;
    toAccounts.cut();
    t.is(await get('/v1/series/A'), 503);
    t.is(await isUp('accounts-api', accountsUrl), 0);
    toAccounts.restore();
    // On a busy machine data-api may take longer than 500 ms, too.
    await until('a call is served', async () => (await get('/v1/series/A')) === 200);
    t.is(await isUp('accounts-api', accountsUrl), 1);
  },
);

test.serial(
  'an instance that answers with an error, or with an invalid answer, still gets its turn of calls',
  async (t) => {
    const [dataApi, accountsApi] = [await startRawUpstream(), await startRawUpstream()];
    t.teardown(() => Promise.all([dataApi.close(), accountsApi.close()]));
    const gateway = await startTestGateway({
      metrics,
      dataApiUrls: [dataApi.url],
      accountsApiUrls: [accountsApi.url],
    });
    t.teardown(() => gateway.close());
    const isUp = async (service: string, url: string) =>
      (await scrape(t, gateway.gateway.metricsUrl)).get(
        `almanac_gateway_upstream_up{service="${service}",url="${url}"}`,
      );
    const answers: Record<string, (request: RawRequest) => string> = {
      'what Node answers to a head that is too long': () =>
        'HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n\r\n',
      'an error': (request) => head(request, '500 Internal Server Error', 'content-length: 0'),
      'an endless head': (request) => head(request, '200 OK', `x: ${'a'.repeat(100_000)}`),
    };
    for (const [what, answer] of Object.entries(answers)) {
      for (const service of [dataApi, accountsApi]) {
        service.answer = (socket, request) => void socket.end(answer(request));
      }
      await (await fetch(`${gateway.url}/v1/catalog`)).text();
      t.is(await isUp('data-api', dataApi.url), 1, `a read: ${what}`);
      if (what === 'an endless head') continue; // undici, which asks accounts-api for leases, does not distinguish it from a broken connection
      await (await fetch(`${gateway.url}/auth/login`, { method: 'POST' })).text();
      t.is(await isUp('accounts-api', accountsApi.url), 1, `a write: ${what}`);
      const headers = { 'x-api-key': mintApiKey() };
      t.is((await fetch(`${gateway.url}/v1/series/A`, { headers })).status, 503);
      t.is(await isUp('accounts-api', accountsApi.url), 1, `a lookup: ${what}`);
    }
  },
);

test.serial('a client that leaves before its answer is counted as such, not as answered', async (t) => {
  const gateway = await startTestGateway({ accounts, metrics });
  t.teardown(() => gateway.close());
  const { key } = await accounts.newClient('enterprise');
  const left = new AbortController();
  gateway.dataApi.answer = () => left.abort();
  await t.throwsAsync(
    fetch(`${gateway.url}/v1/series/A`, { headers: { 'x-api-key': key }, signal: left.signal }),
  );
  const samples = await allEnded(t, gateway.gateway.metricsUrl);
  t.is(samples.get('almanac_gateway_requests_cut_off_total'), 1);
  t.is(samples.get('almanac_gateway_requests_total{group="series",status="4xx"}'), 1);
});

test.serial('the metrics of the process are present, and an idle event loop does not lag', async (t) => {
  const gateway = await startTestGateway({ metrics });
  t.teardown(() => gateway.close());
  const samples = await scrape(t, gateway.gateway.metricsUrl);
  for (const name of [
    'nodejs_heap_size_used_bytes',
    'process_resident_memory_bytes',
    'process_cpu_seconds_total',
  ]) {
    t.true((samples.get(name) ?? 0) > 0, name);
  }
  t.true((samples.get('nodejs_eventloop_lag_mean_seconds') ?? Number.NaN) >= 0);
});
