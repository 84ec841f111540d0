import { get } from 'node:http';
import test from 'ava';
import { refreshSearch } from '../migrations/search-entries.ts';
import { makeSeries, publish } from './series-fixture.ts';
import { startSeriesService, type Envelope } from './series-service.ts';

const { service, series } = await startSeriesService(test);

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
    const first = await service.call(path, { headers });
    const etag = first.headers.get('etag') ?? '';
    t.regex(etag, /^"[\w-]+"$/);
    t.is(first.headers.get('vary'), 'Accept, Accept-Encoding, Authorization, X-API-Key');
    t.is(first.headers.get('cache-control'), 'private, no-cache');
    t.false(Number.isNaN(Date.parse(first.headers.get('last-modified') ?? '')));
    tags.add(etag);
    const second = await service.call(path, {
      headers: { ...headers, 'if-none-match': `"other", W/${etag}` },
    });
    t.is(second.status, 304);
    t.is(second.text, '');
    t.is(second.headers.get('etag'), etag);
  }
  t.is(tags.size, 9);
});

test('the next call shows a load, with another ETag', async (t) => {
  await makeSeries(service.pool, { id: 'FRESH' });
  const empty = await service.call('/v1/series/FRESH');
  t.is(empty.status, 200);
  await publish(service.pool, 'FRESH', '2024-05-01', [{ date: '2024-04-30', value: '1' }]);
  const etag = empty.headers.get('etag') ?? '';
  const loaded = await service.call('/v1/series/FRESH', { headers: { 'if-none-match': etag } });
  t.is(loaded.status, 200);
  t.is((loaded.json as Envelope).data[0]?.value, 1);
  await service.pool.query(
    `update data.series set name = 'Renamed', row_version = row_version + 1 where series_id = 'FRESH'`,
  );
  await refreshSearch(service.pool, 'FRESH');
  const renamed = await service.call('/v1/series/FRESH', {
    headers: { 'if-none-match': loaded.headers.get('etag') ?? '' },
  });
  t.is((renamed.json as Envelope).meta['name'], 'Renamed');
});

test('the next call shows all changes since a series was read, whatever it requests', async (t) => {
  await makeSeries(service.pool, { id: 'KNOWN', dimensions: ['side'] });
  const point = (value: string, side: string) => ({ date: '2024-04-30', value, dims: { side } });
  await publish(service.pool, 'KNOWN', '2024-05-01', [point('1', 'buy')]);
  let year = 2000;
  const ask = async (path: string): Promise<Envelope> => {
    const separator = path.includes('?') ? '&' : '?';
    const { json } = await service.call(`/v1/series/KNOWN${path}${separator}from=${(year += 1)}`); // never asked before
    return json as Envelope;
  };
  const paths = ['', '/latest', '?format=json&transform=yoy&include_missing=true', '?vintage=2024-05-01'];
  const whatShows = {
    value: async () => [(await ask('')).data[0]?.value, (await ask('/latest')).data[0]?.value],
    vintages: async () => (await ask('?vintage=2024-05-01')).data.map(({ value }) => value),
    names: async () => new Set(await Promise.all(paths.map(async (path) => (await ask(path)).meta['name']))),
    sell: async () => (await ask('?dims=side:sell')).data.length,
    unknown: async () => (await ask('?dims=place:Lahore')).error.code,
  };
  t.deepEqual(await whatShows.value(), [1, 1]);
  t.deepEqual(await whatShows.vintages(), [1]);
  t.is(await whatShows.sell(), 0);
  await publish(service.pool, 'KNOWN', '2024-05-02', [point('2', 'buy'), point('3', 'sell')]);
  t.deepEqual(await whatShows.value(), [2, 2]);
  t.deepEqual(await whatShows.vintages(), [1]);
  t.is(await whatShows.sell(), 1);
  await service.pool.query(
    `update data.series set name = 'Renamed', row_version = row_version + 1 where series_id = 'KNOWN'`,
  );
  t.deepEqual(await whatShows.names(), new Set(['Renamed']));
  t.is(await whatShows.unknown(), 'unknown_dimension');
  await service.pool.query(
    `update data.series set dimensions = '{side,place}', row_version = row_version + 1 where series_id = 'KNOWN'`,
  );
  t.is((await ask('?dims=place:Lahore')).pagination.count, 0);
  const gone = await service.pool.query<{ series_no: number }>(
    `delete from data.series where series_id = 'KNOWN' returning series_no`,
  );
  await service.pool.query('select data.refresh_search($1)', [gone.rows.map(({ series_no }) => series_no)]);
  t.is((await ask('')).error.code, 'not_found');
});

test('HEAD has the headers of GET and no body', async (t) => {
  for (const path of ['/v1/series/CPI', '/v1/series/CPI/latest', '/v1/series/CPI?format=csv']) {
    const got = await service.call(path, { headers: { 'accept-encoding': 'identity' } });
    const head = await service.call(path, { method: 'HEAD', headers: { 'accept-encoding': 'identity' } });
    t.is(head.status, 200);
    t.is(head.text, '');
    for (const name of ['content-type', 'etag', 'content-length', 'content-disposition']) {
      t.is(head.headers.get(name), got.headers.get(name), `${path} ${name}`);
    }
  }
});

test('large answers are compressed on request, with the same content', async (t) => {
  await makeSeries(service.pool, { id: 'LONG', frequency: 'daily' });
  const points = Array.from({ length: 1500 }, (_, i) => ({
    date: new Date(Date.UTC(2020, 0, 1 + i)).toISOString().slice(0, 10),
    value: `${i}.25`,
  }));
  await publish(service.pool, 'LONG', '2024-05-01', points);
  for (const path of ['/v1/series/LONG', '/v1/series/LONG?format=csv']) {
    const plain = await service.call(path, { headers: { 'accept-encoding': 'identity' } });
    t.is(plain.headers.get('content-encoding'), null);
    for (const encoding of ['gzip', 'br']) {
      const packed = await service.call(path, { headers: { 'accept-encoding': encoding } });
      t.is(packed.headers.get('content-encoding'), encoding);
      t.is(packed.text, plain.text);
    }
    const refused = await service.call(path, { headers: { 'accept-encoding': 'br;q=0, gzip;q=0' } });
    t.is(refused.headers.get('content-encoding'), null);
  }
});

test('Server-Timing names the stages: facts in memory need no lookup of their own', async (t) => {
  await makeSeries(service.pool, { id: 'TIMED' });
  await publish(service.pool, 'TIMED', '2024-05-01', [{ date: '2024-04-30', value: '1' }]);
  const stages = async (path: string) => {
    const { headers } = await service.call(path);
    return headers.get('server-timing')?.replaceAll(/;dur=[\d.]+/g, '');
  };
  t.is(await stages('/v1/series/TIMED?to=2031'), 'parse, lookup, sql, render');
  t.is(await stages('/v1/series/TIMED?to=2032'), 'parse, sql, render');
  t.is(await stages('/v1/series/TIMED/latest?from=2000'), 'parse, sql, render');
  t.is(await stages('/v1/series/TIMED?format=csv'), 'parse, lookup');
});

test('clients that abandon their streams occupy no connection: the next call is served', async (t) => {
  await makeSeries(service.pool, { id: 'HUGE', frequency: 'daily', dimensions: ['n'] });
  await service.pool.query(
    `insert into data.series_dims (line_no, series_no, dims)
     select 1000 + n, series_no, json_build_object('n', n::text) from data.series, generate_series(0, 19) n where series_id = 'HUGE'`,
  );
  await refreshSearch(service.pool, 'HUGE');
  await service.pool.query(
    `insert into data.observations (line_no, date, published_on, load_no, value)
     select 1000 + n, date '2000-01-01' + d, '2024-01-01', 0, n from generate_series(0, 19) n, generate_series(0, 2999) d`,
  );
  const leaveAfterFirstBytes = () =>
    new Promise<void>((resolve, reject) => {
      get(
        `${service.url}/v1/series/HUGE?format=csv`,
        { headers: service.headers('/v1/series/HUGE?format=csv') },
        (response) => {
          response.once('data', () => {
            response.destroy();
            resolve();
          });
        },
      ).on('error', reject);
    });
  // More clients than the pool has connections.
  await Promise.all(Array.from({ length: 15 }, leaveAfterFirstBytes));
  t.is((await series('/v1/series/HUGE?limit=3')).pagination.count, 3);
  const { text } = await service.call('/v1/series/HUGE?format=csv');
  t.is(text.split('\r\n').length - 2, 60_000, 'a stream of many blocks is whole');
});
