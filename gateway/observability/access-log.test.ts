import { createServer } from 'node:http';
import { connect } from 'node:net';
import test from 'ava';
import { createLog } from '../../kernel/log/log.ts';
import { closeServer, listen } from '../../kernel/http/server.ts';
import { createClients } from '../client-ip.ts';
import { requestId } from '../policies/request-id.ts';
import { GatewayResponse } from '../response-headers.ts';
import type { GatewayRoutes } from '../routes.ts';
import { createAccessLog } from './access-log.ts';
import type { Metrics } from './metrics.ts';

test('a client that left before its answer began is 499 in the log and the metrics, even if the answer begins right after', async (t) => {
  const lines: string[] = [];
  const ended: unknown[] = [];
  const accessLog = createAccessLog({
    log: createLog('gateway', 'info', { write: (line) => void lines.push(line) }),
    metrics: {
      started: () => undefined,
      ended: (_call: unknown, _group: string, ending: unknown) => void ended.push(ending),
    } as unknown as Metrics,
    routes: () => ({ placeOf: () => ({ group: 'other', route: undefined }) }) as unknown as GatewayRoutes,
    traces: null,
  });
  const openCall = requestId({
    ...{
      clients: createClients(0, { warn: () => undefined }),
      isPublicOnTls: false,
      isDraining: () => false,
    },
    accessLog,
  });
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const server = createServer({ ServerResponse: GatewayResponse }, (request, response) => {
    void openCall(request, response, () => {
      response.once('close', () => {
        response.writeHead(200).end('ok');
        answer();
      });
      arrive();
    });
  });
  const { port } = new URL(await listen(server, '127.0.0.1', 0));
  t.teardown(() => closeServer(server));
  const socket = connect(Number(port), '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await arrived;
  socket.destroy();
  await answered;
  for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  t.is(lines.length, 1);
  t.like(JSON.parse(lines[0] ?? ''), { status: 499, complete: false });
  t.like(ended, [{ status: 499, complete: false }]);
});
