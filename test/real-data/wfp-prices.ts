// Food prices of Pakistan by city, as published by WFP: prices, the national average, transforms, by-city.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import { json, points } from './answers.ts';
import { endOfPeriod, linesOf } from './published-files.ts';
import type { Check } from './run.ts';
import {
  comparePublished,
  compareTransforms,
  meanDigits,
  transformed,
  transformNames,
  type Published,
} from './transforms.ts';

export async function checkWfpPrices({ instance, folder, seen }: Check): Promise<void> {
  const file = path.join(folder, '07_wfp_food_prices', 'wfp_food_prices_pak.csv');
  const words = [
    'commodity-prices',
    file,
    '--create',
    '--skip-rows', // the HXL tags below the header
    '1',
    '--map',
    'item=commodity,city=market,price_type=pricetype,province=admin1',
    '--ignore',
    'admin2,priceflag,usdprice',
    '--set',
    'frequency=monthly,source=World Food Programme',
  ];
  const count = async () =>
    JSON.parse(await instance.almanac('ingest', ...words, '--json')) as Record<string, number>;
  const rows = parse<Record<string, string>>(readFileSync(file), { columns: true }).slice(1);
  assert.equal((await count())['points_new'], rows.length);
  assert.equal((await count())['points_unchanged'], rows.length);
  seen(`${rows.length} prices of 17 items in 5 cities load in one command, and again without a change`);

  await checkNationalRows({ instance, folder, seen }, words, rows);
  await checkLists(instance, rows, seen);
  await checkAll(instance, rows, seen);

  const sugar = rows.filter((row) => row['commodity'] === 'Sugar');
  const monthOf = (row: { date?: string }) => row.date?.slice(0, 7);
  const inLahore = await points(instance, '/v1/commodities?item=sugar&city=lahore');
  const published = sugar.filter((row) => row['market'] === 'Lahore');
  assert.deepEqual(
    inLahore.map((point) => [monthOf(point), point.value]),
    published.map((row) => [monthOf(row), Number(row['price'])]),
  );
  assert.equal(inLahore.at(-1)?.date, '2022-04-30');
  seen(`all ${inLahore.length} prices of sugar in Lahore are served as published, dated to the month's end`);

  const meanOf = (month: string): number => {
    const prices = sugar.filter((row) => monthOf(row) === month).map((row) => Number(row['price']));
    return prices.reduce((sum, price) => sum + price, 0) / prices.length;
  };
  const average = await points(instance, '/v1/commodities?item=sugar');
  for (const point of average)
    assert.ok(Math.abs(point.value - meanOf(monthOf(point) ?? '')) < 1e-9, point.date);
  assert.equal(average.at(-1)?.value, 87.406);
  seen(`the national average of sugar is the mean over the cities in all ${average.length} months`);

  const [change] = await points(instance, '/v1/commodities?item=sugar&transform=yoy&from=2022-04');
  const wanted = (meanOf('2022-04') / meanOf('2021-04') - 1) * 100;
  assert.equal(change?.value, Number(wanted.toPrecision(10)));
  seen(`the price of sugar changed by ${change?.value} % in the year to April 2022`);

  const cities = await points(instance, '/v1/commodities/by-city?item=sugar&date=2022-04');
  assert.deepEqual(
    cities.map(({ dims, value }) => [dims['city'], value]),
    [
      ['multan', 84.47],
      ['peshawar', 87.1],
      ['quetta', 87.74],
      ['karachi', 87.84],
      ['lahore', 89.88],
    ],
  );
  seen('sugar was cheapest in Multan and dearest in Lahore in April 2022');

  const found = await instance.get('/v1/search?q=basmaty+rice');
  const [hit] = ((await found.json()) as { data: { type: string; id: string }[] }).data;
  assert.deepEqual([hit?.type, hit?.id], ['commodity', 'rice-basmati-broken']);
  seen('a search for "basmaty rice" finds the commodity Rice (basmati, broken)');
}

type Row = Record<string, string>;

/** The file with a row for the country in each month of sugar, as other countries' files have: refused, or left out by a flag. */
async function checkNationalRows(
  { instance, seen }: Check,
  [dataset = '', file = '', ...flags]: readonly string[],
  rows: readonly Row[],
): Promise<void> {
  const sugar = rows.filter((row) => row['commodity'] === 'Sugar');
  const national = [...new Map(sugar.map((row) => [row['date'], row])).values()];
  const text = readFileSync(file, 'utf8');
  const lineBreak = text.includes('\r\n') ? '\r\n' : '\n';
  const header = text.slice(0, text.indexOf(lineBreak)).split(',');
  const added = national.map((row) =>
    header
      .map((name) => (name === 'market' ? 'National Average' : name === 'price' ? '1' : row[name]))
      .join(','),
  );
  const folder = mkdtempSync(path.join(tmpdir(), 'almanac-wfp-'));
  try {
    const withNational = path.join(folder, 'national.csv');
    writeFileSync(withNational, [text.trimEnd(), ...added].join(lineBreak));
    const load = (...more: string[]) =>
      instance.almanac('ingest', dataset, withNational, ...flags, ...more, '--json');
    await assert.rejects(load(), /--skip-where/);
    const loaded = JSON.parse(await load('--skip-where', 'market=National Average')) as Record<
      string,
      number
    >;
    assert.deepEqual([loaded['points_unchanged'], loaded['rows_skipped']], [rows.length, national.length]);
  } finally {
    rmSync(folder, { recursive: true });
  }
  seen(`${national.length} rows of a national average are refused as a city, and left out by --skip-where`);
}

const unique = (rows: readonly Row[], column: string) => [...new Set(rows.map((row) => row[column] ?? ''))];

async function checkLists(
  instance: Check['instance'],
  rows: readonly Row[],
  seen: Check['seen'],
): Promise<void> {
  type List = { data: Record<string, unknown>[]; count: number };
  const items = (await json(
    instance,
    '/v1/commodities/items?limit=1000&category=cereals and tubers',
  )) as List;
  assert.ok(items.count > 0 && items.data.every(({ category }) => category === 'cereals and tubers'));
  const { data, count } = (await json(instance, '/v1/commodities/items?limit=1000')) as List;
  const published = data.filter(({ source }) => source === 'World Food Programme');
  assert.ok(count >= 17);
  assert.deepEqual(published.map(({ name }) => name).sort(), unique(rows, 'commodity').sort());
  assert.deepEqual([...new Set(published.map(({ unit }) => unit))].sort(), ['Day', 'Dozen', 'KG', 'L']);
  assert.deepEqual(
    published.find(({ unit }) => unit === 'Day')?.['name'],
    'Wage (non-qualified labour, non-agricultural)',
  );
  const dates = published
    .flatMap(({ first_date, last_date }) => [String(first_date), String(last_date)])
    .sort();
  assert.deepEqual([published.length, dates[0], dates.at(-1)], [17, '2004-01-31', '2022-04-30']);
  const cities = (await json(instance, '/v1/commodities/cities?sort=name')) as List;
  const names = unique(rows, 'market').sort();
  assert.deepEqual(
    cities.data.map(({ name }) => String(name)).filter((name) => names.includes(name)),
    names,
  );
  seen(
    '17 items (one of them a wage) for KG, L, Day and Dozen, from January 2004 to April 2022, and 5 cities are listed',
  );
}

/** Every price of every item, every transform of it, and of its national average. */
async function checkAll(
  instance: Check['instance'],
  rows: readonly Row[],
  seen: Check['seen'],
): Promise<void> {
  const idOf = (name: string) =>
    name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '');
  const dateOf = (row: Row) => endOfPeriod((row['date'] ?? '').slice(0, 7), 1);
  const items = unique(rows, 'commodity').map((name): Published & { item: string; prices: Row[] } => {
    const prices = rows.filter((row) => row['commodity'] === name);
    const lines = linesOf(
      prices.map((row) => [`${idOf(row['market'] ?? '')},retail,avg`, dateOf(row), row['price'] ?? '']),
    );
    return { item: idOf(name), prices, id: `commodity.${idOf(name)}`, frequency: 'monthly', lines };
  });
  let values = 0;
  for (const item of items) values += await comparePublished(instance, item);
  assert.equal(values, rows.length);
  seen(`all ${values} prices are served as published`);
  seen(`${await compareTransforms(instance, items)} transformed prices are those computed from the file`);

  let averages = 0;
  for (const { item, prices } of items) {
    const byMonth = Map.groupBy(prices, dateOf);
    const means = new Map(
      [...byMonth].map(([date, of]) => [date, meanDigits(of.map((row) => row['price'] ?? ''))] as const),
    );
    for (const name of transformNames) {
      const target = `/v1/commodities?item=${item}&transform=${name}&limit=100000`;
      const wanted = [...transformed(name, means, 'monthly')];
      const found = (await points(instance, target)).map(({ date, value }): [string, number] => [
        date,
        value,
      ]);
      assert.deepEqual(found, wanted, target);
      averages += found.length;
    }
  }
  seen(`so are ${averages} transformed national averages`);
}
