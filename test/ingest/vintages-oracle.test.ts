// Loads of random vintages in random order, compared with a model that stores every row: each field of each point, vintage and series. One load
// covers several series, so that each round trip tests several histories.
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { daily, fileOf, loadCsv, openIngestDatabase, rowCounts } from './loading.ts';
import { SeriesModel, type Counts, type Load, type State, type States } from './vintages-model.ts';

interface Wish extends Omit<Load, 'series'> {
  isFile: boolean;
  /** Whether it is in the same file as the previous wish; the file then has a column of vintages. */
  joins: boolean;
  series: {
    /** Whether it restates the state of the vintage. */
    echoes: boolean;
    /** The stated points; a series without points is not in the file. */
    states: States;
  }[];
}

const database = await openIngestDatabase(test);

const vintages = ['2024-03-01', '2024-03-02', '2024-03-03', '2024-03-04', '2024-03-05'];
const points = ['2024-01-01 buy', '2024-01-02 buy', '2024-01-04 buy', '2024-01-02 sell'];
const states: State[] = ['1|', '1|', '2|', '2|', '|', '1|p', '2|p', '|p'];
const seriesPerLoad = 8;

const anyStates: fc.Arbitrary<States> = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...points), fc.constantFrom(...states)), {
    selector: ([point]) => point,
  })
  .map((stated) => new Map(stated));

const anyLoad: fc.Arbitrary<Wish> = fc.record({
  vintage: fc.constantFrom(...vintages),
  full: fc.boolean(),
  isFile: fc.boolean(),
  joins: fc.boolean(),
  series: fc.array(fc.record({ echoes: fc.boolean(), states: anyStates }), {
    minLength: seriesPerLoad,
    maxLength: seriesPerLoad,
  }),
});

/** The content of a file, and the counts of its load. */
interface Stored {
  loads: readonly Load[];
  found: Counts;
  expected: Counts;
}

let runs = 0;

/** Groups consecutive wishes into files: each vintage occurs once per file, and all of a file are full or none is. */
function filesOf(wishes: readonly Wish[]): Wish[][] {
  const files: Wish[][] = [];
  for (const wish of wishes) {
    const file = files.at(-1);
    const fits = file?.every(({ vintage, full }) => vintage !== wish.vintage && full === wish.full);
    if (wish.joins && file !== undefined && fits === true) file.push(wish);
    else files.push([wish]);
  }
  return files;
}

/** Loads a file into the database. @param many whether its vintages are in a column. */
async function sent(loads: readonly Load[], many: boolean, isFile: boolean): Promise<Counts> {
  const [first] = loads;
  const csv = csvOf(loads, many);
  const { pointsNew, pointsRevised, pointsUnchanged, pointsDeleted } = await loadCsv(database, csv, {
    ...(isFile ? { input: fileOf(csv) } : {}),
    create: true,
    set: daily,
    ...(many || first === undefined ? {} : { vintage: first.vintage }),
    full: first?.full === true,
  });
  return { pointsNew, pointsRevised, pointsUnchanged, pointsDeleted };
}

/** The series of the database and of the model side by side, and the numbers of the loads. */
class Histories {
  readonly models = new Map<string, SeriesModel>();
  readonly prefix = `ORACLE.${++runs}`;
  #loads = 0;

  /** For a series that echoes, the stated points only determine which points it omits, unless none would remain. */
  written({ vintage, full, series: wished }: Wish): Load {
    const series = wished.map(({ echoes, states: stated }, at): [string, States] => {
      const id = `${this.prefix}.${at}`;
      const current = [...(this.models.get(id)?.at(vintage) ?? [])].map(([point, row]): [string, State] => [
        point,
        row.state,
      ]);
      const echoed = current.filter(([point]) => stated.get(point) !== '1|');
      return [id, echoes && echoed.length > 0 ? new Map(echoed) : stated];
    });
    return { vintage, full, series: new Map(series.filter(([, stated]) => stated.size > 0)) };
  }

  /** Loads the vintages of a file into the model, oldest first, and the file into the database. */
  async store(wishes: readonly Wish[]): Promise<Stored | null> {
    const expected = { pointsNew: 0, pointsRevised: 0, pointsUnchanged: 0, pointsDeleted: 0 };
    const loads: Load[] = [];
    for (const wish of wishes.toSorted((a, b) => a.vintage.localeCompare(b.vintage))) {
      const load = this.written(wish);
      if (load.series.size === 0) continue;
      loads.push(load);
      const number = this.#loads++;
      for (const [id, stated] of load.series) {
        const model = this.models.get(id) ?? new SeriesModel();
        this.models.set(id, model);
        const counts = model.load(number, load.vintage, load.full, stated);
        for (const name of Object.keys(expected) as (keyof Counts)[]) expected[name] += counts[name];
      }
    }
    if (loads.length === 0) return null;
    return { loads, expected, found: await sent(loads, wishes.length > 1, wishes[0]?.isFile === true) };
  }

  /** Every row of every series, in the database and in the model. */
  async rows(): Promise<{ found: unknown; expected: unknown }> {
    const [row] = await database.query<{ found: unknown }>(everyRow, [
      [...this.models.keys()],
      `${this.prefix}.`,
    ]);
    const expected = [...this.models].map(([id, model]) => ({
      id,
      ...model.summary(),
      rows: model.rows
        .map(({ point, published, superseded, load, endedBy, state }) =>
          [point, published, superseded, load, endedBy, state].join(),
        )
        .toSorted(),
      vintages: model.vintages.map((each) =>
        [each.published, each.complete, each.pointsNew, each.pointsRevised, each.pointsDeleted].join(),
      ),
    }));
    return { found: row?.found, expected: expected.toSorted((a, b) => (a.id < b.id ? -1 : 1)) };
  }
}

/** One result for all; a load is numbered by its position among those of the run, as only this run has written since the last one. */
const everyRow = `
  with series as (
    select * from data.series where series_id = any($1)
  ), loads as (
    select load_no, dense_rank() over (order by load_no) - 1 as number
    from data.loads where load_no >= (select min(load_no) from data.vintages join series using (series_no))
  )
  select coalesce(json_agg(json_build_object('id', series_id, 'first_date', first_date, 'last_date', last_date,
      'observation_count', observation_count, 'last_updated', last_updated,
      'data_version', (select number from loads where load_no = data_version),
      'rows', (select json_agg(concat_ws(',', concat(o.date, ' ', d.dims->>'side'), published_on, superseded_on,
            b.number, coalesce(e.number::text, ''), concat(value, '|', status))
          order by concat(o.date, ' ', d.dims->>'side', ',', published_on, ',', superseded_on, ',', b.number, ',', e.number,
            ',', value, '|', status) collate "C")
        from data.observations o join data.series_dims d using (line_no) join loads b on b.load_no = o.load_no
        left join loads e on e.load_no = o.superseded_load_no where d.series_no = series.series_no),
      'vintages', (select json_agg(concat_ws(',', published_on, complete::text, points_new, points_revised,
          points_deleted) order by published_on)
        from (select published_on, bool_or(complete) as complete, sum(points_new) as points_new,
            sum(points_revised) as points_revised, sum(points_deleted) as points_deleted
          from data.vintages where series_no = series.series_no group by published_on) days
        where complete or points_new + points_revised + points_deleted > 0)
    ) order by series_id collate "C"), '[]') as found
  from series where starts_with(series_id, $2)`;

/** The rows of a file of many vintages are by series, then by vintage, latest first. */
function csvOf(loads: readonly Load[], many: boolean): string[] {
  const rows = loads
    .toReversed()
    .flatMap(({ vintage, series }) =>
      [...series].flatMap(([id, stated]) =>
        [...stated].map(([point, state]) =>
          [id, ...point.split(' '), ...state.split('|'), ...(many ? [vintage] : [])].join(','),
        ),
      ),
    );
  const ordered = rows.toSorted((a, b) => (a.split(',', 1).join() < b.split(',', 1).join() ? -1 : 1));
  return [`series_id,date,side,value,status${many ? ',vintage' : ''}`, ...ordered];
}

/** Checks the model itself: its rows at a day must equal the folded statements up to that day. */
function checkModel(t: ExecutionContext, histories: Histories): void {
  for (const model of histories.models.values())
    for (const day of ['2024-02-29', ...vintages, '9999-12-31']) {
      const shown = [...model.at(day)].map(([point, { state }]) => [point, state]);
      t.deepEqual(shown.toSorted(), [...model.statesAt(day)].toSorted(), `at ${day}`);
    }
}

test.serial(
  'any loads of any vintages in any order result in the rows of the model, in every field',
  async (t) => {
    const property = fc.asyncProperty(
      fc.array(anyLoad, { minLength: 1, maxLength: 8, size: 'max' }),
      async (wishes) => {
        const histories = new Histories();
        let last: { loads: readonly Load[]; file: readonly Wish[] } | undefined;
        for (const file of filesOf(wishes)) {
          const stored = await histories.store(file);
          t.deepEqual(stored?.found, stored?.expected);
          if (stored !== null) last = { loads: stored.loads, file };
        }
        checkModel(t, histories);
        const { found, expected } = await histories.rows();
        t.deepEqual(found, expected);

        const stored = await rowCounts(database);
        if (last !== undefined) await sent(last.loads, last.file.length > 1, last.file[0]?.isFile !== true);
        t.deepEqual(await rowCounts(database), stored, 'the same file at once again');
      },
    );
    await fc.assert(property, {
      numRuns: Number(process.env['ORACLE_RUNS'] ?? 20),
      includeErrorInReport: true,
    });
  },
);

test.serial(
  'loading everything again in the order of the vintages changes nothing if no vintage was corrected',
  async (t) => {
    const distinctVintages = fc.uniqueArray(anyLoad, {
      minLength: 2,
      maxLength: 5,
      selector: (load) => load.vintage,
    });
    await fc.assert(
      fc.asyncProperty(distinctVintages, async (wishes) => {
        const histories = new Histories();
        const loads: Load[] = [];
        for (const wish of wishes) loads.push(...((await histories.store([wish]))?.loads ?? []));
        const stored = await rowCounts(database);
        for (const load of loads.toSorted((a, b) => a.vintage.localeCompare(b.vintage))) {
          const { pointsUnchanged, ...changed } = await sent([load], false, false);
          t.deepEqual(changed, { pointsNew: 0, pointsRevised: 0, pointsDeleted: 0 });
          t.is(
            pointsUnchanged,
            [...load.series.values()].reduce((sum, stated) => sum + stated.size, 0),
          );
        }
        t.deepEqual(await rowCounts(database), stored);
      }),
      { numRuns: 3, includeErrorInReport: true },
    );
  },
);

/** Every row of the series of a run, including confirmations; a load is identified by its vintage. */
async function storedRows(prefix: string): Promise<unknown> {
  const rows = await database.query<{ row: string }>(
    `select concat_ws(',', split_part(series_id, '.', 3), kind, x.row) as row
     from data.series, lateral (
       select 'row' as kind, concat_ws(',', d.dims->>'side', date, published_on, superseded_on, b.vintage, e.vintage, value, status) as row
       from data.observations o join data.series_dims d using (line_no) join data.loads b using (load_no)
       left join data.loads e on e.load_no = o.superseded_load_no where d.series_no = series.series_no
       union all
       select 'confirmed', concat_ws(',', dims->>'side', published_on, dates)
       from data.confirmations join data.series_dims using (line_no) where series_no = series.series_no
       union all
       select 'vintage', concat_ws(',', published_on, vintage, complete, v.points_new, v.points_revised, v.points_deleted)
       from data.vintages v join data.loads using (load_no, complete) where series_no = series.series_no
       union all
       select 'series', concat_ws(',', first_date, last_date, observation_count, last_updated, l.vintage)
       from data.loads l where l.load_no = data_version) x
     where starts_with(series_id, $1 || '.') order by 1`,
    [prefix],
  );
  return rows.map(({ row }) => row);
}

test.serial(
  'a file of many vintages results in the same rows, including confirmations, as its vintages one by one',
  async (t) => {
    const file = fc.record({
      full: fc.boolean(),
      before: fc.array(anyLoad, { maxLength: 2 }),
      vintages: fc.uniqueArray(anyLoad, {
        minLength: 2,
        maxLength: 5,
        selector: (load) => load.vintage,
        size: 'max',
      }),
    });
    await fc.assert(
      fc.asyncProperty(file, async ({ full, before, vintages: wishes }) => {
        const [together, separate] = [new Histories(), new Histories()];
        for (const histories of [together, separate])
          for (const wish of before) await histories.store([{ ...wish, vintage: '2024-02-28' }]);
        const sorted = wishes
          .map((wish) => ({ ...wish, full }))
          .toSorted((a, b) => a.vintage.localeCompare(b.vintage));
        await together.store(sorted);
        for (const wish of sorted) await separate.store([wish]);
        t.deepEqual(await storedRows(together.prefix), await storedRows(separate.prefix));
      }),
      { numRuns: Number(process.env['ORACLE_RUNS'] ?? 5), includeErrorInReport: true },
    );
  },
);

test.serial('a vintage counts as recorded only if every restated point is on record', async (t) => {
  const rows = (id: string, ...stated: string[]) => [
    'series_id,date,value,vintage',
    ...stated.map((each) => `${id},${each}`),
  ];
  const made = { create: true, set: daily };
  await loadCsv(
    database,
    rows(
      'RECORD',
      '2024-01-01,1,2024-03-01',
      '2024-01-02,1,2024-03-01',
      '2024-01-01,1,2024-03-04',
      '2024-01-02,2,2024-03-05',
    ),
    made,
  );
  // The vintage of the 4th now also states the second point, so for this point the older vintage of the 2nd is valid only until then.
  const found = await loadCsv(
    database,
    rows(
      'RECORD',
      '2024-01-01,1,2024-03-04',
      '2024-01-02,1,2024-03-04',
      '2024-01-02,7,2024-03-02',
      '2024-01-02,2,2024-03-05',
    ),
  );
  t.like(found, { pointsNew: 0, pointsRevised: 2, pointsUnchanged: 2 });
  const points = await database.query<{ row: string }>(
    `select concat_ws(' ', published_on, superseded_on, value) as row
     from data.observations join data.series_dims using (line_no) join data.series using (series_no)
     where series_id = 'RECORD' and date = '2024-01-02' order by published_on`,
  );
  t.deepEqual(
    points.map(({ row }) => row),
    [
      '2024-03-01 2024-03-02 1',
      '2024-03-02 2024-03-04 7',
      '2024-03-04 2024-03-05 1',
      '2024-03-05 infinity 2',
    ],
  );
});
