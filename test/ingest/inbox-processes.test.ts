// Publishers as separate processes that watch a folder: killed during a load, two at once, stopped; and their metrics.
import { mkdirSync, mkdtempSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { openDatabase } from '../../kernel/database.ts';
import { projectRoot } from '../../kernel/project.ts';
import { serviceUrl } from '../../migrations/roles.ts';
import { settingsOf } from '../cli/terminal.ts';
import { exempt } from '../openapi/check-answers.ts';
import { endChildren, startServing, type Child } from '../run/processes.ts';
import { until } from '../run/until.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { freePort } from '../services/instance.ts';
import { published } from './loading.ts';
import { csv, monthlySeries } from './watching.ts';

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

async function startPublisher(inbox: string, more: Record<string, string> = {}): Promise<Child> {
  const words = [path.join(projectRoot, 'almanac.js'), 'start', 'publisher'];
  return startServing(/publisher is running/, process.execPath, words, {
    name: 'publisher',
    env: { ...process.env, ...settings, IDENTITY_SECRET: '', LOG_LEVEL: 'info', INBOX_DIR: inbox, ...more },
  });
}

function folderOf(name: string): string {
  const inbox = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  writeFileSync(path.join(inbox, 'almanac.yml'), monthlySeries(name, '*.csv', name));
  return inbox;
}

/** Adds a file like another program: written under another name, then renamed. */
function put(inbox: string, name: string, text: string): void {
  writeFileSync(path.join(inbox, `.${name}`), text);
  renameSync(path.join(inbox, `.${name}`), path.join(inbox, name));
}

const namesIn = (inbox: string, folder: string) => {
  try {
    return readdirSync(path.join(inbox, folder));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []; // not created yet
    throw error;
  }
};

const loads = async (name: string) =>
  (await database.query('select from data.loads where source_name = $1', [name])).length;

for (const [what, signal, code] of [
  ['killed', 'SIGKILL', null],
  ['stopped', 'SIGTERM', 0],
] as const)
  test.serial(
    `a publisher ${what} while loading a file stores nothing of it, and others load it once`,
    async (t) => {
      const [id, file] = [what.toUpperCase(), `${what}.csv`];
      const inbox = folderOf(id);
      const mayGoOn = Promise.withResolvers<undefined>();
      const isBlocked = Promise.withResolvers<undefined>();
      const block = database.transaction(async (on) => {
        await on.query('lock table data.observations in access exclusive mode');
        isBlocked.resolve(undefined);
        await mayGoOn.promise;
      });
      await isBlocked.promise;
      put(inbox, file, csv(1, 2));
      const first = await startPublisher(inbox);
      await until('the load waits for the table', async () => {
        const rows = await database.query(
          `select from pg_stat_activity where datname = current_database() and application_name = 'almanac publisher' and wait_event = 'relation'`,
        );
        return rows.length > 0;
      });
      t.is(await first.end(signal), code, first.output());
      mayGoOn.resolve(undefined);
      await block;
      t.deepEqual(await published(database, id), {});
      t.deepEqual(namesIn(inbox, 'done'), []);
      t.is(namesIn(inbox, '.taken').length, 1);

      const both = await Promise.all([startPublisher(inbox), startPublisher(inbox)]);
      await until(
        'the file is done',
        () => namesIn(inbox, 'done').length > 0 && namesIn(inbox, '.taken').length === 0,
      );
      t.deepEqual(await published(database, id), { '2024-01-31': '1', '2024-02-29': '2' });
      t.is(await loads(file), 1);
      t.deepEqual(await Promise.all(both.map((each) => each.end('SIGTERM'))), [0, 0]);
      const output = both.map((each) => each.output()).join('');
      t.is(output.match(/"event":"inbox_loaded"/g)?.length, 1, output);
    },
  );

test.serial('a publisher serves the metrics of its folder, even while that is unavailable', async (t) => {
  const inbox = folderOf('FIGURES');
  const port = await freePort();
  const place = path.join(inbox, '.taken/2026-11-23T101500Z-0123abcd.0');
  mkdirSync(place, { recursive: true });
  writeFileSync(path.join(place, 'broken.csv'), csv('x'));
  const publisher = await startPublisher(inbox, { METRICS_PORT: String(port) });
  exempt(`http://127.0.0.1:${port}`);
  const metrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const counted = '\nalmanac_inbox_files_total{outcome="rejected"} 1\n';
  await until('the file is rejected', async () => (await metrics()).includes(counted));
  const text = await metrics();
  for (const line of ['almanac_inbox_up 1', 'almanac_inbox_waiting 0', 'almanac_inbox_rejected 1'])
    t.true(text.includes(`\n${line}\n`), text);
  renameSync(inbox, `${inbox}-away`);
  let away = '';
  // A scrape does not wait long for the folder: it may still report what an earlier one found.
  await until('it is reported', async () => (away = await metrics()).includes('\nalmanac_inbox_up 0\n'));
  t.notRegex(away, /^almanac_inbox_waiting /m);
  await until('it is logged', () => publisher.output().includes('INBOX_DIR cannot be read'));
  t.is(await publisher.end('SIGTERM'), 0);
});
