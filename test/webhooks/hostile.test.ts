// Receivers that mean harm: an attempt ends in time, reads little, follows nothing, and connects to the checked address only.
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { createAddressGuard, type Resolve } from '../../kernel/outbound/address-guard.ts';
import { send } from '../../accounts-api/webhooks/sending/send.ts';
import { within } from '../run/until.ts';
import { openConnections } from '../../accounts-api/webhooks/sending/connections.ts';
import { startReceiver } from './receiver.ts';

const rules = { allowCidrs: ['127.0.0.0/8'], allowHttp: true };
const guard = createAddressGuard(rules);
/** Of attempts that would not end by themselves. */
const shortMs = 250;
const connections = openConnections();
test.after.always(() => connections.close());
const message = {
  endpoint: 'wh_a',
  headers: { 'webhook-id': 'msg_a' },
  body: Buffer.from('{"type":"webhook.test"}'),
};
const attempt = (url: string, timeoutMs?: number) =>
  send({ guard, connections }, { ...message, url }, timeoutMs);

/** A server that handles each connection with the given function. */
async function startSocketServer(t: ExecutionContext, treat: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined); // the other side ends it
    treat(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test('a redirect is not followed, wherever it leads', async (t) => {
  const receiver = await startReceiver(t);
  const victim = await startReceiver(t);
  for (const status of [301, 302, 303, 307, 308]) {
    for (const location of [
      victim.url,
      'http://169.254.169.254/latest/meta-data/',
      '//169.254.169.254/',
      'file:///etc/passwd',
    ]) {
      receiver.answer((_request, response) =>
        response.writeHead(status, { location, refresh: `0; url=${location}` }).end(),
      );
      t.like(await attempt(receiver.url), { status, error: null });
    }
  }
  t.deepEqual(victim.received, []);
});

test('a server that sends its head a byte at a time, or none, is left when the time is over', async (t) => {
  const drip = await startSocketServer(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const dripping = setInterval(() => socket.write('x-a: b\r\n'), 10);
    socket.once('close', () => clearInterval(dripping));
  });
  const silent = await startSocketServer(t, () => undefined);
  const early = await startSocketServer(t, (socket) => {
    const hinting = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 10);
    socket.once('close', () => clearInterval(hinting));
  });
  for (const url of [silent, early])
    t.deepEqual(await attempt(url, shortMs), { status: null, error: 'timeout' });
  const dripped = await attempt(drip, shortMs);
  t.is(dripped.status, null);
  t.true(['timeout', 'invalid_response'].includes(dripped.error ?? ''), 'whichever limit it meets first');
});

test('a server that accepts the connection and reads nothing is disconnected after the time limit', async (t) => {
  const url = await startSocketServer(t, (socket) => socket.pause());
  const large = { ...message, body: Buffer.alloc(20_000_000, 'x'), url };
  t.deepEqual(await send({ guard, connections }, large, shortMs), { status: null, error: 'timeout' });
});

test('a body that never ends is left at 64 KB, or when the time is over; the status has decided before', async (t) => {
  let sent = 0;
  const ended = Promise.withResolvers<void>();
  const flood = await startSocketServer(t, (socket) => {
    socket.once('close', () => ended.resolve());
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${2 ** 30}\r\n\r\n`);
    const more = () => {
      while (!socket.destroyed && sent < 2 ** 30) {
        sent += 65_536;
        if (!socket.write(Buffer.alloc(65_536, 'a'))) break;
      }
    };
    socket.on('drain', more);
    more();
  });
  const sentAll = await attempt(flood);
  t.like(sentAll, { status: 200, response: 'a'.repeat(1024) });
  await within('the connection is closed', ended.promise);
  t.true(sent < 2 ** 26, `${sent} bytes left the server`);

  const trickle = await startSocketServer(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    const dripping = setInterval(() => socket.write('1\r\nb\r\n'), 10);
    socket.once('close', () => clearInterval(dripping));
  });
  const trickled = await attempt(trickle, 2_000); // in this time the head has come, also on a busy machine
  t.is(trickled.status, 200);
});

test('compressed bytes are not decompressed: a bomb is only its own size', async (t) => {
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  const receiver = await startReceiver(t);
  receiver.answer((_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb));
  const sent = await attempt(receiver.url);
  t.is(sent.status, 200);
  t.is(receiver.received[0]?.headers['accept-encoding'], 'identity');
  t.false(sent.status !== null && sent.response.includes('\u0000'));
});

test('what is no answer is distinguished in one word, without anything of the network', async (t) => {
  const replyingWith = (text: string) =>
    startSocketServer(t, (socket) => void socket.once('data', () => socket.end(text)));
  const cases: [string, string, string][] = [
    ['garbage', await replyingWith('SSH-2.0-OpenSSH_9.6\r\n'), 'invalid_response'],
    ['a status below 100', await replyingWith('HTTP/1.1 099 Odd\r\n\r\n'), 'invalid_response'],
    [
      'an upgrade',
      await replyingWith('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
      'connection_closed',
    ],
    [
      'a head of a megabyte',
      await replyingWith(`HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(1_000_000)}\r\n\r\n`),
      'invalid_response',
    ],
    ['nothing', await replyingWith(''), 'connection_closed'],
    ['half a head', await replyingWith('HTTP/1.1 200 OK\r\ncontent-le'), 'connection_closed'],
    [
      'two lengths',
      await replyingWith('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\na'),
      'invalid_response',
    ],
    [
      'TLS to a server without it',
      (await replyingWith('HTTP/1.1 400 Bad Request\r\n\r\n')).replace('http:', 'https:'),
      'tls_failed',
    ],
    ['a port that nobody listens on', 'http://127.0.0.1:1/', 'connection_failed'],
    ['a private address', 'http://10.0.0.1/', 'no_public_address'],
  ];
  for (const [what, url, error] of cases) t.deepEqual(await attempt(url), { status: null, error }, what);
});

test('a message goes to the checked address, with the name of the URL; the name is resolved once for each attempt', async (t) => {
  const receiver = await startReceiver(t);
  const answers = [['127.0.0.1'], ['127.0.0.1', '169.254.169.254'], ['169.254.169.254'], []];
  let asked = 0;
  const flipping: Resolve = () => Promise.resolve(answers[(asked += 1) - 1] ?? []);
  const rebound = createAddressGuard(rules, flipping);
  const url = `http://rebinding.example.org:${receiver.port}/hook`;
  t.like(await send({ guard: rebound, connections }, { ...message, url }), { status: 204 });
  t.is(receiver.received[0]?.headers['host'], `rebinding.example.org:${receiver.port}`);
  for (let i = 0; i < 3; i += 1) {
    t.deepEqual(await send({ guard: rebound, connections }, { ...message, url }), {
      status: null,
      error: 'no_public_address',
    });
  }
  t.is(asked, 4);
  t.is(receiver.received.length, 1);
});

test('over TLS the server name is that of the URL, although the connection goes to the checked address', async (t) => {
  const hello = Promise.withResolvers<string>();
  const plain = await startSocketServer(t, (socket) => {
    socket.once('data', (chunk) => {
      hello.resolve(chunk.toString('latin1')); // the first message of TLS has the name in the clear
      socket.destroy();
    });
  });
  const tls = createAddressGuard(rules, () => Promise.resolve(['127.0.0.1']));
  const url = plain.replace('http:', 'https:').replace('127.0.0.1', 'hooks.example.org');
  t.is((await send({ guard: tls, connections }, { ...message, url })).status, null);
  t.true((await hello.promise).includes('hooks.example.org'));
});

test('a name server that never answers is left when the time is over', async (t) => {
  const never = createAddressGuard(rules, () => new Promise(() => undefined));
  t.deepEqual(
    await send({ guard: never, connections }, { ...message, url: 'http://slow.example.org/' }, shortMs),
    {
      status: null,
      error: 'timeout',
    },
  );
});

test('a URL that was stored under other rules is checked again', async (t) => {
  const receiver = await startReceiver(t);
  for (const now of [
    { allowCidrs: [], allowHttp: true },
    { allowCidrs: ['127.0.0.0/8'], allowHttp: false },
  ]) {
    t.deepEqual(
      await send({ guard: createAddressGuard(now), connections }, { ...message, url: receiver.url }),
      {
        status: null,
        error: 'no_public_address',
      },
    );
  }
  t.deepEqual(receiver.received, []);
});
