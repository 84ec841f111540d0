// The words of `almanac ingest` that need no database.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import test from 'ava';
import { datasets } from '../../ingest/datasets.ts';

const almanac = path.join(import.meta.dirname, '../../almanac.ts');

function ingest(...words: string[]) {
  return spawnSync(process.execPath, [almanac, 'ingest', ...words], { encoding: 'utf8' });
}

test('--describe prints the columns of a dataset, their types and what is expected, and its key', (t) => {
  const { stdout, status } = ingest('--describe', 'commodity-cities');
  t.is(status, 0);
  const described = JSON.parse(stdout) as { key: string[]; columns: Record<string, unknown>[] };
  t.deepEqual(described.key, ['city_id']);
  t.deepEqual(described.columns[3], {
    name: 'latitude',
    type: 'number',
    required: false,
    meaning: 'degrees, north positive',
    expected: 'a number from -90 to 90',
  });
});

test('a dataset that does not exist, an unknown flag and a missing file are told with what there is, and exit with 2', (t) => {
  for (const [words, message] of [
    [['--describe', 'navs'], new RegExp(datasets.map(({ name }) => name).join(', '))],
    [['observations', 'x.csv', '--wider'], /--wider/],
    [['observations'], /takes a dataset and a file/],
    [['observations', 'x.csv', '--set', 'unit'], /--set takes name=value, not "unit"/],
    [['observations', 'x.csv', '--skip-rows', 'two'], /--skip-rows takes a whole number, not "two"/],
  ] as const) {
    const { stderr, status } = ingest(...words);
    t.regex(stderr, message);
    t.is(status, 2, words.join(' '));
  }
});
