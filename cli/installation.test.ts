import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import pg from 'pg';
import { connect } from '../accounts-api/database.ts';
import { openJobs } from '../accounts-api/jobs/jobs.ts';
import { readSettings } from '../kernel/settings/settings.ts';
import { silentLog } from '../test/services/harness.ts';
import { openInstallation, type Installation } from './installation.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'almanac-roles-'));
chmodSync(directory, 0o755); // if root runs this, PostgreSQL's own user needs access
const settings = readSettings({ DATA_DIR: path.join(directory, 'data') });
let installation: Installation;
let waits = 0;
const meanwhile = () => void (waits += 1);
test.before(async () => {
  installation = await openInstallation(settings, { create: true, meanwhile });
  await makeJob(installation.accountsDatabaseUrl); // pg-boss creates its tables with the first job
});
test.after.always(async () => {
  await installation.stop();
  rmSync(directory, { recursive: true });
});

test('work that can run while PostgreSQL is created and started is begun once, and not if PostgreSQL already runs', async (t) => {
  t.is(waits, 1);
  await openInstallation(settings, { meanwhile });
  t.is(waits, 1);
});

/** Runs a statement on a connection of its own. @returns its rows, or the SQLSTATE of its rejection. */
async function attempt(url: string, ...statements: string[]): Promise<Record<string, unknown>[] | string> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) ({ rows } = await client.query<Record<string, unknown>>(statement));
    return rows;
  } catch (error) {
    return String((error as pg.DatabaseError).code);
  } finally {
    await client.end();
  }
}

const forbidden = '42501';
const writing = 'set default_transaction_read_only = off'; // any connection can change the read-only default

/** The rights of a connection on the tables of each schema, tried on every table: `{ data: ['read'], accounts: [] }`. */
async function rightsOf(url: string): Promise<Record<string, string[]>> {
  const tables = (await attempt(
    installation.databaseUrl,
    `select schemaname as schema, format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname in ('data', 'accounts', 'events', 'jobs', 'embargo', 'public')`,
  )) as { schema: string; name: string }[];
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(writing);
  const may = (statement: string) =>
    client.query(statement).then(
      () => true,
      // Other errors, such as from a trigger of an append-only table, occur only if the role has the right.
      (error: unknown) => (error as pg.DatabaseError).code !== forbidden,
    );
  const rights: Record<string, Set<string>> = {};
  for (const { schema, name } of tables) {
    const { rows } = await client
      .query<{ changes: boolean }>(
        `select has_table_privilege($1::regclass::oid, 'insert, update, truncate') as changes`,
        [name],
      )
      .catch(() => ({ rows: [{ changes: false }] })); // the schema is closed, so its names cannot even be read
    const reads = await may(`select from ${name} limit 0`);
    const writes = (await may(`delete from ${name} where false`)) || rows[0]?.changes === true;
    (rights[schema] ??= new Set()).add([reads ? 'read' : [], writes ? 'write' : []].flat().join(' '));
  }
  await client.end();
  return Object.fromEntries(Object.entries(rights).map(([schema, found]) => [schema, [...found].toSorted()]));
}

/** Actions that no service may perform, whatever statement it runs. */
const forbiddenToAll = [
  'create table data.more ()',
  'create table accounts.more ()',
  'create table public.more ()',
  'create schema more',
  'create role more',
  'set role almanac',
  "copy (select 1) to program 'true'",
  "select pg_read_file('postgresql.conf')",
  'select rolpassword from pg_authid',
];

test.serial('the embedded data-api reads schema data, writes nothing, and reaches no account', async (t) => {
  const url = installation.dataApiDatabaseUrl;
  t.deepEqual(await rightsOf(url), {
    data: ['', 'read'], // everything except who published what
    accounts: [''],
    events: [''],
    jobs: [''],
    embargo: [''],
    public: ['read'],
  });
  t.is(await attempt(url, 'select * from accounts.accounts'), forbidden);
  t.is(await attempt(url, 'select * from data.published_files'), forbidden);
  t.deepEqual(await attempt(url, 'select from data.series where false'), []);
  t.is(await attempt(url, 'select events.new_id()'), forbidden);
  t.is(await attempt(url, "update data.series set name = 'x'"), '25006', 'read-only');
  t.is(await attempt(url, writing, "update data.series set name = 'x'"), forbidden);
  t.is(await attempt(url, 'select lo_create(0)'), '25006', 'nor a large object, which any role may make');
  t.is(await attempt(url, writing, 'create temporary table more ()'), forbidden);
  for (const table of ['releases', 'pieces', 'history', 'publishers'])
    t.is(await attempt(url, `select * from embargo.${table}`), forbidden, 'what is under embargo');
  for (const statement of [...forbiddenToAll, 'create table jobs.more ()', 'set role almanac_accounts_api'])
    t.is(await attempt(url, writing, statement), forbidden, statement);
});

test.serial(
  'the embedded accounts-api reads and writes accounts and its jobs, and reaches no data',
  async (t) => {
    const url = installation.accountsDatabaseUrl;
    await makeJob(url);
    t.deepEqual(await rightsOf(url), {
      data: [''],
      accounts: ['read write'],
      events: ['read write'],
      jobs: ['read write'],
      embargo: [''],
      public: ['read'],
    });
    t.is(await attempt(url, 'select * from data.series'), forbidden);
    t.is(await attempt(url, 'select * from embargo.releases'), forbidden);
    t.is(await attempt(url, 'create temporary table more ()'), forbidden);
    t.deepEqual(await attempt(url, 'select * from events.outbox where false for update skip locked'), []);
    for (const statement of [...forbiddenToAll, 'set role almanac_data_api'])
      t.is(await attempt(url, statement), forbidden, statement);
  },
);

test.serial(
  'the embedded publisher writes data and what is under embargo, adds events, and reaches no account',
  async (t) => {
    const url = installation.publisherDatabaseUrl;
    t.deepEqual(await rightsOf(url), {
      data: ['read write'],
      accounts: [''],
      events: ['write'],
      jobs: [''],
      embargo: ['read write'],
      public: ['read'],
    });
    t.is(await attempt(url, 'select * from accounts.accounts'), forbidden);
    t.is(await attempt(url, 'select * from events.outbox'), forbidden);
    t.is(await attempt(url, 'delete from events.outbox'), forbidden);
    t.deepEqual(await attempt(url, 'create temporary table more ()'), [], 'loads stage their rows there');
    for (const statement of [...forbiddenToAll, 'create table embargo.more ()', 'set role almanac_data_api'])
      t.is(await attempt(url, statement), forbidden, statement);
  },
);

test.serial('objects of a later migration are accessible only to the service of their schema', async (t) => {
  const { databaseUrl, dataApiDatabaseUrl, accountsDatabaseUrl } = installation;
  await attempt(databaseUrl, 'create table data.later ()', 'create table accounts.later ()');
  t.deepEqual(await attempt(dataApiDatabaseUrl, 'select from data.later'), []);
  t.is(await attempt(dataApiDatabaseUrl, writing, 'delete from data.later'), forbidden);
  t.is(await attempt(dataApiDatabaseUrl, 'select from accounts.later'), forbidden);
  t.deepEqual(await attempt(accountsDatabaseUrl, 'delete from accounts.later'), []);
  t.is(await attempt(accountsDatabaseUrl, 'select from data.later'), forbidden);
  await attempt(databaseUrl, 'drop table data.later', 'drop table accounts.later');
});

test.serial(
  'an installation from before the roles is taken over with its jobs, and nothing beside it is disturbed',
  async (t) => {
    const { databaseUrl } = installation;
    const roles = 'almanac_data_api, almanac_accounts_api, almanac_publisher';
    await attempt(
      databaseUrl,
      'reassign owned by almanac_accounts_api to almanac',
      `drop owned by ${roles}`,
      `drop role ${roles}`,
    );
    t.is(await attempt(installation.accountsDatabaseUrl, 'select'), '28P01', 'there are no roles');
    const jobs = await attempt(databaseUrl, 'select count(*)::int from jobs.job');

    // Two commands at once, beside the running server.
    const opened = await Promise.all([openInstallation(settings), openInstallation(settings)]);
    t.deepEqual(
      opened.flatMap(({ migrated }) => migrated),
      [],
    );
    const [{ accountsDatabaseUrl, dataApiDatabaseUrl }] = opened;
    t.deepEqual(await rightsOf(dataApiDatabaseUrl), {
      data: ['', 'read'],
      accounts: [''],
      events: [''],
      jobs: [''],
      embargo: [''],
      public: ['read'],
    });
    t.deepEqual(await attempt(accountsDatabaseUrl, 'select count(*)::int from jobs.job'), jobs);
    await makeJob(accountsDatabaseUrl);
    const foreign = `select relname from pg_class where relnamespace = 'jobs'::regnamespace and relkind in ('r', 'p', 'i', 'I')
    and relowner <> 'almanac_accounts_api'::regrole`;
    t.deepEqual(await attempt(databaseUrl, foreign), [], 'pg-boss can change what it has made');
  },
);

test.serial('a role with a changed password gets its own password back', async (t) => {
  const { databaseUrl, dataApiDatabaseUrl } = installation;
  await attempt(databaseUrl, "alter role almanac_data_api password 'of somebody else'");
  t.is(await attempt(dataApiDatabaseUrl, 'select'), '28P01');
  await openInstallation(settings);
  t.deepEqual(await attempt(dataApiDatabaseUrl, 'select 1 as one'), [{ one: 1 }]);
  t.not(new URL(dataApiDatabaseUrl).password, new URL(installation.accountsDatabaseUrl).password);
});

/** Writes a job, as accounts-api does in the transaction of a change. */
async function makeJob(url: string): Promise<void> {
  const db = connect(url);
  const jobs = openJobs(db.sequelize, url, silentLog);
  try {
    await db.sequelize.transaction((transaction) =>
      jobs.enqueue(transaction, { mail: 'reset_password', email: 'nobody@example.org' }),
    );
  } finally {
    await jobs.close();
    await db.close();
  }
}
