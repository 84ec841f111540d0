// GET /v1/releases and /v1/releases/{id}: the recurring releases that calendar entries belong to.
import test from 'ava';
import { nameId } from '../../domain/name-id.ts';
import { mergeSeries } from '../../ingest/history/series/merge.ts';
import { openDatabase } from '../../kernel/database.ts';
import { silentLog } from '../services/harness.ts';
import { publicCaller } from '../services/data-service.ts';
import { csvLines, startListService, type ListBody } from '../services/list-service.ts';

const service = await startListService();
test.after.always(() => service.close());

const prices = nameId('Prices', 'Office');
const pricesOfBank = nameId('Prices', 'Bank');

test.before(async () => {
  await service.load('series', [
    'series_id,name,unit,frequency,source',
    'CPI,Consumer prices,Index,monthly,Office',
    'CORE,Core prices,Index,monthly,Office',
    'RATE,Rate,%,daily,Bank',
  ]);
  await service.load('calendar', [
    'release_id,title,publication,source,release_at,time_zone,reference_period,frequency,importance,status,series_ids,url',
    'p4,"Prices, April",Prices,Office,2026-05-10 08:00,UTC,2026-04,monthly,high,,CPI,https://example.org/4',
    'p5,"Prices, May",Prices,Office,2026-06-10 08:00,UTC,2026-05,monthly,high,,CPI;CORE,https://example.org/5',
    'p6,"Prices, June",Prices,Office,2026-07-10 08:00,UTC,2026-06,monthly,high,,CPI;CORE,',
    'p6d,"Prices, extra",Prices,Office,2026-06-30 08:00,UTC,2026-06,,,cancelled,CPI,',
    'b1,Prices,,Bank,2026-06-20 08:00,Asia/Karachi,,,,,,',
    'o1,Old,,Bank,2020-01-01 08:00,UTC,,annual,low,,RATE,',
  ]);
});

const list = async (query = '') =>
  (await service.call(`/v1/releases${query}`, { identity: publicCaller })).json as ListBody;

test.serial('the entries of one source and one publication, or title, are one release', async (t) => {
  const { data } = await list();
  t.deepEqual(data.map(({ name, source }) => [name, source]).sort(), [
    ['Old', 'Bank'],
    ['Prices', 'Bank'],
    ['Prices', 'Office'],
  ]);
  t.deepEqual(
    data.find(({ id }) => id === prices),
    {
      id: prices,
      name: 'Prices',
      source: 'Office',
      frequency: 'monthly',
      importance: 'high',
      url: 'https://example.org/5',
      series_count: 2,
      last_release_at: '2026-06-10T08:00:00Z',
      next_release_at: '2026-07-10T08:00:00Z',
      source_id: nameId('Office'),
    },
  );
  t.like(
    data.find(({ id }) => id === pricesOfBank),
    {
      frequency: null,
      url: null,
      series_count: 0,
      last_release_at: null,
      next_release_at: '2026-06-20T03:00:00Z',
    },
  );
});

interface Detail {
  series: { id: string }[];
  past_dates: { id: string; status: string; release_date: string; reference_period: string | null }[];
  next_dates: { id: string; status: string }[];
}
const detail = async (id: string) =>
  ((await service.call(`/v1/releases/${id}`, { identity: publicCaller })).json as { data: Detail }).data;

test.serial('a release has its series and its dates, those nearest to now first', async (t) => {
  const { series, past_dates, next_dates } = await detail(prices);
  t.deepEqual(series, [
    { id: 'CORE', name: 'Core prices', unit: 'Index', frequency: 'monthly' },
    { id: 'CPI', name: 'Consumer prices', unit: 'Index', frequency: 'monthly' },
  ] as never);
  t.deepEqual(
    past_dates.map(({ id }) => id),
    ['p5', 'p4'],
  );
  t.like(past_dates[0], { release_date: '2026-06-10', reference_period: '2026-05', status: 'released' });
  t.deepEqual(
    next_dates.map(({ id, status }) => [id, status]),
    [
      ['p6d', 'cancelled'],
      ['p6', 'scheduled'],
    ],
  );
});

test.serial('an unknown release id is 404, with the nearest one', async (t) => {
  const { status, json } = await service.call(`/v1/releases/${prices}x`, { identity: publicCaller });
  t.is(status, 404);
  t.like(json, {
    error: {
      code: 'not_found',
      param: 'id',
      message: `There is no release "${prices}x". Did you mean "${prices}"?`,
    },
  });
});

test.serial(
  'releases can be filtered by source, frequency and series, sorted, paged, and read as CSV',
  async (t) => {
    t.deepEqual(await service.column('/v1/releases?source=Bank', 'name'), ['Old', 'Prices']);
    t.deepEqual(await service.column('/v1/releases?frequency=annual', 'name'), ['Old']);
    t.deepEqual(await service.column('/v1/releases?series=CORE', 'id'), [prices]);
    t.deepEqual(await service.column('/v1/releases?series=NONE', 'id'), []);
    t.deepEqual(await service.column('/v1/releases?sort=next_release_at', 'id'), [
      pricesOfBank,
      prices,
      nameId('Old', 'Bank'),
    ]);
    for (const sort of [
      'name',
      '-name',
      'next_release_at',
      '-next_release_at',
      'last_release_at',
      '-last_release_at',
    ]) {
      const whole = await service.column(`/v1/releases?sort=${sort}`, 'id');
      t.deepEqual(await service.readPages(`/v1/releases?sort=${sort}`, 'id', 2), whole, sort);
      t.deepEqual(await service.readPages(`/v1/releases?sort=${sort}`, 'id', 1), whole, sort);
    }
    const { header, lines } = csvLines(
      await service.call('/v1/releases?format=csv&fields=name,source&source=Office'),
    );
    t.deepEqual([header, lines], ['name,source', ['Prices,Office']]);
  },
);

test.serial('a date is past from its second on, in the list and in the release', async (t) => {
  service.clock.set('2026-07-10T07:59:59Z');
  t.is((await detail(prices)).next_dates[0]?.id, 'p6');
  t.like((await list('?source=Office')).data[0], { next_release_at: '2026-07-10T08:00:00Z' });
  service.clock.set('2026-07-10T08:00:00Z');
  t.is((await detail(prices)).past_dates[0]?.id, 'p6');
  t.like((await list('?source=Office')).data[0], {
    last_release_at: '2026-07-10T08:00:00Z',
    next_release_at: null,
  });
});

test.serial('a series that is merged into another is no longer counted', async (t) => {
  await service.load('series', ['series_id,name,frequency,source', 'LEFT,L,daily,Bank', 'KEPT,K,daily,Bank']);
  await service.load('observations', ['series_id,date,value', 'LEFT,2026-01-01,1', 'KEPT,2026-01-02,2']);
  await service.load('calendar', [
    'release_id,title,source,release_at,time_zone,series_ids',
    'm1,Merged,Bank,2026-06-01 08:00,UTC,LEFT;KEPT',
  ]);
  const count = async () => (await list('?series=KEPT')).data[0]?.['series_count'];
  t.is(await count(), 2);
  const database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'test' });
  await mergeSeries(database, {
    ...{ id: 'LEFT', into: 'KEPT', seriesTimeZone: 'UTC' },
    clock: service.clock,
  });
  await database.close();
  t.is(await count(), 1);
});

test.serial('a hundred past dates and a hundred next ones are shown', async (t) => {
  const day = (n: number) => new Date(Date.UTC(2026, 6, 10 + n)).toISOString().slice(0, 10);
  const rows = Array.from({ length: 240 }, (_, n) => `d${n},Daily,Bank,${day(n - 120)} 12:00,UTC`);
  await service.load('calendar', ['release_id,title,source,release_at,time_zone', ...rows]);
  const { past_dates, next_dates } = await detail(nameId('Daily', 'Bank'));
  t.deepEqual([past_dates.length, past_dates[0]?.id, past_dates.at(-1)?.id], [100, 'd119', 'd20']);
  t.deepEqual([next_dates.length, next_dates[0]?.id, next_dates.at(-1)?.id], [100, 'd120', 'd219']);
});

test.serial('a publication survives our own iCalendar file', async (t) => {
  const { text } = await service.call('/v1/calendar?format=ics&from=2026-05-01&to=2026-05-31&source=Office');
  t.regex(text, /X-ALMANAC-PUBLICATION:Prices\r\n/);
});
