// Names and values from untrusted input in the output of commands: a terminal shows them and executes no control sequence in them.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { createTestDatabase } from '../services/harness.ts';
import { commandLine, settingsOf } from './terminal.ts';

const testDatabase = await createTestDatabase();
test.after.always(() => testDatabase.drop());
const almanac = commandLine(settingsOf(testDatabase.url));
const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));

test('control characters in file names and cells never reach the terminal', async (t) => {
  const name = 'a\u001b[2J\u009b1m\u202e.csv';
  const file = path.join(folder, name);
  const ingest = ['ingest', 'observations', file, '--create', '--set', 'frequency=daily,unit=One,source=T'];
  ingest.push('--report', path.join(folder, 'rejects.csv'));
  const outputs: string[] = [];
  const run = async (words: string[], code = 0) => {
    const ran = await almanac(words);
    t.is(ran.code, code, ran.stderr);
    outputs.push(ran.stdout + ran.stderr);
    return ran.stdout;
  };
  writeFileSync(file, `series_id,date,value\nA,2024-01-01,\u001b]0;${'x'.repeat(300)}\u0007\n`);
  await run(ingest, 1);
  writeFileSync(file, 'series_id,date,value\nA,2024-01-01,1\n');
  await run(ingest);
  await run(['loads', 'list']);
  t.true((await run(['loads', 'show', '2'])).includes('a\\u001b[2J\\u009b1m\\u202e.csv'));
  const { source_name: source } = JSON.parse(await run(['loads', 'show', '2', '--json'])) as {
    source_name: string;
  };
  t.is(source, file, 'which JSON reads as it was');
  await run(['ingest', 'observations', path.join(folder, 'b\u001b[2J.csv')], 1);
  for (const output of outputs)
    // oxlint-disable-next-line no-control-regex -- none may reach the terminal
    t.notRegex(output, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
});
