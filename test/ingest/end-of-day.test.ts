// Loads that run at midnight: the answers for a day do not change after its end.
import test from 'ava';
import type { LoadOptions } from '../../ingest/load/store/load-options.ts';
import { declareBreak } from '../../ingest/history/series/break.ts';
import { mergeSeries } from '../../ingest/history/series/merge.ts';
import { retract } from '../../ingest/history/retract/retract.ts';
import { lockLoads } from '../../ingest/load/lock/load-lock.sql.ts';
import { openDatabase, type Database } from '../../kernel/database.ts';
import { readClock } from '../../kernel/time/database-clock.sql.ts';
import { startDataService } from '../services/data-service.ts';
import { fakeClock, silentLog } from '../services/harness.ts';
import { daily, failureOf, fileOf, loadCsv } from './loading.ts';

const [yesterday, midnight] = ['2024-06-29', '2024-06-30T00:00:00Z'];
const service = await startDataService(midnight);
const database = openDatabase(service.databaseUrl, silentLog, {
  applicationName: 'test',
});
test.after.always(async () => {
  await database.close();
  await service.close();
});

const csv = (id: string, value: number) => ['series_id,date,value', `${id},2024-01-01,${value}`];
const before = { create: true, set: daily, clock: fakeClock(`${yesterday}T12:00:00Z`) };

interface Answer {
  meta: { breaks: object[] };
  data: { value: number }[];
}

/** The answer of data-api after midnight: the values, and the number of breaks. */
async function shown(id: string, vintage: string): Promise<unknown> {
  const { status, json } = await service.call(`/v1/series/${id}?vintage=${vintage}`);
  if (status !== 200) return status;
  const { data, meta } = json as Answer;
  return { values: data.map(({ value }) => value), breaks: meta.breaks.length };
}

/** A database in which each load has just begun when the clock moves to the next of the instants; at the last one, yesterday is queried. */
function lateDatabase(id: string, instants = [midnight]) {
  const clock = fakeClock('2024-06-29T23:59:00Z');
  const answers: unknown[] = [];
  const left = [...instants];
  const late: Database = {
    ...database,
    transaction: (work) =>
      database.transaction((on) =>
        work({
          client: on.client,
          async query(text, values, name) {
            const rows = await on.query(text, values, name);
            // The load has its number and therefore its day.
            const next = /insert into data\.loads/.test(text) ? left.shift() : undefined;
            if (next !== undefined) clock.set(next);
            if (next !== undefined && left.length === 0) answers.push(await shown(id, yesterday));
            return rows as never;
          },
        }),
      ),
  };
  return { late, clock, answers };
}

const cases: Record<
  string,
  (late: Database, how: Pick<LoadOptions, 'clock'>, id: string) => Promise<unknown>
> = {
  'a load': (late, how, id) => loadCsv(late, '', { input: fileOf(csv(id, 2)), ...how }),
  'a load of a new series': (late, how, id) =>
    loadCsv(late, '', { input: fileOf(csv(`${id}.NEW`, 2)), ...how }),
  'a complete load': (late, how, id) => loadCsv(late, '', { input: fileOf(csv(id, 2)), full: true, ...how }),
  'a retraction': async (late, how) => {
    const [row] = await database.query<{ load: number }>(
      "select max(load_no) as load from data.loads where dataset = 'observations'",
    );
    await retract(late, { loadNo: row?.load ?? 0, seriesTimeZone: 'UTC', noGateway: true, ...how });
  },
  'a break': (late, how, id) =>
    declareBreak(late, {
      ...{ id, from: '2024-01-01', facts: { unit: 'Other' }, seriesTimeZone: 'UTC', noGateway: true },
      ...how,
    }),
  'a merge': async (late, how, id) => {
    await loadCsv(database, csv(`${id}.OLD`, 7).with(1, `${id}.OLD,2024-01-02,7`), before);
    await mergeSeries(late, { id: `${id}.OLD`, into: id, seriesTimeZone: 'UTC', noGateway: true, ...how });
  },
};

for (const [name, work] of Object.entries(cases))
  for (const [when, instants] of Object.entries({
    'at midnight': [midnight],
    'just before midnight': ['2024-06-29T23:59:59.990Z', midnight],
  }))
    test.serial(`${name}, under way ${when}, is dated by the new day`, async (t) => {
      const id = `${name} ${when}`.replaceAll(/\W/g, '');
      await loadCsv(database, csv(id, 1), before);
      const facts = `${id}.NEW,New,Index,daily,Test`;
      await loadCsv(database, ['series_id,name,unit,frequency,source', facts], { dataset: 'series' });
      const asked = name.includes('new') ? `${id}.NEW` : id;
      const { late, clock, answers } = lateDatabase(asked, instants);
      await work(late, { clock }, id);
      t.is(answers.length, 1);
      t.deepEqual(await shown(asked, yesterday), answers[0], 'yesterday shows what it showed');
      t.notDeepEqual(await shown(asked, '2024-06-30'), answers[0], 'today shows it');
      const [last] = await database.query('select vintage from data.loads order by load_no desc limit 1');
      t.deepEqual(last, { vintage: '2024-06-30' });
    });

test.serial('a load with a given day keeps it, whenever it ends', async (t) => {
  await loadCsv(database, csv('GIVEN', 1), before);
  const { late, clock } = lateDatabase('GIVEN');
  await loadCsv(late, '', { input: fileOf(csv('GIVEN', 2)), vintage: yesterday, clock });
  t.deepEqual(await shown('GIVEN', yesterday), { values: [2], breaks: 0 });
  const file = ['series_id,date,value,vintage', `GIVEN,2024-01-01,3,${yesterday}`];
  const archive = lateDatabase('GIVEN');
  await loadCsv(archive.late, file, { clock: archive.clock });
  t.deepEqual(await shown('GIVEN', yesterday), { values: [3], breaks: 0 });
});

test.serial('a load of standard input that runs at the end of the day is refused', async (t) => {
  await loadCsv(database, csv('STREAM', 1), before);
  const { late, clock, answers } = lateDatabase('STREAM');
  const { code, message } = await failureOf(loadCsv(late, csv('STREAM', 2), { clock }));
  t.deepEqual([code, message.endsWith('Load it again, or set its day with --vintage.')], ['usage', true]);
  for (const day of [yesterday, '2024-06-30']) t.deepEqual(await shown('STREAM', day), answers[0]);
});

test.serial(
  'a load of a table at the end of the day is dated by the new day, and refused if it is standard input',
  async (t) => {
    const table = { dataset: 'trade-commodities', set: { classification: 'hs', source: 'Test' } };
    const rows = (name: string) => ['commodity_code,name', `01,${name}`];
    await loadCsv(database, rows('before'), { ...table, clock: before.clock });
    const { late, clock } = lateDatabase('NONE');
    await loadCsv(late, '', { ...table, input: fileOf(rows('after')), clock });
    const [last] = await database.query('select vintage from data.loads order by load_no desc limit 1');
    t.deepEqual(last, { vintage: '2024-06-30' }, 'a key pinned to yesterday is answered as before');
    const stream = lateDatabase('NONE');
    const { code, message } = await failureOf(
      loadCsv(stream.late, rows('never'), { ...table, clock: stream.clock }),
    );
    t.deepEqual([code, message.endsWith('Load it again.')], ['usage', true]);
  },
);

test.serial('what a load makes that waited past midnight for another load is of the new day', async (t) => {
  const clock = fakeClock('2024-06-29T23:59:59Z');
  const waiting = Promise.withResolvers<Date>();
  const done = Promise.withResolvers<void>();
  const holds = Promise.withResolvers<void>();
  const holding = database.transaction(async (on) => {
    await lockLoads(on);
    holds.resolve();
    await done.promise;
  });
  await holds.promise;
  const loading = loadCsv(database, csv('WAITED', 1), {
    ...{ create: true, set: daily, clock },
    onWaiting: () => void readClock(database).then(waiting.resolve, waiting.reject),
  });
  const midnightPassed = await waiting.promise;
  clock.set(midnight);
  done.resolve();
  await Promise.all([holding, loading]);
  const [made] = await database.query<{ at: Date }>(
    "select created_at as at from data.series where series_id = 'WAITED'",
  );
  t.true((made?.at ?? 0) > midnightPassed, 'keys pinned to yesterday do not see it');
});
