// The events of a load, about series, datasets and releases, are written together with its changes or not at all.
import test from 'ava';
import type { EventType } from '../../kernel/events/catalogue.ts';
import { writtenEvents } from '../services/outbox.ts';
import { daily, failureOf, fileOf, loadCsv, openIngestDatabase, published, today } from './loading.ts';

const database = await openIngestDatabase(test);
const creating = { create: true, set: daily };

interface Reported {
  type: EventType;
  [field: string]: unknown;
}

/** The events written by the work: their types and data, without the number and the instant of the load. */
async function eventsOf(work: () => Promise<unknown>): Promise<Reported[]> {
  await database.query('delete from events.outbox');
  await work();
  const events = await writtenEvents(database);
  return events.map(({ type, data }) => {
    const own = Object.entries(data).filter(([field]) => field !== 'load' && field !== 'published_at');
    return { type, ...Object.fromEntries(own) };
  });
}

const load = (lines: readonly string[], options: Parameters<typeof loadCsv>[2] = {}) =>
  eventsOf(() => loadCsv(database, lines, options));

/** Two series, stored. */
async function stored(a: string, b: string): Promise<void> {
  await loadCsv(
    database,
    ['series_id,date,value', `${a},2024-01-01,1`, `${a},2024-01-02,2`, `${b},2024-01-01,1`],
    { ...creating, vintage: '2024-02-01' },
  );
}

test.serial('ids of events are random in all 20 characters, each of 32', async (t) => {
  const rows = await database.query<{ id: string }>(
    'select events.new_id() as id from generate_series(1, 1000)',
  );
  const ids = rows.map(({ id }) => id);
  t.is(new Set(ids).size, 1000);
  for (let place = 4; place < 24; place += 1) {
    const digits = [...new Set(ids.map((id) => id[place]))].toSorted();
    t.is(digits.join(''), '234567abcdefghijklmnopqrstuvwxyz', `place ${place}`);
  }
});

test.serial(
  'a load reports the series that it changed, and separately those whose published points it changed',
  async (t) => {
    const rows = ['series_id,date,value', 'ONE.B,2024-01-01,1', 'ONE.A,2024-01-01,1', 'ONE.A,2024-01-02,2'];
    const ids = (...series: string[]) => ({ vintage: '2024-02-01', series });
    const vintage = { vintage: '2024-02-01' };
    t.deepEqual(await load(rows, { ...creating, ...vintage }), [
      { type: 'series.updated', ...ids('ONE.A', 'ONE.B') },
    ]);
    t.deepEqual(await load(rows, vintage), [], 'the same again changes nothing');
    t.deepEqual(
      await load(
        ['series_id,date,value', 'ONE.B,2024-01-01,1', 'ONE.B,2024-01-03,3', 'ONE.A,2024-01-02,2.5'],
        { vintage: '2024-03-01' },
      ),
      [
        { type: 'series.updated', vintage: '2024-03-01', series: ['ONE.A', 'ONE.B'] },
        { type: 'series.revised', vintage: '2024-03-01', series: ['ONE.A'] },
      ],
    );
  },
);

test.serial(
  'a point that a complete file omits is reported as revised, and so is a correction within a day',
  async (t) => {
    await stored('FULL.A', 'FULL.B');
    const both = (series: string[], vintage: string) => [
      { type: 'series.updated' as const, vintage, series },
      { type: 'series.revised' as const, vintage, series },
    ];
    t.deepEqual(
      await load(['series_id,date,value', 'FULL.A,2024-01-01,1', 'FULL.B,2024-01-01,1'], {
        full: true,
        vintage: '2024-03-01',
      }),
      both(['FULL.A'], '2024-03-01'),
    );
    // Within its day a load may restore the earlier value: the vintage then has no change, but the value that readers see has.
    t.deepEqual(
      await load(['series_id,date,value', 'FULL.B,2024-01-01,7'], { vintage: '2024-03-02' }),
      both(['FULL.B'], '2024-03-02'),
    );
    t.deepEqual(
      await load(['series_id,date,value', 'FULL.B,2024-01-01,1'], { vintage: '2024-03-02' }),
      both(['FULL.B'], '2024-03-02'),
    );
  },
);

test.serial(
  'a wide file, and a file whose points go straight into their table, report the same',
  async (t) => {
    t.deepEqual(await load(['date,WIDE.B,WIDE.A,WIDE.C', '2024-01-01,1,2,'], { ...creating, wide: true }), [
      { type: 'series.updated', vintage: today, series: ['WIDE.A', 'WIDE.B'] },
    ]);
    const input = fileOf(['series_id,date,value', 'STRAIGHT,2024-01-01,1', 'STRAIGHT,2024-01-02,2']);
    t.deepEqual(await load([], { ...creating, input }), [
      { type: 'series.updated', vintage: today, series: ['STRAIGHT'] },
    ]);
  },
);

test.serial('a vintage loaded after a newer one is reported with its own day', async (t) => {
  await stored('BACK.A', 'BACK.B');
  t.deepEqual(
    await load(['series_id,date,value', 'BACK.A,2023-12-31,9', 'BACK.B,2024-01-01,8'], {
      vintage: '2024-01-15',
    }),
    [{ type: 'series.updated', vintage: '2024-01-15', series: ['BACK.A', 'BACK.B'] }],
  );
});

test.serial(
  'a file of many vintages reports each series once, with the newest vintage that changed it',
  async (t) => {
    const rows = ['series_id,date,value,vintage'];
    for (let day = 1; day <= 20; day += 1)
      for (const id of ['MANY.A', 'MANY.B'])
        rows.push(
          `${id},2024-01-01,${Math.min(day, id === 'MANY.A' ? 20 : 12)},2024-02-${String(day).padStart(2, '0')}`,
        );
    rows.push('MANY.C,2024-01-01,1,2024-02-01');
    t.deepEqual(await load(rows, creating), [
      { type: 'series.updated', vintage: '2024-02-01', series: ['MANY.C'] },
      { type: 'series.updated', vintage: '2024-02-12', series: ['MANY.B'] },
      { type: 'series.updated', vintage: '2024-02-20', series: ['MANY.A'] },
      { type: 'series.revised', vintage: '2024-02-12', series: ['MANY.B'] },
      { type: 'series.revised', vintage: '2024-02-20', series: ['MANY.A'] },
    ]);
    t.deepEqual(await load(rows), [], 'the same file again');
    // Vintages between stored ones are stored in another way than those after them; one file may need both.
    t.deepEqual(
      await load([
        'series_id,date,value,vintage',
        'MANY.A,2024-01-02,1,2024-02-05',
        'MANY.A,2024-01-02,2,2024-02-07',
        'MANY.C,2024-01-01,3,2024-02-02',
        'MANY.C,2024-01-01,4,2024-02-03',
      ]),
      [
        { type: 'series.updated', vintage: '2024-02-03', series: ['MANY.C'] },
        { type: 'series.updated', vintage: '2024-02-07', series: ['MANY.A'] },
        { type: 'series.revised', vintage: '2024-02-03', series: ['MANY.C'] },
        { type: 'series.revised', vintage: '2024-02-07', series: ['MANY.A'] },
      ],
    );
  },
);

test.serial(
  '1,001 series are reported in five events of at most 250, each series in one of them',
  async (t) => {
    const ids = Array.from({ length: 1001 }, (_, i) => `BIG.${String(i).padStart(4, '0')}`);
    const events = await load(
      ['series_id,date,value', ...ids.map((id) => `${id},2024-01-01,1`).toReversed()],
      creating,
    );
    t.deepEqual(
      events.map(({ series }) => (series as string[]).length),
      [250, 250, 250, 250, 1],
    );
    t.deepEqual(
      events.flatMap(({ series }) => series),
      ids,
    );
    const rows = await database.query<{ id: string }>('select id from events.outbox');
    t.is(new Set(rows.map(({ id }) => id)).size, 5);
  },
);

test.serial('a dry run, a refused file and a load that cannot be committed report nothing', async (t) => {
  await stored('NOT.A', 'NOT.B');
  const change = ['series_id,date,value', 'NOT.A,2024-01-01,5'];
  t.deepEqual(await load(change, { dryRun: true }), []);
  t.deepEqual(await eventsOf(() => failureOf(loadCsv(database, [...change, 'NOT.A,2024-01-02,x']))), []);
  await database.query(`create function data.refuse() returns trigger language plpgsql as
    $$ begin raise 'not committed'; end $$`);
  await database.query(`create constraint trigger refuse after update on data.loads
    deferrable initially deferred for each row execute function data.refuse()`);
  const late = () => t.throwsAsync(loadCsv(database, change), { message: 'not committed' });
  t.deepEqual(await eventsOf(late), []);
  await database.query('drop function data.refuse cascade');
  t.deepEqual(await load(change), [
    { type: 'series.updated', vintage: today, series: ['NOT.A'] },
    { type: 'series.revised', vintage: today, series: ['NOT.A'] },
  ]);
});

test.serial('a load whose events cannot be written stores nothing', async (t) => {
  await stored('TIED.A', 'TIED.B');
  await database.query('alter table events.outbox add constraint full_disk check (at is null) not valid');
  const change = loadCsv(database, ['series_id,date,value', 'TIED.A,2024-01-01,5']);
  await t.throwsAsync(change, { message: /full_disk/ });
  const table = loadCsv(database, ['series_id,name', 'TIED.A,Other'], { dataset: 'series' });
  await t.throwsAsync(table, { message: /full_disk/ });
  await database.query('alter table events.outbox drop constraint full_disk');
  t.is((await published(database, 'TIED.A'))['2024-01-01'], '1');
  const [row] = await database.query<{ name: string }>(
    `select name from data.series where series_id = 'TIED.A'`,
  );
  t.is(row?.name, 'TIED.A');
});

test.serial(
  'a load into a table reports the number of changed rows, and nothing if it changed none',
  async (t) => {
    const header = 'series_id,name,unit,frequency,source';
    const first = [header, 'META.A,A,Index,daily,Test', 'META.B,B,Index,daily,Test'];
    const series = { dataset: 'series' };
    const reported = (counts: number[]) => [
      {
        ...{ type: 'dataset.updated' as const, dataset: 'series' },
        ...{ rows_new: counts[0], rows_changed: counts[1], rows_deleted: counts[2] },
      },
    ];
    t.deepEqual(await load(first, series), reported([2, 0, 0]));
    t.deepEqual(await load(first, series), []);
    t.deepEqual(
      await load([header, 'META.A,A2,Index,daily,Test', 'META.C,C,Index,daily,Test'], series),
      reported([1, 1, 0]),
    );
    t.deepEqual(await load([header, 'META.A,A3,Index,daily,Test'], { ...series, dryRun: true }), []);
  },
);

test.serial('rows that a complete file omits are reported as deleted', async (t) => {
  const fund = ['fund_id,name,currency,source', 'fund,Fund,USD,Register'];
  await loadCsv(database, fund, { dataset: 'funds' });
  const lines = (...names: string[]) => [
    'fund,as_of,section,rank,name',
    ...names.map((name, at) => `fund,2024-05-31,holding,${at + 1},${name}`),
  ];
  const portfolio = { dataset: 'portfolio' };
  await loadCsv(database, lines('Bank', 'Bill'), portfolio);
  t.like((await load(lines('Bond'), portfolio))[0], {
    ...{ dataset: 'portfolio', rows_new: 0, rows_changed: 1, rows_deleted: 1 },
  });
});

test.serial(
  'funds whose fiscal year changes are reported as updated, although no file contains them',
  async (t) => {
    await loadCsv(database, ['fund_id,name,currency,source', 'turned,T,USD,Register'], { dataset: 'funds' });
    const rows = ['fund,date,nav', 'turned,2024-01-01,1'];
    await loadCsv(database, rows, { dataset: 'nav' });
    const nav = { dataset: 'nav', fiscalYearFirstMonth: 1 };
    const counts = { rows_new: 0, rows_changed: 1, rows_deleted: 0 };
    t.deepEqual(await load(rows, nav), [{ type: 'dataset.updated', dataset: 'funds', ...counts }]);
    t.deepEqual(await load(rows, nav), []);
  },
);

test.serial('prices are reported as series and as a dataset', async (t) => {
  const set = { unit: 'Kg', currency: 'USD', frequency: 'daily', source: 'Office' };
  const prices = { dataset: 'commodity-prices' };
  const rows = ['item,city,date,price', 'Rice,Lahore,2024-01-01,1', 'Rice,Lahore,2024-01-02,2'];
  const reported = (revised: boolean, [rows_new, rows_changed]: [number, number]) => {
    const series = { vintage: today, series: ['commodity.rice'] };
    return [
      { type: 'series.updated' as const, ...series },
      ...(revised ? [{ type: 'series.revised' as const, ...series }] : []),
      {
        type: 'dataset.updated' as const,
        dataset: 'commodity-prices',
        rows_new,
        rows_changed,
        rows_deleted: 0,
      },
    ];
  };
  t.deepEqual(await load(rows, { ...prices, create: true, set }), reported(false, [2, 0]));
  t.deepEqual(await load(rows, prices), []);
  t.deepEqual(
    await load(['item,city,date,price', 'Rice,Lahore,2024-01-02,3'], prices),
    reported(true, [0, 1]),
  );
});

test.serial(
  'an event of a load has its number, and the instant at which the load was published',
  async (t) => {
    await database.query('delete from events.outbox');
    await loadCsv(database, ['series_id,date,value', 'SAID,2024-01-01,1'], creating);
    const [event] = await writtenEvents(database);
    const [row] = await database.query<{ load_no: number }>('select max(load_no) as load_no from data.loads');
    t.like(event, {
      accountId: null,
      data: { load: row?.load_no, published_at: `${today}T12:00:00Z`, vintage: today, series: ['SAID'] },
    });
    t.is(event?.at.toISOString(), `${today}T12:00:00.000Z`);
  },
);
