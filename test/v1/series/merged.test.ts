// A merged series for readers: its own publications until the merge, and the other series from then on.
import test from 'ava';
import { restoreSeries } from '../../../ingest/history/series/delete.ts';
import { mergeSeries } from '../../../ingest/history/series/merge.ts';
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

const how = { noGateway: true, seriesTimeZone: 'UTC', clock: fakeClock('2024-06-30T12:00:00Z') };
const facts = { frequency: 'monthly', unit: 'Index', source: 'Office' };

test.before(async () => {
  const load = (lines: readonly string[], vintage: string) =>
    service.load('observations', ['series_id,date,value', ...lines], { create: true, set: facts, vintage });
  await load(['CPI.FIRST,2024-01,1', 'CPI.FIRST,2024-02,2'], '2024-04-10');
  await load(['PK.CPI,2024-02,20', 'PK.CPI,2024-03,3'], '2024-04-20');
  await load(['CPI.FIRST,2024-02,20', 'CPI.FIRST,2024-04,4'], '2024-05-10');
  await renameSeries(database, { ...how, id: 'CPI.FIRST', newId: 'CPI.OLD' });
});

interface Body {
  series: string;
  meta: Record<string, unknown>;
  data: { date: string; value: number }[];
  pagination: { next_cursor: string | null };
  error?: { code: string };
  vintage_dates?: string[];
  observations?: Record<string, string>[];
}
let cursorOfBefore = '';
const body = async (path: string) => (await service.call(path)).json as Body;
const valuesOf = ({ data }: Body) => data.map(({ value }) => value);

const textsOf = (paths: readonly string[]) =>
  Promise.all(paths.map(async (path) => (await service.call(path)).text));
const withoutVersion = (text: string) => text.replace(/"version":\d+/, '');

const ofThePast = [
  '/v1/series/ID?vintage=2024-04-30',
  '/v1/series/ID?vintage=2024-06-29&transform=pct_change',
  '/v1/series/ID?vintage=2024-05-31&include=notes',
  '/v1/series/ID/latest?vintage=2024-04-30',
  '/v1/series/ID?vintage=2024-05-31&format=csv',
  '/v1/series?ids=ID&vintage=2024-04-30',
  '/v1/series/ID/chart.svg?vintage=2024-04-30',
  '/fred/series/observations?series_id=ID&vintage_dates=2024-04-30',
  '/fred/series/observations?series_id=ID&vintage_dates=2024-04-15,2024-05-31',
  '/fred/series/observations?series_id=ID&realtime_start=2024-04-30&realtime_end=2024-04-30&units=chg',
  '/fred/series/observations?series_id=ID&realtime_start=2024-04-11&realtime_end=2024-06-20',
  '/fred/series/observations?series_id=ID&realtime_start=2024-04-11&realtime_end=2024-06-20&units=chg',
];

test.serial(
  'by the old id, a vintage before the merge answers as it did; later ones are of the other series',
  async (t) => {
    const ids = ['CPI.OLD', 'CPI.FIRST'];
    const paths = ids.flatMap((id) => ofThePast.map((path) => path.replace('ID', id)));
    const before = await textsOf(paths);
    const pathsOfOther = ofThePast.map((path) => path.replace('ID', 'PK.CPI'));
    const ofOther = await textsOf(pathsOfOther);
    const cited = (await body('/v1/series/CPI.OLD/cite')) as unknown as { data: { url: string } };
    const { pathname, search } = new URL(cited.data.url);
    const pinned = (await service.call(pathname + search)).text;
    cursorOfBefore = (await body('/v1/series/CPI.OLD?limit=1')).pagination.next_cursor ?? '';
    await mergeSeries(database, { ...how, id: 'CPI.OLD', into: 'PK.CPI' });

    t.deepEqual(await textsOf(paths), before);
    t.deepEqual((await textsOf(pathsOfOther)).map(withoutVersion), ofOther.map(withoutVersion));
    t.is((await service.call(pathname + search)).text, pinned, 'a citation goes on');
    for (const id of ids) {
      const fred = `/fred/series/vintagedates?series_id=${id}&file_type=json`;
      t.deepEqual(await body(fred).then(({ vintage_dates: days }) => days), [
        '2024-04-10',
        '2024-05-10',
        '2024-06-30',
      ]);
      const whole = `/fred/series/observations?series_id=${id}&file_type=json&realtime_start=2024-04-30&realtime_end=2024-06-30`;
      t.deepEqual(
        (await body(whole)).observations?.map((row) => Object.values(row)),
        [
          ['2024-04-30', '2024-06-30', '2024-01-01', '1'],
          ['2024-04-30', '2024-05-09', '2024-02-01', '2'],
          ['2024-05-10', '2024-06-30', '2024-02-01', '20'],
          ['2024-06-30', '2024-06-30', '2024-03-01', '3'],
          ['2024-05-10', '2024-06-30', '2024-04-01', '4'],
        ],
      );
    }
    for (const id of ids)
      for (const query of ['', '?vintage=2024-06-30', '?release=first']) {
        const answer = await body(`/v1/series/${id}${query}`);
        t.is(answer.series, 'PK.CPI', query);
        t.is(answer.meta['renamed_from'], id);
        t.deepEqual(valuesOf(answer), [1, 20, 3, 4]);
      }
    t.deepEqual(valuesOf(await body('/v1/series/PK.CPI?vintage=2024-06-29')), [20, 3]);
  },
);

test.serial(
  'a state of the old id that is pinned before the merge stays, and one pinned after it is of the other series; a cursor of before is refused',
  async (t) => {
    const { meta } = await body('/v1/series/CPI.OLD?vintage=2024-06-29');
    const past = await body(`/v1/series/CPI.OLD?release=first&version=${String(meta['version'])}`);
    t.deepEqual([past.series, valuesOf(past)], ['CPI.OLD', [1, 2, 4]]);
    const now =
      (await service.call('/v1/series/CPI.OLD?release=first')).headers.get('content-location') ?? '';
    t.deepEqual(valuesOf(await body(now)), [1, 20, 3, 4], 'pinned after the merge');
    t.is((await body(`/v1/series/CPI.OLD?cursor=${cursorOfBefore}`)).error?.code, 'invalid_cursor');
    const first = await body('/v1/series/CPI.OLD?vintage=2024-04-30&limit=1');
    const path = `/v1/series/CPI.OLD?vintage=2024-04-30&cursor=${first.pagination.next_cursor}`;
    t.deepEqual(valuesOf(await body(path)), [2], 'pages of the past have cursors of their own');
  },
);

test.serial('lists and the search have the other series alone, and find it by each id', async (t) => {
  t.deepEqual(await service.column('/v1/catalog', 'id'), ['PK.CPI']);
  for (const id of ['CPI.OLD', 'CPI.FIRST', 'PK.CPI'])
    t.deepEqual(await service.column(`/v1/search?q=${id}`, 'id'), ['PK.CPI'], id);
  t.like((await body('/v1/catalog/CPI.OLD')).data, { id: 'PK.CPI', renamed_from: 'CPI.OLD' });
});

test.serial('a series that is restored answers by its ids again, whatever is in memory', async (t) => {
  await restoreSeries(database, { ...how, id: 'CPI.OLD' });
  const ofOld = await body('/v1/series/CPI.OLD');
  t.deepEqual([ofOld.series, valuesOf(ofOld)], ['CPI.OLD', [1, 20, 4]]);
  t.like((await body('/v1/series/CPI.FIRST')).meta, { renamed_from: 'CPI.FIRST' });
  t.is((await body('/v1/series/CPI.FIRST')).series, 'CPI.OLD');
  t.deepEqual(valuesOf(await body('/v1/series/PK.CPI')), [1, 20, 3, 4]);
  t.deepEqual(await service.column('/v1/catalog', 'id'), ['CPI.OLD', 'PK.CPI']);
  t.deepEqual(await service.column('/v1/search?q=CPI.FIRST', 'id'), ['CPI.OLD']);
});
