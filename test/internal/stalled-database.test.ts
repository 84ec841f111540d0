// A PostgreSQL that is stalled, not dead: its connections stay open, and it answers nothing. Calls are answered 503 by deadlines of
// ours, and served again when it goes on.
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { start as startAccounts } from '../../accounts-api/main.ts';
import { start as startDataApi } from '../../data-api/main.ts';
import { start as startPublisher } from '../../ingest/main.ts';
import type { Log } from '../../kernel/log/log.ts';
import { createDatabaseCircuit } from '../../kernel/database-circuit.ts';
import { openDatabase, type Database } from '../../kernel/database.ts';
import { anonymous, createSealer, identityHeader } from '../../kernel/identity.ts';
import {
  createTestDatabase,
  fakeClock,
  listening,
  silentLog,
  testIdentitySecret,
} from '../services/harness.ts';
import { startProxy, type Proxy } from '../services/proxy.ts';
import { projectPlans } from '../services/services.ts';
import { testSignIn } from '../services/sign-in.ts';
import { until, within } from '../run/until.ts';

let database: { url: string; drop(): Promise<void> };
let way: Proxy; // to PostgreSQL
let url: string;
test.before(async () => {
  database = await createTestDatabase();
  const direct = new URL(database.url);
  way = await startProxy(Number(direct.port));
  direct.hostname = '127.0.0.1';
  direct.port = String(way.port);
  url = direct.href;
});
test.after.always(async () => {
  await way?.close();
  await database?.drop();
});

// Far less than a statement may take, and far more than the deadlines.
const boundMs = 20_000;

const shared = {
  identitySecret: testIdentitySecret,
  host: '127.0.0.1',
  port: 0,
  clock: fakeClock('2026-11-20T12:00:00Z'),
};
const internal = { ...anonymous, scope: 'internal' as const };

for (const [name, start, ask] of [
  [
    'data-api',
    (log: Log) =>
      startDataApi({
        ...shared,
        log,
        databaseUrl: url,
        seriesTimeZone: 'UTC',
        publicUrl: 'http://localhost',
      }),
    (at: string) =>
      fetch(`${at}/v1/catalog`, {
        headers: {
          [identityHeader]: createSealer(testIdentitySecret, 'data-api')(anonymous, 'GET', '/v1/catalog'),
        },
      }),
  ],
  [
    'accounts-api',
    (log: Log) =>
      startAccounts({
        ...{ ...shared, log, databaseUrl: url, plans: projectPlans(), signIn: testSignIn },
        redisUrl: undefined,
      }),
    (at: string) =>
      fetch(`${at}/internal/heartbeat`, {
        method: 'POST',
        body: JSON.stringify({
          ...{ life: randomUUID(), begins: true, seen: 0, wait_ms: 0, ended: [], batch: null, wants: [] },
          ...{ keys: ['0'.repeat(64)], month: '2026-11-01' },
        }),
        headers: {
          [identityHeader]: createSealer(testIdentitySecret, 'accounts-api')(
            internal,
            'POST',
            '/internal/heartbeat',
          ),
          'content-type': 'application/json',
        },
      }),
  ],
] as const) {
  test.serial(
    `while PostgreSQL is stalled, ${name} answers 503 with Retry-After and is not ready; then it serves again`,
    async (t) => {
      const { log, messages } = listening();
      const service = await start(log);
      t.teardown(() => service.close());
      t.teardown(() => way.restore());
      await until('it serves', async () => (await ask(service.url)).status === 200);
      way.pauseReplies();
      // More than the pool has connections: some wait for one.
      const asked = Array.from({ length: 15 }, () => ask(service.url));
      const readiness = fetch(`${service.url}/readyz`);
      const answers = await within('all are answered', Promise.all([...asked, readiness]), boundMs);
      for (const answer of answers) t.is(answer.status, 503);
      for (const answer of answers.slice(0, 15)) t.is(answer.headers.get('retry-after'), '2');
      t.is(messages.filter((message) => message.startsWith('PostgreSQL does not answer')).length, 1);
      for (let call = 0; call < 20; call += 1) t.is((await ask(service.url)).status, 503);
      way.restore();
      await until('it serves again', async () => (await ask(service.url)).status === 200, boundMs);
      await until('it is ready', async () => (await fetch(`${service.url}/readyz`)).status === 200);
      t.true(messages.includes('PostgreSQL answers'));
    },
  );
}

async function untilItAnswers(database: Database): Promise<void> {
  const answers = () =>
    database.query('select').then(
      () => true,
      () => false,
    );
  await until('it answers', answers, boundMs);
}

test.serial(
  'while PostgreSQL is stalled, the publisher answers 503 on /readyz of both its ports',
  async (t) => {
    const publisher = await startPublisher({
      ...{ databaseUrl: url, log: silentLog },
      operators: { ...shared, seriesTimeZone: 'UTC', fiscalYearFirstMonth: 7 },
    });
    t.teardown(() => publisher.close());
    t.teardown(() => way.restore());
    const readiness = async () => (await fetch(`${publisher.url}/readyz`)).status;
    await until('it is ready', async () => (await readiness()) === 200);
    way.pauseReplies();
    t.is(await within('it answers', readiness(), boundMs), 503);
    const error = await t.throwsAsync(
      within('it answers at the port of metrics', publisher.ready(), boundMs),
    );
    t.regex(error?.message ?? '', /did not answer within 1500 ms/);
    way.restore();
    await until('it is ready again', async () => (await readiness()) === 200, boundMs);
  },
);

test.serial('a PostgreSQL that is stalled before the first connection is noticed as well', async (t) => {
  t.teardown(() => way.restore());
  way.pauseReplies();
  const stalled = openDatabase(url, silentLog, { applicationName: 'tests', failsWhenStalled: true });
  const asked = within('it is answered', stalled.query('select'), boundMs);
  t.like(await t.throwsAsync(asked), { code: '08006' });
  way.restore();
  await untilItAnswers(stalled);
  await stalled.close();
});

test.serial('a database that is closed breaks its own connections, and logs nothing of it', async (t) => {
  const { log, messages } = listening();
  const database = openDatabase(url, log, { applicationName: 'tests', cutsAtClose: true });
  await database.query('select');
  await database.close();
  for (let turn = 0; turn < 5; turn += 1) await endOfTurn();
  t.deepEqual(messages, []);
});

test.serial('a statement that is slow, or waits for a lock, is not taken for a stall', async (t) => {
  const slow = openDatabase(url, silentLog, { applicationName: 'tests', failsWhenStalled: true });
  t.teardown(() => slow.close());
  const rows = await slow.query<{ slept: string }>("select pg_sleep(4)::text || 'slept' as slept");
  t.deepEqual(rows, [{ slept: 'slept' }]);
});

test.serial(
  'a transaction that PostgreSQL stalls fails whole, and its connection is not used again',
  async (t) => {
    t.teardown(() => way.restore());
    const stalled = openDatabase(url, silentLog, { applicationName: 'tests', failsWhenStalled: true });
    t.teardown(() => stalled.close());
    const work = stalled.transaction(async (transaction) => {
      await transaction.query('create table public.stalled (a int)');
      way.pauseReplies();
      await transaction.query('select');
    });
    t.like(await t.throwsAsync(within('it fails', work, boundMs)), { code: '08006' });
    way.restore();
    await untilItAnswers(stalled);
    const rows = await stalled.query<{ there: string | null }>(
      "select to_regclass('public.stalled')::text as there",
    );
    t.deepEqual(rows, [{ there: null }]);
  },
);

test('a connection that PostgreSQL ends does not end the process, even if its user has stopped listening', async (t) => {
  const circuit = createDatabaseCircuit(database.url, silentLog, 5_000);
  t.teardown(() => circuit.close());
  const [discarded, other] = [1, 2].map(() => new circuit.Client({ connectionString: database.url }));
  if (discarded === undefined || other === undefined) throw new Error('There are two connections.');
  await Promise.all([discarded.connect(), other.connect()]);
  t.teardown(() => other.end());
  const { rows } = await discarded.query<{ pid: number }>('select pg_backend_pid() as pid');
  const ended = new Promise((resolve) => discarded.once('end', resolve));
  await other.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
  await within('the connection ends', ended);
  t.pass(); // an error that nobody listens to would have ended this process
});
