import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { samplesOf } from './table-rows.ts';

async function sampleOf(rows: number, columns: number) {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-test-')), 'table.csv');
  const row = Array.from({ length: columns }, () => '12345678').join(',');
  writeFileSync(file, Array.from({ length: rows }, () => row).join('\n'));
  const [first] = await samplesOf(file);
  return first?.sample;
}

test('a sample has the first rows, some in between and the last; it is smaller for a table with many columns', async (t) => {
  const whole = await sampleOf(50_000, 2);
  t.is(whole?.rows.length, 50_000);
  t.true(whole?.isWhole);
  const long = await sampleOf(50_001, 2);
  t.deepEqual([long?.rows.length, long?.lines.at(-1), long?.isWhole], [50_001, 50_001, false]);
  const longer = await sampleOf(400_000, 2);
  t.false(longer?.isWhole);
  t.is(longer?.lines.at(-1), 400_000);
  t.is(new Set(longer?.lines).size, longer?.lines.length ?? -1, 'no line twice');
  t.true((longer?.rows.length ?? 0) < 57_000);
  t.true(longer?.lines.some((line) => (line ?? 0) > 200_000 && (line ?? 0) < 300_000));
  const wide = await sampleOf(6_000, 300); // 43 million characters including the overhead of each cell
  t.false(wide?.isWhole);
  t.true((wide?.rows.length ?? 0) > 3_000 && (wide?.rows.length ?? 0) < 6_000, String(wide?.rows.length));
  t.is(wide?.lines.length, wide?.rows.length);
});
