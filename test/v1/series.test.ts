import { get } from 'node:http';
import { parse } from 'csv-parse/sync';
import test from 'ava';
import fc from 'fast-check';
import { freeAccount, startDataRoom, type DataRoom } from '../data-room.ts';
import { makeSeries, publish, type FixturePoint } from '../series-fixture.ts';

interface Point {
  date: string;
  value: number | null;
  dims: Record<string, string>;
}

interface Envelope {
  success: boolean;
  series: string;
  meta: Record<string, unknown>;
  data: Point[];
  pagination: { next_cursor: string | null; count: number };
  error: { code: string; message: string; param?: string };
}

let room: DataRoom;

const cpi: FixturePoint[] = [
  { date: '2023-10-31', value: '99.50' },
  { date: '2023-11-30', value: null },
  { date: '2023-12-31', value: '-0.5' },
  { date: '2024-01-31', value: '100.00' },
  { date: '2024-02-29', value: '100.10', status: 'P' },
  { date: '2024-03-31', value: '123456789012345678901234567890.123456789' },
];

const trades: FixturePoint[] = ['2024-01-02', '2024-01-03', '2024-01-04', '2024-01-05', '2024-01-08'].flatMap(
  (date, day) =>
    ['buy', 'sell'].flatMap((side, s) =>
      ['Karachi', 'Lahore', '=cmd'].flatMap((city, c) =>
        // Not every combination has every date.
        (day + c + s) % 4 === 3 ? [] : [{ date, value: `${day}.${s}${c}`, dims: { side, city } }],
      ),
    ),
);

test.before(async () => {
  room = await startDataRoom();
  await makeSeries(room.pool, {
    id: 'CPI',
    name: 'Consumer prices',
    unit: 'Index',
    category: 'prices/consumer',
    tags: ['inflation'],
  });
  await publish(room.pool, 'CPI', '2024-04-10', cpi);
  await makeSeries(room.pool, { id: 'TRADES', frequency: 'daily', dimensions: ['side', 'city'] });
  await publish(room.pool, 'TRADES', '2024-01-09', trades);
});

test.after.always(() => room.close());

async function series(path: string): Promise<Envelope> {
  const { json } = await room.call(path);
  return json as Envelope;
}

async function refusal(
  path: string,
): Promise<{ status: number; code: string; param: string; message: string }> {
  const { status, json } = await room.call(path);
  const { code, param = '', message } = (json as Envelope).error;
  return { status, code, param, message };
}

test('a series comes in the envelope of the contract, oldest point first', async (t) => {
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
  const { text } = await room.call('/v1/series/CPI');
  t.true(text.includes('"value":99.50,'));
  t.true(text.includes('"value":100.00,'));
  t.true(text.includes('"value":-0.5,'));
  t.true(text.includes('"value":123456789012345678901234567890.123456789,'));
});

test('a missing value is left out, and is null or an empty cell when asked for', async (t) => {
  const withMissing = await series('/v1/series/CPI?include_missing=true');
  t.deepEqual(withMissing.data[1], { date: '2023-11-30', value: null, dims: {} });
  t.is(withMissing.pagination.count, 6);
  const { text } = await room.call('/v1/series/CPI?include_missing=true&format=csv');
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
  const { text } = await room.call('/v1/series/CPI?from=2024-02&to=2024-02&fields=published_on,status,value');
  t.true(text.includes('"data":[{"value":100.10,"status":"P","published_on":"2024-04-10"}]'));
  const csv = await room.call('/v1/series/CPI?from=2024-01&to=2024-02&fields=date,status&format=csv');
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

test('meta tells the dimensions and their values', async (t) => {
  const { meta } = await series('/v1/series/TRADES?limit=1');
  t.deepEqual(meta['dims'], [
    { name: 'side', values: ['buy', 'sell'], labels: {} },
    { name: 'city', values: ['=cmd', 'Karachi', 'Lahore'], labels: {} },
  ]);
  t.is(meta['observation_count'], trades.length);
  t.is(meta['first_vintage'], '2024-01-09');
});

test('latest gives the newest point of each combination', async (t) => {
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
  const one = await room.call('/v1/series/CPI/latest');
  t.true(
    one.text.includes(
      '"data":[{"date":"2024-03-31","value":123456789012345678901234567890.123456789,"dims":{}}]',
    ),
  );
  const csv = await room.call('/v1/series/TRADES/latest?format=csv&dims=side:buy,city:Lahore');
  t.regex(csv.text, /^date,value,side,city\r\n2024-01-\d\d,\d\.\d+,buy,Lahore\r\n$/);
});

test('walking by cursor gives exactly what one call gives, for any page size, order, window and dims', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 12 }),
      fc.constantFrom('asc', 'desc'),
      fc.constantFrom('', '&dims=side:buy', '&dims=city:Lahore|Karachi', '&from=2024-01-03&to=2024-01-05'),
      fc.constantFrom('', '&include_missing=true'),
      async (limit, sort, filter, missing) => {
        const query = `sort=${sort}${filter}${missing}`;
        const whole = await series(`/v1/series/TRADES?${query}`);
        const walked: Point[] = [];
        let cursor: string | null = '';
        while (cursor !== null) {
          const page: Envelope = await series(
            `/v1/series/TRADES?${query}&limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`,
          );
          t.true(page.data.length === limit || page.pagination.next_cursor === null);
          t.is(page.pagination.count, page.data.length);
          walked.push(...page.data);
          cursor = page.pagination.next_cursor;
        }
        t.deepEqual(walked, whole.data);
      },
    ),
    { numRuns: 60 },
  );
});

test('descending is ascending backwards', async (t) => {
  const { data } = await series('/v1/series/TRADES');
  t.deepEqual((await series('/v1/series/TRADES?sort=desc')).data, data.reverse());
});

test('CSV is RFC 4180 and equals JSON value by value; a cell that would run as a formula is defused', async (t) => {
  const { data } = await series('/v1/series/TRADES');
  const csv = await room.call('/v1/series/TRADES?format=csv');
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
    (await room.call('/v1/series/CPI?format=csv')).text.includes('2023-12-31,-0.5\r\n'),
    'numbers stay numbers',
  );
});

test('CSV is whole unless a limit is given; then the Link header leads on', async (t) => {
  const whole = (await room.call('/v1/series/TRADES?format=csv')).text.split('\r\n').slice(1, -1);
  const walked: string[] = [];
  let next: string | undefined = '/v1/series/TRADES?format=csv&limit=4';
  while (next !== undefined) {
    const page: { text: string; headers: Headers } = await room.call(next);
    walked.push(...page.text.split('\r\n').slice(1, -1));
    next = /^<([^>]+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1];
  }
  t.deepEqual(walked, whole);
});

test('a cursor opens only the walk that it was made for', async (t) => {
  const { pagination } = await series('/v1/series/TRADES?limit=3');
  const cursor = pagination.next_cursor ?? '';
  for (const query of [
    `sort=desc&cursor=${cursor}`,
    `from=2024&cursor=${cursor}`,
    `dims=side:buy&cursor=${cursor}`,
    `include_missing=true&cursor=${cursor}`,
    `cursor=${cursor.slice(0, -1)}`,
    `cursor=${cursor}A`,
    `cursor=${cursor.startsWith('A') ? 'B' : 'A'}${cursor.slice(1)}`,
    'cursor=nonsense',
  ]) {
    const refused = await refusal(`/v1/series/TRADES?${query}`);
    t.deepEqual([refused.status, refused.code, refused.param], [400, 'invalid_cursor', 'cursor'], query);
  }
  const other = await refusal(`/v1/series/CPI?cursor=${cursor}`);
  t.is(other.code, 'invalid_cursor');
  t.is(
    (await series(`/v1/series/TRADES?limit=5&cursor=${cursor}`)).pagination.count,
    5,
    'the page size may change',
  );
});

test('a bad parameter is 400 and named, with what is allowed', async (t) => {
  const cases: [query: string, param: string, message: RegExp][] = [
    ['from=2024-02-30', 'from', /must be a date that exists/],
    ['to=24', 'to', /must be a date that exists/],
    ['from=2024-02&to=2024-01', 'from', /must not be after "to"/],
    ['from=2024&from=2023', 'from', /must be given once/],
    ['from=', 'from', /must not be empty/],
    ['sort=up', 'sort', /one of asc, desc/],
    ['limit=0', 'limit', /from 1 to 100000/],
    ['limit=100001', 'limit', /from 1 to 100000/],
    ['limit=1e3', 'limit', /from 1 to 100000/],
    ['format=xml', 'format', /one of json, csv/],
    ['fields=date,valu', 'fields', /date, value, dims/],
    ['vintage=2024', 'vintage', /YYYY-MM-DD/],
    ['vintage=2026-06-16', 'vintage', /future; today is 2026-06-15/],
    ['include_missing=yes', 'include_missing', /true, false/],
    ['dims=side', 'dims', /<dimension>:<value>/],
    ['dims=side:', 'dims', /<dimension>:<value>/],
    ['dims=:buy', 'dims', /<dimension>:<value>/],
    ['dims=side:buy|', 'dims', /<dimension>:<value>/],
    ['form=csv', 'form', /Did you mean "format"\?|Did you mean "from"\?/],
  ];
  for (const [query, param, message] of cases) {
    const refused = await refusal(`/v1/series/TRADES?${query}`);
    t.deepEqual([refused.status, refused.code, refused.param], [400, 'invalid_parameter', param], query);
    t.regex(refused.message, message, query);
  }
  t.is((await refusal('/v1/series/CPI/latest?from=2024')).param, 'from');
});

test('an unknown series is 404, with the nearest id', async (t) => {
  const near = await refusal('/v1/series/TRADE');
  t.deepEqual([near.status, near.code], [404, 'not_found']);
  t.regex(near.message, /Did you mean "TRADES"\?/);
  t.regex((await refusal('/v1/series/cpi/latest')).message, /Did you mean "CPI"\?/);
  t.regex(
    (await refusal(`/v1/series/${encodeURIComponent('a b/…')}`)).message,
    /GET \/v1\/catalog lists them/,
  );
});

test('many series come in one call as a list of envelopes, each as it is alone, counted as a call a series', async (t) => {
  const query = 'from=2024&limit=3';
  const { json, headers } = await room.call(`/v1/series?ids=TRADES,CPI&${query}`);
  const list = json as { success: boolean; data: Envelope[]; count: number };
  t.true(list.success);
  t.is(list.count, 2);
  t.deepEqual(list.data, [
    await series(`/v1/series/TRADES?${query}`),
    await series(`/v1/series/CPI?${query}`),
  ]);
  t.is(headers.get('x-almanac-calls'), '2');
  const next = list.data[0]?.pagination.next_cursor;
  t.is((await series(`/v1/series/TRADES?${query}&cursor=${next}`)).success, true);
  const etag = headers.get('etag') ?? '';
  const again = await room.call(`/v1/series?ids=TRADES,CPI&${query}`, { headers: { 'if-none-match': etag } });
  t.is(again.status, 304);
  t.is(again.headers.get('x-almanac-calls'), '2');
});

test('many series are all told or none', async (t) => {
  const cases: [query: string, status: number, code: string, param: string][] = [
    ['', 400, 'invalid_parameter', 'ids'],
    ['?ids=CPI,', 400, 'invalid_parameter', 'ids'],
    ['?ids=CPI,CPI', 400, 'invalid_parameter', 'ids'],
    [`?ids=${Array.from({ length: 101 }, (_, i) => `S${i}`).join(',')}`, 400, 'invalid_parameter', 'ids'],
    ['?ids=CPI,TRADES&limit=50001', 400, 'invalid_parameter', 'limit'],
    ['?ids=CPI&format=csv', 400, 'invalid_parameter', 'format'],
    ['?ids=CPI&cursor=x', 400, 'invalid_parameter', 'cursor'],
    [
      `?ids=${Array.from({ length: 100 }, (_, i) => `${i}`.padEnd(128, 'x')).join(',')}`,
      404,
      'not_found',
      'id',
    ],
    [`?ids=${'x'.repeat(12_901)}`, 400, 'invalid_parameter', 'ids'],
    ['?ids=CPI,NONE', 404, 'not_found', 'id'],
    ['?ids=CPI,TRADES&dims=side:buy', 400, 'unknown_dimension', 'dims'],
  ];
  for (const [query, status, code, param] of cases) {
    const refused = await refusal(`/v1/series${query}`);
    t.deepEqual([refused.status, refused.code, refused.param], [status, code, param], query);
  }
});

test('a call that did not come through the gateway is refused', async (t) => {
  const bare = await fetch(`${room.url}/v1/series/CPI`);
  t.is(bare.status, 401);
  t.is(((await bare.json()) as Envelope).error.code, 'unauthorized');
  const forged = await fetch(`${room.url}/v1/series/CPI`, { headers: { 'x-almanac-identity': 'e30.e30.' } });
  t.is(forged.status, 401);
});

test('a past state of the data needs the feature, whatever the gateway let through', async (t) => {
  for (const query of ['?vintage=2024-05-01', '/latest?vintage=2024-05-01', '?release=first']) {
    const { status, json } = await room.call(`/v1/series/CPI${query}`, { identity: freeAccount });
    t.is(status, 403);
    t.is((json as Envelope).error.code, 'plan_required');
  }
});

test('an unchanged answer is 304; another query, format or encoding is another ETag', async (t) => {
  const tags = new Set<string>();
  for (const [path, encoding] of [
    ['/v1/series/CPI', 'identity'],
    ['/v1/series/CPI', 'gzip'],
    ['/v1/series/CPI', 'br'],
    ['/v1/series/CPI?limit=2', 'identity'],
    ['/v1/series/CPI?sort=desc', 'identity'],
    ['/v1/series/CPI?format=csv', 'identity'],
    ['/v1/series/CPI?fields=date,value', 'identity'],
    ['/v1/series/CPI/latest', 'identity'],
    ['/v1/series/TRADES', 'identity'],
  ] as const) {
    const headers = { 'accept-encoding': encoding };
    const first = await room.call(path, { headers });
    const etag = first.headers.get('etag') ?? '';
    t.regex(etag, /^"[\w-]+"$/);
    t.is(first.headers.get('vary'), 'Accept-Encoding');
    t.is(first.headers.get('cache-control'), 'private, no-cache');
    t.false(Number.isNaN(Date.parse(first.headers.get('last-modified') ?? '')));
    tags.add(etag);
    const second = await room.call(path, { headers: { ...headers, 'if-none-match': `"other", W/${etag}` } });
    t.is(second.status, 304);
    t.is(second.text, '');
    t.is(second.headers.get('etag'), etag);
  }
  t.is(tags.size, 9);
});

test('a load is seen by the next call, and its ETag changes', async (t) => {
  await makeSeries(room.pool, { id: 'FRESH' });
  const empty = await room.call('/v1/series/FRESH');
  t.is(empty.status, 200);
  await publish(room.pool, 'FRESH', '2024-05-01', [{ date: '2024-04-30', value: '1' }]);
  const etag = empty.headers.get('etag') ?? '';
  const loaded = await room.call('/v1/series/FRESH', { headers: { 'if-none-match': etag } });
  t.is(loaded.status, 200);
  t.is((loaded.json as Envelope).data[0]?.value, 1);
  await room.pool.query(`update data.series set name = 'Renamed' where series_id = 'FRESH'`);
  const renamed = await room.call('/v1/series/FRESH', {
    headers: { 'if-none-match': loaded.headers.get('etag') ?? '' },
  });
  t.is((renamed.json as Envelope).meta['name'], 'Renamed');
});

test('HEAD has the headers of GET and no body', async (t) => {
  for (const path of ['/v1/series/CPI', '/v1/series/CPI/latest', '/v1/series/CPI?format=csv']) {
    const got = await room.call(path, { headers: { 'accept-encoding': 'identity' } });
    const head = await room.call(path, { method: 'HEAD', headers: { 'accept-encoding': 'identity' } });
    t.is(head.status, 200);
    t.is(head.text, '');
    for (const name of ['content-type', 'etag', 'content-length', 'content-disposition']) {
      t.is(head.headers.get(name), got.headers.get(name), `${path} ${name}`);
    }
  }
});

test('large answers are compressed as the client asks, and say the same', async (t) => {
  await makeSeries(room.pool, { id: 'LONG', frequency: 'daily' });
  const points = Array.from({ length: 1500 }, (_, i) => ({
    date: new Date(Date.UTC(2020, 0, 1 + i)).toISOString().slice(0, 10),
    value: `${i}.25`,
  }));
  await publish(room.pool, 'LONG', '2024-05-01', points);
  for (const path of ['/v1/series/LONG', '/v1/series/LONG?format=csv']) {
    const plain = await room.call(path, { headers: { 'accept-encoding': 'identity' } });
    t.is(plain.headers.get('content-encoding'), null);
    for (const encoding of ['gzip', 'br']) {
      const packed = await room.call(path, { headers: { 'accept-encoding': encoding } });
      t.is(packed.headers.get('content-encoding'), encoding);
      t.is(packed.text, plain.text);
    }
    const refused = await room.call(path, { headers: { 'accept-encoding': 'br;q=0, gzip;q=0' } });
    t.is(refused.headers.get('content-encoding'), null);
  }
});

test('Server-Timing names the stages', async (t) => {
  const { headers } = await room.call('/v1/series/CPI?to=2031');
  t.regex(
    headers.get('server-timing') ?? '',
    /^parse;dur=[\d.]+, lookup;dur=[\d.]+, sql;dur=[\d.]+, render;dur=/,
  );
});

test('clients that leave their streams keep no connection: the next call is served', async (t) => {
  await makeSeries(room.pool, { id: 'HUGE', frequency: 'daily', dimensions: ['n'] });
  await room.pool.query(
    `insert into data.series_dims select series_no, n, json_build_object('n', n::text) from data.series, generate_series(0, 19) n
     where series_id = 'HUGE'`,
  );
  await room.pool.query(
    `insert into data.observations (series_no, dims_no, date, published_on, load_no, value)
     select series_no, n, date '2000-01-01' + d, '2024-01-01', 0, n from data.series, generate_series(0, 19) n,
       generate_series(0, 2999) d where series_id = 'HUGE'`,
  );
  const leaveAfterFirstBytes = () =>
    new Promise<void>((resolve, reject) => {
      get(`${room.url}/v1/series/HUGE?format=csv`, { headers: room.headers() }, (response) => {
        response.once('data', () => {
          response.destroy();
          resolve();
        });
      }).on('error', reject);
    });
  // More clients than the pool has connections.
  await Promise.all(Array.from({ length: 15 }, leaveAfterFirstBytes));
  t.is((await series('/v1/series/HUGE?limit=3')).pagination.count, 3);
  const { text } = await room.call('/v1/series/HUGE?format=csv');
  t.is(text.split('\r\n').length - 2, 60_000, 'a stream of many blocks is whole');
});
