// GET /v1/series/{id}/triangle: each cell equals the answer of `vintage=`, in both layouts and formats, after any loads in any order.
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { openDatabase, type Database } from '../../kernel/database.ts';
import { loadCsv } from '../ingest/loading.ts';
import { propertyRuns } from '../run/property-runs.ts';
import { freeAccount, publicCaller, startDataService, type DataService } from '../services/data-service.ts';
import { silentLog } from '../services/harness.ts';
import { makeSeries, publish } from './series-fixture.ts';
import type { Envelope } from './series-service.ts';

interface Cell {
  vintage: string;
  date: string;
  value: number | null;
  dims: Record<string, string>;
}
interface WideRow {
  date: string;
  dims: Record<string, string>;
  values: (number | null)[];
}
interface Answer<Row> {
  series: string;
  meta: { vintages: string[]; name: string };
  data: Row[];
  pagination: { next_cursor: string | null; count: number };
  error: { code: string; message: string; param?: string };
}

let service: DataService;
let database: Database;

test.before(async () => {
  service = await startDataService(undefined, undefined, { openRevisionsSeries: 'OPEN' });
  database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'tests' });
});

test.after.always(async () => {
  await database.close();
  await service.close();
});

const call = async <Body>(path: string) => (await service.call(path)).json as Body;
const longOf = (id: string, query = '') =>
  call<Answer<Cell>>(`/v1/series/${id}/triangle?layout=long${query}`);
const wideOf = (id: string, query = '') =>
  call<Answer<WideRow>>(`/v1/series/${id}/triangle?layout=wide${query}`);

/** The statements of one file about a series; `full`: the file is complete, so points that it omits are deleted. */
interface File {
  vintage: string;
  full: boolean;
  /** Point (`day,side`) → value; empty if it is published as missing. */
  points: ReadonlyMap<string, string>;
}

const anyFiles: fc.Arbitrary<File[]> = fc.array(
  fc.record({
    vintage: fc.constantFrom('10', '11', '12', '20', '21').map((day) => `2024-03-${day}`),
    full: fc.boolean(),
    points: fc
      .uniqueArray(
        fc.tuple(
          fc.constantFrom('01,buy', '02,buy', '04,buy', '02,sell'),
          fc.constantFrom('1.0', '2.50', '-3', ''),
        ),
        { selector: ([point]) => point, minLength: 1 },
      )
      .map((points) => new Map(points)),
  }),
  { minLength: 1, maxLength: 7, size: 'max' },
);

let made = 0;

async function seriesOf(files: readonly File[]): Promise<string> {
  const id = `ANY${++made}`;
  for (const { vintage, full, points } of files) {
    const rows = [...points].map(([point, value]) => `${id},2024-01-${point},${value}`);
    await loadCsv(database, ['series_id,date,side,value', ...rows], {
      create: true,
      set: { frequency: 'daily', unit: 'Index', source: 'Office' },
      vintage,
      full,
      clock: service.clock,
    });
  }
  return id;
}

/** The points of each vintage according to `vintage=`: `vintage date side value`, sorted. */
async function vintageByVintage(id: string, more = ''): Promise<{ days: string[]; cells: string[] }> {
  const { data } = await call<{ data: { vintage: string }[] }>(`/v1/series/${id}/vintages`);
  const days = data.map(({ vintage }) => vintage);
  const cells: string[] = [];
  for (const day of days) {
    const csv = (await service.call(`/v1/series/${id}?vintage=${day}&format=csv${more}`)).text;
    cells.push(...linesOf(csv).map((line) => `${day},${line}`));
  }
  return { days, cells: cells.sort() };
}

const linesOf = (csv: string) => csv.split('\r\n').slice(1, -1);

async function assertCellByCell(t: ExecutionContext, id: string, about: string): Promise<void> {
  for (const more of ['', '&include_missing=true']) {
    const expected = await vintageByVintage(id, more);
    const long = (await service.call(`/v1/series/${id}/triangle?format=csv${more}`)).text;
    t.deepEqual(linesOf(long).sort(), expected.cells, `long CSV${more} ${about}`);
    const json = await longOf(id, more);
    t.deepEqual(json.meta.vintages, expected.days);
    t.deepEqual(
      json.data.map(({ vintage, date, value, dims }) => [vintage, date, Number(value), dims['side'] ?? '']),
      linesOf(long).map((line) => {
        const [vintage = '', date = '', value = '', side = ''] = line.split(',');
        return [vintage, date, Number(value), side];
      }),
      `long JSON${more} ${about}`,
    );
    t.is(json.pagination.count, json.data.length);
    const valued = json.data.filter(({ value }) => value !== null);
    const wide = await wideOf(id, more);
    t.deepEqual(cellsOfWide(wide), valued, `wide JSON${more} ${about}`);
    const points = new Set(json.data.map(({ date, dims }) => `${date} ${dims['side']}`));
    t.is(wide.data.length, points.size, `one row a point ${about}`);
    t.is(wide.pagination.count, points.size);
  }
}

function cellsOfWide({ meta, data }: Answer<WideRow>): Cell[] {
  return data.flatMap(({ date, dims, values }) =>
    values.flatMap((value, i) =>
      value === null ? [] : [{ vintage: meta.vintages[i] ?? '', date, value, dims }],
    ),
  );
}

test('for any loads in any order, with deletions, each cell of the triangle equals the answer of its vintage', async (t) => {
  await fc.assert(
    fc.asyncProperty(anyFiles, async (files) => {
      const id = await seriesOf(files);
      const about = JSON.stringify(files.map((file) => ({ ...file, points: [...file.points] })));
      await assertCellByCell(t, id, about);
      const { days, cells } = await vintageByVintage(id);
      const [second = '2024-03-10', last = second] = [days[1], days.at(-2)];
      const within = (line: string) => line.slice(0, 10) >= second && line.slice(0, 10) <= last;
      if (second <= last) {
        const csv = await service.call(
          `/v1/series/${id}/triangle?format=csv&vintages_from=${second}&vintages_to=${last}`,
        );
        t.deepEqual(linesOf(csv.text).sort(), cells.filter(within), about);
      }
      const newest = days.slice(-2);
      const lastTwo = await service.call(`/v1/series/${id}/triangle?format=csv&last=2`);
      t.deepEqual(
        linesOf(lastTwo.text).sort(),
        cells.filter((line) => newest.includes(line.slice(0, 10))),
        about,
      );
    }),
    { numRuns: propertyRuns(12), includeErrorInReport: true },
  );
});

test('a deleted point has no cell, one published as missing has null on request, and digits are preserved', async (t) => {
  await makeSeries(service.pool, { id: 'CELLS' });
  const [january, february] = ['2024-01-31', '2024-02-29'];
  await publish(service.pool, 'CELLS', '2024-03-01', [{ date: january, value: '1.50' }]);
  await publish(service.pool, 'CELLS', '2024-04-01', [{ date: february, value: null }]);
  await publish(service.pool, 'CELLS', '2024-05-01', [{ date: february, value: '2' }], { complete: true });
  t.deepEqual((await longOf('CELLS', '&include_missing=true')).data, [
    { vintage: '2024-03-01', date: january, value: 1.5, dims: {} },
    { vintage: '2024-04-01', date: january, value: 1.5, dims: {} },
    { vintage: '2024-04-01', date: february, value: null, dims: {} },
    { vintage: '2024-05-01', date: february, value: 2, dims: {} },
  ]);
  t.is((await longOf('CELLS')).data.length, 3);
  const wide = await wideOf('CELLS');
  t.deepEqual(wide.data, [
    { date: january, dims: {}, values: [1.5, 1.5, null] },
    { date: february, dims: {}, values: [null, null, 2] },
  ]);
  const csv = await service.call('/v1/series/CELLS/triangle?layout=wide&format=csv');
  t.is(csv.text, 'date,2024-03-01,2024-04-01,2024-05-01\r\n2024-01-31,1.50,1.50,\r\n2024-02-29,,,2\r\n');
  t.regex(csv.headers.get('content-disposition') ?? '', /filename="CELLS-triangle\.csv"/);
});

test('a dimension with the name of another column of the CSV gets the prefix dim_, as in that of a vintage', async (t) => {
  await makeSeries(service.pool, { id: 'NAMED', dimensions: ['Vintage', 'side'] });
  const point = { date: '2024-01-31', value: '1', dims: { Vintage: 'old', side: 'buy' } };
  await publish(service.pool, 'NAMED', '2024-03-01', [point]);
  const csv = async (layout: string) =>
    (await service.call(`/v1/series/NAMED/triangle?format=csv&layout=${layout}`)).text;
  t.is(await csv('long'), 'vintage,date,value,dim_Vintage,side\r\n2024-03-01,2024-01-31,1,old,buy\r\n');
  t.is(await csv('wide'), 'date,Vintage,side,2024-03-01\r\n2024-01-31,old,buy,1\r\n');
});

test('a triangle of more revisions than one part holds is whole, for one combination and for many', async (t) => {
  const frequency = 'daily';
  await makeSeries(service.pool, { id: 'TALL', frequency });
  await makeSeries(service.pool, { id: 'BROAD', frequency, dimensions: ['side'] });
  const dayOf = (n: number) => new Date(Date.UTC(2020, 0, 1 + n)).toISOString().slice(0, 10);
  for (let vintage = 0; vintage < 16; vintage += 1) {
    const value = (n: number) => `${n}.${vintage}`;
    const tall = Array.from({ length: 700 }, (_, n) => ({ date: dayOf(n), value: value(n) }));
    const broad = Array.from({ length: 120 }, (_, n) => ({
      date: dayOf(vintage),
      value: value(n),
      dims: { side: `s${String(n).padStart(3, '0')}` },
    }));
    await publish(service.pool, 'TALL', `2024-03-${vintage + 10}`, tall);
    await publish(service.pool, 'BROAD', `2024-03-${vintage + 10}`, broad);
  }
  for (const id of ['TALL', 'BROAD']) {
    const { cells } = await vintageByVintage(id);
    const csv = (await service.call(`/v1/series/${id}/triangle?format=csv`)).text;
    const found = linesOf(csv);
    t.is(found.length, cells.length, id);
    t.deepEqual(found.toSorted(), cells, id);
    const combinationFirst = (line: string) => {
      const [vintage, date, , side = ''] = line.split(',');
      return `${side} ${date} ${vintage}`;
    };
    t.deepEqual(found.map(combinationFirst), found.map(combinationFirst).toSorted(), `${id} is in order`);
  }
});

test('dates, dims and vintages select a part of a triangle, and invalid ones are named', async (t) => {
  await makeSeries(service.pool, { id: 'NARROW', frequency: 'daily', dimensions: ['side'] });
  for (const vintage of ['2024-03-01', '2024-03-02', '2024-04-01']) {
    const points = ['2024-01-01', '2024-01-02'].flatMap((date) =>
      ['buy', 'sell'].map((side) => ({ date, value: vintage.slice(-4).replace('-', ''), dims: { side } })),
    );
    await publish(service.pool, 'NARROW', vintage, points);
  }
  const shown = async (query: string) => {
    const { data } = await longOf('NARROW', query);
    return new Set(data.map(({ vintage, date, dims }) => `${vintage} ${date} ${dims['side']}`));
  };
  t.deepEqual(
    await shown('&from=2024-01-02&dims=side:buy&vintages_from=2024-03-02'),
    new Set(['2024-03-02 2024-01-02 buy', '2024-04-01 2024-01-02 buy']),
  );
  t.is((await shown('&vintages_to=2024-03')).size, 8);
  t.is((await shown('&last=1&to=2024-01-01')).size, 2);
  t.is((await shown('&dims=side:none')).size, 0);
  for (const [query, param] of [
    ['&vintages_from=2024-05&vintages_to=2024-04', 'vintages_from'],
    ['&from=2024-05&to=2024-04', 'from'],
    ['&last=0', 'last'],
    ['&dims=city:x', 'dims'],
    ['&vintage=2024-03-01', 'vintage'],
  ]) {
    t.is((await longOf('NARROW', query)).error.param, param, query);
  }
  t.is((await longOf('NARROWS')).error.code, 'not_found');
});

test('the triangle is refused under a plan without vintages, and 304 until the series changes', async (t) => {
  await makeSeries(service.pool, { id: 'GATED' });
  await publish(service.pool, 'GATED', '2024-03-01', [{ date: '2024-01-31', value: '1' }]);
  const path = '/v1/series/GATED/triangle';
  const { status, headers } = await service.call(path);
  t.is(status, 200);
  const known = { 'if-none-match': headers.get('etag') ?? '' };
  t.is((await service.call(path, { headers: known })).status, 304);
  const refused = await service.call(path, { identity: freeAccount, headers: known });
  t.is(refused.status, 403);
  t.is((refused.json as Envelope).error.code, 'plan_required');
  await publish(service.pool, 'GATED', '2024-04-01', [{ date: '2024-01-31', value: '2' }]);
  t.is((await service.call(path, { headers: known })).status, 200);
});

test('only the series chosen by the operator shows its triangle to visitors', async (t) => {
  await makeSeries(service.pool, { id: 'OPEN' });
  await publish(service.pool, 'OPEN', '2024-03-01', [{ date: '2024-01-31', value: '1' }]);
  await publish(service.pool, 'OPEN', '2024-04-01', [{ date: '2024-01-31', value: '1.5' }]);
  await makeSeries(service.pool, { id: 'CLOSED' });
  const visit = (path: string) => service.call(path, { identity: publicCaller });
  const open = await visit('/v1/catalog/OPEN/triangle?layout=wide');
  t.is(open.text, (await service.call('/v1/series/OPEN/triangle?layout=wide')).text);
  t.is(open.headers.get('cache-control'), 'public, max-age=60');
  const refused = await visit('/v1/catalog/CLOSED/triangle');
  t.is(refused.status, 404);
  t.regex((refused.json as Envelope).error.message, /not open to visitors\. Those of OPEN are/);
  t.is((await visit('/v1/series/OPEN/triangle')).status, 403);
  const status = (await visit('/v1/status')).json as { data: { open_revisions_series: string } };
  t.is(status.data.open_revisions_series, 'OPEN');
});
