// POST /v1/series/query, compared with GET /v1/series?ids= with the same parameters.
import test from 'ava';
import { refreshSearch } from '../migrations/search-entries.ts';
import { freeAccount, type Answer } from '../services/data-service.ts';
import { startSeriesService, type Envelope } from './series-service.ts';
import { makeSeries, publish } from './series-fixture.ts';

const { service } = await startSeriesService(test);

const query = (body: unknown, more: RequestInit = {}): Promise<Answer> =>
  service.call('/v1/series/query', {
    method: 'POST',
    body: JSON.stringify(body),
    ...more,
    headers: { 'content-type': 'application/json', ...(more.headers as Record<string, string>) },
  });
const errorOf = ({ json }: Answer) => (json as Envelope).error;

const sameQueries: [fields: Record<string, unknown>, url: string][] = [
  [{}, ''],
  [{ limit: 2, sort: '-date' }, 'limit=2&sort=-date'],
  [{ from: '2024', to: '2024-Q1', include_missing: true }, 'from=2024&to=2024-Q1&include_missing=true'],
  [{ fields: ['status', 'date'], include: ['notes'] }, 'fields=date,status&include=notes'],
  [{ vintage: '2024-04-10', transform: 'pct_change' }, 'vintage=2024-04-10&transform=pct_change'],
  [{ frequency: 'annual', aggregate: 'last', incomplete: true, last: 1 }, 'frequency=annual&aggregate=last&incomplete=true&last=1'],
  [{ format: 'csv' }, 'format=csv'],
  [{ format: 'csv', layout: 'wide', sort: 'desc' }, 'format=csv&layout=wide&sort=desc'],
]; // prettier-ignore

for (const [fields, url] of sameQueries) {
  test(`a query is answered as the URL with the same parameters: ${url}`, async (t) => {
    const asked = await query({ ids: ['CPI', 'TRADES'], ...fields });
    const got = await service.call(`/v1/series?ids=CPI,TRADES&${url}`);
    t.is(asked.status, 200);
    t.is(asked.text, got.text);
    for (const name of ['content-type', 'content-disposition'])
      t.is(asked.headers.get(name), got.headers.get(name));
    t.deepEqual([asked.headers.get('cache-control'), asked.headers.get('etag')], ['no-store', null]);
  });
}

test('dims are a list of filters, and a format is chosen by the header Accept too', async (t) => {
  const dims = ['side:buy|sell,city:Lahore', 'city:Lahore'];
  const asked = await query({ ids: ['TRADES'], dims }, { headers: { accept: 'text/csv' } });
  const filters = dims.map((each) => `&dims=${encodeURIComponent(each)}`).join('');
  t.is(asked.text, (await service.call(`/v1/series?ids=TRADES&format=csv${filters}`)).text);
  t.is((await query({ ids: ['TRADES'] }, { headers: { accept: 'image/png' } })).status, 406);
});

test('a fault in a field is invalid_body, and names the field', async (t) => {
  const ids = ['CPI'];
  for (const [body, param, message] of [
    [{}, 'ids', /is required/],
    [{ ids: 'CPI' }, 'ids', /must be a list of texts/],
    [{ ids: [1] }, 'ids', /must be a list of texts/],
    [{ ids: [] }, 'ids', /must not be empty/],
    [{ ids: ['CPI', 'CPI'] }, 'ids', /different/],
    [{ ids: ['CPI,TRADES'] }, 'ids', /one entry for each value/],
    [{ ids, limit: '5' }, 'limit', /must be a whole number/],
    [{ ids, limit: 1.5 }, 'limit', /must be a whole number/],
    [{ ids, limit: 0 }, 'limit', /from 1 to 100000/],
    [{ ids, limit: null }, 'limit', /must be a whole number/],
    [{ ids, incomplete: 'true' }, 'incomplete', /true or false/],
    [{ ids, from: '2024-02-30' }, 'from', /must be a date/],
    [{ ids, from: 2024 }, 'from', /must be a text/],
    [{ ids, fields: ['dat'] }, 'fields', /must be one or more of/],
    [{ ids, layout: 'wide' }, 'layout', /format=csv/],
    [{ ids, start: '2024' }, 'start', /Did you mean "from"/],
    [{ ids, cursor: 'x' }, 'cursor', /Known names: ids, /],
    [{ ids, constructor: 'x' }, 'constructor', /Known names: ids, /],
    [{ ids, toString: ['x'] }, 'toString', /Known names: ids, /],
    [{ ids, vintage: '2999-01-01' }, 'vintage', /future/],
  ] as const) {
    const answer = await query(body);
    const { code, param: named, message: text } = errorOf(answer);
    t.deepEqual([answer.status, code, named], [400, 'invalid_body', param], JSON.stringify(body));
    t.regex(text, message);
  }
  t.is(errorOf(await query([])).code, 'invalid_body');
  t.is(errorOf(await query({ ids }, { headers: { 'content-type': 'text/plain' } })).code, 'unsupported_media_type'); // prettier-ignore
  const inUrl = await service.call('/v1/series/query?ids=CPI', { method: 'POST' });
  t.deepEqual([errorOf(inUrl).code, errorOf(inUrl).param], ['invalid_parameter', 'ids']);
});

test('refusals by the series or the plan are the same as for a URL', async (t) => {
  const unknown = errorOf(await query({ ids: ['CPI', 'NONE'] }));
  t.deepEqual([unknown.code, unknown.param], ['not_found', 'ids']);
  const vintages = await service.call('/v1/series/query', {
    ...{ method: 'POST', identity: freeAccount, headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({ ids: ['CPI'], vintage: '2024-04-10' }),
  });
  t.deepEqual([errorOf(vintages).code, errorOf(vintages).param], ['plan_required', 'vintage']);
});

test('a thousand series are answered in the order of their ids, and one more is refused', async (t) => {
  await service.pool.query(
    `insert into data.series (series_id, name, unit, frequency, source)
     select 'MANY.' || n, 'Many', 'Index', 'monthly', 'Office' from generate_series(1, 1000) n`,
  );
  await refreshSearch(service.pool, 'MANY.%');
  const ids = Array.from({ length: 1_000 }, (_, i) => `MANY.${1_000 - i}`);
  const answer = (await query({ ids, limit: 100 })).json as { data: Envelope[]; count: number };
  t.deepEqual(answer.data.map(({ series }) => series), ids); // prettier-ignore
  t.is(answer.count, 1_000);
  const tooLong = errorOf(await query({ ids }));
  t.is(tooLong.param, 'limit');
  t.regex(tooLong.message, /For 1000 series, it may be 100\./);
  t.is(errorOf(await query({ ids: [...ids, 'CPI'], limit: 1 })).param, 'ids');
  const longest = Array.from({ length: 1_000 }, (_, i) => String(i).padEnd(128, 'X'));
  t.is((await query({ ids: longest, limit: 1 })).status, 404); // parsed, but unknown
});

test('a series may be called "query"', async (t) => {
  await makeSeries(service.pool, { id: 'query' });
  await publish(service.pool, 'query', '2024-04-10', [{ date: '2024-01-31', value: '7' }]);
  const { json } = await service.call('/v1/series/query');
  t.deepEqual((json as Envelope).data.map(({ value }) => value), [7]); // prettier-ignore
});
