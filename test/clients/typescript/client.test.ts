// The core of the TypeScript client, against a server whose answers a test defines.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { createClient } from '../../../clients/typescript/client.ts';
import { AlmanacError } from '../../../clients/typescript/errors.ts';
import { exempt } from '../../openapi/check-answers.ts';

exempt();

interface Received {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** A server whose answers `answer` writes. @returns its URL, and the received requests. */
async function serverThat(t: ExecutionContext, answer: (response: ServerResponse) => void) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    received.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
    answer(response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

const json = (body: unknown, status = 200, headers = {}) => {
  return (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
    response.end(JSON.stringify(body));
  };
};

test('a call sends its path, its query and the key, and resolves to the body', async (t) => {
  const { baseUrl, received } = await serverThat(t, json({ series: 'A/B', data: [] }));
  const client = createClient({ baseUrl: `${baseUrl}/`, apiKey: 'pk_live_x' });
  const answer = await client.get('/v1/series/{id}', {
    path: { id: 'A/B' },
    query: { from: '2020', dims: ['side:buy|sell', 'city:x'], fields: ['date'] },
  });
  t.is(answer.series, 'A/B');
  t.is(received[0]?.url, '/v1/series/A%2FB?from=2020&dims=side%3Abuy%7Csell%2Ccity%3Ax&fields=date');
  t.is(received[0]?.method, 'GET');
  t.is(received[0]?.headers['x-api-key'], 'pk_live_x');
  t.is(received[0]?.headers['x-session-token'], undefined);
});

test('a comma of a text in a list does not divide it', async (t) => {
  const { baseUrl, received } = await serverThat(t, json({ success: true, data: [] }));
  await createClient({ baseUrl }).get('/v1/catalog', { query: { source: ['Food, drink', 'Office'] } });
  t.is(received[0]?.url, '/v1/catalog?source=%22Food%2C+drink%22%2COffice');
});

test('the session is asked at each call, and sent in its header only', async (t) => {
  const { baseUrl, received } = await serverThat(t, json({ success: true, data: {} }, 201));
  let token: string | undefined = 'first';
  const client = createClient({ baseUrl, session: () => token });
  await client.post('/v1/keys', { body: { name: 'a key' }, headers: { 'Idempotency-Key': 'one' } });
  token = undefined;
  await client.get('/v1/account');
  t.is(received[0]?.headers['x-session-token'], 'first');
  t.is(received[0]?.headers['idempotency-key'], 'one');
  t.is(received[0]?.headers['content-type'], 'application/json');
  t.is(received[0]?.body, '{"name":"a key"}');
  t.is(received[1]?.headers['x-session-token'], undefined);
});

test('a Blob is sent as its bytes, not as JSON', async (t) => {
  const { baseUrl, received } = await serverThat(t, json({ success: true, data: { id: 'a' } }, 201));
  const client = createClient({ baseUrl, session: () => 'sess_x' });
  const { data } = await client.post('/v1/operator/uploads', {
    query: { name: 'a.csv' },
    body: new Blob(['date,value\n'], { type: 'text/csv' }),
  });
  t.is(data.id, 'a');
  t.like(received[0], { url: '/v1/operator/uploads?name=a.csv', body: 'date,value\n' });
  t.is(received[0]?.headers['content-type'], 'application/octet-stream');
});

test('an answer without a body resolves to undefined, and CSV is read as text', async (t) => {
  const { baseUrl } = await serverThat(t, (response) => response.writeHead(204).end());
  t.is(await createClient({ baseUrl }).delete('/v1/keys/{id}', { path: { id: 'x' } }), undefined);
  const csv = await serverThat(t, (response) => {
    response.writeHead(200, { 'content-type': 'text/csv' }).end('date,value\n');
  });
  const client = createClient({ baseUrl: csv.baseUrl });
  const text = await client.getText('/v1/series/{id}', { path: { id: 'x' }, query: { format: 'csv' } });
  t.is(text, 'date,value\n');
});

test('an error of the API is thrown with all its fields', async (t) => {
  const error = {
    code: 'rate_limited',
    message: 'Too many requests.',
    param: 'limit',
    docs_url: '/docs/errors#rate_limited',
    request_id: 'r-1',
  };
  const { baseUrl } = await serverThat(t, json({ success: false, error }, 429, { 'retry-after': '7' }));
  const thrown = await t.throwsAsync(createClient({ baseUrl, retry: { retries: 0 } }).get('/v1/status'), {
    instanceOf: AlmanacError,
  });
  t.like(thrown, {
    status: 429,
    code: 'rate_limited',
    message: 'Too many requests.',
    param: 'limit',
    docsUrl: '/docs/errors#rate_limited',
    requestId: 'r-1',
    retryAfterSeconds: 7,
  });
});

test('an answer of something else, such as a proxy, is an error with its status', async (t) => {
  const { baseUrl } = await serverThat(t, (response) => {
    response
      .writeHead(502, { 'content-type': 'text/html', 'x-request-id': 'p-1' })
      .end('<h1>Bad gateway</h1>');
  });
  const thrown = await t.throwsAsync(createClient({ baseUrl, retry: { retries: 0 } }).get('/v1/status'), {
    instanceOf: AlmanacError,
  });
  t.like(thrown, { status: 502, code: 'unexpected_answer', requestId: 'p-1' });
});

test('an answer of 200 that is not JSON, such as the page of a proxy, is an error too', async (t) => {
  const { baseUrl } = await serverThat(t, (response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in to the network</h1>');
  });
  const client = createClient({ baseUrl });
  for (const call of [client.get('/v1/status'), client.rows('/v1/funds').next()]) {
    const thrown = await t.throwsAsync(call, { instanceOf: AlmanacError });
    t.like(thrown, { status: 200, code: 'unexpected_answer' });
  }
});

test('a connection that ends without a whole answer is the error "unreachable"', async (t) => {
  const { baseUrl } = await serverThat(t, (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
    response.write('{');
    response.socket?.destroySoon();
  });
  const thrown = await t.throwsAsync(createClient({ baseUrl, retry: { retries: 0 } }).get('/v1/status'), {
    instanceOf: AlmanacError,
  });
  t.like(thrown, { status: 0, code: 'unreachable' });
});

test('an aborted call throws the reason of its signal', async (t) => {
  const controller = new AbortController();
  const { baseUrl } = await serverThat(t, () => controller.abort(new Error('the page was left')));
  const asked = createClient({ baseUrl }).get('/v1/status', { signal: controller.signal });
  await t.throwsAsync(asked, { message: 'the page was left' });
});

test('a path parameter that is missing or empty is refused before anything is sent', async (t) => {
  const client = createClient({ baseUrl: 'http://127.0.0.1:1' });
  await t.throwsAsync(client.get('/v1/series/{id}', { path: { id: '' } }), {
    instanceOf: TypeError,
    message: 'The path /v1/series/{id} needs "id".',
  });
});
