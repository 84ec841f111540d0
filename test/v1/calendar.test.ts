import test from 'ava';
import { openDatabase } from '../../kernel/database.ts';
import { silentLog } from '../services/harness.ts';
import { publicCaller, startDataService, type DataService } from '../services/data-service.ts';
import { loadCsv } from '../ingest/loading.ts';
import { makeSeries } from './series-fixture.ts';

interface List {
  success: boolean;
  data: Record<string, unknown>[];
  count: number;
  pagination: { next_cursor: string | null; count: number };
  error: { code: string; message: string; param?: string };
}

let service: DataService;

test.before(async () => {
  service = await startDataService('2026-06-15T12:00:00Z');
  await makeSeries(service.pool, { id: 'CPI' });
  await service.pool.query(`
    insert into data.releases (release_id, title, source, release_at, time_zone, status, series_ids, url, reference_period,
      frequency, kind, importance)
    values ('past', 'Consumer prices', 'Office', '2026-05-15 08:30-04', 'America/New_York', null, '{CPI}', null, null, null, null, null),
      ('today', 'Consumer prices', 'Office', '2026-06-15 08:30-04', 'America/New_York', null, '{CPI}',
       'https://example.org/cpi', '2026-05', 'monthly', 'new', 'high'),
      ('late', 'Trade, goods; services', 'Customs', '2026-06-20 09:00+05', 'Asia/Karachi', 'delayed', '{}', null, null, null, null, null),
      ('day', 'Output', 'Office', '2026-06-20 00:00+05', 'Asia/Karachi', null, '{}', null, null, null, null, null),
      ('off', 'Wages', 'Office', '2026-07-01 08:30-04', 'America/New_York', 'cancelled', '{}', null, null, null, null, null),
      ('far', 'Output', 'Office', '2026-09-01 08:30-04', 'America/New_York', null, '{}', null, null, null, null, null)`);
});

test.after.always(() => service.close());

async function list(parameters: Record<string, string> = {}): Promise<List> {
  const path = `/v1/calendar?${String(new URLSearchParams(parameters))}`;
  return (await service.call(path, { identity: publicCaller })).json as List;
}

const idsFor = async (parameters: Record<string, string>) =>
  (await list(parameters)).data.map(({ id }) => id);

test('the calendar shows the next thirty days in chronological order, in the list envelope, without a key', async (t) => {
  const answer = await list();
  t.true(answer.success);
  t.deepEqual(
    answer.data.map(({ id, status }) => [id, status]),
    [
      ['today', 'scheduled'],
      ['day', 'scheduled'],
      ['late', 'delayed'],
      ['off', 'cancelled'],
    ],
  );
  t.deepEqual(answer.pagination, { next_cursor: null, count: 4 });
  t.deepEqual(answer.data[0], {
    id: 'today',
    title: 'Consumer prices',
    source: 'Office',
    release_at: '2026-06-15T12:30:00Z',
    release_date: '2026-06-15',
    time_zone: 'America/New_York',
    time_confirmed: true,
    reference_period: '2026-05',
    frequency: 'monthly',
    kind: 'new',
    status: 'scheduled',
    importance: 'high',
    series: ['CPI'],
    url: 'https://example.org/cpi',
  });
});

test('a release has the local day of its publisher; midnight means that the time is unknown', async (t) => {
  const { data } = await list({ from: '2026-06-20', to: '2026-06-20' });
  t.deepEqual(
    data.map(({ id, release_at, release_date, time_confirmed }) => [
      id,
      release_at,
      release_date,
      time_confirmed,
    ]),
    [
      ['day', '2026-06-19T19:00:00Z', '2026-06-20', false],
      ['late', '2026-06-20T04:00:00Z', '2026-06-20', true],
    ],
  );
});

test('a release without a stated status is released once its time has come', async (t) => {
  t.deepEqual(await idsFor({ from: '2026', status: 'released' }), ['past']);
  t.deepEqual(await idsFor({ from: '2026', to: '2026', status: 'scheduled' }), ['today', 'day', 'far']);
});

test('without an end the calendar shows thirty days', async (t) => {
  const own = await startDataService('2026-06-15T12:00:00Z');
  t.teardown(() => own.close());
  await own.pool.query(`insert into data.releases (release_id, title, source, release_at, time_zone)
    select day::date::text, 'T', 'Office', day + interval '8 hours', 'UTC'
    from generate_series(timestamptz '2026-04-01 00:00Z', '2026-09-01 00:00Z', '1 day') day`);
  for (const [query, first, last] of [
    ['', '2026-06-15', '2026-07-15'],
    ['from=2026-06-10', '2026-06-10', '2026-07-15'],
    ['from=2026-06-20', '2026-06-20', '2026-07-20'],
    ['to=2026-06-15', '2026-06-15', '2026-06-15'],
    ['to=2026-06-14', '2026-05-15', '2026-06-14'],
  ] as const) {
    const { data } = (await own.call(`/v1/calendar?${query}`)).json as List;
    t.deepEqual([data[0]?.['id'], data.at(-1)?.['id']], [first, last], query);
  }
});

test('a release is scheduled until its second, and released from then on', async (t) => {
  const own = await startDataService('2026-06-15T12:00:00Z');
  t.teardown(() => own.close());
  await own.pool.query(`insert into data.releases (release_id, title, source, release_at, time_zone)
    values ('r', 'T', 'Office', '2026-06-16 08:00Z', 'UTC')`);
  for (const [instant, status] of [
    ['2026-06-16T07:59:59Z', 'scheduled'],
    ['2026-06-16T08:00:00Z', 'released'],
  ] as const) {
    own.clock.set(instant);
    const { data } = (await own.call('/v1/calendar')).json as List;
    t.deepEqual(
      data.map((release) => release['status']),
      [status],
    );
    for (const asked of ['scheduled', 'released']) {
      const narrowed = (await own.call(`/v1/calendar?status=${asked}`)).json as List;
      t.is(narrowed.count, asked === status ? 1 : 0, `${instant} ${asked}`);
    }
  }
});

test('releases can be filtered by window, source, series, status and importance, and reversed', async (t) => {
  const year = { from: '2026', to: '2026' };
  t.deepEqual(await idsFor({ ...year, source: 'Customs' }), ['late']);
  t.deepEqual(await idsFor({ ...year, series: 'CPI' }), ['past', 'today']);
  t.deepEqual(await idsFor({ ...year, series: 'CPI', sort: '-release_at' }), ['today', 'past']);
  t.deepEqual(await idsFor({ ...year, importance: 'high' }), ['today']);
  t.deepEqual(await idsFor({ to: '2026-05-31' }), ['past']);
  t.deepEqual(await idsFor({ from: '9999' }), []);
  t.deepEqual(await idsFor({ to: '0001-01-05' }), []);
});

test('pages put together are the whole list', async (t) => {
  for (const sort of ['release_at', '-release_at']) {
    const whole = await idsFor({ from: '2026', to: '2026', sort });
    const paged: unknown[] = [];
    let cursor: string | null = null;
    do {
      const page: List = await list({
        from: '2026',
        to: '2026',
        sort,
        limit: '1',
        ...(cursor === null ? {} : { cursor }),
      });
      paged.push(...page.data.map(({ id }) => id));
      cursor = page.pagination.next_cursor;
    } while (cursor !== null);
    t.deepEqual(paged, whole);
  }
});

test('format=ics is an iCalendar file: instants in UTC, unknown hours as days, no line over 75 octets', async (t) => {
  const title = `Ünïcode ${'ö'.repeat(60)}`;
  await service.pool.query(
    `insert into data.releases (release_id, title, source, release_at, time_zone) values ('long', $1, 'X', '2027-01-05 10:00Z', 'UTC')`,
    [title],
  );
  const answer = await service.call('/v1/calendar?format=ics', { identity: publicCaller });
  t.is(answer.headers.get('content-type'), 'text/calendar; charset=utf-8');
  const events = answer.text.split('BEGIN:VEVENT\r\n');
  t.is(events.length, 5);
  t.regex(events[0] ?? '', /^BEGIN:VCALENDAR\r\nVERSION:2\.0\r\nPRODID:/);
  t.regex(
    events[1] ?? '',
    /UID:today\r\nDTSTAMP:20260615T000000Z\r\nDTSTART:20260615T123000Z\r\nSUMMARY:Consumer prices\r\n/,
  );
  t.regex(
    events[1] ?? '',
    /DESCRIPTION:2026-05\\, Office\\nCPI\r\nSTATUS:CONFIRMED\r\nURL:https:\/\/example\.org\/cpi\r\n/,
  );
  t.regex(events[2] ?? '', /DTSTART;VALUE=DATE:20260620\r\n/);
  t.regex(events[3] ?? '', /SUMMARY:Trade\\, goods\\; services\r\n/);
  t.regex(events[4] ?? '', /STATUS:CANCELLED\r\n/);
  t.true(answer.text.endsWith('END:VEVENT\r\nEND:VCALENDAR\r\n'));
  const folded = await service.call('/v1/calendar?format=ics&from=2027-01', { identity: publicCaller });
  t.true(folded.text.split('\r\n').every((line) => Buffer.byteLength(line) <= 75));
  t.true(folded.text.replaceAll('\r\n ', '').includes(`SUMMARY:${title}`));
});

test('format=csv has one line per release, and names the next page in a Link header', async (t) => {
  const answer = await service.call('/v1/calendar?format=csv&limit=1', { identity: publicCaller });
  const [header, first] =
    answer.text.split('\r\n').length > 1 ? answer.text.split('\r\n') : answer.text.split('\n');
  t.is(
    header,
    'id,title,source,release_at,release_date,time_zone,time_confirmed,reference_period,frequency,kind,status,importance,series,url',
  );
  t.regex(first ?? '', /^today,Consumer prices,Office,2026-06-15T12:30:00Z,/);
  t.regex(answer.headers.get('link') ?? '', /cursor=.*rel="next"/);
});

test('the same calendar is answered 304; a wrong parameter is named', async (t) => {
  const first = await service.call('/v1/calendar', { identity: publicCaller });
  const again = await service.call('/v1/calendar', {
    identity: publicCaller,
    headers: { 'if-none-match': first.headers.get('etag') ?? '' },
  });
  t.is(again.status, 304);
  const bad: Record<string, string>[] = [
    { from: '2026-02-30' },
    { status: 'soon' },
    { limit: '0' },
    { format: 'xml' },
  ];
  for (const parameters of bad) t.is((await list(parameters)).error.param, Object.keys(parameters)[0]);
  t.is((await list({ from: '2026-07', to: '2026-06' })).error.param, 'from');
});

test.serial(
  'a series reports its next release, also after that has passed or the calendar has changed, with another ETag',
  async (t) => {
    await makeSeries(service.pool, { id: 'NEXT' });
    const release = (id: string, at: string) =>
      service.pool
        .query(`insert into data.releases (release_id, title, source, release_at, time_zone, series_ids)
      values ('${id}', 'T', 'Elsewhere', '${at}', 'UTC', '{NEXT}')`);
    const read = async () => {
      const answer = await service.call('/v1/series/NEXT');
      return [
        (answer.json as { meta: { next_release: string } }).meta.next_release,
        answer.headers.get('etag'),
      ];
    };
    const [none, first] = await read();
    t.is(none, null);
    await release('n2', '2030-02-01 08:00Z');
    const [later, second] = await read();
    t.is(later, '2030-02-01T08:00:00Z');
    await release('n1', '2030-01-01 08:00Z');
    const [sooner, third] = await read();
    t.is(sooner, '2030-01-01T08:00:00Z');
    t.is(new Set([first, second, third]).size, 3);
    const entry = await service.call('/v1/catalog/NEXT', { identity: publicCaller });
    t.is((entry.json as { data: { next_release: string } }).data.next_release, '2030-01-01T08:00:00Z');
    for (const status of ['delayed', 'cancelled']) {
      await service.pool.query(`update data.releases set status = '${status}' where release_id = 'n1'`);
      t.is((await read())[0], '2030-02-01T08:00:00Z', status);
    }
    const before = service.clock.now().toISOString();
    service.clock.set('2030-03-01T00:00:00Z');
    t.is((await read())[0], null);
    service.clock.set(before);
  },
);

test.serial(
  'the next release of a series is the next one of a year of daily ones, on each day',
  async (t) => {
    await makeSeries(service.pool, { id: 'OFTEN' });
    await service.pool
      .query(`insert into data.releases (release_id, title, source, release_at, time_zone, series_ids)
    select 'often-' || day, 'T', 'Elsewhere', day, 'UTC', '{OFTEN}'
    from generate_series(timestamptz '2031-01-01 08:00Z', '2031-12-31 08:00Z', '1 day') day`);
    const before = service.clock.now().toISOString();
    for (const day of ['2031-01-01', '2031-01-02', '2031-03-15', '2031-12-31', '2031-01-03']) {
      service.clock.set(`${day}T07:00:00Z`);
      const { json } = await service.call('/v1/series/OFTEN');
      t.is((json as { meta: { next_release: string } }).meta.next_release, `${day}T08:00:00Z`);
    }
    service.clock.set(before);
  },
);

test.serial('loading our own iCalendar file changes nothing', async (t) => {
  await service.pool.query(
    `insert into data.releases (release_id, title, source, release_at, time_zone, time_confirmed, status)
     values ('own-1', E'Two\\nlines, and more; so', 'Office; A, B', '2028-01-05 08:30Z', 'Asia/Karachi', false, 'released'),
       ('own-2', 'Midnight', 'Office', '2028-01-06 00:00+05', 'Asia/Karachi', true, null),
       ('own-3', 'Cancelled', 'Office', '2028-01-07 00:00+05', 'Asia/Karachi', null, 'cancelled')`,
  );
  const database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'test' });
  t.teardown(() => database.close());
  const rows = () => service.pool.query('select * from data.releases order by release_id');
  const before = await rows();
  for (const window of ['from=2026-01-01&to=2026-12-31', 'from=2028-01']) {
    const { text } = await service.call(`/v1/calendar?format=ics&${window}`, { identity: publicCaller });
    const events = text.split('BEGIN:VEVENT').length - 1;
    const { pointsNew, pointsRevised, pointsUnchanged } = await loadCsv(database, text, {
      dataset: 'calendar',
    });
    t.deepEqual([pointsNew, pointsRevised, pointsUnchanged], [0, 0, events], window);
    t.true(events >= 3);
  }
  t.deepEqual(await rows(), before);
  const { text: empty } = await service.call('/v1/calendar?format=ics&from=2050', { identity: publicCaller });
  t.is((await loadCsv(database, empty, { dataset: 'calendar' })).rowsRead, 0);
});

test.serial('a calendar file is complete, however many releases it has', async (t) => {
  await service.pool.query(
    `insert into data.releases (release_id, title, source, release_at, time_zone)
     select 'many-' || n, 'Many', 'Many', '2029-01-01 10:00Z'::timestamptz + n * interval '1 minute', 'UTC'
     from generate_series(1, 1234) n`,
  );
  const window = 'from=2029-01-01&to=2029-01-31';
  const csv = await service.call(`/v1/calendar?format=csv&${window}`, { identity: publicCaller });
  const ics = await service.call(`/v1/calendar?format=ics&${window}`, { identity: publicCaller });
  t.is(csv.text.trimEnd().split('\n').length, 1235);
  t.is(ics.text.split('BEGIN:VEVENT').length, 1235);
  t.deepEqual(
    [csv, ics].map(({ headers }) => headers.get('link')),
    [null, null],
  );
});
