// The State Bank of Pakistan's EasyData as its site exports it: 112 series in seven files of two layouts, the newest row first.
import assert from 'node:assert/strict';
import path from 'node:path';
import { ingest, manySeries, points, type Flags } from './answers.ts';
import { endOfPeriod, oneLine, rowsOf } from './published-files.ts';
import type { Check } from './run.ts';
import { compareTransforms, type Frequency, type Published } from './transforms.ts';

interface Export {
  file: string;
  frequency: Frequency;
  /** Rows of a month that the file states twice. */
  rowsRejected?: number;
}

const exports: readonly Export[] = [
  { file: 'Exports and Imports.csv.gz', frequency: 'monthly' },
  { file: 'Industrial Production Index.csv', frequency: 'monthly' },
  // August 2022 is under the 31st and once more, with older values, under the 30th.
  { file: 'Monthly Monetary Aggregate.csv', frequency: 'monthly', rowsRejected: 11 },
  { file: 'Pakistan Exchange Rate Per USD.csv', frequency: 'monthly' },
  { file: 'Policy Rate.csv', frequency: 'irregular' },
  { file: 'inflation_base_2015.csv', frequency: 'monthly' },
  { file: 't_bills.csv', frequency: 'irregular' },
];

interface Row {
  date: string;
  value: string;
  status: string;
}

export async function checkSbpEasyData({ instance, folder, seen }: Check): Promise<void> {
  const all: (Published & { rows: Row[] })[] = [];
  let read = 0;
  for (const each of exports) {
    const file = path.join(folder, '06_sbp_easydata_pakistan', each.file);
    const rows = rowsOf(file);
    const loaded = await ingest(instance, 'observations', file, flagsOf(each, Object.keys(rows[0] ?? {})));
    assert.deepEqual(
      [loaded.rows_read, loaded.rows_rejected],
      [rows.length, each.rowsRejected ?? 0],
      each.file,
    );
    read += rows.length;
    all.push(...seriesIn(rows, each.frequency));
  }
  assert.equal(all.length, 112);
  assert.equal(read, 19_581);
  seen(`${read} rows of 7 files load as ${all.length} series`);
  seen('the 11 rows that state August 2022 a second time are refused, all others kept');

  const answered = await asked(instance, all);
  for (const { id, rows } of all) {
    const wanted = rows.map(({ date, value, status }) => ({
      date,
      value: value === '' ? null : Number(value),
      dims: {},
      status,
    }));
    assert.deepEqual(
      answered.get(id),
      wanted.toSorted((a, b) => (a.date < b.date ? -1 : 1)),
      id,
    );
  }
  const served = [...answered.values()].flat();
  const dates = served.map(({ date }) => date).sort();
  assert.deepEqual([dates[0], dates.at(-1)], ['1947-08-31', '2025-05-06']);
  seen(`all ${served.length} points, of 1947-08 to 2025-05, are served with their status, oldest first`);
  const digits = all.flatMap(({ rows }) => rows).filter(({ value }) => /^-?\./.test(value));
  assert.equal(digits.length, 921);
  seen(`${digits.length} of them were published without a zero before the point`);
  const missing = (part: string) =>
    all
      .filter(({ id }) => id.includes(part))
      .flatMap(({ id }) => answered.get(id) ?? [])
      .filter(({ value }) => value === null).length;
  assert.deepEqual([missing('SIRTBIL'), missing('PT_CPI')], [503, 269]);
  seen('503 yields and 269 rates of inflation are published as missing');

  for (const [id, date, value] of [
    ['TS_GP_PT_CPI_M.P00011516', '2025-04-30', 0.3],
    ['TS_GP_BAM_M3_M.MA3002100', '2022-08-31', 30433186.1],
    ['TS_GP_ER_FAERPKR_M.E00220', '1947-08-31', 3.30852],
    ['TS_GP_IR_SIRPR_AH.SBPOL0030', '2025-05-06', 11],
    ['TS_GP_BAM_SIRTBIL_AH.TB0010', '2025-03-26', 12.01],
    ['TS_GP_BOP_XMGS_M.P00010', '2025-03-31', -2407],
  ]) {
    assert.deepEqual(await points(instance, `/v1/series/${id}?from=${date}&to=${date}`), [
      { date, value, dims: {} },
    ]);
    seen(`${id} of ${date} is ${value}`);
  }

  const transformed = await compareTransforms(instance, all);
  seen(
    `${transformed} transformed values, over gaps, negative balances and auction days, are those of the files`,
  );
}

/** The two layouts name the series' title differently, and one has columns more. */
function flagsOf({ frequency, rowsRejected }: Export, header: readonly string[]): Flags {
  const name = header.includes('Series name') ? 'Series name' : 'Series';
  const map = {
    series_id: 'Series Key',
    name,
    date: 'Observation Date',
    value: 'Observation Value',
    status: 'Observation Status',
  };
  const ignore = header.filter((title) => title !== 'Unit' && !Object.values(map).includes(title));
  return {
    map,
    ignore,
    create: true,
    'date-format': 'DD-MMM-YYYY',
    set: { frequency, source: 'State Bank of Pakistan', geography: 'Pakistan' },
    ...(rowsRejected === undefined ? {} : { 'skip-invalid': true }),
  };
}

function seriesIn(rows: Record<string, string>[], frequency: Frequency): (Published & { rows: Row[] })[] {
  return [...Map.groupBy(rows, (row) => row['Series Key'] ?? '')].map(([id, own]) => {
    const byDate = new Map<string, Row>();
    for (const row of own) {
      const day = isoDay(row['Observation Date'] ?? '');
      const date = frequency === 'monthly' ? endOfPeriod(day, 1) : day;
      const { 'Observation Value': value = '', 'Observation Status': status = '' } = row;
      if (!byDate.has(date)) byDate.set(date, { date, value, status });
    }
    const distinct = [...byDate.values()];
    return {
      id,
      frequency,
      rows: distinct,
      lines: oneLine(distinct.map(({ date, value }) => [date, value])),
    };
  });
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `31-Mar-2025` */
function isoDay(text: string): string {
  const [day, month = '', year] = text.split('-');
  return `${year}-${String(months.indexOf(month) + 1).padStart(2, '0')}-${day}`;
}

/** All points of the series by id, those published as missing too. */
async function asked(instance: Check['instance'], all: readonly Published[]) {
  const answered = new Map<string, { date: string; value: number | null }[]>();
  for (let at = 0; at < all.length; at += 100) {
    const ids = all.slice(at, at + 100).map(({ id }) => id);
    const target = `/v1/series?ids=${ids.join(',')}&limit=1000&include_missing=true&fields=date,value,dims,status`;
    for (const { series, data } of await manySeries(instance, target)) answered.set(series, data);
  }
  return answered;
}
