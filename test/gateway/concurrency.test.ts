// How many answers of an account are under way at once, and how long one may take as a whole.
import type { ServerResponse } from 'node:http';
import test, { type ExecutionContext } from 'ava';
import { createAnswers, type Answer } from '../../gateway/quota/answers.ts';
import { openRedis } from '../../kernel/redis.ts';
import { until, within } from '../run/until.ts';
import { startAccountsService } from '../services/accounts-service.ts';
import { silentLog, testRedisUrl } from '../services/harness.ts';
import { startRedis } from '../services/redis.ts';
import { projectPlans, unhurried } from '../services/services.ts';
import { noon, startTestGateway, type TestGateway } from './recording-upstream.ts';

const accounts = await startAccountsService(noon, silentLog, { redisUrl: testRedisUrl() });
test.after.always(() => accounts.close());

const most = 3;
const all = unhurried(projectPlans()).all.map((plan) => ({ ...plan, concurrency: most }));
const plans = { ...projectPlans(), all, get: (id: string) => all.find((plan) => plan.id === id) };

/** Answers begin at the path /v1/series/HELD, and end when the test ends them; other paths are answered at once. */
function holdAnswers({ dataApi }: TestGateway): ServerResponse[] {
  const held: ServerResponse[] = [];
  const answerOthers = dataApi.answer;
  dataApi.answer = (request, response) => {
    if (request.url !== '/v1/series/HELD') return answerOthers(request, response);
    response.writeHead(200, { 'content-type': 'text/csv' });
    response.write('date,value\r\n');
    held.push(response);
  };
  return held;
}

// An answer that nothing refers to is collected some time, and its connection closed: so they are kept.
const begunAnswers: Promise<Response>[] = [];

/** Calls for an answer that is held. `head` resolves when its head has arrived. */
function begin(gateway: TestGateway, key: string) {
  const client = new AbortController();
  const head = fetch(`${gateway.url}/v1/series/HELD`, {
    headers: { 'x-api-key': key },
    signal: client.signal,
  });
  begunAnswers.push(head);
  return { head, leave: () => client.abort() };
}

const get = (gateway: TestGateway, key: string) =>
  fetch(`${gateway.url}/v1/series/A`, { headers: { 'x-api-key': key } });

async function fill(t: ExecutionContext, gateway: TestGateway, key: string) {
  const begun: ReturnType<typeof begin>[] = [];
  while (begun.length < most) {
    const next = begin(gateway, key);
    t.is((await next.head).status, 200);
    begun.push(next); // in the order in which they reach the service
  }
  return begun;
}

for (const [name, redisUrl] of [
  ['in one process', undefined],
  ['through Redis', testRedisUrl()],
] as const) {
  test(`beyond the answers that a plan allows at once a call is 429, and a place is free however an answer ends, ${name}`, async (t) => {
    const gateway = await startTestGateway({ accounts, redisUrl, plans });
    t.teardown(() => gateway.close());
    const held = holdAnswers(gateway);
    const [client, other] = [await accounts.newClient('free'), await accounts.newClient('free')];
    const begun = await fill(t, gateway, client.key);
    const refused = await get(gateway, client.key);
    t.is(refused.status, 429);
    t.is(refused.headers.get('retry-after'), '1');
    t.regex(
      await refused.text(),
      /"rate_limited".*the plan allows 3 answers of an account under way at once/,
    );
    t.is((await get(gateway, other.key)).status, 200);
    const ends: Record<string, () => void> = {
      whole: () => held[0]?.end(),
      'left by its client': () => begun[1]?.leave(),
      'cut off by the service': () => held[2]?.destroy(),
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
    for (const response of held) response.end();
    await Promise.allSettled(begun.map(async ({ head }) => (await head).text()));
    gateway.dataApi.answer = (_request, response) => response.writeHead(500).end('{}');
    for (let i = 0; i < 2 * most; i += 1)
      t.is((await get(gateway, client.key)).status, 500, 'a failure frees its place');
  });
}

test('an answer that exceeds its deadline is 504, or cut off if it has begun, and its call is not billed', async (t) => {
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
  const streamed = await call('STREAM');
  t.is(streamed.status, 200);
  await within('the stream is cut', t.throwsAsync(streamed.text()));
  await within('the stream is cut at the service', cutOfLast());
  await until('both calls are refunded', async () => (await accounts.used(client)) === 0);
});

const neverLate = () => undefined;

test('a call that waits begins when a place becomes free, those that came first before it', async (t) => {
  const answers = createAnswers({ redis: undefined, withinMs: 60_000, log: silentLog });
  t.teardown(() => answers.close());
  const [first, second] = [answers.begin('a', 2, neverLate), answers.begin('a', 2, neverLate)] as Answer[];
  const order: string[] = [];
  const third = Promise.resolve(answers.begin('a', 2, neverLate)).then(
    (answer) => (order.push('third'), answer),
  );
  const fourth = Promise.resolve(answers.begin('a', 2, neverLate)).then(
    (answer) => (order.push('fourth'), answer),
  );
  first?.end();
  first?.end(); // frees one place, not two
  t.not(await third, null);
  t.deepEqual(order, ['third']);
  t.is(await fourth, null, 'no second place became free');
  second?.end();
  (await third)?.end();
  t.false(answers.begin('a', 1, neverLate) instanceof Promise);
});

test('long answers count at all gateways, and those of a gateway that is gone no longer than two seconds', async (t) => {
  const server = await startRedis();
  t.teardown(() => server.stop());
  const [here, there] = await Promise.all(
    [1, 2].map(async () => {
      const redis = openRedis(server.url, silentLog);
      await redis.opened();
      const answers = createAnswers({ redis, withinMs: 60_000, log: silentLog });
      t.teardown(async () => {
        await answers.close();
        redis.close();
      });
      return answers;
    }),
  );
  if (here === undefined || there === undefined) throw new Error('There are two.');
  const begin = (answers: typeof here) => answers.begin('a', 2, neverLate);
  const held = [begin(here), begin(here)] as Answer[];
  const isFull = async () => {
    const answer = await begin(there);
    answer?.end();
    return answer === null;
  };
  await until('the other gateway counts them', isFull);
  for (const answer of held) answer.end();
  await until('the other gateway no longer counts them', async () => !(await isFull()));
  await until('the other gateway counts those of two that are gone', async () => {
    const [seconds] = (await server.command('time')) as string[];
    await server.command('hset', 'almanac:answers', 'one', `${seconds}000 {"a":1,"b":7}`);
    await server.command('hset', 'almanac:answers', 'two', `${seconds}000 {"a":1}`);
    return isFull();
  });
  await until('they have expired', async () => !(await isFull()));
  await until(
    'they are deleted',
    async () => String(await server.command('hkeys', 'almanac:answers')) === '',
  );
  t.false(await isFull());
});
