// docs/security.md names the tests of every attack; this checks that they exist.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { projectRoot } from '../kernel/project.ts';

const page = readFileSync(path.join(projectRoot, 'docs/security.md'), 'utf8');
const rows = [...page.matchAll(/^\| (\d+) \| [^|]+ \| (.+) \|$/gm)].map(([, number, tests]) => ({
  number: Number(number),
  tests: testsIn(tests ?? ''),
}));

/** `file` `title`; `title of the same file`; … */
function testsIn(cell: string): { file: string; title: string }[] {
  const found: { file: string; title: string }[] = [];
  let file = '';
  for (const [, quoted = ''] of cell.matchAll(/`([^`]+)`/g)) {
    if (quoted.endsWith('.test.ts')) file = quoted;
    else found.push({ file, title: quoted });
  }
  return found;
}

/** The titles of a test file, as they are in it. */
function titlesOf(file: string): string[] {
  const source = readFileSync(path.join(projectRoot, file), 'utf8');
  const titles = source.matchAll(/^\s*test(?:\.serial)?\(\s*(['"`])((?:\\.|(?!\1).)*)\1/gm);
  return [...titles].map(([, , title = '']) => title.replaceAll(/\\(['"])/g, '$1'));
}

test('each attack of the list that is ours has a row with at least one test', (t) => {
  const ours = Array.from({ length: 35 }, (_, i) => i + 1);
  t.deepEqual(
    rows.map(({ number }) => number),
    ours,
  );
  for (const { number, tests } of rows) t.true(tests.length > 0, String(number));
});

test('every test that docs/security.md names exists under that name', (t) => {
  for (const { number, tests } of rows) {
    for (const { file, title } of tests) {
      t.true(existsSync(path.join(projectRoot, file)), `${number}: ${file}`);
      t.true(titlesOf(file).includes(title), `${number}: ${file} has no test "${title}"`);
    }
  }
});
