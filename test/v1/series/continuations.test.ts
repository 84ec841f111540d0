// A series that continues as another one, of another frequency, for readers: each names the other, and no value changes.
import test from 'ava';
import { declareBreak, removeBreak } from '../../../ingest/history/series/break.ts';
import { declareContinuation } from '../../../ingest/history/series/continuation.ts';
import { deleteSeries, restoreSeries } from '../../../ingest/history/series/delete.ts';
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
const continuation = {
  ...{ date: '2024-04-01', from: { frequency: 'monthly' }, to: { frequency: 'quarterly' } },
  ...{ continued_by: 'CPI.Q', note: 'By quarter' },
};

const load = (frequency: string, ...lines: string[]) =>
  service.load('observations', ['series_id,date,value', ...lines], {
    ...{ create: true, vintage: '2024-06-28', set: { frequency, unit: 'Index', source: 'Office' } },
  });

const read = (path: string) => service.call(path);
const metaOf = async (path: string) =>
  ((await read(path)).json as { meta: { breaks: unknown[]; continues: string[]; version: number } }).meta;
/** Everything that is computed or drawn from the points of the old series. */
const drawn = () =>
  Promise.all(
    [
      ...['?format=csv', '/chart.svg', '/chart.svg?to=2030', '?format=csv&transform=pct_change'],
      ...['?format=csv&transform=index', '/triangle?format=csv', '/latest?format=csv'],
    ].map(async (query) => (await read(`/v1/series/CPI.M${query}`)).text),
  );
let versions: number[];
let before: string[];

test.before(async () => {
  await load('monthly', 'CPI.M,2024-01,100', 'CPI.M,2024-02,101', 'CPI.M,2024-03,102');
  await load('quarterly', 'CPI.Q,2024-Q1,101', 'CPI.Q,2024-Q2,103');
  versions = [(await metaOf('/v1/series/CPI.M')).version, (await metaOf('/v1/series/CPI.Q')).version];
  before = await drawn();
  await declareContinuation(database, {
    ...{ ...how, id: 'CPI.M', from: '2024-Q2', frequency: 'quarterly', continuedBy: 'CPI.Q' },
    note: 'By quarter',
  });
});

test.serial('the old series names its continuation, and the new one names the old series', async (t) => {
  for (const path of ['', '/latest', '?vintage=2024-06-30']) {
    t.like(await metaOf(`/v1/series/CPI.M${path}`), {
      frequency: 'monthly',
      breaks: [continuation],
      continues: [],
    });
    t.like(await metaOf(`/v1/series/CPI.Q${path}`), {
      ...{ frequency: 'quarterly', breaks: [], continues: ['CPI.M'] },
    });
  }
  const entry = async (id: string) => ((await read(`/v1/catalog/${id}`)).json as { data: object }).data;
  t.like(await entry('CPI.M'), { breaks: [continuation], continues: [] });
  t.like(await entry('CPI.Q'), { breaks: [], continues: ['CPI.M'] });
});

test.serial('points, transforms and charts of the old series are as before', async (t) => {
  t.true(before.every((text) => text.length > 0));
  t.deepEqual(await drawn(), before);
});

test.serial(
  'a point of the old series that is loaded nevertheless is served, drawn and compared with earlier ones',
  async (t) => {
    await load('monthly', 'CPI.M,2024-04,204');
    const changes = (await read('/v1/series/CPI.M?transform=pct_change&from=2024-04')).json as {
      data: object[];
    };
    t.like(changes.data[0], { date: '2024-04-30', value: 100 });
    const chart = (await read('/v1/series/CPI.M/chart.svg')).text;
    t.is(/class="chart-line[^>]* d="([^"]*)"/.exec(chart)?.[1]?.match(/M/g)?.length, 1);
    t.notRegex(chart, /chart-break|another unit/);
    t.deepEqual((await metaOf('/v1/series/CPI.M')).breaks, [continuation]);
  },
);

test.serial('earlier vintages, and answers pinned to earlier loads, do not show it', async (t) => {
  for (const [i, id] of ['CPI.M', 'CPI.Q'].entries())
    for (const query of ['vintage=2024-06-29', `vintage=2024-06-30&version=${versions[i]}`])
      t.like(await metaOf(`/v1/series/${id}?${query}`), { breaks: [], continues: [] }, `${id} ${query}`);
});

test.serial('a break of the unit comes before it, and is where it was', async (t) => {
  await removeBreak(database, { ...how, id: 'CPI.M', from: '2024-04' });
  await declareBreak(database, { ...how, id: 'CPI.M', from: '2024-02', facts: { unit: 'Points' } });
  await declareContinuation(database, {
    ...{ ...how, id: 'CPI.M', from: '2024-05', frequency: 'quarterly', continuedBy: 'CPI.Q' },
  });
  const units = [
    { unit: 'Index', unit_multiplier: null },
    { unit: 'Points', unit_multiplier: null },
  ] as const;
  t.deepEqual((await metaOf('/v1/series/CPI.M')).breaks, [
    { date: '2024-02-01', declared_on: '2024-06-30', from: units[0], to: units[1], note: null },
    { ...continuation, date: '2024-05-01', note: null },
  ]);
});

test.serial(
  'after a rename of either, by old and new ids, each names the other as it is called',
  async (t) => {
    await renameSeries(database, { ...how, id: 'CPI.M', newId: 'PK.M' });
    await renameSeries(database, { ...how, id: 'CPI.Q', newId: 'PK.Q' });
    for (const id of ['CPI.M', 'PK.M'])
      t.like((await metaOf(`/v1/series/${id}`)).breaks.at(-1), { continued_by: 'PK.Q' });
    for (const id of ['CPI.Q', 'PK.Q']) t.deepEqual((await metaOf(`/v1/series/${id}`)).continues, ['PK.M']);
  },
);

test.serial('a deleted series is not named, and is again once it is restored', async (t) => {
  const named = async () => [
    (await metaOf('/v1/series/PK.M')).breaks.length,
    (await metaOf('/v1/series/PK.Q')).continues.length,
  ];
  t.deepEqual(await named(), [2, 1]);
  await deleteSeries(database, { ...how, id: 'PK.Q' });
  t.is((await metaOf('/v1/series/PK.M')).breaks.length, 1);
  await restoreSeries(database, { ...how, id: 'PK.Q' });
  t.deepEqual(await named(), [2, 1]);
  await deleteSeries(database, { ...how, id: 'PK.M' });
  t.deepEqual((await metaOf('/v1/series/PK.Q')).continues, []);
  await restoreSeries(database, { ...how, id: 'PK.M' });
  t.deepEqual(await named(), [2, 1]);
});

test.serial('what is removed is gone on the next call, from both', async (t) => {
  const etags = () =>
    Promise.all(['PK.M', 'PK.Q'].map(async (id) => (await read(`/v1/series/${id}`)).headers.get('etag')));
  const [oldBefore, newBefore] = await etags();
  await removeBreak(database, { ...how, id: 'PK.M', from: '2024-05' });
  const [oldAfter, newAfter] = await etags();
  t.not(oldAfter, oldBefore);
  t.not(newAfter, newBefore);
  t.is((await metaOf('/v1/series/PK.M')).breaks.length, 1);
  t.deepEqual((await metaOf('/v1/series/PK.Q')).continues, []);
});
