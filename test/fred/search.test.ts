// GET /fred/series/search and /graph/fredgraph.csv: results for FRED's clients, and the CSV of its graphs.
import test from 'ava';
import { callsOf } from '../../gateway/policies/quota.ts';
import { freeAccount, startDataService, type DataService } from '../services/data-service.ts';
import { makeSeries, publish } from '../v1/series-fixture.ts';

let service: DataService;
test.before(async () => {
  service = await startDataService('2024-09-30T12:00:00Z');
  const { pool } = service;
  await makeSeries(pool, {
    id: 'DEMO.GDP',
    name: 'Gross output',
    unit: 'USD',
    frequency: 'quarterly',
    tags: ['output'],
  });
  await makeSeries(pool, {
    id: 'DEMO.CPI',
    name: 'Prices of output',
    unit: 'Index',
    tags: ['output', 'prices'],
  });
  await makeSeries(pool, {
    id: 'BASKET',
    name: 'A basket',
    unit: 'USD',
    description: 'At the prices of 2020.',
  });
  await publish(pool, 'DEMO.GDP', '2024-01-30', [{ date: '2023-12-31', value: '26.10' }]);
  await publish(pool, 'DEMO.GDP', '2024-08-29', [
    { date: '2023-12-31', value: '26.30' },
    { date: '2024-03-31', value: null },
    { date: '2024-06-30', value: '27.6' },
  ]);
  await publish(pool, 'DEMO.CPI', '2024-02-29', [{ date: '2024-01-31', value: '100' }]);
});
test.after.always(() => service.close());

const found = async (query: string) => {
  const { json } = await service.call(`/fred/series/search?file_type=json&${query}`);
  const { count, seriess } = json as { count: number; seriess: { id: string }[] };
  return { count, ids: seriess.map(({ id }) => id) };
};

test('a search finds series by words, in the form of FRED, with empty pairs in its URL', async (t) => {
  const { text } = await service.call(
    '/fred/series/search?search_text=gross&&order_by=popularity&sort_order=desc',
  );
  t.regex(
    text,
    /^<\?xml .*\n<seriess realtime_start="2024-09-30" realtime_end="2024-09-30" order_by="popularity" sort_order="desc" count="1" offset="0" limit="1000">\n {2}<series id="DEMO\.GDP" .* popularity="0" group_popularity="0"\/>\n<\/seriess>\n$/,
  );
});

test('the best match is first by rank, and last in ascending order', async (t) => {
  const ids = async (query: string) => (await found(`search_text=${query}`)).ids;
  const byRank = ['DEMO.CPI', 'BASKET']; // a word of the name, and one of the description
  t.deepEqual(await ids('prices'), byRank);
  t.deepEqual(await ids('prices&order_by=search_rank&sort_order=desc'), byRank);
  t.deepEqual(await ids('prices&order_by=search_rank&sort_order=asc'), byRank.toReversed());
  t.deepEqual(await ids('prices&limit=1'), ['DEMO.CPI']);
});

test('other orders are by their field, and pages are cut from the whole', async (t) => {
  t.deepEqual((await found('search_text=prices&order_by=series_id')).ids, ['BASKET', 'DEMO.CPI']);
  t.deepEqual((await found('search_text=output&order_by=series_id')).ids, ['DEMO.CPI', 'DEMO.GDP']);
  t.deepEqual((await found('search_text=output&order_by=title')).ids, ['DEMO.GDP', 'DEMO.CPI']);
  t.deepEqual(await found('search_text=output&order_by=series_id&limit=1&offset=1'), {
    count: 2,
    ids: ['DEMO.GDP'],
  });
});

test('filters, tags and parts of ids narrow the series', async (t) => {
  const ids = async (query: string) => (await found(`search_text=output&order_by=series_id&${query}`)).ids;
  t.deepEqual(await ids('filter_variable=frequency&filter_value=Quarterly'), ['DEMO.GDP']);
  t.deepEqual(await ids('filter_variable=units&filter_value=index'), ['DEMO.CPI']);
  t.deepEqual(await ids('tag_names=output;prices'), ['DEMO.CPI']);
  t.deepEqual(await ids('exclude_tag_names=prices'), ['DEMO.GDP']);
  t.deepEqual((await found('search_text=gdp&search_type=series_id')).ids, ['DEMO.GDP']);
  t.deepEqual((await found('search_text=demo*&search_type=series_id')).ids, ['DEMO.CPI', 'DEMO.GDP']);
  t.deepEqual((await found('search_text=gdp*&search_type=series_id')).ids, []);
  t.is((await service.call('/fred/series/search?search_text=a&filter_value=x')).status, 400);
});

test('fredgraph.csv has a column for each series, and an empty cell for a missing value', async (t) => {
  const graph = (query: string) => service.call(`/graph/fredgraph.csv?${query}`);
  t.is(
    (await graph('id=DEMO.GDP')).text,
    'observation_date,DEMO.GDP\r\n2023-10-01,26.30\r\n2024-01-01,\r\n2024-04-01,27.6\r\n',
  );
  t.is(
    (await graph('id=DEMO.CPI,demo.gdp&coed=2024-03-01')).text,
    'observation_date,DEMO.CPI,DEMO.GDP\r\n2023-10-01,,26.30\r\n2024-01-01,100,\r\n',
  );
  t.is(
    (await graph('id=DEMO.GDP&vintage_date=2024-02-01')).text,
    'observation_date,DEMO.GDP\r\n2023-10-01,26.10\r\n',
  );
  const free = { identity: freeAccount };
  t.is((await service.call('/graph/fredgraph.csv?id=DEMO.GDP&vintage_date=2024-02-01', free)).status, 403);
  t.regex((await graph('id=NOPE')).text, /<error code="404"/);
});

test('the first and last dates of one combination of a series are its own', async (t) => {
  await makeSeries(service.pool, { id: 'CITIES', dimensions: ['city'] });
  const point = (date: string, value: string | null, city: string) => ({ date, value, dims: { city } });
  await publish(service.pool, 'CITIES', '2024-05-01', [
    ...['2024-01-31', '2024-03-31'].map((date) => point(date, '1', 'a')),
    ...[point('2024-01-31', null, 'b'), point('2024-02-29', '2', 'b')],
  ]);
  for (const [id, start, end] of [
    ['CITIES', '2024-01-01', '2024-03-01'],
    ['CITIES~b', '2024-02-01', '2024-02-01'],
  ]) {
    const { json } = await service.call(`/fred/series?series_id=${id}&file_type=json`);
    t.like((json as { seriess: object[] }).seriess[0], { observation_start: start, observation_end: end });
  }
});

test('an error of fredgraph.csv names its own parameters', async (t) => {
  await makeSeries(service.pool, { id: 'RATES', frequency: 'daily', dimensions: ['side'] });
  await publish(
    service.pool,
    'RATES',
    '2024-01-02',
    ['buy', 'sell'].map((side) => ({ date: '2024-01-02', value: '1', dims: { side } })),
  );
  const message = async (query: string) => (await service.call(`/graph/fredgraph.csv?${query}`)).text;
  const window = await message('id=DEMO.GDP&cosd=2024-01-01&coed=2023-01-01');
  t.regex(window, /message="&quot;cosd&quot; must not be after &quot;coed&quot;\."/);
  t.regex(
    await message('id=DEMO.GDP&fq=m'),
    /message="&quot;fq&quot; must not be higher than that of DEMO\.GDP/,
  );
  t.regex(await message('id=DEMO.GDP&fq=wef'), /message="&quot;fq&quot; wef is not computed/);
  t.regex(await message('id=RATES'), /message="&quot;id&quot; must name a value of each dimension/);
  await makeSeries(service.pool, { id: 'EVENTS', frequency: 'irregular' });
  await publish(service.pool, 'EVENTS', '2024-01-02', [{ date: '2024-01-02', value: '1' }]);
  t.regex(
    await message('id=EVENTS&transformation=pca'),
    /message="&quot;transformation&quot; pca has no meaning/,
  );
  t.regex(
    await message('id=EVENTS&fq=a'),
    /message="&quot;fq&quot; cannot be changed .* Omit &quot;fq&quot;/,
  );
});

test('a word that is a name of JavaScript is a word like others', async (t) => {
  const filter = 'filter_variable=seasonal_adjustment&filter_value=constructor';
  const found = await service.call(`/fred/series/search?search_text=prices&${filter}&file_type=json`);
  t.is(found.status, 200, found.text);
  t.is((found.json as { count: number }).count, 0);
  t.regex(
    (await service.call('/graph/fredgraph.csv?id=constructor')).text,
    /no series &quot;constructor&quot;/,
  );
});

test('fredgraph.csv has each series once: an id that is sent twice in different letters is refused', async (t) => {
  t.regex(
    (await service.call('/graph/fredgraph.csv?id=DEMO.CPI,demo.cpi')).text,
    /<error code="400" message="&quot;id&quot; must name different series, but names DEMO\.CPI twice\."/,
  );
});

test('fredgraph.csv counts as one call per series', (t) => {
  const calls = (path: string) =>
    callsOf({ path, query: 'id=A,B,C', body: undefined }, { series_per_call: 1 });
  t.is(calls('/graph/fredgraph.csv'), 3);
  t.is(calls('/fred/series/observations'), 1);
});
