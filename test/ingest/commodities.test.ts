import test from 'ava';
import { daily, failureOf, loadCsv, openIngestDatabase, published, rejectsOf } from './loading.ts';

const database = await openIngestDatabase(test);

const items = { dataset: 'commodity-items' };
const cities = { dataset: 'commodity-cities' };
const prices = { dataset: 'commodity-prices' };
const itemHeader = 'item_id,name,unit,currency,frequency,source';

test.serial(
  'items and cities are created and changed by id, and an item creates the series of its prices',
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

test.serial(
  'a file of cities changes the series of prices if it changes a city, and only then',
  async (t) => {
    const version = () =>
      database.query(`select row_version, updated_at from data.series where series_id = 'commodity.tea'`);
    const before = await version();
    t.like(await loadCsv(database, ['city_id,name', 'lahore,Lahore'], cities), { pointsUnchanged: 1 });
    t.deepEqual(await version(), before);
    t.like(await loadCsv(database, ['city_id,province', 'lahore,Punjab'], cities), { pointsRevised: 1 });
    t.notDeepEqual(await version(), before);
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
  'a price of an unknown item or city, in another unit, or that is not a number is refused by line',
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
  '--create creates the items and cities of a file, with the facts that are in its rows',
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
    const [city] = await database.query(
      `select city_id, name, province, latitude, longitude from data.commodity_cities where city_id = 'multan'`,
    );
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

const national = [
  'item,market,date,price',
  'tea,Lahore,2024-03-07,300',
  'tea,National Average,2024-03-07,999',
  'tea,Multan,2024-03-07,320',
];
const ofMarkets = { ...prices, create: true, map: { city: 'market' } };
const facts = { unit: '190 g pack', currency: 'PKR', frequency: 'weekly', source: 'Price Office' };

test.serial(
  'a row of a national average is not a city: it is refused until an option states its meaning',
  async (t) => {
    const options = { ...ofMarkets, set: facts };
    for (const name of [
      'National Average',
      'national',
      'All Markets',
      'Average',
      'NATIONAL (mean)',
      'Overall',
    ]) {
      const csv = national.map((row) => row.replace('National Average', name));
      const { rejects } = await failureOf(loadCsv(database, csv, options));
      t.deepEqual(
        rejects.map(({ line, column, value }) => [line, column, value]),
        [[3, 'market', name]],
      );
      t.regex(rejects[0]?.expected ?? '', /--skip-where column=value.*--map-value column=value=city/);
    }
    t.deepEqual(await rejectsOf(loadCsv(database, ['city_id,name', 'Nationwide,All'], cities)), [
      [2, 'city_id', 'Nationwide'],
    ]);
    for (const name of ['Nationalpark', 'All Saints', 'Market Harborough', 'Average Town'])
      t.is(
        (await loadCsv(database, ['city_id,name', `${name},X`], { ...cities, dryRun: true })).pointsNew,
        1,
        name,
      );
  },
);

test.serial('--skip-where skips the rows with a value, and counts them', async (t) => {
  const skipWhere = [{ column: 'market', value: 'National Average' }];
  const summary = await loadCsv(database, national, { ...ofMarkets, set: facts, skipWhere });
  t.like(summary, { rowsRead: 2, pointsNew: 2, rowsRejected: 0, rowsSkipped: 1 });
  const both = [...skipWhere, { column: 'city', value: 'Multan' }];
  const byOurName = await loadCsv(database, national, { ...ofMarkets, set: facts, skipWhere: both });
  t.like(byOurName, { rowsRead: 1, pointsUnchanged: 1, rowsSkipped: 2 });
  const unknown = loadCsv(database, national, { ...ofMarkets, skipWhere: [{ column: 'town', value: 'x' }] });
  t.regex(
    (await failureOf(unknown)).message,
    /--skip-where: the file has no column town; its columns are item, market/,
  );
});

test.serial(
  '--skip-where and --map-value apply to every kind of dataset, and preserve the lines of refused rows',
  async (t) => {
    const csv = ['city_id,name,latitude', 'a,Total,', 'b, n/k ,', 'c,C,91'];
    const choices = {
      skipWhere: [{ column: 'name', value: 'Total' }],
      mapValue: [{ column: 'name', value: 'n/k', to: 'B' }],
    };
    t.deepEqual(await rejectsOf(loadCsv(database, csv, { ...cities, ...choices })), [[4, 'latitude', '91']]);
    const table = await loadCsv(database, csv.slice(0, 3), { ...cities, ...choices });
    t.like(table, { rowsRead: 1, pointsNew: 1, rowsSkipped: 1 });
    t.deepEqual(await database.query(`select name from data.commodity_cities where city_id in ('a', 'b')`), [
      { name: 'B' },
    ]);
    const points = ['series_id,date,value', 'ROWS,2024-01-01,1', 'ROWS,2024-01-02,x', 'ROWS,2024-01-03,-'];
    const loaded = await loadCsv(database, points, {
      create: true,
      set: daily,
      skipWhere: [{ column: 'value', value: 'x' }],
      mapValue: [{ column: 'value', value: '-', to: '3' }],
    });
    t.like(loaded, { rowsRead: 2, pointsNew: 2, rowsSkipped: 1 });
    t.deepEqual(await published(database, 'ROWS'), { '2024-01-01': '1', '2024-01-03': '3' });
  },
);

test.serial('--map-value maps a value to a city', async (t) => {
  const mapValue = [{ column: 'market', value: 'National Average', to: 'Islamabad' }];
  t.is((await loadCsv(database, national, { ...ofMarkets, set: facts, mapValue })).pointsNew, 1);
  t.is((await published(database, 'commodity.tea'))['2024-03-07 islamabad retail avg'], '999');
});

test.serial('the frequency of an item with prices stays as it is', async (t) => {
  const csv = ['item_id,frequency', 'tea,monthly'];
  t.deepEqual(await rejectsOf(loadCsv(database, csv, items)), [[2, 'frequency', 'monthly']]);
});

test.serial('a new item gets its facts from its first row that has them', async (t) => {
  const csv = [
    'item,city,date,price,unit,currency,frequency,source',
    'saffron,lahore,2024-01-04,1,,PKR,weekly,Price Office',
    'saffron,lahore,2024-01-11,2,1 g,PKR,weekly,Price Office',
    'bare,lahore,2024-01-11,3,,,,',
  ];
  const summary = await loadCsv(database, csv, { ...prices, create: true, skipInvalid: true });
  t.like(summary, { pointsNew: 2, rowsRejected: 1 });
  t.deepEqual(await published(database, 'commodity.saffron'), {
    '2024-01-04 lahore retail avg': '1',
    '2024-01-11 lahore retail avg': '2',
  });
});
