// Facts of many series from a file: all or none are set, by one load; one error has all faults of the file.
import { Readable } from 'node:stream';
import test from 'ava';
import type { ChangeOptions } from '../../ingest/history/series/change.ts';
import { deleteSeries } from '../../ingest/history/series/delete.ts';
import { readFactsFile } from '../../ingest/history/series/facts-file.ts';
import { renameSeries } from '../../ingest/history/series/rename.ts';
import { setManyFacts } from '../../ingest/history/series/set-many.ts';
import { Failure } from '../../kernel/errors.ts';
import { fakeClock } from '../services/harness.ts';
import { writtenEvents } from '../services/outbox.ts';
import { daily, failureOf, loadCsv, openIngestDatabase, seriesRow, today } from './loading.ts';

const database = await openIngestDatabase(test);
const how = { noGateway: true, seriesTimeZone: 'UTC', clock: fakeClock(`${today}T12:00:00Z`) };

test.before(async () => {
  const points = ['A', 'B', 'C', 'GONE', 'OLD'].map((id) => `${id},2024-01-02,1`);
  await loadCsv(database, ['series_id,date,value', ...points], { create: true, set: daily });
  const undated = ['EMPTY,Empty,Index,daily,Office'];
  await loadCsv(database, ['series_id,name,unit,frequency,source', ...undated], { dataset: 'series' });
  await loadCsv(database, ['item_id,name,unit,currency,frequency,source', 'rice,Rice,1 Kg,PKR,weekly,PBS'], {
    dataset: 'commodity-items',
  });
  await deleteSeries(database, { ...how, id: 'GONE' });
  await renameSeries(database, { ...how, id: 'OLD', newId: 'NEW' });
});

async function setFrom(lines: readonly string[], options: Partial<ChangeOptions> = {}) {
  const file = await readFactsFile(Readable.from([Buffer.from(lines.join('\n'))]));
  return setManyFacts(database, { ...how, ...options, ...file, fileName: 'facts.csv' });
}

const factsOf = async (id: string) => {
  const { name, unit, source, tags, licence } = (await seriesRow(database, id)) ?? {};
  return { name, unit, source, tags, licence };
};

/** Everything that a refused change or a dry run must not modify. */
const stored = () =>
  database.query(
    `select series_id, data_version, updated_at, xmin::text, (select count(*) from data.loads) as loads,
       (select count(*) from data.audit_events) as events, (select count(*) from events.outbox) as reported
     from data.series order by series_id`,
  );

test.serial('a filled cell sets a fact, an empty one leaves it unchanged, and - clears it', async (t) => {
  const before = await factsOf('A');
  await setFrom(['id,name,Unit,tags,licence', 'A,"Prices, all",,prices; retail,CC0', 'B,,Percent,,CC BY']);
  t.deepEqual(await factsOf('A'), {
    ...before,
    ...{ name: 'Prices, all', tags: ['prices', 'retail'], licence: 'CC0' },
  });
  t.like(await factsOf('B'), { name: 'B', unit: 'Percent', licence: 'CC BY' });
  await setFrom(['series_id;unit;tags;licence', '', 'A;-;-;-']);
  t.deepEqual(await factsOf('A'), {
    ...before,
    ...{ name: 'Prices, all', unit: null, tags: [], licence: null },
  });
});

test.serial(
  'a file is one load, reported once, and each changed series is recorded with its previous facts',
  async (t) => {
    const done = await setFrom(['id,name,licence', 'B,Second,CC0', 'C,,', 'A,"Prices, all",CC0'], {
      reason: 'licences published',
    });
    t.like(done, { unchanged: 1 });
    t.deepEqual(done.changed, [
      {
        series: 'B',
        changes: [
          { fact: 'name', from: 'B', to: 'Second' },
          { fact: 'licence', from: 'CC BY', to: 'CC0' },
        ],
      },
      { series: 'A', changes: [{ fact: 'licence', from: null, to: 'CC0' }] },
    ]);
    t.deepEqual(
      await database.query(
        'select source_name, points_revised::int, reason from data.loads where load_no = $1',
        [done.loadNo],
      ),
      [{ source_name: 'series.changed facts.csv', points_revised: 2, reason: 'licences published' }],
    );
    t.deepEqual(
      await database.query(
        'select action, subject, reason, details from data.audit_events where load_no = $1 order by event_no',
        [done.loadNo],
      ),
      done.changed.map(({ series: subject, changes }) => ({
        ...{ action: 'series.changed', subject, reason: 'licences published', details: { changes } },
      })),
    );
    const reported = (await writtenEvents(database)).filter(({ data }) => data['load'] === done.loadNo);
    t.is(reported.length, 1);
    t.like(reported[0], { type: 'dataset.updated', data: { dataset: 'series', rows_changed: 2 } });
    t.is((await seriesRow(database, 'A'))?.['data_version'], done.loadNo);
    t.not((await seriesRow(database, 'C'))?.['data_version'], done.loadNo);
  },
);

test.serial('all faults of a file are in one error, in its order, and nothing is changed', async (t) => {
  const before = await stored();
  const { code, message } = await failureOf(
    setFrom([
      'id,name,colour,decimals,frequency,unit',
      'A,Changed,red,2,,',
      'NONE,None,,,,',
      'B,-,,31,,',
      ',Nobody,,,,',
      'A,Again,,,,',
      'GONE,Gone,,,,',
      'OLD,Renamed,,,,',
      'C,,,,monthly,',
      'commodity.rice,,,,,USD',
    ]),
  );
  t.is(code, 'invalid_rows');
  const [head, ...faults] = message.split('\n').map((line) => line.trim());
  t.is(head, 'facts.csv has 10 faults; nothing was changed.');
  for (const [at, expected] of [
    /^line 1: "colour" is not a fact of a series, which has name, unit/,
    /^line 3: There is no series "NONE"\.$/,
    /^line 4: name="-": text of at most 500 characters is expected\.$/,
    /^line 4: decimals="31": a whole number from 0 to 30 is expected\.$/,
    /^line 5: The row has no id\.$/,
    /^line 6: "A" is on line 2 already\.$/,
    /^line 7: "GONE" was deleted on/,
    /^line 8: "OLD" is an earlier id of the series "NEW"/,
    /^line 9: "C" has observations, which are dated by its frequency/,
    /^line 10: "commodity\.rice" has the prices of an item, from which it gets its unit/,
  ].entries())
    t.regex(faults[at] ?? '', expected);
  t.is(faults.length, 10);
  t.deepEqual(await stored(), before);
});

test.serial('of many faults the first ten are named, and the rest are counted', async (t) => {
  const unknown = Array.from({ length: 25 }, (_, i) => `NONE.${i},N`);
  const { message } = await failureOf(setFrom(['id,name', ...unknown]));
  const lines = message.split('\n');
  t.is(lines.length, 12);
  t.regex(lines[0] ?? '', /has 25 faults/);
  t.regex(lines[10] ?? '', /line 11: There is no series "NONE\.9"/);
  t.is(lines[11], '  and 15 more');
});

test.serial('a file without a column id, with two, or without rows is refused', async (t) => {
  for (const [lines, expected] of [
    [['name,unit', 'A,B'], /has one column id.*this one has name, unit/],
    [['id,series_id,name', 'A,A,B'], /has one column id/],
    [['id,name,name', 'A,B,C'], /Two columns of the file are name/],
    [['id,name'], /no rows below its header/],
    [['id,name', ',', ' , '], /no rows below its header/],
  ] as const)
    t.regex((await failureOf(setFrom(lines))).message, expected);
});

test.serial('a dry run says what would be changed, and stores nothing', async (t) => {
  const before = await stored();
  const tried = await setFrom(['id,name', 'B,Third'], { dryRun: true });
  t.deepEqual(tried.changed, [{ series: 'B', changes: [{ fact: 'name', from: 'Second', to: 'Third' }] }]);
  t.deepEqual(await stored(), before);
});

test.serial('a file that would change nothing is refused', async (t) => {
  const before = await stored();
  const error = await t.throwsAsync(setFrom(['id,name', 'B,Second']), { instanceOf: Failure });
  t.regex(error.message, /All series of facts\.csv have these facts already/);
  t.deepEqual(await stored(), before);
});

test.serial('a file can give a series without observations another frequency', async (t) => {
  await setFrom(['id,frequency', 'EMPTY,annual']);
  t.like(await seriesRow(database, 'EMPTY'), { frequency: 'annual' });
});
