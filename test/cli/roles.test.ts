// The roles that `almanac migrate` creates in the operator's database, on a separate server: roles belong to the whole server.
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import pg from 'pg';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../embedded/postgres.ts';
import { projectRoot } from '../../kernel/project.ts';
import { commandLine, settingsOf, type RunCommand } from './terminal.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'almanac-own-'));
chmodSync(directory, 0o755); // where root runs this, PostgreSQL's own user must get in
let server: EmbeddedPostgres;
test.before(async () => {
  server = await startEmbeddedPostgres(path.join(directory, 'data'), { fsync: 'off' });
});
test.after.always(async () => {
  await server.stop();
  rmSync(directory, { recursive: true });
});

const ownerPassword = 'of the owner';
const passwords = {
  DATA_API_DATABASE_PASSWORD: "of'data-api\\1",
  ACCOUNTS_API_DATABASE_PASSWORD: 'of-accounts-api',
  PUBLISHER_DATABASE_PASSWORD: 'of-the-publisher',
};
const forbidden = '42501';
const readOnly = '25006';

/** Runs statements on a separate connection. @returns `done`, or the SQLSTATE of the refusal of the last one. */
async function attempt(url: string, ...statements: string[]): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    for (const statement of statements) await client.query(statement);
    return 'done';
  } catch (error) {
    return String((error as pg.DatabaseError).code);
  } finally {
    await client.end();
  }
}

/** An empty database that belongs to a new role. @returns its URL. */
async function databaseOf(owner: string, rights: string): Promise<string> {
  const made = await attempt(
    server.url,
    `create role ${owner} login ${rights} password '${ownerPassword}'`,
    `create database ${owner} owner ${owner}`,
  );
  if (made !== 'done') throw new Error(`The database of ${owner} was not made: ${made}`);
  return urlOf(server.url, { pathname: `/${owner}`, username: owner, password: ownerPassword });
}

function urlOf(url: string, parts: Partial<Record<'pathname' | 'username' | 'password', string>>): string {
  return Object.assign(new URL(url), parts).href;
}

test.serial(
  'an owner who may not create roles migrates, and learns what an administrator has to run',
  async (t) => {
    const url = await databaseOf('plain', 'nocreaterole');
    const almanac = commandLine(settingsOf(url));
    const without = await almanac(['migrate']);
    t.is(without.code, 0, without.stderr);
    t.regex(without.stdout, /^ran 000001_series,/);
    t.regex(without.stdout, /plain may not create roles \(CREATEROLE\)/);
    const withPasswords = await almanac(['migrate'], { env: passwords });
    t.is(withPasswords.code, 1, 'who sets a password relies on it');
    t.regex(
      withPasswords.stderr,
      /The schema is up to date, but not the roles of the services: plain may not/,
    );

    const toRun = [...without.stdout.matchAll(/^ {2}(.*;)$/gm)].map(([, statement = '']) =>
      statement.replace("'…'", "'of an administrator'"),
    );
    t.is(toRun.length, 5, without.stdout);
    t.is(await attempt(server.url, ...toRun), 'done', 'the statements are right as they are printed');
    const again = await almanac(['migrate', '--json']);
    t.deepEqual(JSON.parse(again.stdout), {
      migrated: [],
      roles: { renewed: true, passwords_set: [], without_password: [] },
    });
    const dataApi = urlOf(url, { username: 'almanac_data_api', password: 'of an administrator' });
    t.is(await attempt(dataApi, 'select from data.series'), 'done');
    t.is(await attempt(dataApi, 'create temporary table more ()'), readOnly);

    const refused = await almanac(['migrate'], { env: passwords });
    t.is(refused.code, 1, 'and this owner may not give passwords to roles of an administrator');
    t.regex(refused.stderr, /PostgreSQL refuses it: .*"alter role" instead/);
    t.is(await attempt(dataApi, 'select'), 'done', 'nothing has changed');
    t.is(await attempt(server.url, 'drop database plain'), 'done');
    t.is(
      await attempt(
        server.url,
        'drop role almanac_data_api',
        'drop role almanac_accounts_api',
        'drop role almanac_publisher',
        'drop role plain',
      ),
      'done',
    );
  },
);

test.serial(
  'almanac migrate makes the roles: each service reaches its own schema alone, and only the owner makes tables',
  async (t) => {
    const url = await databaseOf('owner', 'createrole');
    const almanac = commandLine(settingsOf(url));
    const first = await almanac(['migrate']);
    t.regex(
      first.stdout,
      /almanac_data_api, almanac_accounts_api, almanac_publisher cannot log in without a password: set DATA_API/,
    );
    const second = await almanac(['migrate', '--json'], { env: passwords });
    t.deepEqual(JSON.parse(second.stdout), {
      migrated: [],
      roles: {
        ...{ renewed: true, without_password: [] },
        passwords_set: ['almanac_data_api', 'almanac_accounts_api', 'almanac_publisher'],
      },
    });
    t.false(Object.values(passwords).some((password) => (first.stdout + second.stdout).includes(password)));

    const dataApi = urlOf(url, {
      username: 'almanac_data_api',
      password: encodeURIComponent(passwords.DATA_API_DATABASE_PASSWORD),
    });
    const accountsApi = urlOf(url, {
      username: 'almanac_accounts_api',
      password: passwords.ACCOUNTS_API_DATABASE_PASSWORD,
    });
    const writing = 'set default_transaction_read_only = off'; // a default does not prevent writing
    t.is(await attempt(dataApi, 'select from data.series'), 'done');
    t.is(await attempt(accountsApi, 'select from accounts.accounts for update'), 'done');
    t.is(await attempt(dataApi, "update data.series set name = 'x'"), readOnly);
    for (const statement of [
      'select from accounts.accounts',
      'select from events.outbox',
      "update data.series set name = 'x'",
      'delete from data.observations',
      'delete from accounts.accounts',
      'create table data.more ()',
      'create table jobs.more ()',
      'create table public.more ()',
      'create temporary table more ()',
      'insert into public.almanac_migrations (name) values (1)',
    ])
      t.is(await attempt(dataApi, writing, statement), forbidden, statement);
    for (const statement of [
      'select from data.series',
      "update data.series set name = 'x'",
      'create table accounts.more ()',
      'create table data.more ()',
      'create table public.more ()',
      'alter table accounts.accounts add column more text',
      'insert into public.almanac_migrations (name) values (1)',
    ])
      t.is(await attempt(accountsApi, statement), forbidden, statement);
  },
);

test.serial(
  'another password of the settings is valid after the next almanac migrate, and a service never migrates',
  async (t) => {
    const url = urlOf(server.url, { pathname: '/owner', username: 'owner', password: ownerPassword });
    const almanac = commandLine(settingsOf(url));
    const changed = { ...passwords, ACCOUNTS_API_DATABASE_PASSWORD: 'of-accounts-api-2' };
    const others = { DATA_API_DATABASE_PASSWORD: '', PUBLISHER_DATABASE_PASSWORD: '' };
    const { stdout } = await almanac(['migrate'], { env: { ...changed, ...others } });
    t.regex(stdout, /^set the password of almanac_accounts_api$/m);
    const before = urlOf(url, { username: 'almanac_accounts_api', password: 'of-accounts-api' });
    const after = urlOf(url, { username: 'almanac_accounts_api', password: 'of-accounts-api-2' });
    t.is(await attempt(before, 'select'), '28P01');
    t.is(await attempt(after, 'select'), 'done');

    const asService = commandLine(settingsOf(after));
    const unable = await asService(['migrate']);
    t.is(unable.code, 0, 'it is up to date');
    t.regex(
      unable.stdout,
      /almanac_accounts_api does not own the schemas\. Run "almanac migrate" with the owner's/,
    );
    t.is(
      await attempt(url, "delete from public.almanac_migrations where name = '000007_publishing'"),
      'done',
    );
    const lacking = await asService(['start', 'accounts-api'], { env: { ACCOUNTS_API_PORT: '0' } });
    t.is(lacking.code, 1);
    t.regex(
      lacking.stderr,
      /may not migrate this database, and it lacks 000007_publishing\. Run "almanac migrate"/,
    );
  },
);

test.serial(
  'almanac check says whose role it connects by: a warning for the owner, which is no failure',
  async (t) => {
    const owner = urlOf(server.url, { pathname: '/owner', username: 'owner', password: ownerPassword });
    await attempt(owner, 'delete from public.almanac_migrations'); // of the test before
    t.is(await attempt(server.url, 'drop database owner', 'create database owner owner owner'), 'done');
    await commandLine(settingsOf(owner))(['migrate'], { env: passwords });
    const asOwner = await commandLine(settingsOf(owner))(['check']);
    t.is(asOwner.code, 0, asOwner.stdout);
    t.regex(
      asOwner.stdout,
      /^roles +warning: owner owns the database: .* a role of its own, see docs\/operations\.md\.$/m,
    );
    t.is(await attempt(owner, 'create table jobs.of_the_owner ()'), 'done');
    const unusable = await commandLine(settingsOf(owner))(['check']);
    t.regex(unusable.stdout, /almanac_accounts_api cannot use 1 table of schema jobs: run "almanac migrate"/);
    await commandLine(settingsOf(owner))(['migrate']);
    t.notRegex((await commandLine(settingsOf(owner))(['check'])).stdout, /cannot use/);
    const accountsApi = urlOf(owner, {
      username: 'almanac_accounts_api',
      password: passwords.ACCOUNTS_API_DATABASE_PASSWORD,
    });
    const asService = await commandLine(settingsOf(accountsApi))(['check']);
    t.is(asService.code, 0, asService.stdout);
    t.regex(asService.stdout, /^roles +ok: almanac_accounts_api does not own the database$/m);
  },
);

test.serial(
  'an owner who is no superuser backs up and restores, and the roles keep their rights',
  async (t) => {
    const owner = urlOf(server.url, { pathname: '/owner', username: 'owner', password: ownerPassword });
    const almanac = commandLine(settingsOf(owner));
    const accountsApi = urlOf(owner, {
      username: 'almanac_accounts_api',
      password: passwords.ACCOUNTS_API_DATABASE_PASSWORD,
    });
    const asService = commandLine(settingsOf(accountsApi));
    t.is((await asService(['accounts', 'create', 'ada@b.example'])).code, 0);
    t.is(
      (await asService(['accounts', 'send-reset', 'ada@b.example'])).code,
      0,
      'the jobs belong to its role',
    );
    const file = path.join(directory, 'backup.gz');
    t.is((await almanac(['backup', file])).code, 0);
    const restored = await almanac(['restore', file, '--replace']);
    t.is(restored.code, 0, restored.stderr);
    t.regex((await asService(['accounts', 'list'])).stdout, /ada@b\.example/);
    t.is((await asService(['accounts', 'send-reset', 'ada@b.example'])).code, 0);
    const dataApi = urlOf(owner, {
      username: 'almanac_data_api',
      password: encodeURIComponent(passwords.DATA_API_DATABASE_PASSWORD),
    });
    t.is(await attempt(dataApi, 'select from data.series'), 'done');
    t.is(await attempt(dataApi, 'select from jobs.job'), forbidden);
  },
);

test.serial(
  'an owner without superuser rights sets passwords and e-mails resets, before and after the services have created their job tables',
  async (t) => {
    const owner = urlOf(server.url, { pathname: '/owner', username: 'owner', password: ownerPassword });
    t.is(await attempt(server.url, 'drop database owner', 'create database owner owner owner'), 'done');
    const almanac = commandLine(settingsOf(owner));
    const asService = commandLine(
      settingsOf(
        urlOf(owner, {
          username: 'almanac_accounts_api',
          password: passwords.ACCOUNTS_API_DATABASE_PASSWORD,
        }),
      ),
    );
    t.is((await almanac(['migrate'], { env: passwords })).code, 0);
    const run = async (run: RunCommand, words: string[], stdin = '') => {
      const { code, stderr } = await run(['accounts', ...words], { stdin });
      t.deepEqual([code, stderr], [0, ''], words.join(' '));
    };
    await run(almanac, ['create', 'eve@b.example']);
    for (const each of [almanac, asService, almanac]) {
      await run(each, ['set-password', 'eve@b.example'], 'correct horse battery staple\n');
      await run(each, ['send-reset', 'eve@b.example']);
    }
    const mails = `do $$ begin assert (select count(*) from jobs.job where data->>'email' = 'eve@b.example') = 6; end $$`;
    t.is(await attempt(owner, mails), 'done');
    t.notRegex(
      (await almanac(['check'])).stdout,
      /cannot use/,
      'the jobs belong to the role of accounts-api',
    );

    const revoke = 'revoke almanac_accounts_api from owner granted by owner';
    t.is(await attempt(server.url, revoke), 'done');
    const refused = await almanac(['accounts', 'send-reset', 'eve@b.example']);
    t.is(refused.code, 1);
    t.regex(refused.stderr, /may not act as almanac_accounts_api\. .* grant almanac_accounts_api to owner;/);
    await run(asService, ['send-reset', 'eve@b.example']);
    t.is((await almanac(['migrate'])).code, 0, 'it grants the role again');
    await run(almanac, ['send-reset', 'eve@b.example']);
  },
);

test.serial(
  'the password of a role is replaced without a call that fails: a second login acts as the role',
  async (t) => {
    const owner = urlOf(server.url, { pathname: '/owner', username: 'owner', password: ownerPassword });
    const docs = readFileSync(path.join(projectRoot, 'docs/operations.md'), 'utf8');
    const ofDataApi = [...docs.matchAll(/^(?:create|alter) role almanac_data_api_2 .*;$/gm)].map(
      ([line]) => line,
    );
    t.is(ofDataApi.length, 3, 'as operations.md has them');
    const ofAccounts = ofDataApi.slice(0, 2).map((line) => line.replaceAll('data_api', 'accounts_api'));
    const statements = [...ofDataApi, ...ofAccounts].map((line) => line.replace("'…'", "'of the second'"));
    t.is(await attempt(server.url, ...statements), 'done');
    const writing = 'set default_transaction_read_only = off';
    const [dataApi, accountsApi] = ['almanac_data_api_2', 'almanac_accounts_api_2'].map((username) =>
      urlOf(owner, { username, password: 'of the second' }),
    ) as [string, string];
    t.is(
      await attempt(
        server.url,
        'alter role almanac_data_api nologin',
        'alter role almanac_accounts_api nologin',
      ),
      'done',
    );
    t.is(await attempt(dataApi, 'select from data.series'), 'done');
    t.is(await attempt(dataApi, "update data.series set name = 'x'"), readOnly);
    t.is(await attempt(dataApi, writing, "update data.series set name = 'x'"), forbidden);
    t.is(await attempt(dataApi, 'select from accounts.accounts'), forbidden);
    const asService = commandLine(settingsOf(accountsApi));
    const made = await asService(['accounts', 'create', 'second@b.example']);
    t.is(made.code, 0, made.stderr);
    t.is(await attempt(accountsApi, 'create table jobs.by_the_second ()'), 'done');
    const { stdout } = await commandLine(settingsOf(owner))(['check']);
    t.notRegex(stdout, /cannot use/, 'what it makes belongs to the role');
    const renewed = await commandLine(settingsOf(owner))(['migrate'], { env: passwords });
    t.is(renewed.code, 0, renewed.stderr);
    const first = urlOf(owner, {
      username: 'almanac_accounts_api',
      password: passwords.ACCOUNTS_API_DATABASE_PASSWORD,
    });
    t.is(await attempt(first, 'drop table jobs.by_the_second'), 'done', 'and the first logs in again');
  },
);
