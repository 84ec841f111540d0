// GET /v1/sources and /v1/sources/{id}, with typical loads and a typical calendar.
import test from 'ava';
import { nameId } from '../../domain/name-id.ts';
import { publicCaller } from '../services/data-service.ts';
import { csvLines, startListService, type ListBody } from '../services/list-service.ts';

const service = await startListService();
test.after.always(() => service.close());

const office = nameId('Statistics Office');
const bank = nameId('Central Bank');

test.before(async () => {
  await service.load('series', [
    'series_id,name,unit,frequency,source,licence,licence_url',
    'CPI,Prices,Index,monthly,Statistics Office,CC BY 4.0,https://example.org/by',
    'GDP,Output,USD,quarterly,Statistics Office,CC BY 4.0,https://example.org/by',
    'POP,People,Persons,annual,Statistics Office,Public domain,',
    'RATE,Rate,%,daily,Central Bank,,',
    'NONE,Nothing yet,%,daily,An empty one,,',
  ]);
  await service.load('observations', ['series_id,date,value', 'CPI,2026-05,1', 'GDP,2026-03-31,2'], {
    vintage: '2026-06-10',
  });
  await service.load('observations', ['series_id,date,value', 'RATE,2026-06-12,3'], {
    vintage: '2026-06-12',
  });
  await service.load('calendar', [
    'release_id,title,source,release_at,time_zone,frequency,series_ids',
    'cpi-5,Prices,Statistics Office,2026-06-10 08:00,UTC,monthly,CPI',
    'cpi-6,Prices,Statistics Office,2026-07-10 08:00,UTC,monthly,CPI',
    'gdp-2,Output,Statistics Office,2026-06-20 08:00,UTC,quarterly,GDP',
  ]);
  await service.pool.query(`update data.loads set loaded_at = '2026-06-10 09:00Z'`);
});

const list = async (query = '') =>
  (await service.call(`/v1/sources${query}`, { identity: publicCaller })).json as ListBody;

test.serial(
  'a source has the number of its series, its licences, its last load and its next release',
  async (t) => {
    const { data, count } = await list();
    t.is(count, 3);
    t.deepEqual(
      data.map(({ name }) => name),
      ['An empty one', 'Central Bank', 'Statistics Office'],
    );
    t.deepEqual(data[2], {
      id: office,
      name: 'Statistics Office',
      state: 'current',
      last_success_at: '2026-06-10T09:00:00Z',
      last_data_date: '2026-05-31',
      series_count: 3,
      last_release_at: '2026-06-10T08:00:00Z',
      next_release_at: '2026-06-20T08:00:00Z',
      lag_hours: 0,
      licences: [
        { licence: 'CC BY 4.0', url: 'https://example.org/by' },
        { licence: 'Public domain', url: null },
      ],
    });
    t.like(data[0], { state: 'empty', last_success_at: null, licences: [] });
    t.like(data[1], { state: 'unscheduled', next_release_at: null, lag_hours: null });
  },
);

test.serial('its figures are those of the status', async (t) => {
  const { json } = await service.call('/v1/status', { identity: publicCaller });
  const { sources } = (json as { data: { sources: Record<string, unknown>[] } }).data;
  const { data } = await list();
  t.deepEqual(
    data.map(({ id: _id, licences: _licences, name, ...figures }) => ({ source: name, ...figures })),
    sources,
  );
});

test.serial('one source has its releases, and the path of its series', async (t) => {
  const { json } = await service.call(`/v1/sources/${office}`, { identity: publicCaller });
  const { data } = json as { data: { releases: object[]; catalog_url: string } };
  t.like(data, { id: office, series_count: 3, catalog_url: '/v1/catalog?source=Statistics+Office' });
  t.like(data.releases, [
    { name: 'Output', frequency: 'quarterly', next_release_at: '2026-06-20T08:00:00Z' },
    { name: 'Prices', last_release_at: '2026-06-10T08:00:00Z', next_release_at: '2026-07-10T08:00:00Z' },
  ] as never);
  t.deepEqual(await service.column(data.catalog_url, 'id'), ['CPI', 'GDP', 'POP']);
  const missing = await service.call('/v1/sources/statistics-office', { identity: publicCaller });
  t.is(missing.status, 404);
  const far = await service.call('/v1/sources/x', { identity: publicCaller });
  t.like(far.json, {
    error: { code: 'not_found', param: 'id', message: 'There is no source "x". GET /v1/sources lists them.' },
  });
  const near = await service.call(`/v1/sources/${bank}0`, { identity: publicCaller });
  t.regex((near.json as ListBody).error.message, new RegExp(`Did you mean "${bank}"\\?`));
});

test.serial(
  'sources can be filtered by a part of the name and by state, sorted, paged, and read as CSV',
  async (t) => {
    t.deepEqual(await service.column('/v1/sources?q=STAT', 'name'), ['Statistics Office']);
    t.deepEqual(await service.column('/v1/sources?state=empty', 'name'), ['An empty one']);
    t.deepEqual(await service.column('/v1/sources?sort=-series_count', 'series_count'), [3, 1, 1]);
    const byRelease = ['Statistics Office', 'An empty one', 'Central Bank'];
    t.deepEqual(await service.column('/v1/sources?sort=next_release_at', 'name'), byRelease, 'nulls last');
    t.is(
      (await service.column('/v1/sources?sort=-next_release_at', 'name'))[0],
      'Statistics Office',
      'nulls last',
    );
    for (const sort of [
      'name',
      '-name',
      'series_count',
      '-series_count',
      'next_release_at',
      '-next_release_at',
    ]) {
      const whole = await service.column(`/v1/sources?sort=${sort}`, 'id');
      t.deepEqual(await service.readPages(`/v1/sources?sort=${sort}`, 'id', 1), whole, sort);
    }
    const { header, lines } = csvLines(await service.call('/v1/sources?format=csv&fields=name,series_count'));
    t.is(header, 'name,series_count');
    t.deepEqual(lines, ['An empty one,1', 'Central Bank,1', 'Statistics Office,3']);
    const first = await list('?limit=1');
    const other = await service.call(
      `/v1/sources?limit=1&state=empty&cursor=${first.pagination.next_cursor}`,
    );
    t.is(other.status, 400, 'a cursor is of its filters');
  },
);

test.serial('an answer changes when the clock changes it, and not before', async (t) => {
  const read = async () => {
    const { data } = await list('?q=statistics');
    return [data[0]?.['state'], data[0]?.['lag_hours'], data[0]?.['next_release_at']];
  };
  for (const [instant, ...expected] of [
    ['2026-06-20T07:59:59Z', 'current', 0, '2026-06-20T08:00:00Z'],
    ['2026-06-20T08:00:00Z', 'due', 0, '2026-07-10T08:00:00Z'],
    ['2026-06-20T08:59:59Z', 'due', 0, '2026-07-10T08:00:00Z'],
    ['2026-06-20T09:00:00Z', 'due', 1, '2026-07-10T08:00:00Z'],
    ['2026-06-21T07:59:59Z', 'due', 23, '2026-07-10T08:00:00Z'],
    ['2026-06-21T08:00:00Z', 'late', 24, '2026-07-10T08:00:00Z'],
    ['2026-06-15T12:00:00Z', 'current', 0, '2026-06-20T08:00:00Z'], // the clock is set back
  ] as const) {
    service.clock.set(instant);
    t.deepEqual(await read(), expected, instant);
  }
});

test.serial('the next call after a load sees it, under another ETag', async (t) => {
  const before = await service.call('/v1/sources');
  const etag = before.headers.get('etag') ?? '';
  t.is((await service.call('/v1/sources', { headers: { 'if-none-match': etag } })).status, 304);
  await service.load('series', [
    'series_id,name,unit,frequency,source',
    'CORE,Core,Index,monthly,Central Bank',
  ]);
  const after = await service.call('/v1/sources', { headers: { 'if-none-match': etag } });
  t.is(after.status, 200);
  t.like((after.json as ListBody).data[1], { name: 'Central Bank', series_count: 2 });
});

test.serial('the path of its series names a source with a comma as a whole', async (t) => {
  await service.load('series', [
    'series_id,name,frequency,source',
    'TAX.A,A,annual,Tax',
    'TAX.B,B,annual,"Tax, ""Customs"""',
  ]);
  const [id] = await service.column('/v1/sources?q=customs', 'id');
  const { json } = await service.call(`/v1/sources/${String(id)}`);
  const { catalog_url: path } = (json as { data: { catalog_url: string } }).data;
  t.deepEqual(await service.column(path, 'id'), ['TAX.B']);
});
