import test from 'ava';
import fc from 'fast-check';
import { propertyRuns } from '../run/property-runs.ts';
import { freeAccount, publicCaller, startDataService, type DataService } from '../services/data-service.ts';
import { publish, type FixturePoint } from './series-fixture.ts';

interface Envelope {
  success: boolean;
  series: string;
  meta: Record<string, unknown>;
  data: { date: string; value: number | null; dims: Record<string, string>; [field: string]: unknown }[];
  pagination: { next_cursor: string | null; count: number };
  error: { code: string; message: string; param?: string };
}

let service: DataService;

const price = (
  date: string,
  city: string,
  value: string | null,
  price_type = 'retail',
  stat = 'avg',
): FixturePoint => ({
  date,
  value,
  dims: { city, price_type, stat },
});

test.before(async () => {
  service = await startDataService('2026-06-15T12:00:00Z');
  await service.pool.query(`
    insert into data.commodity_items (item_id, name, category, unit, unit_quantity, currency, frequency, source, active)
    values ('rice', 'Rice (basmati)', 'cereals', '1 Kg', 1, 'PKR', 'monthly', 'Price Office', true),
      ('milk', 'Milk', 'dairy', '1 L', 1.0, 'PKR', 'weekly', 'Price Office', null),
      ('salt', 'Salt', 'other', '1 Kg', null, 'PKR', 'monthly', 'Price Office', null),
      ('tea', 'Tea', 'other', '1 Kg', 1, 'PKR', 'monthly', 'Price Office', null)`);
  await service.pool.query(`
    insert into data.commodity_cities (city_id, name, province, latitude, longitude)
    values ('lahore', 'Lahore', 'Punjab', 31.549722, 74.343611), ('karachi', 'Karachi', 'Sindh', 24.9056, 67.0822),
      ('quetta', 'Quetta', null, null, null),
      ('multan', 'Multan', 'Punjab', null, null)`);
  await publish(service.pool, 'commodity.rice', '2026-02-05', [
    price('2025-01-31', 'lahore', '100.00'),
    price('2025-01-31', 'karachi', '110.00'),
    price('2025-12-31', 'lahore', '119.00'),
    price('2026-01-31', 'lahore', '120.50'),
    price('2026-01-31', 'karachi', '110.00'),
    price('2026-01-31', 'quetta', '130'),
    price('2026-01-31', 'lahore', '90', 'wholesale'),
    price('2026-01-31', 'lahore', '118', 'retail', 'min'),
  ]);
  await publish(service.pool, 'commodity.rice', '2026-03-05', [
    price('2026-01-31', 'quetta', '140'),
    price('2026-02-28', 'lahore', '121'),
    price('2026-02-28', 'karachi', null),
  ]);
  await publish(service.pool, 'commodity.milk', '2026-06-12', [
    price('2025-06-11', 'lahore', '200'),
    price('2026-06-04', 'lahore', '210'),
    price('2026-06-04', 'karachi', '220'),
    price('2026-06-11', 'lahore', '220.5'),
    price('2026-06-11', 'karachi', '220.5'),
    price('2026-06-11', 'quetta', '180'),
    price('2026-05-01', 'lahore', '150', 'farmgate'),
  ]);
});

test.after.always(() => service.close());

async function get(path: string, parameters: Record<string, string> = {}): Promise<Envelope> {
  return (await service.call(`${path}?${String(new URLSearchParams(parameters))}`)).json as Envelope;
}

const prices = (parameters: Record<string, string>) => get('/v1/commodities', parameters);
const byCity = (parameters: Record<string, string>) => get('/v1/commodities/by-city', parameters);
const pairs = ({ data }: Envelope) => data.map(({ date, value }) => [date, value]);

test('the prices of an item in a city are a series in its envelope, retail averages unless asked otherwise', async (t) => {
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

test('without a city the price is the plain mean over the cities that have one at the date', async (t) => {
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

test('the average of a vintage is that of the prices of the vintage, and transforms are of the average', async (t) => {
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

test('dims selects several cities, types or statistics, in the place of the parameters of the same name', async (t) => {
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

test('a transform of the prices by city is that of each city, and the rank is of what it gives', async (t) => {
  const changes = await byCity({ item: 'rice', date: '2026-01', transform: 'yoy' });
  const plain = await byCity({ item: 'rice', date: '2026-01' });
  const known = plain.data.filter((row) => row['change_1y_pct'] !== null);
  t.true(known.length > 0 && known.length < plain.data.length, 'a city without a leg has no row');
  t.deepEqual(
    changes.data.map(({ dims, value }) => [dims['city'], value]),
    known
      .toSorted((a, b) => Number(a['change_1y_pct']) - Number(b['change_1y_pct']))
      .map((row) => [row.dims['city'], row['change_1y_pct']]),
  );
  t.is(changes.data[0]?.['rank'], 1);
  t.like(changes.meta, { unit: '%', transform: 'yoy' });
});

test.serial('a transform by city equals that of the city’s series, however far back it looks', async (t) => {
  const dates = {
    annual: ['2021-12-31', '2022-12-31', '2023-12-31', '2024-12-31'],
    quarterly: ['2024-03-31', '2024-06-30', '2024-09-30', '2024-12-31'],
    irregular: ['2020-02-03', '2022-05-04', '2024-11-06', '2026-06-01'], // years pass between two of them
    daily: ['2025-06-10', '2026-06-02', '2026-06-04', '2026-06-10'],
    weekly: ['2025-06-11', '2026-05-27', '2026-06-03', '2026-06-10'],
  };
  const itemOf = (frequency: string) => `${frequency}-item`;
  t.teardown(() =>
    service.pool.query('delete from data.commodity_items where item_id = any($1)', [
      Object.keys(dates).map(itemOf),
    ]),
  );
  let compared = 0;
  for (const [frequency, days] of Object.entries(dates)) {
    const item = itemOf(frequency);
    await service.pool.query(
      `insert into data.commodity_items (item_id, name, unit, currency, frequency, source)
       values ($1, $1, '1 Kg', 'PKR', $2, 'Price Office')`,
      [item, frequency],
    );
    const points = days.flatMap((day, i) => [
      price(day, 'lahore', String(100 + i * i)),
      ...(i === 1 ? [] : [price(day, 'karachi', String(200 - i))]),
    ]);
    await publish(service.pool, `commodity.${item}`, '2026-06-12', points);
    for (const transform of ['yoy', 'pct_change', '3ma', 'index'])
      for (const date of days.slice(1)) {
        const { data } = await byCity({ item, transform, from: date, to: date, sort: 'city' });
        const expected = await Promise.all(
          ['karachi', 'lahore'].map(async (city) => {
            const own = await prices({ item, city, transform, from: date, to: date });
            return own.data.map(({ value }) => [city, value]);
          }),
        );
        const found = data.map(({ dims, value }) => [dims['city'], value]);
        t.deepEqual(found, expected.flat(), `${transform} of ${item} on ${date}`);
        compared += found.length;
      }
  }
  t.true(compared > 40, `${compared}`);
});

test.serial('changes by city do not reach across a break of the unit', async (t) => {
  t.teardown(() => service.pool.query(`delete from data.commodity_items where item_id = 'dal'`));
  await service.pool.query(
    `insert into data.commodity_items (item_id, name, unit, currency, frequency, source)
     values ('dal', 'Dal', '1 Kg', 'PKR', 'daily', 'Price Office')`,
  );
  await publish(service.pool, 'commodity.dal', '2026-06-12', [
    price('2025-06-10', 'lahore', '100'),
    price('2026-06-01', 'lahore', '110'),
    price('2026-06-09', 'lahore', '2.20'),
    price('2026-06-10', 'lahore', '2.42'),
  ]);
  const dal = { item: 'dal', date: '2026-06-10' };
  t.like((await byCity(dal)).data[0], { change_1w_pct: -97.8, change_1y_pct: -97.58 });
  await service.pool.query(
    `insert into data.series_breaks (series_no, date, from_unit, declared_on, load_no)
     select series_no, '2026-06-05', 'PKR per 40 Kg', '2026-06-12', data_version from data.series where series_id = 'commodity.dal'`,
  );
  await service.pool.query(`update data.series set updated_at = now() where series_id = 'commodity.dal'`);
  t.like((await byCity(dal)).data[0], { change_1w_pct: null, change_1y_pct: null });
  t.deepEqual(
    (await byCity({ ...dal, transform: 'pct_change' })).data.map(({ value }) => value),
    [10],
  );
  t.deepEqual((await byCity({ ...dal, transform: 'yoy' })).data, []);
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

test('an average never takes the answer of the series behind it, nor gives it its own', async (t) => {
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

test('by-city gives the newest price of each city, ranked from the cheapest, with its changes', async (t) => {
  const answer = await byCity({ item: 'milk' });
  t.is(answer.series, 'commodity.milk');
  t.deepEqual(answer.data, [
    {
      date: '2026-06-11',
      value: 180,
      dims: { city: 'quetta', price_type: 'retail', stat: 'avg' },
      city_name: 'Quetta',
      change_1w_pct: null,
      change_1y_pct: null,
      rank: 1,
    },
    {
      date: '2026-06-11',
      value: 220.5,
      dims: { city: 'karachi', price_type: 'retail', stat: 'avg' },
      city_name: 'Karachi',
      change_1w_pct: 0.2272727273,
      change_1y_pct: null,
      rank: 2,
    },
    {
      date: '2026-06-11',
      value: 220.5,
      dims: { city: 'lahore', price_type: 'retail', stat: 'avg' },
      city_name: 'Lahore',
      change_1w_pct: 5,
      change_1y_pct: 10.25,
      rank: 2,
    },
  ]);
  t.deepEqual(answer.pagination, { next_cursor: null, count: 3 });
});

test('by-city of a date means its period; of a window, the newest price of each city in it', async (t) => {
  const cities = ({ data }: Envelope) => data.map(({ date, dims, value }) => [dims['city'], date, value]);
  t.deepEqual(cities(await byCity({ item: 'rice', date: '2026-01-15' })), [
    ['karachi', '2026-01-31', 110],
    ['lahore', '2026-01-31', 120.5],
    ['quetta', '2026-01-31', 140],
  ]);
  t.deepEqual(cities(await byCity({ item: 'rice' })), [['lahore', '2026-02-28', 121]]);
  t.deepEqual(cities(await byCity({ item: 'rice', from: '2025', sort: '-price' })), [
    ['quetta', '2026-01-31', 140],
    ['lahore', '2026-02-28', 121],
    ['karachi', '2026-01-31', 110],
  ]);
  t.deepEqual(cities(await byCity({ item: 'milk', date: '2026-06-10', sort: 'city' })), [
    ['karachi', '2026-06-04', 220],
    ['lahore', '2026-06-04', 210],
  ]);
  t.deepEqual(cities(await byCity({ item: 'milk', date: '2026-06-20' })), []);
  t.deepEqual(cities(await byCity({ item: 'milk', cities: 'lahore', price_type: 'farmgate' })), [
    ['lahore', '2026-05-01', 150],
  ]);
  const yearOfRice = await byCity({ item: 'rice', date: '2026-01', cities: 'lahore' });
  t.like(yearOfRice.data[0], { change_1y_pct: 20.5, change_1w_pct: null, rank: 1 });
  t.deepEqual(
    cities(await byCity({ item: 'rice', date: '2026-01', cities: 'quetta', vintage: '2026-02-10' })),
    [['quetta', '2026-01-31', 130]],
  );
});

test.serial(
  'by-city without a date is by-city of the newest date: a city priced a few days earlier is in both',
  async (t) => {
    t.teardown(() => service.pool.query(`delete from data.commodity_items where item_id = 'eggs'`));
    await service.pool.query(
      `insert into data.commodity_items (item_id, name, unit, currency, frequency, source)
     values ('eggs', 'Eggs', '1 Dozen', 'PKR', 'daily', 'Price Office')`,
    );
    await publish(service.pool, 'commodity.eggs', '2026-06-12', [
      price('2026-06-04', 'quetta', '300'), // eight days before the newest: in neither
      price('2026-06-05', 'multan', '310'),
      price('2026-06-09', 'karachi', '280'),
      price('2026-06-10', 'karachi', '290'),
      price('2026-06-11', 'lahore', '295'),
      price('2026-06-11', 'lahore', '240', 'wholesale'),
    ]);
    const open = await byCity({ item: 'eggs' });
    t.deepEqual(
      open.data.map(({ date, dims }) => [dims['city'], date]),
      [
        ['karachi', '2026-06-10'],
        ['lahore', '2026-06-11'],
        ['multan', '2026-06-05'],
      ],
    );
    for (const [query, date] of [
      ['item=eggs', '2026-06-11'],
      ['item=eggs&transform=pct_change', '2026-06-11'],
      ['item=eggs&transform=index', '2026-06-11'],
      ['item=eggs&cities=karachi,multan', '2026-06-10'],
    ] as const) {
      const asked = Object.fromEntries(new URLSearchParams(query));
      const without = await byCity(asked);
      t.deepEqual(without, await byCity({ ...asked, date }), query);
      t.true(without.data.length > 0);
    }
    t.deepEqual(await byCity({ item: 'rice' }), await byCity({ item: 'rice', date: '2026-02-28' }));
    t.deepEqual(await byCity({ item: 'milk' }), await byCity({ item: 'milk', date: '2026-06-11' }));
  },
);

test('a price of no city, as a general load may bring one, is left out by city', async (t) => {
  await publish(service.pool, 'commodity.tea', '2026-03-05', [
    price('2026-02-28', 'lahore', '900'),
    { date: '2026-02-28', value: '950', dims: { price_type: 'retail', stat: 'avg' } },
  ]);
  const questions: Record<string, string>[] = [{ item: 'tea' }, { item: 'tea', cities: 'lahore' }];
  for (const asked of questions) {
    const { data } = await byCity(asked);
    t.deepEqual(
      data.map(({ dims, value }) => [dims['city'], value]),
      [['lahore', 900]],
    );
  }
});

test('by-city as CSV has one line a city', async (t) => {
  const { text } = await service.call('/v1/commodities/by-city?item=milk&format=csv&cities=lahore');
  t.deepEqual(text.split(/\r?\n/), [
    'date,value,city,price_type,stat,city_name,change_1w_pct,change_1y_pct,rank',
    '2026-06-11,220.5,lahore,retail,avg,Lahore,5,10.25,1',
    '',
  ]);
});

test('an unknown item or city is 404 with the nearest one; a parameter that is wrong is named', async (t) => {
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

test('items and cities are public lists that tell what prices there are', async (t) => {
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
