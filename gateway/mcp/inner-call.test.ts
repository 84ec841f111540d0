import { createServer } from 'node:http';
import { connect } from 'node:net';
import test from 'ava';
import { closeServer, listen } from '../../kernel/http/server.ts';
import { callOf, whenClosed } from '../call.ts';
import { createClients } from '../client-ip.ts';
import { isServed } from '../billed-calls.ts';
import { requestId } from '../policies/request-id.ts';
import { GatewayResponse } from '../response-headers.ts';
import type { RunCompiled } from '../policy.ts';
import { readInside } from './inner-call.ts';

/**
 * Runs a call with one inner read, fully answered. @param hasLeft whether the client leaves after the read and before the call's answer.
 * @returns whether the read counts as served once the call has closed.
 */
async function isReadServed({ hasLeft, isAnswered }: { hasLeft: boolean; isAnswered: boolean }) {
  const openCall = requestId({
    clients: createClients(0, { warn: () => undefined }),
    ...{ isPublicOnTls: false, isDraining: () => false, accessLog: () => undefined },
  });
  const { promise: settled, resolve: settle } = Promise.withResolvers<boolean>();
  const dispatch: RunCompiled = async (request, response) => {
    await openCall(request, response, () => undefined);
    whenClosed(callOf(request), response, () => settle(isServed(response)));
    response.writeHead(200, ['content-length', '2']).end('{}');
  };
  const { promise: read, resolve: wasRead } = Promise.withResolvers<void>();
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  const server = createServer({ ServerResponse: GatewayResponse }, (request, response) => {
    response.once('close', leave);
    void openCall(request, response, async () => {
      const outer = { request, response, isServed: false, reads: 0 };
      await readInside(dispatch, outer, { target: '/v1/series/A', asOf: undefined });
      outer.isServed = isAnswered;
      wasRead();
      if (hasLeft) await left;
      response.writeHead(200, ['content-length', '2']).end('{}');
    });
  });
  const { port } = new URL(await listen(server, '127.0.0.1', 0));
  const client = connect(Number(port), '127.0.0.1');
  client.write('POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n');
  await read;
  if (hasLeft) client.destroy();
  else client.resume();
  try {
    return await settled;
  } finally {
    client.destroy();
    await closeServer(server);
  }
}

test('a read inside a call counts as served if the client got the answer of the call, and not if it left or was refused', async (t) => {
  t.true(await isReadServed({ hasLeft: false, isAnswered: true }));
  t.false(await isReadServed({ hasLeft: true, isAnswered: true }));
  t.false(await isReadServed({ hasLeft: false, isAnswered: false }));
});
