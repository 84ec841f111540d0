import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Request, Response } from 'express';
import test, { type ExecutionContext } from 'ava';
import { encodingFor, sendStream, type Encoding } from './reply.ts';

test('the encoding is the one with the highest weight, brotli before gzip', (t) => {
  const cases: [accepted: string | undefined, encoding: Encoding][] = [
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0.5, gzip;q=0.8', 'gzip'],
    ['BR;Q=1', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0, gzip;q=0', 'identity'],
    ['br;q=x, gzip;q=x', 'identity'],
    ['*', 'br'],
    ['*, br;q=0', 'gzip'],
    ['deflate, zstd', 'identity'],
  ];
  for (const [accepted, encoding] of cases) t.is(encodingFor(accepted), encoding, accepted);
});

/** A server that streams the parts to each client. `ended` reports how sendStream ended; `closed` resolves when the answer has closed. */
async function streaming(t: ExecutionContext, parts: AsyncGenerator<string>) {
  const { promise: ended, resolve } = Promise.withResolvers<unknown>();
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    response.once('close', close);
    const answer = { type: 'text/plain', headers: {}, parts };
    sendStream(request as Request, response as Response, answer).then(resolve, (error: unknown) => {
      resolve(error);
      response.destroy();
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.teardown(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ended, closed };
}

function open(url: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { headers, agent: false }, resolve).on('error', reject);
  });
}

for (const encoding of ['identity', 'gzip', 'br']) {
  test(`a ${encoding} stream waits for a slow client, and stops where it is when the client leaves`, async (t) => {
    let made = 0;
    const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
    async function* endless(): AsyncGenerator<string> {
      try {
        for (;;) {
          made += 1;
          yield await Promise.resolve(`${Math.random()}`.repeat(4_000));
        }
      } finally {
        stop();
      }
    }
    const { url, ended } = await streaming(t, endless());
    const response = await open(url, { 'accept-encoding': encoding });
    await new Promise<void>((resolve) => response.once('readable', resolve));
    response.destroy();
    await stopped;
    t.is(await ended, undefined, 'a client that leaves is no failure');
    t.true(made < 10_000);
  });
}

test('a failure before the first part is answered, as no header was sent; a later one cuts the answer', async (t) => {
  async function* failing(parts: number): AsyncGenerator<string> {
    for (let i = 0; i < parts; i += 1) yield await Promise.resolve('part\n');
    throw new Error('the database is gone');
  }
  const early = await streaming(t, failing(0));
  await t.throwsAsync(open(early.url));
  t.like(await early.ended, { message: 'the database is gone' });

  const late = await streaming(t, failing(3));
  const response = await open(late.url);
  t.is(response.statusCode, 200);
  await t.throwsAsync(async () => {
    for await (const chunk of response) t.true((chunk as Buffer).length > 0);
  });
  t.like(await late.ended, { message: 'the database is gone' });
});

test('if a client leaves before the first part, that is not a failure, and nothing more is produced', async (t) => {
  for (const encoding of ['identity', 'gzip', 'br']) {
    const asked = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    let produced = 0;
    let isReturned = false;
    async function* late(): AsyncGenerator<string> {
      try {
        asked.resolve();
        await left.promise;
        for (; produced < 100; produced += 1) yield 'part\n';
      } finally {
        isReturned = true;
      }
    }
    const { url, ended, closed } = await streaming(t, late());
    const request = get(url, { headers: { 'accept-encoding': encoding }, agent: false });
    const isCut = t.throwsAsync(new Promise((_resolve, reject) => request.on('error', reject)));
    await asked.promise;
    request.destroy();
    await closed;
    left.resolve();
    t.is(await ended, undefined, encoding);
    t.is(produced, 0);
    t.true(isReturned);
    await isCut;
  }
});
