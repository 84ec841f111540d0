// almanac publish as a separate process, killed at any point of a folder of twenty files: each file is loaded completely or not at all, none is
// loaded twice, and the next run reaches the state of an undisturbed run.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { readDescription } from '../../ingest/entry/entry-file.ts';
import { openDatabase, type Database } from '../../kernel/database.ts';
import { projectRoot } from '../../kernel/project.ts';
import { createRandom } from '../chaos/random.ts';
import { endChildren, startChild, type Child } from '../run/processes.ts';
import { until } from '../run/until.ts';
import { settingsOf } from '../cli/terminal.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { published } from './loading.ts';

test.after.always(endChildren);

const files = 20;
const pointsOfFile = 24;
const seed = 7;
const killsMost = 5;

/** Twenty files: most have the same form, and every fifth has two series. */
function makeFolder(): string {
  const folder = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-test-')), 'many');
  mkdirSync(folder);
  const months = Array.from({ length: pointsOfFile }, (_, at) =>
    new Date(Date.UTC(2020, at, 1)).toISOString().slice(0, 10),
  );
  for (let file = 0; file < files; file++) {
    const isWide = file % 5 === 4;
    const rows = months.map((month, at) => `${month},${file + at}${isWide ? `,${file - at}.5` : ''}`);
    writeFileSync(
      path.join(folder, `part_${String(file).padStart(2, '0')}.csv`),
      [isWide ? 'Date,Buy,Sell' : 'Date,Rate', ...rows].join('\n'),
    );
  }
  return folder;
}

const pristine = makeFolder();

/** A folder with this name and only these files. */
function copyOfFolder(): string {
  const folder = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-test-')), 'many');
  cpSync(pristine, folder, { recursive: true });
  return folder;
}

/** A database, and a folder published into it. */
async function stage(t: ExecutionContext) {
  const testDatabase = await createTestDatabase();
  const database = openDatabase(testDatabase.url, silentLog, { applicationName: 'test' });
  t.teardown(async () => {
    await database.close();
    await testDatabase.drop();
  });
  const folder = copyOfFolder();
  const env = { ...process.env, ...settingsOf(testDatabase.url) };
  const start = () =>
    startChild(
      process.execPath,
      [
        path.join(projectRoot, 'almanac.js'),
        'publish',
        folder,
        '--yes',
        '--set',
        'unit=One',
        '--set',
        'source=Tests',
      ],
      { name: 'almanac publish', cwd: folder, env },
    );
  return { url: testDatabase.url, database, folder, start };
}

async function finish(t: ExecutionContext, child: Child): Promise<string> {
  t.is(await child.exit(), 0, child.output());
  return child.output();
}

/** The complete result of a run, without the parts that depend on its time. Load numbers may have gaps, like any sequence. */
async function stateOf(database: Database, folder: string): Promise<unknown> {
  return {
    points: await database.query(
      `select series_id, dims, date, value, status, superseded_on from data.observations
       join data.series_dims using (line_no) join data.series using (series_no) order by series_id, line_no, date`,
    ),
    series: await database.query(
      `select series_id, name, unit, frequency, source, first_date, last_date, observation_count from data.series order by series_id`,
    ),
    loads: await database.query(
      `select source_name, rows_read, points_new, points_revised, points_unchanged, points_deleted from data.loads order by load_no`,
    ),
    remembered: await database.query(
      `select path, sheet, encode(content_sha256, 'hex') as sha256, entry, l.source_name as loaded_by
       from data.published_files left join data.loads l using (load_no) order by path`,
    ),
    events: await database.query('select type, series from events.outbox order by series, type'),
    description: readFileSync(path.join(folder, 'almanac.yml'), 'utf8'),
    files: readdirSync(folder).toSorted(),
  };
}

/** Asserts that each file is loaded completely or not at all, and that almanac.yml is complete. @returns the number of loaded files. */
async function assertWholeFiles(t: ExecutionContext, database: Database, folder: string): Promise<number> {
  const remembered = await database.query<{ path: string }>('select path from data.published_files');
  const loads = await database.query<{ name: string }>('select source_name as name from data.loads');
  t.deepEqual(loads.map(({ name }) => name).toSorted(), remembered.map((row) => row.path).toSorted());
  const stored = await database.query<{ id: string }>('select series_id as id from data.series');
  t.deepEqual(
    stored.map(({ id }) => id).toSorted(),
    remembered.flatMap((row) => seriesOf(row.path)).toSorted(),
  );
  for (const { id } of stored) t.is(Object.keys(await published(database, id)).length, pointsOfFile, id);
  const description = readDescription(path.join(folder, 'almanac.yml'));
  t.is(description?.description.tables.length ?? 2, 2, 'an entry for each form of files');
  return remembered.length;
}

function seriesOf(file: string): string[] {
  const id = file.replace('.csv', '');
  return Number(id.slice(-2)) % 5 === 4 ? [`${id}.Buy`, `${id}.Sell`] : [id];
}

const gate = 4_711;

/**
 * Counts the statements of loads, or only their commits, across runs. The one with the number in killing.target waits, within its transaction, for a
 * lock of the test.
 */
async function countSteps(database: Database, of: 'all' | 'commits' = 'all'): Promise<void> {
  await database.query('create schema killing');
  await database.query('create sequence killing.steps');
  await database.query('create table killing.target (step bigint not null)');
  await database.query('insert into killing.target values (0)');
  await database.query(
    `create function killing.step() returns trigger language plpgsql as $$ begin
       if nextval('killing.steps') = (select step from killing.target) then
         perform pg_advisory_xact_lock(${gate});
       end if;
       return null;
     end $$`,
  );
  const tables = ['loads', 'series', 'series_dims', 'observations', 'vintages', 'published_files'];
  for (const table of of === 'all' ? [...tables.map((name) => `data.${name}`), 'events.outbox'] : [])
    await database.query(
      `create trigger killing after insert or update on ${table} for each statement execute function killing.step()`,
    );
  await database.query(
    `create constraint trigger killing_commit after insert on data.published_files deferrable initially deferred
     for each row execute function killing.step()`,
  );
}

async function stepsDone(database: Database): Promise<number> {
  const [row] = await database.query<{ steps: number }>(
    'select case when is_called then last_value else 0 end as steps from killing.steps',
  );
  return row?.steps ?? 0;
}

/** Kills a run that waits at a step. @returns false if it ended before the step. */
async function killAt(
  step: number,
  { url, database, start }: Pick<Awaited<ReturnType<typeof stage>>, 'url' | 'database' | 'start'>,
): Promise<boolean> {
  await database.query('update killing.target set step = $1', [step]);
  const blocking = new pg.Client({ connectionString: url });
  await blocking.connect();
  try {
    await blocking.query(`select pg_advisory_lock(${gate})`);
    const child = start();
    let hasEnded = false;
    void child.ended.then(() => (hasEnded = true));
    const connected = `select wait_event from pg_stat_activity
      where datname = current_database() and application_name = 'almanac publish'`;
    const waiting = async () =>
      (await database.query<{ wait_event: string | null }>(connected)).some(
        ({ wait_event }) => wait_event === 'advisory',
      );
    await until('the run waits at the step, or has ended', async () => hasEnded || (await waiting()));
    if (hasEnded) return false;
    await child.end('SIGKILL');
    await blocking.query(`select pg_advisory_unlock(${gate})`);
    await until('PostgreSQL has ended the load', async () => (await database.query(connected)).length === 0);
    return true;
  } finally {
    await blocking.end();
  }
}

test('a run that is killed at any statement or commit has loaded only complete files; later runs reach the state of an undisturbed one', async (t) => {
  const undisturbed = await stage(t);
  await countSteps(undisturbed.database);
  t.regex(await finish(t, undisturbed.start()), /^20 tables loaded, 0 unchanged$/m);
  const stepsOfRun = await stepsDone(undisturbed.database);
  t.true(stepsOfRun > files * 7, `${stepsOfRun} steps`);

  const killed = await stage(t);
  await countSteps(killed.database);
  const random = createRandom(seed);
  const loaded = [0];
  for (let kills = 0; kills < killsMost; kills++) {
    const step = (await stepsDone(killed.database)) + random.between(1, Math.floor(stepsOfRun / killsMost));
    if (!(await killAt(step, killed))) break;
    loaded.push(await assertWholeFiles(t, killed.database, killed.folder));
  }
  t.true(loaded.length >= 4, 'it was killed several times');
  t.deepEqual(
    loaded,
    loaded.toSorted((a, b) => a - b),
    'what was loaded stays',
  );
  const last = loaded.at(-1) ?? 0;
  t.true(last > 0 && last < files, String(loaded));
  await killed.database.query('update killing.target set step = 0');
  t.true((await finish(t, killed.start())).includes(`\n${files - last} tables loaded, ${last} unchanged\n`));
  t.deepEqual(
    await stateOf(killed.database, killed.folder),
    await stateOf(undisturbed.database, undisturbed.folder),
  );
});

test('a run killed during its commit has loaded the file if PostgreSQL has committed it, and the next run detects that', async (t) => {
  const killed = await stage(t);
  await countSteps(killed.database, 'commits');
  t.true(await killAt(7, killed), 'the commit of the seventh file');
  t.is(await assertWholeFiles(t, killed.database, killed.folder), 7);
  await killed.database.query('update killing.target set step = 0');
  t.regex(await finish(t, killed.start()), /^13 tables loaded, 7 unchanged$/m);
});

test('a run killed when almanac.yml appears has written it completely or not at all', async (t) => {
  const killed = await stage(t);
  const child = killed.start();
  await until('something is written', () => readdirSync(killed.folder).length > files);
  await child.end('SIGKILL');
  const description = path.join(killed.folder, 'almanac.yml');
  const before = existsSync(description) ? readFileSync(description, 'utf8') : null;
  await until(
    'PostgreSQL has ended the load',
    async () =>
      (
        await killed.database.query(
          "select from pg_stat_activity where datname = current_database() and application_name = 'almanac publish'",
        )
      ).length === 0,
  );
  await assertWholeFiles(t, killed.database, killed.folder);
  await finish(t, killed.start());
  t.is(await assertWholeFiles(t, killed.database, killed.folder), files);
  if (before !== null) t.is(readFileSync(description, 'utf8'), before, 'the entries are kept');
});
