// Connections are reused for the next message, only to addresses that pass that message's own check. Anything that servers do with idle connections
// neither loses a message nor makes it fail.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { createAddressGuard, type Resolve } from '../../kernel/outbound/address-guard.ts';
import { send } from '../../accounts-api/webhooks/sending/send.ts';
import { openConnections } from '../../accounts-api/webhooks/sending/connections.ts';
import { until } from '../run/until.ts';

const rules = { allowCidrs: ['127.0.0.0/8'], allowHttp: true };
const message = {
  endpoint: 'wh_a',
  headers: { 'webhook-id': 'msg_a' },
  body: Buffer.from('{"type":"webhook.test"}'),
};

interface Counted {
  port: number;
  server: Server;
  /** The connection of each request, in their order. */
  requests: Socket[];
  sockets: Set<Socket>;
}

/** A server on all addresses of this machine. @param treat answers a request, given its number from 0 on. */
async function startCounted(
  t: ExecutionContext,
  treat: (number: number, socket: Socket) => 'answer' | 'nothing' = () => 'answer',
): Promise<Counted> {
  const requests: Socket[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    request.resume();
    requests.push(request.socket);
    if (treat(requests.length - 1, request.socket) === 'answer') response.writeHead(204).end();
  });
  server.keepAliveTimeout = 0; // none
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { server, requests, sockets, port: (server.address() as AddressInfo).port };
}

/** @param resolve the addresses of every name. */
function outletOf(t: ExecutionContext, resolve: Resolve = () => Promise.resolve(['127.0.0.1'])) {
  const connections = openConnections(600_000); // none is closed for being idle, however slowly a test runs
  t.teardown(() => connections.close());
  return { guard: createAddressGuard(rules, resolve), connections };
}

test('messages to an endpoint use its connection again; those to another endpoint have their own', async (t) => {
  const { port, requests } = await startCounted(t);
  const outlet = outletOf(t);
  const url = `http://hooks.example.org:${port}/`;
  for (const endpoint of ['wh_a', 'wh_a', 'wh_b', 'wh_a'])
    t.like(await send(outlet, { ...message, endpoint, url }), { status: 204 });
  t.is(new Set(requests).size, 2);
  t.is(requests[3], requests[0]);
  t.not(requests[2], requests[0]);
});

test('an idle connection is not reused when its address is not allowed for the next message', async (t) => {
  const wentTo: (string | undefined)[] = [];
  const { port, requests } = await startCounted(t, (_number, { localAddress }) => {
    wentTo.push(localAddress);
    return 'answer';
  });
  let addresses = ['127.0.0.1'];
  const outlet = outletOf(t, () => Promise.resolve(addresses));
  const url = `http://hooks.example.org:${port}/`;
  await send(outlet, { ...message, url });
  addresses = ['127.0.0.2'];
  await send(outlet, { ...message, url });
  t.deepEqual(wentTo, ['127.0.0.1', '127.0.0.2']);
  await until('the first one is closed', () => requests[0]?.destroyed === true);
  addresses = ['127.0.0.2', '127.0.0.3'];
  await send(outlet, { ...message, url });
  t.is(requests[2], requests[1], 'it still may go there');
});

test('nothing is sent on an idle connection once its name resolves to a forbidden address, or to none', async (t) => {
  const { port, requests } = await startCounted(t);
  let addresses = ['127.0.0.1'];
  const outlet = outletOf(t, () => Promise.resolve(addresses));
  const url = `http://hooks.example.org:${port}/`;
  t.like(await send(outlet, { ...message, url }), { status: 204 });
  for (addresses of [['169.254.169.254'], ['127.0.0.1', '10.0.0.1'], []]) {
    t.deepEqual(await send(outlet, { ...message, url }), { status: null, error: 'no_public_address' });
  }
  t.deepEqual(
    await send({ ...outlet, guard: createAddressGuard({ ...rules, allowCidrs: [] }) }, { ...message, url }),
    { status: null, error: 'no_public_address' },
  );
  t.is(requests.length, 1);
});

test('a connection that its server has closed between two messages is no failure of the second', async (t) => {
  const { port, requests, sockets } = await startCounted(t);
  const outlet = outletOf(t);
  const url = `http://hooks.example.org:${port}/`;
  t.like(await send(outlet, { ...message, url }), { status: 204 });
  for (const socket of sockets) socket.destroy();
  await until('the server has closed it', () => sockets.size === 0);
  await until('it does not count as idle', () => outlet.connections.idle === 0);
  t.like(await send(outlet, { ...message, url }), { status: 204 });
  t.is(requests.length, 2);
});

test('a request is retried once on a new connection when the server closes the reused one', async (t) => {
  const { port, requests } = await startCounted(t, (number, socket) => {
    if (number !== 1 && number < 3) return 'answer';
    socket.destroy();
    return 'nothing';
  });
  const outlet = outletOf(t);
  const url = `http://hooks.example.org:${port}/`;
  t.like(await send(outlet, { ...message, url }), { status: 204 });
  t.like(await send(outlet, { ...message, url }), { status: 204 });
  t.is(requests.length, 3);
  t.is(requests[1], requests[0]);
  t.not(requests[2], requests[1]);
  t.deepEqual(await send(outlet, { ...message, url }), { status: null, error: 'connection_closed' });
  t.is(requests.length, 5, 'a new one that is closed, too, is a failure');
  t.deepEqual(await send(outlet, { ...message, url }), { status: null, error: 'connection_closed' });
  t.is(requests.length, 6, 'and so is one that was new at first');
});

test('an answer that has begun is not asked for again', async (t) => {
  const { port, requests } = await startCounted(t, (number, socket) => {
    if (number === 0) return 'answer';
    socket.end('HTTP/1.1 200 OK\r\ncontent-le');
    return 'nothing';
  });
  const outlet = outletOf(t);
  const url = `http://hooks.example.org:${port}/`;
  t.like(await send(outlet, { ...message, url }), { status: 204 });
  t.deepEqual(await send(outlet, { ...message, url }), { status: null, error: 'connection_closed' });
  t.is(requests.length, 2);
});

test('a connection is not reused after an answer that was cut short or came too late', async (t) => {
  const { port, sockets } = await startCounted(t, () => 'nothing');
  const outlet = outletOf(t);
  const url = `http://hooks.example.org:${port}/`;
  t.deepEqual(await send(outlet, { ...message, url }, 100), { status: null, error: 'timeout' });
  t.is(outlet.connections.idle, 0);
  await until('it is closed', () => sockets.size === 0);
});

test('at most 256 idle connections stay open: the least recently used one is closed', async (t) => {
  const { port, requests, sockets } = await startCounted(t);
  const outlet = outletOf(t);
  const url = `http://hooks.example.org:${port}/`;
  for (let i = 0; i < 260; i += 1) await send(outlet, { ...message, endpoint: `wh_${i}`, url });
  t.is(outlet.connections.idle, 256);
  await until('the others are closed', () => sockets.size === 256);
  t.true(requests[0]?.destroyed);
  t.false(requests[259]?.destroyed);
  outlet.connections.close();
  await until('all are closed', () => sockets.size === 0);
});
