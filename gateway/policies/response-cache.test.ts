import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import test from 'ava';
import { closeServer, listen } from '../../kernel/http/server.ts';
import { validityText } from '../../kernel/http/validity.ts';
import { fakeClock, silentLog } from '../../test/services/harness.ts';
import { until, within } from '../../test/run/until.ts';
import { exempt } from '../../test/openapi/check-answers.ts';
import { callOf } from '../call.ts';
import { createClients } from '../client-ip.ts';
import { GatewayResponse } from '../response-headers.ts';
import { createAnswerCache } from '../response-cache/answer-cache.ts';
import { requestId } from './request-id.ts';
import { responseCache } from './response-cache.ts';

exempt();

const state = { edition: 'first', load: 1 };

/** Runs the policy on a server; counts the calls that arrive, and collects those that it forwards to data-api. */
async function startCache() {
  const seen = { calls: 0, asking: [] as { request: IncomingMessage; response: ServerResponse }[] };
  const open = requestId({
    ...{ clients: createClients(0, silentLog), isPublicOnTls: false },
    ...{ isDraining: () => false, accessLog: () => undefined },
  });
  const cache = responseCache({
    lease: { current: () => state },
    answers: createAnswerCache(1_000_000),
    clock: fakeClock('2026-11-20T12:00:00Z'),
  });
  const server = createServer({ ServerResponse: GatewayResponse }, (request, response) => {
    seen.calls += 1;
    void open(request, response, () => {
      void cache(request, response, () => void seen.asking.push({ request, response }));
    });
  });
  const url = await listen(server, '127.0.0.1', 0);
  return {
    url,
    seen,
    close() {
      server.closeAllConnections(); // calls that a failed test leaves unanswered
      return closeServer(server);
    },
  };
}

test('if the client whose call went to data-api leaves, only one of the waiting calls asks again', async (t) => {
  const { url, seen, close } = await startCache();
  t.teardown(close);
  const waiters = 20;
  const statuses: number[] = [];
  const call = () => {
    const sent = get(`${url}/v1/series/A`, (response) => {
      statuses.push(response.statusCode ?? 0);
      response.resume();
    });
    sent.on('error', () => undefined); // the client has left
    return sent;
  };
  const first = call();
  await until('the first asks', () => seen.asking.length === 1);
  for (let i = 0; i < waiters; i += 1) call();
  await until('all have come', () => seen.calls === 1 + waiters);
  first.destroy();
  await until('another one asks', () => seen.asking.length > 1);
  t.is(seen.asking.length, 2);
  // The client of that call also leaves.
  seen.asking[1]?.request.socket.destroy();
  await until('a third one asks', () => seen.asking.length > 2);
  t.is(seen.asking.length, 3);

  const [leader] = seen.asking.slice(-1);
  if (leader === undefined) throw new Error('Nobody asks.');
  const { capture } = callOf(leader.request);
  const head = ['etag', '"1"', 'content-length', '2'];
  capture?.onHead(200, head, validityText({ state, forMs: 60_000 }));
  leader.response.writeHead(200, head);
  capture?.onBody(Buffer.from('{}'));
  capture?.onEnd();
  leader.response.end('{}');
  await within(
    'all who stayed are answered',
    until('', () => statuses.length === waiters - 1),
  );
  t.deepEqual(new Set(statuses), new Set([200]));
  t.is(seen.asking.length, 3);
});

test('if the answer cannot be cached, all waiting calls ask data-api at once', async (t) => {
  const { url, seen, close } = await startCache();
  t.teardown(close);
  for (let i = 0; i < 5; i += 1) get(`${url}/v1/series/A`, (response) => response.resume());
  await until('all have come', () => seen.calls === 5);
  t.is(seen.asking.length, 1);
  const [leader] = seen.asking;
  if (leader !== undefined) callOf(leader.request).capture?.onHead(404, [], undefined);
  await until('all ask', () => seen.asking.length === 5);
  for (const { response } of seen.asking) response.end();
  t.pass();
});
