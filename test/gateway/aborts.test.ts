// Clients that leave: before the first byte of the answer, during it, or during their own request.
// TEST_ABORTS is their number (2,000 by default); docs/operations.md has the figures of 50,000.
import { createServer, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import test from 'ava';
import { QueryTypes } from 'sequelize';
import { closeServer, listen } from '../../kernel/http/server.ts';
import { startAccountsService, sumOf } from '../services/accounts-service.ts';
import { projectPlans, unhurried } from '../services/services.ts';
import { until, within } from '../run/until.ts';
import { lines, openSocket } from './raw.ts';
import { noon, startRecordingUpstream, startTestGateway } from './recording-upstream.ts';

const aborts = Number(process.env['TEST_ABORTS'] ?? 2_000);
const atOnce = 50;
// The memory that all aborts together may leave: one that leaked its socket would leave some 10 KB.
const heapGrowthMax = 6 * 1024 * 1024;

/** A service that begins its answers but never ends them; for `/v1/…/held` it sends not even the head. Reports each call that begins and is cut. */
async function startHangingService() {
  let open = 0;
  let onStarted = () => undefined as void;
  const server = createServer((request, response: ServerResponse) => {
    open += 1;
    response.once('close', () => void (open -= 1));
    if (request.url?.endsWith('/whole')) {
      response.setHeader('x-request-id', String(request.headers['x-request-id']));
      response.end('whole');
      return;
    }
    if (request.url?.endsWith('/begun')) {
      response.setHeader('x-request-id', String(request.headers['x-request-id']));
      response.writeHead(200).write('x'.repeat(20_000));
    }
    onStarted();
  });
  const url = await listen(server, '127.0.0.1', 0);
  return {
    url,
    openCalls: () => open,
    connections: () => new Promise<number>((resolve) => server.getConnections((_error, n) => resolve(n))),
    /** Resolves when this many more calls have begun. */
    async untilStarted(calls: number): Promise<void> {
      await new Promise<void>((resolve) => {
        let left = calls;
        onStarted = () => {
          left -= 1;
          if (left === 0) resolve();
        };
      });
    },
    close: () => closeServer(server),
  };
}

const service = await startHangingService();
const accounts = await startAccountsService(noon);
const accountsApi = await startRecordingUpstream('accounts-api', accounts.url);
const gateway = await startTestGateway({
  accounts,
  accountsApiUrls: [accountsApi.url],
  dataApiUrls: [service.url],
  plans: unhurried(projectPlans()),
  publicCallsPerSecond: 1_000_000,
});
const client = await accounts.newClient('pro');
test.after.always(async () => {
  await gateway.close();
  await accountsApi.close();
  await accounts.close();
  await service.close();
});

const get = (path: string) => lines(`GET ${path} HTTP/1.1`, 'Host: a', `X-API-Key: ${client.key}`);

/** Opens connections, sends a request on each, and closes them once `until` resolves. */
async function leaveTogether(path: string, until: 'sent' | 'begun' | 'first byte'): Promise<void> {
  const started = until === 'begun' ? service.untilStarted(atOnce) : undefined;
  const sockets = Array.from({ length: atOnce }, () => openSocket(gateway.url));
  await Promise.all(
    sockets.map(async (socket) => {
      if (until === 'first byte') {
        const first = new Promise((resolve) => socket.once('data', resolve));
        socket.write(get(path));
        await first;
      } else await new Promise<void>((resolve) => socket.write(get(path), () => resolve()));
    }),
  );
  if (started !== undefined) await within('the calls reach the service', started);
  await Promise.all(sockets.map(leave));
}

function leave(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', () => resolve());
    socket.resetAndDestroy();
  });
}

async function leaveInEachWay(times: number): Promise<void> {
  for (let left = times; left > 0; left -= 5 * atOnce) {
    await leaveTogether('/v1/series/held', 'sent');
    await leaveTogether('/v1/series/held', 'begun');
    await leaveTogether('/v1/series/begun', 'first byte');
    await leaveTogether('/v1/catalog/held', 'begun');
    await leaveTogether('/v1/catalog/begun', 'first byte');
  }
}

/** The connections of this process, without those of accounts-api to its database, whose number varies with its load. */
async function openSockets(): Promise<number> {
  const rows = await accounts.deps.db.sequelize.query<{ n: number }>(
    'select count(*)::int as n from pg_stat_activity where datname = current_database()',
    { type: QueryTypes.SELECT },
  );
  const all = process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap');
  return all.length - (rows[0]?.n ?? 0);
}

async function noCallIsOpen(): Promise<void> {
  await until('no call is open at the service', () => service.openCalls() === 0);
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
function heapUsed(): number {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

test.serial(
  'a client that leaves within its own request leaves nothing behind, and no service is called',
  async (t) => {
    const { received } = accountsApi;
    const before = { received: received.length, sockets: await openSockets() };
    for (let i = 0; i < 200; i += 1) {
      const socket = openSocket(gateway.url);
      const head = lines('POST /auth/login HTTP/1.1', 'Host: a', 'Content-Length: 100');
      await new Promise<void>((resolve) => socket.write(`${head}{"half"`, () => resolve()));
      await leave(socket);
    }
    await until('as few sockets are open as before', async () => (await openSockets()) <= before.sockets);
    t.is(received.length, before.received);
  },
);

test.serial(
  `after ${aborts} clients have left, no call, socket or memory remains for them, and nothing was billed`,
  async (t) => {
    await leaveInEachWay(500);
    await noCallIsOpen();
    const before = { sockets: await openSockets(), heap: heapUsed(), atMs: performance.now() };

    await leaveInEachWay(aborts);
    await noCallIsOpen();
    await until('as few sockets are open as before', async () => (await openSockets()) <= before.sockets);
    const growth = heapUsed() - before.heap;
    t.log(
      `${aborts} aborts in ${((performance.now() - before.atMs) / 1000).toFixed(1)} s: ` +
        `sockets ${before.sockets} → ${await openSockets()}, heap ${(growth / 1024).toFixed(0)} KB more`,
    );
    t.true(growth < heapGrowthMax, `the heap grew by ${growth} bytes`);
    t.true((await service.connections()) <= 1);

    const answer = await fetch(`${gateway.url}/v1/series/whole`, { headers: { 'x-api-key': client.key } });
    t.is(await answer.text(), 'whole');
    await gateway.close(); // sends its journal
    t.is(sumOf(await accounts.ledger(client)).billed, 1);
    t.is(await accounts.used(client), 1); // the calls reserved for the clients that left were freed
  },
);
