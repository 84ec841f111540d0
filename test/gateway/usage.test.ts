// Compares /v1/usage and its history with the results that clients saw, call by call: served, refused, cut off or aborted, at two gateways, with
// Redis and without. MODEL_RUNS (default 6) is the number of histories of each.
import { EventEmitter, once } from 'node:events';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { start, type GatewayOptions } from '../../gateway/main.ts';
import { loadPlans } from '../../kernel/plans.ts';
import { dataOf, startAccountsService, type AccountsService } from '../services/accounts-service.ts';
import { startRedis, type PrivateRedis } from '../services/redis.ts';
import { plainOptions, startRecordingUpstream, type Upstream } from './recording-upstream.ts';

const runs = Number(process.env['MODEL_RUNS'] ?? 6);
const planned = loadPlans('config/plans.yml');
const unhurried = planned.all.map((plan) => ({ ...plan, calls_second: 100_000, concurrency: 100_000 }));
const plans = { ...planned, all: unhurried, get: (id: string) => unhurried.find((plan) => plan.id === id) };

let service: AccountsService;
let redis: PrivateRedis;
let dataApi: Upstream;
const hangingCalls = new EventEmitter().setMaxListeners(0);

test.before(async () => {
  service = await startAccountsService('2026-11-20T10:00:00.000Z');
  redis = await startRedis();
  dataApi = await startRecordingUpstream('data-api');
  dataApi.answer = ({ url }, response) => {
    const what = /[?&]do=(\w+)/.exec(url)?.[1];
    if (what === 'leave') {
      hangingCalls.emit('held', url);
    } else if (what === 'cut') {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half', () => response.destroy());
    } else {
      response.writeHead(what === 'fresh' ? 304 : what === 'missing' ? 404 : what === 'broken' ? 500 : 200);
      response.end();
    }
  };
});
test.after.always(async () => {
  await dataApi?.close();
  await service?.close();
  await redis?.stop();
});

/** One call of a client. */
interface Wish {
  what: 'serve' | 'fresh' | 'missing' | 'broken' | 'cut' | 'leave';
  endpoint: 'series' | 'funds';
  /** The length of a list of series, which counts as this many calls. */
  series: number;
  key: 0 | 1;
  gateway: 0 | 1;
}

const wish: fc.Arbitrary<Wish> = fc.record({
  what: fc.constantFrom('serve', 'serve', 'serve', 'fresh', 'missing', 'broken', 'cut', 'leave'),
  endpoint: fc.constantFrom('series', 'series', 'funds'),
  series: fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 100 })),
  key: fc.constantFrom(0, 1),
  gateway: fc.constantFrom(0, 1),
});
const bursts = fc.array(fc.array(wish, { minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 4 });

/** The result for the client: the class of the status, and the number of served calls. */
interface Seen {
  keyNo: 0 | 1;
  endpoint: string;
  status: string;
  calls: number;
  billed: number;
}

let calls = 0;
/** Thrown if the machine is so busy that a service did not answer in time: the caller is then unknown, and nothing can be counted. */
let overloaded = false;
async function call(urls: readonly string[], keys: readonly string[], wished: Wish): Promise<Seen> {
  const { what, endpoint, key: keyNo } = wished;
  const isList = endpoint === 'series';
  const ids = Array.from({ length: wished.series }, (_, i) => `S${i}`).join(',');
  const mark = `do=${what}&no=${(calls += 1)}`;
  const target = isList ? `/v1/series?ids=${ids}&${mark}` : `/v1/funds?${mark}`;
  const worth = isList ? wished.series : 1;
  const left = new AbortController();
  const leaves = (async () => {
    for (;;) {
      const [url] = (await once(hangingCalls, 'held', { signal: left.signal })) as [string];
      if (url.endsWith(mark)) return left.abort();
    }
  })().catch(() => undefined); // the call was answered: nobody waits any more
  const seen = { keyNo, endpoint, calls: worth };
  try {
    const headers = { 'x-api-key': keys[keyNo] ?? '' };
    const response = await fetch((urls[wished.gateway] ?? '') + target, { headers, signal: left.signal });
    overloaded ||= response.status === 503 || response.status === 504;
    const status = `${Math.floor(response.status / 100)}xx`;
    const refused = response.status === 402;
    const isWhole = await response.text().then(
      () => true,
      () => false,
    );
    const isServed = isWhole && (response.status === 200 || response.status === 304);
    return { ...seen, status, calls: refused ? 1 : worth, billed: isServed ? worth : 0 };
  } catch (error) {
    if (!left.signal.aborted) throw error;
    return { ...seen, status: '4xx', billed: 0 };
  } finally {
    left.abort();
    await leaves;
  }
}

async function tryHistory(
  t: ExecutionContext,
  redisUrl: string | undefined,
  history: Wish[][],
): Promise<void> {
  overloaded = false;
  const client = await service.newClient('free');
  const second = dataOf(t, await service.as(client, '/v1/keys', { body: { name: 'second' } }), 201) as {
    id: string;
    key: string;
  };
  const options: GatewayOptions = {
    ...plainOptions,
    dataApiUrls: [dataApi.url],
    accountsApiUrls: [service.url],
    plans,
    redisUrl,
    clock: service.clock,
  };
  const gateways = [await start(options), await start(options)];
  const urls = gateways.map(({ url }) => url);
  const seen: Seen[] = [];
  try {
    for (const burst of history) {
      seen.push(...(await Promise.all(burst.map((each) => call(urls, [client.key, second.key], each)))));
    }
  } finally {
    for (const gateway of gateways) await gateway.close(); // settles
  }

  fc.pre(!overloaded);

  const ids = [client.keyId, second.id];
  const sum = (of: (each: Seen) => string) => {
    const sums: Record<string, { calls: number; billed: number }> = {};
    for (const each of seen) {
      const group = (sums[of(each)] ??= { calls: 0, billed: 0 });
      group.calls += each.calls;
      group.billed += each.billed;
    }
    return sums;
  };
  const billed = seen.reduce((total, each) => total + each.billed, 0);
  const usage = dataOf(t, await service.as(client, '/v1/usage')) as {
    used: number;
    remaining: number;
    by_key: { key_id: string; calls: number; billed: number }[];
    by_endpoint: { endpoint: string; calls: number; billed: number }[];
  };
  t.is(usage.used, billed);
  t.is(usage.remaining, 1000 - billed);
  const shown = (rows: { calls: number; billed: number }[], of: (row: never) => string) =>
    Object.fromEntries(rows.map((row) => [of(row as never), { calls: row.calls, billed: row.billed }]));
  const byKey = sum(({ keyNo }) => ids[keyNo] ?? '');
  const byEndpoint = sum(({ endpoint }) => endpoint);
  t.deepEqual(
    shown(usage.by_key, (row: { key_id: string }) => row.key_id),
    byKey,
  );
  t.deepEqual(
    shown(usage.by_endpoint, (row: { endpoint: string }) => row.endpoint),
    byEndpoint,
  );
  for (const [by, field, expected] of [
    ['key', 'key_id', byKey],
    ['endpoint', 'endpoint', byEndpoint],
    ['status', 'status', sum(({ status }) => status)],
  ] as const) {
    const { data } = (await service.as(client, `/v1/usage/history?by=${by}`)).body as {
      data: { calls: number; billed: number }[];
    };
    t.deepEqual(
      shown(data, (row: Record<string, string>) => row[field] ?? ''),
      expected,
      by,
    );
  }
}

for (const [where, redisUrl] of [
  ['in process', () => undefined],
  ['with Redis', () => redis.url],
] as const) {
  test.serial(
    `${where}: usage and its history equal what clients saw, whether served, refused, cut off or aborted`,
    async (t) => {
      await fc.assert(
        fc.asyncProperty(bursts, (history) => tryHistory(t, redisUrl(), history)),
        { numRuns: runs, endOnFailure: true },
      );
    },
  );
}
