// /v1/commodities/by-city: one price for each city, ranked, with its changes.
import test from 'ava';
import { price, startCommodities, type Envelope } from './commodities-fixture.ts';
import { refreshSearch } from '../migrations/search-entries.ts';
import { publish } from './series-fixture.ts';

const { service, prices, byCity } = await startCommodities();
test.after.always(() => service.close());

async function deleteItems(ids: readonly string[]): Promise<void> {
  await service.pool.query('delete from data.commodity_items where item_id = any($1)', [ids]);
  await refreshSearch(service.pool);
}

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
    irregular: ['2020-02-03', '2022-05-04', '2024-11-06', '2026-06-01'], // years lie between two of them
    daily: ['2025-06-10', '2026-06-02', '2026-06-04', '2026-06-10'],
    weekly: ['2025-06-11', '2026-05-27', '2026-06-03', '2026-06-10'],
  };
  const itemOf = (frequency: string) => `${frequency}-item`;
  t.teardown(() => deleteItems(Object.keys(dates).map(itemOf)));
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
  t.teardown(() => deleteItems(['dal']));
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
  await service.pool.query(
    `update data.series set updated_at = now(), row_version = row_version + 1 where series_id = 'commodity.dal'`,
  );
  t.like((await byCity(dal)).data[0], { change_1w_pct: null, change_1y_pct: null });
  t.deepEqual(
    (await byCity({ ...dal, transform: 'pct_change' })).data.map(({ value }) => value),
    [10],
  );
  t.deepEqual((await byCity({ ...dal, transform: 'yoy' })).data, []);
});

test('by-city returns the newest price of each city, ranked from the cheapest, with its changes', async (t) => {
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
    t.teardown(() => deleteItems(['eggs']));
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

test('a price without a city, which a general load may store, is omitted', async (t) => {
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

test('by-city as CSV has one line per city', async (t) => {
  const { text } = await service.call('/v1/commodities/by-city?item=milk&format=csv&cities=lahore');
  t.deepEqual(text.split(/\r?\n/), [
    'date,value,city,price_type,stat,city_name,change_1w_pct,change_1y_pct,rank',
    '2026-06-11,220.5,lahore,retail,avg,Lahore,5,10.25,1',
    '',
  ]);
});
