// GET /v1/catalog/{id}: the related series, and the labels of dimension values.
import test from 'ava';
import { openDatabase } from '../../kernel/database.ts';
import { loadCsv } from '../ingest/loading.ts';
import { publicCaller, startDataService } from '../services/data-service.ts';
import { silentLog } from '../services/harness.ts';
import { makeSeries, publish } from './series-fixture.ts';

const service = await startDataService();
const database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'tests' });
test.after.always(async () => {
  await database.close();
  await service.close();
});

function ingest(dataset: string, ...lines: string[]) {
  return loadCsv(database, lines, { dataset, clock: service.clock });
}

async function entryOf(id: string) {
  const { json, headers } = await service.call(`/v1/catalog/${id}`, { identity: publicCaller });
  const { data } = json as {
    data: {
      related: { id: string; name: string; unit: string; frequency: string }[];
      dims: { name: string; values: string[]; labels: Record<string, string> }[];
    };
  };
  return { ...data, etag: headers.get('etag') };
}

test('related series have a similar id and share the category, tags, or source and geography, the most similar first', async (t) => {
  const made = [
    { id: 'GAS.D', category: 'energy', tags: ['gas'] },
    { id: 'OIL.D', category: 'energy', tags: ['oil', 'brent'] },
    { id: 'OIL.M', category: 'energy', tags: ['oil', 'brent'], frequency: 'monthly' },
    { id: 'OIL.W', category: 'energy', tags: ['oil'] },
    { id: 'TEA', category: 'food', geography: 'Pakistan', source: 'Office' },
    { id: 'TEA.PRICE', geography: 'Pakistan', source: 'Office' },
    { id: 'YARN', source: 'Office' },
  ];
  for (const series of made) await makeSeries(service.pool, { frequency: 'daily', ...series });
  const related = async (id: string) => (await entryOf(id)).related.map((series) => series.id);
  t.deepEqual(await related('OIL.D'), ['OIL.M', 'OIL.W', 'GAS.D']);
  t.deepEqual(await related('TEA'), ['TEA.PRICE']);
  t.deepEqual(await related('YARN'), []);
  t.deepEqual((await entryOf('OIL.W')).related[0], {
    id: 'OIL.D',
    name: 'Series OIL.D',
    unit: 'USD',
    frequency: 'daily',
  });
});

test('the values of a dimension have the labels that were loaded, also where they change', async (t) => {
  await makeSeries(service.pool, { id: 'TRADED', frequency: 'daily', dimensions: ['side', 'code'] });
  const dims = { side: 'b', code: '0101' };
  await publish(service.pool, 'TRADED', '2024-01-09', [
    { date: '2024-01-08', value: '1', dims },
    { date: '2024-01-08', value: '2', dims: { side: 'constructor', code: '0101' } },
  ]);
  const plain = await entryOf('TRADED');
  t.deepEqual(plain.dims, [
    { name: 'side', values: ['b', 'constructor'], labels: {} },
    { name: 'code', values: ['0101'], labels: {} },
  ]);
  const labels = [
    'series_id,dimension,value,label',
    'TRADED,side,b,Banks buy',
    'TRADED,side,s,Banks sell',
    'TRADED,code,0101,"Horses, live"',
  ];
  t.like(await ingest('dimension-labels', ...labels), { pointsNew: 3 });
  t.like(await ingest('dimension-labels', ...labels), { pointsNew: 0, pointsUnchanged: 3 });
  const named = await entryOf('TRADED');
  t.deepEqual(named.dims, [
    { name: 'side', values: ['b', 'constructor'], labels: { b: 'Banks buy' } },
    { name: 'code', values: ['0101'], labels: { '0101': 'Horses, live' } },
  ]);
  t.not(named.etag, plain.etag);
  const { json } = await service.call('/v1/series/TRADED');
  t.deepEqual((json as { meta: { dims: unknown } }).meta.dims, named.dims);
  await ingest('dimension-labels', labels[0] ?? '', 'TRADED,side,b,Purchases');
  t.deepEqual((await entryOf('TRADED')).dims[0]?.labels, { b: 'Purchases' });

  await t.throwsAsync(ingest('dimension-labels', labels[0] ?? '', 'TRADED,sides,b,X', 'NONE,side,b,X'), {
    message: /line 2, dimension: "sides", expected a dimension of the series|line 3, series_id: "NONE"/,
  });
});

test('the cities of prices are labelled by their names', async (t) => {
  await ingest(
    'commodity-items',
    'item_id,name,unit,currency,frequency,source',
    'tea,Tea,kg,PKR,monthly,Office',
  );
  await ingest('commodity-cities', 'city_id,name', 'lahore,Lahore');
  await ingest('commodity-prices', 'item,city,date,price', 'tea,lahore,2024-01,1');
  t.deepEqual((await entryOf('commodity.tea')).dims[0], {
    name: 'city',
    values: ['lahore'],
    labels: { lahore: 'Lahore' },
  });
  await ingest('commodity-cities', 'city_id,name', 'lahore,Greater Lahore');
  t.deepEqual((await entryOf('commodity.tea')).dims[0]?.labels, { lahore: 'Greater Lahore' });
});
