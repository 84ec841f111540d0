// GET /v1/catalog/{id}/preview and GET /v1/previews: the newest points of series, for visitors.
import test from 'ava';
import type { Dependencies } from '../../data-api/dependencies.ts';
import { newestLines } from '../../data-api/discovery/newest-lines.sql.ts';
import { createSeriesFacts } from '../../data-api/series/series-cache.ts';
import { requireSeries } from '../../data-api/series/series-read.ts';
import { openDatabase, type Queryable } from '../../kernel/database.ts';
import { publicCaller, startDataService, type DataService } from '../services/data-service.ts';
import { refreshSearch } from '../migrations/search-entries.ts';
import { silentLog } from '../services/harness.ts';
import { makeSeries, publish, type FixturePoint } from './series-fixture.ts';
import type { Envelope } from './series-service.ts';

const days = Array.from({ length: 9 }, (_, i) => `2024-01-0${i + 1}`);
const codes = Array.from({ length: 25 }, (_, i) => `c${i}`);

let service: DataService;

test.before(async () => {
  service = await startDataService(undefined, undefined, { previewPoints: 4 });
  const daily = days.map((date, i) => ({ date, value: i === 7 ? null : `${i}.50` }));
  const bySide = days.flatMap((date) =>
    ['buy', 'sell'].map((side) => ({ date, value: date.slice(-1), dims: { side } })),
  );
  const byCode = codes.map((code) => ({ date: '2024-01-01', value: '1', dims: { code } }));
  await make('DAILY', [], daily);
  await make('SIDES', ['side'], bySide);
  await make('CODES', ['code'], byCode);
  await makeSeries(service.pool, { id: 'EMPTY' });
});

test.after.always(() => service.close());

async function make(id: string, dimensions: string[], points: FixturePoint[]): Promise<void> {
  await makeSeries(service.pool, { id, frequency: 'daily', dimensions });
  await publish(service.pool, id, '2024-02-01', points);
}

type Preview = Omit<Envelope, 'meta'> & {
  meta: {
    preview: { points_max: number; combinations: number; combinations_shown: number };
    hints?: string[];
  };
};

const call = (path: string, at = service) => at.call(path, { identity: publicCaller });
const preview = async (path: string) => (await call(path)).json as Preview;

test('the preview has the newest points of the series, oldest first, the same as a call with a key', async (t) => {
  const { data, meta, pagination } = await preview('/v1/catalog/DAILY/preview');
  const keyed = (await service.call('/v1/series/DAILY?from=2024-01-05')).json as Envelope;
  t.is(data.length, 4);
  t.deepEqual(data, keyed.data);
  t.deepEqual(meta.preview, { points_max: 4, combinations: 1, combinations_shown: 1 });
  const { preview: _, ...facts } = meta;
  t.deepEqual(facts as unknown, keyed.meta);
  t.deepEqual(pagination, { next_cursor: null, count: 4 });
  t.regex((await call('/v1/catalog/DAILY/preview')).text, /"value":8\.50,/);
});

test('series stored by one transaction have separate previews and charts', async (t) => {
  for (const id of ['TWIN.A', 'TWIN.B'])
    await make(
      id,
      [],
      days.map((date, i) => ({ date, value: id === 'TWIN.A' ? `${i}` : `${100 - i}` })),
    );
  await service.pool.query("update data.series set name = series_id where series_id like 'TWIN.%'");
  await refreshSearch(service.pool, 'TWIN.%');
  for (const part of ['preview', 'chart.svg']) {
    const [first, second] = [
      await call(`/v1/catalog/TWIN.A/${part}`),
      await call(`/v1/catalog/TWIN.B/${part}`),
    ];
    t.true(first.text.includes('TWIN.A'), part);
    t.true(second.text.includes('TWIN.B') && !second.text.includes('TWIN.A'), part);
    t.not(first.headers.get('etag'), second.headers.get('etag'));
  }
});

test('a limit shows fewer points but never more than the operator allows', async (t) => {
  const dates = async (query: string) =>
    (await preview(`/v1/catalog/DAILY/preview?${query}`)).data.map(({ date }) => date);
  t.deepEqual(await dates('limit=2'), ['2024-01-07', '2024-01-09']);
  t.is((await dates('limit=1000')).length, 4);
  t.deepEqual(await dates('limit=2&include_missing=true'), ['2024-01-08', '2024-01-09']);
});

test('a preview has the newest points of each matching combination', async (t) => {
  const all = await preview('/v1/catalog/SIDES/preview?limit=2');
  t.deepEqual(
    all.data.map(({ date, dims }) => `${date} ${dims['side']}`),
    ['2024-01-08 buy', '2024-01-08 sell', '2024-01-09 buy', '2024-01-09 sell'],
  );
  const sell = await preview('/v1/catalog/SIDES/preview?dims=side:sell');
  t.deepEqual(new Set(sell.data.map(({ dims }) => dims['side'])), new Set(['sell']));
  t.is(sell.data.length, 4);
  const unknown = await preview('/v1/catalog/SIDES/preview?dims=side:sel');
  t.deepEqual(unknown.data, []);
  t.deepEqual(unknown.meta.hints, ['"side" has no value "sel". Did you mean "sell"?']);
  t.is((await preview('/v1/catalog/SIDES/preview?dims=sides:buy')).error.code, 'unknown_dimension');
});

test('a preview shows at most twenty combinations, and states their total', async (t) => {
  const { data, meta } = await preview('/v1/catalog/CODES/preview');
  t.is(data.length, 20);
  t.deepEqual(meta.preview, { points_max: 4, combinations: 25, combinations_shown: 20 });
});

test('by default, the combinations with the newest values are shown first, then those with the most points', async (t) => {
  await makeSeries(service.pool, { id: 'ENDED', frequency: 'daily', dimensions: ['country'] });
  const ended = Array.from({ length: 25 }, (_, i) => `A${String(i).padStart(2, '0')}`);
  const points = [
    ...ended.map((country) => ['2001-12-31', country, '1'] as const),
    ['2024-01-31', 'Short', '2'] as const,
    ['2023-12-31', 'Long', '3'] as const,
    ['2024-01-31', 'Long', '4'] as const,
    ['2024-02-29', 'Missing', null] as const,
  ];
  await publish(
    service.pool,
    'ENDED',
    '2024-03-01',
    points.map(([date, country, value]) => ({ date, value, dims: { country } })),
  );
  const entry = (await call('/v1/catalog/ENDED')).json as {
    data: { newest_combinations: { country: string }[] };
  };
  const order = entry.data.newest_combinations.map(({ country }) => country);
  t.deepEqual(order, ['Long', 'Short', ...ended, 'Missing']);
  const { data } = (await call('/v1/previews?ids=ENDED')).json as { data: { dims: object }[] };
  t.deepEqual(data[0]?.dims, { country: 'Long' });
  const shown = (await preview('/v1/catalog/ENDED/preview')).data.map(({ dims }) => dims['country']);
  t.deepEqual(shown.toSorted(), [...ended.slice(0, 18), 'Long', 'Long', 'Short']);
  await publish(service.pool, 'ENDED', '2024-04-01', [
    { date: '2024-03-31', value: '5', dims: { country: 'A07' } },
  ]);
  const next = (await call('/v1/catalog/ENDED')).json as typeof entry;
  t.deepEqual(next.data.newest_combinations[0], { country: 'A07' });
});

test('a preview is 304 until the series changes, and the next call gets the new one', async (t) => {
  await makeSeries(service.pool, { id: 'MOVES' });
  await publish(service.pool, 'MOVES', '2024-02-01', [{ date: '2024-01-31', value: '1' }]);
  for (const path of ['/v1/catalog/MOVES/preview', '/v1/previews?ids=MOVES']) {
    const etag = (await call(path)).headers.get('etag') ?? '';
    const again = (headers: Record<string, string>) =>
      service.call(path, { identity: publicCaller, headers });
    t.is((await again({ 'if-none-match': etag })).status, 304, path);
    const value = `${path.length}.5`;
    await publish(service.pool, 'MOVES', '2024-02-02', [{ date: '2024-01-31', value }]);
    const changed = await again({ 'if-none-match': etag });
    t.is(changed.status, 200, path);
    t.true(changed.text.includes(`"value":${value}`), path);
  }
  t.is((await call('/v1/catalog/MOVES/preview')).headers.get('cache-control'), 'public, max-age=60');
});

test('the previews of several series have the newest points of one combination each, in the requested order', async (t) => {
  const { data, count } = (await call('/v1/previews?ids=SIDES,EMPTY,DAILY&limit=2')).json as {
    data: unknown[];
    count: number;
  };
  t.is(count, 3);
  t.deepEqual(data, [
    {
      series: 'SIDES',
      dims: { side: 'buy' },
      data: [
        { date: '2024-01-08', value: 8 },
        { date: '2024-01-09', value: 9 },
      ],
    },
    { series: 'EMPTY', dims: {}, data: [] },
    {
      series: 'DAILY',
      dims: {},
      data: [
        { date: '2024-01-07', value: 6.5 },
        { date: '2024-01-09', value: 8.5 },
      ],
    },
  ]);
  const whole = (await call('/v1/previews?ids=DAILY')).json as { data: { data: unknown[] }[] };
  t.is(whole.data[0]?.data.length, 4, 'never more than the operator allows');
  const refused = (await call('/v1/previews?ids=DAILY,DAILI')).json as Envelope;
  t.is(refused.error.code, 'not_found');
  t.regex(refused.error.message, /Did you mean "DAILY"/);
});

test('if the operator has switched previews off they are 404, with a message that states it', async (t) => {
  const off = await startDataService(undefined, undefined, { previewPoints: 0 });
  await makeSeries(off.pool, { id: 'DAILY' });
  for (const path of ['/v1/catalog/DAILY/preview', '/v1/previews?ids=DAILY']) {
    const { status, json } = await call(path, off);
    t.is(status, 404, path);
    t.like((json as Envelope).error, { code: 'not_found' });
    t.regex((json as Envelope).error.message, /switched off/);
  }
  await off.close();
});

test('the order of the combinations is read once for each state of a series', async (t) => {
  await make('ORDERED', ['code'], codes.map((code) => ({ date: '2024-01-01', value: '1', dims: { code } }))); // prettier-ignore
  const database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'test' });
  const seriesFacts = createSeriesFacts(database, service.clock);
  let reads = 0;
  const counted: Queryable = {
    query(text, values, name) {
      reads += 1;
      return database.query(text, values, name);
    },
  };
  const first = async () => {
    const dependencies = { database, seriesFacts, clock: service.clock } as unknown as Dependencies;
    const series = await requireSeries(dependencies, { changesAt: () => undefined }, 'ORDERED', null);
    const [[lineNo] = []] = await newestLines(counted, [series]);
    return series.combinations.find((each) => each.lineNo === lineNo)?.dims;
  };
  t.deepEqual([await first(), await first()], [{ code: 'c0' }, { code: 'c0' }]);
  t.is(reads, 1);
  await publish(service.pool, 'ORDERED', '2024-02-02', [{ date: '2024-01-02', value: '1', dims: { code: 'c7' } }]); // prettier-ignore
  t.deepEqual(await first(), { code: 'c7' });
  await database.close();
});
