// Work that has the load lock gives way to a due release under embargo: the release is made at its instant; the work restarts afterwards, is done
// once, and reports the interruption. In each test, the work waits for a table while it has the lock, so it could not end before the release.
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import test from 'ava';
import { actingFor } from '../../ingest/publisher/child-process/act-as.sql.ts';
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
import { fakeClock } from '../services/harness.ts';
import { local, never, january } from './fetching.ts';
import { startFileServer } from './file-server.ts';
import { daily, fileOf, loadCsv, published, today } from './loading.ts';
import { csv, monthlySeries } from './watching.ts';
import { assertInterrupted, openGivingWay } from './giving-way.ts';

const { database, clock, deps, accept, makeNext, almanac, children, releaseMeanwhile, loadsOf } =
  await openGivingWay(test);

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
  assertInterrupted(t, lines.find(({ event }) => event === 'inbox_loaded')?.['interruptions'], releaseNo);
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
  assertInterrupted(t, (source?.outcome as Record<string, unknown> | null)?.['interruptions'], releaseNo);
});

/** A table of an upload, ready to be checked or published. */
async function tableOfUpload(name: string, id: string) {
  const upload = { id: randomUUID(), name, publication: 'uploads', sha256: '0'.repeat(64), today };
  const [createdAt, expiresAt] = [new Date(), new Date(Date.now() + 3_600_000)];
  const row = { ...upload, accountId: upload.id, createdAt, expiresAt }; // the uploads of an account are limited
  await database.transaction((on) => insertUpload(on, row));
  await storePieces(Readable.from([Buffer.from(csv(1, 2))]), (position, piece) =>
    insertPiece(database, { uploadId: upload.id }, position, piece),
  );
  const [found] = await children.run('read-upload', upload, {});
  const facts = { id, unit: 'Index', source: 'Tests', frequency: 'monthly' };
  const entry = entryOf(found?.entry ?? '', { name, facts });
  return { upload, table: 0, entry, seriesTimeZone: 'UTC', fiscalYearFirstMonth: 7 };
}

test.serial('a release that is due while an upload is published is on time', async (t) => {
  const given = await tableOfUpload('upload.csv', 'UPLOAD');
  const { releaseNo, result } = await releaseMeanwhile(t, 'R.UPLOAD', 'data.published_files', () =>
    children.run('publish-table', given, { accountId: 'acct_a' }),
  );
  t.like(result, { points_new: 2, series_count: 1 });
  t.is(await loadsOf('upload.csv'), 1);
  assertInterrupted(t, result.interruptions, releaseNo);
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
      new RegExp(`^A due release \\(${releaseNo}\\) interrupted this operation at \\S+; nothing was stored`),
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
    assertInterrupted(t, report['interruptions'], releaseNo);
    t.regex(
      result.stderr,
      new RegExp(
        `^A due release under embargo \\(${releaseNo}\\) interrupted this load, which restarts`,
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
    assertInterrupted(t, loaded[0]?.['interruptions'], releaseNo);
    t.regex(
      String(loaded[0]?.['notes']),
      new RegExp(`^interrupted by release ${releaseNo} at \\S+Z, started again at \\S+Z$`),
    );
    t.regex(result.stderr, /interrupted this load/);
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
    assertInterrupted(
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

test.serial('a load whose input cannot be read again names the remedy, and stores nothing', async (t) => {
  const { releaseNo, result } = await releaseMeanwhile(t, 'R.STREAM', 'data.amcs', () =>
    almanac(['ingest', 'amcs', '-'], { stdin: 'amc_id,name,source\na3,Third,Tests\n' }),
  );
  t.is(result.code, 2);
  t.regex(
    result.stderr,
    new RegExp(
      `A due release \\(${releaseNo}\\) interrupted the load, whose input cannot be read again; nothing was stored. Load it again`,
    ),
  );
  t.is((await database.query(`select from data.amcs where name = 'Third'`)).length, 0);
});
