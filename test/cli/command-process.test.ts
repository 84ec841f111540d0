// A command as a separate process.
import { spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import test from 'ava';
import { openDatabase } from '../../kernel/database.ts';
import { projectRoot } from '../../kernel/project.ts';
import { published } from '../ingest/loading.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { ingestWords, settingsOf } from './terminal.ts';

const testDatabase = await createTestDatabase();
const database = openDatabase(testDatabase.url, silentLog, { applicationName: 'test' });
test.after.always(async () => {
  await database.close();
  await testDatabase.drop();
});
const settings = settingsOf(testDatabase.url);

test.serial(
  'as a process it takes words, environment and standard input, and ends with the code of its command',
  async (t) => {
    const directory = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
    const run = async (words: readonly string[], stdin: string) => {
      const child = spawn(process.execPath, [path.join(projectRoot, 'almanac.js'), ...words], {
        cwd: directory,
        env: { ...process.env, ...settings },
      });
      t.teardown(() => child.kill('SIGKILL'));
      const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
      child.stdin.end(stdin);
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
      return { code: await closed, stdout, stderr };
    };
    const words = ingestWords('-');
    const [done, wrong] = await Promise.all([
      run([...words, '--json'], 'series_id,date,value\nPIPED,2024-01-01,1\n'),
      run(['ingest', 'observations'], ''),
    ]);
    // Not concurrently with the first: a load that waits for another reports it on standard error.
    const failed = await run(words, 'series_id,date,value\nPIPED,2024-01-01,x\n');
    t.deepEqual([done.code, done.stderr], [0, '']);
    t.like(JSON.parse(done.stdout), { points_new: 1 });
    t.deepEqual(await published(database, 'PIPED'), { '2024-01-01': '1' });
    t.deepEqual([failed.code, failed.stdout], [1, '']);
    t.regex(failed.stderr, /line 2, value: "x"/);
    t.regex(readFileSync(path.join(directory, 'almanac-rejects.csv'), 'utf8'), /^line,.*\n2,value,x,/);
    t.deepEqual([wrong.code, wrong.stdout], [2, '']);
  },
);

test.serial('a command whose output nobody reads finishes its work', async (t) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  for (const name of ['UNREAD.A', 'UNREAD.B', 'UNREAD.C'])
    writeFileSync(path.join(directory, `${name}.csv`), `series_id,date,value\n${name},2024-01-31,1\n${name},2024-02-29,2\n`); // prettier-ignore
  const words = ['publish', directory, '--yes', '--set', 'unit=One', '--set', 'source=Tests'];
  const child = spawn(process.execPath, [path.join(projectRoot, 'almanac.js'), ...words], {
    env: { ...process.env, ...settings },
  });
  t.teardown(() => child.kill('SIGKILL'));
  child.stdout.destroy();
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  t.notRegex(await text(child.stderr), /EPIPE/);
  t.is(await closed, 0);
  for (const name of ['UNREAD.A', 'UNREAD.B', 'UNREAD.C'])
    t.deepEqual(await published(database, name), { '2024-01-31': '1', '2024-02-29': '2' });
});

test('a command whose result does not fit on the disk fails', async (t) => {
  const child = spawn(process.execPath, [path.join(projectRoot, 'almanac.js'), 'completion', 'bash'], {
    stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
  });
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  t.regex(
    child.stderr === null ? '' : await text(child.stderr),
    /^almanac: the output cannot be written: ENOSPC/,
  );
  t.is(await closed, 1);
});
