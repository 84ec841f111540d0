// The embedded mode end to end: `almanac start` as a process, its shutdown, and commands beside it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import test from 'ava';
import pg from 'pg';
import { createInstallation } from '../services/instance.ts';
import { until } from '../run/until.ts';
import { logEverything, outboxOf, postgresLog, tablesOf } from './sinks.ts';
import { keyInWrongPlaces, useEverySecret } from './secrets.ts';

const installation = await createInstallation();
// After each: what one test started, however far it came, is not in the way of the next.
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
    t.regex(another.output, /runs already on/);
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
    const third = await installation.start();
    t.is(await count('BESIDE', key), 40, 'a start after kill -9 recovers by itself');

    const big = write('big.csv', csv(60_000, 2));
    const ingest = installation.spawn('ingest', 'observations', big, ...daily('BIG'));
    await loadUnderWay();
    third.process.kill('SIGKILL');
    await ingest.end('SIGKILL');
    const fourth = await installation.start();
    t.is(await count('BIG', key), -404, 'kill -9 during a load leaves the data as it was');
    t.is(await count('BESIDE', key), 40);
    await installation.almanac('ingest', 'observations', big, ...daily('BIG'));
    t.is(await count('BIG', key), 60_000);
    const url = `${installation.url}/v1/series/BIG?format=csv`;
    const begun = await Promise.all(
      Array.from({ length: 10 }, () => fetch(url, { headers: { 'x-api-key': key } })),
    );
    const stopped = fourth.stop('SIGTERM');
    const answers = await Promise.all(begun.map((response) => response.text()));
    for (const answer of answers)
      t.is(answer.split('\r\n').length, 60_000 + 2, 'what has begun is sent whole');
    t.is(await stopped, 0);
    t.false(postgresRuns());
  },
);

/** Resolves once the load beside the instance has opened its transaction. */
async function loadUnderWay(): Promise<void> {
  const password = readFileSync(path.join(installation.dataDir, 'postgres.password'), 'utf8').trim();
  const port = readFileSync(path.join(installation.dataDir, 'postgres/postmaster.pid'), 'utf8').split(
    '\n',
  )[3];
  const client = new pg.Client({
    connectionString: `postgres://almanac:${password}@127.0.0.1:${port}/almanac`,
  });
  await client.connect();
  try {
    await until('the load has begun its transaction', async () => {
      const { rowCount } = await client.query(
        "select from pg_stat_activity where application_name = 'almanac ingest' and xact_start is not null",
      );
      return rowCount !== 0;
    });
  } finally {
    await client.end();
  }
}

test.serial(
  'no sink holds a secret: not what it prints at level trace, not PostgreSQL’s log of every statement, no table, and of mails only their links',
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
    for (const [what, secret] of secrets) t.false(mails.includes(secret), `${what} in a mail`);
  },
);

test.serial('a busy port is said, with what to do, and nothing is left running', async (t) => {
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

test.serial('wrong words end with 2 and the usage, a failure with 1 and its reason', async (t) => {
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
    t.regex(output, /Usage/, words.join(' '));
  }
  const missing = await installation.run('ingest', 'observations', '/nowhere/at-all.csv');
  t.is(missing.code, 1);
  t.regex(missing.output, /at-all\.csv/);
  const unknown = await installation.run('keys', 'revoke', 'key_nobody');
  t.is(unknown.code, 1);
  t.regex(unknown.output, /There is no key/);
});
