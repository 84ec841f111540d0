// /v1/commodities: the prices of an item in a city, or their average over cities; and the lists of items and cities.
import test from 'ava';
import fc from 'fast-check';
import { propertyRuns } from '../run/property-runs.ts';
import { freeAccount, publicCaller } from '../services/data-service.ts';
import { price, startCommodities, type Envelope } from './commodities-fixture.ts';
import { publish } from './series-fixture.ts';

const { service, prices, byCity } = await startCommodities();
test.after.always(() => service.close());

const pairs = ({ data }: Envelope) => data.map(({ date, value }) => [date, value]);

test('the prices of an item in a city are a series in its envelope, by default retail averages', async (t) => {
  const answer = await prices({ item: 'rice', city: 'lahore', from: '2025-12' });
  t.true(answer.success);
  t.is(answer.series, 'commodity.rice.lahore');
  t.like(answer.meta, {
    name: 'Rice (basmati)',
    unit: 'PKR per 1 Kg',
    frequency: 'monthly',
    source: 'Price Office',
    last_updated: '2026-03-05',
    transform: null,
  });
  t.deepEqual(answer.data[0], {
    date: '2025-12-31',
    value: 119,
    dims: { city: 'lahore', price_type: 'retail', stat: 'avg' },
  });
  t.deepEqual(pairs(answer), [
    ['2025-12-31', 119],
    ['2026-01-31', 120.5],
    ['2026-02-28', 121],
  ]);
  t.deepEqual(answer.pagination, { next_cursor: null, count: 3 });
  t.deepEqual(pairs(await prices({ item: 'rice', city: 'lahore', price_type: 'wholesale' })), [
    ['2026-01-31', 90],
  ]);
  t.deepEqual(pairs(await prices({ item: 'rice', city: 'lahore', stat: 'min' })), [['2026-01-31', 118]]);
});

test('without a city the price is the unweighted mean over the cities with a price on the date', async (t) => {
  const answer = await prices({ item: 'rice' });
  t.is(answer.series, 'commodity.rice');
  t.deepEqual(pairs(answer), [
    ['2025-01-31', 105],
    ['2025-12-31', 119],
    ['2026-01-31', 123.5],
    ['2026-02-28', 121],
  ]);
  t.deepEqual(answer.data[0]?.dims, { city: 'national', price_type: 'retail', stat: 'avg' });
  t.deepEqual((await prices({ item: 'rice', city: 'national' })).data, answer.data);
});

test('the average of a vintage is computed from the prices of the vintage, and transforms from the average', async (t) => {
  const past = await prices({ item: 'rice', vintage: '2026-02-28' });
  t.deepEqual(pairs(past).at(-1), ['2026-01-31', 120.1666666667]);
  t.deepEqual(pairs(await prices({ item: 'rice', transform: 'yoy' })), [['2026-01-31', 17.61904762]]);
  t.deepEqual(pairs(await prices({ item: 'rice', transform: 'mom' })), [
    ['2026-01-31', 3.781512605],
    ['2026-02-28', -2.024291498],
  ]);
  const index = await prices({ item: 'rice', transform: 'index', base: '2025-01' });
  t.is(index.meta['base_date'], '2025-01-31');
  t.is(index.data[2]?.value, 117.6190476);
  t.is(
    (await service.call('/v1/commodities?item=rice&vintage=2026-02-28', { identity: freeAccount })).status,
    403,
  );
});

test('dims selects several cities, types or statistics, and overrides the parameters of the same name', async (t) => {
  const both = await prices({ item: 'rice', dims: 'city:lahore|karachi', from: '2026' });
  t.is(both.series, 'commodity.rice');
  t.true(new Set(both.data.map(({ dims }) => dims['city'])).isSubsetOf(new Set(['lahore', 'karachi'])));
  t.is(new Set(both.data.map(({ dims }) => dims['city'])).size, 2);
  const one = await prices({ item: 'rice', dims: 'city:lahore,price_type:wholesale' });
  t.is(one.series, 'commodity.rice.lahore');
  t.deepEqual(pairs(one), [['2026-01-31', 90]]);
  const wholesale = await byCity({ item: 'rice', dims: 'price_type:wholesale' });
  t.deepEqual(wholesale.data, (await byCity({ item: 'rice', price_type: 'wholesale' })).data);
  t.true(wholesale.data.length > 0);
});

test('order, pages and CSV never change an average', async (t) => {
  const whole = await prices({ item: 'rice' });
  for (const sort of ['asc', 'desc']) {
    for (const limit of ['1', '2', '3']) {
      const paged: Envelope['data'] = [];
      let cursor: string | null = null;
      do {
        const page: Envelope = await prices({
          item: 'rice',
          sort,
          limit,
          ...(cursor === null ? {} : { cursor }),
        });
        paged.push(...page.data);
        cursor = page.pagination.next_cursor;
      } while (cursor !== null);
      t.deepEqual(sort === 'asc' ? paged : paged.toReversed(), whole.data, `${sort} ${limit}`);
    }
  }
  const csv = await service.call('/v1/commodities?item=rice&format=csv');
  t.regex(csv.text, /^date,value,city,price_type,stat\r?\n2025-01-31,105,national,retail,avg\r?\n/);
  t.is(csv.headers.get('content-disposition'), 'attachment; filename="commodity.rice.csv"');
});

test('an average and the series behind it never share an answer', async (t) => {
  const average = await service.call('/v1/commodities?item=rice');
  const stored = await service.call(
    '/v1/series/commodity.rice?dims=city:national,price_type:retail,stat:avg',
  );
  t.not(average.headers.get('etag'), stored.headers.get('etag'));
  t.deepEqual((stored.json as Envelope).data, []);
  t.is((await prices({ item: 'rice' })).data.length, 4);
  const again = await service.call('/v1/commodities?item=rice', {
    headers: { 'if-none-match': average.headers.get('etag') ?? '' },
  });
  t.is(again.status, 304);
});

test('the average is the mean, whatever the prices', async (t) => {
  const place = fc.record({
    city: fc.constantFrom('multan', 'karachi', 'quetta'),
    month: fc.constantFrom('2024-01-31', '2024-02-29', '2024-03-31'),
    cents: fc.integer({ min: 1, max: 1_000_000 }),
  });
  const unique = fc.uniqueArray(place, { selector: ({ city, month }) => city + month, minLength: 1 });
  await fc.assert(
    fc.asyncProperty(unique, async (points) => {
      await publish(
        service.pool,
        'commodity.salt',
        '2026-06-01',
        points.map(({ city, month, cents }) => price(month, city, (cents / 100).toFixed(2))),
        { complete: true },
      );
      const months = Object.entries(Object.groupBy(points, ({ month }) => month)).toSorted(([a], [b]) =>
        a < b ? -1 : 1,
      );
      const expected = months.map(([month, all]) => [
        month,
        all.reduce((sum, { cents }) => sum + cents, 0) / all.length / 100,
      ]);
      const found = pairs(await prices({ item: 'salt' }));
      t.deepEqual(
        found.map(([month]) => month),
        expected.map(([month]) => month),
      );
      found.forEach(([, value], i) => t.true(Math.abs(Number(value) - Number(expected[i]?.[1])) < 1e-6));
    }),
    { numRuns: propertyRuns(15) },
  );
});

test('an unknown item or city is 404 with the nearest one; an invalid parameter is named', async (t) => {
  const unknown = await prices({ item: 'rise' });
  t.like(unknown.error, {
    code: 'not_found',
    param: 'item',
    message: 'There is no item "rise". Did you mean "rice"?',
  });
  t.like((await prices({ item: 'rice', city: 'lahor' })).error, { code: 'not_found', param: 'city' });
  t.like((await byCity({ item: 'rice', cities: 'lahore,atlantis' })).error, {
    code: 'not_found',
    param: 'cities',
  });
  const bad: [Record<string, string>, string][] = [
    [{}, 'item'],
    [{ item: 'rice', price_type: 'stolen' }, 'price_type'],
    [{ item: 'rice', stat: 'mode' }, 'stat'],
    [{ item: 'rice', dims: 'colour:red' }, 'dims'],
    [{ item: 'rice', dims: 'price_type:retail|wholesale' }, 'dims'],
    [{ item: 'rice', from: '2026-02-30' }, 'from'],
    [{ item: 'rice', from: '2026', to: '2025' }, 'from'],
  ];
  for (const [parameters, param] of bad) t.is((await prices(parameters)).error.param, param);
  t.is((await byCity({ item: 'rice', date: '2026', from: '2025' })).error.param, 'date');
  t.is((await byCity({ item: 'rice', cities: 'lahore,lahore' })).error.param, 'cities');
  t.deepEqual((await prices({ item: 'rice', city: 'quetta', price_type: 'farmgate' })).data, []);
  t.deepEqual((await prices({ item: 'rice', price_type: 'farmgate' })).data, []);
});

test('items and cities are public lists that show the available prices', async (t) => {
  const items = (await service.call('/v1/commodities/items', { identity: publicCaller })).json as Envelope;
  t.deepEqual(
    items.data.map((item) => item['id']),
    ['milk', 'rice', 'salt', 'tea'],
  );
  t.deepEqual(items.data[1] as unknown, {
    id: 'rice',
    name: 'Rice (basmati)',
    name_local: null,
    category: 'cereals',
    unit: '1 Kg',
    unit_quantity: 1,
    unit_measure: null,
    currency: 'PKR',
    coicop: null,
    frequency: 'monthly',
    source: 'Price Office',
    first_date: '2025-01-31',
    last_date: '2026-02-28',
    active: true,
    last_updated: '2026-03-05',
  });
  const cities = (await service.call('/v1/commodities/cities?sort=-name', { identity: publicCaller }))
    .json as Envelope;
  t.deepEqual(cities.data.find(({ id }) => id === 'lahore') as unknown, {
    id: 'lahore',
    name: 'Lahore',
    province: 'Punjab',
    latitude: 31.549722,
    longitude: 74.343611,
    first_date: '2025-01-31',
    last_date: '2026-06-11',
    last_updated: '2026-06-12',
  });
  const narrowed = await service.call('/v1/commodities/items?category=dairy&fields=id', {
    identity: publicCaller,
  });
  t.deepEqual((narrowed.json as Envelope).data as unknown, [{ id: 'milk' }]);
});
