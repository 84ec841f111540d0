import test from 'ava';
import fc from 'fast-check';
import { findSeries } from '../../data-api/series/stored/series.sql.ts';
import { appendPoints, filterPoints, noPoints } from '../../data-api/series/stored/point-columns.ts';
import { readAll, type Selection } from '../../data-api/series/stored/points.ts';
import { transformValues } from '../../data-api/series/computed/transform.ts';
import { transformedBlocks } from '../../data-api/series/computed/transformed-points.ts';
import { openDatabase, type Queryable } from '../../kernel/database.ts';
import { addDays } from '../../kernel/dates.ts';
import { entryAt } from '../../kernel/entries.ts';
import { propertyRuns } from '../run/property-runs.ts';
import { silentLog } from '../services/harness.ts';
import { startDataService, type DataService } from '../services/data-service.ts';
import { makeSeries, publish, type FixturePoint } from './series-fixture.ts';

interface Point {
  date: string;
  value: number | null;
  dims: Record<string, string>;
}

interface Envelope {
  meta: Record<string, unknown>;
  data: Point[];
  pagination: { next_cursor: string | null; count: number };
  error: { code: string; message: string; param?: string };
}

let service: DataService;

const monthly = (values: Record<string, string | null>): FixturePoint[] =>
  Object.entries(values).map(([date, value]) => ({ date, value }));

test.before(async () => {
  service = await startDataService();
  await makeSeries(service.pool, { id: 'CPI', unit: 'Index points' });
  await publish(
    service.pool,
    'CPI',
    '2024-03-10',
    monthly({
      '2023-01-31': '100.0',
      '2023-02-28': '0',
      '2023-03-31': '110.0',
      '2024-01-31': '104.0',
      '2024-02-29': '105.0',
    }),
  );
  await publish(
    service.pool,
    'CPI',
    '2024-04-10',
    monthly({ '2023-01-31': '101.0', '2024-02-29': '106.0', '2024-03-31': '121.0' }),
  );
  await makeSeries(service.pool, { id: 'RATES', frequency: 'daily', dimensions: ['side'] });
  await publish(
    service.pool,
    'RATES',
    '2024-06-01',
    Array.from({ length: 500 }, (_, i) => ['buy', 'sell', 'mid'].map((side, s) => ({ i, side, s })))
      .flat()
      .filter(({ i, s }) => i % 7 < 5 && (i + s) % 11 !== 0)
      .map(({ i, side, s }) => ({
        date: addDays('2023-01-02', i),
        value: i % 13 === 0 ? null : `${((i * 37 + s * 11) % 100) - 3}.25`,
        dims: { side },
      })),
  );
  await makeSeries(service.pool, { id: 'GDP', frequency: 'quarterly' });
  await publish(service.pool, 'GDP', '2024-06-01', [{ date: '2024-03-31', value: '1' }]);
});

test.after.always(() => service.close());

async function series(path: string): Promise<Envelope> {
  return (await service.call(path)).json as Envelope;
}

const values = ({ data }: Envelope) => Object.fromEntries(data.map((point) => [point.date, point.value]));

test('a transform is named in meta, with its own unit beside the unit of the source', async (t) => {
  const yoy = await series('/v1/series/CPI?transform=yoy&from=2024');
  t.deepEqual(values(yoy), { '2024-01-31': 2.97029703, '2024-03-31': 10 });
  t.like(yoy.meta, { transform: 'yoy', unit: '%', source_unit: 'Index points' });
  t.like((await series('/v1/series/CPI?transform=3ma')).meta, { transform: '3ma', unit: 'Index points' });
  for (const name of ['mom', 'pct_change']) {
    const { meta, data } = await series(`/v1/series/CPI?transform=${name}`);
    t.is(meta['transform'], name);
    t.deepEqual(
      data.map(({ date, value }) => [date, value]),
      [
        ['2023-02-28', -100],
        ['2024-02-29', 1.923076923],
        ['2024-03-31', 14.1509434],
      ],
    );
  }
});

test('points without a value are omitted, or null if missing values are requested', async (t) => {
  const all = await series('/v1/series/CPI?transform=yoy&include_missing=true');
  t.deepEqual(values(all), {
    '2023-01-31': null,
    '2023-02-28': null,
    '2023-03-31': null,
    '2024-01-31': 2.97029703,
    '2024-02-29': null,
    '2024-03-31': 10,
  });
});

test('both legs of a transform are from the vintage', async (t) => {
  t.deepEqual(values(await series('/v1/series/CPI?transform=yoy&vintage=2024-03-15')), { '2024-01-31': 4 });
});

test('an index is 100 at the first value of the window that is not zero, or at the base', async (t) => {
  const cases: [query: string, baseDate: string | null, at: string, value: number | null][] = [
    ['', '2023-01-31', '2024-01-31', 102.970297],
    ['&from=2023-02', '2023-03-31', '2024-03-31', 110],
    ['&from=2023-02&base=2023-01', '2023-01-31', '2024-01-31', 102.970297],
    ['&base=2024-01-15', '2024-01-31', '2024-01-31', 100],
    ['&base=2023', '2023-01-31', '2023-01-31', 100],
    ['&base=2023-Q1&from=2024-03', '2023-01-31', '2024-03-31', 119.8019802],
    ['&base=2023-02', null, '2024-01-31', null],
  ];
  for (const [query, baseDate, at, value] of cases) {
    const envelope = await series(`/v1/series/CPI?transform=index${query}`);
    t.is(envelope.meta['base_date'], baseDate, query);
    t.is(envelope.meta['unit'], `Index (${baseDate ?? 'first value'} = 100)`);
    t.is(values(envelope)[at] ?? null, value, query);
  }
});

test('a daily index uses the last value on or before its base day', async (t) => {
  const { meta } = await series('/v1/series/RATES?transform=index&base=2023-02-05&dims=side:buy');
  t.is(meta['base_date'], '2023-02-03', 'a Sunday; the Saturday has none either');
});

test('a base before or after all data is 400, with the span of the vintage and the selected combinations', async (t) => {
  const refused = async (query: string, span: [string, string] | null): Promise<void> => {
    const { error, ...envelope } = await series(`/v1/series/${query}`);
    if (span === null) t.truthy(envelope.data, query);
    else {
      t.deepEqual([error.code, error.param], ['invalid_parameter', 'base'], query);
      t.regex(error.message, new RegExp(`of \\w+: from ${span[0]} to ${span[1]}\\.$`), query);
    }
  };
  const months: [base: string, first: string, last: string][] = [2021, 2022, 2023, 2024, 2025].flatMap(
    (year) => [
      [`${year}`, `${year}-01`, `${year}-12`],
      ...['01', '02', '03', '12'].map((month): [string, string, string] => {
        return [`${year}-${month}`, `${year}-${month}`, `${year}-${month}`];
      }),
      [`${year}-Q1`, `${year}-01`, `${year}-03`],
      [`${year}-04-15`, `${year}-04`, `${year}-04`],
    ],
  );
  for (const [vintage, newest] of [
    ['', '2024-03-31'],
    ['&vintage=2024-03-15', '2024-02-29'],
  ] as const) {
    for (const [base, first, last] of months) {
      const isOutside = last < '2023-01' || first > newest.slice(0, 7);
      const query = `CPI?transform=index&base=${base}${vintage}`;
      await refused(query, isOutside ? ['2023-01-31', newest] : null);
    }
  }
  for (const side of ['buy', 'sell']) {
    const { data } = await series(`/v1/series/RATES?dims=side:${side}&limit=100000`);
    const [oldest, newest] = [entryAt(data, 0).date, entryAt(data, data.length - 1).date];
    for (const [base, isOutside] of [
      [addDays(oldest, -1), true],
      [oldest, false],
      [addDays(newest, 7), false],
      [addDays(newest, 8), true],
    ] as const) {
      const query = `RATES?transform=index&base=${base}&dims=side:${side}`;
      await refused(query, isOutside ? [oldest, newest] : null);
      await refused(query.replace('?', '/latest?'), isOutside ? [oldest, newest] : null);
    }
  }
  t.regex(
    (await series('/v1/series?ids=RATES,CPI&transform=index&base=2022-12-31')).error.message,
    /of RATES: from 2023-/,
  );
  // A zero is data, although it cannot be a base.
  await makeSeries(service.pool, { id: 'ZEROS', frequency: 'daily' });
  await publish(
    service.pool,
    'ZEROS',
    '2024-06-01',
    monthly({ '2024-01-10': '0', '2024-01-11': '5', '2024-01-12': '0' }),
  );
  for (const [base, isOutside] of [
    ['2024-01-09', true],
    ['2024-01-10', false],
    ['2024-01-19', false],
    ['2024-01-20', true],
  ] as const)
    await refused(`ZEROS?transform=index&base=${base}`, isOutside ? ['2024-01-10', '2024-01-12'] : null);
  const csv = await service.call('/v1/series/CPI?transform=index&base=2022&format=csv');
  t.is(csv.status, 400, 'before a line is sent');
  const before = await series('/v1/series/CPI?transform=index&base=2020&vintage=2024-01-01');
  t.deepEqual(before.data, [], 'without any data there is no span');
});

test('an undefined transform is 400, and so is a base without an index', async (t) => {
  const { error } = await series('/v1/series/GDP?transform=mom');
  t.deepEqual([error.code, error.param], ['transform_not_applicable', 'transform']);
  t.is((await series('/v1/series/GDP?transform=yoy&base=2020')).error.param, 'base');
  const unknown = (await series('/v1/series/GDP?transform=qoq')).error;
  t.deepEqual([unknown.code, unknown.param], ['invalid_parameter', 'transform']);
  t.regex(unknown.message, /yoy, mom, pct_change, 3ma, index/);
});

test('page size, order, window, dims and format change no transformed value', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('yoy', 'mom', 'pct_change', '3ma', 'index&base=2023-03-01'),
      fc.constantFrom('asc', 'desc'),
      fc.integer({ min: 40, max: 300 }),
      fc.constantFrom('', '&dims=side:buy|mid', '&from=2024-02-03&to=2024-04-05', '&from=2023-06-10'),
      async (transform, sort, limit, filter) => {
        const { data: whole } = await series(`/v1/series/RATES?transform=${transform}&limit=100000`);
        const expected = whole.filter(
          ({ date, dims }) =>
            (!filter.includes('dims') || dims['side'] !== 'sell') &&
            (!filter.includes('from=2024') || (date >= '2024-02-03' && date <= '2024-04-05')) &&
            (!filter.includes('from=2023') || date >= '2023-06-10'),
        );
        if (sort === 'desc') expected.reverse();
        const query = `/v1/series/RATES?transform=${transform}&sort=${sort}${filter}`;
        const paged: Point[] = [];
        let cursor: string | null = '';
        while (cursor !== null) {
          const page: Envelope = await series(
            `${query}&limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`,
          );
          paged.push(...page.data);
          cursor = page.pagination.next_cursor;
        }
        t.deepEqual(paged, expected);
        const { text } = await service.call(`${query}&format=csv`);
        t.deepEqual(
          text.split('\r\n').slice(1, -1),
          expected.map(({ date, value, dims }) => `${date},${value},${dims['side']}`),
        );
      },
    ),
    { numRuns: propertyRuns(25) },
  );
});

test('a stream of many blocks has the same values as the whole series at once, in either order, and reads few points twice', async (t) => {
  await makeSeries(service.pool, { id: 'LONG', frequency: 'daily', dimensions: ['side'] });
  const points = Array.from({ length: 3_300 }, (_, i) =>
    ['buy', 'sell', 'mid'].map((side, s) => ({ i, side, s })),
  )
    .flat()
    .filter(({ i, s }) => i % 7 < 5 && (i + s) % 11 !== 0 && !(s === 1 && i > 900 && i < 1_700))
    .map(({ i, side, s }) => ({
      date: addDays('2015-01-02', i),
      value: i % 97 === 0 ? null : `${(i * 37 + s * 11) % 1000}.25`,
      dims: { side },
    }));
  await publish(service.pool, 'LONG', '2024-06-01', points);
  const database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'test' });
  t.teardown(() => database.close());
  let pointsRead = 0;
  const counting: Queryable = {
    async query<Row extends object>(
      text: string,
      values?: readonly unknown[],
      name?: string,
    ): Promise<Row[]> {
      const rows = await database.query<Row & { dates?: string | null }>(text, values, name);
      for (const { dates } of rows) pointsRead += dates?.split(',').length ?? 0;
      return rows;
    },
  };
  const series = await findSeries(database, 'LONG', null, new Date());
  if (series === undefined) throw new Error('There is no series LONG.');
  const lineNos = series.combinations.map(({ lineNo }) => lineNo);
  for (const [from, to] of [
    ['0001-01-01', '9999-12-31'],
    ['2018-03-03', '2023-02-01'],
  ] as const) {
    for (const order of ['asc', 'desc'] as const) {
      const selection: Selection = {
        ...{ series, lineNos, from, to, order, version: series.version },
        ...{ vintage: null, release: 'current', wanted: 'all' },
      };
      const whole = await readAll(database, { ...selection, from: '0001-01-01', wanted: 'values' });
      const window = await readAll(database, selection);
      for (const transform of ['yoy', 'mom', 'pct_change', '3ma'] as const) {
        const rule = { transform, frequency: series.frequency, bases: new Map() };
        const history = filterPoints(whole, (i) => entryAt(whole.dates, i) < from);
        if (order === 'desc') for (const column of Object.values(history)) column.reverse();
        const expected = { ...window, values: transformValues(rule, history, window) };
        const streamed = noPoints();
        pointsRead = 0;
        const computation = { transform, bases: new Map(), moments: new Map(), baseDate: null };
        for await (const block of transformedBlocks(counting, selection, computation, 90))
          appendPoints(streamed, block);
        t.deepEqual(streamed, expected, `${transform} ${order} ${from}`);
        t.true(expected.values.filter((value) => value !== '').length > 2_000);
        // Includes the first point of the next block, which completes a date, and the points that a block is compared with.
        const perPoint = pointsRead / (window.dates.length + (from === '0001-01-01' ? 0 : 800));
        t.true(perPoint < 1.6, `${transform} ${order} ${from}: each point was read ${perPoint} times`);
      }
    }
  }
});

test('latest returns the newest transformed value of each combination', async (t) => {
  for (const transform of ['yoy', '3ma', 'index']) {
    const { data } = await series(`/v1/series/RATES?transform=${transform}&limit=100000`);
    const newest = new Map(data.map((point) => [point.dims['side'], point]));
    const latest = await series(`/v1/series/RATES/latest?transform=${transform}`);
    t.is(latest.data.length, 3);
    for (const point of latest.data) t.deepEqual(point, newest.get(point.dims['side']));
  }
});
