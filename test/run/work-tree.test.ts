// A test run reports the files that its tests leave in the project.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { leftInWorkTree, workTreeOf } from './work-tree.ts';

function makeRepository(t: { teardown(work: () => void): void }): {
  directory: string;
  git: (...words: string[]) => void;
} {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  return { directory, git: (...words) => void execFileSync('git', words, { cwd: directory }) };
}

test('new and changed files are named, earlier and ignored ones are not', (t) => {
  const { directory, git } = makeRepository(t);
  const write = (name: string, text: string) => writeFileSync(path.join(directory, name), text);
  git('init', '--quiet');
  write('source.ts', '1');
  write('earlier.csv', '1');
  write('.gitignore', '*.log');
  mkdirSync(path.join(directory, 'sub'));
  git('add', 'source.ts', '.gitignore');
  const before = workTreeOf(directory);
  t.deepEqual(leftInWorkTree(directory, before), []);
  write('source.ts', '2');
  write('sub/almanac-rejects.csv', 'line');
  write('earlier.csv', '2');
  write('a.log', 'line');
  t.deepEqual(leftInWorkTree(directory, before).toSorted(), ['?? sub/almanac-rejects.csv', 'AM source.ts']);
});

test('a folder that is not a repository has no files to report', (t) => {
  const { directory } = makeRepository(t);
  t.is(workTreeOf(directory), null);
  t.deepEqual(leftInWorkTree(directory, null), []);
});
