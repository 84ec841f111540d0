import test from 'ava';
import { daily, loadCsv, openIngestDatabase, published } from './loading.ts';

const database = await openIngestDatabase(test);

/** Days of January → value. */
type Points = Record<number, number | null>;
interface Step {
  /** Its day of publication in March. */
  on: number;
  states: Points;
  full?: boolean;
}

let made = 0;

/** Loads the steps in order. @returns a function that reads the values at the end of a day of March. */
async function loaded(...steps: Step[]): Promise<(day: number) => Promise<Points>> {
  const seriesId = `BACKFILL.${++made}`;
  for (const { on, states, full = false } of steps) {
    const rows = Object.entries(states).map(
      ([day, value]) => `${seriesId},2024-01-${day.padStart(2, '0')},${value ?? ''}`,
    );
    await loadCsv(database, ['series_id,date,value', ...rows], {
      create: true,
      set: daily,
      vintage: march(on),
      full,
    });
  }
  return async (day) =>
    Object.fromEntries(
      Object.entries(await published(database, seriesId, march(day))).map(([date, value]) => [
        Number(date.slice(8)),
        value === null ? null : Number(value),
      ]),
    );
}

function march(day: number): string {
  return `2024-03-${String(day).padStart(2, '0')}`;
}

test.serial('an older vintage is valid until the next one that states the point', async (t) => {
  const at = await loaded({ on: 20, states: { 1: 5 } }, { on: 10, states: { 1: 3, 2: 7 } });
  t.deepEqual(await at(9), {});
  t.deepEqual(await at(10), { 1: 3, 2: 7 });
  t.deepEqual(await at(19), { 1: 3, 2: 7 });
  t.deepEqual(await at(20), { 1: 5, 2: 7 });
});

test.serial('a vintage between two others ends values of the first, and is ended by the last', async (t) => {
  const at = await loaded(
    { on: 10, states: { 1: 1 } },
    { on: 30, states: { 1: 3 } },
    { on: 20, states: { 1: 2 } },
  );
  t.deepEqual(
    [await at(19), await at(20), await at(29), await at(30)],
    [{ 1: 1 }, { 1: 2 }, { 1: 2 }, { 1: 3 }],
  );
});

test.serial('a later vintage that has restated the old value brings it back', async (t) => {
  const at = await loaded(
    { on: 10, states: { 1: 1 } },
    { on: 30, states: { 1: 1 } },
    { on: 20, states: { 1: 2 } },
  );
  t.deepEqual(
    [await at(10), await at(20), await at(29), await at(30)],
    [{ 1: 1 }, { 1: 2 }, { 1: 2 }, { 1: 1 }],
  );
});

test.serial(
  'a correction on a past day is valid although that day had already restated the old value',
  async (t) => {
    const at = await loaded(
      { on: 10, states: { 1: 1, 2: 1 } },
      { on: 30, states: { 1: 5 } },
      { on: 20, states: { 1: 1 } },
      { on: 20, states: { 1: 2 } },
    );
    t.deepEqual(
      [await at(19), await at(20), await at(29), await at(30)],
      [
        { 1: 1, 2: 1 },
        { 1: 2, 2: 1 },
        { 1: 2, 2: 1 },
        { 1: 5, 2: 1 },
      ],
    );
  },
);

test.serial('a later vintage without the point does not end the value of an older one', async (t) => {
  const at = await loaded(
    { on: 10, states: { 1: 1, 2: 1, 3: 1 } },
    { on: 30, states: { 1: 1, 3: 1 } },
    { on: 20, states: { 1: 9, 2: 9, 3: 9 } },
  );
  t.deepEqual(await at(29), { 1: 9, 2: 9, 3: 9 });
  t.deepEqual(await at(30), { 1: 1, 2: 9, 3: 1 });
});

test.serial(
  'a point that is added by an older vintage is not ended by vintages that never stated it',
  async (t) => {
    const at = await loaded(
      { on: 5, states: { 1: 1, 3: 1 } },
      { on: 30, states: { 1: 1, 3: 1 } }, // says 1 and 3 again; 2 lies between them and was not there
      { on: 10, states: { 2: 7 } },
      { on: 20, states: { 2: 8 } },
    );
    t.deepEqual([(await at(10))[2], (await at(20))[2], (await at(30))[2]], [7, 8, 8]);
  },
);

test.serial(
  'a vintage with the same values as an older one still states those points, and no other point between them',
  async (t) => {
    const at = await loaded(
      { on: 30, states: { 1: 5, 3: 5 } },
      { on: 10, states: { 1: 5, 2: 7, 3: 5 } },
      { on: 20, states: { 1: 6, 2: 9, 3: 6 } },
    );
    t.deepEqual(
      [await at(20), await at(30)],
      [
        { 1: 6, 2: 9, 3: 6 },
        { 1: 5, 2: 9, 3: 5 },
      ],
    );
  },
);

test.serial('a later complete vintage without the point ends it', async (t) => {
  const at = await loaded({ on: 20, states: { 1: 1 }, full: true }, { on: 10, states: { 1: 1, 2: 2 } });
  t.deepEqual([await at(10), await at(19), await at(20)], [{ 1: 1, 2: 2 }, { 1: 1, 2: 2 }, { 1: 1 }]);
});

test.serial('a later complete vintage that changed nothing brings the old value back', async (t) => {
  const at = await loaded(
    { on: 10, states: { 1: 1 }, full: true },
    { on: 30, states: { 1: 1 }, full: true },
    { on: 20, states: { 1: 2, 2: 2 } },
  );
  t.deepEqual([await at(20), await at(30)], [{ 1: 2, 2: 2 }, { 1: 1 }]);
});

test.serial(
  'points that an older complete vintage omits are absent until they are stated again',
  async (t) => {
    const at = await loaded(
      { on: 10, states: { 1: 1, 2: 2, 3: 3 } },
      { on: 30, states: { 2: 2 } },
      { on: 20, states: { 1: 1 }, full: true },
    );
    t.deepEqual(await at(19), { 1: 1, 2: 2, 3: 3 });
    t.deepEqual(await at(20), { 1: 1 });
    t.deepEqual(await at(30), { 1: 1, 2: 2 });
  },
);

test.serial('an older vintage before a deletion is valid until the deletion', async (t) => {
  const at = await loaded(
    { on: 10, states: { 1: 1, 2: 2 } },
    { on: 30, states: { 1: 1 }, full: true },
    { on: 20, states: { 2: 9 } },
  );
  t.deepEqual([(await at(19))[2], (await at(20))[2], (await at(30))[2]], [2, 9, undefined]);
});

test.serial('a day shows its last load, even a day in the past', async (t) => {
  const at = await loaded(
    { on: 10, states: { 1: 1 } },
    { on: 20, states: { 1: 2 } },
    { on: 10, states: { 1: null } },
    { on: 10, states: { 1: 5 } },
  );
  t.deepEqual([await at(9), await at(10), await at(19), await at(20)], [{}, { 1: 5 }, { 1: 5 }, { 1: 2 }]);
});

test.serial(
  'a backfill does not change the newest values, their number or the day of the last update',
  async (t) => {
    await loaded({ on: 20, states: { 1: 1, 2: 2 } }, { on: 10, states: { 1: 9 } });
    const [series] = await database.query<object>(
      'select first_date, last_date, observation_count, last_updated from data.series where series_id = $1',
      [`BACKFILL.${made}`],
    );
    t.deepEqual(series, {
      first_date: '2024-01-01',
      last_date: '2024-01-02',
      observation_count: 2,
      last_updated: '2024-03-20',
    });
  },
);

test.serial('a change of only the status is a revision, live and in a backfill', async (t) => {
  const load = (day: number, status: string) =>
    loadCsv(database, ['series_id,date,value,status', `STATUS,2024-01-01,1,${status}`], {
      create: true,
      set: daily,
      vintage: march(day),
    });
  const revised = { pointsNew: 0, pointsRevised: 1, pointsUnchanged: 0 };
  await load(10, 'p');
  t.like(await load(30, 'f'), revised, 'live');
  t.like(await load(20, 'r'), revised, 'in a backfill');
  t.like(await load(30, ''), revised, 'to none');
  t.like(await load(20, 'r'), { pointsRevised: 0, pointsUnchanged: 1 });
  const rows = await database.query<object>(
    `select published_on, superseded_on, value, status
     from data.observations join data.series_dims using (line_no) join data.series using (series_no)
     where series_id = 'STATUS' and published_on < superseded_on order by published_on`,
  );
  t.deepEqual(rows, [
    { published_on: march(10), superseded_on: march(20), value: '1', status: 'p' },
    { published_on: march(20), superseded_on: march(30), value: '1', status: 'r' },
    { published_on: march(30), superseded_on: 'infinity', value: '1', status: null },
  ]);
});
