import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { Sequelize } from 'sequelize';
import { createTestDatabase, silentLog } from '../test/services/harness.ts';
import { openDatabase, type Database } from './database.ts';
import { fail, Failure, toEnvelope, toFailure } from './errors.ts';

let url: string;
let drop: () => Promise<void>;
test.before(async () => {
  ({ url, drop } = await createTestDatabase());
});
test.after.always(() => drop?.());

const withCode = (code: string) => Object.assign(new Error('as the driver says it'), { code });

function assertUnavailable(t: ExecutionContext, thrown: unknown, what: string): void {
  const failure = toFailure(thrown);
  t.is(failure.code, 'unavailable', what);
  t.is(failure.status, 503, what);
  t.is(failure.headers['retry-after'], '2', what);
  t.is(failure.detail, thrown, what); // for the log
}

test('every way of not reaching the database is `unavailable`, which can be retried', (t) => {
  const codes = [
    ...['08000', '08001', '08003', '08004', '08006', '08P01'], // connection exceptions
    ...['57P01', '57P02', '57P03'], // the server shuts down, has crashed, starts
    '53300', // it has too many connections
    ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'],
    ...['EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'],
  ];
  for (const code of codes) {
    assertUnavailable(t, withCode(code), code);
    assertUnavailable(t, Object.assign(new Error('as Sequelize says it'), { parent: withCode(code) }), code);
  }
  for (const message of [
    'Connection terminated',
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'timeout exceeded when trying to connect',
    'Client has encountered a connection error and is not queryable',
    'Client was closed and is not queryable',
  ]) {
    assertUnavailable(t, new Error(message), message);
  }
  for (const name of [
    'SequelizeConnectionError',
    'SequelizeConnectionAcquireTimeoutError',
    'SequelizeConnectionRefusedError',
    'SequelizeConnectionTimedOutError',
    'SequelizeHostNotFoundError',
    'SequelizeHostNotReachableError',
  ]) {
    assertUnavailable(t, Object.assign(new Error('no'), { name }), name);
  }
});

test('an error of the database about a statement is an internal error, not a connection error', (t) => {
  // These include the neighbours of the codes above.
  const codes = ['23505', '40001', '40P01', '42P01', '53200', '53400', '57014', '57000', '22008', '208001'];
  for (const code of [...codes, 'ENOENT', 'EACCES', 'XECONNREFUSED', 'ECONNREFUSEDX']) {
    t.is(toFailure(withCode(code)).code, 'internal', code);
  }
  for (const thrown of [new Error('a Connection terminated'), 'ECONNREFUSED', { code: '53300' }, null]) {
    t.is(toFailure(thrown).code, 'internal');
  }
  const parent = Object.assign(new Error('duplicate key'), {
    name: 'SequelizeUniqueConstraintError',
    parent: withCode('23505'),
  });
  t.is(toFailure(parent).code, 'internal');
});

test('a failure is unchanged, and its detail is never in the envelope', (t) => {
  const failure = t.throws(() => fail('conflict', 'Not now.', { param: 'name', detail: withCode('53300') }), {
    instanceOf: Failure,
  });
  t.is(toFailure(failure), failure);
  t.deepEqual(toEnvelope(failure, 'https://almanac.example', 'req_1'), {
    success: false,
    error: {
      code: 'conflict',
      message: 'Not now.',
      param: 'name',
      docs_url: 'https://almanac.example/docs/errors#conflict',
      request_id: 'req_1',
    },
  });
  t.deepEqual(toEnvelope(toFailure(new Error('secret')), ''), {
    success: false,
    error: {
      code: 'internal',
      message: 'Internal error. Quote the request id when you report it.',
      docs_url: '/docs/errors#internal',
    },
  });
});

/** The error that a statement throws, with each of the two drivers. */
async function thrownBy(t: ExecutionContext, at: string, statement: string): Promise<unknown[]> {
  const database = openDatabase(at, silentLog, { applicationName: 'test' });
  const sequelize = new Sequelize(at, { dialect: 'postgres', logging: false });
  t.teardown(async () => {
    await database.close();
    await sequelize.close();
  });
  return Promise.all([
    database.query(statement).catch((error: unknown) => error),
    sequelize.query(statement).catch((error: unknown) => error),
  ]);
}

test('a server that refuses further connections is unavailable', async (t) => {
  const admin = openDatabase(url, silentLog, { applicationName: 'test' });
  t.teardown(() => admin.close());
  const role = new URL(url).pathname.slice(1); // roles belong to the whole server
  await admin.query(`create role ${role} login password 'of a test' connection limit 0`);
  t.teardown(() => admin.query(`drop role ${role}`));
  const limited = Object.assign(new URL(url), { username: role, password: 'of a test' });
  for (const thrown of await thrownBy(t, limited.href, 'select 1')) {
    t.regex(String(thrown), /too many connections/);
    assertUnavailable(t, thrown, String(thrown));
  }
});

test('an unresolvable host is unavailable', async (t) => {
  const nowhere = Object.assign(new URL(url), { hostname: 'database.invalid' });
  for (const thrown of await thrownBy(t, nowhere.href, 'select 1')) {
    assertUnavailable(t, thrown, String(thrown));
  }
});

test('a statement whose connection is ended by the server is unavailable, and so is the next on it', async (t) => {
  const admin = openDatabase(url, silentLog, { applicationName: 'test' });
  t.teardown(() => admin.close());
  for (const thrown of await thrownBy(t, url, 'select pg_terminate_backend(pg_backend_pid())')) {
    assertUnavailable(t, thrown, String(thrown));
  }
  const database = openDatabase(url, silentLog, { applicationName: 'test' });
  t.teardown(() => database.close());
  const thrown = await t.throwsAsync(endedInBetween(database, admin));
  t.false(thrown instanceof pg.DatabaseError, 'said by the driver, not by the server');
  assertUnavailable(t, thrown, String(thrown));
});

/** A transaction whose connection is ended between two statements. */
function endedInBetween(database: Database, admin: Database): Promise<unknown> {
  return database.transaction(async (transaction) => {
    const [row] = await transaction.query<{ pid: number }>('select pg_backend_pid() as pid');
    const ended = new Promise((resolve) => transaction.client.once('end', resolve));
    await admin.query('select pg_terminate_backend($1)', [row?.pid]);
    await ended;
    await transaction.query('select 1');
  });
}
