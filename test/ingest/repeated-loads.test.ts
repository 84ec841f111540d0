// Loads that repeat others, completely or in part: a statement of a load counts until that load is retracted, whichever load stated it first.
import test from 'ava';
import { retract } from '../../ingest/history/retract/retract.ts';
import { datasetNamed, datasetNames } from '../../ingest/datasets/datasets.ts';
import type { LoadOptions } from '../../ingest/load/store/load-options.ts';
import { fakeClock } from '../services/harness.ts';
import { addDays } from '../../kernel/dates.ts';
import { daily, loadCsv, openIngestDatabase, published, today } from './loading.ts';

const database = await openIngestDatabase(test);
const tomorrow = '2024-07-01';

type Load = (id: string) => Promise<unknown>;

/** Rows `date value vintage`. */
const archived =
  (rows: readonly string[], options: Partial<LoadOptions> = {}): Load =>
  (id) =>
    loadCsv(
      database,
      ['series_id,date,value,vintage', ...rows.map((row) => [id, ...row.split(' ')].join(','))],
      { create: true, set: daily, ...options },
    );

/** Rows `date value`, of one vintage. */
const loadedOf =
  (vintage: string, rows: readonly string[], options: Partial<LoadOptions> = {}): Load =>
  (id) =>
    loadCsv(database, ['series_id,date,value', ...rows.map((row) => [id, ...row.split(' ')].join(','))], {
      ...{ create: true, set: daily, vintage },
      ...options,
    });

const archive = [
  '2024-01-01 1 2024-02-01',
  '2024-01-02 2 2024-02-01',
  '2024-01-03 3 2024-02-01',
  '2024-01-01 1 2024-03-01',
  '2024-01-02 20 2024-03-01',
  '2024-01-03 3 2024-03-01',
];
const last = ['2024-01-01 1', '2024-01-02 20', '2024-01-03 3'];
const shown = { '2024-01-01': '1', '2024-01-02': '20', '2024-01-03': '3' };

/** @returns the number of its first load. */
async function numberOf(load: () => Promise<unknown>): Promise<number> {
  const read = () =>
    database.query<{ load: number }>('select coalesce(max(load_no), 0) + 1 as load from data.loads');
  const [next] = await read();
  await load();
  return next?.load ?? 0;
}

const retracted = (loadNo: number, day = today, erase = false) =>
  retract(database, {
    ...{ loadNo, erase, seriesTimeZone: 'UTC', clock: fakeClock(`${day}T12:00:00Z`), noGateway: true },
  });

/** Each pair states the points of `shown` as of the last vintage. */
const pairs: Record<string, readonly [Load, Load]> = {
  'an archive twice': [archived(archive), archived(archive)],
  'a complete archive twice': [archived(archive, { full: true }), archived(archive, { full: true })],
  'an archive and a complete one': [archived(archive), archived(archive, { full: true })],
  'a complete archive and a partial one': [archived(archive, { full: true }), archived(archive)],
  'a vintage by its day, twice': [loadedOf('2024-03-01', last), loadedOf('2024-03-01', last)],
  'a complete vintage by its day, twice': [
    loadedOf('2024-03-01', last, { full: true }),
    loadedOf('2024-03-01', last, { full: true }),
  ],
  'an archive and its last vintage by its day': [archived(archive), loadedOf('2024-03-01', last)],
  'a vintage by its day and an archive': [loadedOf('2024-03-01', last), archived(archive)],
  'an archive and a longer one': [archived(archive.slice(3)), archived(archive)],
};

for (const [name, pair] of Object.entries(pairs))
  for (const erase of [false, true])
    for (const [first, second] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const how = `${erase ? 'erased' : 'retracted'}, the ${first === 0 ? 'first' : 'second'} load at first`;
      test.serial(`${name}: all points remain until both loads are ${how}`, async (t) => {
        const id = `REPEATED.${name.replaceAll(/\W/g, '')}.${erase ? 'E' : 'R'}${first}`;
        const numbers = [await numberOf(() => pair[0](id)), await numberOf(() => pair[1](id))];
        t.deepEqual(await published(database, id), shown);
        await retracted(numbers[first] ?? NaN, today, erase);
        t.deepEqual(await published(database, id), shown, 'one load is active');
        await retracted(numbers[second] ?? NaN, tomorrow, erase);
        t.deepEqual(await published(database, id), {}, 'no load is active');
      });
    }

test.serial('points of overlapping archives remain while a load that states them is active', async (t) => {
  const one = await numberOf(() =>
    archived([
      '2024-01-01 1 2024-02-01',
      '2024-01-02 2 2024-02-01',
      '2024-01-03 3 2024-02-01',
      '2024-01-04 4 2024-03-01',
    ])('OVERLAP'),
  );
  const two = await numberOf(() =>
    archived(['2024-01-01 1 2024-02-01', '2024-01-03 3 2024-02-01'])('OVERLAP'),
  );
  const { loadNo } = await retracted(one);
  t.deepEqual(await published(database, 'OVERLAP'), { '2024-01-01': '1', '2024-01-03': '3' });
  await retracted(loadNo);
  await retracted(two);
  t.deepEqual(await published(database, 'OVERLAP'), {
    ...{ '2024-01-01': '1', '2024-01-02': '2' },
    ...{ '2024-01-03': '3', '2024-01-04': '4' },
  });
});

/** The header and two rows of each dataset whose loads can be retracted. */
const tables: Record<string, readonly [header: string, row: string, row: string]> = {
  nav: ['fund,date,nav', 'fund-1,2024-01-01,10', 'fund-1,2024-01-02,11'],
  payouts: ['fund,ex_date,type,payout_per_unit', 'fund-1,2024-01-02,cash,1', 'fund-1,2024-02-02,cash,2'],
  expenses: ['fund,period_end,period_type,ter_pct', 'fund-1,2024-01-31,mtd,2', 'fund-1,2024-02-29,mtd,3'],
  'security-prices': ['code,date,price', 'TFC-1,2024-01-01,98', 'TFC-1,2024-01-02,99'],
  'security-trades': ['trade_id,trade_date,code,price', 'T1,2024-01-02,TFC-1,99', 'T2,2024-01-02,TFC-1,98'],
  auctions: [
    'auction_id,instrument,tenor,auction_date,status,currency,cutoff_yield_pct,source',
    'A1,pib_fixed,5Y,2024-06-12,held,PKR,15,Central bank',
    'A2,pib_fixed,5Y,2024-06-19,held,PKR,16,Central bank',
  ],
  trade: [
    'reporter,flow,period,partner_code,classification,commodity_code,basis,currency,value,source',
    'PAK,export,2024-04,CHN,hs,010121,customs,USD,150,Bureau',
    'PAK,export,2024-05,CHN,hs,010121,customs,USD,151,Bureau',
  ],
  'trade-commodities': [
    'classification,commodity_code,name,source',
    'hs,010121,Horses,WCO',
    'hs,010221,Cattle,WCO',
  ],
};

const loadRows = (dataset: string, csv: readonly string[]) =>
  numberOf(() => loadCsv(database, csv, { dataset }));

test.serial('these tests cover every dataset whose loads can be retracted', (t) => {
  const retractable = datasetNames.filter((name) => datasetNamed(name).retractable === true);
  t.deepEqual(Object.keys(tables).toSorted(), retractable.toSorted());
});

test.before(async () => {
  await loadRows('funds', ['fund_id,name,currency,source', 'fund-1,Fund,PKR,Register']);
  await loadRows('securities', ['code,name,type,currency,source', 'TFC-1,One,tfc,PKR,Exchange']);
});

for (const [dataset, [header, one, two]] of Object.entries(tables))
  test.serial(`${dataset}: each row remains while a load that states it is active`, async (t) => {
    const { target } = datasetNamed(dataset);
    const count = async () => (await database.query(`select from ${target}`)).length;
    for (const [first, second, left] of [
      [
        [one, two],
        [one, two],
        [2, 2],
      ],
      [[one, two], [one], [1, 2]],
      [[two], [one, two], [2, 1]],
    ] as const)
      for (const order of [0, 1] as const) {
        const numbers = [
          await loadRows(dataset, [header, ...first]),
          await loadRows(dataset, [header, ...second]),
        ];
        t.is(await count(), 2);
        await retracted(numbers[order] ?? NaN);
        t.is(
          await count(),
          left[order],
          `${first.length} rows, then ${second.length}; ${order} is retracted`,
        );
        await retracted(numbers[1 - order] ?? NaN);
        t.is(await count(), 0);
      }
  });

test.serial('prices of commodities remain while a load that states them is active', async (t) => {
  const facts = { unit: 'kg', currency: 'PKR', frequency: 'monthly', source: 'Bureau' };
  const rows = ['wheat,Lahore,2024-01,100,2024-02-01', 'wheat,Lahore,2024-02,101,2024-03-01'];
  const load = () =>
    numberOf(() =>
      loadCsv(database, ['item,city,date,price,vintage', ...rows], {
        ...{ dataset: 'commodity-prices', create: true, set: facts },
      }),
    );
  for (const order of [0, 1]) {
    const numbers = [await load(), await load()];
    const before = await published(database, 'commodity.wheat');
    t.is(Object.keys(before).length, 2);
    await retracted(numbers[order] ?? NaN);
    t.deepEqual(await published(database, 'commodity.wheat'), before);
    await retracted(numbers[1 - order] ?? NaN);
    t.deepEqual(await published(database, 'commodity.wheat'), {});
  }
});

test.serial('a repeated vintage is recorded in one row, however many points it has', async (t) => {
  const days = Array.from({ length: 300 }, (_, i) => addDays('2022-01-01', i));
  const vintages = ['2024-02-01', '2024-03-01', '2024-04-01'];
  const rows = vintages.flatMap((vintage) => days.map((day) => `${day} 1 ${vintage}`));
  const last = days.map((day) => `${day} 1`);
  const recordedBy = async (load: Promise<number>) => {
    const [found] = await database.query<{ rows: number }>(
      `select (select count(*) from data.confirmations where load_no >= $1)
         + (select count(*) from data.vintages where load_no >= $1)
         + (select count(*) from data.statements where load_no >= $1)
         + (select count(*) from data.observations where load_no >= $1) as rows`,
      [await load],
    );
    return found?.rows;
  };
  for (const full of [false, true]) {
    const id = `SMALL.${full}`;
    await archived(rows, { full })(id);
    t.is(await recordedBy(numberOf(() => archived(rows, { full })(id))), 3);
    t.is(await recordedBy(numberOf(() => loadedOf('2024-04-01', last, { full })(id))), 1);
  }
  const gaps = rows.filter((_, i) => i % 2 === 0);
  t.is(
    await recordedBy(numberOf(() => archived(gaps)('SMALL.false'))),
    3,
    'with a range for each of its points',
  );
});
