import test from 'ava';
import { freeAccount } from '../services/data-service.ts';
import { startSeriesService, type Envelope } from './series-service.ts';

const { service, series, refusal } = await startSeriesService(test);

test('a cursor is valid only for its own page query', async (t) => {
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

test('a bad parameter is 400 and named, with the allowed values', async (t) => {
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
  t.is((await refusal('/v1/series/CPI/latest?to=2024')).param, 'to');
});

test('an unknown dimension is refused with those that the series has', async (t) => {
  const ofTrades = await refusal('/v1/series/TRADES?dims=sde:buy');
  t.is(
    ofTrades.message,
    'The series TRADES has no dimension "sde". Did you mean "side"? It has: side, city.',
  );
  const ofCpi = await refusal('/v1/series/CPI?dims=side:buy');
  t.is(ofCpi.message, 'The series CPI has no dimensions, so "side" does not apply.');
});

test('an unknown value of a dimension gets a hint with the nearest one, next to the points of the known values', async (t) => {
  const hinted = async (path: string) => (await series(path)).meta['hints'];
  const none = '/v1/series/TRADES?dims=side:by';
  t.deepEqual((await series(none)).data, []);
  t.deepEqual(await hinted(none), ['"side" has no value "by". Did you mean "buy"?']);
  const some = '/v1/series/TRADES?dims=side:buy|zzzzzz';
  t.true((await series(some)).data.length > 0);
  for (const path of [
    some,
    '/v1/series/TRADES/latest?dims=side:buy|zzzzzz',
    '/v1/series/TRADES/triangle?dims=side:buy|zzzzzz',
  ])
    t.deepEqual(await hinted(path), ['"side" has no value "zzzzzz". "dims" lists those that it has.'], path);
  t.is(await hinted('/v1/series/TRADES?dims=side:buy'), undefined);
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

test('many series in one call are a list of envelopes, each the same as alone, and count as one call per series', async (t) => {
  const query = 'from=2024&limit=3';
  const { json, headers } = await service.call(`/v1/series?ids=TRADES,CPI&${query}`);
  const list = json as { success: boolean; data: Envelope[]; count: number };
  t.true(list.success);
  t.is(list.count, 2);
  t.deepEqual(list.data, [
    await series(`/v1/series/TRADES?${query}`),
    await series(`/v1/series/CPI?${query}`),
  ]);
  const next = list.data[0]?.pagination.next_cursor;
  t.is((await series(`/v1/series/TRADES?${query}&cursor=${next}`)).success, true);
  const etag = headers.get('etag') ?? '';
  const again = await service.call(`/v1/series?ids=TRADES,CPI&${query}`, {
    headers: { 'if-none-match': etag },
  });
  t.is(again.status, 304);
});

test('many series are all answered or none', async (t) => {
  const cases: [query: string, status: number, code: string, param: string][] = [
    ['', 400, 'invalid_parameter', 'ids'],
    ['?ids=CPI,', 400, 'invalid_parameter', 'ids'],
    ['?ids=CPI,CPI', 400, 'invalid_parameter', 'ids'],
    [`?ids=${Array.from({ length: 101 }, (_, i) => `S${i}`).join(',')}`, 400, 'invalid_parameter', 'ids'],
    ['?ids=CPI,TRADES&limit=50001', 400, 'invalid_parameter', 'limit'],
    ['?ids=CPI&cursor=x', 400, 'invalid_parameter', 'cursor'],
    [
      `?ids=${Array.from({ length: 100 }, (_, i) => `${i}`.padEnd(128, 'x')).join(',')}`,
      404,
      'not_found',
      'ids',
    ],
    [`?ids=${'x'.repeat(12_901)}`, 400, 'invalid_parameter', 'ids'],
    ['?ids=CPI,NONE', 404, 'not_found', 'ids'],
    ['?ids=CPI,TRADES&dims=side:buy', 400, 'unknown_dimension', 'dims'],
  ];
  for (const [query, status, code, param] of cases) {
    const refused = await refusal(`/v1/series${query}`);
    t.deepEqual([refused.status, refused.code, refused.param], [status, code, param], query);
  }
});

test('a call that bypasses the gateway is refused, and a forged identity is not reported as a client error', async (t) => {
  const bare = await fetch(`${service.url}/v1/series/CPI`);
  t.is(bare.status, 401);
  t.is(((await bare.json()) as Envelope).error.code, 'unauthorized');
  const forged = await fetch(`${service.url}/v1/series/CPI`, {
    headers: { 'x-almanac-identity': 'e30.e30.' },
  });
  t.is(forged.status, 503);
});

test('a past state of the data requires the plan feature, even if the gateway let the call through', async (t) => {
  for (const query of ['?vintage=2024-05-01', '/latest?vintage=2024-05-01', '?release=first']) {
    const { status, json } = await service.call(`/v1/series/CPI${query}`, { identity: freeAccount });
    t.is(status, 403);
    t.is((json as Envelope).error.code, 'plan_required');
  }
});
