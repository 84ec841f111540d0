// Changed facts for readers: the next call shows the new facts, for every vintage.
import test from 'ava';
import { setFacts } from '../../../ingest/history/series/set.ts';
import { openDatabase } from '../../../kernel/database.ts';
import { fakeClock, silentLog } from '../../services/harness.ts';
import { startListService } from '../../services/list-service.ts';

const service = await startListService();
const database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'test' });
test.after.always(async () => {
  await database.close();
  await service.close();
});

test('changed facts are in the next answers, the catalogue and the search, with another ETag', async (t) => {
  await service.load('observations', ['series_id,date,value', 'CPI,2024-01,1'], {
    ...{
      create: true,
      set: { frequency: 'monthly', unit: 'Index', source: 'Office' },
      vintage: '2024-04-10',
    },
  });
  const paths = [
    '/v1/series/CPI?frequency=annual&from=2024-02&to=2024-03', // no period ends there, so no point is read
    '/v1/series/CPI',
    '/v1/series/CPI?vintage=2024-04-30',
    '/v1/series/CPI/latest',
  ];
  const before = await Promise.all(paths.map((path) => service.call(path)));
  await setFacts(database, {
    ...{ id: 'CPI', facts: { name: 'Living costs', unit: 'Index 2020=100', tags: 'prices' } },
    ...{ noGateway: true, seriesTimeZone: 'UTC', clock: fakeClock('2024-06-30T12:00:00Z') },
  });
  for (const [i, path] of paths.entries()) {
    const after = await service.call(path);
    t.like((after.json as { meta: object }).meta, {
      ...{ name: 'Living costs', unit: 'Index 2020=100', tags: ['prices'], source: 'Office' },
    });
    t.not(after.headers.get('etag'), before[i]?.headers.get('etag'), path);
  }
  t.deepEqual(await service.column('/v1/catalog', 'name'), ['Living costs']);
  t.deepEqual(await service.column('/v1/search?q=living', 'id'), ['CPI']);
});
