// Connections that are half-open: no byte passes any more, and neither end hears that the other is gone, as when a machine or a firewall has
// fallen. Nobody waits for ever: each is given up in a bounded time, and what comes next has a new one.
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import test from 'ava';
import { connect } from '../../accounts-api/database.ts';
import { hashApiKey } from '../../kernel/credentials/api-key.ts';
import { openDatabase } from '../../kernel/database.ts';
import { anonymous, createOpener, createSealer, identityHeader } from '../../kernel/identity.ts';
import { startService } from '../../kernel/http/server.ts';
import { listenTo } from '../../kernel/notifications.ts';
import { openRedis, script } from '../../kernel/redis.ts';
import { startLink } from '../chaos/links.ts';
import { startLife } from '../gateway/lives.ts';
import { openSocket } from '../gateway/raw.ts';
import { startRecordingUpstream, startTestGateway } from '../gateway/recording-upstream.ts';
import { startAccountsService } from '../services/accounts-service.ts';
import { createTestDatabase, listening, silentLog, testIdentitySecret } from '../services/harness.ts';
import { startRedisCluster, startWatchedRedis } from '../services/redis-sets.ts';
import { startRedis } from '../services/redis.ts';
import { until, within } from '../run/until.ts';

/** The URL of a service behind a link. */
async function behindLink(url: string) {
  const direct = new URL(url);
  const link = await startLink(url);
  direct.hostname = '127.0.0.1';
  direct.port = new URL(link.url).port;
  return { link, url: direct.href.replace(/\/$/, '') };
}

const answerWithinMs = 4_000; // a busy machine may take a while to connect

test.serial(
  'a statement fails that waits on a half-open connection to PostgreSQL, and the next has a new one, also where stalls are waited for',
  async (t) => {
    const database = await createTestDatabase();
    const { link, url } = await behindLink(database.url);
    const ofPool = openDatabase(url, silentLog, {
      applicationName: 'half-open',
      connectionsMax: 1,
      cutsAtClose: true,
      answerWithinMs,
    });
    const ofAccounts = connect(url, { pool: 'worker', answerWithinMs });
    t.teardown(async () => {
      await ofPool.close();
      await ofAccounts.close();
      await database.drop();
    });
    for (const ask of [() => ofPool.query('select'), () => ofAccounts.read('select')]) {
      t.is((await ask()).length, 1);
      link.loseAll();
      await t.throwsAsync(within('the statement is given up', ask()));
      t.is((await ask()).length, 1);
    }
  },
);

const echo = script('return ARGV[1]');

test.serial(
  'Redis is used again after its connection was half-open, though it was written to all the time',
  async (t) => {
    const server = await startRedis();
    const { link, url } = await behindLink(server.url);
    const redis = openRedis(url, silentLog, { silentMs: 1_000 });
    t.teardown(async () => {
      redis.close();
      await server.stop();
    });
    const works = () =>
      redis.run(echo, ['a'], ['1']).then(
        () => true,
        () => false,
      );
    await until('Redis is used', works);
    link.loseAll();
    await until('Redis is missed', async () => !(await works()));
    await until('Redis is used again', works);
    t.pass();
  },
);

for (const [what, start] of [
  [
    'a node of a cluster',
    async () => {
      const { url, masters, stop } = await startRedisCluster();
      return { url, server: masters[1], stop };
    },
  ],
  [
    'the master that sentinels watch',
    async () => {
      const { url, master, stop } = await startWatchedRedis();
      return { url, server: master, stop };
    },
  ],
] as const) {
  test.serial(
    `Redis is used again after ${what} was silent for so long that all connections were given up`,
    async (t) => {
      const { url, server, stop } = await start();
      const { log, messages } = listening();
      const redis = openRedis(url, log, { silentMs: 1_000 });
      t.teardown(async () => {
        redis.close();
        await stop();
      });
      const works = async () => {
        const runs = Array.from({ length: 30 }, (_, i) => redis.run(echo, [`key ${i}`], ['1']));
        return (await Promise.allSettled(runs)).every(({ status }) => status === 'fulfilled');
      };
      await until('Redis is used', works);
      server?.stall();
      await until('the connections are given up', async () => {
        await works();
        return messages.some((message) => message.includes('its connections are replaced'));
      });
      server?.goOn();
      await until('Redis is used again', works);
      t.pass();
    },
  );
}

test.serial(
  'a change is heard again after the connection that listens to PostgreSQL was half-open',
  async (t) => {
    const database = await createTestDatabase();
    const { link, url } = await behindLink(database.url);
    const direct = openDatabase(database.url, silentLog, { applicationName: 'half-open' });
    const notifications = listenTo('almanac_changes', url);
    t.teardown(async () => {
      notifications.close();
      await direct.close();
      await database.drop();
    });
    const isNotified = async () => {
      const count = notifications.count();
      await direct.query("select pg_notify('almanac_changes', '')");
      await notifications.after(count, 50);
      return notifications.count() > count;
    };
    await until('it is heard', isNotified);
    link.loseAll();
    t.false(await isNotified());
    await until('it is heard again', isNotified);
  },
);

test.serial(
  'a revocation is answered though the connections of gateways are half-open, and they refuse the key from then on',
  async (t) => {
    const service = await startAccountsService('2026-11-20T10:00:00.000Z');
    const { link, url } = await behindLink(service.url);
    const lives = await Promise.all([1, 2, 3].map(() => startLife({ url, clock: service.clock })));
    t.teardown(async () => {
      for (const life of lives) await life.close();
      await service.close();
    });
    const clients = await Promise.all([1, 2, 3, 4].map(() => service.newClient()));
    for (const { key } of clients) for (const life of lives) t.true(await life.opensFor(hashApiKey(key)));
    link.loseAll();
    for (const client of clients) {
      const answer = await service.as(client, `/v1/keys/${client.keyId}`, { method: 'DELETE' });
      t.is(answer.status, 204);
      for (const life of lives) t.false(await life.opensFor(hashApiKey(client.key)));
    }
  },
);

test.serial(
  'one call waits for a half-open connection to data-api, and the next has a new one',
  async (t) => {
    const dataApi = await startRecordingUpstream('data-api');
    const { link, url } = await behindLink(dataApi.url);
    const gateway = await startTestGateway({ dataApiUrls: [url], upstreamTimeoutMs: 1_500 });
    t.teardown(async () => {
      await gateway.close();
      await dataApi.close();
    });
    const call = async () => (await fetch(`${gateway.url}/v1/catalog`)).status;
    const idle = Array.from({ length: 5 }, call);
    t.deepEqual(await Promise.all(idle), [200, 200, 200, 200, 200]);
    link.loseAll();
    t.is(await call(), 504);
    t.deepEqual(await Promise.all(Array.from({ length: 5 }, call)), [200, 200, 200, 200, 200]);
  },
);

test.serial(
  'no call fails for half-open connections to accounts-api: what is silent is asked anew on a new one',
  async (t) => {
    const service = await startAccountsService('2026-11-20T10:00:00.000Z');
    const { link, url } = await behindLink(service.url);
    const accounts = { url, clock: service.clock };
    const gateway = await startTestGateway({ accounts });
    t.teardown(async () => {
      await gateway.close();
      await service.close();
    });
    const [first, ...others] = await Promise.all([1, 2, 3, 4, 5, 6].map(() => service.newClient('starter')));
    const call = async (key = '') =>
      (await fetch(`${gateway.url}/v1/series/A`, { headers: { 'x-api-key': key } })).status;
    // One after the other, so that each question is on its way alone and has a connection of its own.
    for (const key of [first?.key, first?.key]) t.is(await call(key), 200);
    t.deepEqual(await Promise.all(others.map(({ key }) => call(key))), [200, 200, 200, 200, 200]);
    link.loseAll();
    t.is(await call(first?.key), 200);
    t.deepEqual(await Promise.all(others.map(({ key }) => call(key))), [200, 200, 200, 200, 200]);
  },
);

test.serial(
  'a service gives up a connection on which nothing passes, though a call is under way there',
  async (t) => {
    const reached = Promise.withResolvers<void>();
    const service = await startService({
      ...{ log: silentLog, ready: () => Promise.resolve(), host: '127.0.0.1', port: 0, silentMs: 200 },
      routes: [{ method: 'GET', path: '/never', scope: 'internal', handler: () => reached.resolve() }],
      openIdentity: createOpener(testIdentitySecret, 'data-api'),
    });
    t.teardown(() => service.close());
    const seal = createSealer(testIdentitySecret, 'data-api');
    const token = seal({ ...anonymous, scope: 'internal' }, 'GET', '/never');
    const socket = openSocket(service.url);
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.on('error', () => socket.destroy());
    socket.write(`GET /never HTTP/1.1\r\nhost: a\r\n${identityHeader}: ${token}\r\nx-request-id: a\r\n\r\n`);
    await reached.promise;
    socket.resume();
    await within('the connection is closed', closed);
    t.pass();
  },
);

test.serial(
  'a link that has lost its connections forwards no bytes on them, reports no end, and serves new ones',
  async (t) => {
    const ended: string[] = [];
    const accepted: Socket[] = [];
    const server = createServer((socket) => {
      accepted.push(socket);
      socket.on('data', (bytes) => socket.write(bytes));
      socket.once('close', () => ended.push('the service heard of the end'));
      socket.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => {
      server.close();
      for (const socket of accepted) socket.destroy(); // a lost one would never end
    });
    const link = await startLink(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const echoOf = async (socket: ReturnType<typeof openSocket>) => {
      const answer = new Promise<string>((resolve) =>
        socket.once('data', (bytes: Buffer) => resolve(bytes.toString())),
      );
      socket.write('hello');
      return answer;
    };
    const lost = openSocket(link.url);
    t.is(await echoOf(lost), 'hello');
    link.loseAll();
    let isAnswered = false;
    void echoOf(lost).then(() => (isAnswered = true));
    const later = openSocket(link.url);
    t.is(await echoOf(later), 'hello');
    lost.destroy();
    t.is(await echoOf(later), 'hello');
    t.deepEqual([isAnswered, ended], [false, []]);
    later.destroy();
  },
);
