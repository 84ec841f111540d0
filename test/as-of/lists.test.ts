// The lists, the calendar, search and updates as of a day, with a known answer for each: a change after the day has no effect on them.
import test from 'ava';
import { nameId } from '../../domain/name-id.ts';
import { mergeSeries } from '../../ingest/history/series/merge.ts';
import { renameSeries } from '../../ingest/history/series/rename.ts';
import { retract } from '../../ingest/history/retract/retract.ts';
import { openDatabase } from '../../kernel/database.ts';
import { daily, loadCsv } from '../ingest/loading.ts';
import { proAccount, startDataService } from '../services/data-service.ts';
import { fakeClock, silentLog } from '../services/harness.ts';

const service = await startDataService('2024-06-15T12:00:00Z');
const database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'test' });
test.after.always(async () => {
  await database.close();
  await service.close();
});

const on = (day: string) => ({ clock: fakeClock(`${day}T12:00:00Z`) });
const changed = (day: string) => ({ seriesTimeZone: 'UTC', ...on(day), noGateway: true });
const publish = (day: string, source: string, ...lines: readonly string[]) =>
  loadCsv(database, lines, { create: true, set: { ...daily, source }, vintage: day, ...on(day) });
const header = 'release_id,title,source,release_at,time_zone,series_ids';
const schedule = (day: string, ...entries: readonly string[]) =>
  loadCsv(database, [header, ...entries], { dataset: 'calendar', ...on(day) });

let erased = 0;
test.before(async () => {
  await publish('2024-02-01', 'Office', 'series_id,date,side,value', 'RATES,2024-01-01,buy,1');
  await publish('2024-02-01', 'Office', 'series_id,date,value', 'A,2024-01-01,1', 'B,2024-01-01,1');
  await schedule(
    '2024-02-10',
    'r-1,Rates,Office,2024-02-20 08:00,UTC,RATES;A;B',
    'r-2,Rates,Office,2024-03-20 08:00,UTC,RATES',
  );
  await publish('2024-03-01', 'Bureau', 'series_id,date,value', 'LATER,2024-02-01,1');
  await publish('2024-03-01', 'Office', 'series_id,date,side,value', 'RATES,2024-01-02,sell,2');
  await schedule(
    '2024-03-05',
    'r-2,Rates,Office,2024-04-02 08:00,UTC,RATES',
    'r-3,Later,Bureau,2024-05-01 08:00,UTC,LATER',
  );
  await mergeSeries(database, { id: 'A', into: 'B', prefer: 'into', ...changed('2024-03-10') });
  await renameSeries(database, { id: 'RATES', newId: 'RATE', ...changed('2024-03-11') });
  await loadCsv(database, ['series_id,date,value', 'GONE,2024-01-01,1'], {
    ...{ create: true, set: { ...daily, source: 'Office' }, vintage: '2024-01-15', ...on('2024-03-12') },
  });
  const [row] = await database.query<{ newest: number }>(
    'select max(load_no)::int as newest from data.loads',
  );
  erased = row?.newest ?? NaN;
});

async function asOf(day: string, path: string, headers: Record<string, string> = {}) {
  const answer = await service.call(path, { identity: { ...proAccount, asOf: day }, headers });
  return { ...answer, rows: (answer.json as { data?: Record<string, unknown>[] } | undefined)?.data ?? [] };
}
const column = async (day: string, path: string, name: string) =>
  (await asOf(day, path)).rows.map((row) => row[name]);

test.serial(
  'the calendar has the dates that it had then, with the series of then under their ids of then',
  async (t) => {
    const entries = async (day: string) =>
      (await asOf(day, '/v1/calendar?from=2024-02-01&to=2024-06-01')).rows.map((row) =>
        [row['id'], row['release_at'], row['status'], String(row['series'])].join(' '),
      );
    t.deepEqual(await entries('2024-02-09'), []);
    t.deepEqual(await entries('2024-02-29'), [
      'r-1 2024-02-20T08:00:00Z released RATES,A,B',
      'r-2 2024-03-20T08:00:00Z scheduled RATES',
    ]);
    t.deepEqual(await entries('2024-03-11'), [
      'r-1 2024-02-20T08:00:00Z released RATE,B',
      'r-2 2024-04-02T08:00:00Z scheduled RATE',
      'r-3 2024-05-01T08:00:00Z scheduled LATER',
    ]);
    t.deepEqual(
      await column('2024-02-15', '/v1/calendar', 'id'),
      ['r-1'],
      'the next thirty days are those of then',
    );
  },
);

test.serial('releases, sources and the next release of a series are those of the day', async (t) => {
  t.deepEqual(await column('2024-02-29', '/v1/releases', 'name'), ['Rates']);
  t.deepEqual(await column('2024-03-05', '/v1/releases', 'name'), ['Later', 'Rates']);
  const sources = async (day: string) =>
    (await asOf(day, '/v1/sources')).rows.map((row) => [
      row['name'],
      row['series_count'],
      row['next_release_at'],
    ]);
  t.deepEqual(await sources('2024-02-29'), [['Office', 4, '2024-03-20T08:00:00Z']]);
  t.deepEqual(await sources('2024-03-09'), [
    ['Bureau', 1, '2024-05-01T08:00:00Z'],
    ['Office', 4, '2024-04-02T08:00:00Z'],
  ]);
  const next = async (day: string) =>
    ((await asOf(day, '/v1/catalog/RATES')).json as { data: { next_release: unknown } }).data.next_release;
  t.is(await next('2024-02-29'), '2024-03-20T08:00:00Z');
  t.is(await next('2024-03-05'), '2024-04-02T08:00:00Z');
  const bureau = `/v1/sources/${nameId('Bureau')}`;
  t.deepEqual(
    [(await asOf('2024-02-29', bureau)).status, (await asOf('2024-03-01', bureau)).status],
    [404, 200],
  );
});

test.serial('the catalogue and its counts have the series of the day', async (t) => {
  t.deepEqual(await column('2024-02-29', '/v1/catalog?q=later', 'id'), []);
  t.deepEqual(await column('2024-03-01', '/v1/catalog?q=later', 'id'), ['LATER']);
  const { json } = await asOf('2024-02-29', '/v1/catalog?facets=true&fields=id,last_date,observation_count');
  const { data, count, meta } = json as {
    data: object[];
    count: number;
    meta: { facets: { source: object[] } };
  };
  t.deepEqual([count, meta.facets.source], [4, [{ value: 'Office', count: 4 }]]);
  t.deepEqual(data.at(-1), { id: 'RATES', last_date: '2024-01-01', observation_count: 1 });
});

test.serial('search finds a series, and corrects words, by the texts of the pinned day', async (t) => {
  const found = (day: string, q: string) => column(day, `/v1/search?q=${q}`, 'id');
  t.deepEqual(await found('2024-02-29', 'buy'), ['RATES']);
  t.deepEqual(await found('2024-02-29', 'sell'), []);
  t.deepEqual(await found('2024-03-01', 'sell'), ['RATES']);
  t.deepEqual(await found('2024-02-29', 'latre'), []);
  t.deepEqual(await found('2024-03-01', 'latre'), ['LATER']);
});

test.serial('updates end with the day', async (t) => {
  const ends = async (day: string) => {
    const times = await column(day, '/v1/updates?since=2024-01-01', 'timestamp');
    return String(times.at(-1));
  };
  t.is(await ends('2024-02-29'), '2024-02-10T12:00:00Z');
  t.is(await ends('2024-03-04'), '2024-03-01T12:00:00Z');
  t.deepEqual(await column('2024-02-29', '/v1/updates', 'id'), [], 'the last seven days are those of then');
});

test.serial('an ETag from before an erasure is no longer answered 304', async (t) => {
  const path = '/v1/catalog?ids=GONE&fields=observation_count';
  const first = await asOf('2024-02-29', path);
  const etag = { 'if-none-match': first.headers.get('etag') ?? '' };
  t.deepEqual(first.rows, [{ observation_count: 1 }]);
  t.is((await asOf('2024-02-29', path, etag)).status, 304);
  await retract(database, { loadNo: erased, erase: true, ...changed('2024-04-01') });
  const second = await asOf('2024-02-29', path, etag);
  t.deepEqual([second.status, second.rows], [200, [{ observation_count: 0 }]]);
});
