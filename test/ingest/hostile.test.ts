// Twenty files that are made to harm their reader are put into the watched folder; one of each kind of end also comes from sources, uploads and the
// command line, which have the same reader. Each is refused with a reason, the service goes on, and good files beside them are loaded. A file that
// ends its reader is not tried again.
import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import test, { type ExecutionContext } from 'ava';
import { IngestFailure } from '../../ingest/failure.ts';
import {
  createChildRunner,
  ProcessEnded,
  type ChildRunner,
} from '../../ingest/publisher/child-process/run-in-child.ts';
import type { Tasks } from '../../ingest/publisher/child-process-tasks.ts';
import { acceptUnderEmbargo } from '../../ingest/publisher/releases/accept.ts';
import { makeDueNow } from '../../ingest/publisher/releases/release-actions.ts';
import { databaseClock } from '../../ingest/publisher/releases/release-clock.ts';
import { fetchDeps, fetchDue, loadInChild } from '../../ingest/publisher/sources/fetch-due-sources.ts';
import { registerSources } from '../../ingest/publisher/sources/register.ts';
import { selectSources } from '../../ingest/publisher/sources/sources.sql.ts';
import { storePieces } from '../../ingest/publisher/releases/stored-file.ts';
import { insertPiece } from '../../ingest/publisher/releases/embargo.sql.ts';
import { insertUpload } from '../../ingest/publisher/uploads/uploads.sql.ts';
import { openDatabase } from '../../kernel/database.ts';
import { createAddressGuard } from '../../kernel/outbound/address-guard.ts';
import { projectRoot } from '../../kernel/project.ts';
import { serviceUrl } from '../../migrations/roles.ts';
import { commandLine, settingsOf } from '../cli/terminal.ts';
import { exempt } from '../openapi/check-answers.ts';
import { endChildren, startServing } from '../run/processes.ts';
import { until } from '../run/until.ts';
import { createTestDatabase, silentLog, testIdentitySecret } from '../services/harness.ts';
import { freePort } from '../services/instance.ts';
import { local, never } from './fetching.ts';
import { startFileServer } from './file-server.ts';
import { hostileFiles, largeWorkbook, type HostileFile } from './hostile-files.ts';
import { published } from './loading.ts';
import { csv, monthlySeries } from './watching.ts';

const testDatabase = await createTestDatabase();
const role = serviceUrl(testDatabase.url, 'almanac_publisher');
const options = { applicationName: 'test', statementTimeoutMs: 0 };
const database = openDatabase(testDatabase.url, silentLog, options);
const byRole = openDatabase(role, silentLog, options);
test.serial.afterEach.always(() => database.query('delete from embargo.sources'));
test.after.always(async () => {
  await endChildren();
  await Promise.all([database.close(), byRole.close()]);
  await testDatabase.drop();
});

/** A heap limit that suffices for everything except this workbook. */
const limits = { FILE_MEMORY_MB: '96' };
const tooMuch: HostileFile = {
  name: 'large.xlsx',
  content: largeWorkbook(60_000),
  refused: /probably out of memory: the limit is 96 MB/,
};
const files = [...hostileFiles(), tooMuch];
/** A false size, no table, a file that the reader fails on, one that unpacks without end, and one that ends the reader. */
const kinds = ['understated.xlsx', 'laughs.xlsx', 'loop.xls', 'packed.csv.gz', tooMuch.name];
const oneOfEachKind = files.filter(({ name }) => kinds.includes(name));
const folderOf = (name: string) => {
  const folder = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-test-')), name);
  mkdirSync(folder);
  return folder;
};

async function withChildRunner(
  work: (children: ChildRunner<Tasks>, tasks: string[]) => Promise<void>,
): Promise<void> {
  const children = createChildRunner<Tasks>({
    ...{ databaseUrl: role, applicationName: 'test children', log: silentLog },
    limits: { memoryMb: 96, stepSeconds: 400 },
  });
  const tasks: string[] = [];
  try {
    const run: ChildRunner<Tasks>['run'] = (task, given, more) => {
      tasks.push(task);
      return children.run(task, given, more);
    };
    await work({ ...children, run }, tasks);
  } finally {
    await children.close();
  }
}

test.serial(
  'a publisher serves and makes a release while its folder has twenty hostile files, and a source one; each is rejected once, good files are loaded',
  async (t) => {
    t.true(files.length > 20);
    const server = await startServer(t, new Map([[tooMuch.name, tooMuch.content]]));
    await register([`${server.url}/${tooMuch.name}`]);
    const release = { ...embargoed, input: Readable.from(['series_id,date,value\nRELEASED,2024-01-31,5\n']) };
    const instant = new Date(Date.now() + 3_600_000).toISOString();
    const { releaseNo } = await acceptUnderEmbargo(database, release, { instant });
    const inbox = folderOf('inbox');
    writeFileSync(path.join(inbox, 'almanac.yml'), monthlySeries('held', 'good-*.csv', '{file}'));
    const put = (name: string, content: string | Buffer) => {
      writeFileSync(path.join(inbox, `.${name}`), content);
      renameSync(path.join(inbox, `.${name}`), path.join(inbox, name));
    };
    put('good-a.csv', csv(1));
    for (const { name, content } of files) put(name, content);
    put('good-z.csv', csv(2));
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    exempt(url);
    const words = [path.join(projectRoot, 'almanac.js'), 'start', 'publisher'];
    const publisher = await startServing(/publisher is running/, process.execPath, words, {
      name: 'publisher',
      env: {
        ...{ ...process.env, ...settingsOf(role), ...limits, LOG_LEVEL: 'info' },
        ...{ IDENTITY_SECRET: testIdentitySecret, PUBLISHER_PORT: String(port), INBOX_DIR: inbox },
        ...{ SOURCE_ALLOW_CIDRS: '127.0.0.0/8', SOURCE_ALLOW_HTTP: 'true' },
      },
    });
    await makeDueNow(database, releaseNo);
    // The publisher creates `.taken` at its first scan, and retries a failed source after a minute.
    const claimedFolder = path.join(inbox, '.taken');
    const left = () => [
      ...readdirSync(inbox),
      ...(existsSync(claimedFolder) ? readdirSync(claimedFolder) : []),
    ];
    const hasFailed = async () => ((await selectSources(database))[0]?.failures ?? 0) > 0;
    const isReleased = async () => Object.keys(await published(database, 'RELEASED')).length > 0;
    const isOver = () => left().every((name) => /^(?:\.taken|almanac\.yml|done|rejected)$/.test(name));
    await until(
      'all files are done',
      async () => {
        t.is((await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(60_000) })).status, 200);
        return isOver() && (await isReleased()) && (await hasFailed());
      },
      900_000, // the processes that read files have a low priority
    );
    for (const { name, refused } of files)
      t.regex(readFileSync(path.join(inbox, 'rejected', `${name}.report.txt`), 'utf8'), refused, name);
    t.is(readdirSync(path.join(inbox, 'done')).length, 2);
    t.deepEqual(await published(database, 'good-z'), { '2024-01-31': '2' });
    t.is(await publisher.end('SIGTERM'), 0, publisher.output());
    const ends = publisher.output().match(/"event":"child_ended"/g) ?? [];
    t.is(ends.length, 2, 'the file that ended its reader was read once, there and here');
  },
);

/** The command of a release, before its file. */
const embargoed = {
  ...{ dataset: 'observations', create: true, seriesTimeZone: 'UTC' },
  set: { name: 'Released', frequency: 'monthly', unit: 'USD', source: 'Tests' },
};

/** The entry of a source whose table has a line of column names. */
const entryFor = (url: string) => ({
  ...{ file: url, schedule: 'hourly', header: 1, first: 2, date: { column: 'Date' }, values: 'Value' },
  series: { id: 'S', unit: 'USD', frequency: 'monthly', source: 'Tests' },
});

async function register(urls: readonly string[]): Promise<void> {
  await registerSources(
    database,
    { version: 1, name: 's', tables: urls.map(entryFor) },
    {
      ...{ seriesTimeZone: 'UTC', now: new Date(), isNew: false, dryRun: false },
      guard: createAddressGuard(local),
    },
  );
  await makeDue();
}
const makeDue = () =>
  database.query(`update embargo.sources set fetch_at = clock_timestamp() - interval '1 second'`);
const on = { database: byRole, clock: databaseClock, log: silentLog };

async function startServer(t: ExecutionContext, content: ReadonlyMap<string, Buffer>) {
  const server = await startFileServer(t);
  server.answer((request, response) => void response.end(content.get((request.url ?? '/').slice(1))));
  return server;
}

test.serial('hostile files of sources are failures, each with its reason', async (t) => {
  const content = new Map(oneOfEachKind.map(({ name, content: bytes }) => [name, bytes]));
  content.set('good.csv', Buffer.from(csv(3)));
  const server = await startServer(t, content);
  await register([...content.keys()].map((name) => `${server.url}/${name}`));
  await withChildRunner(async (children) => {
    const results = await fetchDue(
      fetchDeps(on, { ...local, seriesTimeZone: 'UTC' }, loadInChild(children)),
      never,
    );
    t.is(results.size, oneOfEachKind.length + 1);
    t.is([...results.values()].filter((result) => result === 'failed').length, oneOfEachKind.length);
  });
  const byUrl = new Map((await selectSources(database)).map((source) => [source.url, source]));
  for (const { name, refused } of oneOfEachKind) {
    const message = String(byUrl.get(`${server.url}/${name}`)?.outcome?.['message']);
    // A file without a table has no line of column names.
    t.regex(message, /no table/.test(refused.source) ? /no column "Date"|ends before line 2/ : refused, name);
  }
  t.deepEqual(await published(database, 'S'), { '2024-01-31': '3' });
});

test.serial(
  'source content that has crashed its reader is not read again until it changes or an operator requests it',
  async (t) => {
    const content = new Map([['a.xlsx', tooMuch.content]]);
    const server = await startServer(t, content);
    await register([`${server.url}/a.xlsx`]);
    await withChildRunner(async (children, tasks) => {
      const deps = fetchDeps(on, { ...local, seriesTimeZone: 'UTC' }, loadInChild(children));
      const due = async (name?: string) => {
        await makeDue();
        const [result] = [...(await fetchDue(deps, never, name)).values()];
        const [source] = await selectSources(database);
        return { result, message: String(source?.outcome?.['message']), failures: source?.failures };
      };
      const first = await due();
      t.like(first, { result: 'failed', failures: 1 });
      t.regex(first.message, /too large to be read: .*96 MB\. It is read again when it changes/);
      for (const failures of [2, 3]) {
        const again = await due();
        t.like(again, { result: 'failed', failures });
        t.regex(again.message, /^The file is the one that was too large to be read before/);
      }
      t.is(tasks.length, 1);
      const name = (await selectSources(database))[0]?.name;
      t.is((await due(name)).result, 'failed');
      t.is(tasks.length, 2, 'an operator’s request reads it again');
      content.set('a.xlsx', largeWorkbook(3));
      t.regex((await due()).message, /no column "Date"/);
      t.is(tasks.length, 3);
      content.set('a.xlsx', tooMuch.content);
      t.like(await due(), { result: 'failed', failures: 6 });
      t.is(tasks.length, 3, 'it is known still');
    });
  },
);

test('hostile uploads are refused, each with its reason', async (t) => {
  await withChildRunner(async (children) => {
    for (const { name, content, refused } of oneOfEachKind) {
      const given = { id: randomUUID(), name, publication: 'u', sha256: '0'.repeat(64), today: '2024-06-30' };
      const [createdAt, expiresAt] = [new Date(), new Date(Date.now() + 3_600_000)];
      const row = { ...given, accountId: given.id, createdAt, expiresAt }; // the uploads of an account are limited
      await byRole.transaction((within) => insertUpload(within, row));
      async function* bytes() {
        yield content;
      }
      await storePieces(bytes(), (position, piece) =>
        insertPiece(byRole, { uploadId: given.id }, position, piece),
      );
      const read = children.run('read-upload', given, { withinMs: 400_000 });
      if (/no table/.test(refused.source)) t.regex(String((await read)[0]?.skip), /./, name);
      else {
        const error = await t.throwsAsync(read, undefined, name);
        t.true(error instanceof IngestFailure || error instanceof ProcessEnded, name);
        t.regex(error.message, name.endsWith('.gz') ? /larger than 1024 MB/ : refused, name);
      }
    }
  });
});

test('almanac publish refuses hostile files with their reasons, and loads the good files', async (t) => {
  const folder = folderOf('mixed');
  for (const { name, content } of oneOfEachKind) writeFileSync(path.join(folder, name), content);
  writeFileSync(path.join(folder, 'mixed.csv'), csv(4));
  const almanac = commandLine({ ...settingsOf(testDatabase.url), ...limits });
  const ran = await almanac([
    'publish',
    folder,
    '--json',
    '--yes',
    '--set',
    'source=T',
    '--set',
    'unit=Index',
  ]);
  t.is(ran.code, 1);
  const {
    loaded,
    failed,
    left_out: leftOut,
  } = JSON.parse(ran.stdout) as Record<
    'loaded' | 'failed' | 'left_out',
    { path: string; reason: string; series_ids?: string[] }[]
  >;
  t.deepEqual(
    loaded.map(({ path: file }) => file),
    ['mixed.csv'],
  );
  const reasons = new Map([...failed, ...leftOut].map(({ path: file, reason }) => [file, reason]));
  for (const { name, refused } of oneOfEachKind)
    t.regex(reasons.get(name) ?? '', /no table/.test(refused.source) ? /./ : refused, name);
  t.regex(
    reasons.get(tooMuch.name) ?? '',
    /^large\.xlsx cannot be read: .* FILE_MEMORY_MB and FILE_SECONDS\.$/,
  );
});
