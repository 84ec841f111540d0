// All core series: oil, gas, gold, exchange rates, yields, prices and output, daily to annual, long and wide.
// No two files write dates alike; months, quarters and years are dated to their last day.
import assert from 'node:assert/strict';
import path from 'node:path';
import { csvPoints, ingest, pages, points, series, type Flags } from './answers.ts';
import { endOfPeriod, linesOf, oneLine, rowsOf } from './published-files.ts';
import type { Check } from './run.ts';
import {
  comparePublished,
  compareTransforms,
  transformed,
  type Frequency,
  type Published,
} from './transforms.ts';

/** A table and the positions of its parts: one series, or in a wide file one series a column. */
interface Table {
  file: string;
  /** The series, or in a wide table the prefix of the column's title. */
  id: string;
  frequency: Frequency;
  /** Of the date and, in a table of one series, of the value. */
  date: string;
  value?: string;
  dimension?: string;
  ignore?: readonly string[];
  /** Rows that state a point twice, and are left out. */
  rowsRejected?: number;
  set: { unit: string; source: string; name?: string };
}

const dollars = 'US dollars';
const euribor = { ignore: ['granularity', 'maturity_level'] };
const tables: readonly Table[] = [
  oil('daily', 'daily', 'Brent crude oil'),
  oil('weekly', 'weekly', 'Brent crude oil, by week'),
  oil('monthly', 'monthly', 'Brent crude oil, by month'),
  oil('year', 'annual', 'Brent crude oil, by year'),
  price('natural-gas__daily.csv', 'HENRYHUB.D', 'daily', 'Date', `${dollars} per million BTU`, 'EIA'),
  price('natural-gas__monthly.csv', 'HENRYHUB.M', 'monthly', 'Month', `${dollars} per million BTU`, 'EIA'),
  price('gold-prices__monthly.csv', 'GOLD.M', 'monthly', 'Date', `${dollars} per ounce`, 'World Bank'),
  price('gold-prices__annual.csv', 'GOLD.A', 'annual', 'Date', `${dollars} per ounce`, 'World Bank'),
  rate('bond-yields-us-10y__monthly.csv', 'US10Y.M', 'monthly', 'Date', 'Rate', 'Federal Reserve'),
  rate('bond-yields-uk-10y__quarterly.csv', 'UK10Y.Q', 'quarterly', 'Date', 'Rate', 'Bank of England'),
  rate('bond-yields-uk-10y__annual.csv', 'UK10Y.A', 'annual', 'Year', 'Rate', 'Bank of England'),
  // Both have two rows in October 2001, the second without a value. The dates of the file called weekly are a month apart.
  {
    ...rate('euribor__euribor-1w-weekly.csv', 'EURIBOR.1W', 'irregular', 'date', 'rate', 'EMMI'),
    ...euribor,
  },
  {
    ...rate('euribor__euribor-3m-monthly.csv', 'EURIBOR.3M', 'monthly', 'date', 'rate', 'EMMI'),
    ...euribor,
    rowsRejected: 1,
  },
  exchangeRates('monthly', 'FX.M'),
  exchangeRates('annual', 'FX.A'),
  consumerPrices('US.CPI', 'Index', 'Inflation', 'Index 1982-84 = 100'),
  consumerPrices('US.CPI.CHANGE', 'Inflation', 'Index', '% a month'),
  {
    file: 'gdp-us__quarter.csv',
    id: 'US.GDP.Q.',
    frequency: 'quarterly',
    date: 'date',
    set: { unit: 'see the name', source: 'BEA' },
  },
  {
    file: 'gdp-us__year.csv',
    id: 'US.GDP.A.',
    frequency: 'annual',
    date: 'date',
    set: { unit: 'see the name', source: 'BEA' },
  },
  {
    file: 'commodity-prices__commodity-prices.csv',
    id: 'IMF.',
    frequency: 'monthly',
    date: 'Date',
    set: { unit: 'see the name', source: 'IMF' },
  },
];

function oil(file: string, frequency: Frequency, name: string): Table {
  const id = `BRENT.${(file[0] ?? '').toUpperCase()}`;
  const set = { unit: `${dollars} per barrel`, source: 'EIA', name };
  return { file: `oil-prices__brent-${file}.csv`, id, frequency, date: 'Date', value: 'Price', set };
}

function price(
  file: string,
  id: string,
  frequency: Frequency,
  date: string,
  unit: string,
  source: string,
): Table {
  return { file, id, frequency, date, value: 'Price', set: { unit, source } };
}

function rate(
  file: string,
  id: string,
  frequency: Frequency,
  date: string,
  value: string,
  source: string,
): Table {
  return { file, id, frequency, date, value, set: { unit: '% a year', source } };
}

function exchangeRates(frequency: 'monthly' | 'annual', id: string): Table {
  return {
    file: `exchange-rates__${frequency}.csv`,
    id,
    frequency,
    date: 'Date',
    value: 'Exchange rate',
    dimension: 'Country',
    set: {
      unit: 'Units per US dollar',
      source: 'Federal Reserve',
      name: 'Exchange rates against the US dollar',
    },
  };
}

function consumerPrices(id: string, value: string, other: string, unit: string): Table {
  const set = { unit, source: 'BLS' };
  return { file: 'cpi-us__cpiai.csv', id, frequency: 'monthly', date: 'Date', value, ignore: [other], set };
}

export async function checkCoreSeries({ instance, folder, seen }: Check): Promise<void> {
  const fileOf = (table: Table) => path.join(folder, '01_core_series_pddl', table.file);
  const load = (table: Table) => ingest(instance, 'observations', fileOf(table), flagsOf(table));
  for (const table of tables) {
    const loaded = await load(table);
    assert.ok(loaded.points_new > 0, table.file);
    assert.equal(loaded.rows_rejected, table.rowsRejected ?? 0, table.file);
  }

  const all: Published[] = [];
  let values = 0;
  for (const table of tables) {
    for (const published of publishedIn(table, rowsOf(fileOf(table)))) {
      values += await comparePublished(instance, published);
      all.push(published);
    }
  }
  seen(
    `all ${values} values of ${new Set(tables.map(({ file }) => file)).size} tables (${all.length} series) are served as published`,
  );

  assert.equal(values, 74_342);
  await checkSpans(instance, seen);

  const transformedValues = await compareTransforms(instance, all);
  seen(
    `${transformedValues} values of yoy, mom, pct_change, 3ma and index are those computed from the files`,
  );

  const knownDates: [string, string, number][] = [
    ['US.CPI', '1913-01-31', 9.8],
    ['BRENT.M', '1987-05-31', 18.58], // published as of the 15th
    ['BRENT.Y', '1987-12-31', 18.53], // as of 06-30
    ['GOLD.M', '1833-01-31', 18.93],
    ['GOLD.A', '1833-12-31', 18.93],
    ['UK10Y.Q', '1984-03-31', 10.9817],
    ['US.GDP.Q.level-current', '1947-03-31', 243.2], // as of 01-01
  ];
  for (const [id, date, value] of knownDates) {
    const [first] = await points(instance, `/v1/series/${id}?limit=1`);
    assert.deepEqual([first?.date, first?.value], [date, value], id);
  }
  seen('periods are dated to their last day, however the file dates them');

  const october = '/v1/series/EURIBOR.1W?from=2001-10&to=2001-10';
  assert.deepEqual(await points(instance, october), [{ date: '2001-10-01', value: 3.788, dims: {} }]);
  assert.deepEqual((await points(instance, `${october}&include_missing=true`))[1], {
    date: '2001-10-15',
    value: null,
    dims: {},
  });
  seen('the Euribor of 15 October 2001, published as empty, is missing and not 0');

  await checkBase(folder, instance, seen);
  await checkForms(instance, seen);
  await checkReload(instance, load, seen);
}

/** Known facts about whole tables: their range of dates, and where they are empty. */
async function checkSpans(instance: Check['instance'], seen: Check['seen']): Promise<void> {
  for (const [id, first, last] of [
    ['GOLD.M', '1833-01-31', '2026-06-30'],
    ['BRENT.D', '1987-05-20', '2026-08-18'],
    ['US.GDP.Q.level-current', '1947-03-31', '2024-12-31'], // ends there: the mirror lags
    ['IMF.All_Commodity_Price_Index', '1992-01-31', '2017-06-30'],
    ['US.CPI.CHANGE', '1913-02-28', '2026-05-31'], // the first month has no change
  ] as const) {
    const { meta } = await series(instance, `/v1/series/${id}?limit=1`);
    assert.deepEqual([meta['first_date'], meta['last_date']], [first, last], id);
  }
  const { meta } = await series(instance, '/v1/series/FX.M?limit=1');
  const [countries] = meta['dims'] as { values: string[] }[];
  assert.equal(countries?.values.length, 34);
  for (const id of ['HENRYHUB.D', 'EURIBOR.1W']) {
    const all = await points(instance, `/v1/series/${id}?include_missing=true&limit=100000`);
    assert.equal(all.filter(({ value }) => value === null).length, 1, id);
  }
  seen(
    'exchange rates of 34 countries; the gas price and the Euribor have one empty value each; spans are those known',
  );
}

function flagsOf({ id, frequency, date, value, dimension, ignore = [], rowsRejected, set }: Table): Flags {
  const dims = dimension === undefined ? {} : { [dimension.toLowerCase()]: dimension };
  const constants = { frequency, ...set };
  return value === undefined
    ? { wide: true, prefix: id, map: { date }, create: true, set: constants }
    : {
        map: { date, value, ...dims },
        ignore,
        create: true,
        set: { series_id: id, ...constants },
        ...(rowsRejected === undefined ? {} : { 'skip-invalid': true }),
      };
}

function publishedIn(table: Table, rows: Record<string, string>[]): Published[] {
  const { id, frequency, date, value, dimension } = table;
  const dateOf = (row: Record<string, string>) => dated(row[date] ?? '', frequency);
  if (value !== undefined) {
    const dims = (row: Record<string, string>) => (dimension === undefined ? '' : (row[dimension] ?? ''));
    return [{ id, frequency, lines: linesOf(rows.map((row) => [dims(row), dateOf(row), row[value] ?? ''])) }];
  }
  return Object.keys(rows[0] ?? {})
    .filter((title) => title !== date)
    .map((title) => ({
      id: (id + title).replaceAll(/[^\w.-]+/g, '_'),
      frequency,
      lines: oneLine(rows.map((row) => [dateOf(row), row[title] ?? ''])),
    }));
}

function dated(text: string, frequency: Frequency): string {
  const months = { monthly: 1, quarterly: 3, annual: 12 }[frequency as string];
  return months === undefined ? text : endOfPeriod(text, months);
}

async function checkBase(folder: string, instance: Check['instance'], seen: Check['seen']): Promise<void> {
  const rows = rowsOf(path.join(folder, '01_core_series_pddl', 'cpi-us__cpiai.csv'));
  const history = new Map(rows.map((row) => [endOfPeriod(row['Date'] ?? '', 1), row['Index'] ?? '']));
  const wanted = [...transformed('index', history, 'monthly', '2015-01-31')].filter(
    ([date]) => date >= '2020',
  );
  const answer = await series(instance, '/v1/series/US.CPI?transform=index&base=2015&from=2020&limit=100000');
  assert.deepEqual(
    answer.data.map(({ date, value }) => [date, value]),
    wanted,
  );
  assert.deepEqual(
    [answer.meta['base_date'], answer.meta['source_unit']],
    ['2015-01-31', 'Index 1982-84 = 100'],
  );
  seen(`an index with base=2015 is 100 in January 2015, ${wanted.length} values from 2020 on`);
}

/** The same values with any filter, format, order and page size. */
async function checkForms(instance: Check['instance'], seen: Check['seen']): Promise<void> {
  const whole = await points(instance, '/v1/series/FX.M?limit=100000');
  const filtered = await points(instance, '/v1/series/FX.M?dims=country:Australia&limit=100000');
  assert.deepEqual(
    filtered,
    whole.filter(({ dims }) => dims['country'] === 'Australia'),
  );
  seen(`exchange rates filter by country: ${filtered.length} values of Australia`);

  for (const target of [
    '/v1/series/FX.M?limit=100000',
    '/v1/series/US.CPI?limit=100000&sort=desc',
    '/v1/series/BRENT.D?limit=100000&transform=yoy',
  ]) {
    const json = await points(instance, target);
    assert.deepEqual(await csvPoints(instance, target), json);
    seen(`CSV and JSON agree in all ${json.length} values of ${target.slice('/v1/series/'.length)}`);
  }
  assert.deepEqual(await pages(instance, '/v1/series/FX.M', 997), whole);
  seen(`paging by cursor gives the same ${whole.length} points as one call`);
  const changes = await points(instance, '/v1/series/FX.M?transform=mom&limit=100000');
  assert.deepEqual(await pages(instance, '/v1/series/FX.M?transform=mom', 1499), changes);
  seen(`so does paging through ${changes.length} monthly changes`);
}

async function checkReload(
  instance: Check['instance'],
  load: (table: Table) => ReturnType<typeof ingest>,
  seen: Check['seen'],
): Promise<void> {
  const before = await points(instance, '/v1/series/FX.M?limit=100000');
  for (const table of tables.filter(({ id }) => ['BRENT.D', 'FX.M', 'IMF.'].includes(id))) {
    const again = await load(table);
    assert.deepEqual([again.points_new, again.points_revised, again.points_deleted], [0, 0, 0], table.file);
  }
  assert.deepEqual(await points(instance, '/v1/series/FX.M?limit=100000'), before);
  seen('loading files a second time changes nothing');
}
