// Whatever a file contains, a load either stores its rows or rejects them: it never fails with a database error.
import test from 'ava';
import type { Column } from '../../ingest/cells/cells.ts';
import type { Dataset } from '../../ingest/datasets/dataset.ts';
import { datasets } from '../../ingest/datasets/datasets.ts';
import { IngestFailure } from '../../ingest/failure.ts';
import type { LoadOptions } from '../../ingest/load/store/load-options.ts';
import { failureOf, loadCsv, openIngestDatabase, rejectsOf, rowCounts } from './loading.ts';

const database = await openIngestDatabase(test);

const oddCells = [
  ...[
    'a\u0000b',
    'constructor',
    '__proto__',
    'national',
    `${'!'.repeat(300)}a`,
    '😀'.repeat(300),
    'é',
    '１２',
  ],
  ...['-1', '0', '1e5', '1e400', 'NaN', '-Infinity', '9'.repeat(30), `0.${'0'.repeat(29)}1`, '2147483648'],
  ...['2024-02-30', '0001-01-01', '0000-01-01', '9999-12-31', '10000-01-01', '2024-13', '202401', '23:59:60'],
  ...[
    '2024-01-05 08:30+19:59',
    '2024-01-05T08:30-14:00',
    '2024-01-05 24:00',
    'IST',
    'AET',
    '+05:00',
    'Asia/Calcutta',
  ],
  ...['a;b;"c"\\;{}', 'http://x', 'https://exa mple.com', 'US0378331005', '02-30', '99Y', 'TOTAL', 'a/b c'],
];

/** The other cells of the row. */
const goodCells: Readonly<Record<string, string>> = {
  name: 'Name',
  unit: 'kg',
  source: 'Test',
  title: 'Title',
  time_zone: 'Asia/Karachi',
  release_at: '2024-01-05 08:30',
  currency: 'PKR',
  frequency: 'daily',
  series_id: 'ODD',
  item: 'odd-item',
  city: 'odd-city',
  fund: 'odd-fund',
  code: 'ODD',
  type: 'tfc',
  asset_class: 'money_market',
  instrument: 'mtb',
  tenor: '3M',
  flow: 'export',
  period: '2024',
  reporter: 'PAK',
  partner_code: 'CHN',
  commodity_code: '01',
  classification: 'hs',
  basis: 'customs',
  section: 'holding',
  period_type: 'mtd',
};

function goodCell({ name, type, words }: Column): string {
  return goodCells[name] ?? words?.[0] ?? { date: '2024-01-01', number: '1' }[type as string] ?? '1';
}

const factsOfNew = ['unit', 'currency', 'frequency', 'source'];

/** A row for each odd cell in each column; the other ids are unique to the row. */
function oddRows({ columns, key, references = [] }: Dataset): { header: string[]; rows: string[][] } {
  const own = key.find(
    (name) => goodCells[name] === undefined && !references.some(({ column }) => column === name),
  );
  const rows = columns.flatMap((odd, at) =>
    oddCells.map((text, n) =>
      columns.map((column) =>
        column === odd
          ? text
          : column.name === own &&
              ['text', 'slug', 'city', 'series_id', 'security_code'].includes(column.type)
            ? `odd-${at}-${n}`
            : column.required || key.includes(column.name) || factsOfNew.includes(column.name)
              ? goodCell(column)
              : '',
      ),
    ),
  );
  return { header: columns.map(({ name }) => name), rows };
}

const quoted = (row: readonly string[]) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',');

/** The lines of a file, one a row, that a load does not refuse. */
async function withoutRefused(
  csv: readonly string[],
  options: Partial<LoadOptions>,
): Promise<readonly string[]> {
  try {
    await loadCsv(database, csv, options);
    return csv;
  } catch (error) {
    if (!(error instanceof IngestFailure) || error.rejects.length === 0) throw error;
    const refused = new Set(error.rejects.map(({ line }) => line));
    return withoutRefused(
      csv.filter((_, at) => !refused.has(at + 1)),
      options,
    );
  }
}

for (const dataset of datasets) {
  test.serial(`unusual cells of ${dataset.name} are refused or stored`, async (t) => {
    const { header, rows } = oddRows(dataset);
    const create = dataset.kind === 'points' ? { create: true } : {}; // requires the facts of new series in every row
    const csv = [header.join(','), ...rows.map(quoted)];
    const options = { dataset: dataset.name, dryRun: true, skipInvalid: true, ...create };
    if (dataset.whole !== undefined) {
      const left = await withoutRefused(csv, { ...options, skipInvalid: false });
      t.true(left.length < csv.length);
      return;
    }
    const summary = await loadCsv(database, csv, options);
    t.is(summary.rowsRead, rows.length);
    t.true(summary.rowsRejected > 0 && summary.rejects.every(({ expected }) => expected !== ''));
  });
}

test.serial(
  'a name that cannot be that of a new item or city is refused, and nothing is stored',
  async (t) => {
    const before = await rowCounts(database);
    const set = { unit: 'kg', currency: 'PKR', frequency: 'monthly', source: 'Test' };
    const options = { dataset: 'commodity-prices', create: true, set };
    const csv = [
      'item,city,date,price,price_type',
      'Tea,National,2024-01,1,retail',
      `${'!'.repeat(300)}tea,Lahore,2024-01,1,retail`,
      'Tea,Lahore,2024-01,1,street',
      'Tea,Lahore,2024-01,1,Wholesale',
    ];
    t.deepEqual(await rejectsOf(loadCsv(database, csv, options)), [
      [2, 'city', 'National'],
      [3, 'item', `${'!'.repeat(200)}…`],
      [4, 'price_type', 'street'],
    ]);
    t.deepEqual(await rowCounts(database), before);
    const { rejects } = await failureOf(loadCsv(database, csv, options));
    t.regex(rejects[0]?.expected ?? '', /an average over cities is not a city/);
    t.regex(rejects[2]?.expected ?? '', /one of retail, wholesale, farmgate/);
  },
);

test.serial('a file of another kind is refused with a message', async (t) => {
  const csv = 'series_id,date,value\nA,2024-01-01,1';
  const cases: [options: object, message: RegExp][] = [
    [{ input: import.meta.dirname }, /is a folder/],
    [{ input: `${import.meta.dirname}/nowhere.csv` }, /cannot be read/],
    [{ delimiter: '' }, /--delimiter must be the one character/],
    [{ encoding: 'klingon' }, /The encoding klingon is not known/],
    [{ reportFile: `${import.meta.dirname}/nowhere/report.csv` }, /The report .* cannot be written/],
    [
      { wide: true, create: true, set: { ...goodCells, side: ' ' } },
      /--set series_id cannot be used with a wide file/,
    ],
  ];
  for (const [options, message] of cases)
    t.regex((await failureOf(loadCsv(database, csv, options))).message, message);
  const nul = await failureOf(
    loadCsv(database, `series_id,date,val\u0000ue\n${'A,2024-01-01,1\n'.repeat(10)}`),
  );
  t.regex(nul.message, /control characters: is the file in another encoding/);
  const side = { frequency: 'daily', unit: 'x', source: 'Test', side: ' ' };
  const wide = loadCsv(database, 'date,A\n2024-01-01,1', { wide: true, create: true, set: side });
  t.regex((await failureOf(wide)).message, /--set side: the value of a dimension/);
});
