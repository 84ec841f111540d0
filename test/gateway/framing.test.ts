import { once } from 'node:events';
import test, { type ExecutionContext } from 'ava';
import { mintApiKey } from '../../kernel/credentials/api-key.ts';
import { within } from '../run/until.ts';
import { exchange, lines, openSocket, parseAnswers, type RawAnswer } from './raw.ts';
import { startRecordingUpstream, startTestGateway } from './recording-upstream.ts';

// No call here gets so far that accounts-api would be asked about its key.
const accountsApi = await startRecordingUpstream('accounts-api');
const gateway = await startTestGateway({ accountsApiUrls: [accountsApi.url] });
const key = mintApiKey();
test.after.always(async () => {
  await gateway.close();
  await accountsApi.close();
});

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
  'a header folded over two lines':
    lines('POST /auth/login HTTP/1.1', 'Host: a', 'X-A: b', ' Transfer-Encoding: chunked') + chunked,
  'a carriage return in a header': 'GET /v1/catalog HTTP/1.1\r\nHost: a\r\nX: a\rContent-Length: 5\r\n\r\n',
  'a zero byte in a header': lines('GET /v1/catalog HTTP/1.1', 'Host: a', 'X: a\0b'),
  'a length in hexadecimal': lines('POST /auth/login HTTP/1.1', 'Host: a', 'Content-Length: 0x5') + 'hello',
  'a length beyond counting':
    lines('POST /auth/login HTTP/1.1', 'Host: a', 'Content-Length: 99999999999999999999') + smuggled,
  'a negative chunk':
    lines('POST /auth/login HTTP/1.1', 'Host: a', 'Transfer-Encoding: chunked') + `-1\r\n${smuggled}`,
  'two transfer encodings':
    lines(
      'POST /auth/login HTTP/1.1',
      'Host: a',
      'Transfer-Encoding: chunked',
      'Transfer-Encoding: chunked',
    ) + chunked,
  'a second Host': lines('GET /v1/catalog HTTP/1.1', 'Host: a', 'Host: b'),
  'HTTP/1.0 with chunks':
    lines('POST /auth/login HTTP/1.0', 'Host: a', 'Transfer-Encoding: chunked') + chunked,
  'HTTP/0.9': 'GET /v1/catalog\r\n\r\n',
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'a chunk longer than it says':
    lines('POST /auth/login HTTP/1.1', 'Host: a', 'Transfer-Encoding: chunked') +
    `1\r\n${smuggled}\r\n0\r\n\r\n`,
};

for (const [name, bytes] of Object.entries(attacks)) {
  test.serial(`${name} is refused, and no part of it reaches a service`, async (t) => {
    const before = gateway.dataApi.received.length + accountsApi.received.length;
    const answers = await exchange(gateway.url, bytes);
    t.deepEqual(
      answers.map(({ status }) => status),
      [400],
    );
    if (!bytes.startsWith('HEAD')) {
      t.regex(answers[0]?.body ?? '', /^\{"success":false,"error":\{"code":"invalid_request"/);
    }
    t.regex(answers[0]?.headers ?? '', /connection: close/i);
    if (!bytes.startsWith('HEAD')) bearsItsId(t, answers[0]);
    t.is(gateway.dataApi.received.length + accountsApi.received.length, before);
  });
}

for (const [name, headers] of Object.entries({
  'to WebSocket': [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ],
  'to HTTP/2': ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'],
})) {
  test.serial(
    `an upgrade ${name} is ignored: the request is served as usual, and the connection stays open`,
    async (t) => {
      const before = gateway.dataApi.received.length;
      const socket = openSocket(gateway.url);
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      const upgrade = lines('GET /v1/catalog HTTP/1.1', 'Host: a', ...headers);
      socket.write(upgrade + lines('GET /internal/stolen HTTP/1.1', 'Host: a')); // no client sends both at once
      await within('the first answer', once(socket, 'data'));
      socket.write(lines('GET /v1/plans HTTP/1.1', 'Host: a', 'Connection: close'));
      await within('the end of the connection', once(socket, 'close'));
      t.deepEqual(
        parseAnswers(Buffer.concat(chunks).toString()).map(({ status }) => status),
        [200, 200],
      );
      const received = gateway.dataApi.received.slice(before);
      t.deepEqual(
        received.map(({ url, headers: { upgrade: passedOn } }) => ({ url, passedOn })),
        [{ url: '/v1/catalog', passedOn: undefined }],
      );
    },
  );
}

test.serial('CONNECT is refused with an envelope', async (t) => {
  const [answer] = await exchange(
    gateway.url,
    lines('CONNECT example.org:443 HTTP/1.1', 'Host: example.org'),
  );
  t.is(answer?.status, 405);
  t.regex(answer?.body ?? '', /"code":"method_not_allowed"/);
  bearsItsId(t, answer);
});

test.serial('pipelined requests are answered in their order, each with its own', async (t) => {
  const ids = Array.from({ length: 20 }, (_, i) => `/v1/catalog/p${i}`);
  const plainAnswer = gateway.dataApi.answer;
  gateway.dataApi.answer = ({ url }, response) => void setImmediate(() => response.end(url));
  const bytes = ids.map((id, i) =>
    lines(`GET ${id} HTTP/1.1`, 'Host: a', ...(i === 19 ? ['Connection: close'] : [])),
  );
  const answers = await exchange(gateway.url, bytes.join(''));
  t.deepEqual(
    answers.map(({ body }) => /\/v1\/catalog\/p\d+/.exec(body)?.[0]),
    ids,
  );
  gateway.dataApi.answer = plainAnswer;
});

test.serial('a request without Host is refused', async (t) => {
  const [answer] = await exchange(gateway.url, lines('GET /v1/catalog HTTP/1.1', 'Connection: close'));
  t.is(answer?.status, 400);
  t.regex(answer?.body ?? '', /Host header/);
});

test.serial('a valid chunked body reaches the service whole, with its length', async (t) => {
  const body = '4\r\n{"a"\r\n3\r\n:1}\r\n0\r\n\r\n';
  const head = lines(
    'POST /auth/login HTTP/1.1',
    'Host: a',
    'Connection: close',
    'Transfer-Encoding: chunked',
  );
  const [answer] = await exchange(gateway.url, head + body);
  t.is(answer?.status, 200);
  const received = accountsApi.received.at(-1);
  t.is(received?.body, '{"a":1}');
  t.is(received?.headers['content-length'], '7');
  t.is(received?.headers['transfer-encoding'], undefined);
});

test.serial(
  'a body above 64 KB is refused, with a length or chunked, and does not reach a service',
  async (t) => {
    const before = accountsApi.received.length;
    const told = await fetch(`${gateway.url}/auth/login`, {
      method: 'POST',
      body: 'x'.repeat(64 * 1024 + 1),
    });
    t.is(told.status, 413);
    const streamed = await fetch(`${gateway.url}/auth/login`, {
      method: 'POST',
      body: new Blob(['x'.repeat(64 * 1024 + 1)]).stream(),
      duplex: 'half',
    });
    t.is(streamed.status, 413);
    t.is(((await streamed.json()) as { error: { code: string } }).error.code, 'payload_too_large');
    t.is(accountsApi.received.length, before);
  },
);

test.serial('headers above the limit are answered 431 with an envelope', async (t) => {
  const [answer] = await exchange(
    gateway.url,
    lines('GET /v1/catalog HTTP/1.1', 'Host: a', `X: ${'a'.repeat(20_000)}`),
  );
  t.is(answer?.status, 431);
  t.regex(answer?.body ?? '', /"code":"header_fields_too_large"/);
});

test.serial('a URL above the limit is answered 414 with an envelope, one below it is served', async (t) => {
  const ask = (length: number) =>
    exchange(
      gateway.url,
      lines(`GET /v1/catalog?q=${'a'.repeat(length)} HTTP/1.1`, 'Host: a', 'Connection: close'),
    );
  const [long] = await ask(20_000);
  t.is(long?.status, 414);
  t.regex(long?.body ?? '', /"code":"uri_too_long"/);
  bearsItsId(t, long);
  const [short] = await ask(15_000);
  t.is(short?.status, 200);
});

test.serial('junk in place of a request is answered 400 as an envelope', async (t) => {
  const [answer] = await exchange(gateway.url, 'HELO mail\r\n\r\n');
  t.is(answer?.status, 400);
  t.regex(answer?.body ?? '', /"code":"invalid_request"/);
});

/** The header and the envelope bear the same id, by which the log can be searched. */
function bearsItsId(t: ExecutionContext, answer: RawAnswer | undefined): void {
  const id = /^x-request-id: (\S+)/im.exec(answer?.headers ?? '')?.[1] ?? '';
  t.regex(id, /^[0-9a-f-]{36}$/);
  const envelope = JSON.parse(answer?.body ?? '') as { error: { request_id: string } };
  t.is(envelope.error.request_id, id);
}
