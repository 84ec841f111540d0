// A break for readers: it is in the metadata from its declaration on, and no transform compares values across it.
import test from 'ava';
import { declareBreak, removeBreak } from '../../../ingest/history/series/break.ts';
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

const how = { noGateway: true, seriesTimeZone: 'UTC', clock: fakeClock('2024-06-30T12:00:00Z') };
const old = { unit: 'Index 2015=100', unit_multiplier: null };
const present = { unit: 'Index 2020=100', unit_multiplier: null };

const load = (lines: readonly string[], vintage: string) =>
  service.load('observations', ['series_id,date,value', ...lines], {
    ...{ create: true, vintage, set: { frequency: 'monthly', unit: old.unit, source: 'Office' } },
  });

interface Body {
  meta: Record<string, unknown>;
  data: { date: string; value: number | null }[];
  pagination: { next_cursor: string | null };
}
const body = async (path: string) => (await service.call(path)).json as Body;
const pointsOf = ({ data }: Body) => data.map(({ date, value }) => [date.slice(0, 7), value]);
let versionBefore: string;

test.before(async () => {
  await load(
    ['CPI,2022-12,80', 'CPI,2023-11,100', 'CPI,2023-12,101', 'CPI,2024-01,50', 'CPI,2024-02,51'],
    '2024-06-28',
  );
  versionBefore = String((await body('/v1/series/CPI')).meta['version']);
  await declareBreak(database, {
    ...how,
    ...{ id: 'CPI', from: '2024-01', facts: { unit: present.unit }, note: 'New base year' },
  });
});

test.serial('a break is in the metadata of the series and of its catalogue entry', async (t) => {
  const breaks = [
    { date: '2024-01-01', from: old, to: present, note: 'New base year', declared_on: '2024-06-30' },
  ];
  t.like((await body('/v1/series/CPI')).meta, { unit: present.unit, breaks });
  t.like((await body('/v1/series/CPI/latest')).meta, { breaks });
  t.like((await body('/v1/series/CPI?vintage=2024-06-30')).meta, { unit: present.unit, breaks });
  t.like((await body('/v1/catalog/CPI')).data, { unit: present.unit, breaks });
});

test.serial('the chart is cut at a break, and has the unit of its newest point', async (t) => {
  const chart = async (query: string) => (await service.call(`/v1/series/CPI/chart.svg${query}`)).text;
  const now = await chart('?from=2023-11');
  t.is(/class="chart-line[^>]* d="([^"]*)"/.exec(now)?.[1]?.match(/M/g)?.length, 2);
  t.regex(now, /class="chart-break"/);
  t.regex(
    now,
    />Index 2020=100<.*In another unit since January 2024\.|In another unit since January 2024\..*>Index 2020=100</,
  );
  const before = await chart('?from=2023-11&to=2023-12');
  t.regex(before, />Index 2015=100</);
  t.notRegex(before, /chart-break|another unit/);
  t.notRegex(await chart('?from=2023-11&vintage=2024-06-29'), /chart-break|another unit/);
});

test.serial(
  'earlier vintages, and what is pinned to earlier loads, have neither the break nor the new unit',
  async (t) => {
    for (const query of ['vintage=2024-06-29', `vintage=2024-06-30&version=${versionBefore}`]) {
      t.like((await body(`/v1/series/CPI?${query}`)).meta, { unit: old.unit, breaks: [] });
      const changes = await body(`/v1/series/CPI?${query}&transform=pct_change&from=2024-01`);
      t.is(changes.meta['source_unit'], old.unit);
      t.deepEqual(
        changes.data.map(({ date }) => date.slice(0, 7)),
        ['2024-01', '2024-02'],
      );
    }
  },
);

test.serial('a change has no value if the earlier value is beyond the break', async (t) => {
  t.deepEqual(pointsOf(await body('/v1/series/CPI?transform=pct_change')), [
    ['2023-12', 1],
    ['2024-02', 2],
  ]);
  t.deepEqual(pointsOf(await body('/v1/series/CPI?transform=pct_change&from=2024&include_missing=true')), [
    ['2024-01', null],
    ['2024-02', 2],
  ]);
  t.deepEqual(pointsOf(await body('/v1/series/CPI?transform=yoy')), [['2023-12', 26.25]]);
  t.deepEqual(pointsOf(await body('/v1/series/CPI?transform=3ma')), []);
});

test.serial('an index has values on the side of its base', async (t) => {
  const before = [
    ['2022-12', 100],
    ['2023-11', 125],
    ['2023-12', 126.25],
  ];
  const after = [
    ['2024-01', 100],
    ['2024-02', 102],
  ];
  t.deepEqual(pointsOf(await body('/v1/series/CPI?transform=index')), before);
  t.deepEqual(pointsOf(await body('/v1/series/CPI?transform=index&base=2024-01')), after);
  t.deepEqual(pointsOf(await body('/v1/series/CPI?transform=index&from=2024')), after);
});

test.serial('page and order change no value beside a break', async (t) => {
  for (const transform of ['pct_change', 'yoy', 'mom', '3ma', 'index&base=2024-01']) {
    const path = `/v1/series/CPI?include_missing=true&transform=${transform}`;
    const whole = pointsOf(await body(path));
    t.is(whole.length, 5);
    t.deepEqual(pointsOf(await body(`${path}&sort=desc`)).reverse(), whole, transform);
    const paged = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Body = await body(`${path}&limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
      paged.push(...pointsOf(page));
      cursor = page.pagination.next_cursor;
    }
    t.deepEqual(paged, whole, transform);
  }
});

test.serial('of several breaks each leads from the unit before it to that of the next', async (t) => {
  await declareBreak(database, {
    ...how,
    id: 'CPI',
    from: '2024-02-29',
    facts: { unit: 'Points', unit_multiplier: '3' },
  });
  await setFacts(database, { ...how, id: 'CPI', facts: { unit: 'Index points' } });
  const newest = { unit: 'Index points', unit_multiplier: 3 };
  t.deepEqual((await body('/v1/series/CPI')).meta['breaks'], [
    { date: '2024-01-01', from: old, to: present, note: 'New base year', declared_on: '2024-06-30' },
    { date: '2024-02-29', from: present, to: newest, note: null, declared_on: '2024-06-30' },
  ]);
  t.deepEqual(pointsOf(await body('/v1/series/CPI?transform=pct_change')), [['2023-12', 1]]);
});

test.serial('a removed break is gone on the next call, and the unit from before it is back', async (t) => {
  const before = await service.call('/v1/series/CPI');
  await removeBreak(database, { ...how, id: 'CPI', from: '2024-02-29' });
  const after = await service.call('/v1/series/CPI');
  t.not(after.headers.get('etag'), before.headers.get('etag'));
  t.like((after.json as Body).meta, { ...present, breaks: [{ date: '2024-01-01', from: old, to: present }] });
  await removeBreak(database, { ...how, id: 'CPI', from: '2024' });
  t.like((await body('/v1/series/CPI')).meta, { ...old, breaks: [] });
});
