// The publisher's own loads, of its folder and of sources, and releases under embargo: none begins shortly before a release is prepared, and one that
// still runs then is given up, and begins anew when the release is made.
import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { lockLoads } from '../../ingest/load/statements.sql.ts';
import { createApart, type Apart } from '../../ingest/publisher/apart/run-apart.ts';
import { workingApart } from '../../ingest/publisher/inbox/load-apart.ts';
import { InboxWatch } from '../../ingest/publisher/inbox/watch.ts';
import { fetchDeps, fetchDue, loadingApart, loadingClear } from '../../ingest/publisher/sources/fetching.ts';
import { registerSources } from '../../ingest/publisher/sources/register.ts';
import { selectSources } from '../../ingest/publisher/sources/sources.sql.ts';
import { createAddressGuard } from '../../kernel/outbound/address-guard.ts';
import { serviceUrl } from '../../migrations/roles.ts';
import { until } from '../run/until.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { local, never, january } from './fetching.ts';
import { startFileServer } from './file-server.ts';
import { published } from './loading.ts';
import { startReleasing } from './releasing.ts';
import { csv, monthlySeries } from './watching.ts';

const testDatabase = await createTestDatabase();
const { database, clock, deps, accept, makeNext } = startReleasing(
  test,
  testDatabase.url,
  '2026-11-23T08:00:00Z',
);
const apart = createApart({
  ...{ databaseUrl: serviceUrl(testDatabase.url, 'almanac_publisher'), log: silentLog },
  applicationName: 'test apart',
});
const tasks: string[] = [];
const counted: Apart = {
  ...apart,
  run(task, given, options) {
    tasks.push(task);
    return apart.run(task, given, options);
  },
};
test.serial.beforeEach(() => {
  tasks.length = 0;
  clock.set('2026-11-23T08:00:00Z');
});
test.serial.afterEach.always(() => database.query('delete from embargo.sources'));
test.after.always(async () => {
  await apart.close();
  await testDatabase.drop();
});

const isWaiting = async () =>
  (
    await database.query(
      `select from pg_stat_activity where application_name = 'test apart' and wait_event_type = 'Lock'`,
    )
  ).length > 0;

/** Has a load wait for its table while it holds the load lock, until `work` is done; then nobody must hold that lock. */
async function whileALoadIsStuck(begin: () => Promise<unknown>, work: () => Promise<void>): Promise<void> {
  await database.transaction(async (on) => {
    await on.query('lock table data.published_files in share mode'); // its row is written last
    const begun = begin();
    begun.catch(() => undefined); // it is awaited below
    await until('the load holds the lock', isWaiting);
    await work();
    await begun;
    await until('the load is given up', async () => !(await isWaiting()));
    await lockLoads(on, () => {
      throw new Error('the load lock is still held');
    });
  });
}

function watchOf(name: string) {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  writeFileSync(path.join(directory, 'almanac.yml'), monthlySeries(name, '*.csv', name));
  writeFileSync(path.join(directory, 'a.csv'), csv(1));
  const own = { ...deps, directory, seriesTimeZone: 'UTC' };
  const watch = new InboxWatch({ ...own, work: workingApart(own, counted) });
  return { directory, look: () => watch.look(never), counts: watch.counts };
}

test.serial('no file of the watched folder is taken shortly before a release', async (t) => {
  const inbox = watchOf('NOT_BEGUN');
  await inbox.look();
  const { at, leadMs } = await accept(['series_id,date,value', 'R1,2024-01-01,1'], '2026-11-23T09:00:00Z');
  clock.set(new Date(at.getTime() - leadMs - 29_000).toISOString());
  await inbox.look();
  t.deepEqual(tasks, []);
  t.true(existsSync(path.join(inbox.directory, 'a.csv')), 'it is not taken');
  clock.set(at.toISOString());
  t.is((await makeNext()).result, 'released');
  await inbox.look();
  t.deepEqual(await published(database, 'NOT_BEGUN'), { '2024-01-31': '1' });
});

test.serial('a load of a file is given up when a release comes due, and repeated after it', async (t) => {
  const inbox = watchOf('GIVEN_UP');
  await inbox.look();
  clock.advance(10_000);
  const { at, leadMs } = await accept(['series_id,date,value', 'R2,2024-01-01,1'], '2026-11-23T09:00:00Z');
  await whileALoadIsStuck(inbox.look, async () => {
    clock.set(new Date(at.getTime() - leadMs - 5_000).toISOString());
  });
  t.deepEqual(await published(database, 'GIVEN_UP'), {});
  t.is(readdirSync(path.join(inbox.directory, 'rejected')).length, 0);
  clock.set(at.toISOString());
  t.is((await makeNext()).result, 'released');
  clock.advance(30_000);
  await inbox.look();
  t.deepEqual(await published(database, 'GIVEN_UP'), { '2024-01-31': '1' });
  t.is(inbox.counts.loaded, 1);
});

test.serial(
  'a load of a source is given up when a release comes due, and due again at its instant',
  async (t) => {
    const server = await startFileServer(t);
    server.serve(january);
    const entry = {
      ...{ file: `${server.url}/a.csv`, schedule: 'hourly', header: 1, first: 2 },
      ...{ date: { column: 'date' }, values: 'value' },
      series: { id: 'SOURCE', unit: 'USD', frequency: 'monthly', source: 'Tests' },
    };
    await registerSources(
      database,
      { version: 1, name: 's', tables: [entry] },
      {
        ...{ seriesTimeZone: 'UTC', now: await clock.now(database), isNew: false, dryRun: false },
        guard: createAddressGuard(local),
      },
    );
    const due = () => database.query('update embargo.sources set fetch_at = $1', ['2026-11-23T08:00:00Z']);
    const load = loadingClear(deps, loadingApart(counted));
    const fetching = fetchDeps(deps, { ...local, seriesTimeZone: 'UTC' }, load);
    const { at, leadMs } = await accept(['series_id,date,value', 'R3,2024-01-01,1'], '2026-11-23T09:00:00Z');
    await due();
    const outcome: string[] = [];
    await whileALoadIsStuck(
      async () => outcome.push(...(await fetchDue(fetching, never)).values()),
      async () => clock.set(new Date(at.getTime() - leadMs - 5_000).toISOString()),
    );
    t.deepEqual(outcome, ['lost']);
    const [source] = await selectSources(database);
    t.like(source, { failures: 0, leasedUntil: null, fetchAt: at, outcome: null });
    await due();
    t.deepEqual([...(await fetchDue(fetching, never)).values()], ['lost']);
    t.is(tasks.length, 1, 'and it does not begin shortly before');
    clock.set(at.toISOString());
    t.is((await makeNext()).result, 'released');
    t.deepEqual([...(await fetchDue(fetching, never)).values()], ['loaded']);
    t.deepEqual(await published(database, 'SOURCE'), { '2026-01-31': '1' });
  },
);
