// The embedded mode end to end: `almanac start` as a process, its shutdown, and commands run meanwhile.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { projectRoot } from '../../kernel/project.ts';
import { startServing } from '../run/processes.ts';
import { processesOf } from '../run/run-processes.ts';
import { until } from '../run/until.ts';
import { createInstallation, type Installation } from '../services/instance.ts';
import { logEverything, outboxOf, ownerUrlOf, postgresLog, tablesOf } from './sinks.ts';
import { keyInWrongPlaces, useEverySecret } from './secrets.ts';

const installation = await createInstallation();
// After each test: stops everything that it started, so that it does not affect the next test.
test.afterEach.always(() => installation.end());
test.after.always(() => installation.remove());

const csv = (rows: number, value = 1) =>
  `date,value\n${Array.from({ length: rows }, (_, i) => `${new Date(86_400_000 * i).toISOString().slice(0, 10)},${value}.${i}`).join('\n')}\n`;

function write(name: string, text: string): string {
  const file = path.join(path.dirname(installation.dataDir), name);
  writeFileSync(file, text);
  return file;
}

function daily(id: string): string[] {
  return ['--create', '--set', `series_id=${id},name=${id},unit=One,frequency=daily,source=Tests`];
}

async function count(id: string, key: string): Promise<number> {
  const response = await fetch(`${installation.url}/v1/series/${id}?limit=100000`, {
    headers: { 'x-api-key': key },
  });
  if (response.status !== 200) return -response.status;
  return ((await response.json()) as { data: unknown[] }).data.length;
}

/** Whether the PostgreSQL of the installation runs. */
function postgresRuns(): boolean {
  return existsSync(path.join(installation.dataDir, 'postgres/postmaster.pid'));
}

test.serial(
  'the first start prints one working key, a second start keeps everything and prints none',
  async (t) => {
    const first = await installation.start();
    const key = first.apiKey ?? '';
    t.is(first.output.match(/^API key: pk_live_\w{42}$/gm)?.length, 1);
    t.true((await count('DEMO.CPI', key)) > 100);
    const roles = {
      'almanac data-api': 'almanac_data_api',
      'almanac data-api clock': 'almanac_data_api',
      'almanac data-api long reads': 'almanac_data_api',
      'almanac accounts-api': 'almanac_accounts_api',
      'almanac jobs': 'almanac_accounts_api', // which closes its connections when there is nothing to write
      'almanac notifications': 'almanac_accounts_api',
      'almanac worker': 'almanac_accounts_api',
      'almanac operators': 'almanac_publisher',
      'almanac publisher': 'almanac_publisher',
      'almanac start': 'almanac',
    };
    t.deepEqual({ ...roles, ...(await rolesOfConnections()) }, roles);
    const curl = /^curl -H '([^']+)' '([^']+)'$/m.exec(first.output);
    const [name = '', value = ''] = curl?.[1]?.split(': ') ?? [];
    t.is((await fetch(curl?.[2] ?? '', { headers: { [name]: value } })).status, 200);

    t.is(await first.stop('SIGINT'), 0);
    t.false(postgresRuns(), 'Ctrl-C stops PostgreSQL too');

    const second = await installation.start();
    t.is(second.apiKey, undefined);
    t.notRegex(second.output, /pk_live_/);
    t.true((await count('DEMO.CPI', key)) > 100);

    const another = await installation.run('start');
    t.is(another.code, 1);
    t.true(
      another.output.includes(
        `is already running on ${installation.dataDir}, at ${installation.url} (process`,
      ),
    );
    t.is(await count('DEMO.CPI', key), await count('DEMO.CPI', key), 'and the running one goes on');

    const file = write('beside.csv', csv(40));
    await installation.almanac('ingest', 'observations', file, ...daily('BESIDE'));
    t.is(await count('BESIDE', key), 40, 'a load beside a running instance is seen by the next call');
    t.regex(await installation.almanac('check'), /database\s+ok/);

    const made = JSON.parse(
      await installation.almanac('keys', 'create', 'demo@almanac.example', '--json'),
    ) as { key: string };
    t.is(await count('BESIDE', made.key), 40);
    await installation.almanac('keys', 'revoke', made.key);
    t.is(
      await count('BESIDE', made.key),
      -401,
      'a key revoked on the command line is refused on the next call',
    );

    second.process.kill('SIGKILL');
    // As after a restart of the machine, when another process may have the number of the killed one.
    writeFileSync(
      path.join(installation.dataDir, 'serving.json'),
      JSON.stringify({ url: installation.url, pid: process.pid }),
    );
    const third = await installation.start();
    t.is(await count('BESIDE', key), 40, 'a start after kill -9 recovers by itself');

    const big = write('big.csv', csv(60_000, 2));
    const ingest = installation.spawn('ingest', 'observations', big, ...daily('BIG'));
    await untilLoadRuns();
    third.process.kill('SIGKILL');
    await ingest.end('SIGKILL');
    const fourth = await installation.start();
    t.is(await count('BIG', key), -404, 'kill -9 during a load leaves the data as it was');
    t.is(await count('BESIDE', key), 40);
    await installation.almanac('ingest', 'observations', big, ...daily('BIG'));
    t.is(await count('BIG', key), 60_000);
    const url = `${installation.url}/v1/series/BIG?format=csv`;
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => fetch(url, { headers: { 'x-api-key': key } })),
    );
    const stopped = fourth.stop('SIGTERM');
    const answers = await Promise.all(responses.map((response) => response.text()));
    for (const answer of answers)
      t.is(answer.split('\r\n').length, 60_000 + 2, 'what has begun is sent whole');
    t.is(await stopped, 0);
    t.false(postgresRuns());
  },
);

/** The role that each of our connections has, by the name of the connection. */
async function rolesOfConnections(): Promise<Record<string, string>> {
  return asOwner(async (client) => {
    const { rows } = await client.query<{ name: string; role: string }>(
      `select distinct application_name as name, usename as role from pg_stat_activity
       where backend_type = 'client backend' and pid <> pg_backend_pid()`,
    );
    return Object.fromEntries(rows.map(({ name, role }) => [name, role]));
  });
}

/** Resolves once the separate load has opened its transaction. */
async function untilLoadRuns(): Promise<void> {
  await asOwner((client) =>
    until('the load has begun its transaction', async () => {
      const { rowCount } = await client.query(
        "select from pg_stat_activity where application_name = 'almanac ingest' and xact_start is not null",
      );
      return rowCount !== 0;
    }),
  );
}

async function asOwner<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: ownerUrlOf(installation) });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

test.serial(
  'no sink holds a secret: not what it prints at level trace, not PostgreSQL’s log of every statement, no table, and of e-mails only their links',
  async (t) => {
    logEverything(installation);
    installation.env['LOG_LEVEL'] = 'trace';
    const serving = await installation.start();
    const { secrets, links } = await useEverySecret(installation);
    const tables = await tablesOf(installation);
    t.is(await serving.stop(), 0);
    delete installation.env['LOG_LEVEL'];

    const statements = 'the log of PostgreSQL';
    t.true(secrets.size > 12);
    for (const [what, secret] of secrets) t.true(secret.length >= 8, what);
    const sinks = new Map([
      ['what it printed', serving.printed()],
      [statements, postgresLog(installation)],
      ...tables,
    ]);
    t.regex(serving.printed(), /"route":"\/v1\/series\/:id"/, 'there is an access log');
    t.regex(
      postgresLog(installation),
      /insert into "?accounts"?\."?sessions/i,
      'there is a log of statements',
    );
    t.true(tables.size > 20);
    for (const [what, secret] of [...secrets, ...links]) {
      for (const [name, text] of sinks) {
        if (what === keyInWrongPlaces && name === statements) continue;
        t.false(text.includes(secret), `${what} in ${name}`);
      }
    }
    const mails = outboxOf(installation).join('\n');
    for (const [what, link] of links) t.true(mails.includes(link), `${what} is mailed`);
    for (const [what, secret] of secrets) t.false(mails.includes(secret), `${what} in an e-mail`);
  },
);

test.serial(
  'a signal to npm alone ends all of npm start in good order, also if it comes again: services, PostgreSQL, every process',
  async (t) => {
    const { env, url, dataDir, almanac } = await ofItsOwn(t);
    t.regex(await almanac('seed'), /^API key: /, 'seed creates the database, with the demo data');
    const run = { mark: `DATA_DIR=${dataDir}`, directory: dataDir };
    for (const [signal, times] of [
      ['SIGTERM', 1],
      ['SIGINT', 2],
    ] as const) {
      const options = { name: 'npm start', cwd: projectRoot, env };
      const npm = await startServing(/\nAPI: [^]*\n\n$/, 'npm', ['start'], options);
      await until('it is ready', async () => (await fetch(`${url}/readyz`)).status === 200);
      npm.process.kill(signal);
      const isStopping = () => Promise.resolve(npm.output().includes('\nStopping …\n'));
      await until(`${signal} to npm is heard`, isStopping);
      if (times === 2) npm.process.kill(signal);
      t.is(await npm.exit(), 0, npm.output());
      t.false(existsSync(path.join(dataDir, 'postgres/postmaster.pid')));
      t.deepEqual(processesOf(run), []);
    }
  },
);

test.serial('a signal that ends a command stops the PostgreSQL that the command started', async (t) => {
  const pipe = path.join(path.dirname(installation.dataDir), 'pipe.csv');
  execFileSync('mkfifo', [pipe]); // nobody writes to it
  await installation.almanac('migrate');
  const note = path.join(installation.dataDir, 'postgres/postmaster.pid');
  const isReady = () => Promise.resolve(postgresRuns() && /^ready/m.test(readFileSync(note, 'utf8')));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const ingest = installation.spawn('ingest', 'observations', pipe, ...daily('PIPE'));
    await until('PostgreSQL runs', isReady);
    await untilLoadRuns();
    t.is(await ingest.end(signal), null, ingest.output());
    await until(`PostgreSQL stops after ${signal}`, () => Promise.resolve(!postgresRuns()));
  }
});

test.serial('migrate creates an empty database', async (t) => {
  const { almanac } = await ofItsOwn(t);
  t.regex(await almanac('migrate'), /^ran 0/);
  t.deepEqual(JSON.parse(await almanac('accounts', 'list', '--json')), { accounts: [] });
});

/** Another installation, for a test that needs one without a database. */
async function ofItsOwn(t: ExecutionContext): Promise<Installation> {
  const own = await createInstallation();
  t.teardown(() => own.remove());
  return own;
}

test.serial('a busy port is reported with a remedy, and nothing stays running', async (t) => {
  const other = createServer();
  t.teardown(() => other.close());
  await new Promise<void>((resolve) =>
    other.listen(Number(new URL(installation.url).port), '127.0.0.1', resolve),
  );
  const { code, output } = await installation.run('start');
  t.is(code, 1);
  t.regex(output, /Port \d+ on 127\.0\.0\.1 is in use/);
  t.regex(output, /PORT=/);
  t.false(postgresRuns());
});

test.serial('wrong words end with 2 and where to read more, a failure with 1 and its reason', async (t) => {
  for (const words of [
    ['nonsense'],
    ['start', 'kitchen'],
    ['ingest'],
    ['keys', 'create'],
    ['ingest', '--bogus'],
    ['accounts', 'create'],
  ]) {
    const { code, output } = await installation.run(...words);
    t.is(code, 2, words.join(' '));
    t.regex(output, /^See almanac.* --help$/m, words.join(' '));
  }
  const missing = await installation.run('ingest', 'observations', '/nowhere/at-all.csv');
  t.is(missing.code, 1);
  t.regex(missing.output, /at-all\.csv/);
  const unknown = await installation.run('keys', 'revoke', 'key_nobody');
  t.is(unknown.code, 1);
  t.regex(unknown.output, /There is no key/);
});
