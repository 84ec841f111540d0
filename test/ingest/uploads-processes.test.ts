// A publisher is killed while it checks or publishes a table of an upload: nothing is half done, and the next publisher does the work.
import path from 'node:path';
import test from 'ava';
import { openDatabase } from '../../kernel/database.ts';
import { anonymous, createSealer, identityHeader, type Identity } from '../../kernel/identity.ts';
import { projectRoot } from '../../kernel/project.ts';
import { serviceUrl } from '../../migrations/roles.ts';
import { settingsOf } from '../cli/terminal.ts';
import { exempt } from '../openapi/check-answers.ts';
import { endChildren, startServing, type Child } from '../run/processes.ts';
import { until } from '../run/until.ts';
import { createTestDatabase, silentLog, testIdentitySecret } from '../services/harness.ts';
import { freePort } from '../services/instance.ts';
import { published } from './loading.ts';

const port = await freePort();
const testDatabase = await createTestDatabase();
const database = openDatabase(testDatabase.url, silentLog, {
  applicationName: 'test',
  statementTimeoutMs: 0,
});
test.after.always(async () => {
  await endChildren();
  await database.close();
  await testDatabase.drop();
});

const url = `http://127.0.0.1:${port}`;
exempt(url); // the document describes the answers of the gateway
const seal = createSealer(testIdentitySecret, 'publisher');
const operator: Identity = { ...anonymous, accountId: 'acct_a', sessionId: 'sess_a', operator: true };

function startPublisher(): Promise<Child> {
  const words = [path.join(projectRoot, 'almanac.js'), 'start', 'publisher'];
  return startServing(/publisher is running/, process.execPath, words, {
    name: 'publisher',
    env: {
      ...{ ...process.env, ...settingsOf(serviceUrl(testDatabase.url, 'almanac_publisher')) },
      ...{ IDENTITY_SECRET: testIdentitySecret, PUBLISHER_PORT: String(port), LOG_LEVEL: 'info' },
    },
  });
}

async function ask(method: string, target: string, body?: string, type = 'application/json') {
  const answer = await fetch(url + target, {
    method,
    headers: { [identityHeader]: seal(operator, method, target), 'content-type': type },
    ...(body !== undefined && { body }),
  });
  return {
    status: answer.status,
    json: (await answer.json()) as { data: { id: string; published: number[] } },
  };
}

const state = async () => {
  const [row] = await database.query<{ loads: number; series: number; files: number; uploads: number }>(
    `select (select count(*)::int from data.loads) as loads, (select count(*)::int from data.series) as series,
       (select count(*)::int from data.published_files) as files, (select count(*)::int from embargo.uploads) as uploads`,
  );
  return row;
};

const waiting = async () =>
  (
    await database.query(
      `select from pg_stat_activity where datname = current_database() and application_name = 'almanac operators'
       and wait_event_type = 'Lock'`,
    )
  ).length > 0;

test.serial(
  'a publisher killed during a check or a publication has changed nothing, and the next one does it once',
  async (t) => {
    let publisher = await startPublisher();
    const sent = await ask(
      'POST',
      '/v1/operator/uploads?name=killed.csv',
      'date,value\n2024-01-31,1\n2024-02-29,2\n',
      'text/csv',
    );
    t.is(sent.status, 201);
    const { id } = sent.json.data;
    const body = JSON.stringify({ table: 0, set: { unit: 'Index', source: 'Tests', frequency: 'monthly' } });
    const before = await state();
    for (const what of ['check', 'publication']) {
      await database.transaction(async (on) => {
        await on.query('lock table data.published_files in share mode'); // this row is written last
        const answer = ask('POST', `/v1/operator/uploads/${id}/${what}`, body).catch(() => undefined);
        await until('it waits for the lock', waiting);
        await publisher.end('SIGKILL');
        await answer;
        await until('PostgreSQL has ended it', async () => !(await waiting()));
      });
      t.deepEqual(await state(), before, what);
      publisher = await startPublisher();
      t.deepEqual((await ask('GET', `/v1/operator/uploads/${id}`)).json.data.published, []);
    }
    t.is((await ask('POST', `/v1/operator/uploads/${id}/publication`, body)).status, 201);
    t.like(await state(), { loads: 1, series: 1, files: 1, uploads: 0 });
    t.is(Object.keys(await published(database, 'killed')).length, 2);
  },
);

test.serial('an incomplete upload is not stored', async (t) => {
  const target = '/v1/operator/uploads?name=cut.csv';
  const leaving = new AbortController();
  async function* cut() {
    yield Buffer.from('date,value\n');
    await until('it is begun', async () => (await state())?.uploads === 1);
    leaving.abort();
    yield Buffer.from('2024-01-31,1\n');
  }
  await t.throwsAsync(
    fetch(url + target, {
      ...{ method: 'POST', body: cut(), duplex: 'half', signal: leaving.signal },
      headers: { [identityHeader]: seal(operator, 'POST', target) },
    }),
  );
  await until('it is gone', async () => (await state())?.uploads === 0);
  t.pass();
});

test.serial('the publisher deletes expired uploads, including incomplete ones', async (t) => {
  await database.query(
    `insert into embargo.uploads (upload_id, account_id, name, publication, created_at, expires_at)
     values (gen_random_uuid(), 'acct_a', 'a.csv', 'uploads', now(), now())`,
  );
  await until('they are gone', async () => (await state())?.uploads === 0);
  t.pass();
});
