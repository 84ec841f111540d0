// Sequelize connections that break at the worst moment. The server is a socket that sends PostgreSQL's first messages.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import test from 'ava';
import { toFailure } from '../kernel/errors.ts';
import { createLog } from '../kernel/log/log.ts';
import { createTestDatabase } from '../test/services/harness.ts';
import { until } from '../test/run/until.ts';
import { connect, type AccountsDatabase } from './database.ts';

/** A message of PostgreSQL's protocol: its type, its length and its body. */
function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + body.length);
  return Buffer.concat([Buffer.from(type), length, body]);
}

test('a server that stops just as it accepts a connection fails the statement, not the process', async (t) => {
  const ending = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0';
  const server = createServer((socket) => {
    socket.on('error', () => undefined); // the client closes the connection
    socket.once('data', () => {
      // In one write, as a process that was stalled meanwhile receives them.
      socket.end(
        Buffer.concat([
          message('R', Buffer.alloc(4)), // authenticated
          message('Z', Buffer.from('I')), // ready
          message('E', Buffer.from(ending)),
        ]),
      );
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close());
  const db = connect(`postgres://almanac@127.0.0.1:${(server.address() as AddressInfo).port}/almanac`);
  t.teardown(() => db.close());
  await t.throwsAsync(db.sequelize.query('select 1'), { message: /not queryable|terminating connection/ });
});

/** A metric of the pool with the given state label. */
function figure(db: AccountsDatabase, name: string, state?: string): number | undefined {
  const metric = db.metrics.find((each) => each.name === `almanac_database_${name}`);
  return metric?.read().find(({ labels }) => state === undefined || labels?.['state'] === state)?.value;
}

/** The number of timed statements. */
function timed(db: AccountsDatabase): number | undefined {
  const metric = db.metrics.find(({ name }) => name === 'almanac_database_statement_duration_seconds');
  return metric?.read().find(({ suffix }) => suffix === '_count')?.value;
}

test('the pool metrics report busy connections, idle connections, and statements that wait for one', async (t) => {
  const database = await createTestDatabase();
  t.teardown(() => database.drop());
  const db = connect(database.url);
  t.teardown(() => db.close());
  const holder = connect(database.url);
  t.teardown(() => holder.close());
  const isBusy = async (busy: number, idle: number, waiting: number) => {
    await until(`${busy} are busy, ${idle} idle, and ${waiting} wait`, () => {
      const found = [
        ...[figure(db, 'connections', 'busy'), figure(db, 'connections', 'idle')],
        figure(db, 'waiting'),
      ];
      return found.join() === [busy, idle, waiting].join();
    });
  };
  await db.inLedgerTransaction(async (transaction) => {
    await db.sequelize.query('select 1', { transaction });
    await isBusy(1, 0, 0); // between its statements too
  });
  await isBusy(0, 1, 0);
  let waiting: Promise<unknown> | undefined;
  await holder.inLedgerTransaction(async (transaction) => {
    await holder.sequelize.query('select pg_advisory_xact_lock(1)', { transaction });
    const lock = () => db.sequelize.query('select pg_advisory_xact_lock(1)');
    const begin = () => db.inLedgerTransaction(() => Promise.resolve());
    waiting = Promise.all([...Array.from({ length: 11 }, lock), begin(), db.accounts.count()]);
    await isBusy(10, 0, 3);
  });
  await waiting;
  await isBusy(0, 10, 0);
  const before = timed(db) ?? Number.NaN;
  await db.accounts.count();
  t.is(timed(db), before + 1, 'statements of the models are timed');
  const nowhere = connect('postgres://almanac@127.0.0.1:1/almanac');
  t.teardown(() => nowhere.close());
  await t.throwsAsync(nowhere.accounts.count());
  t.is(figure(nowhere, 'waiting'), 0, 'what has failed waits no longer');
});

test('a statement that fails is logged with its shape and the name of the constraint, and without any value', async (t) => {
  const database = await createTestDatabase();
  t.teardown(() => database.drop());
  const db = connect(database.url);
  t.teardown(() => db.close());
  const value = randomUUID();
  const now = new Date();
  const times = {
    createdAt: now,
    lastSeenAt: now,
    idleExpiresAt: now,
    absoluteExpiresAt: now,
    authTime: now,
  };
  const session = { id: value, accountId: value, secretHash: value, ...times, twoFactors: false };
  const insertBatch = () =>
    db.sequelize.query('insert into accounts.settled_batches (batch_id, at) values ($1, now())', {
      bind: [value],
    });
  await insertBatch();
  const failing: [string, () => Promise<unknown>][] = [
    ['sessions_', () => db.sessions.create({ ...session, ip: value, userAgent: value })],
    ['settled_batches_pkey', insertBatch],
    ['"code":"42703"', () => db.sequelize.query('select none where $1 = $2', { bind: [value, value] })],
    ['"code":"42703"', () => db.keys.findOne({ where: { hash: value, none: value } as never })],
  ];
  for (const [named, fail] of failing) {
    const lines: string[] = [];
    const log = createLog('accounts-api', 'error', { write: (line) => void lines.push(line) });
    log.error({ err: toFailure(await t.throwsAsync(fail())).detail }, 'it failed');
    const [line = ''] = lines;
    t.false(line.includes(value), line);
    t.true(line.includes(named), line);
    t.regex(line, /"sql":"(?:insert|select) /i);
  }
});
