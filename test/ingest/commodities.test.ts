import test from 'ava';
import { failureOf, loadCsv, openIngestDatabase, published, rejectsOf } from './loading.ts';

const database = await openIngestDatabase(test);

const items = { dataset: 'commodity-items' };
const cities = { dataset: 'commodity-cities' };
const prices = { dataset: 'commodity-prices' };
const itemHeader = 'item_id,name,unit,currency,frequency,source';

test.serial(
  'items and cities are made and changed by id, and an item makes the series of its prices',
  async (t) => {
    const csv = [
      `${itemHeader},coicop,unit_quantity`,
      'tea,Tea,190 g pack,PKR,weekly,Price Office,01.2.1,190',
    ];
    t.is((await loadCsv(database, csv, items)).pointsNew, 1);
    t.is((await loadCsv(database, csv, items)).pointsUnchanged, 1);
    const [series] = await database.query(
      `select name, unit, frequency, source, dimensions from data.series where series_id = 'commodity.tea'`,
    );
    t.deepEqual(series, {
      name: 'Tea',
      unit: 'PKR per 190 g pack',
      frequency: 'weekly',
      source: 'Price Office',
      dimensions: ['city', 'price_type', 'stat'],
    });
    t.is((await loadCsv(database, ['item_id,name', 'tea,Black tea'], items)).pointsRevised, 1);
    const [renamed] = await database.query(`select name from data.series where series_id = 'commodity.tea'`);
    t.deepEqual(renamed, { name: 'Black tea' });
    await loadCsv(
      database,
      ['city_id,name,latitude,longitude', 'lahore,Lahore,31.5,74.3', 'Dera Ghazi Khan,D. G. Khan,,'],
      cities,
    );
    t.deepEqual(await database.query('select city_id from data.commodity_cities order by 1'), [
      { city_id: 'dera-ghazi-khan' },
      { city_id: 'lahore' },
    ]);
  },
);

test.serial('a bad cell of an item or a city is refused with its line and column', async (t) => {
  const bad = [
    itemHeader,
    'چائے,Tea,1 Kg,PKR,weekly,S',
    'a,Tea,1 Kg,Rupee,weekly,S',
    'b,Tea,1 Kg,PKR,sometimes,S',
    'c,,1 Kg,PKR,weekly,S',
  ];
  t.deepEqual(await rejectsOf(loadCsv(database, bad, items)), [
    [2, 'item_id', 'چائے'],
    [3, 'currency', 'Rupee'],
    [4, 'frequency', 'sometimes'],
    [5, 'name', ''],
  ]);
  t.deepEqual(await rejectsOf(loadCsv(database, ['city_id,name,latitude', 'x,X,91'], cities)), [
    [2, 'latitude', '91'],
  ]);
});

test.serial(
  'prices are points of the series of their item, with vintages, by city, price type and statistic',
  async (t) => {
    const first = [
      'item,city,date,price',
      'tea,Lahore,2024-01-04,310.5',
      'tea,dera-ghazi-khan,2024-01-04,300',
    ];
    t.is((await loadCsv(database, first, { ...prices, vintage: '2024-01-05' })).pointsNew, 2);
    const second = [
      'item,city,date,price,price_type,stat',
      'tea,lahore,2024-01-04,311,Retail,avg',
      'tea,lahore,2024-01-04,290,wholesale,min',
    ];
    const summary = await loadCsv(database, second, { ...prices, vintage: '2024-02-05' });
    t.is(summary.pointsRevised, 1);
    t.is(summary.pointsNew, 1);
    t.deepEqual(await published(database, 'commodity.tea'), {
      '2024-01-04 dera-ghazi-khan retail avg': '300',
      '2024-01-04 lahore retail avg': '311',
      '2024-01-04 lahore wholesale min': '290',
    });
    t.deepEqual(await published(database, 'commodity.tea', '2024-01-31'), {
      '2024-01-04 dera-ghazi-khan retail avg': '300',
      '2024-01-04 lahore retail avg': '310.5',
    });
  },
);

test.serial(
  'a price of an unknown item or city, for another unit, or that is no number is refused by line',
  async (t) => {
    const csv = [
      'product,town,date,amount,per',
      'Saffron,Lahore,2024-01-04,1,190 g pack',
      'tea,Atlantis,2024-01-04,1,190 g pack',
      'tea,Lahore,2024-01-04,1,1 Kg',
      'tea,Lahore,2024-01-32,1,190 g pack',
      'tea,Lahore,2024-01-11,much,190 g pack',
    ];
    const map = { item: 'product', city: 'town', price: 'amount', unit: 'per' };
    const failure = await failureOf(loadCsv(database, csv, { ...prices, map }));
    t.deepEqual(failure.rejects.map(({ line, column, value }) => [line, column, value]).sort(), [
      [2, 'product', 'Saffron'],
      [3, 'town', 'Atlantis'],
      [4, 'per', '1 Kg'],
      [5, 'date', '2024-01-32'],
      [6, 'amount', 'much'],
    ]);
    t.is(failure.rejects.find(({ line }) => line === 4)?.expected, '190 g pack, the unit of the item');
  },
);

test.serial(
  '--create makes the items and cities of a file, with the facts that stand in its rows',
  async (t) => {
    const csv = [
      'date,admin,market,latitude,longitude,category,commodity,unit,currency,price',
      '#date,#adm1,#loc,#lat,#lon,#type,#name,#unit,#currency,#value',
      '2024-01-15,PUNJAB,Multan,30.19,71.47,cereals,"Rice (basmati, broken)",KG,PKR,17.59',
      '2024-02-15,PUNJAB,Multan,30.19,71.47,cereals,"Rice (basmati, broken)",KG,PKR,18',
    ];
    const options = {
      ...prices,
      create: true,
      skipRows: 1,
      map: { item: 'commodity', city: 'market', province: 'admin' },
      set: { frequency: 'monthly', source: 'Price Office' },
    };
    t.is((await loadCsv(database, csv, options)).pointsNew, 2);
    t.is((await loadCsv(database, csv, options)).pointsUnchanged, 2);
    const [item] = await database.query(
      `select name, category, unit, currency, frequency, source from data.commodity_items where item_id = 'rice-basmati-broken'`,
    );
    t.deepEqual(item, {
      name: 'Rice (basmati, broken)',
      category: 'cereals',
      unit: 'KG',
      currency: 'PKR',
      frequency: 'monthly',
      source: 'Price Office',
    });
    const [city] = await database.query(`select * from data.commodity_cities where city_id = 'multan'`);
    t.deepEqual(city, {
      city_id: 'multan',
      name: 'Multan',
      province: 'PUNJAB',
      latitude: '30.19',
      longitude: '71.47',
    });
    t.deepEqual(await published(database, 'commodity.rice-basmati-broken'), {
      '2024-01-31 multan retail avg': '17.59',
      '2024-02-29 multan retail avg': '18',
    });
    const failure = await failureOf(loadCsv(database, csv, { ...options, set: { frequency: 'monthly' } }));
    t.regex(failure.message, /lacks source/);
  },
);

test.serial('the frequency of an item with prices stays as it is', async (t) => {
  const csv = ['item_id,frequency', 'tea,monthly'];
  t.deepEqual(await rejectsOf(loadCsv(database, csv, items)), [[2, 'frequency', 'monthly']]);
});
