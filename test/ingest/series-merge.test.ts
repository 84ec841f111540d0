// A series is merged into another: the points that the other one gets, refusals, records, and the reversal.
import test from 'ava';
import { mergeSeries, type MergeOptions } from '../../ingest/history/series/merge.ts';
import { deleteSeries, restoreSeries } from '../../ingest/history/series/delete.ts';
import { renameSeries } from '../../ingest/history/series/rename.ts';
import { retract } from '../../ingest/history/retract/retract.ts';
import { Failure } from '../../kernel/errors.ts';
import { fakeClock } from '../services/harness.ts';
import { writtenEvents } from '../services/outbox.ts';
import { daily, loadCsv, openIngestDatabase, published, seriesRow, today } from './loading.ts';

const database = await openIngestDatabase(test);
const how = { noGateway: true, seriesTimeZone: 'UTC', clock: fakeClock(`${today}T12:00:00Z`) };

/** Loads points, `id,date,value` each. */
const loaded = (rows: readonly string[], options: Parameters<typeof loadCsv>[2] = {}) =>
  loadCsv(database, ['series_id,date,value', ...rows], {
    ...{ create: true, set: daily, vintage: '2024-02-01' },
    ...options,
  });
const merged = (id: string, into: string, options: Partial<MergeOptions> = {}) =>
  mergeSeries(database, { ...how, id, into, ...options });
const restored = (id: string) => restoreSeries(database, { ...how, id });

async function refusal(change: Promise<unknown>): Promise<string> {
  try {
    await change;
  } catch (error) {
    if (error instanceof Failure) return `${error.code}: ${error.message}`;
    throw error;
  }
  throw new Error('the change should have been refused');
}

/** Everything that a refused change or a dry run must not modify. */
const stored = () =>
  database.query(
    `select s.*, s.xmin::text, (select count(*) from data.series_aliases) as aliases,
       (select count(*) from data.observations) as points, (select count(*) from data.loads) as loads,
       (select count(*) from data.audit_events) as events, (select count(*) from events.outbox) as reported
     from data.series s order by series_id`,
  );

test.serial('the other series gets its missing points as of today, and keeps its own', async (t) => {
  await loaded(['OLD,2024-01-01,1.50', 'OLD,2024-01-02,2', 'OLD,2024-01-03,']);
  await loaded(['NEW,2024-01-02,2.0', 'NEW,2024-01-04,4']);
  const result = await merged('OLD', 'NEW', { reason: 'one index' });
  t.like(result, { series: 'NEW', pointsNew: 2, pointsRevised: 0, conflicts: 0 });
  t.deepEqual(await published(database, 'NEW'), {
    ...{ '2024-01-01': '1.50', '2024-01-02': '2.0', '2024-01-03': null, '2024-01-04': '4' },
  });
  t.deepEqual(
    await published(database, 'NEW', '2024-06-29'),
    { '2024-01-02': '2.0', '2024-01-04': '4' },
    'as it was published before',
  );
  t.deepEqual(await published(database, 'OLD'), {
    ...{ '2024-01-01': '1.50', '2024-01-02': '2', '2024-01-03': null },
  });
  t.like(await seriesRow(database, 'OLD'), { deleted_on: today });
  t.like(await seriesRow(database, 'NEW'), { observation_count: 3, data_version: result.loadNo });
});

test.serial('a merge is a recorded load of observations, and is reported by both ids', async (t) => {
  const { loadNo } = (
    await database.query<{ loadNo: number }>('select max(load_no)::int as "loadNo" from data.loads')
  )[0] ?? { loadNo: 0 };
  t.deepEqual(
    await database.query(
      `select dataset, source_name, vintage, points_new::int, reason from data.loads where load_no = ${loadNo}`,
    ),
    [
      {
        ...{ dataset: 'observations', source_name: 'series.merged OLD', vintage: today },
        ...{ points_new: 2, reason: 'one index' },
      },
    ],
  );
  t.deepEqual(
    await database.query('select action, subject, load_no::int, reason, details from data.audit_events'),
    [
      {
        ...{ action: 'series.merged', subject: 'OLD', load_no: loadNo, reason: 'one index' },
        details: { merged_into: 'NEW', prefer: 'into', points_new: 2, points_revised: 0 },
      },
    ],
  );
  const reported = (await writtenEvents(database)).filter(({ data }) => data['load'] === loadNo);
  t.deepEqual(
    reported.map(({ type, data }) => [type, data['series'] ?? data['dataset']]),
    [
      ['series.updated', ['NEW', 'OLD']],
      ['dataset.updated', 'series'],
    ],
  );
});

test.serial('a load by the old id goes to the other series', async (t) => {
  await loaded(['OLD,2024-01-05,5'], { vintage: '2024-06-30' });
  t.is((await published(database, 'NEW'))['2024-01-05'], '5');
  t.is((await published(database, 'OLD'))['2024-01-05'], undefined);
});

test.serial('retracting the load of a merge removes its points from the other series', async (t) => {
  await loaded(['R.OLD,2024-01-01,1', 'R.NEW,2024-01-02,2']);
  const { loadNo } = await merged('R.OLD', 'R.NEW');
  await retract(database, { ...how, loadNo });
  t.deepEqual(await published(database, 'R.NEW'), { '2024-01-02': '2' });
});

test.serial('different values prevent a merge, unless --prefer names the preferred series', async (t) => {
  const rows = ['2024-01-01,1', '2024-01-02,', '2024-01-03,3'];
  const others = ['2024-01-01,10', '2024-01-02,20', '2024-01-03,3.0', '2024-01-04,4'];
  for (const name of ['A', 'B'])
    await loaded([...rows.map((row) => `${name}.OLD,${row}`), ...others.map((row) => `${name}.NEW,${row}`)]);
  const before = await stored();
  const expected =
    'conflict: "A.OLD" and "A.NEW" have different values of 2 points (2024-01-01: 1 and 10; 2024-01-02: missing and 20). ' +
    '--prefer old or --prefer into chooses which are kept.';
  t.is(await refusal(merged('A.OLD', 'A.NEW')), expected);
  t.deepEqual(await stored(), before);
  t.like(await merged('A.OLD', 'A.NEW', { prefer: 'into' }), {
    ...{ pointsNew: 0, pointsRevised: 0, conflicts: 2 },
  });
  t.deepEqual(Object.values(await published(database, 'A.NEW')), ['10', '20', '3.0', '4']);
  t.like(await merged('B.OLD', 'B.NEW', { prefer: 'old' }), {
    ...{ pointsNew: 0, pointsRevised: 2, conflicts: 2 },
  });
  t.deepEqual(Object.values(await published(database, 'B.NEW')), ['1', null, '3.0', '4']);
  t.deepEqual(Object.values(await published(database, 'B.NEW', '2024-06-29')), ['10', '20', '3.0', '4']);
});

test.serial(
  'points match by their dimension values, in whatever way these are numbered in the two series',
  async (t) => {
    const load = (rows: readonly string[]) =>
      loadCsv(database, ['series_id,date,value,side,city', ...rows], {
        ...{ create: true, set: daily, vintage: '2024-02-01' },
      });
    await load(['D.OLD,2024-01-01,1,buy,K', 'D.OLD,2024-01-01,2,sell,K']);
    await loadCsv(
      database,
      ['series_id,date,value,city,side', 'D.NEW,2024-01-01,2,K,sell', 'D.NEW,2024-01-01,3,L,buy'],
      { create: true, set: daily, vintage: '2024-02-01' },
    );
    t.like(await merged('D.OLD', 'D.NEW'), { pointsNew: 1, conflicts: 0 });
    t.deepEqual(await published(database, 'D.NEW'), {
      ...{ '2024-01-01 K buy': '1', '2024-01-01 K sell': '2', '2024-01-01 L buy': '3' },
    });
  },
);

test.serial('points are copied completely, even in several batches', async (t) => {
  const rows = Array.from({ length: 5_001 }, (_, i) => {
    const date = new Date(Date.UTC(2000, 0, 1 + i)).toISOString().slice(0, 10);
    return `LONG.OLD,${date},${i}`;
  });
  await loaded([...rows, 'LONG.NEW,1999-12-31,7']);
  t.like(await merged('LONG.OLD', 'LONG.NEW'), { pointsNew: 5_001 });
  const values = await published(database, 'LONG.NEW');
  t.is(Object.keys(values).length, 5_002);
  t.is(Object.values(values).at(-1), '5000');
});

test.serial(
  'labels, notes on copied points and calendar entries are transferred to the other series',
  async (t) => {
    await loaded(['N.OLD,2024-01-01,1', 'N.OLD,2024-01-02,2', 'N.NEW,2024-01-02,2']);
    await loadCsv(
      database,
      ['series_id,date,text', 'N.OLD,,On the series', 'N.OLD,2024-01-01,Came', 'N.OLD,2024-01-02,Stayed'],
      { dataset: 'footnotes' },
    );
    await loadCsv(
      database,
      [
        'release_id,title,source,release_at,time_zone,series_ids',
        'r1,One,Test,2024-07-01T09:00,UTC,N.OLD',
        'r2,Two,Test,2024-07-01T09:00,UTC,N.OLD;N.NEW',
      ],
      { dataset: 'calendar' },
    );
    await merged('N.OLD', 'N.NEW');
    t.deepEqual(
      await database.query(
        `select f.text from data.footnotes f join data.series s using (series_no) where series_id = 'N.NEW'`,
      ),
      [{ text: 'Came' }],
    );
    t.deepEqual(await database.query('select series_ids from data.releases order by release_id'), [
      { series_ids: ['N.NEW'] },
      { series_ids: ['N.NEW'] },
    ]);
  },
);

test.serial('incompatible series are not merged, and the refusal names the reason', async (t) => {
  await loaded(['FIT,2024-01-01,1']);
  await loaded(['UNIT,2024-01-01,1'], { set: { ...daily, unit: 'Rupees', frequency: 'irregular' } });
  await loadCsv(database, ['series_id,date,value,side', 'DIMS,2024-01-01,1,buy'], {
    create: true,
    set: daily,
  });
  await loaded(['GONE,2024-01-01,1', 'NAMED,2024-01-01,1']);
  await deleteSeries(database, { ...how, id: 'GONE' });
  await renameSeries(database, { ...how, id: 'NAMED', newId: 'NAMED.NEW' });
  await loadCsv(database, ['item_id,name,unit,currency,frequency,source', 'rice,Rice,1 Kg,PKR,daily,PBS'], {
    dataset: 'commodity-items',
  });
  const before = await stored();
  for (const [id, into, expected] of [
    ['NONE', 'FIT', /^not_found: There is no series "NONE"/],
    ['FIT', 'NONE', /^not_found: There is no series "NONE"/],
    ['FIT', 'FIT', /^conflict: "FIT" cannot be merged into itself/],
    ['NAMED', 'FIT', /^conflict: "NAMED" is an earlier id of the series "NAMED.NEW"/],
    ['FIT', 'OLD', /^conflict: "OLD" is an earlier id of the series "NEW"/],
    ['GONE', 'FIT', /^conflict: "GONE" was deleted on/],
    ['FIT', 'GONE', /^conflict: "GONE" was deleted on/],
    ['commodity.rice', 'FIT', /^conflict: "commodity.rice" has the prices of an item/],
    [
      'NEW',
      'FIT',
      /^conflict: "OLD" was merged into "NEW": almanac series restore OLD, then merge each into "FIT"/,
    ],
    [
      'FIT',
      'UNIT',
      /^conflict: "FIT" does not fit "UNIT": its frequency is daily, not irregular; its unit is Index, not Rupees\.$/,
    ],
    ['DIMS', 'FIT', /^conflict: "DIMS" does not fit "FIT": its dimensions are side, not none/],
  ] as const)
    t.regex(await refusal(merged(id, into)), expected);
  t.regex(
    await refusal(renameSeries(database, { ...how, id: 'NEW', newId: 'OLD' })),
    /^conflict: "OLD" is an id of the series that was merged into "NEW"/,
  );
  t.deepEqual(await stored(), before);
});

test.serial('a series without points can be merged, or receive the points of another', async (t) => {
  await loadCsv(
    database,
    ['series_id,name,unit,frequency,source', 'E.ONE,N,Index,daily,S', 'E.TWO,N,Index,daily,S'],
    {
      dataset: 'series',
    },
  );
  await loadCsv(database, ['series_id,date,value,side', 'E.OLD,2024-01-01,1,buy'], {
    create: true,
    set: daily,
  });
  t.like(await merged('E.ONE', 'E.OLD'), { pointsNew: 0 });
  await restored('E.ONE');
  t.like(await merged('E.OLD', 'E.TWO'), { pointsNew: 1 });
  t.deepEqual(await published(database, 'E.TWO'), { '2024-01-01 buy': '1' });
});

test.serial('a dry run counts the points that a merge would copy, and stores nothing', async (t) => {
  await loaded(['DRY.OLD,2024-01-01,1', 'DRY.NEW,2024-01-02,2']);
  const before = await stored();
  t.like(await merged('DRY.OLD', 'DRY.NEW', { dryRun: true }), { series: 'DRY.NEW', pointsNew: 1 });
  t.deepEqual(await stored(), before);
});

test.serial(
  'restoring a merged series is recorded, gives it its ids back, and does not move any points',
  async (t) => {
    await loaded(['BACK.FIRST,2024-01-01,1', 'BACK.NEW,2024-01-02,2']);
    await renameSeries(database, { ...how, id: 'BACK.FIRST', newId: 'BACK' });
    await merged('BACK', 'BACK.NEW');
    const { loadNo } = await restored('BACK');
    t.like(await seriesRow(database, 'BACK'), { deleted_on: null, data_version: loadNo });
    t.deepEqual(
      await database.query(
        `select alias, s.series_id, merged_from, merged_on, merged_by from data.series_aliases a
       join data.series s using (series_no) where alias like 'BACK%'`,
      ),
      [{ alias: 'BACK.FIRST', series_id: 'BACK', merged_from: null, merged_on: null, merged_by: null }],
    );
    t.deepEqual(
      await database.query('select action, details from data.audit_events order by event_no desc limit 1'),
      [{ action: 'series.restored', details: { deleted_on: today, merged_into: 'BACK.NEW' } }],
    );
    t.deepEqual(Object.keys(await published(database, 'BACK.NEW')), ['2024-01-01', '2024-01-02']);
    t.regex(await refusal(restored('BACK')), /^conflict: "BACK" is not deleted/);
    await loaded(['BACK,2024-01-05,5'], { vintage: today });
    t.deepEqual(Object.keys(await published(database, 'BACK')), ['2024-01-01', '2024-01-05']);
  },
);
