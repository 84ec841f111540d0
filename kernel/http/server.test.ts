import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { exchange, lines } from '../../test/gateway/raw.ts';
import { silentLog, testIdentitySecret } from '../../test/services/harness.ts';
import { openDatabase } from '../database.ts';
import { fail } from '../errors.ts';
import { createLog } from '../log/log.ts';
import { sendJson } from './reply.ts';
import { endpointsFor } from './service-endpoint.ts';
import { closeServer, listen, startService, type Route, type RunningService } from './server.ts';
import { anonymous, createOpener, createSealer, identityHeader } from '../identity.ts';

const busyMs = 5;

/** Keeps the process busy, like a slow stage. */
function beBusy(): void {
  const until = performance.now() + busyMs;
  while (performance.now() < until);
}

const seal = createSealer(testIdentitySecret, 'data-api');
/** The gateway's identity header for a client's call. */
const headersOf = (method: string, path: string) => ({
  ...{ [identityHeader]: seal(anonymous, method, path), 'x-request-id': 'req_1' },
});

// Port 9 discards; nothing listens there.
const database = openDatabase('postgres://nobody@127.0.0.1:9/none', silentLog, { applicationName: 'test' });

const declare = endpointsFor<null>()({ anyone: { of: () => null, errors: [] } });
const moved = declare({
  summary: 'Sends the client on.',
  requester: 'anyone',
  answers: { 302: null },
  handler: () => ({ status: 302, headers: { location: '/things/1' } }),
});

const routes: Route[] = [
  { method: 'GET', path: '/moved', scope: 'client', handler: moved.handler(null) },
  {
    method: 'GET',
    path: '/things/:id',
    scope: 'client',
    handler: (_request, response) => sendJson(response, 200, { success: true }),
  },
  {
    method: 'DELETE',
    path: '/things/:id',
    scope: 'client',
    handler: () => fail('forbidden', 'Not that one.', { detail: 'secret detail' }),
  },
  {
    method: 'POST',
    path: '/things',
    scope: 'client',
    handler: (request, response) => sendJson(response, 201, request.body),
  },
  {
    method: 'GET',
    path: '/broken',
    scope: 'client',
    handler: () => Promise.reject(new Error('secret cause')),
  },
  {
    method: 'POST',
    path: '/internal/x',
    scope: 'internal',
    handler: (_request, response) => sendJson(response, 200, {}),
  },
  {
    method: 'GET',
    path: '/database',
    scope: 'client',
    async handler() {
      await database.query('select 1');
    },
  },
  {
    method: 'GET',
    path: '/timed',
    scope: 'client',
    async handler(_request, response, call) {
      sendJson(response, 200, { value: await call.stage('sql', beBusy) });
    },
  },
  {
    method: 'GET',
    path: '/half',
    scope: 'client',
    async handler(_request, response) {
      response.type('text/csv');
      await new Promise((resolve) => response.write('date,value\n2024-01-31,1\n', resolve));
      throw new Error('the rest cannot be read');
    },
  },
];

let service: RunningService;
test.before(async () => {
  service = await startService({
    log: silentLog,
    routes,
    openIdentity: createOpener(testIdentitySecret, 'data-api'),
    ready: () => Promise.resolve(),
    host: '127.0.0.1',
    port: 0,
  });
});
test.after.always(() => service.close());

async function call(
  method: string,
  path: string,
  init: RequestInit = {},
): Promise<{ status: number; body: string; headers: Headers }> {
  const response = await fetch(service.url + path, { method, headers: headersOf(method, path), ...init });
  return { status: response.status, body: await response.text(), headers: response.headers };
}

test('a call that bypasses the gateway is refused, whatever its path', async (t) => {
  for (const path of ['/things/1', '/internal/x', '/nowhere']) {
    t.is((await call('GET', path, { headers: {} })).status, 401, path);
    // The sender is a misconfigured gateway, or pretends to be a gateway; a client's credentials cannot be the cause.
    t.is((await call('GET', path, { headers: { [identityHeader]: 'forged' } })).status, 503, path);
  }
});

test('a service survives a token that cannot even be parsed', async (t) => {
  const half = Buffer.from('{').toString('base64url');
  for (const token of ['.', 'a.b.c', `${half}.${half}.x`, `e30.${half}.`, 'x'.repeat(8_000)]) {
    const answer = await call('GET', '/things/1', { headers: { [identityHeader]: token } });
    t.is((JSON.parse(answer.body) as { success: boolean }).success, false, token.slice(0, 20));
  }
  t.is((await call('GET', '/things/1')).status, 200);
});

test("clients get 404 for the gateway's internal endpoints, and the gateway's identity gets 404 for those of clients", async (t) => {
  t.is((await call('POST', '/internal/x')).status, 404);
  const internal = (method: string, path: string) => ({
    [identityHeader]: seal({ ...anonymous, scope: 'internal' }, method, path),
  });
  t.is((await call('POST', '/internal/x', { headers: internal('POST', '/internal/x') })).status, 200);
  t.is((await call('GET', '/things/1', { headers: internal('GET', '/things/1') })).status, 404);
});

test('every failure has the envelope, and no detail of ours', async (t) => {
  const broken = await call('GET', '/broken');
  t.is(broken.status, 500);
  t.false(broken.body.includes('secret'));
  t.like(JSON.parse(broken.body), { success: false, error: { code: 'internal', request_id: 'req_1' } });
  const forbidden = await call('DELETE', '/things/1');
  t.is(forbidden.status, 403);
  t.false(forbidden.body.includes('secret'));
  t.like(JSON.parse((await call('GET', '/nowhere')).body), { success: false, error: { code: 'not_found' } });
});

test('an answer with or without a body names its request, as the gateway accepts no other', async (t) => {
  for (const path of ['/things/1', '/moved', '/nothing']) {
    const { headers } = await call('GET', path, { redirect: 'manual' });
    t.is(headers.get('x-request-id'), 'req_1', path);
  }
  const { status, body, headers } = await call('GET', '/moved', { redirect: 'manual' });
  t.deepEqual([status, body, headers.get('location')], [302, '', '/things/1']);
});

test('a failure within the body cuts the connection, so that a truncated body never looks complete', async (t) => {
  const response = await fetch(`${service.url}/half`, { headers: headersOf('GET', '/half') });
  t.is(response.status, 200);
  const received: string[] = [];
  await t.throwsAsync(async () => {
    for await (const chunk of response.body ?? []) received.push(Buffer.from(chunk).toString());
  });
  t.is(received.join(''), 'date,value\n2024-01-31,1\n', 'no envelope follows the part that was sent');
  t.is((await call('GET', '/things/1')).status, 200, 'the service goes on serving');
});

test('a path answers an unsupported method with 405 and names those that it supports', async (t) => {
  const answer = await call('PATCH', '/things/1');
  t.is(answer.status, 405);
  t.is(answer.headers.get('allow'), 'GET, HEAD, DELETE');
});

test('a path has only one spelling: no other letter case, no trailing slash', async (t) => {
  t.is((await call('GET', '/things/1')).status, 200);
  for (const path of ['/Things/1', '/things/1/']) t.is((await call('GET', path)).status, 404, path);
});

test('a target that is not a path is also answered with the envelope', async (t) => {
  for (const line of [
    'OPTIONS *',
    'GET //',
    'GET http://other.example',
    'GET http://a?b',
    'GET http://?',
    'GET /%',
  ]) {
    const answers = await exchange(service.url, lines(`${line} HTTP/1.1`, 'Host: a', 'Connection: close'));
    t.is(answers.length, 1, line);
    t.regex(answers[0]?.headers ?? '', /^HTTP\/1\.1 4\d\d .*application\/json/s, line);
    t.regex(answers[0]?.body ?? '', /^{"success":false,"error":{"code":"unauthorized"/, line);
  }
});

test('HEAD works wherever GET does', async (t) => {
  const answer = await call('HEAD', '/things/1');
  t.is(answer.status, 200);
  t.is(answer.body, '');
});

test('a body that is too large, malformed or not JSON is refused with its own code', async (t) => {
  const headers = headersOf('POST', '/things');
  const json = { ...headers, 'content-type': 'application/json' };
  t.is((await call('POST', '/things', { headers: json, body: '{"a":1}' })).status, 201);
  t.is((await call('POST', '/things', { headers: json, body: '{"a":' })).status, 400);
  t.is(
    (await call('POST', '/things', { headers: json, body: JSON.stringify({ a: 'x'.repeat(70_000) }) }))
      .status,
    413,
  );
  t.is(
    (await call('POST', '/things', { headers: { ...headers, 'content-type': 'text/plain' }, body: 'a' }))
      .status,
    415,
  );
});

const unreadable: [what: string, headers: Record<string, string>, body: string | Buffer][] = [
  ['that is no JSON', {}, '{"a":'],
  ['in a charset that nobody knows', { 'content-type': 'application/json; charset=klingon' }, '{}'],
  ['in a charset that only looks like UTF-8', { 'content-type': 'application/json; charset=utf-9' }, '{}'],
  ['in an encoding that nobody knows', { 'content-encoding': 'klingon' }, '{}'],
  ['that claims to be gzip and is not', { 'content-encoding': 'gzip' }, '{}'],
  ['whose gzip lacks its end', { 'content-encoding': 'gzip' }, gzipSync('{}').subarray(0, -4)],
];
for (const [what, more, body] of unreadable) {
  test(`a body ${what} is refused as invalid, not as an internal error`, async (t) => {
    const json = { ...headersOf('POST', '/things'), 'content-type': 'application/json', ...more };
    const answer = await call('POST', '/things', { headers: json, body });
    t.is(answer.status, 400);
    t.like(JSON.parse(answer.body), {
      error: { code: 'invalid_body', message: 'The body is not valid JSON in UTF-8.' },
    });
  });
}

test('the error states the maximum length of a body, which is counted after decompression', async (t) => {
  const packed = gzipSync(JSON.stringify({ a: 'x'.repeat(70_000) }));
  const gzip = {
    ...headersOf('POST', '/things'),
    'content-type': 'application/json',
    'content-encoding': 'gzip',
  };
  const answer = await call('POST', '/things', { headers: gzip, body: packed });
  t.is(answer.status, 413);
  t.like(JSON.parse(answer.body), {
    error: { code: 'payload_too_large', message: 'The body must be at most 64 KB.' },
  });
  const short = await call('POST', '/things', { headers: gzip, body: gzipSync('{"a":1}') });
  t.is(short.body, '{"a":1}');
});

test('a client that leaves within its body is not logged as an internal error', async (t) => {
  const lines: string[] = [];
  const left = new AbortController();
  const brief = await startService({
    log: createLog('data-api', 'trace', { write: (line) => void lines.push(line) }),
    routes,
    openIdentity: Object.assign(
      () => {
        setImmediate(() => left.abort()); // the body is being read by then
        return anonymous;
      },
      { whyRefused: () => '' },
    ),
    ready: () => Promise.resolve(),
    host: '127.0.0.1',
    port: 0,
  });
  const json = { 'content-type': 'application/json', 'content-length': 10 };
  const asked = request(`${brief.url}/things`, { method: 'POST', headers: json, signal: left.signal });
  const gone = once(asked, 'error');
  asked.write('{');
  await gone;
  await brief.close();
  t.deepEqual(lines, []);
});

test('a service without its database answers `unavailable`, with the time to retry', async (t) => {
  const answer = await call('GET', '/database');
  t.is(answer.status, 503);
  t.like(JSON.parse(answer.body), { error: { code: 'unavailable' } });
  t.truthy(answer.headers.get('retry-after'));
});

test('the stages of a call are in its Server-Timing, in milliseconds', async (t) => {
  const since = performance.now();
  const timing = (await call('GET', '/timed')).headers.get('server-timing') ?? '';
  const wholeMs = performance.now() - since;
  const stageMs = Number(/^sql;dur=(\d+(?:\.\d{1,2})?)$/.exec(timing)?.[1]);
  t.true(stageMs >= busyMs && stageMs <= wholeMs, `${timing} of ${wholeMs} ms`);
});

test('a closing server ends even if a client keeps calling on a keep-alive connection', async (t) => {
  let pending: ServerResponse | undefined;
  let closed: Promise<void> | undefined;
  const server = createServer((_request, response) => {
    if (pending !== undefined) {
      response.end('another');
      return;
    }
    pending = response;
    closed = closeServer(server);
    response.write('begun before, '); // its head says that the connection is kept
    setImmediate(() => response.end('ended after'));
  });
  const url = await listen(server, '127.0.0.1', 0);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const answers: string[] = [];
  await t.throwsAsync(async () => {
    for (;;) answers.push(await get(url, agent));
  });
  t.is(answers[0], 'begun before, ended after');
  t.true(answers.length <= 2, `${answers.length} answers`);
  await closed;
});

test('when a server has closed, the response to a client that had left has also closed', async (t) => {
  const closedParts: string[] = [];
  const left = new AbortController();
  const server = createServer((_request, response) => {
    response.once('close', () => closedParts.push('response'));
    server.once('close', () => closedParts.push('server'));
    left.abort();
  });
  await t.throwsAsync(fetch(await listen(server, '127.0.0.1', 0), { signal: left.signal }));
  await closeServer(server);
  t.deepEqual(closedParts.toSorted(), ['response', 'server']);
});

async function get(url: string, agent: Agent): Promise<string> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { agent }, resolve).once('error', reject).end();
  });
  let text = '';
  for await (const chunk of answer) text += String(chunk);
  return text;
}

test('connections that are established before the server closes are answered, also if it was too busy to accept them', async (t) => {
  const server = createServer((_request, response) => response.end('served'));
  const url = await listen(server, '127.0.0.1', 0);
  const connections = 3;
  const connected = new Int32Array(new SharedArrayBuffer(4));
  const client = new Worker(
    `const { connect } = require('node:net');
    const { parentPort, workerData: { port, connections, connected } } = require('node:worker_threads');
    for (let i = 0; i < connections; i += 1) {
      let text = '';
      const socket = connect(port, '127.0.0.1', () => {
        socket.write('POST / HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 0\\r\\n\\r\\n');
        if (Atomics.add(connected, 0, 1) + 1 === connections) Atomics.notify(connected, 0);
      });
      socket.on('data', (chunk) => (text += chunk));
      socket.on('error', ({ code }) => (text = code));
      socket.on('close', () => parentPort.postMessage(text));
    }`,
    { eval: true, workerData: { port: Number(new URL(url).port), connections, connected } },
  );
  const answers: string[] = [];
  const answered = new Promise<void>((resolve) => {
    client.on('message', (text: string) => answers.push(text) === connections && resolve());
  });
  // This thread, which accepts connections, is busy until all are established.
  for (let count = 0; count < connections; count = Atomics.load(connected, 0))
    Atomics.wait(connected, 0, count);
  await closeServer(server);
  await answered;
  for (const text of answers) t.regex(text, /^HTTP\/1\.1 200 OK\r\n.*served$/s);
  await client.terminate();
});
