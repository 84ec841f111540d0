// Every command except ingest, releases, sources, backup and restore through the command line: its effects, flags, exit codes and JSON.
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';

import { openDatabase } from '../../kernel/database.ts';
import { createTestDatabase, fakeClock, silentLog, testRedisUrl } from '../services/harness.ts';
import { mailJobs } from '../auth/mail-jobs.ts';
import { projectPlans } from '../services/services.ts';
import { settingsOf as stripeSettingsOf } from '../billing/paying.ts';
import { startStripe } from '../stripe/stripe.ts';
import { freePort } from '../services/instance.ts';
import { startMailbox } from '../services/sign-in.ts';
import {
  commandLine,
  declaredCommands,
  documentOf,
  exercising,
  ingestWords,
  settingsOf,
} from './terminal.ts';

const testDatabase = await createTestDatabase();
const database = openDatabase(testDatabase.url, silentLog, { applicationName: 'test' });
test.after.always(async () => {
  await database.close();
  await testDatabase.drop();
});

const settings = settingsOf(testDatabase.url);
const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
const csv = path.join(folder, 'data.csv');
writeFileSync(csv, 'series_id,date,value\nCLI,2024-01-01,1\n');
const ingestCsv = ingestWords(csv);

const { almanac, exercised } = exercising(commandLine(settings));

async function rowOf(statement: string, id: unknown): Promise<Record<string, unknown> | undefined> {
  const [row] = await database.query<Record<string, unknown>>(statement, [id]);
  return row;
}

test.serial(
  'accounts and keys do what each action says, and report it as text and with --json as JSON',
  async (t) => {
    const accountOf = (id: unknown) =>
      rowOf(
        'select name, plan, status, password_hash is not null as has_password from accounts.accounts where id = $1',
        id,
      );
    const keyOf = (id: unknown) =>
      rowOf('select name, revoked_at is not null as revoked from accounts.api_keys where id = $1', id);
    const account = async (words: readonly string[], stdin = '') => {
      const { accounts } = documentOf(t, await almanac(['accounts', ...words, '--json'], { stdin }));
      t.is((accounts as object[]).length, 1);
      return (accounts as Record<string, unknown>[])[0] ?? {};
    };
    const key = async (...words: string[]) => documentOf(t, await almanac(['keys', ...words, '--json']));

    const { id } = await account(['create', 'ada@example.org', '--name', 'Ada', '--plan', 'pro']);
    t.deepEqual(await accountOf(id), { name: 'Ada', plan: 'pro', status: 'active', has_password: false });
    const other = await almanac(['accounts', 'create', 'bob@example.org']);
    t.regex(other.stdout, /^id .*\nacct_\w+ +bob@example\.org +free +active/);
    const all = documentOf(t, await almanac(['accounts', 'list', '--json']));
    t.deepEqual(
      (all['accounts'] as { email: string }[]).map(({ email }) => email),
      ['ada@example.org', 'bob@example.org'],
    );
    t.is((await account(['set-plan', 'ada@example.org', 'starter']))['plan'], 'starter');
    t.is((await account(['set-role', 'ada@example.org', 'operator']))['role'], 'operator');
    t.is((await account(['set-role', 'ada@example.org', 'none']))['role'], null);
    t.is((await account(['disable', 'ada@example.org']))['status'], 'disabled');
    t.like(await accountOf(id), { plan: 'starter', status: 'disabled' });
    t.is((await account(['enable', 'ada@example.org']))['status'], 'active');
    await account(['set-password', 'ada@example.org'], 'correct horse battery staple\nanother line\n');
    t.like(await accountOf(id), { status: 'active', has_password: true });
    await account(['send-reset', 'ada@example.org']);
    await account(['remove-second-factor', 'ada@example.org']);
    const mails = (await mailJobs(testDatabase.url)).map(({ data }) => data);
    const hers = mails.filter((each) => 'email' in each && each.email === 'ada@example.org');
    t.deepEqual(
      hers.map(({ mail }) => mail),
      ['notice', 'reset_password'],
    );

    const limits = ['--scopes', 'data,read', '--addresses', '203.0.113.0/24, ::1'];
    const made = await key('create', 'ada@example.org', '--name', 'laptop', ...limits);
    t.like(made, { scopes: ['data', 'read'], addresses: ['203.0.113.0/24', '::1'] });
    t.regex(String(made['key']), /^pk_live_\w+$/);
    t.deepEqual(await keyOf(made['id']), { name: 'laptop', revoked: false });
    const named = await almanac(['keys', 'create', String(id)]);
    t.regex(named.stdout, /^API key: pk_live_\w+\n\(key_\w+; shown this once\)\n$/);
    const rotated = await key('rotate', String(made['masked']), '--overlap-hours', '0');
    t.regex(String(rotated['key']), /^pk_live_\w+$/);
    t.not(rotated['key'], made['key']);
    const { id: keyId, scopes, addresses } = made;
    t.like(rotated, { id: keyId, status: 'active', scopes, addresses, old_value_ends_at: null });
    const renewed = await key('rotate', String(keyId));
    t.regex(String(renewed['old_value_ends_at']), /^\d{4}-/);
    t.like(await key('revoke', String(renewed['key'])), { id: keyId, status: 'revoked' });
    t.like(await keyOf(keyId), { revoked: true });
    await account(['set-plan', 'ada@example.org', 'pro']); // with the feature of pinned keys
    const pinned = await key('create', 'ada@example.org', '--name', 'backtest', '--as-of', '2020-06-30');
    t.like(pinned, { as_of: '2020-06-30', scopes: ['data'] });
    t.like(await key('rotate', String(pinned['id'])), { id: pinned['id'], as_of: '2020-06-30' });
    const { keys } = await key('list', 'ada@example.org');
    t.deepEqual(
      (keys as { name: string; status: string }[]).map(({ name, status }) => [name, status]),
      [
        ['backtest', 'active'],
        ['made on the command line', 'active'],
        ['laptop', 'revoked'],
      ],
    );
    const madeKeyId =
      (keys as { id: string; name: string }[]).find(({ name }) => name.startsWith('made'))?.id ?? '';
    t.regex((await almanac(['keys', 'list', String(id)])).stdout, /^id +key +name .*\nkey_/);
    t.regex(
      (await almanac(['keys', 'revoke', madeKeyId])).stdout,
      new RegExp(`^revoked ${madeKeyId} \\(pk_live_.*\\)\n$`),
    );
  },
);

test.serial(
  'a key is revoked or given a new value by its value on standard input, so that it need not be an argument',
  async (t) => {
    const run = async (words: readonly string[], stdin?: string) =>
      documentOf(t, await almanac(['keys', ...words, '--json'], stdin === undefined ? {} : { stdin }));
    const { id } = await run(['create', 'bob@example.org']);
    const [first] = (await run(['list', 'bob@example.org']))['keys'] as { masked: string }[];
    const rotated = await run(['rotate', '-'], `${first?.masked}\n`);
    t.like(rotated, { id, status: 'active' });
    t.like(await run(['revoke', '-'], `  ${String(rotated['key'])}\r\nanother line\n`), {
      id,
      status: 'revoked',
    });
    for (const stdin of ['', '\n']) {
      const none = await almanac(['keys', 'revoke', '-'], { stdin });
      t.deepEqual([none.code, none.stdout], [2, '']);
      t.regex(none.stderr, /Nothing came on standard input/);
    }
    const unknown = await almanac(['keys', 'rotate', '-'], { stdin: `${String(rotated['key'])}x` });
    t.is(unknown.code, 1);
    t.false(unknown.stderr.includes(String(rotated['key'])));
  },
);

test.serial(
  'migrate, seed, usage and vintages answer as text, and with --json as one document',
  async (t) => {
    t.is((await almanac(['migrate'])).stdout, 'up to date\n');
    t.is((await almanac(['migrate', '--wait'])).stdout, 'up to date\n');
    t.deepEqual(documentOf(t, await almanac(['migrate', '--json'])), {
      migrated: [],
      roles: { renewed: true, passwords_set: [], without_password: [] },
    });
    t.like(documentOf(t, await almanac(['migrate', '--partitions', '2', '--json'])), { partitions: 2 });
    // An installation that has an account is the operator's: the demo is not added to it.
    t.deepEqual(await almanac(['seed']), {
      code: 0,
      stdout: 'the demo data and account exist already\n',
      stderr: '',
    });

    t.regex(
      (await almanac(['usage', 'bob@example.org'])).stdout,
      /^0 of \d+ calls used; restarts .*\nnone\n$/,
    );
    t.like(documentOf(t, await almanac(['usage', 'bob@example.org', '--json'])), {
      used: 0,
      by_endpoint: [],
    });

    documentOf(t, await almanac([...ingestCsv, '--vintage', '2024-02-01', '--json']));
    t.is(
      (await almanac(['vintages', 'CLI'])).stdout,
      'vintage     new  revised  deleted\n2024-02-01  1    0        0\n',
    );
    t.deepEqual(documentOf(t, await almanac(['vintages', 'CLI', '--json'])), {
      series: 'CLI',
      vintages: [{ vintage: '2024-02-01', points_new: 1, points_revised: 0, points_deleted: 0 }],
    });
  },
);

test.serial('check exits with 0 if everything configured works, and hides the passwords', async (t) => {
  const mailbox = await startMailbox();
  t.teardown(() => mailbox.close());
  const fake = await startStripe({ clock: fakeClock('2026-11-20T10:00:00.000Z') });
  t.teardown(() => fake.close());
  for (const { prices } of projectPlans().all) {
    for (const { stripe: lookupKey, amount, interval } of prices)
      fake.addPrice({ lookupKey, amount, interval });
  }
  const { secretKey, webhookSecrets, apiUrl } = stripeSettingsOf(fake);
  const env = {
    ...{ REDIS_URL: testRedisUrl(), SMTP_URL: mailbox.smtpUrl, STRIPE_SECRET_KEY: secretKey },
    ...{ STRIPE_WEBHOOK_SECRET: webhookSecrets.join(), STRIPE_API_URL: apiUrl },
  };
  const { code, stdout } = await almanac(['check'], { env });
  t.is(code, 0, stdout);
  for (const line of [/^settings +ok/m, /^plans +ok: free/m, /^database +ok: PostgreSQL 18/m, /^redis +ok/m])
    t.regex(stdout, line);
  t.regex(stdout, /^mail +ok/m);
  t.regex(stdout, /^google +not configured/m);
  t.regex(stdout, /^stripe +ok: 4 prices agree with the plans/m);
  t.regex(stdout, /^billing +ok: 0 events wait/m);
  const { password } = new URL(testDatabase.url);
  t.true(password !== '' && !stdout.includes(password));
  const { findings } = documentOf(t, await almanac(['check', '--json']));
  t.deepEqual(
    (findings as { what: string; state: string }[]).map(({ what, state }) => [what, state]),
    [
      ['settings', 'ok'],
      ['plans', 'ok'],
      ['database', 'ok'],
      ['roles', 'warning'],
      ['webhooks', 'ok'],
      ['releases', 'ok'],
      ['sources', 'ok'],
      ['inbox', 'not configured'],
      ['bulk', 'not configured'],
      ['redis', 'not configured'],
      ['mail', 'not configured'],
      ['google', 'not configured'],
      ['stripe', 'not configured'],
      ['billing', 'not configured'],
      ['clock', 'ok'],
      ['replica', 'not configured'],
      ['metrics', 'not configured'],
      ['traces', 'not configured'],
    ],
  );
});

for (const [what, broken] of Object.entries<(port: number) => Record<string, string>>({
  database: (port) => ({ DATABASE_URL: `postgres://u:secret@localhost:${port}/x` }),
  redis: (port) => ({ REDIS_URL: `redis://127.0.0.1:${port}` }),
  mail: (port) => ({ SMTP_URL: `smtp://127.0.0.1:${port}` }),
  google: (port) => ({
    GOOGLE_ISSUER: `http://127.0.0.1:${port}`,
    GOOGLE_CLIENT_ID: 'id',
    GOOGLE_CLIENT_SECRET: 'a secret of Google',
  }),
  stripe: (port) => ({
    STRIPE_API_URL: `http://127.0.0.1:${port}`,
    STRIPE_SECRET_KEY: 'sk_test_secret',
    STRIPE_WEBHOOK_SECRET: 'whsec_secret',
  }),
  replica: (port) => ({ DATABASE_READ_URL: `postgres://u:secret@localhost:${port}/x` }),
  traces: (port) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` }),
  plans: () => ({ PLANS_FILE: csv }),
  inbox: () => ({ INBOX_DIR: csv }),
  bulk: (port) => ({
    ...{ BULK_S3_BUCKET: 'statistics', BULK_S3_ENDPOINT: `http://127.0.0.1:${port}` },
    ...{ AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'a secret of the bucket' },
  }),
})) {
  test.serial(
    `check exits with 1 if ${what} does not work, says why, and checks everything else`,
    async (t) => {
      const env = broken(await freePort());
      const { code, stdout, stderr } = await almanac(['check', '--json'], { env });
      t.is(code, 1);
      t.is(stderr, `almanac: not working: ${what}\n`);
      const { findings } = JSON.parse(stdout) as {
        findings: { what: string; state: string; detail: string }[];
      };
      t.deepEqual(
        findings.filter(({ state }) => state === 'failed').map((finding) => finding.what),
        [what],
      );
      t.is(findings.length, 18);
      t.true((findings.find((finding) => finding.what === what)?.detail ?? '') !== '');
      t.notRegex(stdout, /secret/);
    },
  );
}

test.serial('check reports a failure as text too, next to the checks that pass', async (t) => {
  const { code, stdout } = await almanac(['check'], { env: { PLANS_FILE: csv } });
  t.is(code, 1);
  t.regex(stdout, /^plans +failed: .+\ndatabase +ok: .+\nroles +warning: .+\nwebhooks +not configured: /m);
});

test.serial('what a command refuses is named as it was typed, and ends with exit code 2', async (t) => {
  const account = ['keys', 'create', 'bob@example.org'];
  const refusals: [words: string[], message: RegExp][] = [
    [['accounts', 'create', 'bob'], /^almanac: <email> must be an e-mail address\.\nSee almanac accounts create/],
    [[...account, '--as-of', '2020'], /^almanac: --as-of must be a date/],
    [[...account, '--scopes', 'data,write'], /^almanac: --scopes is "write", but must be one of/],
    [[...account, '--name', ''], /^almanac: --name must have 1 to 100 characters/],
    [['keys', 'rotate', 'key_nobody', '--overlap-hours', ''], /^almanac: --overlap-hours must be a whole number/],
    [['loads', 'list', '--dataset', 'observation'], /option '--dataset <name>' argument 'observation' is invalid\. Allowed choices are series, observations/],
    [['publish', csv, '--yes', '--set', 'frequency=often'], /^almanac: --set frequency=often: one of daily, /],
  ]; // prettier-ignore
  for (const [words, message] of refusals) {
    const { code, stdout, stderr } = await almanac(words);
    t.deepEqual([code, stdout], [2, ''], stderr);
    t.regex(stderr, message);
  }
});

test.serial('a command that fails exits with 1 and gives the reason only on standard error', async (t) => {
  const failures: [words: string[], message: RegExp, env?: Record<string, string>][] = [
    [
      ['start', 'gateway'],
      /DATA_API_URL must be set: a separately run gateway [^]*ACCOUNTS_API_URL must be set/,
    ],
    [
      ['start', 'worker'],
      /IDENTITY_SECRET must be set: a separately run worker requires it/,
      { IDENTITY_SECRET: '' },
    ],
    [['migrate'], /ECONNREFUSED/, { DATABASE_URL: `postgres://u@127.0.0.1:${await freePort()}/x` }],
    [['seed'], /ECONNREFUSED/, { DATABASE_URL: `postgres://u@127.0.0.1:${await freePort()}/x` }],
    [['ingest', 'observations', '/nowhere/at-all.csv'], /at-all\.csv cannot be read/],
    [['accounts', 'create', 'bob@example.org'], /An account with the e-mail address/],
    [['accounts', 'create', 'eve@example.org', '--plan', 'gold'], /plan/],
    [['accounts', 'set-plan', 'nobody@example.org', 'free'], /There is no account/],
    [['keys', 'revoke', 'key_nobody'], /There is no key/],
    [['usage', 'nobody@example.org'], /There is no account/],
    [['loads', 'show', '99999'], /There is no load 99999/],
    [['loads', 'retract', '99999'], /There is no load 99999/],
    [['series', 'rename', 'NOWHERE', 'X'], /There is no series "NOWHERE"/],
    [['vintages', 'NOWHERE'], /There is no series "NOWHERE"/],
  ];
  for (const [words, message, env = {}] of failures) {
    const { code, stdout, stderr } = await almanac(words, { env });
    t.is(code, 1, `${words.join(' ')}: ${stderr}`);
    t.regex(stderr, message);
    t.is(stdout, '');
  }
});

test.serial(
  'a service names all faults of its settings and plans at once, before it makes or migrates anything',
  async (t) => {
    const dataDir = path.join(folder, 'untouched');
    const faulty = {
      DATABASE_URL: '',
      IDENTITY_SECRET: '',
      DATA_DIR: dataDir,
      PLANS_FILE: csv,
      PORT: 'eighty',
    };
    for (const service of ['data-api', 'accounts-api', 'worker', 'gateway', undefined]) {
      const words = ['start', ...(service === undefined ? [] : [service])];
      const { code, stderr } = await almanac(words, { env: faulty });
      t.is(code, 1);
      const needed = service === 'gateway' ? ['DATA_API_URL', 'ACCOUNTS_API_URL'] : ['DATABASE_URL'];
      const faults = [...(service === undefined ? [] : [...needed, 'IDENTITY_SECRET']), 'PORT', 'PLANS_FILE'];
      t.deepEqual(
        [...stderr.matchAll(/^ {2}([A-Z_]+) /gm)].map(([, name]) => name),
        faults,
        service,
      );
      t.false(existsSync(dataDir));
    }
  },
);

test.serial('a misspelled setting is reported on standard error, and the command runs', async (t) => {
  const { code, stdout, stderr } = await almanac(['migrate'], {
    env: { REDIS_ULR: 'redis://user:hunter2@h', REDIS_HOST: 'h' },
  });
  t.deepEqual([code, stdout], [0, 'up to date\n']);
  t.is(stderr, 'almanac: REDIS_ULR is not a setting and has no effect; did you mean REDIS_URL?\n');
});

test.serial(
  'wrong arguments are reported in one line, with the command whose help says more; the exit code is 2, and nothing is changed',
  async (t) => {
    const wrong: [words: string[], message: RegExp][] = [
      [
        ['start', 'kitchen'],
        /'kitchen' is invalid for argument 'service'. Allowed choices are gateway, data-api/,
      ],
      [['start', 'gateway', 'worker'], /too many arguments for 'start'/],
      [['accounts'], /missing command; there are create, list, set-plan/],
      [['accounts', 'create'], /missing required argument 'email'/],
      [['accounts', 'set-plan', 'bob@example.org'], /missing required argument 'plan'/],
      [['accounts', 'set-role', 'bob@example.org', 'admin'], /Allowed choices are operator, none/],
      [['accounts', 'delete', 'bob@example.org'], /unknown command 'delete'/],
      [['accounts', 'list', 'all'], /too many arguments for 'list'/],
      [['keys', 'create'], /missing required argument 'account'/],
      [['keys', 'create', 'bob@example.org', '--name'], /option '--name <name>' argument missing/],
      [
        ['keys', 'create', 'bob@example.org', '--name', '--json'],
        /'--name <name>' needs a value before --json/,
      ],
      [['keys', 'list', 'bob@example.org', 'ada@example.org'], /too many arguments for 'list'/],
      [['keys', 'revok', 'key_1'], /unknown command 'revok' \(Did you mean revoke\?\)/],
      [['usage'], /missing required argument 'account'/],
      [['usage', 'bob@example.org', '--jsno'], /unknown option '--jsno' \(Did you mean --json\?\)/],
      ...['1', '257', '-4', 'many'].map((number): [string[], RegExp] => [
        ['migrate', '--partitions', number],
        new RegExp(`--partitions takes a whole number from 2 to 256, not "${number}"`),
      ]),
      [['migrate', '--partitions', '4', '--wait'], /--wait changes nothing: leave out --partitions/],
      [['vintages', 'CLI', 'GDP'], /too many arguments for 'vintages'/],
      [['completion', 'cmd'], /Allowed choices are bash, zsh, fish/],
      [['ingset'], /unknown command 'ingset' \(Did you mean ingest\?\)/],
      [['nonsense', '--help'], /unknown command 'nonsense'/],
      [['help', 'nonsense'], /unknown command 'nonsense'/],
      [['--bogus'], /unknown option '--bogus'/],
      ...(await declaredCommands()).map(({ path }): [string[], RegExp] => [
        [...path, '--bogus'],
        /unknown option '--bogus'/,
      ]),
    ];
    for (const [words, message] of wrong) {
      const { code, stdout, stderr } = await almanac(words);
      t.deepEqual([code, stdout], [2, ''], `${words.join(' ')}: ${stderr}`);
      t.regex(stderr, message);
      t.regex(stderr, /^almanac: .+\nSee almanac[a-z -]* --help\n$/);
    }
    const unread = await almanac(['accounts', 'set-password', 'bob@example.org']);
    t.deepEqual(
      [unread.code, unread.stderr],
      [2, 'almanac: Nothing came on standard input.\nSee almanac accounts set-password --help\n'],
    );
  },
);

test.serial('dashboard build prints the location of the dashboard', async (t) => {
  const built = await almanac(['dashboard', 'build', '--json']);
  const { directory } = documentOf(t, built) as { directory: string };
  t.true(existsSync(path.join(directory, 'index.html')));
  const again = await almanac(['dashboard', 'build']);
  t.is(again.stdout, `The dashboard is built: ${directory}\n`);
});

test.serial(
  'each flag of each command has been run in the tests above, and each subcommand; those that have a file of their own there',
  async (t) => {
    const elsewhere = ['loads', 'series', 'releases', 'sources'];
    const names = ['ingest', 'publish', 'backup', 'restore', 'completion', 'start'];
    for (const { path, flags } of await declaredCommands()) {
      const name = path.join(' ');
      if (elsewhere.includes(path[0] ?? '') || names.includes(name)) continue;
      t.deepEqual([...(exercised.get(name) ?? ['not run'])].sort(), flags.toSorted(), name);
    }
  },
);
