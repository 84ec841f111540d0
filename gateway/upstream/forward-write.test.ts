// Which failures of a write show that the instance is down.
import { createServer } from 'node:http';
import { createServer as createRawServer, type AddressInfo, type Server } from 'node:net';
import test from 'ava';
import { AttemptFailed } from './connections.ts';
import { createProxy } from './forward-write.ts';

const listening = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** @returns why a write fails at a service that sends these bytes and closes. */
async function whyFailed(bytes: string): Promise<AttemptFailed['why']> {
  const service = createRawServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => socket.end(bytes));
  });
  const url = await listening(service);
  const proxy = createProxy([url], 10_000);
  const failed = Promise.withResolvers<AttemptFailed['why']>();
  const gateway = createServer((request, response) => {
    const body = Buffer.from('{}');
    const headers = ['content-type', 'application/json', 'content-length', String(body.length)];
    proxy.send(url, request, response, { headers, body }).then(
      () => failed.reject(new Error('It was answered.')),
      (error: unknown) => {
        if (error instanceof AttemptFailed) failed.resolve(error.why);
        else failed.reject(error);
        response.writeHead(502).end();
      },
    );
  });
  try {
    await fetch(await listening(gateway), { method: 'POST' });
    return await failed.promise;
  } finally {
    gateway.close();
    service.close();
  }
}

for (const [what, bytes, why] of [
  ['no answer', '', 'cut'],
  ['something other than HTTP', '220 mail ready\r\n\r\n', 'cut'],
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\ncontent-length: 4\r\n\r\n', 'unusable'],
  ['a malformed header', 'HTTP/1.1 200 OK\r\nno header\r\n\r\n', 'unusable'],
  ['headers without end', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(100_000)}`, 'unusable'],
] as const)
  test(`a write that is answered with ${what} failed as ${why}`, async (t) => {
    t.is(await whyFailed(bytes), why);
  });
