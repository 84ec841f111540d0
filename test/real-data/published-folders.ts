// almanac publish with folders of real files, loaded as it proposes; every value is compared with an independent reading.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { utils, write } from '@e965/xlsx';
import { periodEnd } from '../../domain/periods.ts';
import { readFirstSheet } from '../../examples/converters/xlsx.ts';
import { points, series } from './answers.ts';
import { endOfPeriod, linesOf, oneLine, rowsOf } from './published-files.ts';
import type { Check } from './run.ts';
import { comparePublished, type Frequency, type Published } from './transforms.ts';

interface Printed {
  loaded: { path: string; series: number; series_ids: string[]; points_new: number; rows_rejected: number }[];
  unchanged: number;
  failed: { path: string; reason: string }[];
}

type Row = Readonly<Record<string, string>>;

export async function checkPublishedFolders(check: Check): Promise<void> {
  const scratch = mkdtempSync(path.join(tmpdir(), 'almanac-publish-'));
  try {
    await checkCore(check, scratch);
    await checkEasyData(check, scratch);
    await checkFoodPrices(check, scratch);
    await checkFredMd(check, scratch);
    await checkWorldBank(check, scratch);
    await checkAssets(check, scratch);
    await checkPortfolios(check, scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** A separate folder with links to the files: almanac.yml is written into it. */
function linked(scratch: string, from: string, choose: (name: string) => boolean = () => true): string {
  const folder = path.join(scratch, path.basename(from));
  mkdirSync(folder);
  for (const name of readdirSync(from).filter(choose))
    symlinkSync(path.join(from, name), path.join(folder, name));
  return folder;
}

/** Publishes a folder, and again: nothing is left to load. */
async function publish({ instance }: Check, folder: string): Promise<Printed> {
  const run = async () => JSON.parse(await instance.almanac('publish', folder, '--yes', '--json')) as Printed;
  const printed = await run();
  assert.deepEqual(printed.failed, []);
  const again = await run();
  assert.deepEqual([again.loaded, again.unchanged], [[], printed.loaded.length]);
  return printed;
}

async function compareAll({ instance }: Check, all: readonly Published[]): Promise<number> {
  let values = 0;
  for (const each of all) values += await comparePublished(instance, each);
  return values;
}

const monthsOf: Partial<Record<Frequency, number>> = { monthly: 1, quarterly: 3, annual: 12 };
const dated = (date: string, frequency: Frequency) => {
  const months = monthsOf[frequency];
  return months === undefined ? date : endOfPeriod(date, months);
};
const idOf = (title: string) => title.replaceAll(/[^A-Za-z0-9._-]+/g, '_').replaceAll(/^[._-]+|_+$/g, '');

/** File, frequency, column of dates, and of the values of a single series. */
const core: readonly [
  file: string,
  frequency: Frequency,
  date: string,
  value?: string,
  dimension?: string,
][] = [
  ['bond-yields-uk-10y__annual', 'annual', 'Year', 'Rate'],
  ['bond-yields-uk-10y__quarterly', 'quarterly', 'Date', 'Rate'],
  ['bond-yields-us-10y__monthly', 'monthly', 'Date', 'Rate'],
  ['commodity-prices__commodity-prices', 'monthly', 'Date'],
  ['cpi-us__cpiai', 'monthly', 'Date'],
  // The dates of the file called weekly are a month apart.
  ['euribor__euribor-1w-weekly', 'monthly', 'date', 'rate'],
  ['euribor__euribor-3m-monthly', 'monthly', 'date', 'rate'],
  ['exchange-rates__annual', 'annual', 'Date', 'Exchange rate', 'Country'],
  ['exchange-rates__monthly', 'monthly', 'Date', 'Exchange rate', 'Country'],
  ['gdp-us__quarter', 'quarterly', 'date'],
  ['gdp-us__year', 'annual', 'date'],
  ['gold-prices__annual', 'annual', 'Date', 'Price'],
  ['gold-prices__monthly', 'monthly', 'Date', 'Price'],
  ['natural-gas__daily', 'daily', 'Date', 'Price'],
  ['natural-gas__monthly', 'monthly', 'Month', 'Price'],
  ['oil-prices__brent-daily', 'daily', 'Date', 'Price'],
  ['oil-prices__brent-monthly', 'monthly', 'Date', 'Price'],
  ['oil-prices__brent-weekly', 'weekly', 'Date', 'Price'],
  ['oil-prices__brent-year', 'annual', 'Date', 'Price'],
];

async function checkCore(check: Check, scratch: string): Promise<void> {
  const from = path.join(check.folder, '01_core_series_pddl');
  const printed = await publish(check, linked(scratch, from));
  assert.equal(printed.loaded.length, core.length);
  const all = core.flatMap(([file, frequency, date, value, dimension]): Published[] => {
    const rows = rowsOf(path.join(from, `${file}.csv`));
    const when = (row: Row) => dated(row[date] ?? '', frequency);
    if (value !== undefined)
      return [
        {
          id: file,
          frequency,
          lines: linesOf(rows.map((row) => [row[dimension ?? ''] ?? '', when(row), row[value] ?? ''])),
        },
      ];
    const titles = Object.keys(rows[0] ?? {}).filter((title) => title !== date);
    return titles.map((title) => ({
      id: `${file}.${idOf(title)}`,
      frequency,
      lines: oneLine(rows.map((row) => [when(row), row[title] ?? ''])),
    }));
  });
  for (const { id, frequency } of all) {
    const { meta } = await series(check.instance, `/v1/series/${id}?limit=1`);
    assert.equal(meta['frequency'], frequency, id);
  }
  check.seen(
    `all ${await compareAll(check, all)} values of ${core.length} core tables (${all.length} series), without an edit`,
  );
}

async function checkEasyData(check: Check, scratch: string): Promise<void> {
  const from = path.join(check.folder, '06_sbp_easydata_pakistan');
  await publish(check, linked(scratch, from));
  const all = readdirSync(from).flatMap((file) => {
    const frequency: Frequency = /^(?:Policy|t_bills)/.test(file) ? 'irregular' : 'monthly';
    const groups = Map.groupBy(rowsOf(path.join(from, file)), (row) => row['Series Key'] ?? '');
    return [...groups].map(([id, rows]): Published => ({
      id,
      frequency,
      lines: linesOf(
        rows.map((row) => [
          '',
          dated(isoDay(row['Observation Date'] ?? ''), frequency),
          row['Observation Value'] ?? '',
        ]),
      ),
    }));
  });
  const policy = await points(
    check.instance,
    '/v1/series/TS_GP_IR_SIRPR_AH.SBPOL0030?from=2025-05-06&fields=date,value,dims,status',
  );
  assert.deepEqual(policy, [{ date: '2025-05-06', value: 11, dims: {}, status: 'Normal' }]);
  const { meta } = await series(check.instance, '/v1/series/TS_GP_PT_CPI_M.P00011516?limit=1');
  assert.equal(meta['unit'], 'Percent');
  check.seen(
    `all ${await compareAll(check, all)} values of ${all.length} series of EasyData, with unit and status, without an edit`,
  );
}

const monthNames = 'JanFebMarAprMayJunJulAugSepOctNovDec';

/** `31-Mar-2025` as ISO. */
function isoDay(text: string): string {
  const [day = '', month = '', year = ''] = text.split('-');
  return `${year}-${String(monthNames.indexOf(month) / 3 + 1).padStart(2, '0')}-${day}`;
}

async function checkFoodPrices(check: Check, scratch: string): Promise<void> {
  const from = path.join(check.folder, '07_wfp_food_prices');
  await publish(check, linked(scratch, from));
  const rows = rowsOf(path.join(from, 'wfp_food_prices_pak.csv'), 1);
  const groups = Map.groupBy(rows, (row) => row['commodity'] ?? '');
  const all = [...groups].flatMap(([commodity, prices]) =>
    ['price', 'usdprice'].map((value): Published => ({
      id: `wfp_food_prices_pak.${idOf(commodity)}.${value}`,
      frequency: 'monthly',
      lines: linesOf(
        prices.map((row) => [row['market'] ?? '', dated(row['date'] ?? '', 'monthly'), row[value] ?? '']),
      ),
    })),
  );
  const unitOf = async (id: string) =>
    (await series(check.instance, `/v1/series/${id}?limit=1`)).meta['unit'];
  assert.deepEqual(
    [await unitOf('wfp_food_prices_pak.Sugar.price'), await unitOf('wfp_food_prices_pak.Sugar.usdprice')],
    ['PKR per KG', 'USD per KG'],
  );
  check.seen(`all ${await compareAll(check, all)} food prices, in rupees and dollars, without an edit`);
}

async function checkFredMd(check: Check, scratch: string): Promise<void> {
  const from = path.join(check.folder, '02_vintages_fred_md');
  const printed = await publish(check, linked(scratch, from));
  assert.equal(printed.loaded.length, 18);
  let values = 0;
  for (const name of ['2019-07', '2020-05', '2020-12']) {
    const rows = rowsOf(path.join(from, `${name}.csv.gz`), 1).filter((row) => row['sasdate'] !== '');
    for (const id of ['PAYEMS', 'RPI', 'UNRATE', 'INDPRO', 'CPIAUCSL']) {
      const lines = oneLine(rows.map((row) => [usDate(row['sasdate'] ?? ''), row[id] ?? '']));
      values += await comparePublished(
        check.instance,
        { id, frequency: 'monthly', lines },
        `&vintage=${periodEnd(`${name}-01`, 'monthly')}`,
      );
    }
  }
  check.seen(
    `${values} values of three of the 18 vintages of FRED-MD, below its row of codes, without an edit`,
  );
}

/** `3/1/1959` as the end of its month. */
function usDate(text: string): string {
  const [month = '', , year = ''] = text.split('/');
  return endOfPeriod(`${year}-${month.padStart(2, '0')}`, 1);
}

/** GDP in the form in which the World Bank publishes a workbook: titles above, a country a row, a year a column. */
async function checkWorldBank(check: Check, scratch: string): Promise<void> {
  const rows = rowsOf(path.join(check.folder, '04_vintages_git_history/gdp/2024-10-21__1cdcd2e__gdp.csv.gz'));
  const years = [...new Set(rows.map((row) => row['Year'] ?? ''))].sort();
  const byCode = Map.groupBy(rows, (row) => row['Country Code'] ?? '');
  const header = ['Country Name', 'Country Code', 'Indicator Name', 'Indicator Code', ...years];
  const body = [...byCode].map(([code, own]) => {
    const of = new Map(own.map((row) => [row['Year'], Number(row['Value'])]));
    return [
      own[0]?.['Country Name'] ?? '',
      code,
      'GDP (current US$)',
      'NY.GDP.MKTP.CD',
      ...years.map((year) => of.get(year) ?? null),
    ];
  });
  const titles = [
    ['Data Source', 'World Development Indicators'],
    [],
    ['Last Updated Date', '2024-10-21'],
    [],
  ];
  const workbook = utils.book_new();
  utils.book_append_sheet(workbook, utils.aoa_to_sheet([...titles, header, ...body]), 'Data');
  utils.book_append_sheet(
    workbook,
    utils.aoa_to_sheet([
      ['Country Code', 'Region'],
      ['AFG', 'South Asia'],
    ]),
    'Metadata - Countries',
  );
  const folder = path.join(scratch, 'world-bank');
  mkdirSync(folder);
  writeFileSync(
    path.join(folder, 'API_NY.GDP.MKTP.CD.xlsx'),
    write(workbook, { type: 'buffer', bookType: 'xlsx' }) as Buffer,
  );
  await publish(check, folder);
  const lines = linesOf(
    // A workbook stores 15 significant digits, as Excel does.
    rows.map(({ 'Country Code': code = '', Year: year = '', Value: value = '' }) => {
      const rounded = value === '' ? '' : String(Number(Number(value).toPrecision(15)));
      return [code, endOfPeriod(year, 12), rounded] as const;
    }),
  );
  const values = await compareAll(check, [{ id: 'NY.GDP.MKTP.CD', frequency: 'annual', lines }]);
  const { meta } = await series(check.instance, '/v1/series/NY.GDP.MKTP.CD?limit=1');
  assert.deepEqual([meta['name'], meta['frequency']], ['GDP (current US$)', 'annual']);
  check.seen(
    `all ${values} values of ${byCode.size} countries, years across the columns of a workbook, without an edit`,
  );
}

async function checkAssets(check: Check, scratch: string): Promise<void> {
  const from = path.join(check.folder, '14_amc_aum');
  const printed = await publish(check, linked(scratch, from));
  const id = 'kotak2014__AAUM_SEBI_Specified_Format_Anex_A1_Frmt_for_AUM_disclosure.GRAND_TOTAL';
  assert.ok(printed.loaded.length >= 10);
  const months =
    'January February March April May June July August September October November December'.split(' ');
  const wanted = readdirSync(from)
    .filter((name) => name.endsWith('.xlsx'))
    .flatMap((name): [dims: string, date: string, value: string][] => {
      const [, month = '', year = ''] = /on (\w+) \d+, (\d{4})/.exec(name) ?? [];
      const date = endOfPeriod(`${year}-${String(months.indexOf(month) + 1).padStart(2, '0')}`, 1);
      const sheet = readFirstSheet(path.join(from, name));
      const column = 62;
      return sheet
        .slice(7)
        .filter((row) => (row[column] ?? '') !== '' && !/total/i.test(row[1] ?? '') && (row[1] ?? '') !== '')
        .map((row) => [(row[1] ?? '').trim(), date, row[column] ?? '']);
    });
  const lines = linesOf(wanted);
  const dates = new Set(wanted.map(([, date]) => date));
  const found = await points(check.instance, `/v1/series/${id}?limit=100000`);
  let compared = 0;
  for (const { date, value, dims } of found.filter((point) => dates.has(point.date))) {
    const text = lines.get(Object.values(dims).join())?.get(date);
    assert.equal(value, Number(Number(text).toPrecision(15)), `${date} ${JSON.stringify(dims)}`);
    compared += 1;
  }
  assert.ok(compared > 500);
  assert.equal(new Set(found.map(({ date }) => date)).size, 10);
  check.seen(
    `${compared} assets of schemes in ten workbooks with titles over several columns, without an edit`,
  );
}

async function checkPortfolios(check: Check, scratch: string): Promise<void> {
  const from = path.join(check.folder, '13_portfolios');
  await publish(
    check,
    linked(scratch, from, (name) => /^(?:ICICI|Monthly HDFC)/.test(name)),
  );
  for (const [file, stem, isin, column, title, date] of [
    [
      'ICICI Prudential Corporate Bond Fund.xlsx',
      'ICICI_Prudential_Corporate_Bond_Fund',
      2,
      5,
      'Quantity',
      '2025-06-30',
    ],
    [
      'Monthly HDFC Corporate Bond Fund - 31 July 2025.xlsx',
      'Monthly_HDFC_Corporate_Bond_Fund_HDFCMO',
      1,
      5,
      'Quantity',
      '2025-07-31',
    ],
  ] as const) {
    const rows = readFirstSheet(path.join(from, file)).filter((row) =>
      /^[A-Z]{2}[A-Z0-9]{9}\d$/.test(row[isin] ?? ''),
    );
    const lines = linesOf(rows.map((row) => [row[isin] ?? '', date, row[column] ?? '']));
    const values = await compareAll(check, [{ id: `${stem}.${title}`, frequency: 'monthly', lines }]);
    check.seen(`${values} holdings of ${file}, without an edit`);
  }
}
