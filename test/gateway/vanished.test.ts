// Services whose host has vanished: nothing was sent to it, so not only reads but also writes go to another instance.
import type { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import test from 'ava';
import { openSocket } from './raw.ts';
import { startRecordingUpstream, startTestGateway } from './recording-upstream.ts';
import { until } from '../run/until.ts';

/** A port with a listener that accepts no further connection: its process is paused, and its queue is full. */
async function startDeafServer(): Promise<{ url: string; close(): Promise<void> }> {
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads');
     const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
       parentPort.postMessage(server.address().port);
       setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
     });`,
    { eval: true },
  );
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  const url = `http://127.0.0.1:${port}`;
  const queue: Socket[] = [];
  let isFull = false;
  while (!isFull) {
    const socket = openSocket(url);
    queue.push(socket);
    isFull = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(false));
      socket.setTimeout(300, () => resolve(true));
    });
  }
  return {
    url,
    async close() {
      for (const socket of queue) socket.destroy();
      await worker.terminate();
    },
  };
}

for (const [what, startServer] of [
  ['cannot be reached', async () => ({ url: 'http://255.255.255.255:9', close: () => Promise.resolve() })],
  ['takes no connection', startDeafServer],
] as const) {
  test(`a write to a host that ${what} goes to another instance, and so do the next writes`, async (t) => {
    const [vanished, accountsApi] = [await startServer(), await startRecordingUpstream('accounts-api')];
    const gateway = await startTestGateway({
      accountsApiUrls: [vanished.url, accountsApi.url],
      metrics: { host: '127.0.0.1', port: 0 },
    });
    t.teardown(async () => {
      await gateway.close();
      await accountsApi.close();
      await vanished.close();
    });
    const write = async () =>
      (await fetch(`${gateway.url}/auth/login`, { method: 'POST', body: '{"a":1}' })).status;
    t.deepEqual([await write(), await write()], [200, 200]);
    t.deepEqual(
      accountsApi.received.map(({ body }) => body),
      ['{"a":1}', '{"a":1}'],
      'each once',
    );
    await until('it counts as down', async () => {
      const text = await (await fetch(`${gateway.gateway.metricsUrl}/metrics`)).text();
      return text.includes(`url="${vanished.url}"} 0`);
    });
  });
}

test('a write that is tried as often as one may be leaves nothing behind on its response with each attempt', async (t) => {
  const gateway = await startTestGateway({ accountsApiUrls: ['http://127.0.0.1:1', 'http://127.0.0.1:2'] });
  const warnings: string[] = [];
  const onWarning = ({ name, message }: Error) => void warnings.push(`${name}: ${message}`);
  process.on('warning', onWarning);
  t.teardown(async () => {
    process.off('warning', onWarning);
    await gateway.close();
  });
  const response = await fetch(`${gateway.url}/auth/login`, { method: 'POST', body: '{}' });
  t.is(response.status, 502);
  t.deepEqual(warnings, []);
});
