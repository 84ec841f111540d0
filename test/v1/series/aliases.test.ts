// A renamed series for readers: its earlier id also works, in every answer about one series, at once.
import test from 'ava';
import { renameSeries } from '../../../ingest/history/series/rename.ts';
import { openDatabase } from '../../../kernel/database.ts';
import { fakeClock, silentLog } from '../../services/harness.ts';
import { startListService } from '../../services/list-service.ts';

const service = await startListService();
const database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'test' });
test.after.always(async () => {
  await database.close();
  await service.close();
});

const facts = { frequency: 'monthly', unit: 'Index', source: 'Office' };

test.before(async () => {
  const lines = ['series_id,date,value', 'CPI.OLD,2024-01,1', 'CPI.OLD,2024-02,2', 'CPI.OLD,2024-03,3'];
  await service.load('observations', lines, { create: true, set: facts, vintage: '2024-04-10' });
  await service.load('observations', ['series_id,date,value', 'CPI.OLD,2024-03,4'], {
    vintage: '2024-05-10',
  });
  await service.load('calendar', [
    'release_id,title,source,release_at,time_zone,series_ids',
    'one,Prices,Office,2024-05-10T09:00,UTC,CPI.OLD',
  ]);
});

const renamed = (id: string, newId: string) =>
  renameSeries(database, {
    ...{ id, newId, noGateway: true, seriesTimeZone: 'UTC' },
    clock: fakeClock('2024-06-30T12:00:00Z'),
  });

interface Body {
  series: string;
  meta: Record<string, unknown>;
  data: unknown;
  pagination: { next_cursor: string | null };
  error?: { code: string; message: string };
}
const body = async (path: string) => (await service.call(path)).json as Body;

/** Requests about one series; `ID` is the requested id. */
const reads = [
  '/v1/series/ID',
  '/v1/series/ID?vintage=2024-04-30',
  '/v1/series/ID?release=first&format=csv',
  '/v1/series/ID?include=notes',
  '/v1/series/ID/latest',
  '/v1/series/ID/vintages',
  '/v1/series/ID/triangle',
  '/v1/series/ID/cite',
  '/v1/series/ID/chart.svg',
  '/v1/series?ids=ID',
  '/v1/catalog/ID',
  '/v1/catalog/ID/preview',
  '/v1/catalog/ID/chart.svg',
  '/v1/previews?ids=ID',
  '/v1/calendar?series=ID&from=2024',
  '/v1/releases?series=ID',
];

/** The answer without the parts that show that an earlier id was requested. */
const withoutName = (text: string) => text.replaceAll(/"renamed_from":"[^"]*",|,"renamed_from":"[^"]*"/g, '');

test.serial(
  'every read by an earlier id returns the answer of the current id, with the earlier one in renamed_from',
  async (t) => {
    // The caches have the earlier answers.
    for (const path of reads) t.is((await service.call(path.replace('ID', 'CPI.OLD'))).status, 200, path);
    const before = await body('/v1/series/CPI.OLD?limit=1');
    await renamed('CPI.OLD', 'PK.CPI');
    for (const path of reads) {
      const byNew = await service.call(path.replace('ID', 'PK.CPI'));
      const byOld = await service.call(path.replace('ID', 'CPI.OLD'));
      t.deepEqual([byOld.status, byNew.status], [200, 200], path);
      t.is(withoutName(byOld.text), byNew.text, path);
      t.false(byNew.text.includes('renamed_from'), path);
      if (byOld.text !== byNew.text)
        t.not(byOld.headers.get('etag'), byNew.headers.get('etag'), `${path} and its ETag`);
    }
    const { series, meta, data } = await body('/v1/series/CPI.OLD');
    t.deepEqual([series, meta['renamed_from']], ['PK.CPI', 'CPI.OLD']);
    t.is((data as unknown[]).length, 3);
    for (const path of [
      '/v1/series/CPI.OLD/latest',
      '/v1/series/CPI.OLD/triangle',
      '/v1/catalog/CPI.OLD/preview',
    ])
      t.like((await body(path)).meta, { renamed_from: 'CPI.OLD' }, path);
    t.like((await body('/v1/catalog/CPI.OLD')).data, { id: 'PK.CPI', renamed_from: 'CPI.OLD' });
    t.like((await body('/v1/previews?ids=CPI.OLD')).data, {
      0: { series: 'PK.CPI', renamed_from: 'CPI.OLD' },
    });
    // A reader in the middle of its pages can continue with either id.
    const cursor = before.pagination.next_cursor ?? '';
    for (const id of ['CPI.OLD', 'PK.CPI']) {
      const rest = await body(`/v1/series/${id}?cursor=${cursor}`);
      t.is((rest.data as unknown[]).length, 2, id);
    }
  },
);

test.serial(
  'lists and the search have the present id alone, and the search finds it by the earlier one',
  async (t) => {
    t.deepEqual(await service.column('/v1/catalog', 'id'), ['PK.CPI']);
    t.deepEqual(await service.column('/v1/search?q=CPI.OLD', 'id'), ['PK.CPI']);
    t.deepEqual(await service.column('/v1/search?q=PK.CPI', 'id'), ['PK.CPI']);
    t.deepEqual(await service.column('/v1/calendar?from=2024', 'series'), [['PK.CPI']]);
  },
);

test.serial(
  'a series renamed again answers to all of its ids, and one renamed back has its first',
  async (t) => {
    const asked = async () =>
      Promise.all(
        ['CPI.OLD', 'PK.CPI', 'PAK.CPI'].map(async (id) => {
          const { series, meta } = await body(`/v1/series/${id}`);
          return [series, meta['renamed_from']];
        }),
      );
    await renamed('PK.CPI', 'PAK.CPI');
    const present = 'PAK.CPI';
    t.deepEqual(await asked(), [
      [present, 'CPI.OLD'],
      [present, 'PK.CPI'],
      [present, undefined],
    ]);
    await renamed('PAK.CPI', 'CPI.OLD');
    t.deepEqual(await asked(), [
      ['CPI.OLD', undefined],
      ['CPI.OLD', 'PK.CPI'],
      ['CPI.OLD', 'PAK.CPI'],
    ]);
  },
);
