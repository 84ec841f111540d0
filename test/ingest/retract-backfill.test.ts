// After retractions, only the points that they concern are folded again.
import test from 'ava';
import { retract } from '../../ingest/history/retract/retract.ts';
import type { Database, Transaction } from '../../kernel/database.ts';
import { addDays } from '../../kernel/dates.ts';
import { fakeClock } from '../services/harness.ts';
import { daily, loadCsv, openIngestDatabase, published, today } from './loading.ts';
import { explaining, type Statement } from './plan-rows.ts';

const database = await openIngestDatabase(test);
const days = Array.from({ length: 20 }, (_, i) => addDays('2024-06-01', i));
const dates = Array.from({ length: 30 }, (_, i) => addDays('2024-01-01', i));

async function newest(): Promise<number> {
  const [row] = await database.query<{ load: number }>('select max(load_no) as load from data.loads');
  return row?.load ?? 0;
}

/** @returns the number of the load. */
async function loaded(
  id: string,
  points: readonly string[],
  options: Parameters<typeof loadCsv>[2],
): Promise<number> {
  const rows = points.map((point) => [id, ...point.split(' ')].join(','));
  await loadCsv(database, ['series_id,date,value', ...rows], { create: true, set: daily, ...options });
  return newest();
}

const retracted = (loadNo: number, day = today, on: Database = database, erase = false) =>
  retract(on, {
    ...{ loadNo, erase, seriesTimeZone: 'UTC', clock: fakeClock(`${day}T12:00:00Z`), noGateway: true },
  });

/** The number of pairs of a point and a day that the transaction has folded. */
async function foldedIn(on: Transaction): Promise<number> {
  const [made] = await on.query<{ is: boolean }>(
    `select to_regclass('pg_temp.fold_wanted') is not null as is`,
  );
  if (made?.is !== true) return 0;
  const [counted] = await on.query<{ rows: number }>('select count(*) as rows from fold_wanted');
  return counted?.rows ?? 0;
}

/** Loads an older vintage. @returns the number of folded pairs. */
async function backfilled(id: string, vintage: string): Promise<number> {
  let folded = NaN;
  await loaded(
    id,
    dates.map((date) => `${date} 7`),
    { vintage, inSameTransaction: async (on) => void (folded = await foldedIn(on)) },
  );
  return folded;
}

const ones = dates.map((date) => `${date} 1`);

test.before(async () => {
  for (const day of days) await retracted(await loaded('OTHER', ['2024-01-01 5'], { vintage: day }), day);
});

test.serial('a backfill folds nothing for retractions of other series', async (t) => {
  await loaded('ALONE', ones, { vintage: '2024-05-01' });
  t.is(await backfilled('ALONE', '2024-04-01'), 0);
});

test.serial(
  'a backfill folds each of its points once, and again on days of retractions that concern it',
  async (t) => {
    await loaded('TOUCHED', ones, { vintage: '2024-03-01' });
    for (const day of days)
      await retracted(await loaded('TOUCHED', [`${dates[0]} 5`], { vintage: day }), addDays(day, 1));
    const folded = await backfilled('TOUCHED', '2024-04-01');
    t.is(folded, dates.length + days.length + 1, 'the first point is stated or retracted on 21 days');
    const after = await published(database, 'TOUCHED');
    t.deepEqual(new Set(Object.values(after)), new Set(['7']));
  },
);

test.serial('an erasure folds its points on days of retractions that concern them', async (t) => {
  await loaded('ERASED', ones, { vintage: '2024-03-01' });
  const second = await loaded(
    'ERASED',
    dates.map((date) => `${date} 2`),
    { vintage: '2024-04-01' },
  );
  let folded = NaN;
  const counting: Database = {
    ...database,
    transaction: (work) =>
      database.transaction(async (on) => {
        const result = await work(on);
        folded = await foldedIn(on);
        return result;
      }),
  };
  await retracted(second, today, counting, true);
  t.is(folded, dates.length);
  t.deepEqual(new Set(Object.values(await published(database, 'ERASED'))), new Set(['1']));
});

const longDates = Array.from({ length: 300 }, (_, i) => addDays('2023-01-01', i));

/** Loads a file whose history spans retracted loads. @returns its statement with the most rows. */
async function largestOf(csv: readonly string[], vintage?: string): Promise<Statement> {
  await database.query('analyze');
  let largest: Statement = { rows: NaN, node: '', text: '' };
  const counting = explaining(database, (found) => void (largest = found));
  await loadCsv(counting, csv, { create: true, set: daily, ...(vintage === undefined ? {} : { vintage }) });
  return largest;
}

for (const [what, retractedDates] of [
  ['points that it does not have', [addDays('2023-01-01', 300)]],
  ['one of its points', longDates.slice(-1)],
] as const)
  test.serial(
    `a backfill never joins its points with all loads that were retracted since then: ${what}`,
    async (t) => {
      const id = what.replaceAll(' ', '-').toUpperCase();
      const all = (value: number) => [
        'series_id,date,value',
        ...longDates.map((date) => `${id},${date},${value}`),
      ];
      await loadCsv(database, all(1), { create: true, set: daily, vintage: '2024-03-01' });
      for (const day of days) {
        const points = [...retractedDates, addDays(day, -100)].map((date) => `${date} 1`);
        await retracted(await loaded(id, points, { vintage: day }), addDays(day, 1));
      }
      for (const vintage of ['2024-04-01', '2024-02-01']) {
        const { rows, node, text } = await largestOf(all(7), vintage);
        t.true(
          rows < 10 * (longDates.length + days.length),
          `at ${vintage} ${rows} rows in ${node}: ${text}`,
        );
      }
      t.deepEqual(new Set(Object.values(await published(database, id, '2024-05-31'))), new Set(['7']));
    },
  );

test.serial('a file of vintages never joins its series with retracted loads of others', async (t) => {
  const ids = Array.from({ length: 200 }, (_, i) => `MANY.${i}`);
  const all = (vintage: string) =>
    ids.flatMap((id) => [`${id},2024-01-01,1,${vintage}`, `${id},2024-01-02,1,${vintage}`]);
  const header = 'series_id,date,value,vintage';
  await loadCsv(database, [header, ...all('2024-03-01')], { create: true, set: daily });
  const { rows, node, text } = await largestOf([header, ...all('2024-04-01'), ...all('2024-02-01')]);
  t.true(rows < 10 * (2 * ids.length + days.length), `${rows} rows in ${node}: ${text}`);
});
