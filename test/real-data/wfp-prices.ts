// Food prices of Pakistan by city, as WFP publishes them: prices, the national average, transforms, by-city.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import { points } from './answers.ts';
import type { Check } from './run.ts';

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
  assert.ok(Math.abs((change?.value ?? NaN) - (meanOf('2022-04') / meanOf('2021-04') - 1) * 100) < 1e-9);
  seen(`sugar was ${change?.value} % dearer in April 2022 than a year before`);

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
