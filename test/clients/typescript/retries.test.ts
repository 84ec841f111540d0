// Retries of the TypeScript client, their waits, and the reading of pages, against a server whose answers a test defines.
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { createClient, type Client } from '../../../clients/typescript/client.ts';
import { AlmanacError } from '../../../clients/typescript/errors.ts';
import { idempotentWrites, type RetryOptions } from '../../../clients/typescript/retries.ts';
import { projectRoot } from '../../../kernel/project.ts';
import { exempt } from '../../openapi/check-answers.ts';

exempt();

interface Answer {
  status: number;
  code?: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** The connection is closed instead. */
  cut?: boolean;
}

const fine: Answer = { status: 200, body: { success: true, data: [] } };

/** A client of a server that gives the answers in turn, the last one again and again; it notes its waits instead of waiting. */
async function clientOf(t: ExecutionContext, answers: Answer[], options: RetryOptions = {}) {
  const asked: string[] = [];
  const waits: number[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const answer = answers[Math.min(asked.length, answers.length) - 1] ?? fine;
    if (answer.cut === true) return void response.destroy();
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
    const error = { code: answer.code, message: `It is ${answer.code}.` };
    return void response.end(JSON.stringify(answer.body ?? { success: false, error }));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const sleep = async (seconds: number) => void waits.push(seconds);
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = createClient({ baseUrl, apiKey: 'pk_live_x', retry: { sleep, ...options } });
  return { client, baseUrl, asked, waits };
}

async function errorOf(t: ExecutionContext, call: Promise<unknown>): Promise<AlmanacError> {
  const thrown = await t.throwsAsync(call, { instanceOf: AlmanacError });
  if (thrown === undefined) throw new Error('The call did not fail.');
  return thrown;
}

const limited = (retryAfter: string): Answer => ({
  status: 429,
  code: 'rate_limited',
  headers: { 'retry-after': retryAfter },
});

test('a call is repeated after the seconds of Retry-After', async (t) => {
  const { client, asked, waits } = await clientOf(t, [limited('7'), limited('2'), fine]);
  t.like(await client.get('/v1/status'), { success: true });
  t.deepEqual([asked.length, waits], [3, [7, 2]]);
});

test('passing faults are repeated three times, with growing waits', async (t) => {
  const faults: Answer[] = [
    { status: 429, code: 'rate_limited' },
    { status: 502, code: 'upstream_error' },
    { status: 503, code: 'unavailable' },
    { status: 504, code: 'upstream_timeout' },
    { status: 502, body: '<h1>of a proxy</h1>' },
    { status: 0, cut: true },
  ];
  for (const fault of faults) {
    const { client, asked, waits } = await clientOf(t, [fault]);
    t.is((await errorOf(t, client.get('/v1/status'))).status, fault.status);
    t.is(asked.length, 4);
    t.deepEqual(
      waits.map((seconds) => 2 ** Math.round(Math.log2(seconds))),
      [0.5, 1, 2],
    );
  }
});

test('a request that would fail again is not repeated', async (t) => {
  const faults: Answer[] = [
    { status: 400, code: 'invalid_parameter' },
    { status: 401, code: 'unauthorized' },
    { status: 402, code: 'quota_exceeded', headers: { 'retry-after': '5' } },
    { status: 404, code: 'not_found' },
    { status: 500, code: 'internal' },
    { status: 503, code: 'billing_not_configured' },
  ];
  for (const fault of faults) {
    const { client, asked } = await clientOf(t, [fault]);
    const { status, code } = await errorOf(t, client.get('/v1/billing/portal'));
    t.deepEqual([status, code, asked.length], [fault.status, fault.code, 1]);
  }
});

test('a call fails at once where it would wait too long in all, or was repeated often enough', async (t) => {
  const first = await clientOf(t, [limited('61')]);
  t.is((await errorOf(t, first.client.get('/v1/status'))).retryAfterSeconds, 61);
  t.deepEqual(first.waits, []);
  const second = await clientOf(t, [limited('25')]);
  await errorOf(t, second.client.get('/v1/status'));
  t.deepEqual(second.waits, [25, 25]);
  const third = await clientOf(t, [limited('25')], { retries: 1, maxWaitSeconds: 30 });
  await errorOf(t, third.client.get('/v1/status'));
  t.deepEqual(third.waits, [25]);
});

test('a write is repeated only if it honours the Idempotency-Key that it has', async (t) => {
  const headers = { 'idempotency-key': 'one' };
  const body = { name: 'a key' };
  const writes: [number, (client: Client) => Promise<unknown>][] = [
    [1, (client) => client.post('/v1/keys', { body })],
    [4, (client) => client.post('/v1/keys', { body, headers })],
    [1, (client) => client.post('/v1/webhooks/{id}/test', { path: { id: 'wh' }, headers })],
    [1, (client) => client.patch('/v1/account', { body: { name: 'Ada' }, headers })],
    [1, (client) => client.delete('/v1/keys/{id}', { path: { id: 'key' }, headers })],
  ];
  for (const [calls, write] of writes) {
    const { client, asked } = await clientOf(t, [{ status: 503, code: 'unavailable' }]);
    await errorOf(t, write(client));
    t.is(asked.length, calls);
  }
  const running: Answer = {
    status: 409,
    code: 'idempotency_in_progress',
    headers: { 'retry-after': '1' },
  };
  const { client, waits } = await clientOf(t, [{ status: 0, cut: true }, running, { ...fine, status: 201 }]);
  t.like(await client.post('/v1/keys', { body, headers }), { success: true });
  t.is(waits[1], 1);
});

test('the writes that are repeated are those that the document gives an Idempotency-Key', (t) => {
  const { paths } = JSON.parse(readFileSync(path.join(projectRoot, 'openapi/openapi.json'), 'utf8')) as {
    paths: Record<string, Record<string, { parameters?: { name?: string }[] }>>;
  };
  const documented = Object.entries(paths).flatMap(([at, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters = [] }]) =>
      parameters.some(({ name }) => name === 'Idempotency-Key') ? [`${method} ${at}`] : [],
    ),
  );
  t.deepEqual(documented.sort(), idempotentWrites.map((at) => `post ${at}`).sort());
});

test('a call that is aborted while it waits ends with the reason of its signal', async (t) => {
  const controller = new AbortController();
  let calls = 0;
  const client = createClient({
    baseUrl: 'http://127.0.0.1:9',
    async fetch() {
      calls += 1;
      setImmediate(() => controller.abort(new Error('the page was left')));
      return new Response('{}', { status: 429, headers: { 'retry-after': '30' } });
    },
  });
  const asked = client.get('/v1/status', { signal: controller.signal });
  await t.throwsAsync(asked, { message: 'the page was left' });
  t.is(calls, 1);
});

test('a redirect is not followed, so the key goes nowhere else', async (t) => {
  const other = await clientOf(t, [fine]);
  const moved: Answer = { status: 302, headers: { location: other.baseUrl }, body: {} };
  const { client, asked } = await clientOf(t, [moved]);
  const { status, code } = await errorOf(t, client.get('/v1/status'));
  t.deepEqual([status, code, asked.length, other.asked.length], [302, 'unexpected_answer', 1, 0]);
});

test('rows are read page by page, to the end or until the loop is left', async (t) => {
  const page = (ids: string[], cursor: string | null): Answer => ({
    status: 200,
    body: { success: true, data: ids.map((id) => ({ id })), pagination: { next_cursor: cursor } },
  });
  const answers = [page(['a', 'b'], 'c+1'), limited('1'), page([], 'c2'), page(['c'], null)];
  const whole = await clientOf(t, answers);
  const found: (string | undefined)[] = [];
  for await (const { id } of whole.client.rows('/v1/funds', { query: { shariah: true } })) found.push(id);
  t.deepEqual(found, ['a', 'b', 'c']);
  t.deepEqual(whole.asked, [
    'GET /v1/funds?limit=1000&shariah=true',
    'GET /v1/funds?limit=1000&shariah=true&cursor=c%2B1',
    'GET /v1/funds?limit=1000&shariah=true&cursor=c%2B1',
    'GET /v1/funds?limit=1000&shariah=true&cursor=c2',
  ]);
  const left = await clientOf(t, answers);
  for await (const { id } of left.client.rows('/v1/funds', { query: { limit: 2 } })) if (id === 'b') break;
  t.deepEqual(left.asked, ['GET /v1/funds?limit=2']);
});
