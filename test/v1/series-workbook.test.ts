// format=xlsx: the cells of the workbook, compared with the CSV of the same table.
import test from 'ava';
import { parse } from 'csv-parse/sync';
import { read, utils, type CellObject, type WorkSheet } from '@e965/xlsx';
import { fromDayNumber } from '../../kernel/dates.ts';
import { startSeriesService } from './series-service.ts';
import { makeSeries, publish } from './series-fixture.ts';

const { service, refusal } = await startSeriesService(test);
const formula = '=HYPERLINK("http://evil.example","x")';

test.before(async () => {
  await makeSeries(service.pool, { id: 'OLD', name: formula, unit: '+1', source: '@SUM(1)' });
  await publish(service.pool, 'OLD', '2024-06-10', [
    { date: '1899-12-31', value: '7' },
    { date: '1900-03-01', value: '-8.50' },
    { date: '2024-02-29', value: '1e3' },
  ]);
});

async function bytesOf(path: string): Promise<{ bytes: Buffer; headers: Headers }> {
  const response = await fetch(service.url + path, { headers: service.headers(path) });
  return { bytes: Buffer.from(await response.arrayBuffer()), headers: response.headers };
}

async function sheetsOf(path: string): Promise<Record<string, WorkSheet>> {
  const { bytes } = await bytesOf(path);
  return read(bytes, { cellNF: true, cellFormula: true }).Sheets;
}

/** A cell in the format of the CSV. */
function textOf(cell: CellObject | undefined): string {
  if (cell?.v === undefined) return '';
  if (cell.t === 'n' && cell.z === 'yyyy-mm-dd')
    return new Date((Number(cell.v) - 25_569) * 86_400_000).toISOString().slice(0, 10);
  return String(cell.v);
}

function rowsOf(sheet: WorkSheet | undefined): string[][] {
  const { e } = utils.decode_range(sheet?.['!ref'] ?? 'A1');
  const at = (r: number, c: number) => textOf(sheet?.[utils.encode_cell({ r, c })] as CellObject | undefined);
  return Array.from({ length: e.r + 1 }, (_r, r) => Array.from({ length: e.c + 1 }, (_c, c) => at(r, c)));
}

for (const query of ['', 'sort=desc', 'from=2024-01-03', 'last=2', 'transform=index']) {
  test(`the sheet of several series has the cells of the wide CSV: ${query}`, async (t) => {
    const table = `/v1/series?ids=TRADES,CPI&${query}`;
    const [header = [], ...lines] = parse((await service.call(`${table}&format=csv&layout=wide`)).text);
    const [names, ...rows] = rowsOf((await sheetsOf(`${table}&format=xlsx`))['Data']);
    t.deepEqual(names, header);
    const numbers = (all: string[][]) => all.map(([date, ...cells]) => [date, ...cells.map((cell) => (cell === '' ? '' : Number(cell)))]); // prettier-ignore
    t.deepEqual(numbers(rows), numbers(lines));
  });
}

test('dates are date cells, numbers show their published decimals, and what Excel has no day for is text', async (t) => {
  const { Data: data = {}, Series: facts = {} } = await sheetsOf('/v1/series/OLD?format=xlsx');
  const cells = ['A2', 'A3', 'A4', 'B2', 'B3', 'B4'].map((at) => data[at] as CellObject);
  t.deepEqual(
    cells.map(({ t: type, v, z }) => [type, v, type === 'n' ? z : undefined]),
    [
      ['s', '1899-12-31', undefined],
      ['n', 61, 'yyyy-mm-dd'],
      ['n', 45_351, 'yyyy-mm-dd'],
      ['n', 7, 'General'],
      ['n', -8.5, '0.00'],
      ['n', 1_000, 'General'],
    ],
  );
  const [names = [], values = []] = rowsOf(facts);
  const fact = Object.fromEntries(names.map((name, i) => [name, values[i]]));
  t.like(fact, { series: 'OLD', name: formula, unit: '+1', source: '@SUM(1)', last_updated: '2024-06-10' });
  t.is(fact['citation_url'], 'https://almanac.example/v1/series/OLD/cite');
  for (const sheet of [data, facts])
    for (const [at, cell] of Object.entries(sheet))
      if (!at.startsWith('!')) t.is((cell as CellObject).f, undefined, `${at} is no formula`);
});

test('the facts include the vintage of the numbers', async (t) => {
  const { Series: facts } = await sheetsOf('/v1/series/CPI?format=xlsx&vintage=2024-04-10');
  const [names = [], values = []] = rowsOf(facts);
  t.is(values[names.indexOf('vintage')], '2024-04-10');
  t.regex(values[names.indexOf('citation_url')] ?? '', /\/CPI\/cite\?vintage=2024-04-10$/);
});

test('the same call gives the same bytes, as a file', async (t) => {
  const [first, second] = [
    await bytesOf('/v1/series/CPI?format=xlsx'),
    await bytesOf('/v1/series/CPI?format=xlsx'),
  ];
  t.true(first.bytes.equals(second.bytes));
  const { headers } = first;
  t.is(headers.get('content-type'), 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet');
  t.is(headers.get('content-disposition'), 'attachment; filename="CPI.xlsx"');
});

test('content that does not fit a workbook is refused by name, and too many points with their limit', async (t) => {
  for (const [path, param] of [
    ['/v1/series/CPI?limit=5', 'limit'],
    ['/v1/series/CPI?fields=date,value', 'fields'],
    ['/v1/series/CPI?include=notes', 'include'],
    ['/v1/series?ids=CPI&layout=long', 'layout'],
    ['/v1/series/CPI/latest?from=2024', 'format'],
  ] as const) {
    const refused = await refusal(`${path}&format=xlsx`);
    t.deepEqual([refused.code, refused.param], ['invalid_parameter', param], path);
  }
  await makeSeries(service.pool, { id: 'LONG', frequency: 'daily' });
  const days = Array.from({ length: 100_001 }, (_, i) => fromDayNumber(i - 80_000));
  await publish(
    service.pool,
    'LONG',
    '2024-01-01',
    days.map((date) => ({ date, value: '1' })),
  );
  const refused = await refusal('/v1/series/LONG?format=xlsx');
  t.deepEqual([refused.status, refused.param], [400, 'format']);
  t.regex(refused.message, /at most 100000/);
});
