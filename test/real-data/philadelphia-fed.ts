// The Philadelphia Fed's real-time data: four matrices of 234 vintages each, converted by examples/converters and loaded with --full.
// The check compares with the cells of the matrix; published facts confirm that those are read correctly.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  longLines,
  readVintageMatrix,
  type VintageMatrix,
} from '../../examples/converters/vintage-matrix.ts';
import { ingest, json, points } from './answers.ts';
import { changes, endOfPeriod, oneLine, type Changes } from './published-files.ts';
import type { Check } from './run.ts';
import { comparePublished, compareTransforms, type Frequency, type History } from './transforms.ts';
import { compareTriangle } from './vintages/triangles.ts';

interface Matrix {
  file: string;
  id: string;
  frequency: Frequency;
  unit: string;
}

const matrices: readonly Matrix[] = [
  { file: 'ROUTPUTQvQd.xlsx', id: 'RTDSM.ROUTPUT', frequency: 'quarterly', unit: 'Billions of real dollars' },
  { file: 'RCONQvQd.xlsx', id: 'RTDSM.RCON', frequency: 'quarterly', unit: 'Billions of real dollars' },
  { file: 'cpiQvMd.xlsx', id: 'RTDSM.CPI', frequency: 'monthly', unit: 'Index' },
  { file: 'rucQvMd.xlsx', id: 'RTDSM.RUC', frequency: 'monthly', unit: '%' },
];

/** This many vintages of each are compared in full, from the first to the last. */
const vintagesCompared = 13;

export async function checkPhiladelphiaFed({ instance, folder, seen }: Check): Promise<void> {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-real-data-'));
  try {
    let cells = 0;
    for (const matrix of matrices) {
      const { id, frequency, unit } = matrix;
      const published = readVintageMatrix(path.join(folder, '03_vintages_philly_rtdsm', matrix.file));
      assert.equal(published.vintages.length, 234);
      const file = path.join(directory, `${id}.csv`);
      writeFileSync(file, [...longLines(published)].join(''));
      const set = { series_id: id, frequency, unit, source: 'Federal Reserve Bank of Philadelphia' };
      const started = performance.now();
      const loaded = await ingest(instance, 'observations', file, { full: true, create: true, set });
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      cells += loaded.rows_read;
      seen(`${loaded.rows_read} cells of 234 vintages of ${id} load in one file in ${seconds} s`);
      await checkMatrix(instance, matrix, published, seen);
      const compared = await compareTriangle(instance, id);
      seen(
        `the ${compared.cells} cells of the triangle of ${id} are the answers of its ${compared.vintages} vintages`,
      );
    }
    assert.equal(Math.round(cells / 1000), 309);
  } finally {
    rmSync(directory, { recursive: true });
  }

  for (const [vintage, value] of [
    ['2008-11-15', 11720],
    ['2009-02-14', 11720], // the day before the next vintage
    ['2009-02-15', 11712.4],
    ['2009-08-15', 13324.6],
    ['2024-02-15', 16854.3],
  ]) {
    const target = `/v1/series/RTDSM.ROUTPUT?from=2008-Q3&to=2008-Q3&vintage=${vintage}`;
    assert.deepEqual(await points(instance, target), [{ date: '2008-09-30', value, dims: {} }]);
    seen(`real output of 2008-Q3 as of ${vintage} is ${value}`);
  }
}

async function checkMatrix(
  instance: Check['instance'],
  { id, frequency }: Matrix,
  matrix: VintageMatrix,
  seen: Check['seen'],
): Promise<void> {
  const dates = matrix.periods.map((period) => dateOf(period));
  const histories = matrix.vintages.map(
    ({ values }): History =>
      new Map(values.flatMap((value, i) => (value === '' ? [] : [[dates[i] ?? '', value]]))),
  );

  const { data } = (await json(instance, `/v1/series/${id}/vintages?limit=1000`)) as {
    data: (Changes & { vintage: string; loaded_at: string })[];
  };
  const wanted = matrix.vintages.map(({ day }, i) => ({
    vintage: day,
    ...changes(histories[i - 1] ?? new Map(), histories[i] ?? new Map()),
  }));
  assert.deepEqual(
    data.map(({ loaded_at: _at, ...counts }) => counts),
    wanted.filter((counts) => counts.points_new + counts.points_revised + counts.points_deleted > 0),
  );
  const revised = wanted.reduce((sum, { points_revised }) => sum + points_revised, 0);
  seen(`${data.length} vintages of ${id} report what is new, revised (${revised} cells) and deleted in each`);

  let [compared, transformed] = [0, 0];
  for (let n = 0; n < vintagesCompared; n += 1) {
    const at = Math.round((n * (histories.length - 1)) / (vintagesCompared - 1));
    const series = { id, frequency, lines: oneLine(histories[at] ?? []) };
    const query = `&vintage=${matrix.vintages[at]?.day}`;
    compared += await comparePublished(instance, series, query);
    if (n % 4 === 0) transformed += await compareTransforms(instance, [series], query);
  }
  seen(`${compared} values of ${vintagesCompared} vintages of ${id} are those of the matrix`);
  seen(`${transformed} transformed values of 4 vintages of ${id} are computed within their vintage`);

  const first = new Map<string, string>();
  for (const history of histories)
    for (const [date, value] of history) if (!first.has(date)) first.set(date, value);
  await comparePublished(instance, { id, frequency, lines: oneLine(first) }, '&release=first');
  seen(`release=first gives all ${first.size} periods of ${id} as first published`);
}

/** `1947-Q1` is 1947-03-31, `1947-01` 1947-01-31. */
function dateOf(period: string): string {
  const [year = '', part = ''] = period.split('-');
  return part.startsWith('Q')
    ? endOfPeriod(`${year}-${Number(part.slice(1)) * 3}`, 3)
    : endOfPeriod(period, 1);
}
