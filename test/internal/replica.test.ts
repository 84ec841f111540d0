// data-api with a streaming replica: it reads there while the replica holds every load that was reported as done, otherwise from the
// primary; and while the primary is away, from the replica for a bounded time. Both are real servers, killed and stopped here.
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { start } from '../../data-api/main.ts';
import { routesOfEither, watchReplica } from '../../data-api/replica.ts';
import { fileOf } from '../ingest/loading.ts';
import { load } from '../../ingest/load/load.ts';
import { systemClock } from '../../kernel/clock.ts';
import { openDatabase } from '../../kernel/database.ts';
import { fail } from '../../kernel/errors.ts';
import type { Route } from '../../kernel/http/server.ts';
import { parseValidity, validityHeader } from '../../kernel/http/validity.ts';
import { createSealer, identityHeader } from '../../kernel/identity.ts';
import { openServiceRoles, serviceUrl } from '../../migrations/roles.ts';
import { migrate } from '../../migrations/run.ts';
import { exempt } from '../openapi/check-answers.ts';
import { until, within } from '../run/until.ts';
import { proAccount } from '../services/data-service.ts';
import { silentLog, testIdentitySecret } from '../services/harness.ts';
import { startPostgresUnit, startReplicaUnit, type PostgresUnit } from '../services/postgres.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'almanac-replica-'));
chmodSync(directory, 0o755); // where root runs this, PostgreSQL's own user must get in
const over = new AbortController();
const seal = createSealer(testIdentitySecret, 'data-api');
let primary: PostgresUnit;
let replica: PostgresUnit;

test.before(async () => {
  primary = await startPostgresUnit(path.join(directory, 'primary'), over.signal);
  await migrate(primary.url);
  await openServiceRoles(primary.url, true);
  replica = await startReplicaUnit(primary, path.join(directory, 'replica'), over.signal);
  await publish(0);
});
test.after.always(async () => {
  over.abort();
  for (const unit of [replica, primary]) {
    unit?.goOn();
    await unit?.kill();
  }
});

const id = 'REPLICATED';

/** Loads a value of the one point; resolves when it is reported as done. */
async function publish(value: number): Promise<void> {
  const database = openDatabase(primary.url, silentLog, { applicationName: 'tests' });
  await load(database, {
    dataset: 'observations',
    input: fileOf([`series_id,date,value\n${id},2026-01-01,${value}\n`]),
    create: true,
    set: { unit: 'Index', frequency: 'daily', source: 'Tests' },
    seriesTimeZone: 'UTC',
    clock: systemClock,
  }).finally(() => database.close());
}

async function onReplica<Row extends pg.QueryResultRow>(statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: replica.url });
  await client.connect();
  return (await client.query<Row>(statement).finally(() => client.end())).rows;
}

async function loadsOnReplica(): Promise<number | undefined> {
  return (await onReplica<{ count: number }>('select count(*)::int as count from data.loads'))[0]?.count;
}

interface Reader {
  read(): Promise<{ status: number; value: number | undefined; load: number | undefined; text: string }>;
  isReady(): Promise<boolean>;
  newestLoad(): Promise<number | undefined>;
}

/** data-api with the replica. */
async function startReader(t: ExecutionContext, lagMaxMs = 60_000): Promise<Reader> {
  exempt(); // its answers have headers that the gateway removes
  const service = await start({
    databaseUrl: serviceUrl(primary.url, 'almanac_data_api'),
    replica: { url: serviceUrl(replica.url, 'almanac_data_api'), lagMaxMs },
    identitySecret: testIdentitySecret,
    seriesTimeZone: 'UTC',
    publicUrl: 'http://localhost',
    host: '127.0.0.1',
    port: 0,
    log: silentLog,
    clock: systemClock,
  });
  t.teardown(() => service.close());
  const call = (target: string, scope = proAccount.scope) =>
    fetch(service.url + target, {
      headers: { [identityHeader]: seal({ ...proAccount, scope }, 'GET', target) },
    });
  return {
    async read() {
      const response = await call(`/v1/series/${id}`);
      const text = await response.text();
      const value = /"value":(\d+)/.exec(text)?.[1];
      const validity = parseValidity(response.headers.get(validityHeader) ?? '');
      return {
        ...{ status: response.status, text, load: validity?.state.load },
        value: value === undefined ? undefined : Number(value),
      };
    },
    isReady: async () => (await call('/readyz')).status === 200,
    async newestLoad() {
      const response = await call('/internal/newest-load', 'internal');
      return response.ok ? ((await response.json()) as { load: number }).load : undefined;
    },
  };
}

/** The statements on series that a server has run; the replica runs none but those of readers. */
async function readsOnReplica(): Promise<number> {
  await onReplica('select pg_stat_force_next_flush()');
  const [row] = await onReplica<{ reads: number }>(
    "select coalesce(seq_scan, 0)::int + coalesce(idx_scan, 0)::int as reads from pg_stat_user_tables where relid = 'data.series'::regclass",
  );
  return row?.reads ?? 0;
}

/** Calls until one is read from the replica. */
async function untilReplicaIsRead(reader: Reader): Promise<void> {
  await until('the replica is read', async () => {
    const before = await readsOnReplica();
    await reader.read();
    return (await readsOnReplica()) > before;
  });
}

test.serial('a replica that holds every load is read', async (t) => {
  const reader = await startReader(t);
  await untilReplicaIsRead(reader);
  const { status, value, load } = await reader.read();
  t.deepEqual([status, value], [200, 0]);
  t.is(load, await reader.newestLoad(), 'a gateway may keep the answer');
});

test.serial(
  'a call that begins when a load is reported as done sees it, though the replica does not have it',
  async (t) => {
    const reader = await startReader(t);
    await untilReplicaIsRead(reader);
    for (const value of [1, 2, 3]) {
      await onReplica('select pg_wal_replay_pause()');
      const before = await loadsOnReplica();
      await publish(value);
      const answers = await Promise.all(Array.from({ length: 5 }, () => reader.read()));
      t.deepEqual(new Set(answers.map((answer) => answer.value)), new Set([value]));
      t.is(await loadsOnReplica(), before, 'the replica has the load, so nothing was tried');
      await onReplica('select pg_wal_replay_resume()');
      await untilReplicaIsRead(reader);
      t.is((await reader.read()).value, value);
    }
  },
);

test.serial('an answer never says that it includes a load that its server does not hold', async (t) => {
  const reader = await startReader(t);
  await untilReplicaIsRead(reader);
  const before = (await reader.read()).value ?? NaN;
  await onReplica('select pg_wal_replay_pause()');
  const loading = { isDone: false };
  const done = publish(before + 1).finally(() => (loading.isDone = true));
  const newest = (await reader.newestLoad()) ?? NaN;
  let [judged, saysNewest] = [0, 0];
  while (!loading.isDone) {
    const known = (await reader.newestLoad()) ?? NaN; // the gateway's lease
    const { value, load } = await reader.read();
    judged += 1;
    if (load === undefined || known === newest || load < known) continue;
    saysNewest += 1;
    t.is(value, before + 1, `it says load ${load}`);
  }
  await done;
  t.true(judged > 0);
  await onReplica('select pg_wal_replay_resume()');
  t.log(`${judged} answers, ${saysNewest} of the newest load`);
});

test.serial('while the replica is killed, no call fails, and calls are read from the primary', async (t) => {
  const reader = await startReader(t);
  await untilReplicaIsRead(reader);
  const { value = 0 } = await reader.read();
  const calls = { goOn: true, statuses: new Set<number>() };
  const loops = Array.from({ length: 4 }, async () => {
    while (calls.goOn) calls.statuses.add((await reader.read()).status);
  });
  await replica.kill();
  await publish(value + 1);
  t.is((await reader.read()).value, value + 1);
  await until('it is ready', reader.isReady);
  await replica.start();
  await untilReplicaIsRead(reader);
  calls.goOn = false;
  await Promise.all(loops);
  t.deepEqual([...calls.statuses], [200]);
});

test.serial('while the replica is stalled, calls that begin later are read from the primary', async (t) => {
  const reader = await startReader(t);
  await untilReplicaIsRead(reader);
  const { value = 0 } = await reader.read();
  replica.stall();
  await publish(value + 1);
  const { status, value: now } = await reader.read();
  replica.goOn();
  t.deepEqual([status, now], [200, value + 1]);
});

test.serial(
  'a call that waits for a stalled primary is answered from the replica, or 503 if that may not be read',
  async (t) => {
    for (const [lagMaxMs, status] of [
      [60_000, 200],
      [0, 503],
    ] as const) {
      const reader = await startReader(t, lagMaxMs);
      await untilReplicaIsRead(reader);
      const { value = 0 } = await reader.read();
      await onReplica('select pg_wal_replay_pause()');
      await publish(value + 1);
      t.is((await reader.read()).value, value + 1, 'the primary is read');
      primary.stall();
      const waiting = Promise.all(Array.from({ length: 15 }, () => reader.read())); // some without a connection
      const answers = await within('all are answered', waiting, 20_000).finally(async () => {
        primary.goOn();
        await onReplica('select pg_wal_replay_resume()');
      });
      for (const answer of answers)
        t.like(answer, { status, value: status === 200 ? value : undefined }, 'from the replica');
      await until('the load is read', async () => (await reader.read()).value === value + 1);
    }
  },
);

test('a primary that never answers is known to be away within a deadline', async (t) => {
  const answers = { query: () => Promise.resolve([{ load: '1' }] as never[]) };
  const isSilent = { query: () => new Promise<never>(() => undefined) };
  const note = () => undefined;
  const watch = watchReplica({
    primary: { probeConnection: isSilent, loads: { note } },
    replica: { probeConnection: answers, loads: { note } },
    ...{ lagMaxMs: 60_000, log: silentLog },
  });
  t.teardown(() => watch.close());
  t.is(watch.choose(), 'primary');
  await within('it is known', watch.noteFault('primary'), 20_000);
  // The replica was never known to be current.
  t.throws(() => watch.choose(), { message: /primary database does not answer/ });
});

test('a 503 of data-api itself is not a fault of the server, and is not tried on the other one', async (t) => {
  const asked: string[] = [];
  const route = (server: string) => ({
    ...{ method: 'GET' as const, path: '/', scope: 'client' as const },
    handler() {
      asked.push(server);
      return fail('unavailable', 'Try again.');
    },
  });
  const watch = {
    choose: () => 'replica' as const,
    noteFault: () => Promise.reject(new Error('there is no fault')),
  };
  const [either] = routesOfEither(watch, { primary: [route('primary')], replica: [route('replica')] });
  const call = [{}, { headersSent: false }, {}] as unknown as Parameters<Route['handler']>;
  await t.throwsAsync(async () => either?.handler(...call), { message: 'Try again.' });
  t.deepEqual(asked, ['replica']);
});

test.serial(
  'while the primary is stopped, the replica is read, and no lease on answers in memory is given',
  async (t) => {
    const reader = await startReader(t);
    await untilReplicaIsRead(reader);
    const { value } = await reader.read();
    await primary.stop();
    await until('the primary is missed', async () => (await reader.newestLoad()) === undefined);
    for (let i = 0; i < 20; i += 1) t.like(await reader.read(), { status: 200, value });
    await until('it is ready', reader.isReady);
    await primary.start();
    await publish(1_000);
    t.is((await reader.read()).value, 1_000);
  },
);

test.serial(
  'a replica that was without the primary for longer than REPLICA_LAG_MAX_MS is not read: 503 says why',
  async (t) => {
    const reader = await startReader(t, 0);
    await untilReplicaIsRead(reader);
    await primary.stop();
    await until('calls are refused', async () => (await reader.read()).status === 503);
    t.regex((await reader.read()).text, /primary database does not answer.*REPLICA_LAG_MAX_MS/);
    t.false(await reader.isReady());
    await primary.start();
    await until('calls are answered', async () => (await reader.read()).status === 200);
  },
);

test.serial(
  'a replica that lags while the primary goes away is not read from before its last known load',
  async (t) => {
    const reader = await startReader(t, 1);
    await untilReplicaIsRead(reader);
    await onReplica('select pg_wal_replay_pause()');
    await publish(2_000);
    await primary.stop();
    for (let i = 0; i < 20; i += 1) {
      const { status, value } = await reader.read();
      t.true(status === 503 || value === 2_000, `${status} ${value}`);
    }
    await primary.start();
    await onReplica('select pg_wal_replay_resume()');
    await untilReplicaIsRead(reader);
  },
);
