// Deleted and restored series for readers, by any of their ids: at once, whatever the caches contain.
import test from 'ava';
import { deleteSeries, restoreSeries } from '../../../ingest/history/series/delete.ts';
import { renameSeries } from '../../../ingest/history/series/rename.ts';
import { nameId, numberOfNameId } from '../../../domain/name-id.ts';
import { openDatabase } from '../../../kernel/database.ts';
import { fakeClock, silentLog } from '../../services/harness.ts';
import { startListService } from '../../services/list-service.ts';

const service = await startListService();
const database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'test' });
test.after.always(async () => {
  await database.close();
  await service.close();
});
const how = { noGateway: true, seriesTimeZone: 'UTC', clock: fakeClock('2024-06-30T12:00:00Z') };

test.before(async () => {
  const facts = { frequency: 'monthly', unit: 'Index', source: 'Office', category: 'prices' };
  const load = (rows: readonly string[], vintage: string) =>
    service.load('observations', ['series_id,date,value', ...rows], { create: true, set: facts, vintage });
  await load(['CPI,2024-01,1', 'CPI,2024-02,2', 'CORE,2024-01,1'], '2024-03-10');
  await load(['CPI,2024-02,3'], '2024-04-10');
  await service.load('observations', ['series_id,date,value', 'GONE,2024-01,1'], {
    ...{ create: true, set: { ...facts, source: 'Bureau' } },
  });
  await service.load('calendar', [
    'release_id,title,source,release_at,time_zone,series_ids',
    'one,Prices,Office,2024-05-10T09:00,UTC,CPI;CORE',
  ]);
  await renameSeries(database, { ...how, id: 'CPI', newId: 'PK.CPI' });
});

const ofOne = [
  '/v1/series/ID',
  '/v1/series/ID?vintage=2024-03-31',
  '/v1/series/ID?format=csv',
  '/v1/series/ID?include=notes',
  '/v1/series/ID/latest',
  '/v1/series/ID/vintages',
  '/v1/series/ID/triangle',
  '/v1/series/ID/cite',
  '/v1/series/ID/chart.svg',
  '/v1/series?ids=ID,CORE',
  '/v1/catalog/ID',
  '/v1/catalog/ID/preview',
  '/v1/catalog/ID/chart.svg',
  '/v1/previews?ids=ID,CORE',
].flatMap((path) => ['CPI', 'PK.CPI'].map((id) => [path.replace('ID', id), id] as const));

/** Requests about many series. */
const lists = [
  '/v1/catalog?facets=true',
  '/v1/catalog?q=cpi',
  '/v1/catalog/CORE',
  '/v1/search?q=CPI',
  '/v1/sources',
  '/v1/releases',
];
const release = numberOfNameId(nameId('Prices', 'Office'));
const ofFred = [
  `/fred/release/series?release_id=${release}`,
  `/fred/category/series?category_id=${numberOfNameId(nameId('prices'))}`,
  '/fred/series/search?search_text=pk*&search_type=series_id',
  '/fred/series/updates',
  `/fred/v2/release/observations?release_id=${release}`,
];
const textsOf = async (paths: readonly string[]) =>
  Promise.all(paths.map(async (path) => (await service.call(path)).text));
const sourcesOfStatus = async () => {
  const { data } = (await service.call('/v1/status')).json as { data: { sources: { source: string }[] } };
  return data.sources.map(({ source }) => source);
};

test.serial(
  'a deleted series is 410 everywhere with the day, is in no list, and can be restored completely',
  async (t) => {
    const before = await textsOf(lists);
    const points = await textsOf(['/v1/series/PK.CPI?format=csv', '/v1/series/PK.CPI/triangle?format=csv']);
    for (const [path] of ofOne) t.is((await service.call(path)).status, 200, path);

    for (const path of ofFred) t.true((await service.call(path)).text.includes('"PK.CPI"'), path);
    await deleteSeries(database, { ...how, id: 'PK.CPI' });
    for (const [path, id] of ofOne) {
      const { status, json } = await service.call(path);
      const { error } = json as { error: { code: string; message: string; param: string } };
      const message = `The series "${id}" was deleted on 2024-06-30.`;
      t.like(
        { status, ...error },
        { status: 410, code: 'gone', message, param: path.includes('?ids=') ? 'ids' : 'id' },
        path,
      );
    }
    t.deepEqual(await service.column('/v1/catalog', 'id'), ['CORE', 'GONE']);
    for (const path of ['/v1/catalog?q=cpi', '/v1/search?q=CPI', '/v1/search?q=PK.CPI'])
      t.deepEqual(await service.column(path, 'id'), [], path);
    t.like((await service.list('/v1/catalog?facets=true')).meta, {
      facets: { category: [{ value: 'prices', count: 2 }] },
    });
    t.false((await service.call('/v1/catalog/CORE')).text.includes('PK.CPI'));
    for (const path of ofFred) t.false((await service.call(path)).text.includes('"PK.CPI"'), path);
    t.deepEqual(await service.column('/v1/releases', 'series_count'), [1]);
    t.regex(
      (await service.call('/v1/series/PK.CP')).text,
      /There is no series .* GET \/v1\/catalog lists them/,
    );

    await restoreSeries(database, { ...how, id: 'PK.CPI' });
    for (const [path] of ofOne) t.is((await service.call(path)).status, 200, path);
    t.deepEqual(
      await textsOf(['/v1/series/PK.CPI?format=csv', '/v1/series/PK.CPI/triangle?format=csv']),
      points,
    );
    t.deepEqual(
      (await textsOf(lists)).map((text) => text.replaceAll(/"last_success_at":"[^"]*"/g, '')),
      before.map((text) => text.replaceAll(/"last_success_at":"[^"]*"/g, '')),
    );
  },
);

test.serial('a source whose series are all deleted is not listed', async (t) => {
  t.deepEqual(await sourcesOfStatus(), ['Bureau', 'Office']);
  await deleteSeries(database, { ...how, id: 'GONE' });
  service.clock.set('2027-01-01T00:00:00Z'); // the status is cached for a second
  t.deepEqual(await sourcesOfStatus(), ['Office']);
  t.false((await service.call('/v1/sources')).text.includes('Bureau'));
});

test.serial(
  'a fund whose benchmark is deleted is served without one, and with it again once it is restored',
  async (t) => {
    const set = { frequency: 'daily', unit: 'Index', source: 'Exchange', category: 'shares' };
    const levels = ['series_id,date,value', 'SHARES,2024-01-31,100', 'SHARES,2024-02-29,104'];
    await service.load('observations', levels, { create: true, set });
    await service.load('funds', [
      'fund_id,name,currency,benchmark_series,source',
      'f1,Fund,PKR,SHARES,Register',
    ]);
    await service.load('nav', ['fund,date,nav', 'f1,2024-01-31,10', 'f1,2024-02-29,11']);
    const paths = ['/v1/funds/f1/returns', '/v1/funds/f1/analytics'];
    const benchmarks = async () =>
      Promise.all(
        paths.map(async (path) => {
          const { status, json } = await service.call(path);
          return [status, (json as { data?: { benchmark: unknown } }).data?.benchmark];
        }),
      );
    t.deepEqual(
      await benchmarks(),
      paths.map(() => [200, 'SHARES']),
    );

    await deleteSeries(database, { ...how, id: 'SHARES' });
    t.deepEqual(
      await benchmarks(),
      paths.map(() => [200, null]),
    );
    const { data } = (await service.call('/v1/funds/f1/returns')).json as { data: { periods: object[] } };
    t.like(data.periods.at(-1), { period: 'since_inception', value_pct: 10, benchmark_pct: null });
    const asked = await service.call('/v1/funds/f1/analytics?benchmark=SHARES');
    t.like(asked.json, { error: { code: 'invalid_parameter', param: 'benchmark' } });

    await restoreSeries(database, { ...how, id: 'SHARES' });
    t.deepEqual(
      await benchmarks(),
      paths.map(() => [200, 'SHARES']),
    );
  },
);
