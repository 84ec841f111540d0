// GET /fred/series, /fred/series/observations and /fred/series/vintagedates: the forms that FRED's clients parse, and the numbers of /v1.
import test from 'ava';
import { freeAccount, startDataService, type DataService } from '../services/data-service.ts';
import { makeSeries, publish, type FixturePoint } from '../v1/series-fixture.ts';

let service: DataService;

test.before(async () => {
  service = await startDataService('2024-09-30T12:00:00Z');
  const { pool } = service;
  await makeSeries(pool, {
    ...{ id: 'GDP', name: 'Output', unit: 'Billion', frequency: 'quarterly', description: 'A & "B"' },
  });
  const first: FixturePoint = { date: '2023-12-31', value: '26.10' };
  const second: FixturePoint = { date: '2024-03-31', value: '27.1' };
  await publish(pool, 'GDP', '2024-01-30', [first]);
  await publish(pool, 'GDP', '2024-02-29', [{ ...first, value: '26.30' }]);
  await publish(pool, 'GDP', '2024-04-30', [second]);
  await publish(pool, 'GDP', '2024-05-30', [{ ...second, value: null }]);
  await publish(pool, 'GDP', '2024-08-29', [{ date: '2024-06-30', value: '27.6' }]);
  await makeSeries(pool, { id: 'FX', frequency: 'daily', dimensions: ['currency', 'side'] });
  const rates = ['EUR', 'USD'].flatMap((currency, i) =>
    ['buy', 'sell'].map((side) => ({ date: '2024-01-02', value: `${i + 1}.50`, dims: { currency, side } })),
  );
  await publish(pool, 'FX', '2024-01-03', rates);
});
test.after.always(() => service.close());

interface Observations {
  count: number;
  realtime_start: string;
  realtime_end: string;
  observations: Record<string, string>[];
}
const text = async (path: string) => (await service.call(path)).text;
const json = async <Body>(path: string) => (await service.call(`${path}&file_type=json`)).json as Body;
const observations = (query: string) => json<Observations>(`/fred/series/observations?series_id=GDP${query}`);
const complete = '&realtime_start=1776-07-04&realtime_end=9999-12-31';

const head = (start: string, end: string, count: number) =>
  `<observations realtime_start="${start}" realtime_end="${end}" observation_start="1600-01-01" observation_end="9999-12-31" units="lin" output_type="1" file_type="xml" order_by="observation_date" sort_order="asc" count="${count}" offset="0" limit="100000">`;
const row = (start: string, end: string, date: string, value: string) =>
  `  <observation realtime_start="${start}" realtime_end="${end}" date="${date}" value="${value}"/>`;
const xml = (...lines: string[]) => `${['<?xml version="1.0" encoding="utf-8" ?>', ...lines].join('\n')}\n`;

test('the present values are dated to the first day of the period, missing ones included as "."', async (t) => {
  const { headers, text: body } = await service.call('/fred/series/observations?series_id=GDP&&');
  t.is(headers.get('content-type'), 'text/xml; charset=utf-8');
  const today = '2024-09-30';
  t.is(
    body,
    xml(
      head(today, today, 3),
      row(today, today, '2023-10-01', '26.30'),
      row(today, today, '2024-01-01', '.'),
      row(today, today, '2024-04-01', '27.6'),
      '</observations>',
    ),
  );
});

test('all real-time periods of every value', async (t) => {
  t.is(
    await text(`/fred/series/observations?series_id=GDP${complete}`),
    xml(
      head('1776-07-04', '9999-12-31', 5),
      row('2024-01-30', '2024-02-28', '2023-10-01', '26.10'),
      row('2024-02-29', '9999-12-31', '2023-10-01', '26.30'),
      row('2024-04-30', '2024-05-29', '2024-01-01', '27.1'),
      row('2024-05-30', '9999-12-31', '2024-01-01', '.'),
      row('2024-08-29', '9999-12-31', '2024-04-01', '27.6'),
      '</observations>',
    ),
  );
});

test('a real-time period clips those of the values', async (t) => {
  const { observations: rows } = await observations('&realtime_start=2024-02-10&realtime_end=2024-05-10');
  t.deepEqual(
    rows.map((each) => Object.values(each)),
    [
      ['2024-02-10', '2024-02-28', '2023-10-01', '26.10'],
      ['2024-02-29', '2024-05-10', '2023-10-01', '26.30'],
      ['2024-04-30', '2024-05-10', '2024-01-01', '27.1'],
    ],
  );
});

test('one real-time parameter alone: the other is today, an end that is past is one day, no end is everything', async (t) => {
  const periodOf = async (query: string) => {
    const { realtime_start, realtime_end } = await observations(query);
    return [realtime_start, realtime_end];
  };
  t.deepEqual(await periodOf('&realtime_start=2024-02-10'), ['2024-02-10', '2024-09-30']);
  t.deepEqual(await periodOf('&realtime_end=2024-02-10'), ['2024-02-10', '2024-02-10']);
  t.deepEqual(await periodOf('&realtime_end=9999-12-31'), ['1776-07-04', '9999-12-31']);
});

interface Triangle {
  data: { vintage: string; date: string; value: number | null }[];
}
test('output type 3 of a later window has only the changes of its own vintages', async (t) => {
  const { observations: rows } = await observations('&output_type=3&realtime_start=2024-05-01');
  t.deepEqual(rows, [
    { date: '2024-01-01', GDP_20240530: '.' },
    { date: '2024-04-01', GDP_20240829: '27.6' },
  ]);
});

test('output type 4 is the first released values, as release=first', async (t) => {
  const { observations: rows } = await observations('&output_type=4');
  t.deepEqual(
    rows.map(({ realtime_start, date, value }) => [realtime_start, date, value]),
    [
      ['2024-01-30', '2023-10-01', '26.10'],
      ['2024-04-30', '2024-01-01', '27.1'],
      ['2024-08-29', '2024-04-01', '27.6'],
    ],
  );
});

test('vintage dates are columns, or the periods between them', async (t) => {
  const wide = await observations('&output_type=2&vintage_dates=2024-02-01,2024-03-01');
  t.deepEqual(wide.observations, [{ date: '2023-10-01', GDP_20240201: '26.10', GDP_20240301: '26.30' }]);
  const long = await observations('&vintage_dates=2024-03-01,2024-02-01');
  t.deepEqual(
    long.observations.map((each) => Object.values(each)),
    [
      ['2024-02-01', '2024-02-29', '2023-10-01', '26.10'],
      ['2024-03-01', '2024-03-01', '2023-10-01', '26.30'],
    ],
  );
});

test('windows have the numbers of /v1', async (t) => {
  await makeSeries(service.pool, { id: 'M' });
  const months = Array.from({ length: 30 }, (_, i) => ({
    date: new Date(Date.UTC(2021, i + 1, 0)).toISOString().slice(0, 10),
    value: String(100 + i * i),
  }));
  await publish(service.pool, 'M', '2024-01-01', months);
  const pairs = [
    ['observation_start=2021-06-02&observation_end=2022-02-01', 'from=2021-07-31&to=2022-02-28'],
    [
      'frequency=q&observation_start=2021-04-01&observation_end=2022-03-31',
      'frequency=quarterly&from=2021-06-30&to=2022-03-31',
    ],
  ];
  for (const [ofFred = '', ofV1 = ''] of pairs) {
    const { observations: rows } = await json<Observations>(
      `/fred/series/observations?series_id=m&${ofFred}`,
    );
    const { data } = (await service.call(`/v1/series/M?include_missing=true&${ofV1}`)).json as Triangle;
    t.deepEqual(
      rows.map(({ value }) => (value === '.' ? null : Number(value))),
      data.map(({ value }) => value),
      ofFred,
    );
    t.true(
      rows.every(({ date = '' }, i) => date.endsWith('-01') && date < (data[i]?.date ?? '')),
      ofFred,
    );
    t.true(rows.length > 1, ofFred);
  }
});

test('without a start, points before 1600 are in the answer', async (t) => {
  await makeSeries(service.pool, { id: 'OLD', frequency: 'annual' });
  await publish(service.pool, 'OLD', '2024-01-01', [
    { date: '0001-12-31', value: '1' },
    { date: '1599-12-31', value: '2' },
    { date: '1600-12-31', value: '3' },
  ]);
  const values = async (query: string) =>
    (await json<Observations>(`/fred/series/observations?series_id=OLD${query}`)).observations.map(
      ({ value }) => value,
    );
  t.deepEqual(await values(''), ['1', '2', '3']);
  t.deepEqual(await values('&output_type=4'), ['1', '2', '3']);
  t.deepEqual(await values('&observation_start=1600-01-01'), ['3']);
  const { text: table } = await service.call('/graph/fredgraph.csv?id=OLD');
  t.is(table, 'observation_date,OLD\r\n0001-01-01,1\r\n1599-01-01,2\r\n1600-01-01,3\r\n');
});

test('pages are cut by offset and limit in either order, and the count is of all rows', async (t) => {
  const page = await observations(`${complete}&sort_order=desc&offset=1&limit=2`);
  t.is(page.count, 5);
  t.deepEqual(
    page.observations.map(({ value }) => value),
    ['.', '27.1'],
  );
});

test('a series with dimensions has an id for each combination; without one, an error names three', async (t) => {
  const { observations: rows } = await json<Observations>('/fred/series/observations?series_id=fx~USD~sell');
  t.deepEqual(
    rows.map(({ value }) => value),
    ['2.50'],
  );
  const whole = await service.call('/fred/series/observations?series_id=FX');
  t.is(whole.status, 400);
  t.regex(whole.text, /FX~EUR~buy, FX~EUR~sell, FX~USD~buy\./);
  t.regex(await text('/fred/series?series_id=FX'), /notes="Ids by dimension: FX~EUR~buy, /);
});

test('the metadata of a series', async (t) => {
  const path = '/fred/series?series_id=gdp';
  t.regex(
    await text(path),
    /^<\?xml .*\n<seriess realtime_start="2024-09-30" realtime_end="2024-09-30">\n {2}<series id="GDP" .*title="Output" observation_start="2023-10-01" observation_end="2024-04-01" frequency="Quarterly" frequency_short="Q" units="Billion" .* notes="A &amp; &quot;B&quot;"\/>\n<\/seriess>\n$/,
  );
  const { seriess } = await json<{ seriess: Record<string, unknown>[] }>(path);
  t.is(seriess[0]?.['notes'], 'A & "B"');
  t.is(seriess[0]?.['popularity'], 0);
});

test('the vintages of a series', async (t) => {
  t.is(
    await text('/fred/series/vintagedates?series_id=GDP&limit=2&offset=1'),
    xml(
      '<vintage_dates realtime_start="1776-07-04" realtime_end="9999-12-31" order_by="vintage_date" sort_order="asc" count="5" offset="1" limit="2">',
      '  <vintage_date>2024-02-29</vintage_date>',
      '  <vintage_date>2024-04-30</vintage_date>',
      '</vintage_dates>',
    ),
  );
});

test('more than two thousand vintages are in one answer', async (t) => {
  await makeSeries(service.pool, { id: 'MANY', frequency: 'annual' });
  const { rows } = await service.pool.query<{ series_no: number }>(
    `with s as (select series_no from data.series where series_id = 'MANY'),
       l as (insert into data.series_dims (series_no, line_no, dims) select series_no, 900001, '{}' from s)
     select series_no from s`,
  );
  const at = (day: number) => new Date(Date.UTC(2017, 0, 1 + day)).toISOString().slice(0, 10);
  const [last, count] = [at(2_000), 2_001];
  const { rows: loads } = await service.pool.query<{ load_no: string }>(
    `insert into data.loads (dataset, source_name, vintage, complete) values ('observations', '-', $1, false) returning load_no`,
    [last],
  );
  const loadNo = loads[0]?.load_no;
  await service.pool.query(
    `insert into data.observations (line_no, date, value, published_on, superseded_on, load_no, superseded_load_no)
     select 900001, '2016-12-31', i, '2017-01-01'::date + i,
       case when i = $2 then 'infinity'::date else '2017-01-02'::date + i end, $1, case when i < $2 then $1::bigint end
     from generate_series(0, $2::int) i`,
    [loadNo, count - 1],
  );
  await service.pool.query(
    `insert into data.vintages (series_no, load_no, published_on, points_new, points_revised, points_deleted, complete)
     select $1, $2, '2017-01-01'::date + i, 1, 0, 0, false from generate_series(0, $3::int) i`,
    [rows[0]?.series_no, loadNo, count - 1],
  );
  await service.pool.query('update data.series set data_version = $1 where series_no = $2', [
    loadNo,
    rows[0]?.series_no,
  ]);
  const all = await json<Observations>(`/fred/series/observations?series_id=MANY${complete}`);
  t.is(all.count, count);
});

test('an invalid parameter is refused by name, in the form of FRED, with our status and message', async (t) => {
  const refused = async (query: string, message: RegExp, status = 400) => {
    const answer = await service.call(`/fred/series/observations?file_type=json&${query}`);
    t.is(answer.status, status, query);
    const { error_code, error_message } = answer.json as { error_code: number; error_message: string };
    t.is(error_code, status);
    t.regex(error_message, message);
  };
  await refused('series_id=NOPE', /There is no series "NOPE"/, 404);
  await refused('series_id=GDP&provider=fred', /"provider" is not a parameter of this endpoint/);
  await refused(
    'series_id=GDP&frequency=m',
    /"frequency" must not be higher than that of GDP, which is quarterly\. Lower ones are sa, a\./,
  );
  await refused('series_id=GDP&frequency=wef', /weeks end on Sunday/);
  await makeSeries(service.pool, { id: 'EVENTS', frequency: 'irregular' });
  await refused(
    'series_id=EVENTS&frequency=a',
    /"frequency" cannot be changed for EVENTS, which is irregular/,
  );
  await refused(
    'series_id=EVENTS&units=cca',
    /"units" cca has no meaning for irregular data\. Use pc1 or pch/,
  );
  await refused('series_id=GDP&frequency=d', /"frequency" must not be higher/);
  await refused('series_id=GDP&realtime_start=2024-10-01', /in the future; today is 2024-09-30/);
  await refused('series_id=GDP&realtime_start=2024-02-01&realtime_end=2024-01-01', /after "realtime_end"/);
  await refused('series_id=GDP&vintage_dates=2024-02-01&realtime_end=2024-03-01', /cannot be combined/);
  await refused('series_id=GDP&vintage_dates=2024-02-30', /days that exist/);
  await refused(
    'series_id=GDP&observation_start=2024-02-01&observation_end=2024-01-01',
    /"observation_start"/,
  );
  t.is(
    await text('/fred/series?series_id=%22%3C'),
    xml('<error code="404" message="There is no series of that id. GET /v1/catalog lists them."/>'),
  );
});

test('vintages need their feature, the present values do not', async (t) => {
  const status = async (query: string) =>
    (await service.call(`/fred/series/${query}`, { identity: freeAccount })).status;
  t.is(await status('observations?series_id=GDP'), 200);
  t.is(await status('vintagedates?series_id=GDP'), 403);
  for (const query of [
    'output_type=2',
    'output_type=4',
    'realtime_start=2024-02-01',
    'vintage_dates=2024-02-01',
  ])
    t.is(await status(`observations?series_id=GDP&${query}`), 403, query);
});
