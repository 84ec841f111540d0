// docs/asvs.md has a line for each requirement of OWASP ASVS 5.0.0 of levels 1 and 2, and the tests that it names exist.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { projectRoot } from '../../kernel/project.ts';

const page = readFileSync(path.join(projectRoot, 'docs/asvs.md'), 'utf8');
const rows = [...page.matchAll(/^\| ([\d., ]+) \| (.+) \|$/gm)].map(([, numbers = '', rest = '']) => ({
  numbers: numbers.split(', '),
  cells: rest.split(' | '),
}));

/** By section, the numbers of its requirements of levels 1 and 2 in version 5.0.0, from 1. */
const requirements: Readonly<Record<string, number>> = {
  ...{ '1.1': 2, '1.2': 9, '1.3': 11, '1.4': 3, '1.5': 2, '2.1': 3, '2.2': 3, '2.3': 4, '2.4': 1 },
  ...{ '3.2': 2, '3.3': 4, '3.4': 6, '3.5': 5, '3.7': 2, '4.1': 3, '4.2': 1, '4.3': 2, '4.4': 4 },
  ...{ '5.1': 1, '5.2': 3, '5.3': 2, '5.4': 3, '6.1': 3, '6.2': 12, '6.3': 4, '6.4': 4, '6.5': 5 },
  ...{ '6.6': 3, '6.8': 4, '7.1': 3, '7.2': 4, '7.3': 2, '7.4': 5, '7.5': 2, '7.6': 2, '8.1': 2 },
  ...{ '8.2': 3, '8.3': 1, '8.4': 1, '9.1': 3, '9.2': 4, '10.1': 2, '10.2': 2, '10.3': 4, '10.4': 11 },
  ...{ '10.5': 5, '10.6': 2, '10.7': 3, '11.1': 2, '11.2': 3, '11.3': 3, '11.4': 4, '11.5': 1, '11.6': 1 },
  ...{ '12.1': 3, '12.2': 2, '12.3': 4, '13.1': 1, '13.2': 5, '13.3': 2, '13.4': 5, '14.1': 2, '14.2': 4 },
  ...{ '14.3': 3, '15.1': 3, '15.2': 3, '15.3': 7, '16.1': 1, '16.2': 5, '16.3': 4, '16.4': 3, '16.5': 3 },
  ...{ '17.1': 1, '17.2': 4, '17.3': 2 },
};

test('each requirement of levels 1 and 2 has exactly one line', (t) => {
  const expected = Object.entries(requirements).flatMap(([section, count]) =>
    Array.from({ length: count }, (_, i) => `${section}.${i + 1}`),
  );
  const listed = rows.flatMap(({ numbers }) => numbers);
  t.deepEqual(listed.toSorted(), expected.toSorted());
});

test('what is met names a test or a page, and the counts are those of the lines', (t) => {
  const assessed = rows.filter(({ cells }) => cells.length === 3);
  for (const { numbers, cells } of assessed) {
    t.regex(cells[1] ?? '', /^(?:yes|partly|no)$/, numbers.join());
    t.true((cells[2] ?? '').length > 0, numbers.join());
  }
  const count = (met: string) => assessed.filter(({ cells }) => cells[1] === met).length;
  const inapplicable = rows
    .filter(({ cells }) => cells.length === 1)
    .flatMap(({ numbers }) => numbers).length;
  const total = assessed.length + inapplicable;
  t.true(
    page.includes(
      `| ${total} requirements | ${count('yes')} | ${count('partly')} | ${count('no')} | ${inapplicable} |`,
    ),
  );
});

test('every file that the page names exists', (t) => {
  const files = new Set([...page.matchAll(/`([\w./-]+\.ts)`/g)].map(([, file = '']) => file));
  t.true(files.size > 80);
  for (const file of files) t.true(existsSync(path.join(projectRoot, file)), file);
});
