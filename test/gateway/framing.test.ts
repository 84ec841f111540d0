import test, { type ExecutionContext } from 'ava';
import { mintApiKey } from '../../kernel/credentials/api-key.ts';
import { within } from '../run/until.ts';
import { exchange, lines, openSocket, parseAnswers, type RawAnswer } from './raw.ts';
import { startRecordingUpstream, startTestGateway } from './recording-upstream.ts';

// No call here gets as far as the lookup of its key at accounts-api.
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
    `a request to upgrade ${name} is served as usual, and the connection closes with its answer`,
    async (t) => {
      const before = gateway.dataApi.received.length;
      const [answer, ...more] = await exchange(
        gateway.url,
        lines('GET /v1/catalog HTTP/1.1', 'Host: a', ...headers),
      );
      t.is(answer?.status, 200);
      t.regex(answer?.headers ?? '', /^connection: close\r?$/im);
      t.is(more.length, 0);
      const received = gateway.dataApi.received.slice(before);
      t.deepEqual(
        received.map(({ url, headers: { upgrade: passedOn } }) => ({ url, passedOn })),
        [{ url: '/v1/catalog', passedOn: undefined }],
      );
    },
  );

  for (const [what, head, rest] of [
    [
      'another request',
      lines('GET /v1/catalog/other HTTP/1.1', 'Host: a'),
      lines('GET /v1/plans HTTP/1.1', 'Host: a'),
    ],
    [
      'the head of a request, whose body comes later',
      lines('POST /auth/login HTTP/1.1', 'Host: a', `Content-Length: ${smuggled.length}`),
      lines('GET /v1/catalog/stolen HTTP/1.1', 'Host: a'),
    ],
    ['bytes of another protocol', '\u0081\u0005hello', '\u0081\u0005hello'],
  ] as const) {
    for (const [kind, upgrade] of [
      ['a GET', lines('GET /v1/catalog/first HTTP/1.1', 'Host: a', ...headers)],
      ['a POST', `${lines('POST /auth/login?first HTTP/1.1', 'Host: a', ...headers, 'Content-Length: 2')}{}`],
    ] as const) {
      test.serial(`behind ${kind} to upgrade ${name}, ${what} is never taken for a request`, async (t) => {
        const before = [gateway.dataApi.received.length, accountsApi.received.length] as const;
        const answers = await exchangeLate(upgrade + head, rest);
        t.deepEqual(
          answers.map(({ status, body }) => [status, body]),
          [[200, '{"success":true}']],
        );
        const received = [
          ...gateway.dataApi.received.slice(before[0]),
          ...accountsApi.received.slice(before[1]),
        ];
        t.deepEqual(
          received.map(({ url, body }) => [url.includes('first'), body]),
          [[true, kind === 'a GET' ? '' : '{}']],
        );
      });
    }
  }
}

/** Sends bytes, and more bytes while a service handles the first request; the service answers once these have arrived. */
async function exchangeLate(first: string, later: string): Promise<RawAnswer[]> {
  const socket = openSocket(gateway.url);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const closed = new Promise<void>((resolve, reject) => {
    socket.once('close', resolve);
    socket.once('error', reject);
  });
  const answerPlainly = gateway.dataApi.answer;
  const reached = new Promise<() => void>((resolve) => {
    for (const service of [gateway.dataApi, accountsApi]) {
      service.answer = (request, response) => resolve(() => answerPlainly(request, response));
    }
  });
  try {
    socket.write(first, 'latin1');
    const answer = await within('a service is reached', reached);
    socket.write(later, 'latin1');
    // When a later call on another connection ends, the gateway has read the earlier bytes of this one.
    await exchange(gateway.url, lines('GET /healthz HTTP/1.1', 'Host: a', 'Connection: close'));
    answer();
    await within('the server closes the connection', closed);
  } finally {
    socket.destroy();
    for (const service of [gateway.dataApi, accountsApi]) service.answer = answerPlainly;
  }
  return parseAnswers(Buffer.concat(chunks).toString('latin1'));
}

test.serial('bytes behind a request that closes the connection do not delay its answer', async (t) => {
  for (const beyond of ['\r\n', 'HELLO mail\r\n', lines('GET /v1/catalog/other HTTP/1.1', 'Host: a')]) {
    const before = gateway.dataApi.received.length;
    const answers = await exchange(
      gateway.url,
      lines('GET /v1/catalog HTTP/1.1', 'Host: a', 'Connection: close') + beyond,
    );
    t.deepEqual(
      answers.map(({ status }) => status),
      [200],
      beyond,
    );
    t.is(gateway.dataApi.received.length, before + 1);
  }
});

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

for (const host of [
  '',
  ' ',
  'a b',
  'a, b',
  'http://a',
  'a/b',
  'a@b',
  'a:b',
  'a:80:80',
  'a:123456',
  ':80',
  '[::1',
  '::1',
  'ä',
  '"a"',
  '-',
  '.',
  '%61',
]) {
  test.serial(`a Host header of ${JSON.stringify(host)} is refused`, async (t) => {
    const before = gateway.dataApi.received.length;
    for (const version of ['1.1', '1.0']) {
      const [answer] = await exchange(gateway.url, lines(`GET /v1/catalog HTTP/${version}`, `Host: ${host}`));
      t.is(answer?.status, 400);
      t.regex(answer?.body ?? '', /"code":"invalid_request".*Host header/);
      t.regex(answer?.headers ?? '', /connection: close/i);
    }
    t.is(gateway.dataApi.received.length, before);
  });
}

test.serial('a host name, an IP address and either with a port are accepted as Host', async (t) => {
  const hosts = [
    'a',
    'data_api:8080',
    'api.example.org.',
    'xn--bcher-kva.example:443',
    '127.0.0.1:80',
    '[::1]',
    '[2001:db8::1]:8443',
    'A:',
  ];
  for (const host of hosts) {
    const request = lines('GET /v1/catalog HTTP/1.1', `Host: ${host}`, 'Connection: close');
    const [answer] = await exchange(gateway.url, request);
    t.is(answer?.status, 200, host);
  }
  const [old] = await exchange(gateway.url, lines('GET /v1/catalog HTTP/1.0'));
  t.is(old?.status, 200, 'HTTP/1.0 needs none');
});

test.serial('a request without Host is refused', async (t) => {
  const [answer] = await exchange(gateway.url, lines('GET /v1/catalog HTTP/1.1', 'Connection: close'));
  t.is(answer?.status, 400);
  t.regex(answer?.body ?? '', /Host header/);
});

test.serial('a valid chunked body reaches the service completely, with its length', async (t) => {
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
    const reported = await fetch(`${gateway.url}/auth/login`, {
      method: 'POST',
      body: 'x'.repeat(64 * 1024 + 1),
    });
    t.is(reported.status, 413);
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

test.serial(
  'no answer to HEAD has a body, even if the request is refused before its URL is known',
  async (t) => {
    for (const [request, status] of [
      [lines(`HEAD /${'a'.repeat(20_000)} HTTP/1.1`, 'Host: a'), 414],
      [lines('HEAD /v1/catalog HTTP/1.1', 'Host: a', `X: ${'a'.repeat(20_000)}`), 431],
      [lines('HEAD /v1/catalog HTTP/1.1', 'Host: a', 'X: a\0b'), 400],
      [lines('HEAD /v1/catalog HTTP/1.1', 'Host: a', 'Expect: x', 'Connection: close'), 400],
      [lines('HEAD /nowhere HTTP/1.1', 'Host: a', 'Connection: close'), 404],
    ] as const) {
      const [answer] = await exchange(gateway.url, request);
      t.is(answer?.status, status);
      t.is(answer?.body, '');
      t.regex(answer?.headers ?? '', /^content-length: [1-9]/im, 'as for GET');
    }
  },
);

test.serial('junk in place of a request is answered 400 as an envelope', async (t) => {
  const [answer] = await exchange(gateway.url, 'HELO mail\r\n\r\n');
  t.is(answer?.status, 400);
  t.regex(answer?.body ?? '', /"code":"invalid_request"/);
});

/** The header and the envelope have the same id, which can be searched for in the log. */
function bearsItsId(t: ExecutionContext, answer: RawAnswer | undefined): void {
  const id = /^x-request-id: (\S+)/im.exec(answer?.headers ?? '')?.[1] ?? '';
  t.regex(id, /^[0-9a-f-]{36}$/);
  const envelope = JSON.parse(answer?.body ?? '') as { error: { request_id: string } };
  t.is(envelope.error.request_id, id);
}
