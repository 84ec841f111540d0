import test from 'ava';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { openDatabase } from '../../kernel/database.ts';
import { entryAt } from '../../kernel/entries.ts';
import { addDays } from '../../kernel/dates.ts';
import { demoFiles } from '../../ingest/demo/demo.ts';
import type { DemoFile } from '../../ingest/demo/demo-file.ts';
import { loadDemo } from '../../ingest/demo/load-demo.ts';
import { createTestDatabase, fakeClock, silentLog } from '../services/harness.ts';
import { writtenEvents } from '../services/outbox.ts';

test('the demo loads without a refused row, loading it again changes nothing, and every file states that it is synthetic', async (t) => {
  const testDatabase = await createTestDatabase();
  const database = openDatabase(testDatabase.url, silentLog, {
    applicationName: 'test',
    statementTimeoutMs: 0,
  });
  const clock = fakeClock('2026-03-31T12:00:00Z');
  const loadAll = () => loadDemo(database, { clock, seriesTimeZone: 'UTC' });
  const first = await loadAll();
  t.true(
    first.every(
      ({ rowsRejected, pointsNew, pointsRevised }) => rowsRejected === 0 && pointsNew + pointsRevised > 0,
    ),
  );
  const events = await writtenEvents(database);
  t.true(events.length < 100, `${events.length} events of the first start`);
  const again = await loadAll();
  t.true(
    again.every(
      ({ pointsNew, pointsRevised, pointsDeleted }) => pointsNew + pointsRevised + pointsDeleted === 0,
    ),
  );
  t.is((await writtenEvents(database)).length, events.length);
  const sources = await database.query<{ source: string }>(
    'select source from data.series union select source from data.releases union select source from data.search_entries',
  );
  t.deepEqual(sources, [{ source: 'Almanac demo generator (synthetic)' }]);
  await database.close();
  await testDatabase.drop();
});

/** The values of a dataset, the columns that distinguish their series, and the largest step between two values. */
interface Walk {
  dataset: string;
  column: string;
  keys: readonly string[];
  least: number;
  most: number;
  /** The unit of a step: percent of the previous value, or points. */
  fall: number;
  rise: number;
  isInPoints?: boolean;
}

const observed = (id: string, bounds: Pick<Walk, 'least' | 'most' | 'fall' | 'rise' | 'isInPoints'>) => ({
  ...bounds,
  dataset: 'observations',
  column: 'value',
  keys: ['series_id', 'region', 'currency', 'side', 'vintage'],
  id,
});

const walks: (Walk & { id?: string })[] = [
  observed('DEMO.CPI', { least: 100, most: 250, fall: 0, rise: 0.8 }),
  observed('DEMO.GDP', { least: 390, most: 700, fall: 1, rise: 2 }),
  observed('DEMO.UNEMPLOYMENT', { least: 2, most: 12, fall: 0.21, rise: 0.21, isInPoints: true }),
  observed('DEMO.PAYROLLS', { least: 9_000, most: 14_000, fall: 2, rise: 2 }),
  observed('DEMO.EXPORTS', { least: 11, most: 61, fall: 35, rise: 52 }),
  observed('DEMO.POLICY-RATE', { least: 2, most: 12, fall: 0.5, rise: 0.5, isInPoints: true }),
  observed('DEMO.FX', { least: 0.7, most: 2, fall: 0.42, rise: 0.42 }),
  observed('DEMO.SHARE-INDEX', { least: 500, most: 6_000, fall: 2, rise: 2.1 }),
  ...[
    { dataset: 'commodity-prices', column: 'price', keys: ['item', 'city', 'price_type'] },
    { dataset: 'nav', column: 'units_outstanding', keys: ['fund'], most: 1e8 },
  ].map((walk) => ({ least: 1, most: 40, fall: 3, rise: 3, ...walk })),
  { dataset: 'nav', column: 'nav', keys: ['fund'], least: 5, most: 700, fall: 7, rise: 3 }, // falls by payouts
  { dataset: 'security-prices', column: 'price', keys: ['code'], least: 90, most: 110, fall: 0.5, rise: 0.5 },
  ...[
    { dataset: 'security-prices', column: 'yield_pct', keys: ['code'] },
    { dataset: 'auctions', column: 'cutoff_yield_pct', keys: ['instrument', 'tenor'] },
    { dataset: 'expenses', column: 'ter_pct', keys: ['fund'], least: 0.5, fall: 0.3, rise: 0.3 },
  ].map((walk) => ({ least: 4, most: 14, fall: 0.11, rise: 0.11, isInPoints: true, ...walk })),
];

type Row = Readonly<Record<string, string>>;
const rowsOf = (file: DemoFile) => parse([...file.lines()].join('\n'), { columns: true }) as Row[];

/** The implausible values of a file, and the number of checked values. */
function oddities(walk: Walk & { id?: string }, rows: readonly Row[]): { odd: string[]; values: number } {
  const before = new Map<string, number>();
  const odd: string[] = [];
  let values = 0;
  for (const row of rows) {
    if (row[walk.column] === '' || (walk.id !== undefined && row['series_id'] !== walk.id)) continue;
    const [key, value] = [walk.keys.map((name) => row[name] ?? '').join(' '), Number(row[walk.column])];
    const last = before.get(key) ?? value;
    const step = (value - last) * (walk.isInPoints === true ? 1 : 100 / last);
    const isPlausible =
      value >= walk.least && value <= walk.most && step >= -walk.fall - 1e-9 && step <= walk.rise + 1e-9;
    if (!isPlausible) odd.push(`${walk.column} of ${key}: ${last} → ${value}`);
    before.set(key, value);
    values += 1;
  }
  return { odd, values };
}

test('every demo series moves like real ones of its kind: no level and no step is absurd, now or in years', (t) => {
  const files = demoFiles('2032-12-31').map((file) => ({ ...file, rows: rowsOf(file) }));
  for (const walk of walks) {
    const found = files
      .filter(({ dataset }) => dataset === walk.dataset)
      .map(({ rows }) => oddities(walk, rows));
    t.deepEqual(
      found.flatMap(({ odd }) => odd),
      [],
      walk.id ?? walk.dataset,
    );
    t.true(found.some(({ values }) => values > 40));
  }
  for (const { rows } of files.filter(({ dataset }) => dataset === 'observations')) {
    const rates = rows.filter((row) => row['series_id'] === 'DEMO.FX').map((row) => Number(row['value']));
    for (let i = 0; i < rates.length; i += 2) t.true(entryAt(rates, i) < entryAt(rates, i + 1), 'buy < sell');
  }
});

test('on any day the newest month is a first estimate, off by at most a fifth of a percent; no earlier month is revised', (t) => {
  let revisions = 0;
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3_000 }), (days) => {
      const all = demoFiles(addDays('2024-06-01', days));
      // Two files of each vintage.
      const files = all.slice(
        1,
        all.findIndex(({ vintage }, i) => i > 0 && vintage === undefined),
      );
      for (const [i, file] of files.entries()) {
        const [older, newer] = [rowsOf(files[i - 2] ?? file), rowsOf(file)];
        const newest = older.at(-1)?.['date'];
        for (const [n, was] of older.entries()) {
          const [value, revised] = [Number(was['value']), Number(newer[n]?.['value'])];
          if (was['date'] !== newest) t.deepEqual(newer[n], was);
          else t.true(Math.abs(revised - value) < 0.0025 * value + 0.1, `${value} → ${revised}`);
          if (revised !== value) revisions += 1;
        }
        for (const walk of walks.filter(({ dataset }) => dataset === 'observations'))
          t.deepEqual(oddities(walk, newer).odd, []);
      }
    }),
    { numRuns: 10 },
  );
  t.true(revisions > 0);
});

test('on any day the demo has a vintage of every macro series that the guides ask for: 2026-09-30', (t) => {
  for (const today of ['2026-12-01', '2027-01-17', '2028-02-29', '2032-12-31']) {
    const first = demoFiles(today).filter(({ vintage }) => vintage !== undefined && vintage <= '2026-09-30');
    const rows = first.flatMap(rowsOf);
    for (const id of ['DEMO.CPI', 'DEMO.GDP', 'DEMO.UNEMPLOYMENT', 'DEMO.EXPORTS'])
      t.true(
        rows.some((row) => row['series_id'] === id && (row['date'] ?? '') > '2026'),
        `${id} on ${today}`,
      );
  }
});

test('the revised demo series has two years of vintages, more upward than downward revisions of first prints, and converges', (t) => {
  const rows = demoFiles('2026-03-31').flatMap((file) =>
    rowsOf(file).filter((row) => row['series_id'] === 'DEMO.PAYROLLS' && row['vintage'] !== undefined),
  );
  const vintages = [...new Set(rows.map((row) => row['vintage'] ?? ''))];
  t.is(vintages.length, 24);
  t.deepEqual(vintages, vintages.toSorted());
  const first = new Map<string, number>();
  const last = new Map<string, number>();
  for (const { date = '', value } of rows) {
    if (!first.has(date)) first.set(date, Number(value));
    last.set(date, Number(value));
  }
  const changes = [...last].slice(-23).map(([date, value]) => value - (first.get(date) ?? value));
  t.true(changes.filter((change) => change > 0).length > changes.length / 2);
  t.true(changes.filter((change) => change !== 0).length > 18);
  t.is(last.get('2019-01-31'), first.get('2019-01-31'));
});

test('on any day every release of the calendar before it has its figures, first published on its day', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3_000 }), (days) => {
      const today = addDays('2024-06-01', days);
      const files = demoFiles(today);
      const releases = rowsOf(files.find(({ dataset }) => dataset === 'calendar') ?? entryAt(files, 0));
      const past = releases.filter(({ release_at: at = '' }) => at.slice(0, 10) < today);
      t.true(past.length >= 6);
      for (const { release_at: at = '', reference_period: period = '', series_ids: ids = '' } of past) {
        for (const id of ids.split(';')) {
          const first = files.find((file) =>
            rowsOf(file).some((row) => row['series_id'] === id && row['date']?.startsWith(period)),
          );
          t.is(first?.vintage, at.slice(0, 10), `${id} of ${period}, on ${today}`);
        }
      }
    }),
    { numRuns: 20 },
  );
});
