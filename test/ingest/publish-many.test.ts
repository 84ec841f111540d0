// almanac publish as a process of its own, killed while it loads a folder: the file under way has left nothing, and the next run continues.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import pg from 'pg';
import { openDatabase } from '../../kernel/database.ts';
import { projectRoot } from '../../kernel/settings.ts';
import { endChildren, startChild } from '../run/processes.ts';
import { until } from '../run/until.ts';
import { commandLine, settingsOf } from '../cli/terminal.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { published } from './loading.ts';

const testDatabase = await createTestDatabase();
const database = openDatabase(testDatabase.url, silentLog, { applicationName: 'test' });
test.after.always(async () => {
  await endChildren();
  await database.close();
  await testDatabase.drop();
});
const settings = settingsOf(testDatabase.url);
const almanac = commandLine(settings);

const folder = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-test-')), 'many');
mkdirSync(folder);
const files = 12;
for (let file = 0; file < files; file++)
  writeFileSync(
    path.join(folder, `part_${String(file).padStart(2, '0')}.csv`),
    [
      'Date,Rate',
      ...Array.from(
        { length: 24 },
        (_, at) => `${2020 + Math.floor(at / 12)}-${String((at % 12) + 1).padStart(2, '0')}-01,${file + at}`,
      ),
    ].join('\n'),
  );
const words = ['publish', folder, '--yes'];

const remembered = async (): Promise<string[]> =>
  (await database.query<{ path: string }>('select path from data.published_files order by path')).map(
    (row) => row.path,
  );

test.serial(
  'a run that is killed has loaded whole files and nothing of the one under way; the next run loads the rest',
  async (t) => {
    const blocking = new pg.Client({ connectionString: testDatabase.url });
    await blocking.connect();
    try {
      // The seventh file waits where it is remembered: its points are stored, and not committed.
      await blocking.query(
        `begin; insert into data.published_files (publication, path, sheet, content_sha256, entry)
       values ('many', 'part_06.csv', '', decode(repeat('00', 32), 'hex'), '{}')`,
      );
      const child = startChild(process.execPath, [path.join(projectRoot, 'almanac.js'), ...words], {
        name: 'almanac publish',
        cwd: folder,
        env: { ...process.env, ...settings },
      });
      const waiting = `select from pg_stat_activity where datname = current_database()
      and application_name = 'almanac publish' and wait_event_type = 'Lock'`;
      await until('the seventh file waits', async () => (await database.query(waiting)).length > 0);
      t.is(await child.end('SIGKILL'), null, child.output());
      const running =
        "select from pg_stat_activity where datname = current_database() and application_name = 'almanac publish'";
      await until('PostgreSQL has ended the load', async () => (await database.query(running)).length === 0);
      await blocking.query('rollback');
    } finally {
      await blocking.end();
    }
    t.deepEqual(
      await remembered(),
      ['00', '01', '02', '03', '04', '05'].map((number) => `part_${number}.csv`),
    );
    t.is(Object.keys(await published(database, 'part_05')).length, 24);
    t.deepEqual(await published(database, 'part_06'), {});
    t.deepEqual(await database.query(`select from data.series where series_id = 'part_06'`), []);

    const again = await almanac(words);
    t.is(again.code, 0, again.stderr);
    t.regex(again.stdout, /6 tables loaded, 6 unchanged\n/);
    t.is((await remembered()).length, files);
    t.is((await published(database, 'part_11'))['2021-12-31'], String(11 + 23));
  },
);
