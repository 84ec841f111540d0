// The limit of concurrent answers per account, and the total deadline of an answer.
import type { ServerResponse } from 'node:http';
import test, { type ExecutionContext } from 'ava';
import { until, untilThere, within } from '../run/until.ts';
import { startAccountsService } from '../services/accounts-service.ts';
import { silentLog, testRedisUrl } from '../services/harness.ts';
import { projectPlans, unhurried } from '../services/services.ts';
import { noon, startTestGateway, type TestGateway } from './recording-upstream.ts';

const accounts = await startAccountsService(noon, silentLog, { redisUrl: testRedisUrl() });
test.after.always(() => accounts.close());

const most = 3;
const all = unhurried(projectPlans()).all.map((plan) => ({ ...plan, concurrency: most }));
const plans = { ...projectPlans(), all, get: (id: string) => all.find((plan) => plan.id === id) };

/** Answers to /v1/series/HELD begin at once and end when the test ends them; other paths are answered at once. */
function delayAnswers({ dataApi }: TestGateway): ServerResponse[] {
  const delayed: ServerResponse[] = [];
  const answerOthers = dataApi.answer;
  dataApi.answer = (request, response) => {
    if (request.url !== '/v1/series/HELD') return answerOthers(request, response);
    response.writeHead(200, { 'content-type': 'text/csv' });
    response.write('date,value\r\n');
    delayed.push(response);
  };
  return delayed;
}

// References keep the answers from being garbage-collected, which would close their connections.
const startedAnswers: Promise<Response>[] = [];

/** Requests a held answer. `head` resolves when its head has arrived. */
function begin(gateway: TestGateway, key: string) {
  const client = new AbortController();
  const head = fetch(`${gateway.url}/v1/series/HELD`, {
    headers: { 'x-api-key': key },
    signal: client.signal,
  });
  startedAnswers.push(head);
  return { head, leave: () => client.abort() };
}

const get = (gateway: TestGateway, key: string) =>
  fetch(`${gateway.url}/v1/series/A`, { headers: { 'x-api-key': key } });

async function fill(t: ExecutionContext, gateway: TestGateway, key: string) {
  const started: ReturnType<typeof begin>[] = [];
  while (started.length < most) {
    const next = begin(gateway, key);
    t.is((await next.head).status, 200);
    started.push(next); // in the order in which they reach the service
  }
  return started;
}

for (const [name, redisUrl] of [
  ['in one process', undefined],
  ['through Redis', testRedisUrl()],
] as const) {
  test(`beyond the answers that a plan allows at once a call is 429, and a place is free however an answer ends, ${name}`, async (t) => {
    const gateway = await startTestGateway({ accounts, redisUrl, plans });
    t.teardown(() => gateway.close());
    const delayed = delayAnswers(gateway);
    const [client, other] = [await accounts.newClient('free'), await accounts.newClient('free')];
    const started = await fill(t, gateway, client.key);
    const refused = await get(gateway, client.key);
    t.is(refused.status, 429);
    t.is(refused.headers.get('retry-after'), '1');
    t.regex(await refused.text(), /"rate_limited".*your plan allows 3 concurrent requests/);
    t.is((await get(gateway, other.key)).status, 200);
    const ends: Record<string, () => void> = {
      whole: () => delayed[0]?.end(),
      'left by its client': () => started[1]?.leave(),
      'cut off by the service': () => delayed[2]?.destroy(),
    };
    for (const [how, end] of Object.entries(ends)) {
      end();
      await until(
        `there is a place after an answer ${how}`,
        async () => (await get(gateway, client.key)).status === 200,
      );
      const again = begin(gateway, client.key);
      t.is((await again.head).status, 200, how);
      t.is((await get(gateway, client.key)).status, 429, how);
    }
    for (const response of delayed) response.end();
    await Promise.allSettled(started.map(async ({ head }) => (await head).text()));
    gateway.dataApi.answer = (_request, response) => response.writeHead(500).end('{}');
    for (let i = 0; i < 2 * most; i += 1)
      t.is((await get(gateway, client.key)).status, 500, 'a failure frees its place');
  });
}

test('an answer that exceeds its deadline is 504, or cut off if it has begun, and the call is not billed', async (t) => {
  const gateway = await startTestGateway({ accounts, plans, answerWithinMs: 1_500 });
  t.teardown(() => gateway.close());
  const client = await accounts.newClient('free');
  gateway.dataApi.answer = (request, response) => {
    if (request.url !== '/v1/series/STREAM') return; // silent
    response.writeHead(200, { 'content-type': 'text/csv' });
    const writing = setInterval(() => response.write('2024-01-01,1\r\n'), 20);
    response.once('close', () => clearInterval(writing));
  };
  const call = (id: string) =>
    fetch(`${gateway.url}/v1/series/${id}`, { headers: { 'x-api-key': client.key } });
  const cutOfLast = async () => gateway.dataApi.received.at(-1)?.cut;
  const silent = await within('the silent call is answered', call('SILENT'));
  t.is(silent.status, 504);
  t.like(await silent.json(), { error: { code: 'upstream_timeout' } });
  await within('the silent call is cut at the service', cutOfLast());
  const streamed = await untilThere('a stream begins before its deadline', async () => {
    const response = await call('STREAM');
    return response.status === 200 ? response : undefined;
  });
  await within('the stream is cut', t.throwsAsync(streamed.text()));
  await within('the stream is cut at the service', cutOfLast());
  await until('both calls are refunded', async () => (await accounts.used(client)) === 0);
});
