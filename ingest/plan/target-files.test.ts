// The files of a folder to publish, as a user sees them who may not read everything in it.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import type { TargetFiles } from './target-files.ts';

// Root may read everything, so it becomes nobody first.
const program = `
const { filesOf } = await import(${JSON.stringify(path.join(import.meta.dirname, 'target-files.ts'))});
if (process.getuid() === 0) process.setuid(65534);
for (const target of process.argv.slice(1)) {
  try {
    console.log(JSON.stringify(filesOf(target)));
  } catch (error) {
    console.log(JSON.stringify({ refused: error.message }));
  }
}`;

test('a folder that may not be read is refused, and one below it is reported beside the files that can be read', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  const closed = path.join(folder, 'closed');
  mkdirSync(path.join(folder, 'open'));
  mkdirSync(closed);
  for (const file of ['open/a.csv', 'closed/b.csv']) writeFileSync(path.join(folder, file), 'Date,Rate\n');
  chmodSync(folder, 0o755);
  chmodSync(closed, 0o300);
  t.teardown(() => chmodSync(closed, 0o700));
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', program, folder, closed], {
    encoding: 'utf8',
  });
  const [whole, refused] = printed
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Partial<TargetFiles> & { refused?: string });
  t.deepEqual(whole?.paths, ['open/a.csv']);
  t.deepEqual(
    whole?.closed?.map((each) => each.path),
    ['closed'],
  );
  t.regex(whole?.closed?.[0]?.reason ?? '', /may not read it\. Change its permissions/);
  t.regex(refused?.refused ?? '', /closed cannot be read\. The user who runs Almanac may not read it/);
});
