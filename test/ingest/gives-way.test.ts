// Whoever holds the load lock when a release under embargo is due gives way to it: the release is made at its instant, and the work starts again
// afterwards, is done once, and says so. Each test has work wait for a table while it holds the lock: it could not end before the release.
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import test, { type ExecutionContext } from 'ava';
import { InterruptedByRelease, interruptible } from '../../ingest/load/lock/give-way-to-release.ts';
import { noteInterruption, readOwnTransaction } from '../../ingest/load/lock/interruptions.sql.ts';
import { load } from '../../ingest/load/load.ts';
import { isReleaseBeingPrepared, lockLoads } from '../../ingest/load/lock/load-lock.sql.ts';
import { actingFor } from '../../ingest/publisher/child-process/act-as.sql.ts';
import { createChildRunner } from '../../ingest/publisher/child-process/run-in-child.ts';
import type { Tasks } from '../../ingest/publisher/child-process-tasks.ts';
import { findRelease } from '../../ingest/publisher/releases/release-actions.ts';
import { workInChild } from '../../ingest/publisher/inbox/load-in-child.ts';
import { InboxWatch } from '../../ingest/publisher/inbox/watch.ts';
import { fetchDeps, fetchDue, loadInChild } from '../../ingest/publisher/sources/fetch-due-sources.ts';
import { registerSources } from '../../ingest/publisher/sources/register.ts';
import { selectSources } from '../../ingest/publisher/sources/sources.sql.ts';
import { storePieces } from '../../ingest/publisher/releases/stored-file.ts';
import { entryOf } from '../../ingest/publisher/uploads/upload-entry.ts';
import { insertPiece } from '../../ingest/publisher/releases/embargo.sql.ts';
import { insertUpload } from '../../ingest/publisher/uploads/uploads.sql.ts';
import { listLoads } from '../../ingest/history/retract/load-list.sql.ts';
import { retract } from '../../ingest/history/retract/retract.ts';
import { Failure } from '../../kernel/errors.ts';
import { createLog } from '../../kernel/log/log.ts';
import { createAddressGuard } from '../../kernel/outbound/address-guard.ts';
import { projectRoot } from '../../kernel/project.ts';
import { serviceUrl } from '../../migrations/roles.ts';
import { commandLine, settingsOf } from '../cli/terminal.ts';
import { endChildren, startChild } from '../run/processes.ts';
import { until } from '../run/until.ts';
import { createTestDatabase, fakeClock, silentLog } from '../services/harness.ts';
import { local, never, january } from './fetching.ts';
import { startFileServer } from './file-server.ts';
import { daily, fileOf, loadCsv, published, today } from './loading.ts';
import { startReleasing } from './releasing.ts';
import { csv, monthlySeries } from './watching.ts';

const testDatabase = await createTestDatabase();
const { database, clock, deps, accept, makeNext, prepared } = startReleasing(
  test,
  testDatabase.url,
  '2026-11-23T08:00:00Z',
);
const settings = settingsOf(testDatabase.url);
const almanac = commandLine(settings);
const children = createChildRunner<Tasks>({
  ...{ databaseUrl: serviceUrl(testDatabase.url, 'almanac_publisher'), log: silentLog },
  applicationName: 'test children',
});
test.serial.beforeEach(() => clock.set('2026-11-23T08:00:00Z'));
test.serial.afterEach.always(async () => {
  await database.query('delete from embargo.releases');
  await database.query('delete from embargo.sources');
});
test.after.always(async () => {
  await endChildren();
  await children.close();
  await testDatabase.drop();
});

/** Tables that work under the load lock writes, and a release of observations does not. */
type Blocked = 'data.published_files' | 'data.audit_events' | 'data.amcs';

const here = 'database = (select oid from pg_database where datname = current_database())';

const waiting = async (table: string): Promise<number> =>
  (
    await database.query(`select from pg_locks where relation = $1::regclass and not granted and ${here}`, [
      table,
    ])
  ).length;

/** Has work begin and wait for the table, with the load lock; calls `meanwhile`, and lets the work go on. @returns what the work comes to. */
async function whileStuck<T>(
  table: Blocked,
  begin: () => Promise<T>,
  meanwhile: () => Promise<void>,
): Promise<T> {
  const begun = await database.transaction(async (on) => {
    await on.query(`lock table ${table} in share mode`);
    const work = begin();
    let isOver = false;
    void work.then(
      () => (isOver = true),
      () => (isOver = true),
    );
    await until('the work waits for its table', async () => isOver || (await waiting(table)) > 0);
    if (isOver) throw new Error(`it is over before: ${JSON.stringify(await work)}`);
    await meanwhile();
    return { work };
  });
  return begun.work;
}

/** A release that is due while the work is stuck is made at its instant. @returns its number, and what the work comes to. */
async function releaseMeanwhile<T>(
  t: ExecutionContext,
  id: string,
  table: Blocked,
  begin: () => Promise<T>,
): Promise<{ releaseNo: number; result: T }> {
  const { releaseNo, at, leadMs } = await accept(
    ['series_id,date,value', `${id},2024-01-01,1`],
    '2026-11-23T09:00:00Z',
  );
  const result = await whileStuck(table, begin, async () => {
    clock.set(new Date(at.getTime() - leadMs).toISOString());
    const { made } = await prepared();
    t.deepEqual(await published(database, id), {}, 'nobody sees it before');
    clock.set(at.toISOString());
    t.deepEqual(await made, { result: 'released', releases: [{ releaseNo, at, endedAt: at }] });
    t.deepEqual(await published(database, id), { '2024-01-01': '1' });
  });
  return { releaseNo, result };
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** What programs are told: one interruption, by this release. */
function saysSo(t: ExecutionContext, told: unknown, releaseNo: number): void {
  const interruptions = told as { release: number; at: string; started_again_at: string }[] | undefined;
  t.deepEqual(
    interruptions?.map(({ release }) => release),
    [releaseNo],
  );
  const [{ at, started_again_at: again } = { at: '', started_again_at: '' }] = interruptions ?? [];
  t.regex(at, instant);
  t.regex(again, instant);
  t.true(at <= again);
}

const loadsOf = async (source: string): Promise<number> =>
  (await database.query('select from data.loads where source_name = $1', [source])).length;

test.serial('a release that is due while a file of the watched folder is loaded is on time', async (t) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  writeFileSync(path.join(directory, 'almanac.yml'), monthlySeries('INBOX', '*.csv', 'INBOX'));
  writeFileSync(path.join(directory, 'inbox.csv'), csv(1));
  const lines: Record<string, unknown>[] = [];
  const log = createLog('test', 'info', {
    write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  });
  const own = { ...deps, directory, seriesTimeZone: 'UTC', log };
  const watch = new InboxWatch({ ...own, work: workInChild(own, children) });
  await watch.look(never);
  clock.advance(10_000);
  const { releaseNo } = await releaseMeanwhile(t, 'R.INBOX', 'data.published_files', () => watch.look(never));
  t.deepEqual(await published(database, 'INBOX'), { '2024-01-31': '1' });
  t.deepEqual(watch.counts, { loaded: 1, unchanged: 0, 'left out': 0, rejected: 0 });
  t.deepEqual(
    [readdirSync(path.join(directory, 'rejected')), readdirSync(path.join(directory, '.taken'))],
    [[], []],
  );
  t.is(await loadsOf('inbox.csv'), 1);
  saysSo(t, lines.find(({ event }) => event === 'inbox_loaded')?.['interruptions'], releaseNo);
});

test.serial('a release that is due while a source is loaded is on time', async (t) => {
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
  await database.query('update embargo.sources set fetch_at = $1', ['2026-11-23T08:00:00Z']);
  const fetching = fetchDeps(deps, { ...local, seriesTimeZone: 'UTC' }, loadInChild(children));
  const { releaseNo, result } = await releaseMeanwhile(t, 'R.SOURCE', 'data.published_files', () =>
    fetchDue(fetching, never),
  );
  t.deepEqual([...result.values()], ['loaded']);
  t.deepEqual(await published(database, 'SOURCE'), { '2026-01-31': '1' });
  t.is(await loadsOf(`${server.url}/a.csv`), 1);
  const [source] = await selectSources(database);
  t.like(source, { failures: 0, leasedUntil: null });
  saysSo(t, (source?.outcome as Record<string, unknown> | null)?.['interruptions'], releaseNo);
});

/** A table of an upload, ready to be checked or published. */
async function tableOfUpload(name: string, id: string) {
  const upload = { id: randomUUID(), name, publication: 'uploads', sha256: '0'.repeat(64), today };
  const [createdAt, expiresAt] = [new Date(), new Date(Date.now() + 3_600_000)];
  await database.transaction((on) =>
    insertUpload(on, { ...upload, accountId: 'acct_a', createdAt, expiresAt }, 100),
  );
  await storePieces(Readable.from([Buffer.from(csv(1, 2))]), (position, piece) =>
    insertPiece(database, { uploadId: upload.id }, position, piece),
  );
  const [found] = await children.run('read-upload', upload, {});
  const facts = { id, unit: 'Index', source: 'Tests', frequency: 'monthly' };
  const entry = entryOf(found?.entry ?? '', { name, facts });
  return { upload, table: 0, entry, seriesTimeZone: 'UTC', fiscalYearFirstMonth: 7, now: new Date() };
}

test.serial('a release that is due while an upload is published is on time', async (t) => {
  const given = await tableOfUpload('upload.csv', 'UPLOAD');
  const { releaseNo, result } = await releaseMeanwhile(t, 'R.UPLOAD', 'data.published_files', () =>
    children.run('publish-table', given, { accountId: 'acct_a' }),
  );
  t.like(result, { points_new: 2, series_count: 1 });
  t.is(await loadsOf('upload.csv'), 1);
  saysSo(t, result.interruptions, releaseNo);
});

test.serial(
  'a release that is due while an upload is checked is on time, and the check is refused',
  async (t) => {
    const given = await tableOfUpload('checked.csv', 'CHECKED');
    const { releaseNo, result } = await releaseMeanwhile(t, 'R.CHECKED', 'data.published_files', async () =>
      t.throwsAsync(children.run('check-table', given, {}), { instanceOf: Failure }),
    );
    t.like(result, { code: 'unavailable', headers: { 'retry-after': '5' } });
    t.regex(
      result.message,
      new RegExp(`^Release ${releaseNo} is due, and has interrupted this at \\S+; nothing of it is stored`),
    );
  },
);

test.serial(
  'a release that is due while a command loads is on time, and the command reports the interruption',
  async (t) => {
    const file = fileOf(['amc_id,name,source', 'a1,First,Tests']);
    const { releaseNo, result } = await releaseMeanwhile(t, 'R.COMMAND', 'data.amcs', () =>
      almanac(['ingest', 'amcs', file, '--json']),
    );
    t.is(result.code, 0, result.stderr);
    const report = JSON.parse(result.stdout) as Record<string, unknown>;
    t.like(report, { rows_read: 1, points_new: 1 });
    saysSo(t, report['interruptions'], releaseNo);
    t.regex(
      result.stderr,
      new RegExp(
        `^Release ${releaseNo} under embargo is due and has interrupted this load, which starts again`,
        'm',
      ),
    );
    t.is(await loadsOf(file), 1);
  },
);

test.serial(
  'a release is on time while a folder is published, and the report of the table lists the interruption',
  async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
    writeFileSync(path.join(folder, 'almanac.yml'), monthlySeries('FOLDER', 'folder.csv', 'FOLDER'));
    writeFileSync(path.join(folder, 'folder.csv'), csv(1));
    const { releaseNo, result } = await releaseMeanwhile(t, 'R.FOLDER', 'data.published_files', () =>
      almanac(['publish', folder, '--yes', '--json']),
    );
    t.is(result.code, 0, result.stderr);
    const { loaded } = JSON.parse(result.stdout) as { loaded: Record<string, unknown>[] };
    saysSo(t, loaded[0]?.['interruptions'], releaseNo);
    t.regex(
      String(loaded[0]?.['notes']),
      new RegExp(`^interrupted by release ${releaseNo} at \\S+Z, started again at \\S+Z$`),
    );
    t.regex(result.stderr, /has interrupted this load/);
    t.is(await loadsOf('folder.csv'), 1);
  },
);

test.serial(
  'a release that is due while a load is retracted is on time, and the load is retracted once',
  async (t) => {
    await loadCsv(database, ['series_id,date,value', 'RETRACTED,2024-01-01,1'], { create: true, set: daily });
    const [newest] = await listLoads(database, { limit: 1 });
    const loadNo = newest?.load_no ?? 0;
    const { releaseNo, result } = await releaseMeanwhile(t, 'R.RETRACTED', 'data.audit_events', () =>
      retract(actingFor(deps.database, 'acct_a'), {
        ...{ loadNo, seriesTimeZone: 'UTC', clock: fakeClock(`${today}T12:00:00Z`), noGateway: true },
      }),
    );
    t.is(result.effect, 'out_of_force');
    t.deepEqual(
      result.interruptions.map((each) => each.releaseNo),
      [releaseNo],
    );
    t.deepEqual(await published(database, 'RETRACTED'), {});
    t.is((await database.query('select from data.loads where retracts = $1', [loadNo])).length, 1);
  },
);

test.serial(
  'a release that is due while a command retracts or renames is on time, and each is done once',
  async (t) => {
    await loadCsv(database, ['series_id,date,value', 'OLD,2024-01-01,1'], { create: true, set: daily });
    const renamed = await releaseMeanwhile(t, 'R.RENAMED', 'data.audit_events', () =>
      almanac(['series', 'rename', 'OLD', 'NEW', '--json']),
    );
    t.is(renamed.result.code, 0, renamed.result.stderr);
    saysSo(
      t,
      (JSON.parse(renamed.result.stdout) as Record<string, unknown>)['interruptions'],
      renamed.releaseNo,
    );
    t.deepEqual(await published(database, 'NEW'), { '2024-01-01': '1' });
    await loadCsv(database, ['series_id,date,value', 'NEW,2024-01-02,1']);
    const [newest] = await listLoads(database, { dataset: 'observations', limit: 1 });
    clock.set('2026-11-23T08:00:00Z');
    const retracted = await releaseMeanwhile(t, 'R.TAKEN', 'data.audit_events', () =>
      almanac(['loads', 'retract', String(newest?.load_no)]),
    );
    t.is(retracted.result.code, 0, retracted.result.stderr);
    t.regex(
      retracted.result.stderr,
      new RegExp(`^note: interrupted by release ${retracted.releaseNo} at `, 'm'),
    );
    t.deepEqual(await published(database, 'NEW'), { '2024-01-01': '1' });
  },
);

test.serial('the check of another release gives way, and that release is accepted', async (t) => {
  const input = Readable.from([Buffer.from('amc_id,name,source\na2,Second,Tests\n')]);
  const { releaseNo, result } = await releaseMeanwhile(t, 'R.ACCEPTED', 'data.amcs', () =>
    accept([], '2026-11-23T12:00:00Z', { dataset: 'amcs', input, create: false, set: {} }),
  );
  t.deepEqual(
    result.summary.interruptions.map((each) => each.releaseNo),
    [releaseNo],
  );
  t.like((await findRelease(database, result.releaseNo)).checked, { points_new: 1 });
  clock.set('2026-11-23T12:00:00Z');
  t.is((await makeNext()).result, 'released');
});

test.serial('a load whose input cannot be read again says what to do, and stores nothing', async (t) => {
  const { releaseNo, result } = await releaseMeanwhile(t, 'R.STREAM', 'data.amcs', () =>
    almanac(['ingest', 'amcs', '-'], { stdin: 'amc_id,name,source\na3,Third,Tests\n' }),
  );
  t.is(result.code, 2);
  t.regex(
    result.stderr,
    new RegExp(
      `Release ${releaseNo} is due, and has interrupted the load, whose input cannot be read again; nothing was stored. Load it again`,
    ),
  );
  t.is((await database.query(`select from data.amcs where name = 'Third'`)).length, 0);
});

test.serial(
  'a load that waits for the one that is interrupted does not get the lock before the release',
  async (t) => {
    const second = loadingOf('A5');
    const { result } = await releaseMeanwhile(t, 'R.QUEUE', 'data.amcs', async () => {
      const first = loadingOf('A4')();
      await until('the first has the lock', async () => (await waiting('data.amcs')) > 0);
      const waits = Promise.withResolvers<void>();
      const other = second(() => waits.resolve());
      await waits.promise;
      return Promise.all([first, other]);
    });
    t.deepEqual(
      result.map(({ pointsNew }) => pointsNew),
      [1, 1],
    );
    t.is((await database.query(`select from data.amcs where name in ('A4', 'A5')`)).length, 2);
  },
);

const loadingOf = (name: string) => (onWaiting?: () => void) =>
  load(database, {
    ...{
      dataset: 'amcs',
      input: fileOf(['amc_id,name,source', `${name.toLowerCase()},${name},Tests`]),
      noGateway: true,
    },
    ...{ seriesTimeZone: 'UTC', clock: fakeClock(`${today}T12:00:00Z`), onWaiting },
  });

test.serial('releases in a row interrupt a load once each, and it is done when there is room', async (t) => {
  const first = await accept(['series_id,date,value', 'ROW1,2024-01-01,1'], '2026-11-23T09:00:00Z');
  const second = await accept(['series_id,date,value', 'ROW2,2024-01-01,1'], '2026-11-23T10:00:00Z');
  const result = await whileStuck('data.amcs', loadingOf('A6'), async () => {
    for (const { at } of [first, second]) {
      clock.set(at.toISOString());
      t.like(await makeNext(), { releases: [{ at, endedAt: at }] });
      await until('the load has started again', async () => (await waiting('data.amcs')) > 0);
    }
  });
  t.deepEqual(
    result.interruptions.map(({ releaseNo }) => releaseNo),
    [first.releaseNo, second.releaseNo],
  );
  t.is(result.pointsNew, 1);
});

test.serial(
  'if the publisher is killed between, the load starts again at once, and the release is made later',
  async (t) => {
    const { releaseNo, at, leadMs } = await accept(
      ['series_id,date,value', 'KILLED,2024-01-01,1'],
      '2026-11-23T09:00:00Z',
    );
    const result = await whileStuck('data.amcs', loadingOf('A7'), async () => {
      clock.set(new Date(at.getTime() - leadMs).toISOString());
      const { made } = await prepared();
      const broken = t.throwsAsync(made);
      await database.query(
        `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = 4115221 and granted and ${here}`,
      );
      await until('PostgreSQL has ended the release', async () => !(await isReleaseBeingPrepared(database)));
      clock.set(at.toISOString()); // so that it notices
      await broken;
      await until('the load has started again', async () => (await waiting('data.amcs')) > 0);
      t.deepEqual(await published(database, 'KILLED'), {});
    });
    t.deepEqual(
      result.interruptions.map((each) => each.releaseNo),
      [releaseNo],
    );
    t.is((await findRelease(database, releaseNo)).state, 'pending');
    t.is((await makeNext()).result, 'released');
    t.deepEqual(await published(database, 'KILLED'), { '2024-01-01': '1' });
  },
);

test.serial('a release that is due while the process of a load is stopped is on time', async (t) => {
  const file = fileOf(['amc_id,name,source', 'stopped,Stopped,Tests']);
  const child = startChild(process.execPath, [path.join(projectRoot, 'almanac.js'), 'ingest', 'amcs', file], {
    name: 'almanac ingest',
    env: { ...process.env, ...settings },
  });
  const { releaseNo, result } = await releaseMeanwhile(t, 'R.STOPPED', 'data.amcs', async () => {
    await until('it waits for its table', async () => (await waiting('data.amcs')) > 0);
    child.process.kill('SIGSTOP');
    await until('the release has interrupted it', async () => (await waiting('data.amcs')) === 0);
    child.process.kill('SIGCONT');
    return child.exit();
  });
  t.is(result, 0, child.output());
  t.regex(child.output(), new RegExp(`note: interrupted by release ${releaseNo} at `));
  t.is((await database.query(`select from data.amcs where name = 'Stopped'`)).length, 1);
});

test.serial('a load that somebody else ends does not start again', async (t) => {
  const error = await whileStuck(
    'data.amcs',
    async () => t.throwsAsync(loadingOf('A8')()),
    async () => {
      await database.query(
        `select pg_terminate_backend(pid) from pg_locks where relation = 'data.amcs'::regclass and not granted and ${here}`,
      );
    },
  );
  t.like(error, { code: '57P01' });
  t.is((await database.query(`select from data.amcs where name = 'A8'`)).length, 0);
});

test.serial('work whose commit was done, and not answered, is not done again', async (t) => {
  const { releaseNo } = await accept(['series_id,date,value', 'LOST,2024-01-01,1'], '2026-11-23T09:00:00Z');
  const broken = (isLost: boolean) =>
    interruptible(
      {
        query: database.query,
        async transaction(work) {
          const result = await database.transaction(async (on) => {
            const worked = await work(on);
            await noteInterruption(database, releaseNo, (await readOwnTransaction(on)).transaction);
            if (!isLost) throw new Error('Connection terminated unexpectedly');
            return worked;
          });
          if (isLost) throw new Error('Connection terminated unexpectedly');
          return result;
        },
      },
      false,
      async (on) => {
        await lockLoads(on);
        return 'done';
      },
    );
  t.is(await broken(true), 'done');
  await t.throwsAsync(broken(false), { instanceOf: InterruptedByRelease });
});
