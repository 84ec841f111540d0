import { get } from 'node:http';
import test from 'ava';
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
    t.is(first.headers.get('vary'), 'Accept, Accept-Encoding');
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

test('a load is seen by the next call, and its ETag changes', async (t) => {
  await makeSeries(service.pool, { id: 'FRESH' });
  const empty = await service.call('/v1/series/FRESH');
  t.is(empty.status, 200);
  await publish(service.pool, 'FRESH', '2024-05-01', [{ date: '2024-04-30', value: '1' }]);
  const etag = empty.headers.get('etag') ?? '';
  const loaded = await service.call('/v1/series/FRESH', { headers: { 'if-none-match': etag } });
  t.is(loaded.status, 200);
  t.is((loaded.json as Envelope).data[0]?.value, 1);
  await service.pool.query(`update data.series set name = 'Renamed' where series_id = 'FRESH'`);
  const renamed = await service.call('/v1/series/FRESH', {
    headers: { 'if-none-match': loaded.headers.get('etag') ?? '' },
  });
  t.is((renamed.json as Envelope).meta['name'], 'Renamed');
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

test('large answers are compressed as the client asks, and say the same', async (t) => {
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

test('Server-Timing names the stages', async (t) => {
  const { headers } = await service.call('/v1/series/CPI?to=2031');
  t.regex(
    headers.get('server-timing') ?? '',
    /^parse;dur=[\d.]+, lookup;dur=[\d.]+, sql;dur=[\d.]+, render;dur=/,
  );
});

test('clients that leave their streams keep no connection: the next call is served', async (t) => {
  await makeSeries(service.pool, { id: 'HUGE', frequency: 'daily', dimensions: ['n'] });
  await service.pool.query(
    `insert into data.series_dims select series_no, n, json_build_object('n', n::text) from data.series, generate_series(0, 19) n
     where series_id = 'HUGE'`,
  );
  await service.pool.query(
    `insert into data.observations (series_no, dims_no, date, published_on, load_no, value)
     select series_no, n, date '2000-01-01' + d, '2024-01-01', 0, n from data.series, generate_series(0, 19) n,
       generate_series(0, 2999) d where series_id = 'HUGE'`,
  );
  const leaveAfterFirstBytes = () =>
    new Promise<void>((resolve, reject) => {
      get(`${service.url}/v1/series/HUGE?format=csv`, { headers: service.headers() }, (response) => {
        response.once('data', () => {
          response.destroy();
          resolve();
        });
      }).on('error', reject);
    });
  // More clients than the pool has connections.
  await Promise.all(Array.from({ length: 15 }, leaveAfterFirstBytes));
  t.is((await series('/v1/series/HUGE?limit=3')).pagination.count, 3);
  const { text } = await service.call('/v1/series/HUGE?format=csv');
  t.is(text.split('\r\n').length - 2, 60_000, 'a stream of many blocks is whole');
});
