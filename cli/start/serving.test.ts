import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import test from 'ava';
import { noteServing, servingOf } from './serving.ts';

test('the record of a process is read while the process runs, and is removed by it', (t) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  t.is(servingOf(directory), undefined);
  t.is(servingOf(path.join(directory, 'missing')), undefined);
  const url = 'http://127.0.0.1:8080';
  const remove = noteServing(directory, { url, pid: process.pid });
  t.deepEqual(servingOf(directory), { url, pid: process.pid });
  remove();
  t.deepEqual(readdirSync(directory), []);

  const { pid } = spawnSync(process.execPath, ['--eval', '0']);
  noteServing(directory, { url, pid });
  t.is(servingOf(directory), undefined, 'of a killed process');
  for (const text of ['', '{"url":', '{}', '{"url":1,"pid":1}']) {
    writeFileSync(path.join(directory, 'serving.json'), text);
    t.is(servingOf(directory), undefined, text);
  }
});
