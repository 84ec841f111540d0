import { parse } from 'csv-parse/sync';
import test from 'ava';
import fc from 'fast-check';
import { propertyRuns } from '../run/property-runs.ts';
import { makeSeries, publish } from './series-fixture.ts';
import { startSeriesService, trades, type Envelope, type Point } from './series-service.ts';

const { service, series, refusal } = await startSeriesService(test);

test('a series is returned in the envelope of the contract, oldest point first', async (t) => {
  const envelope = await series('/v1/series/CPI');
  t.deepEqual(Object.keys(envelope), ['success', 'series', 'meta', 'data', 'pagination']);
  t.true(envelope.success);
  t.is(envelope.series, 'CPI');
  const { name, unit, frequency, source, last_updated, transform } = envelope.meta;
  t.deepEqual(
    { name, unit, frequency, source, last_updated, transform },
    {
      name: 'Consumer prices',
      unit: 'Index',
      frequency: 'monthly',
      source: 'Bureau of Examples',
      last_updated: '2024-04-10',
      transform: null,
    },
  );
  t.deepEqual(
    envelope.data.map((point) => point.date),
    ['2023-10-31', '2023-12-31', '2024-01-31', '2024-02-29', '2024-03-31'],
  );
  t.deepEqual(envelope.data[0], { date: '2023-10-31', value: 99.5, dims: {} });
  t.deepEqual(envelope.pagination, { next_cursor: null, count: 5 });
});

test('numbers keep the digits that were published', async (t) => {
  const { text } = await service.call('/v1/series/CPI');
  t.true(text.includes('"value":99.50,'));
  t.true(text.includes('"value":100.00,'));
  t.true(text.includes('"value":-0.5,'));
  t.true(text.includes('"value":123456789012345678901234567890.123456789,'));
});

test('a missing value is omitted, or on request null or an empty cell', async (t) => {
  const withMissing = await series('/v1/series/CPI?include_missing=true');
  t.deepEqual(withMissing.data[1], { date: '2023-11-30', value: null, dims: {} });
  t.is(withMissing.pagination.count, 6);
  const { text } = await service.call('/v1/series/CPI?include_missing=true&format=csv');
  t.is(text.split('\r\n')[2], '2023-11-30,');
});

test('from and to are inclusive, and a partial date means the whole period', async (t) => {
  const dates = async (query: string) =>
    (await series(`/v1/series/CPI?${query}`)).data.map((point) => point.date);
  t.deepEqual(await dates('from=2024-01-31&to=2024-02-29'), ['2024-01-31', '2024-02-29']);
  t.deepEqual(await dates('from=2024-02-01&to=2024-02-28'), []);
  t.deepEqual(await dates('from=2024'), ['2024-01-31', '2024-02-29', '2024-03-31']);
  t.deepEqual(await dates('to=2023'), ['2023-10-31', '2023-12-31']);
  t.deepEqual(await dates('from=2024-02&to=2024-02'), ['2024-02-29']);
  t.deepEqual(await dates('from=2023-Q4&to=2023-Q4'), ['2023-10-31', '2023-12-31']);
  t.deepEqual(await dates('from=2024-02&sort=desc'), ['2024-03-31', '2024-02-29']);
});

test('fields chooses what a point shows, in JSON and in CSV', async (t) => {
  const { text } = await service.call(
    '/v1/series/CPI?from=2024-02&to=2024-02&fields=published_on,status,value',
  );
  t.true(text.includes('"data":[{"value":100.10,"status":"P","published_on":"2024-04-10"}]'));
  const csv = await service.call('/v1/series/CPI?from=2024-01&to=2024-02&fields=date,status&format=csv');
  t.is(csv.text, 'date,status\r\n2024-01-31,\r\n2024-02-29,P\r\n');
});

test('dims: a comma is AND over dimensions, | is OR within one, in any spelling', async (t) => {
  const seen = async (query: string) => {
    const { data } = await series(`/v1/series/TRADES?${query}`);
    return [...new Set(data.map(({ dims }) => `${dims['side']} ${dims['city']}`))].sort();
  };
  t.deepEqual(await seen('dims=side:buy'), ['buy =cmd', 'buy Karachi', 'buy Lahore']);
  t.deepEqual(await seen('dims=side:buy,city:Lahore|Karachi'), ['buy Karachi', 'buy Lahore']);
  t.deepEqual(await seen('dims=city:Lahore&dims=side:sell'), ['sell Lahore']);
  t.deepEqual(await seen('dims=side:buy&dims=side:sell,city:Lahore'), ['buy Lahore', 'sell Lahore']);
  t.deepEqual(
    await seen(String.raw`dims=city:La\hore,side:sell`),
    ['sell Lahore'],
    'a backslash takes a character as it is',
  );
});

test('an unknown value of a dimension gives no points, an unknown dimension is an error that names the known', async (t) => {
  const nothing = await series('/v1/series/TRADES?dims=side:none');
  t.deepEqual(nothing.data, []);
  t.deepEqual(nothing.pagination, { next_cursor: null, count: 0 });
  const refused = await refusal('/v1/series/TRADES?dims=sid:buy');
  t.is(refused.status, 400);
  t.is(refused.code, 'unknown_dimension');
  t.regex(refused.message, /Did you mean "side"\? It has: side, city\./);
  t.is((await refusal('/v1/series/CPI?dims=side:buy')).code, 'unknown_dimension');
});

test('meta reports the dimensions and their values', async (t) => {
  const { meta } = await series('/v1/series/TRADES?limit=1');
  t.deepEqual(meta['dims'], [
    { name: 'side', values: ['buy', 'sell'], labels: {} },
    { name: 'city', values: ['=cmd', 'Karachi', 'Lahore'], labels: {} },
  ]);
  t.is(meta['observation_count'], trades.length);
  t.is(meta['first_vintage'], '2024-01-09');
});

test('a dimension and its values may have the name of anything', async (t) => {
  await makeSeries(service.pool, { id: 'ODD', dimensions: ['constructor'] });
  await publish(service.pool, 'ODD', '2024-01-09', [
    { date: '2023-12-31', value: '1', dims: { constructor: 'name' } },
    { date: '2023-12-31', value: '2', dims: { constructor: 'length' } },
  ]);
  const { meta, data } = await series('/v1/series/ODD?dims=constructor:name');
  t.deepEqual(meta['dims'], [{ name: 'constructor', values: ['length', 'name'], labels: {} }]);
  t.deepEqual(
    data.map(({ value }) => value),
    [1],
  );
});

test('latest returns the newest point of each combination', async (t) => {
  const newest: Record<string, string> = {};
  for (const { date, dims } of trades) newest[`${dims?.['side']} ${dims?.['city']}`] = date;
  const { data } = await series('/v1/series/TRADES/latest');
  t.deepEqual(
    Object.fromEntries(data.map(({ date, dims }) => [`${dims['side']} ${dims['city']}`, date])),
    newest,
  );
  t.deepEqual(
    [...data].map((point) => point.date).sort(),
    data.map((point) => point.date),
  );
  t.deepEqual((await series('/v1/series/TRADES/latest?sort=-date')).data, data.toReversed());
  const [oldest, latest] = [data[0]?.date ?? '', data.at(-1)?.date ?? ''];
  t.true(oldest < latest);
  t.deepEqual(
    (await series(`/v1/series/TRADES/latest?from=${latest}`)).data,
    data.filter(({ date }) => date === latest),
    'from leaves out what was published for earlier days only',
  );
  const one = await service.call('/v1/series/CPI/latest');
  t.true(
    one.text.includes(
      '"data":[{"date":"2024-03-31","value":123456789012345678901234567890.123456789,"dims":{}}]',
    ),
  );
  const csv = await service.call('/v1/series/TRADES/latest?format=csv&dims=side:buy,city:Lahore');
  t.regex(csv.text, /^date,value,side,city\r\n2024-01-\d\d,\d\.\d+,buy,Lahore\r\n$/);
});

test('the dims of a point are in the order of the series, in JSON as in CSV', async (t) => {
  const json = await service.call('/v1/series/TRADES?limit=5');
  t.regex(json.text, /"dims":\{"side":"[^"]+","city":"[^"]+"\}/);
  t.notRegex(json.text, /"dims":\{"city"/);
  t.regex((await service.call('/v1/series/TRADES?format=csv&limit=5')).text, /^date,value,side,city\r\n/);
});

test('date and -date are other names of asc and desc', async (t) => {
  for (const [name, order] of [
    ['date', 'asc'],
    ['-date', 'desc'],
  ]) {
    const named = await service.call(`/v1/series/TRADES?sort=${name}`);
    const ordered = await service.call(`/v1/series/TRADES?sort=${order}`);
    t.is(named.text, ordered.text);
    t.is(named.headers.get('etag'), ordered.headers.get('etag'));
  }
});

test('paging by cursor returns exactly the same as one call, for any page size, order, window and dims', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 12 }),
      fc.constantFrom('asc', 'desc'),
      fc.constantFrom('', '&dims=side:buy', '&dims=city:Lahore|Karachi', '&from=2024-01-03&to=2024-01-05'),
      fc.constantFrom('', '&include_missing=true'),
      async (limit, sort, filter, missing) => {
        const query = `sort=${sort}${filter}${missing}`;
        const whole = await series(`/v1/series/TRADES?${query}`);
        const paged: Point[] = [];
        let cursor: string | null = '';
        while (cursor !== null) {
          const page: Envelope = await series(
            `/v1/series/TRADES?${query}&limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`,
          );
          t.true(page.data.length === limit || page.pagination.next_cursor === null);
          t.is(page.pagination.count, page.data.length);
          paged.push(...page.data);
          cursor = page.pagination.next_cursor;
        }
        t.deepEqual(paged, whole.data);
      },
    ),
    { numRuns: propertyRuns(60) },
  );
});

test('descending is ascending backwards', async (t) => {
  const { data } = await series('/v1/series/TRADES');
  t.deepEqual((await series('/v1/series/TRADES?sort=desc')).data, data.reverse());
});

test('CSV is RFC 4180 and equals JSON value by value; a cell that would run as a formula is defused', async (t) => {
  const { data } = await series('/v1/series/TRADES');
  const csv = await service.call('/v1/series/TRADES?format=csv');
  t.is(csv.headers.get('content-type'), 'text/csv; charset=utf-8');
  t.is(csv.headers.get('content-disposition'), 'attachment; filename="TRADES.csv"');
  t.true(csv.text.startsWith('date,value,side,city\r\n'));
  const rows: Record<string, string>[] = parse(csv.text, { columns: true });
  t.deepEqual(
    rows.map(({ date, value, side, city }) => ({ date, value: Number(value), dims: { side, city } })),
    data.map(({ date, value, dims }) => ({
      date,
      value,
      dims: { side: dims['side'], city: dims['city'] === '=cmd' ? "'=cmd" : dims['city'] },
    })),
  );
  t.true(
    (await service.call('/v1/series/CPI?format=csv')).text.includes('2023-12-31,-0.5\r\n'),
    'numbers stay numbers',
  );
});

test('CSV is whole unless a limit is given; then the Link header leads on', async (t) => {
  const whole = (await service.call('/v1/series/TRADES?format=csv')).text.split('\r\n').slice(1, -1);
  const paged: string[] = [];
  let next: string | undefined = '/v1/series/TRADES?format=csv&limit=4';
  while (next !== undefined) {
    const page: { text: string; headers: Headers } = await service.call(next);
    paged.push(...page.text.split('\r\n').slice(1, -1));
    next = /^<([^>]+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1];
  }
  t.deepEqual(paged, whole);
});

test('a combination that has no value of a dimension passes no filter on it', async (t) => {
  await makeSeries(service.pool, { id: 'GREW', dimensions: ['side', 'city'] });
  await publish(service.pool, 'GREW', '2024-01-09', [
    { date: '2024-01-02', value: '1', dims: { side: 'buy' } },
    { date: '2024-01-02', value: '2', dims: { side: 'buy', city: 'Lahore' } },
  ]);
  const values = async (query: string) =>
    (await series(`/v1/series/GREW?${query}`)).data.map(({ value }) => value);
  t.deepEqual(await values('dims=city:Lahore'), [2]);
  t.deepEqual(await values('dims=city:Karachi'), []);
  t.deepEqual((await values('dims=side:buy')).sort(), [1, 2]);
});
