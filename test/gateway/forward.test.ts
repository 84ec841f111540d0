import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import test from 'ava';
import { writeHead } from '../../kernel/http/reply.ts';
import { startService } from '../../kernel/http/server.ts';
import { createOpener } from '../../kernel/identity.ts';
import { silentLog, testIdentitySecret } from '../services/harness.ts';
import { startAccountsService } from '../services/accounts-service.ts';
import { plain, startRawUpstream } from './raw-upstream.ts';
import { until, within } from '../run/until.ts';
import { openSocket } from './raw.ts';
import { noon, startRecordingUpstream, startTestGateway } from './recording-upstream.ts';

const accounts = await startAccountsService(noon);
const gateway = await startTestGateway({ accounts });
const { dataApi } = gateway;
const { key } = await accounts.newClient('enterprise');
const headers = { 'x-api-key': key };
const plainAnswer = dataApi.answer;
test.beforeEach(() => void (dataApi.answer = plainAnswer));
test.after.always(async () => {
  await gateway.close();
  await accounts.close();
});

const codeOf = async (response: Response) =>
  ((await response.json()) as { error: { code: string } }).error.code;

/** Resolves when the gateway has cut the last call that reached data-api. */
async function lastIsCut(): Promise<void> {
  const last = dataApi.received.at(-1);
  if (last === undefined) throw new Error('No call has reached data-api.');
  await within('the call to data-api is cut', last.cut);
}

/** A port without a listener. A port that was just closed may soon be used by another server. */
const nobody = 'http://127.0.0.1:1';

/** A server that cuts the first `times` connections after the first bytes, then answers. It always cuts heartbeats, without counting them. */
async function resettingServer(times: number) {
  let connections = 0;
  const server = createTcpServer((socket) => {
    socket.once('data', (bytes: Buffer) => {
      const request = bytes.toString();
      const isHeartbeat = request.startsWith('POST /internal/');
      if (!isHeartbeat) connections += 1;
      const isCut = isHeartbeat || connections <= times;
      const id = /^x-request-id: .*\r\n/im.exec(request)?.[0] ?? '';
      if (isCut) socket.resetAndDestroy();
      else socket.end(`HTTP/1.1 200 OK\r\n${id}content-length: 2\r\nconnection: close\r\n\r\nok`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    connections: () => connections,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** A server with keep-alive answers, with or without a hint of the timeout; reports when the gateway closes its connection. */
async function idleServer(keepAlive: string) {
  const closed = Promise.withResolvers<string>();
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('close', () => closed.resolve(keepAlive));
    socket.on('data', (request: Buffer) => {
      const id = /^x-request-id: .*\r\n/im.exec(request.toString())?.[0] ?? '';
      socket.write(`HTTP/1.1 200 OK\r\n${id}${keepAlive}content-length: 2\r\n\r\nok`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => new Promise((resolve) => server.close(resolve));
  return { url: `http://127.0.0.1:${port}`, closed: closed.promise, close };
}

test.serial(
  'a connection is closed before the service closes it, as its Keep-Alive header says',
  async (t) => {
    const hint = 'keep-alive: timeout=1\r\n';
    const ends: Promise<string>[] = [];
    // The one without a hint becomes idle first, so it would be closed first if hints were ignored.
    for (const keepAlive of ['', hint]) {
      const server = await idleServer(keepAlive);
      t.teardown(server.close);
      const alone = await startTestGateway({ dataApiUrls: [server.url] });
      t.teardown(() => alone.close());
      t.is(await (await fetch(`${alone.url}/v1/catalog`)).text(), 'ok');
      ends.push(server.closed);
    }
    t.is(await within('a connection that is idle is closed', Promise.race(ends)), hint);
  },
);

test.serial('a call to an unreachable service is 502, with an envelope that contains no URL', async (t) => {
  const alone = await startTestGateway({ dataApiUrls: [nobody] });
  t.teardown(() => alone.close());
  const response = await fetch(`${alone.url}/v1/catalog`);
  t.is(response.status, 502);
  const text = await response.text();
  t.regex(text, /"code":"upstream_error"/);
  t.notRegex(text, /127\.0\.0\.1|ECONN/);
  t.is((await fetch(`${alone.url}/readyz`)).status, 503);
});

test.serial('a service that is silent for too long is 504, and its request is aborted', async (t) => {
  const hasty = await startTestGateway({ upstreamTimeoutMs: 300 });
  t.teardown(() => hasty.close());
  hasty.dataApi.answer = () => undefined;
  const response = await fetch(`${hasty.url}/v1/catalog`);
  t.is(response.status, 504);
  t.is(await codeOf(response), 'upstream_timeout');
  const [call, ...others] = hasty.dataApi.received;
  await within('the call to data-api is cut', call?.cut ?? Promise.reject(new Error('No call has come.')));
  t.is(others.length, 0); // a timeout is not repeated
});

test.serial('a read whose connection is reset is sent once more', async (t) => {
  const server = await resettingServer(1);
  t.teardown(() => server.close());
  const alone = await startTestGateway({ dataApiUrls: [server.url] });
  t.teardown(() => alone.close());
  const response = await fetch(`${alone.url}/v1/catalog`);
  t.is(response.status, 200);
  t.is(await response.text(), 'ok');
  t.is(server.connections(), 2);
});

test.serial(
  'a read on a dead kept-alive connection is retried on a new connection, not on another dead one',
  async (t) => {
    const service = await startRawUpstream();
    t.teardown(() => service.close());
    const alone = await startTestGateway({ dataApiUrls: [service.url] });
    t.teardown(() => alone.close());
    const pending: (() => void)[] = [];
    service.answer = (socket, request) => void pending.push(() => socket.write(plain(request)));
    const first = Array.from({ length: 5 }, () => fetch(`${alone.url}/v1/catalog`));
    await until('five calls are held', () => pending.length === 5);
    for (const answer of pending) answer();
    for (const response of await Promise.all(first)) await response.text();
    // As after a replacement of the service: the old connections are dead, but the gateway does not know.
    const dead = service.connections();
    t.is(dead, 5);
    service.answer = (socket, request) => {
      if (service.connections() === dead) socket.resetAndDestroy();
      else socket.write(plain(request));
    };
    for (let i = 0; i < 3; i += 1) {
      const response = await fetch(`${alone.url}/v1/catalog`);
      t.is(await response.text(), '/v1/catalog');
    }
    t.is(service.connections(), 6);
  },
);

test.serial('a read is sent at most twice', async (t) => {
  const server = await resettingServer(5);
  t.teardown(() => server.close());
  const alone = await startTestGateway({ dataApiUrls: [server.url] });
  t.teardown(() => alone.close());
  t.is((await fetch(`${alone.url}/v1/catalog`)).status, 502);
  t.is(server.connections(), 2);
});

test.serial('a read cut by one instance and refused by the other is sent to the first again', async (t) => {
  const server = await resettingServer(1);
  t.teardown(() => server.close());
  const alone = await startTestGateway({ dataApiUrls: [nobody, server.url] });
  t.teardown(() => alone.close());
  const response = await fetch(`${alone.url}/v1/catalog`);
  t.is(response.status, 200);
  t.is(await response.text(), 'ok');
  t.is(server.connections(), 2);
});

test.serial('a write whose connection is reset is never repeated', async (t) => {
  const server = await resettingServer(5);
  t.teardown(() => server.close());
  const alone = await startTestGateway({ accountsApiUrls: [server.url] });
  t.teardown(() => alone.close());
  t.is((await fetch(`${alone.url}/auth/signup`, { method: 'POST', body: '{}' })).status, 502);
  t.is(server.connections(), 1);
});

test.serial('calls go to the instances of a service in turn, and skip an unreachable one', async (t) => {
  const [one, two] = [await startRecordingUpstream('data-api'), await startRecordingUpstream('data-api')];
  t.teardown(() => Promise.all([one.close(), two.close()]));
  const several = await startTestGateway({ accounts, dataApiUrls: [one.url, nobody, two.url] });
  t.teardown(() => several.close());
  for (let i = 0; i < 20; i += 1) t.is((await fetch(`${several.url}/v1/catalog`)).status, 200);
  t.is(one.received.length + two.received.length, 20);
  t.true(one.received.length >= 5 && two.received.length >= 5);
  await until('it is ready', async () => (await fetch(`${several.url}/readyz`)).status === 200);
});

for (const [kind, method, path, failed] of [
  ['read', 'GET', '/v1/catalog', ['0', '1']],
  ['write', 'POST', '/auth/login', ['1', '0']],
] as const) {
  test(`an instance that failed counts as up once the head of an answer has come, not because the client of a ${kind} left`, async (t) => {
    const service = await startRecordingUpstream(kind === 'read' ? 'data-api' : 'accounts-api');
    t.teardown(() => service.close());
    service.answerOurselves = (_request, response) => void response.destroy(); // heartbeats
    const alone = await startTestGateway({
      ...(kind === 'read' ? { accounts, dataApiUrls: [service.url] } : { accountsApiUrls: [service.url] }),
      metrics: { host: '127.0.0.1', port: 0 },
    });
    t.teardown(() => alone.close());
    /** One of data-api, and one of accounts-api. */
    const states = async (): Promise<readonly string[]> => {
      const text = await (await fetch(`${alone.gateway.metricsUrl}/metrics`)).text();
      return [...(text.match(/(?<=^almanac_gateway_upstream_up.* )\d$/gm) ?? [])];
    };
    const left = { before: new AbortController(), within: new AbortController() };
    const call = (signal: AbortSignal) =>
      fetch(alone.url + path, { method, signal, ...(kind === 'write' && { body: '{}' }) });
    const lastCallIsCut = () =>
      within('the call to the service is cut', service.received.at(-1)?.cut ?? Promise.resolve());

    service.answer = (_request, response) => void response.destroy();
    t.is((await call(left.within.signal)).status, 502);
    t.deepEqual(await states(), failed);
    service.answer = () => left.before.abort();
    await t.throwsAsync(call(left.before.signal));
    await lastCallIsCut();
    t.deepEqual(await states(), failed, 'nothing came');
    service.answerOurselves = () => undefined;
    service.answer = (_request, response) => void response.writeHead(200).write('first');
    await call(left.within.signal);
    left.within.abort();
    await lastCallIsCut();
    t.deepEqual(await states(), ['1', '1']);
  });
}

test.serial('when the client leaves, the request to the service is aborted', async (t) => {
  const left = new AbortController();
  dataApi.answer = () => left.abort();
  await t.throwsAsync(fetch(`${gateway.url}/v1/series/A`, { headers, signal: left.signal }));
  await lastIsCut();
  t.pass();
});

test.serial(
  'when the client leaves during the answer, the gateway aborts its own call to the service',
  async (t) => {
    dataApi.answer = (_request, response) => void response.writeHead(200).write('first');
    const socket = openSocket(gateway.url);
    socket.once('data', () => socket.destroy());
    socket.write(`GET /v1/series/A HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n\r\n`);
    await new Promise((resolve) => socket.once('close', resolve));
    await lastIsCut();
    t.pass();
  },
);

test.serial('an answer that a service cuts off is cut off for the client too, not completed', async (t) => {
  dataApi.answer = (_request, response) => {
    response.writeHead(200);
    response.write('half', () => response.destroy());
  };
  await t.throwsAsync(async () => (await fetch(`${gateway.url}/v1/series/A`, { headers })).text());
});

test.serial(
  'when a service fails within a body, the client sees a cut connection, not a short answer',
  async (t) => {
    const service = await startService({
      log: silentLog,
      routes: [
        {
          method: 'GET',
          path: '/v1/catalog',
          scope: 'client',
          async handler(_request, response) {
            writeHead(response, 200, ['content-type', 'text/csv']);
            await new Promise((resolve) => response.write('date,value\n', resolve));
            throw new Error('the rest cannot be read');
          },
        },
      ],
      openIdentity: createOpener(testIdentitySecret, 'data-api'),
      ready: () => Promise.resolve(),
      host: '127.0.0.1',
      port: 0,
    });
    t.teardown(() => service.close());
    const alone = await startTestGateway({ dataApiUrls: [service.url] });
    t.teardown(() => alone.close());
    const response = await fetch(`${alone.url}/v1/catalog`);
    t.is(response.status, 200);
    await t.throwsAsync(() => response.text());
  },
);

test.serial('connection headers of a service are not passed on to the client', async (t) => {
  dataApi.answer = (_request, response) => {
    response.setHeader('connection', 'x-hop, close');
    response.setHeader('keep-alive', 'timeout=1');
    response.setHeader('server-timing', 'db;dur=1.00');
    response.setHeader('etag', '"a"');
    response.end('{}');
  };
  const response = await fetch(`${gateway.url}/v1/series/A`, { headers });
  t.is(response.headers.get('connection'), 'keep-alive');
  t.is(response.headers.get('keep-alive'), 'timeout=65');
  t.is(response.headers.get('etag'), '"a"');
  // The stages of the service, then those of the gateway.
  t.regex(
    response.headers.get('server-timing') ?? '',
    /^db;dur=1\.00, credential;dur=[\d.]+, rate;dur=[\d.]+, quota;dur=[\d.]+, upstream;dur=[\d.]+, gateway;dur=[\d.]+$/,
  );
});

test.serial('connection headers of accounts-api to a write are not passed on either', async (t) => {
  const accountsApi = await startRecordingUpstream('accounts-api');
  t.teardown(() => accountsApi.close());
  const alone = await startTestGateway({ accountsApiUrls: [accountsApi.url] });
  t.teardown(() => alone.close());
  accountsApi.answer = (_request, response) => {
    response.setHeader('connection', 'x-hop, close');
    response.setHeader('keep-alive', 'timeout=1');
    response.setHeader('upgrade', 'h2c');
    response.setHeader('proxy-connection', 'close');
    response.end('{}');
  };
  const { headers: reported } = await fetch(`${alone.url}/auth/login`, { method: 'POST', body: '{}' });
  t.is(reported.get('connection'), 'keep-alive');
  t.is(reported.get('keep-alive'), 'timeout=65');
  t.is(reported.get('upgrade'), null);
  t.is(reported.get('proxy-connection'), null);
});

test.serial(
  'the x-almanac headers of a service never reach a client, whether it reads or writes data',
  async (t) => {
    const accountsApi = await startRecordingUpstream('accounts-api');
    t.teardown(() => accountsApi.close());
    const alone = await startTestGateway({ accountsApiUrls: [accountsApi.url] });
    t.teardown(() => alone.close());
    for (const service of [accountsApi, alone.dataApi]) {
      service.answer = (_request, response) => {
        response.setHeader('X-Almanac-Identity', 'sealed');
        response.setHeader('x-almanac-', 'nothing');
        response.setHeader('x-other', 'kept');
        response.end('{}');
      };
    }
    for (const [target, method] of [
      ['/v1/catalog', 'GET'],
      ['/auth/login', 'POST'],
    ] as const) {
      const { headers: reported } = await fetch(alone.url + target, { method });
      t.is(reported.get('x-other'), 'kept');
      t.deepEqual(
        [...reported.keys()].filter((name) => name.includes('almanac')),
        [],
        target,
      );
    }
  },
);

test.serial('only the client headers that services read are passed on', async (t) => {
  const read = {
    accept: 'text/csv',
    'accept-encoding': 'gzip',
    'content-type': 'application/json',
    'idempotency-key': 'one',
    'if-none-match': '"a"',
    'user-agent': 'Tests/1.0',
  };
  await fetch(`${gateway.url}/v1/series/A`, {
    headers: {
      ...headers,
      ...read,
      cookie: 'a=b',
      origin: 'https://a.example',
      'accept-language': 'de',
      authorization: 'Basic x',
      te: 'gzip',
    },
  });
  const received = dataApi.received.at(-1)?.headers;
  t.like(received, read);
  for (const name of ['cookie', 'origin', 'accept-language', 'authorization', 'te'])
    t.is(received?.[name], undefined, name);
});
