// The preview of a file shows what its load stores. Each offered reading is a real one: the file can be read that way, and the result
// differs.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import type { TableDescription } from '../../ingest/entry/entry-schema.ts';
import { tableSchema } from '../../ingest/entry/entry-schema.ts';
import { inspectTable } from '../../ingest/preview/inspect.ts';
import { changed, valuesAt } from '../../ingest/entry/resolve-guesses.ts';
import { openDatabase } from '../../kernel/database.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import type { StoredSeries } from './compare.ts';
import { officeFile } from './generate.ts';
import { published, today } from './publishing.ts';

const testDatabase = await createTestDatabase();
const database = openDatabase(testDatabase.url, silentLog, { applicationName: 'test' });
test.after.always(async () => {
  await database.close();
  await testDatabase.drop();
});

const seeds = Array.from({ length: Number(process.env['PREVIEW_SEEDS'] ?? 40) }, (_, seed) => 7_000 + seed);

const placeOf = (series: string, dims: Readonly<Record<string, string>>, date: string) =>
  JSON.stringify([series, Object.entries(dims).toSorted(), date]);

function pointsOf(stored: readonly StoredSeries[]): Map<string, string> {
  return new Map(
    stored.flatMap(({ id, dims, points }) =>
      points.map(({ date, value, status }) => [
        placeOf(id, dims, date),
        `${value ?? 'missing'} ${status ?? ''}`,
      ]),
    ),
  );
}

test('a preview shows the points that the load stores, counts all points, and shows as refused exactly what the load refuses', async (t) => {
  let compared = 0;
  for (const seed of seeds) {
    const file = officeFile(seed);
    const { stored, shown, reasons } = await published(database, file);
    const tables = shown.filter(({ entry }) => entry.skip === undefined);
    // Of several vintages of a point only the last is compared.
    const hasVintages = tables.some(
      ({ entry: { vintage } }) => typeof vintage === 'object' && 'column' in vintage,
    );
    const points = pointsOf(stored);
    let count = 0;
    for (const { inspected } of tables) {
      if (inspected === undefined) {
        t.fail(`seed ${seed}: nothing is shown`);
        continue;
      }
      const { preview } = inspected;
      count += preview.points_read;
      const isRefused = preview.refused_count > 0 || preview.fault !== null;
      if (tables.length === 1 && preview.is_whole)
        t.is(isRefused, stored.length === 0, `seed ${seed}: ${reasons.join()}`);
      if (isRefused) continue;
      t.true(preview.points.length > 0, `seed ${seed}`);
      for (const { series, dims, date, value, status } of hasVintages ? [] : preview.points) {
        compared++;
        t.is(
          points.get(placeOf(series, dims, date)),
          `${value ?? 'missing'} ${status ?? ''}`,
          `seed ${seed} ${date}`,
        );
      }
    }
    if (stored.length > 0 && reasons.length === 0 && !hasVintages)
      t.is(count, points.size, `seed ${seed}: points that were counted`);
  }
  t.true(compared > seeds.length * 3, 'most files can be compared');
});

test('the first option of a choice is the value in the entry; every other option is another reading of the file', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  let tried = 0;
  try {
    for (const seed of seeds) {
      const { name, content } = officeFile(seed);
      const { shown } = await published(database, { name, content });
      const file = path.join(folder, name);
      writeFileSync(file, content);
      for (const { entry, inspected } of shown) {
        for (const { key, options } of inspected?.choices ?? []) {
          const what = `seed ${seed}, ${key}`;
          const [now, ...others] = options;
          if (now !== undefined) t.deepEqual(valuesAt(entry, [now.set]), now.set, what);
          const before = await shownBy(entry, name, file);
          for (const { label, set } of others) {
            tried++;
            const updated = changed(entry, set);
            t.true(tableSchema.safeParse(updated).success, `${what}: ${label}`);
            t.not(await shownBy(updated, name, file), before, `${what}: ${label} reads the file as before`);
            t.deepEqual(changed(updated, now?.set ?? {}), entry, `${what}: ${label} cannot be taken back`);
          }
        }
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  t.true(tried > 5, 'choices are offered');
});

/** The rows and facts that identify a reading. */
async function shownBy(entry: TableDescription, name: string, file: string): Promise<string> {
  const { preview } = await inspectTable({ entry, path: name, file, today });
  return JSON.stringify([preview, entry.series]);
}
