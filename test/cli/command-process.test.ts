// A command as a separate process.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
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
