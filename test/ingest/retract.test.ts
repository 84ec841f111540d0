// Individual retractions: refusals and their reasons, records, reports, and cases that random histories rarely reach.
import test from 'ava';
import { retract, type RetractOptions, type Retraction } from '../../ingest/history/retract/retract.ts';
import { Failure } from '../../kernel/errors.ts';
import { fakeClock } from '../services/harness.ts';
import { writtenEvents } from '../services/outbox.ts';
import { daily, loadCsv, openIngestDatabase, published, rowCounts, seriesRow, today } from './loading.ts';

const database = await openIngestDatabase(test);
const yesterday = '2024-06-29';

/** Loads points of one series, `date value` each. @returns the number of the load. */
async function loaded(
  id: string,
  points: readonly string[],
  options: Parameters<typeof loadCsv>[2] = {},
): Promise<number> {
  const rows = points.map((point) => [id, ...point.split(' ')].join(','));
  await loadCsv(database, ['series_id,date,value', ...rows], { create: true, set: daily, ...options });
  return newest();
}

async function newest(): Promise<number> {
  const [row] = await database.query<{ load: number }>('select max(load_no) as load from data.loads');
  return row?.load ?? 0;
}

const retracted = (loadNo: number, options: Partial<RetractOptions> = {}): Promise<Retraction> =>
  retract(database, {
    ...{ loadNo, seriesTimeZone: 'UTC', clock: fakeClock(`${today}T12:00:00Z`), noGateway: true },
    ...options,
  });

/** The refusal of a retraction. */
async function refusal(loadNo: number, options: Partial<RetractOptions> = {}): Promise<string> {
  try {
    await retracted(loadNo, options);
  } catch (error) {
    if (error instanceof Failure) return `${error.code}: ${error.message}`;
    throw error;
  }
  throw new Error('the retraction should have been refused');
}

// For the first three: once a load of the series is inactive, an older vintage is folded again, which would hide a wrong end of its values.
test.serial(
  'a load that restated the changes of an erased load still ends values of an older vintage',
  async (t) => {
    await loaded('STATED', ['2024-01-01 1'], { vintage: '2024-02-01' });
    const wrong = await loaded('STATED', ['2024-01-01 2'], { vintage: '2024-03-01' });
    await loaded('STATED', ['2024-01-01 1'], { vintage: '2024-04-01' });
    await retracted(wrong, { erase: true });
    await loaded('STATED', ['2024-01-01 7'], { vintage: '2024-03-01' });
    t.deepEqual(await published(database, 'STATED', '2024-03-31'), { '2024-01-01': '7' });
    t.deepEqual(await published(database, 'STATED'), { '2024-01-01': '1' });
  },
);

test.serial('a retraction that was itself retracted on its day does not end an older vintage', async (t) => {
  await loaded('TAKEN.BACK', ['2024-01-01 1'], { vintage: '2024-02-01' });
  const right = await loaded('TAKEN.BACK', ['2024-01-01 2'], { vintage: '2024-03-01' });
  const { loadNo } = await retracted(right);
  await retracted(loadNo);
  await loaded('TAKEN.BACK', ['2024-01-01 7'], { vintage: '2024-04-01' });
  t.deepEqual(await published(database, 'TAKEN.BACK', yesterday), { '2024-01-01': '7' });
  t.deepEqual(await published(database, 'TAKEN.BACK'), { '2024-01-01': '7' });
});

test.serial(
  'a value that was only moved to a day does not end an older vintage there, once the day’s loads are erased',
  async (t) => {
    await loaded('MOVED.ONLY', ['2024-01-01 1'], { vintage: '2024-02-01' });
    const same = await loaded('MOVED.ONLY', ['2024-01-01 1'], { vintage: '2024-04-01' });
    await loaded('MOVED.ONLY', ['2024-01-01 2'], { vintage: '2024-03-01' });
    const other = await loaded('MOVED.ONLY', ['2024-01-01 5'], { vintage: '2024-04-01' });
    for (const loadNo of [same, other]) await retracted(loadNo, { erase: true });
    t.deepEqual(await published(database, 'MOVED.ONLY'), { '2024-01-01': '2' });
    await loaded('MOVED.ONLY', ['2024-01-01 7'], { vintage: '2024-03-15' });
    t.deepEqual(await published(database, 'MOVED.ONLY'), { '2024-01-01': '7' });
  },
);

test.serial(
  'a retraction does not affect earlier vintages, and today’s data is as before the retracted load',
  async (t) => {
    await loaded('PLAIN', ['2024-01-01 1', '2024-01-02 1'], { vintage: '2024-02-01' });
    const wrong = await loaded('PLAIN', ['2024-01-02 9', '2024-01-03 9'], { vintage: '2024-03-01' });
    const { loadNo, interruptions: _, ...result } = await retracted(wrong);
    t.deepEqual(result, {
      ...{ dataset: 'observations', loads: [wrong], effect: 'out_of_force', since: today },
      ...{ pointsNew: 0, pointsRevised: 1, pointsDeleted: 1, pointsUnchanged: 0 },
    });
    t.is(loadNo, await newest());
    t.deepEqual(await published(database, 'PLAIN', yesterday), {
      '2024-01-01': '1',
      '2024-01-02': '9',
      '2024-01-03': '9',
    });
    t.deepEqual(await published(database, 'PLAIN'), { '2024-01-01': '1', '2024-01-02': '1' });
    t.like(await seriesRow(database, 'PLAIN'), {
      ...{ observation_count: 2, last_date: '2024-01-02', last_updated: today, data_version: loadNo },
    });
  },
);

test.serial('an erased load is in no vintage, and its file can be loaded again', async (t) => {
  await loaded('ERASED', ['2024-01-01 1'], { vintage: '2024-02-01' });
  const wrong = await loaded('ERASED', ['2024-01-01 9', '2024-01-02 9'], { vintage: '2024-03-01' });
  t.like(await retracted(wrong, { erase: true }), {
    effect: 'erased',
    since: '2024-03-01',
    pointsRevised: 1,
    pointsDeleted: 1,
  });
  t.deepEqual(await published(database, 'ERASED', '2024-03-01'), { '2024-01-01': '1' });
  t.like(await seriesRow(database, 'ERASED'), { last_updated: '2024-02-01', observation_count: 1 });
  await loaded('ERASED', ['2024-01-01 9', '2024-01-02 9'], { vintage: '2024-03-01' });
  t.deepEqual(await published(database, 'ERASED', '2024-03-01'), { '2024-01-01': '9', '2024-01-02': '9' });
});

test.serial('a retraction can be retracted: the load is active again', async (t) => {
  await loaded('AGAIN', ['2024-01-01 1'], { vintage: '2024-02-01' });
  const wrong = await loaded('AGAIN', ['2024-01-01 9'], { vintage: '2024-03-01' });
  const first = await retracted(wrong);
  t.like(await retracted(first.loadNo), { effect: 'in_force', loads: [wrong], pointsRevised: 1 });
  t.deepEqual(await published(database, 'AGAIN'), { '2024-01-01': '9' });
});

test.serial('retracting any load of a file of many vintages retracts the whole file', async (t) => {
  const rows = [
    'MANY,2024-01-01,1,2024-02-01',
    'MANY,2024-01-01,2,2024-03-01',
    'MANY,2024-01-02,3,2024-04-01',
  ];
  await loadCsv(database, ['series_id,date,value,vintage', ...rows], { create: true, set: daily });
  const last = await newest();
  t.deepEqual((await retracted(last - 1)).loads, [last - 2, last - 1, last]);
  t.deepEqual(await published(database, 'MANY'), {});
  t.deepEqual(await published(database, 'MANY', '2024-03-01'), { '2024-01-01': '2' });
});

test.serial(
  'the statements of a load on the day of its retraction are known, although an older vintage then changed that day',
  async (t) => {
    await loaded('KEPT', ['2024-01-01 1'], { vintage: '2024-02-01' });
    const same = await loaded('KEPT', ['2024-01-01 1']);
    const { loadNo } = await retracted(same);
    await loaded('KEPT', ['2024-01-01 9'], { vintage: '2024-03-01' });
    t.deepEqual(
      await published(database, 'KEPT'),
      { '2024-01-01': '9' },
      'no active load restates the older value',
    );
    await retracted(loadNo);
    t.deepEqual(
      await published(database, 'KEPT'),
      { '2024-01-01': '1' },
      'the load that does is active again',
    );
  },
);

test.serial(
  'a load that restates the points around a point states nothing about that point, at any time',
  async (t) => {
    await loaded('BESIDE', ['2024-01-01 1', '2024-01-04 1'], { vintage: '2024-02-01' });
    await loaded('BESIDE', ['2024-01-01 1', '2024-01-04 1']);
    const between = await loaded('BESIDE', ['2024-01-02 5']);
    await retracted(between);
    t.deepEqual(await published(database, 'BESIDE'), { '2024-01-01': '1', '2024-01-04': '1' });

    const first = await loaded('BACK', ['2024-01-02 5'], { vintage: '2024-01-31' });
    const edges = ['2024-01-01 1', '2024-01-04 1'];
    const complete = await loaded('BACK', edges, { vintage: '2024-02-01', full: true });
    await loaded('BACK', edges, { vintage: '2024-03-01' });
    await retracted(complete, { erase: true });
    t.deepEqual(Object.keys(await published(database, 'BACK')), ['2024-01-01', '2024-01-02', '2024-01-04']);
    await retracted(first, { erase: true });
    t.deepEqual(Object.keys(await published(database, 'BACK')), ['2024-01-01', '2024-01-04']);
  },
);

test.serial(
  'a value that an older vintage only moved to a later day is not a statement of that vintage',
  async (t) => {
    const first = await loaded('MOVED', ['2024-01-01 1'], { vintage: '2024-02-01' });
    const last = await loaded('MOVED', ['2024-01-01 1'], { vintage: '2024-04-01' });
    await loaded('MOVED', ['2024-01-01 2'], { vintage: '2024-03-01' });
    await retracted(first, { erase: true });
    t.deepEqual(await published(database, 'MOVED'), { '2024-01-01': '1' });
    await retracted(last, { erase: true });
    t.deepEqual(await published(database, 'MOVED'), { '2024-01-01': '2' });
  },
);

test.serial(
  'a file of many vintages, one of them below a retraction and one between it and its end, is folded in order',
  async (t) => {
    const on = (day: string) => ({ clock: fakeClock(`${day}T12:00:00Z`) });
    const one = (value: number, vintage: string) => loaded('FOLDED', [`2024-01-01 ${value}`], { vintage });
    await one(1, '2024-03-01');
    const same = await one(1, '2024-03-03');
    // Neither has an effect, as the first load states the same.
    const { loadNo } = await retracted(same, on('2024-03-04'));
    await retracted(loadNo, on('2024-03-06'));
    await loadCsv(database, [
      'series_id,date,value,vintage',
      ...['FOLDED,2024-01-01,9,2024-03-02', 'FOLDED,2024-01-01,7,2024-03-05'],
    ]);
    const shown: unknown[] = [];
    for (const day of ['01', '02', '03', '04', '05', '06'])
      shown.push((await published(database, 'FOLDED', `2024-03-${day}`))['2024-01-01']);
    t.deepEqual(shown, ['1', '9', '1', '9', '7', '7']);
  },
);

test.serial(
  'a point omitted by a complete load returns with the retraction of that load, even if only a corrected load still states it',
  async (t) => {
    for (const erase of [false, true]) {
      const id = `LEFT.OUT.${erase ? 'ERASED' : 'RETRACTED'}`;
      const first = await loaded(id, ['2024-01-02 2'], { vintage: '2024-03-01' });
      await loaded(id, ['2024-01-02 2'], { vintage: '2024-04-01' });
      const complete = await loaded(id, ['2024-01-01 1'], { vintage: '2024-04-01', full: true });
      await retracted(first, { erase: true });
      t.deepEqual(await published(database, id), { '2024-01-01': '1' });
      await retracted(complete, { erase });
      t.deepEqual(await published(database, id), { '2024-01-02': '2' });
    }
  },
);

/** Loads a file of two vintages. @returns the number of the first. */
async function loadedTwo(id: string, [first, second]: readonly [string, string]): Promise<number> {
  const rows = [first, second].map((row) => `${id},${row.replaceAll(' ', ',')}`);
  await loadCsv(database, ['series_id,date,value,vintage', ...rows], { create: true, set: daily });
  return (await newest()) - 1;
}

test.serial(
  'a vintage remains with the file that repeated it after the loads that introduced it are erased',
  async (t) => {
    const one = (id: string, point: string, vintage: string) => loaded(id, [point], { vintage });
    const after = ['2024-01-04 4 2024-05-01'] as const;

    const erasedLoad = await one('RECORD.ERASED', '2024-01-01 1', '2024-03-01');
    await retracted(erasedLoad);
    await retracted(erasedLoad, { erase: true });
    const erased = await one('RECORD.ERASED', '2024-01-02 2', '2024-03-01');
    await loadedTwo('RECORD.ERASED', ['2024-01-02 2 2024-03-01', ...after]);
    await retracted(erased, { erase: true });
    t.deepEqual(await published(database, 'RECORD.ERASED'), { '2024-01-02': '2', '2024-01-04': '4' });

    const corrected = await one('RECORD.CORRECTED', '2024-01-02 2', '2024-03-01');
    await retracted(await one('RECORD.CORRECTED', '2024-01-02 3', '2024-03-01'), { erase: true });
    await loadedTwo('RECORD.CORRECTED', ['2024-01-02 2 2024-03-01', ...after]);
    await retracted(corrected, { erase: true });
    t.deepEqual(await published(database, 'RECORD.CORRECTED'), { '2024-01-02': '2', '2024-01-04': '4' });

    await one('RECORD.OLDER', '2024-01-01 1', '2024-02-01');
    const same = await one('RECORD.OLDER', '2024-01-01 1', '2024-03-10');
    await retracted(same, { clock: fakeClock('2024-04-01T12:00:00Z') });
    const older = await one('RECORD.OLDER', '2024-01-01 9', '2024-03-05');
    const ofDay = await one('RECORD.OLDER', '2024-01-02 2', '2024-04-01');
    await retracted(older);
    await loadedTwo('RECORD.OLDER', ['2024-01-02 2 2024-04-01', ...after]);
    await retracted(ofDay, { erase: true });
    t.deepEqual(await published(database, 'RECORD.OLDER'), {
      ...{ '2024-01-01': '1', '2024-01-02': '2', '2024-01-04': '4' },
    });
  },
);

test.serial(
  'a load that is unknown, retracted, erased or in the future is refused, each with its reason',
  async (t) => {
    t.is(await refusal(99_999), 'not_found: There is no load 99999.');
    await loaded('REFUSED', ['2024-01-01 1'], { vintage: '2024-02-01' });
    const wrong = await loaded('REFUSED', ['2024-01-01 9']);
    const before = { clock: fakeClock('2024-06-01T12:00:00Z') };
    t.regex(await refusal(wrong, before), /vintage 2024-06-30, which is after today, 2024-06-01/);
    const first = await retracted(wrong);
    t.regex(await refusal(wrong), new RegExp(`already retracted, by load ${first.loadNo}\\.`));
    t.regex(await refusal(first.loadNo, { erase: true }), /has no points of its own to erase/);
    const second = await retracted(first.loadNo);
    t.regex(await refusal(first.loadNo), new RegExp(`no longer current: load ${second.loadNo} came after`));
    const third = await retracted(wrong, { erase: true });
    const erased = [
      [wrong, `load ${third.loadNo} has erased it`],
      [first.loadNo, `load ${third.loadNo} has erased load ${wrong}`],
      [third.loadNo, `it has erased load ${wrong}`],
    ] as const;
    for (const [loadNo, why] of erased)
      t.is(
        await refusal(loadNo),
        `conflict: Load ${loadNo} cannot be retracted: ${why}. Load the file again.`,
      );
  },
);

test.serial(
  'a load of a version that did not store repetitions is refused if another load of its day repeated points',
  async (t) => {
    const first = await loaded('OLD', ['2020-01-01 1'], { vintage: '2020-02-01' });
    const other = await loaded('OLD', ['2020-01-01 1'], { vintage: '2020-02-01' });
    await database.query('update data.loads set keeps_statements = false where load_no = any($1)', [
      [first, other],
    ]);
    t.regex(await refusal(first), new RegExp(`Other loads of its vintage \\(${other}\\) repeated some`));
    const alone = await loaded('OLD', ['2020-01-01 2'], { vintage: '2020-03-01' });
    await database.query('update data.loads set keeps_statements = false where load_no = $1', [alone]);
    await retracted(alone);
    t.deepEqual(await published(database, 'OLD'), { '2020-01-01': '1' });
  },
);

test.serial('a dry run reports what would happen and stores nothing', async (t) => {
  const wrong = await loaded('DRY', ['2024-01-01 1'], { vintage: '2024-02-01' });
  const before = [await rowCounts(database), await newest()];
  for (const erase of [false, true])
    t.like(await retracted(wrong, { dryRun: true, erase }), { pointsDeleted: 1, loads: [wrong] });
  t.deepEqual([await rowCounts(database), await newest()], before);
});

test.serial(
  'a retraction reports the series that it changed, publishes no release, and is audited',
  async (t) => {
    await loaded('TOLD', ['2024-01-01 1'], { vintage: '2024-02-01' });
    const wrong = await loaded('TOLD', ['2024-01-01 9'], { vintage: '2024-06-30' });
    await database.query(
      `insert into data.releases (release_id, title, source, release_at, time_zone, series_ids)
     values ('reported', 'Reported', 'Test', '2024-06-30T10:00:00Z', 'UTC', '{TOLD}')`,
    );
    await database.query('delete from events.outbox');
    const { loadNo } = await retracted(wrong, { reason: 'a wrong unit' });
    const reported = (await writtenEvents(database)).map(({ type, data }) => [
      type,
      data['load'],
      data['series'],
    ]);
    t.deepEqual(reported, [
      ['series.updated', loadNo, ['TOLD']],
      ['series.revised', loadNo, ['TOLD']],
    ]);
    const [audited] = await database.query('select * from data.audit_events where load_no = $1', [loadNo]);
    t.like(audited, {
      ...{ action: 'load.retracted', subject: String(wrong), reason: 'a wrong unit' },
      details: { loads: [wrong], effect: 'out_of_force' },
    });
  },
);
