// Loads by separate processes, as from a laptop or a CronJob: killed at any moment, and two at once.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { projectRoot } from '../../kernel/project.ts';
import { openDatabase } from '../../kernel/database.ts';
import { endChildren, startChild } from '../run/processes.ts';
import { until } from '../run/until.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { commandLine, settingsOf } from '../cli/terminal.ts';
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
const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
const rows = 20_000;
const lines = ['date,value', ...Array.from({ length: rows }, (_, at) => `${dayOf(at)},${at}`)].map(
  (line) => `${line}\n`,
);

function dayOf(number: number): string {
  return new Date(Date.UTC(1950, 0, 1 + number)).toISOString().slice(0, 10);
}

function wordsOf(id: string, file: string): string[] {
  return [
    'ingest',
    'observations',
    file,
    '--create',
    '--set',
    `series_id=${id},frequency=daily,unit=One,source=Tests`,
  ];
}

/** The load as a separate process. */
function startIngest(id: string, file: string) {
  return startChild(process.execPath, [path.join(projectRoot, 'almanac.js'), ...wordsOf(id, file)], {
    name: 'almanac ingest',
    cwd: folder,
    env: { ...process.env, ...settings },
  });
}

/** The number of connections of loads, by state. */
async function loadsIn(state: 'any' | 'waiting for a lock on a table'): Promise<number> {
  const found = await database.query<{ loads: number }>(
    `select count(*)::integer as loads from pg_stat_activity where datname = current_database() and application_name = 'almanac ingest'
       and ($1 or (wait_event_type = 'Lock' and wait_event = 'relation'))`,
    [state === 'any'],
  );
  return found[0]?.loads ?? 0;
}

/** Asserts that nothing of a killed load remains once PostgreSQL has ended it. */
async function leavesNothing(t: ExecutionContext, id: string): Promise<void> {
  await until('PostgreSQL has ended the load', async () => (await loadsIn('any')) === 0);
  t.deepEqual(await published(database, id), {});
  t.deepEqual(await database.query('select from data.series where series_id = $1', [id]), []);
}

async function withOwner<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: testDatabase.url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function loadAgain(t: ExecutionContext, id: string): Promise<void> {
  const file = path.join(folder, `${id}.csv`);
  writeFileSync(file, lines.join(''));
  const again = await almanac(wordsOf(id, file));
  t.is(again.code, 0, again.stderr);
  t.regex(again.stdout, new RegExp(`^${rows} rows read: ${rows} new`));
  t.is(Object.keys(await published(database, id)).length, rows);
}

test.serial(
  'a load that is killed while reading its file leaves nothing behind, and can be repeated',
  async (t) => {
    const pipe = path.join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const child = startIngest('KILLED.READING', pipe);
    const input = await open(pipe, 'w');
    t.teardown(() => input.close());
    await input.write(lines.slice(0, rows / 2).join(''));
    await until('the load has begun', async () => (await loadsIn('any')) > 0);
    t.is(await child.end('SIGKILL'), null, child.output());
    await leavesNothing(t, 'KILLED.READING');
    await loadAgain(t, 'KILLED.READING');
  },
);

test.serial(
  'a load killed within a statement releases its lock at once, not at the end of the statement',
  async (t) => {
    const file = path.join(folder, 'stored.csv');
    writeFileSync(file, lines.join(''));
    await withOwner(async (blocking) => {
      await blocking.query('begin; lock table data.observations in access exclusive mode');
      const child = startIngest('KILLED.STORING', file);
      await until(
        'the load waits for the table',
        async () => (await loadsIn('waiting for a lock on a table')) > 0,
      );
      t.is(await child.end('SIGKILL'), null, child.output());
      await until('PostgreSQL has ended the load', async () => (await loadsIn('any')) === 0);
      await blocking.query('rollback');
    });
    await leavesNothing(t, 'KILLED.STORING');
    await loadAgain(t, 'KILLED.STORING');
  },
);

test.serial(
  'a load that begins during another one names the load that it waits for, and runs after it',
  async (t) => {
    const pipe = path.join(folder, 'slow');
    execFileSync('mkfifo', [pipe]);
    const first = startIngest('TURNS', pipe);
    const input = await open(pipe, 'w');
    await input.write('date,value\n2024-01-01,1\n');
    const lockQuery = "select from pg_locks where locktype = 'advisory' and objid = 4115202 and granted";
    await until('the first load has begun', async () => (await database.query(lockQuery)).length > 0);
    const file = path.join(folder, 'second.csv');
    writeFileSync(file, 'date,value\n2024-01-01,2\n2024-01-02,3\n');
    const second = startIngest('TURNS', file);
    await until('the second load says that it waits', () =>
      /^Another load has been running since \S+Z \(almanac ingest from 127\.0\.0\.1\); this one waits for it\.$/m.test(
        second.output(),
      ),
    );
    t.is(second.process.exitCode, null);
    await input.close();
    t.is(await first.exit(), 0, first.output());
    t.is(await second.exit(), 0, second.output());
    t.regex(second.output(), /2 rows read: 1 new, 1 revised/);
    t.deepEqual(await published(database, 'TURNS'), { '2024-01-01': '2', '2024-01-02': '3' });
  },
);
