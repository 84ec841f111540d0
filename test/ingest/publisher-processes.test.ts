// Publishers as separate processes with their own role: killed at the worst moments, stopped, and probed.
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import test from 'ava';
import {
  recordHeartbeat,
  removePublisher,
  secondsSinceSeen,
} from '../../ingest/publisher/releases/embargo.sql.ts';
import { findRelease, makeDueNow } from '../../ingest/publisher/releases/release-actions.ts';
import { databaseClock } from '../../ingest/publisher/releases/release-clock.ts';
import { acceptUnderEmbargo } from '../../ingest/publisher/releases/accept.ts';
import { isReleaseBeingPrepared } from '../../ingest/load/lock/load-lock.sql.ts';
import { openDatabase } from '../../kernel/database.ts';
import { projectRoot } from '../../kernel/project.ts';
import { serviceUrl } from '../../migrations/roles.ts';
import { settingsOf } from '../cli/terminal.ts';
import { exempt } from '../openapi/check-answers.ts';
import { endChildren, startServing, type Child } from '../run/processes.ts';
import { until } from '../run/until.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { freePort } from '../services/instance.ts';
import { daily, fileOf, published } from './loading.ts';

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

const settings = settingsOf(serviceUrl(testDatabase.url, 'almanac_publisher'));

async function startPublisher(more: Record<string, string> = {}): Promise<Child> {
  const words = [path.join(projectRoot, 'almanac.js'), 'start', 'publisher'];
  return startServing(/publisher is running/, process.execPath, words, {
    name: 'publisher',
    env: { ...process.env, ...settings, IDENTITY_SECRET: '', LOG_LEVEL: 'info', ...more },
  });
}

/** A release of one point that is due in an hour. */
async function accept(id: string): Promise<number> {
  const now = await databaseClock.now(database);
  const { releaseNo } = await acceptUnderEmbargo(
    database,
    {
      ...{ dataset: 'observations', create: true, set: daily, seriesTimeZone: 'UTC' },
      input: fileOf(['series_id,date,value', `${id},2024-01-01,1`]),
    },
    { instant: new Date(now.getTime() + 3_600_000).toISOString() },
  );
  return releaseNo;
}

const stateOf = async (releaseNo: number) => (await findRelease(database, releaseNo)).state;

async function loadsOf(releaseNo: number): Promise<unknown> {
  const { outcome } = await findRelease(database, releaseNo);
  const rows = await database.query<{ load_no: number }>(
    'select distinct load_no from data.vintages join data.loads using (load_no) where load_no = any($1)',
    [outcome?.['loads']],
  );
  return rows.length;
}

test.serial(
  'a publisher killed while it waits leaves nothing behind, and the next one makes the release once',
  async (t) => {
    const first = await startPublisher();
    const releaseNo = await accept('KILLED.WAITING');
    await database.query('update embargo.releases set lead_ms = 7200000 where release_no = $1', [releaseNo]);
    await until('the release is prepared', () => isReleaseBeingPrepared(database));
    await until('it waits', async () => {
      const rows = await database.query(
        `select from pg_stat_activity where datname = current_database() and application_name = 'almanac publisher'
         and state = 'idle in transaction'`,
      );
      return rows.length > 0;
    });
    t.is(await first.end('SIGKILL'), null, first.output());
    await until('PostgreSQL has ended it', async () => !(await isReleaseBeingPrepared(database)));
    t.deepEqual(await published(database, 'KILLED.WAITING'), {});
    t.is(await stateOf(releaseNo), 'pending');

    await makeDueNow(database, releaseNo);
    const second = await startPublisher();
    await until('the release is made', async () => (await stateOf(releaseNo)) === 'released');
    t.deepEqual(await published(database, 'KILLED.WAITING'), { '2024-01-01': '1' });
    t.is(await loadsOf(releaseNo), 1);
    await until(
      'its file is deleted',
      async () => (await database.query('select from embargo.pieces')).length === 0,
    );
    t.is(await second.end('SIGTERM'), 0, second.output());
    t.regex(second.output(), /"event":"released"/);
    await database.query('delete from embargo.publishers');
  },
);

test.serial(
  'a publisher killed while it loads leaves nothing behind, and the next one makes the release once',
  async (t) => {
    const blocking = Promise.withResolvers<undefined>();
    const isBlocked = Promise.withResolvers<undefined>();
    const releaseNo = await accept('KILLED.LOADING');
    await makeDueNow(database, releaseNo);
    const block = database.transaction(async (on) => {
      await on.query('lock table data.observations in access exclusive mode');
      isBlocked.resolve(undefined);
      await blocking.promise;
    });
    await isBlocked.promise;
    const first = await startPublisher();
    await until('the load waits for the table', async () => {
      const rows = await database.query(
        `select from pg_stat_activity where datname = current_database() and application_name = 'almanac publisher' and wait_event = 'relation'`,
      );
      return rows.length > 0;
    });
    t.is(await first.end('SIGKILL'), null, first.output());
    blocking.resolve(undefined);
    await block;
    const both = await Promise.all([startPublisher(), startPublisher()]);
    await until('the release is made', async () => (await stateOf(releaseNo)) === 'released');
    t.deepEqual(await published(database, 'KILLED.LOADING'), { '2024-01-01': '1' });
    t.is(await loadsOf(releaseNo), 1);
    t.deepEqual(await Promise.all(both.map((each) => each.end('SIGTERM'))), [0, 0]);
  },
);

test.serial(
  'a publisher reports its readiness on the port of its metrics, and its heartbeat in the database',
  async (t) => {
    await database.query('delete from embargo.publishers');
    const port = await freePort();
    const publisher = await startPublisher({ METRICS_PORT: String(port) });
    const url = `http://127.0.0.1:${port}`;
    exempt(url);
    const probe = async (of: string) => {
      const response = await fetch(url + of);
      return { status: response.status, text: await response.text() };
    };
    t.deepEqual(await probe('/healthz'), { status: 200, text: '{"success":true}' });
    const ready = { status: 200, text: '{"success":true}' };
    await until('it is ready', async () => isDeepStrictEqual(await probe('/readyz'), ready));
    t.is((await probe('/other')).status, 404);
    t.regex((await probe('/metrics')).text, /^almanac_releases\{state="pending"\} 0$/m);
    await until('it is seen', async () => (await secondsSinceSeen(database)) !== null);
    const name = await database.query<{ name: string }>(
      'delete from public.almanac_migrations where name = (select max(name) from public.almanac_migrations) returning name',
    );
    await until('it is not ready, and says why', async () => {
      const { status, text } = await probe('/readyz');
      return status === 503 && text.includes(`it lacks ${name[0]?.name}`);
    });
    t.is((await probe('/healthz')).status, 200);
    t.is(await publisher.end('SIGTERM'), 0);
    t.is(await secondsSinceSeen(database), null, 'one that has stopped is gone at once');
    await recordHeartbeat(database, 'another');
    t.true(((await secondsSinceSeen(database)) ?? Number.NaN) >= 0);
    await removePublisher(database, 'another');
  },
);
