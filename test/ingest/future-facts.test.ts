// Facts dated after today, by dataset. Today is the day of the fake clock of loading.ts.
import test from 'ava';
import { failureOf, loadCsv, openIngestDatabase, today } from './loading.ts';

const database = await openIngestDatabase(test);

const load = (dataset: string, csv: readonly string[], set: Record<string, string> = {}) =>
  loadCsv(database, csv, { dataset, set });

test.before(async () => {
  await load('funds', ['fund_id,name,currency,source', 'f,F,USD,Office']);
  await load('securities', ['code,name,type,currency,source', 'S,S,tfc,USD,Office']);
  await load('commodity-items', [
    'item_id,name,unit,currency,frequency,source',
    'tea,Tea,kg,USD,daily,Office',
    'salt,Salt,kg,USD,monthly,Office',
  ]);
  await load('commodity-cities', ['city_id,name', 'lahore,Lahore']);
});

/** The row with the day inserted, the column of the day, the last accepted day, and the next one. */
const facts: [
  dataset: string,
  column: string,
  row: Record<string, string>,
  last: string,
  future: string[],
][] = [
  ['nav', 'date', { fund: 'f', nav: '10' }, today, ['2024-07-01', '2030-01-02', '9999-12-31']],
  [
    'expenses',
    'period_end',
    { fund: 'f', period_type: 'mtd', ter_pct: '1' },
    today,
    ['2024-07-31', '9999-12-31'],
  ],
  ['portfolio', 'as_of', { fund: 'f', section: 'holding', rank: '1', name: 'A' }, today, ['2024-07-31']],
  ['security-prices', 'date', { code: 'S', price: '10' }, today, ['2024-07-01', '9999-12-31']],
  ['security-trades', 'trade_date', { trade_id: '1', code: 'S', price: '10' }, today, ['2024-07-01']],
  ['trade', 'period', tradeRow(), '2024-06', ['2024-07', '2025']],
  [
    'commodity-prices',
    'date',
    { item: 'tea', city: 'lahore', price: '1' },
    today,
    ['2024-07-01', '9999-12-31'],
  ],
  [
    'commodity-prices',
    'date',
    { item: 'salt', city: 'lahore', price: '1' },
    '2024-06',
    ['2024-07', '2030-01'],
  ],
];

function tradeRow(): Record<string, string> {
  const kind = { flow: 'export', partner_code: 'CHN', commodity_code: '0101', value: '1', reporter: 'PAK' };
  return { ...kind, classification: 'hs', basis: 'customs', currency: 'USD', source: 'Customs' };
}

for (const [dataset, column, row, last, future] of facts)
  test.serial(
    `${dataset} of a day that has not come are refused by line, and of today are stored: ${row['item'] ?? ''}`,
    async (t) => {
      const csv = (days: string[]) => [
        [column, ...Object.keys(row)].join(','),
        ...days.map((day) => [day, ...Object.values(row)].join(',')),
      ];
      const { rejects } = await failureOf(load(dataset, csv([last, ...future])));
      t.deepEqual(
        rejects.map(({ line, column, value }) => [line, column, value]),
        future.map((day, i) => [i + 3, column, day]),
      );
      t.regex(rejects[0]?.expected ?? '', /today is 2024-06-30/);
      t.is((await load(dataset, csv([last]))).pointsNew, 1);
    },
  );

test.serial('announcements can have future dates: auctions, payouts, releases, forecasts', async (t) => {
  const auctions = [
    'auction_id,instrument,tenor,auction_date,status,currency,source',
    'A,mtb,3M,2024-07-10,announced,USD,Office',
  ];
  t.is((await load('auctions', auctions)).pointsNew, 1);
  t.is((await load('payouts', ['fund,ex_date,type', 'f,2024-07-10,cash'])).pointsNew, 1);
  const forecast = await loadCsv(database, ['series_id,date,value,status', 'GDP,2030,1,F'], {
    create: true,
    set: { frequency: 'annual', unit: 'Index', source: 'Office' },
  });
  t.is(forecast.pointsNew, 1);
});
