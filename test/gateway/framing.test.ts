import test from 'ava';
import { exchange, lines } from './raw.ts';
import { startTestGateway } from './stand-ins.ts';

const gateway = await startTestGateway();
const { key } = gateway.accounts.addAccount();
test.after.always(() => gateway.close());

const smuggled = lines('GET /internal/stolen HTTP/1.1', 'Host: a');
const chunked = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;

const attacks: Record<string, string> = {
  'a chunked DELETE':
    lines('DELETE /v1/keys/1 HTTP/1.1', 'Host: a', `X-API-Key: ${key}`, 'Transfer-Encoding: chunked') +
    chunked,
  'a DELETE with a length':
    lines(
      'DELETE /v1/keys/1 HTTP/1.1',
      'Host: a',
      `X-API-Key: ${key}`,
      `Content-Length: ${smuggled.length}`,
    ) + smuggled,
  'a chunked GET':
    lines('GET /v1/series/A HTTP/1.1', 'Host: a', `X-API-Key: ${key}`, 'Transfer-Encoding: chunked') +
    chunked,
  'a GET with a length':
    lines('GET /v1/catalog HTTP/1.1', 'Host: a', `Content-Length: ${smuggled.length}`) + smuggled,
  'a HEAD with a length':
    lines('HEAD /v1/catalog HTTP/1.1', 'Host: a', `Content-Length: ${smuggled.length}`) + smuggled,
  'a chunked OPTIONS':
    lines('OPTIONS /v1/catalog HTTP/1.1', 'Host: a', 'Transfer-Encoding: chunked') + chunked,
  'a length beside chunked':
    lines('POST /auth/login HTTP/1.1', 'Host: a', 'Content-Length: 5', 'Transfer-Encoding: chunked') +
    chunked,
  'chunked beside a length':
    lines('POST /auth/login HTTP/1.1', 'Host: a', 'Transfer-Encoding: chunked', 'Content-Length: 5') +
    chunked,
  'two lengths':
    lines('POST /auth/login HTTP/1.1', 'Host: a', 'Content-Length: 0', `Content-Length: ${smuggled.length}`) +
    smuggled,
  'a list of lengths':
    lines('POST /auth/login HTTP/1.1', 'Host: a', `Content-Length: 0, ${smuggled.length}`) + smuggled,
  'a signed length':
    lines('POST /auth/login HTTP/1.1', 'Host: a', `Content-Length: +${smuggled.length}`) + smuggled,
  'another coding before chunked':
    lines('POST /auth/login HTTP/1.1', 'Host: a', 'Transfer-Encoding: gzip, chunked') + chunked,
  'chunked that is not last':
    lines('POST /auth/login HTTP/1.1', 'Host: a', 'Transfer-Encoding: chunked, identity') + chunked,
  'chunked in disguise':
    lines('POST /auth/login HTTP/1.1', 'Host: a', 'Transfer-Encoding: xchunked') + chunked,
  'a space before the colon':
    lines('POST /auth/login HTTP/1.1', 'Host: a', 'Transfer-Encoding : chunked') + chunked,
  'a folded header':
    lines('POST /auth/login HTTP/1.1', 'Host: a', 'Transfer-Encoding:', ' chunked') + chunked,
  'a bare line feed': 'GET /v1/catalog HTTP/1.1\nHost: a\nContent-Length: 0\n\n',
  'a chunk longer than it says':
    lines('POST /auth/login HTTP/1.1', 'Host: a', 'Transfer-Encoding: chunked') +
    `1\r\n${smuggled}\r\n0\r\n\r\n`,
};

for (const [name, bytes] of Object.entries(attacks)) {
  test.serial(`${name} is refused, and no part of it reaches a room`, async (t) => {
    const before = gateway.dataApi.received.length + gateway.accounts.upstream.received.length;
    const answers = await exchange(gateway.url, bytes);
    t.deepEqual(
      answers.map(({ status }) => status),
      [400],
    );
    if (!bytes.startsWith('HEAD')) {
      t.regex(answers[0]?.body ?? '', /^\{"success":false,"error":\{"code":"invalid_request"/);
    }
    t.regex(answers[0]?.headers ?? '', /connection: close/i);
    t.is(gateway.dataApi.received.length + gateway.accounts.upstream.received.length, before);
  });
}

test.serial('a request without Host is refused', async (t) => {
  const [answer] = await exchange(gateway.url, lines('GET /v1/catalog HTTP/1.1', 'Connection: close'));
  t.is(answer?.status, 400);
  t.regex(answer?.body ?? '', /Host header/);
});

test.serial('an honest chunked body reaches the room whole, with its length', async (t) => {
  const body = '4\r\n{"a"\r\n3\r\n:1}\r\n0\r\n\r\n';
  const head = lines(
    'POST /auth/login HTTP/1.1',
    'Host: a',
    'Connection: close',
    'Transfer-Encoding: chunked',
  );
  const [answer] = await exchange(gateway.url, head + body);
  t.is(answer?.status, 200);
  const received = gateway.accounts.upstream.received.at(-1);
  t.is(received?.body, '{"a":1}');
  t.is(received?.headers['content-length'], '7');
  t.is(received?.headers['transfer-encoding'], undefined);
});

test.serial('a body beyond 64 KB is refused, told or streamed, and does not reach a room', async (t) => {
  const before = gateway.accounts.upstream.received.length;
  const told = await fetch(`${gateway.url}/auth/login`, { method: 'POST', body: 'x'.repeat(64 * 1024 + 1) });
  t.is(told.status, 413);
  const streamed = await fetch(`${gateway.url}/auth/login`, {
    method: 'POST',
    body: new Blob(['x'.repeat(64 * 1024 + 1)]).stream(),
    duplex: 'half',
  });
  t.is(streamed.status, 413);
  t.is(((await streamed.json()) as { error: { code: string } }).error.code, 'payload_too_large');
  t.is(gateway.accounts.upstream.received.length, before);
});

test.serial('headers beyond the limit are answered 431 as an envelope', async (t) => {
  const [answer] = await exchange(
    gateway.url,
    lines('GET /v1/catalog HTTP/1.1', 'Host: a', `X: ${'a'.repeat(20_000)}`),
  );
  t.is(answer?.status, 431);
  t.regex(answer?.body ?? '', /"code":"header_fields_too_large"/);
});

test.serial('junk in place of a request is answered 400 as an envelope', async (t) => {
  const [answer] = await exchange(gateway.url, 'HELO mail\r\n\r\n');
  t.is(answer?.status, 400);
  t.regex(answer?.body ?? '', /"code":"invalid_request"/);
});
