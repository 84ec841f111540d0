// An older vintage is loaded between the look-up of a series and the reading of its points, so that the state that was looked up can no longer be
// read. A call without a requested state reads the new one; a call that is pinned to the old one is 410.
import test, { type ExecutionContext } from 'ava';
import { inSavepoints, openDatabase, type Database } from '../../kernel/database.ts';
import { toRoutes, endpoint } from '../../data-api/endpoint.ts';
import type { Dependencies } from '../../data-api/dependencies.ts';
import { HistoryRewritten } from '../../data-api/series/stored/points.ts';
import { integerParam } from '../../kernel/http/params.ts';
import { startService } from '../../kernel/http/server.ts';
import { createOpener } from '../../kernel/identity.ts';
import { z } from 'zod';
import { load } from '../../ingest/load/load.ts';
import { Readable } from 'node:stream';
import { loadCsv } from '../ingest/loading.ts';
import { until } from '../run/until.ts';
import { exempt } from '../openapi/check-answers.ts';
import { startDataService, type Answer } from '../services/data-service.ts';
import { silentLog, testIdentitySecret } from '../services/harness.ts';

const service = await startDataService(undefined, undefined, { openRevisionsSeries: 'CPI' });
const database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'tests' });
test.after.always(async () => {
  await database.close();
  await service.close();
});

const options = {
  ...{ create: true, set: { frequency: 'monthly', unit: 'Index', source: 'Office' }, clock: service.clock },
};
const prices = { dataset: 'commodity-prices', clock: service.clock };
const months = ['2023-01', '2023-02', '2024-01', '2024-02'];

test.before(async () => {
  await loadCsv(
    database,
    [
      'series_id,date,value',
      ...['CPI', 'OTHER'].flatMap((id) => months.map((month) => `${id},${month},100`)),
    ],
    {
      ...options,
      vintage: '2026-06-01',
    },
  );
  await service.pool.query(
    `insert into data.commodity_items (item_id, name, unit, currency, frequency, source)
     values ('rice', 'Rice', '1 Kg', 'PKR', 'monthly', 'Price Office');
     insert into data.commodity_cities (city_id, name) values ('lahore', 'Lahore')`,
  );
  await loadCsv(database, ['date,item,city,price', ...months.map((month) => `${month},rice,lahore,100`)], {
    ...prices,
    vintage: '2026-06-01',
  });
});

let vintageDay = 30;
/** Loads an older vintage with an additional point, of the observations or of the prices. */
async function loadOlder(on: Pick<Database, 'transaction'>, of: 'observations' | 'prices'): Promise<void> {
  vintageDay -= 1;
  const [month, value] = [`2022-0${1 + (vintageDay % 9)}`, vintageDay];
  const csv =
    of === 'prices'
      ? ['date,item,city,price', `${month},rice,lahore,${value}`]
      : ['series_id,date,value', `CPI,${month},${value}`, `OTHER,${month},${value}`];
  await load(on, {
    ...(of === 'prices' ? prices : { ...options, dataset: 'observations' }),
    ...{ noGateway: true, seriesTimeZone: 'UTC', vintage: `2026-05-${String(vintageDay).padStart(2, '0')}` },
    input: Readable.from([csv.join('\n')]),
  });
}

/** Makes a call, and loads once the call has looked up the series and waits for a table; by default an older vintage, and the points. */
async function callDuringLoad(
  path: string,
  table = 'data.observations',
  loadNow = (on: Parameters<typeof loadOlder>[0]) =>
    loadOlder(on, path.includes('commodities') ? 'prices' : 'observations'),
): Promise<Answer> {
  return database
    .transaction(async (on) => {
      await on.query(`lock table ${table} in access exclusive mode`);
      // With If-None-Match, nothing is read together with the look-up.
      const answering = service.call(path, { headers: { 'if-none-match': '"none"' } });
      await until('the call waits for the points', async () => {
        // Not in the transaction, whose view of the activity does not change after its first read.
        const { rows } = await service.pool.query(
          `select from pg_stat_activity where datname = current_database() and application_name like 'almanac data-api%' and wait_event_type = 'Lock'`,
        );
        return rows.length > 0;
      });
      await loadNow(inSavepoints(on));
      return { answering };
    })
    .then(({ answering }) => answering);
}

const reads = [
  '/v1/series/CPI',
  '/v1/series/CPI?limit=2&sort=desc',
  '/v1/series/CPI?format=csv',
  '/v1/series/CPI?transform=yoy',
  '/v1/series/CPI?transform=index',
  '/v1/series/CPI?vintage=2026-06-10',
  '/v1/series/CPI?release=first',
  '/v1/series/CPI/latest',
  '/v1/series/CPI/latest?transform=yoy',
  '/v1/series?ids=CPI,OTHER',
  '/v1/series/CPI/triangle',
  '/v1/series/CPI/cite',
  '/v1/series/CPI/chart.svg',
  '/v1/series/CPI/chart.png',
  '/v1/catalog/CPI/triangle',
  '/v1/catalog/CPI/preview',
  '/v1/catalog/CPI/chart.svg',
  '/v1/previews?ids=CPI,OTHER',
  '/v1/commodities?item=rice',
  '/v1/commodities?item=rice&city=lahore&format=csv',
  '/v1/commodities/by-city?item=rice',
  '/v1/commodities/by-city?item=rice&transform=yoy&date=2024-01',
];

for (const path of reads)
  test.serial(`${path} reads the new state when an older vintage overtakes it`, async (t) => {
    const answer = await callDuringLoad(path);
    t.is(answer.status, 200, answer.text);
    const now = await service.call(path);
    t.is(answer.text, now.text);
    t.is(answer.headers.get('etag'), now.headers.get('etag'), 'the ETag is that of the new state');
  });

test.serial('a triangle that another load of the newest day overtakes still has that day', async (t) => {
  const day = '2026-06-02';
  const rows = (...points: string[]) => ['series_id,date,value', ...points.map((point) => `SAME,${point}`)];
  await loadCsv(database, rows('2024-01,1'), { ...options, vintage: '2026-06-01' });
  await loadCsv(database, rows('2024-01,2'), { ...options, vintage: day });
  const path = '/v1/series/SAME/triangle';
  const before = await service.call(path); // the facts are cached now, so that the next call waits for the vintages
  const { text } = await callDuringLoad(path, 'data.vintages', (on) =>
    load(on, {
      ...{ ...options, dataset: 'observations', noGateway: true, seriesTimeZone: 'UTC', vintage: day },
      input: Readable.from([rows('2024-02,3').join('\n')]),
    }).then(() => undefined),
  );
  t.is(text, before.text);
});

test.serial('a cursor of an older state, and a version that the client names, are 410', async (t) => {
  const page = await service.call('/v1/series/CPI?limit=1');
  const { next_cursor } = (page.json as { pagination: { next_cursor: string } }).pagination;
  const past = await service.call('/v1/series/CPI?vintage=2026-06-10');
  const { version } = (past.json as { meta: { version: number } }).meta;
  for (const query of [`limit=1&cursor=${next_cursor}`, `vintage=2026-06-10&version=${version}`]) {
    const { status, json } = await callDuringLoad(`/v1/series/CPI?${query}`);
    t.is(status, 410, query);
    t.regex(
      (json as { error: { message: string } }).error.message,
      /Start again without a cursor or version/,
    );
  }
});

/** A service with one endpoint whose series are rewritten at each read. */
async function startAlwaysRewritten(t: ExecutionContext) {
  exempt(); // the endpoint is not declared
  const reads = { count: 0 };
  const always = endpoint({
    summary: 'Never.',
    query: { version: integerParam(0, 9).optional() },
    json: z.unknown(),
    handler: () =>
      Promise.resolve({
        ...{ identity: [], format: 'json' as const, fileName: 'never' },
        read() {
          reads.count += 1;
          throw new HistoryRewritten();
        },
      }),
  });
  const dependencies = {
    ...{ edition: 'e', asOf: null, present: null },
    loads: { known: () => undefined },
  } as unknown as Dependencies;
  const running = await startService({
    log: silentLog,
    routes: toRoutes({ '/never': always }, dependencies),
    openIdentity: createOpener(testIdentitySecret, 'data-api', undefined),
    ready: () => Promise.resolve(),
    ...{ host: '127.0.0.1', port: 0 },
  });
  t.teardown(() => running.close());
  const ask = (target: string) => fetch(running.url + target, { headers: service.headers(target) });
  return { ask, reads };
}

test('a call that is repeatedly overtaken by loads is 503 after a few attempts; one with a cursor or version is tried once', async (t) => {
  const { ask, reads } = await startAlwaysRewritten(t);
  const answer = await ask('/never');
  t.deepEqual([answer.status, answer.headers.get('retry-after'), reads.count], [503, '2', 5]);
  reads.count = 0;
  t.deepEqual([(await ask('/never?version=1')).status, reads.count], [410, 1]);
});
