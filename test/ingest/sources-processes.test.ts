// Publishers as separate processes that fetch sources with their own role: killed between the fetch and the end of the load.
import path from 'node:path';
import test from 'ava';
import { registerSources } from '../../ingest/publisher/sources/register.ts';
import { selectSources } from '../../ingest/publisher/sources/sources.sql.ts';
import { openDatabase } from '../../kernel/database.ts';
import { createAddressGuard } from '../../kernel/outbound/address-guard.ts';
import { projectRoot } from '../../kernel/project.ts';
import { serviceUrl } from '../../migrations/roles.ts';
import { settingsOf } from '../cli/terminal.ts';
import { endChildren, startServing, type Child } from '../run/processes.ts';
import { until } from '../run/until.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { startFileServer } from './file-server.ts';
import { published } from './loading.ts';

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
const allowed = { SOURCE_ALLOW_CIDRS: '127.0.0.0/8', SOURCE_ALLOW_HTTP: 'true' };

function startPublisher(): Promise<Child> {
  const words = [path.join(projectRoot, 'almanac.js'), 'start', 'publisher'];
  return startServing(/publisher is running/, process.execPath, words, {
    name: 'publisher',
    env: { ...process.env, ...settings, ...allowed, IDENTITY_SECRET: '', LOG_LEVEL: 'info' },
  });
}

test.serial(
  'a publisher killed between the fetch and the end of the load leaves nothing behind, and one of two others loads the file once',
  async (t) => {
    const server = await startFileServer(t);
    server.serve('date,value\n2026-01,1');
    const entry = {
      ...{ file: `${server.url}/k.csv`, schedule: 'weekly mon', header: 1, first: 2 },
      ...{ date: { column: 'date' }, values: 'value' },
      series: { id: 'KILLED', unit: 'USD', frequency: 'monthly', source: 'Tests' },
    };
    await registerSources(
      database,
      { version: 1, name: 'k', tables: [entry] },
      {
        ...{ seriesTimeZone: 'UTC', now: new Date(), isNew: false, dryRun: false },
        guard: createAddressGuard({ allowCidrs: ['127.0.0.0/8'], allowHttp: true }),
      },
    );
    await database.query(`update embargo.sources set fetch_at = clock_timestamp()`);

    const blocking = Promise.withResolvers<undefined>();
    const isBlocked = Promise.withResolvers<undefined>();
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
    t.is(server.requests.length, 1);
    t.is(await first.end('SIGKILL'), null, first.output());
    blocking.resolve(undefined);
    await block;
    t.deepEqual(await published(database, 'KILLED'), {});
    const [left] = await selectSources(database);
    t.like(left, { fetchedAt: null, failures: 0 });
    t.not(left?.leasedUntil, null, 'it is held until its lease ends');

    await database.query('update embargo.sources set leased_until = clock_timestamp()');
    const both = await Promise.all([startPublisher(), startPublisher()]);
    await until('it is seen', async () => (await selectSources(database))[0]?.failures === 1);
    t.is(server.requests.length, 1, 'what has ended one publisher does not end the next at once');
    await database.query('update embargo.sources set fetch_at = clock_timestamp()');
    await until('it is loaded', async () => (await selectSources(database))[0]?.changedAt !== null);
    t.deepEqual(await published(database, 'KILLED'), { '2026-01-31': '1' });
    t.is((await database.query('select from data.loads')).length, 1);
    t.is(server.requests.length, 2);
    t.deepEqual(await Promise.all(both.map((each) => each.end('SIGTERM'))), [0, 0]);
  },
);
