// Sources that are fetched by schedule on the command line: `almanac publish` that registers them, and `almanac sources`.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { recordHeartbeat, removePublisher } from '../../ingest/publisher/releases/embargo.sql.ts';
import { openDatabase } from '../../kernel/database.ts';
import { startFileServer } from '../ingest/file-server.ts';
import { published } from '../ingest/loading.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { commandLine, documentOf, settingsOf } from './terminal.ts';

const testDatabase = await createTestDatabase();
const database = openDatabase(testDatabase.url, silentLog, { applicationName: 'test' });
test.after.always(async () => {
  await database.close();
  await testDatabase.drop();
});

const allowed = { SOURCE_ALLOW_CIDRS: '127.0.0.0/8', SOURCE_ALLOW_HTTP: 'true' };
const almanac = commandLine({ ...settingsOf(testDatabase.url), ...allowed });

/** A folder with an almanac.yml of one URL. */
function folderOf(name: string, url: string, more: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  writeFileSync(
    path.join(folder, 'almanac.yml'),
    `version: 1
name: ${name}
tables:
  - file: ${url}
    ${more}
    header: 1
    first: 2
    date: { column: date }
    values: value
    series: { id: ${name}, unit: USD, frequency: monthly, source: Tests }
`,
  );
  return folder;
}

test.serial(
  'a source is published, listed, shown, fetched and removed, and the query of its URL is never printed',
  async (t) => {
    const server = await startFileServer(t);
    server.serve('date,value\n2026-01,1');
    const folder = folderOf('P', `${server.url}/gold.csv?token=secret`, 'schedule: daily 10:30');
    const tried = await almanac(['publish', folder, '--dry-run']);
    t.regex(tried.stdout, /^would be kept fresh: P\.gold, daily 10:30, next \S+T10:30:00Z$/m, tried.stderr);
    t.regex(tried.stdout, /^\d tables? would be loaded, 0 unchanged$/m);
    t.is((await almanac(['sources', 'list'])).stdout, 'none\n');
    const made = await almanac(['publish', folder]);
    t.is(made.code, 0, made.stderr);
    t.regex(made.stdout, /^kept fresh: P\.gold, daily 10:30, next \S+T10:30:00Z$/m);

    const listed = await almanac(['sources', 'list']);
    t.regex(listed.stdout, /^P\.gold +daily 10:30 +- +- +- +0 +\S+T10:30:00Z$/m);
    t.regex(listed.stderr, /^No publisher is running/);
    t.regex(
      (await almanac(['check'])).stdout,
      /^sources +warning: 1 are fetched by schedule; no publisher is running$/m,
    );
    await recordHeartbeat(database, 'one of the test');
    t.regex((await almanac(['check'])).stdout, /^sources +ok: 1 are fetched by schedule$/m);
    t.like(documentOf(t, await almanac(['sources', 'list', '--json'])), { publisher_alive: true });
    await removePublisher(database, 'one of the test');

    t.is((await almanac(['sources', 'fetch', 'P.gold'])).stdout, 'P.gold: unchanged\n');
    server.serve('date,value\n2026-01,1\n2026-02,2');
    t.regex(
      (await almanac(['sources', 'fetch', 'P.gold'])).stdout,
      /^P\.gold: loaded: see "almanac loads show \d+"\n$/,
    );
    t.deepEqual(await published(database, 'P'), { '2026-01-31': '1', '2026-02-28': '2' });
    t.like(documentOf(t, await almanac(['sources', 'fetch', 'P.gold', '--json'])), {
      ...{ name: 'P.gold', result: 'unchanged', failures: 0, url: `${server.url}/gold.csv` },
    });
    server.fail(404);
    const failed = await almanac(['sources', 'fetch', 'P.gold']);
    t.deepEqual([failed.code, failed.stdout], [1, '']);
    t.is(
      failed.stderr,
      `almanac: P.gold has failed. ${server.url}/gold.csv cannot be fetched: the server answered 404.\n`,
    );

    const shown = await almanac(['sources', 'show', 'P.gold']);
    t.regex(shown.stdout, /^failures +1 in a row, since /m);
    t.regex(shown.stdout, /^outcome +\{.*"message":"http.*answered 404\.".*\}$/m);
    const document = await almanac(['sources', 'show', 'P.gold', '--json']);
    t.like(documentOf(t, document), { failures: 1, publication: 'P', sheet: null, is_being_fetched: false });
    for (const { stdout, stderr } of [shown, document, failed, listed]) t.notRegex(stdout + stderr, /secret/);

    t.like(documentOf(t, await almanac(['sources', 'remove', 'P.gold', '--json'])), { name: 'P.gold' });
    const again = await almanac(['sources', 'remove', 'P.gold']);
    t.deepEqual(
      [again.code, again.stderr],
      [1, 'almanac: There is no source P.gold: see "almanac sources list".\n'],
    );
    t.is((await almanac(['sources', 'show', 'P.gold'])).code, 1);
    t.is((await almanac(['sources', 'fetch', 'P.gold'])).code, 1);
  },
);

test.serial(
  'publish reports what it changes and ends, and refuses a URL that the publisher may not fetch',
  async (t) => {
    const server = await startFileServer(t);
    server.serve('date,value\n2026-01,1');
    const url = `${server.url}/b.csv`;
    await almanac(['publish', folderOf('Q', url, 'schedule: hourly')]);
    const changed = documentOf(
      t,
      await almanac(['publish', folderOf('Q', url, 'schedule: daily'), '--json']),
    );
    t.like(changed['sources'], { added: [], ended: [], refused: [] });
    t.like((changed['sources'] as { changed: object[] }).changed[0], { name: 'Q.b', schedule: 'daily' });
    const ended = await almanac(['publish', folderOf('Q', url, '# no schedule')]);
    t.regex(ended.stdout, /^no longer fetched: Q\.b$/m);
    const refused = await almanac(['publish', folderOf('R', url, 'schedule: hourly')], {
      env: { SOURCE_ALLOW_HTTP: 'false' },
    });
    t.is(refused.code, 1);
    t.regex(
      refused.stderr,
      /b\.csv: It cannot be fetched by schedule: its URL must begin with https:\/\/\.$/m,
    );
    t.deepEqual(await published(database, 'R'), { '2026-01-31': '1' }, 'it is loaded all the same');
    const wrong = await almanac(['publish', folderOf('R', url, 'schedule: monthly')]);
    t.regex(wrong.stderr, /line 5, tables\[0\]\.schedule: must be "every N minutes"/);
    const local = await almanac(['publish', folderOf('R', 'data.csv', 'schedule: hourly')]);
    t.regex(local.stderr, /line 5, tables\[0\]\.schedule: is for URLs: a file of the folder/);
  },
);
