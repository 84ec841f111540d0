import test from 'ava';
import { daily, loadCsv, openIngestDatabase, rejectsOf } from './loading.ts';

const database = await openIngestDatabase(test);

const calendar = { dataset: 'calendar' };
const header = 'release_id,title,source,release_at,time_zone';

async function releaseAt(id: string): Promise<string | undefined> {
  const [row] = await database.query<{ at: Date }>(
    'select release_at as at from data.releases where release_id = $1',
    [id],
  );
  return row?.at.toISOString();
}

test.serial(
  'a local time is an instant in the zone of its row, in summer and winter; an explicit offset takes precedence',
  async (t) => {
    const csv = [
      header,
      'winter,Employment,BLS,2024-01-05 08:30,America/New_York',
      'summer,Employment,BLS,2024-07-05T08:30:00,America/New_York',
      'offset,Employment,BLS,2024-07-05T08:30:00+05:00,America/New_York',
      'utc,Employment,BLS,2024-07-05T08:30Z,America/New_York',
      'day,Employment,BLS,2024-07-05,Asia/Karachi',
    ];
    t.is((await loadCsv(database, csv, calendar)).pointsNew, 5);
    t.is((await loadCsv(database, csv, calendar)).pointsUnchanged, 5);
    t.is(await releaseAt('winter'), '2024-01-05T13:30:00.000Z');
    t.is(await releaseAt('summer'), '2024-07-05T12:30:00.000Z');
    t.is(await releaseAt('offset'), '2024-07-05T03:30:00.000Z');
    t.is(await releaseAt('utc'), '2024-07-05T08:30:00.000Z');
    t.is(await releaseAt('day'), '2024-07-04T19:00:00.000Z');
  },
);

test.serial('a moved release keeps its id', async (t) => {
  const csv = [header, 'winter,Employment,BLS,2024-01-12 08:30,America/New_York'];
  t.is((await loadCsv(database, csv, calendar)).pointsRevised, 1);
  t.is(await releaseAt('winter'), '2024-01-12T13:30:00.000Z');
});

test.serial(
  'an invalid time, zone, word, URL or series is refused by line; a time needs its zone',
  async (t) => {
    await loadCsv(database, ['series_id,date,value', 'A,2024-01-01,1'], { create: true, set: daily });
    const csv = [
      `${header},status,url,series_ids`,
      'a,T,S,2024-02-30 10:00,UTC,,,',
      'b,T,S,2024-02-03 25:00,UTC,,,',
      'c,T,S,2024-02-03 10:00,US-Eastern,,,',
      'd,T,S,2024-02-03 10:00,UTC,soon,,',
      'e,T,S,2024-02-03 10:00,UTC,,ftp://x,',
      'f,T,S,2024-02-03 10:00,UTC,,,A;B',
      'g,T,S,2024-02-03 10:00,UTC,Delayed,https://example.org/x,A',
    ];
    t.deepEqual(await rejectsOf(loadCsv(database, csv, calendar)), [
      [2, 'release_at', '2024-02-30 10:00'],
      [3, 'release_at', '2024-02-03 25:00'],
      [4, 'time_zone', 'US-Eastern'],
      [5, 'status', 'soon'],
      [6, 'url', 'ftp://x'],
      [7, 'series_ids', 'B'],
    ]);
    const without = ['release_id,title,source,release_at', 'a,T,S,2024-02-03'];
    await t.throwsAsync(loadCsv(database, without, calendar), { message: /no column time_zone/ });
  },
);

test.serial('each time zone that a calendar accepts is known to PostgreSQL', async (t) => {
  // Node's list has names that tzdata has dropped.
  const zones = [...Intl.supportedValuesOf('timeZone'), 'US/Pacific-New', 'Canada/East-Saskatchewan'];
  const csv = [header, ...zones.map((zone, at) => `zone-${at},T,S,2024-06-29T10:00Z,${zone}`)];
  const { rowsRejected } = await loadCsv(database, csv, { ...calendar, skipInvalid: true });
  t.true(rowsRejected >= 2 && rowsRejected < zones.length);
  await t.notThrowsAsync(database.query('select release_at at time zone time_zone from data.releases'));
});

const ics = (...events: string[][]) =>
  [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'BEGIN:VTIMEZONE',
    'TZID:X',
    'DTSTART:20070311T020000',
    'RRULE:FREQ=YEARLY',
    'END:VTIMEZONE',
    '',
  ]
    .concat(...events.map((lines) => ['BEGIN:VEVENT', ...lines, 'END:VEVENT']), 'END:VCALENDAR', '')
    .join('\r\n');

test.serial(
  'an iCalendar file loads one release per event: folded lines, escapes, days, zones, cancellations',
  async (t) => {
    const text = ics(
      ['UID:one', 'SUMMARY:Prices\\, wages and ', ' output', 'DTSTART;TZID="Asia/Karachi":20240301T160000'],
      ['UID:two', 'SUMMARY;LANGUAGE=en:Trade', 'DTSTART:20240302T060000Z', 'STATUS:CANCELLED'],
      [
        'UID:three',
        'SUMMARY:GDP',
        'DTSTART;VALUE=DATE;TZID=Asia/Karachi:20240303',
        'URL:https://example.org/gdp',
      ],
    );
    const summary = await loadCsv(database, text, { ...calendar, set: { source: 'Statistics Office' } });
    t.is(summary.pointsNew, 3);
    const rows = await database.query<Record<string, unknown>>(
      `select release_id, title, source, time_zone, status, url from data.releases
     where source = 'Statistics Office' order by release_at`,
    );
    const source = 'Statistics Office';
    t.deepEqual(rows, [
      {
        release_id: 'one',
        title: 'Prices, wages and output',
        source,
        time_zone: 'Asia/Karachi',
        status: null,
        url: null,
      },
      { release_id: 'two', title: 'Trade', source, time_zone: 'UTC', status: 'cancelled', url: null },
      {
        release_id: 'three',
        title: 'GDP',
        source,
        time_zone: 'Asia/Karachi',
        status: null,
        url: 'https://example.org/gdp',
      },
    ]);
    t.is(await releaseAt('one'), '2024-03-01T11:00:00.000Z');
    t.is(await releaseAt('two'), '2024-03-02T06:00:00.000Z');
    t.is(await releaseAt('three'), '2024-03-02T19:00:00.000Z');
  },
);

test.serial(
  'an event without a known zone is refused on the line where it begins; --set can give one',
  async (t) => {
    const text = ics(['UID:local', 'SUMMARY:GDP', 'DTSTART;TZID=US-Eastern:20240105T083000']);
    const set = { source: 'Office' };
    t.deepEqual(await rejectsOf(loadCsv(database, text, { ...calendar, set })), [
      [9, 'time_zone', 'US-Eastern'],
    ]);
    const afterFolded = ics(
      ['UID:ok', 'SUMMARY:A folded', ' title', 'DTSTART:20240302T060000Z'],
      ['UID:local', 'SUMMARY:GDP', 'DTSTART;TZID=US-Eastern:20240105T083000'],
    );
    t.deepEqual(await rejectsOf(loadCsv(database, afterFolded, { ...calendar, set })), [
      [15, 'time_zone', 'US-Eastern'],
    ]);
    const reported = { ignore: ['time_zone'], set: { ...set, time_zone: 'America/New_York' } };
    t.is((await loadCsv(database, text, { ...calendar, ...reported })).pointsNew, 1);
    t.is(await releaseAt('local'), '2024-01-05T13:30:00.000Z');
  },
);

test.serial('an event that repeats by a rule, or does not end, is refused with the file', async (t) => {
  const set = { source: 'Office' };
  const repeats = ics(['UID:r', 'SUMMARY:X', 'DTSTART:20240302T060000Z', 'RRULE:FREQ=MONTHLY']);
  await t.throwsAsync(loadCsv(database, repeats, { ...calendar, set }), {
    message: /line 9 repeats by a rule/,
  });
  const open = ics(['UID:r', 'SUMMARY:X', 'DTSTART:20240302T060000Z']).replace('END:VEVENT', 'X-END:1');
  await t.throwsAsync(loadCsv(database, open, { ...calendar, set }), { message: /line 9 does not end/ });
});
