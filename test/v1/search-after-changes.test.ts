// The search reflects every change of a series at once: it finds the new state, and no longer the old one.
import test from 'ava';
import { declareBreak, removeBreak } from '../../ingest/history/series/break.ts';
import { deleteSeries, restoreSeries } from '../../ingest/history/series/delete.ts';
import { mergeSeries } from '../../ingest/history/series/merge.ts';
import { renameSeries } from '../../ingest/history/series/rename.ts';
import { setFacts } from '../../ingest/history/series/set.ts';
import { retract } from '../../ingest/history/retract/retract.ts';
import { openDatabase } from '../../kernel/database.ts';
import { fakeClock, silentLog } from '../services/harness.ts';
import { startListService } from '../services/list-service.ts';

const service = await startListService();
const database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'test' });
test.after.always(async () => {
  await database.close();
  await service.close();
});

const how = { noGateway: true, seriesTimeZone: 'UTC', clock: fakeClock('2024-06-30T12:00:00Z') };
const monthly = { frequency: 'monthly', unit: 'Index', source: 'Office' };

const found = (q: string) => service.column(`/v1/search?q=${q}`, 'id');
const unitOf = (q: string) => service.column(`/v1/search?q=${q}`, 'unit');

/** Loads a new series with one point. */
const make = (id: string, name: string) =>
  service.load('observations', ['series_id,date,value', `${id},2024-01,1`], {
    create: true,
    set: { ...monthly, name },
    vintage: '2024-04-10',
  });

test('a series created by a load of points or metadata is found; one whose rows were all refused is not', async (t) => {
  await make('NEW.POINTS', 'Walnut harvest');
  t.deepEqual(await found('walnut'), ['NEW.POINTS']);
  const facts = 'series_id,name,unit,frequency,source';
  await service.load('series', [facts, 'NEW.FACTS,Almond harvest,t,annual,Office']);
  t.deepEqual(await found('almond'), ['NEW.FACTS']);
  await service.load('observations', ['series_id,date,value', 'NEW.NONE,2024-01,many'], {
    ...{ create: true, skipInvalid: true, set: { ...monthly, name: 'Hazel harvest' } },
  });
  t.deepEqual(await found('hazel'), []);
});

test('the catalogue by id is another once a label makes a series match: the ETag of before is not confirmed', async (t) => {
  await make('PLUMS', 'Plum harvest');
  await service.load('observations', ['series_id,date,value,fruit', 'FRUIT,2024-01,1,p'], {
    ...{ create: true, set: monthly },
  });
  const path = '/v1/catalog?q=plum&sort=id&fields=id&format=csv';
  const before = await service.call(path);
  await service.load('dimension-labels', ['series_id,dimension,value,label', 'FRUIT,fruit,p,Plum']);
  const after = await service.call(path, { headers: { 'if-none-match': before.headers.get('etag') ?? '' } });
  t.deepEqual([after.status, after.text], [200, 'id\r\nFRUIT\r\nPLUMS\r\n']);
});

test('a series is found by dimension values added by a later load, and by labels, new ones instead of old ones', async (t) => {
  const header = 'series_id,date,value,city';
  const load = (city: string) =>
    service.load('observations', [header, `RENT,2024-01,1,${city}`], { create: true, set: monthly });
  await load('lhe');
  t.deepEqual(await found('lhe'), ['RENT']);
  await load('khi');
  t.deepEqual(await found('khi'), ['RENT']);
  const label = (text: string) =>
    service.load('dimension-labels', ['series_id,dimension,value,label', `RENT,city,khi,${text}`]);
  await label('Kurrachee');
  t.deepEqual(await found('kurrachee'), ['RENT']);
  await label('Karachi');
  t.deepEqual([await found('karachi'), await found('kurrachee')], [['RENT'], []]);
});

test('facts changed by a file are found instead of the previous ones', async (t) => {
  await make('FILE', 'Temporary thing');
  t.deepEqual(await found('temporary'), ['FILE']);
  await service.load('series', ['series_id,name', 'FILE,Lasting thing']);
  t.deepEqual([await found('temporary'), await found('lasting')], [[], ['FILE']]);
});

test('facts that are set, and the unit after a break, are found instead of the previous ones', async (t) => {
  await make('SET', 'Copper price');
  await setFacts(database, { ...how, id: 'SET', facts: { name: 'Zinc price', geography: 'Chile' } });
  t.deepEqual([await found('copper'), await found('zinc'), await found('chile')], [[], ['SET'], ['SET']]);
  await declareBreak(database, { ...how, id: 'SET', from: '2024-03', facts: { unit: 'Euro' } });
  t.deepEqual(await unitOf('zinc'), ['Euro']);
  await removeBreak(database, { ...how, id: 'SET', from: '2024-03' });
  t.deepEqual(await unitOf('zinc'), ['Index']);
});

test('a renamed series is found by both ids, with its new id', async (t) => {
  await make('FIRSTNAME', 'Barley');
  await renameSeries(database, { ...how, id: 'FIRSTNAME', newId: 'LASTNAME' });
  t.deepEqual([await found('firstname'), await found('lastname')], [['LASTNAME'], ['LASTNAME']]);
  await renameSeries(database, { ...how, id: 'LASTNAME', newId: 'FIRSTNAME' });
  t.deepEqual(await found('lastname'), ['FIRSTNAME'], 'and as the first again');
});

test('the id of a merged series finds the other series, and its name finds nothing; once restored, both find it', async (t) => {
  await make('OLDOATS', 'Rolled oats');
  await make('NEWOATS', 'Cereals');
  await mergeSeries(database, { ...how, id: 'OLDOATS', into: 'NEWOATS', prefer: 'into' });
  t.deepEqual([await found('oldoats'), await found('rolled')], [['NEWOATS'], []]);
  await restoreSeries(database, { ...how, id: 'OLDOATS' });
  t.deepEqual([await found('oldoats'), await found('rolled')], [['OLDOATS'], ['OLDOATS']]);
});

test('a merge adds the dimension values and the labels of the merged series', async (t) => {
  const load = (id: string, side: string) =>
    service.load('observations', ['series_id,date,value,side', `${id},2024-01,1,${side}`], {
      ...{ create: true, set: monthly, vintage: '2024-04-10' },
    });
  await load('TRADES.A', 'zxbuy');
  await load('TRADES.B', 'zxsell');
  await service.load('dimension-labels', ['series_id,dimension,value,label', 'TRADES.A,side,zxbuy,Purchase']);
  await mergeSeries(database, { ...how, id: 'TRADES.A', into: 'TRADES.B' });
  t.deepEqual([await found('zxbuy'), await found('purchase')], [['TRADES.B'], ['TRADES.B']]);
});

test('a deleted series is not found until it is restored', async (t) => {
  await make('GONE', 'Tallow');
  await deleteSeries(database, { ...how, id: 'GONE' });
  t.deepEqual(await found('tallow'), []);
  await restoreSeries(database, { ...how, id: 'GONE' });
  t.deepEqual(await found('tallow'), ['GONE']);
});

test('a series whose only load is retracted remains, and is found', async (t) => {
  await make('EMPTIED', 'Indigo');
  const [row] = await database.query<{ load: number }>(
    `select data_version as load from data.series where series_id = 'EMPTIED'`,
  );
  await retract(database, { ...how, loadNo: row?.load ?? 0 });
  t.deepEqual(await found('indigo'), ['EMPTIED']);
});

test('a dry run does not change the search', async (t) => {
  await make('TRIED', 'Quinoa');
  await setFacts(database, { ...how, id: 'TRIED', facts: { name: 'Amaranth' }, dryRun: true });
  t.deepEqual([await found('quinoa'), await found('amaranth')], [['TRIED'], []]);
});

test('an item is found by facts from a later file, and its prices create no second entry', async (t) => {
  const items = (name: string) =>
    service.load('commodity-items', [
      'item_id,name,category,unit,currency,frequency,source',
      `lentils,${name},pulses,1 Kg,PKR,monthly,Office`,
    ]);
  await items('Lentils red');
  await service.load('commodity-prices', ['item,city,date,price', 'lentils,Lahore,2024-01-31,5'], {
    ...{ create: true, set: { unit: '1 Kg', currency: 'PKR', frequency: 'monthly', source: 'Office' } },
  });
  await items('Lentils brown');
  await setFacts(database, { ...how, id: 'commodity.lentils', facts: { geography: 'Sindh' } });
  t.deepEqual(
    [await found('red'), await found('brown'), await found('sindh'), await found('lahore')],
    [[], ['lentils'], ['lentils'], []],
  );
});
