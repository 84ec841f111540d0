// Loads under embargo on the command line: `ingest --release-at`, `--release-with`, and `almanac releases`.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { recordHeartbeat } from '../../ingest/publisher/releases/embargo.sql.ts';
import { openDatabase } from '../../kernel/database.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { refreshSearch } from '../migrations/search-entries.ts';
import { published } from '../ingest/loading.ts';
import { commandLine, documentOf, ingestWords, settingsOf } from './terminal.ts';

const testDatabase = await createTestDatabase();
const database = openDatabase(testDatabase.url, silentLog, { applicationName: 'test' });
test.after.always(async () => {
  await database.close();
  await testDatabase.drop();
});

const almanac = commandLine(settingsOf(testDatabase.url));
const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
const ends = '2199-12-16T15:00:00+05:00';

function fileOf(name: string, ...lines: string[]): string {
  const file = path.join(folder, name);
  writeFileSync(file, lines.join('\n'));
  return file;
}

const ingest = (file: string, ...more: string[]) => almanac(ingestWords(file, ...more));

test.serial('a file is accepted, listed, shown, and made visible by "now"', async (t) => {
  const file = fileOf('a.csv', 'series_id,date,value', 'A,2024-01-01,1', 'A,2024-01-02,2');
  const accepted = await ingest(file, '--release-at', ends);
  t.is(accepted.code, 0, accepted.stderr);
  t.regex(
    accepted.stdout,
    /^release 1, due 2199-12-16T10:00:00\.000Z, is under embargo\. As the data is now: 2 rows read: 2 new,/,
  );
  t.regex(accepted.stderr, /^No publisher is running/m);
  t.deepEqual(await published(database, 'A'), {});
  const listed = await almanac(['releases', 'list']);
  t.regex(listed.stdout, /^1 +pending +2199-12-16T10:00:00\.000Z +- +observations +\S+a\.csv +2 +2 +0 +0$/m);
  t.regex(listed.stderr, /No publisher is running/);
  const shown = documentOf(t, await almanac(['releases', 'show', '1', '--json']));
  t.like(shown, { release: 1, state: 'pending', release_at: '2199-12-16T10:00:00.000Z', release_with: null });
  t.like(shown['checked'], { rows_read: 2, points_new: 2 });
  t.like(shown['options'], { create: true, seriesTimeZone: 'UTC' });
  const [entry] = shown['history'] as { event: string; actor: string }[];
  t.is(entry?.event, 'accepted');
  t.regex(entry?.actor ?? '', /^\S+ from \S+ by almanac ingest$/);
  t.regex((await almanac(['check'])).stdout, /^releases +warning: 1 under embargo, the next due 2199/m);
  await recordHeartbeat(database, 'one of the test');
  t.regex((await almanac(['check'])).stdout, /^releases +ok: 1 under embargo, .*; a publisher is running$/m);
  t.is((await almanac(['releases', 'list'])).stderr, '');

  const made = await almanac(['releases', 'now', '1']);
  t.deepEqual([made.code, made.stdout], [0, 'release 1 is made\n'], made.stderr);
  t.deepEqual(await published(database, 'A'), { '2024-01-01': '1', '2024-01-02': '2' });
  const all = documentOf(t, await almanac(['releases', 'list', '--json']));
  const [one] = all['releases'] as Record<string, unknown>[];
  t.like(one, { release: 1, state: 'released', release_with: null });
  t.like(one?.['outcome'], { points_new: 2, loads: [1] });
  const text = (await almanac(['releases', 'show', '1'])).stdout;
  t.regex(text, /^hastened +\S+ .* by almanac releases, was due 2199-12-16T10:00:00Z$/m);
  t.regex(text, /^released /m);
});

test.serial(
  'a release with the calendar is held when its entry is cancelled, and can be cancelled itself',
  async (t) => {
    const entry = (more: string) =>
      fileOf(
        'c.csv',
        'release_id,title,source,release_at,time_zone,status',
        `cpi,CPI,Tests,2199-03-01 16:00,Asia/Karachi,${more}`,
      );
    t.is((await almanac(['ingest', 'calendar', entry('')])).code, 0);
    const file = fileOf('b.csv', 'series_id,date,value', 'B,2024-01-01,1');
    const accepted = documentOf(t, await ingest(file, '--release-with', 'cpi', '--json'));
    t.like(accepted, { release: 2, release_at: '2199-03-01T11:00:00.000Z', publisher_alive: true });
    t.is((await almanac(['ingest', 'calendar', entry('cancelled')])).code, 0);
    t.regex((await almanac(['releases', 'list'])).stdout, /^2 +held \(cancelled in the calendar\) +- +cpi /m);
    t.regex((await almanac(['check'])).stdout, /^releases +warning: .*1 held by the calendar/m);
    const cancelled = documentOf(t, await almanac(['releases', 'cancel', '2', '--json']));
    t.like(cancelled, { release: 2, state: 'cancelled' });
    const again = await almanac(['releases', 'cancel', '2']);
    t.deepEqual(
      [again.code, again.stderr],
      [1, 'almanac: Release 2 is cancelled; it cannot be cancelled.\n'],
    );
    t.deepEqual(await published(database, 'B'), {});
  },
);

test.serial('a failed release gives the reason and states that nothing is stored', async (t) => {
  const file = fileOf('d.csv', 'series_id,date,value', 'A,2024-01-03,1');
  const accepted = await almanac(['ingest', 'observations', file, '--release-at', ends, '--json']);
  const { release } = documentOf(t, accepted) as { release: number };
  await database.query(`update data.series set series_id = 'Z' where series_id = 'A'`);
  await refreshSearch(database);
  const failed = await almanac(['releases', 'now', String(release)]);
  t.is(failed.code, 1);
  t.regex(failed.stderr, /Release \d+ has failed; nothing of it is stored\. 1 row is not valid/);
  t.regex((await almanac(['releases', 'list'])).stdout, new RegExp(`^${release} +failed`, 'm'));
  t.regex((await almanac(['check'])).stdout, /^releases +warning: .*1 failed/m);
  t.is((await almanac(['releases', 'cancel', String(release)])).code, 0);
});

test.serial('wrong arguments are refused with the list of allowed ones', async (t) => {
  const file = fileOf('w.csv', 'series_id,date,value', 'W,2024-01-01,1');
  const cases: [readonly string[], RegExp][] = [
    [
      ['--release-at', '2199-12-16T10:00:00'],
      /--release-at 2199-12-16T10:00:00: must be an instant with its offset, such as/,
    ],
    [['--release-at', '2020-12-16T10:00:00Z'], /is past .*: load the file without embargo/],
    [['--release-with', 'nothing'], /--release-with nothing: the calendar has no such entry\. Allowed: /],
    [['--release-at', ends, '--release-with', 'cpi'], /a release is due at one of them/],
    [['--release-at', ends, '--dry-run'], /--dry-run stores nothing/],
  ];
  for (const [words, message] of cases) {
    const { code, stderr } = await ingest(file, ...words);
    t.is(code, 2, stderr);
    t.regex(stderr, message);
  }
  for (const [words, message] of [
    [['other'], /unknown command 'other'/],
    [['show'], /missing required argument 'number'/],
    [['show', 'x'], /a release has a number, as "almanac releases list" shows it, not "x"/],
    [['now', '0'], /a release has a number/],
    [['now', '1', '2'], /too many arguments/],
    [['list', '1'], /too many arguments/],
  ] as const) {
    const { code, stderr } = await almanac(['releases', ...words]);
    t.is(code, 2, words.join(' '));
    t.regex(stderr, message);
  }
  const none = await almanac(['releases', 'show', '999']);
  t.deepEqual(
    [none.code, none.stderr],
    [1, 'almanac: There is no release 999: see "almanac releases list".\n'],
  );
});
