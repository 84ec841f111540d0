import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import test from 'ava';
import { closeServer, listen } from '../../kernel/http/server.ts';
import { atEndOfTurn, endAtEndOfTurn } from './end-of-turn.ts';

test('work submitted within a turn runs at its end, in order; work submitted by that work runs a turn later', async (t) => {
  const ran: string[] = [];
  atEndOfTurn(() => {
    ran.push('a');
    atEndOfTurn(() => ran.push('c'));
  });
  atEndOfTurn(() => ran.push('b'));
  t.deepEqual(ran, []);
  await new Promise((resolve) => setImmediate(resolve));
  t.deepEqual(ran, ['a', 'b']);
  await new Promise((resolve) => setImmediate(resolve));
  t.deepEqual(ran, ['a', 'b', 'c']);
});

/** A body that repeats its name, so that misdirected bytes are detected. */
const bodyOf = (name: string) => Buffer.from(`${name} `.repeat(40_000 / (name.length + 1)));

test('slow readers, and answers that wait for earlier ones, get their own bytes', async (t) => {
  const scratch = Buffer.alloc(50_000); // reused, like the read buffer of a connection
  const server = createServer((request, response) => {
    const body = bodyOf(request.url ?? '');
    body.copy(scratch);
    response.setHeader('content-length', body.length);
    endAtEndOfTurn(response, scratch.subarray(0, body.length));
  });
  const url = new URL(await listen(server, '127.0.0.1', 0));
  // More bytes than the kernel buffers for a client that does not read; each turn writes some to each client.
  const names = (client: number) => Array.from({ length: 300 }, (_, i) => `/${client}-${i}`);
  const clients = [0, 1, 2].map((client) => ({
    client,
    socket: connect(Number(url.port), url.hostname).pause(),
  }));
  for (let i = 0; i < 300; i += 1) {
    for (const { client, socket } of clients) {
      const last = i === 299 ? 'Connection: close\r\n' : '';
      socket.write(`GET /${client}-${i} HTTP/1.1\r\nHost: a\r\n${last}\r\n`);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (const { client, socket } of clients) {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.resume();
    await once(socket, 'end');
    const got = Buffer.concat(chunks)
      .toString()
      .split(/HTTP\/1\.1 200 OK\r\n[^]*?\r\n\r\n/)
      .slice(1);
    t.is(got.length, 300);
    t.true(names(client).every((name, i) => got[i] === bodyOf(name).toString()));
    socket.destroy();
  }
  await closeServer(server);
});

test('an answer to a client that left in the same turn does no harm', async (t) => {
  let ended = false;
  const server = createServer((_request, response) => {
    endAtEndOfTurn(response, Buffer.from('x'));
    response.destroy();
    atEndOfTurn(() => void (ended = true));
  });
  const url = await listen(server, '127.0.0.1', 0);
  await t.throwsAsync(fetch(url));
  t.true(ended);
  await closeServer(server);
});

test.serial('an answer that is ended by work at the end of a turn keeps its bytes', async (t) => {
  let first: ServerResponse | undefined;
  const server = createServer((_request, response) => {
    const other = first;
    if (other === undefined) {
      first = response;
      return;
    }
    atEndOfTurn(() => {
      endAtEndOfTurn(other, Buffer.from('first'));
      process.nextTick(() => endAtEndOfTurn(response, Buffer.from('other')));
    });
  });
  const url = await listen(server, '127.0.0.1', 0);
  const both = [fetch(url), fetch(url)].map(async (answer) => (await answer).text());
  t.deepEqual((await Promise.all(both)).toSorted(), ['first', 'other']);
  await closeServer(server);
});
