// Loads at random vintages, in random order, against a model that keeps every row: each field of each point, vintage and
// series is compared. One load covers several series, so that each round trip tests several histories.
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { daily, fileOf, loadCsv, openIngestDatabase, rowCounts } from './loading.ts';
import { SeriesModel, type Counts, type Load, type State, type States } from './vintages-model.ts';

interface Wish extends Omit<Load, 'series'> {
  isFile: boolean;
  series: {
    /** Says again what stands at the vintage. */
    echoes: boolean;
    /** The points and what is said of them; a series without points is not in the file. */
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
  .map((said) => new Map(said));

const anyLoad: fc.Arbitrary<Wish> = fc.record({
  vintage: fc.constantFrom(...vintages),
  full: fc.boolean(),
  isFile: fc.boolean(),
  series: fc.array(fc.record({ echoes: fc.boolean(), states: anyStates }), {
    minLength: seriesPerLoad,
    maxLength: seriesPerLoad,
  }),
});

let runs = 0;

/** Series of the database and of the model, side by side, and the numbers that the database gave to the loads. */
class Histories {
  readonly models = new Map<string, SeriesModel>();
  readonly #prefix = `ORACLE.${++runs}`;
  #loads = 0;

  /** A series that echoes takes of what is said only which points it leaves out, unless none would be left. */
  written({ vintage, full, series: wished }: Wish): Load {
    const series = wished.map(({ echoes, states: said }, at): [string, States] => {
      const id = `${this.#prefix}.${at}`;
      const standing = [...(this.models.get(id)?.at(vintage) ?? [])].map(([point, row]): [string, State] => [
        point,
        row.state,
      ]);
      const echoed = standing.filter(([point]) => said.get(point) !== '1|');
      return [id, echoes && echoed.length > 0 ? new Map(echoed) : said];
    });
    return { vintage, full, series: new Map(series.filter(([, said]) => said.size > 0)) };
  }

  /** Loads into both. @returns what each counted. */
  async store(load: Load, isFile: boolean): Promise<{ found: Counts; expected: Counts } | null> {
    if (load.series.size === 0) return null;
    const csv = csvOf(load);
    const { pointsNew, pointsRevised, pointsUnchanged, pointsDeleted } = await loadCsv(database, csv, {
      ...(isFile ? { input: fileOf(csv) } : {}),
      create: true,
      set: daily,
      vintage: load.vintage,
      full: load.full,
    });
    const number = this.#loads++;
    const expected = { pointsNew: 0, pointsRevised: 0, pointsUnchanged: 0, pointsDeleted: 0 };
    for (const [id, said] of load.series) {
      const model = this.models.get(id) ?? new SeriesModel();
      this.models.set(id, model);
      const counts = model.load(number, load.vintage, load.full, said);
      for (const name of Object.keys(expected) as (keyof Counts)[]) expected[name] += counts[name];
    }
    return { found: { pointsNew, pointsRevised, pointsUnchanged, pointsDeleted }, expected };
  }

  /** Every row of every series, in the database and in the model. */
  async rows(): Promise<{ found: unknown; expected: unknown }> {
    const [row] = await database.query<{ found: unknown }>(everyRow, [
      [...this.models.keys()],
      `${this.#prefix}.`,
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
        [
          each.load,
          each.published,
          each.complete,
          each.pointsNew,
          each.pointsRevised,
          each.pointsDeleted,
        ].join(),
      ),
    }));
    return { found: row?.found, expected: expected.toSorted((a, b) => (a.id < b.id ? -1 : 1)) };
  }
}

/** One answer for all; a load is numbered by its place among those of the run, which alone wrote since the last run. */
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
        from data.observations o join data.series_dims d using (series_no, dims_no) join loads b on b.load_no = o.load_no
        left join loads e on e.load_no = o.superseded_load_no where o.series_no = series.series_no),
      'vintages', (select json_agg(concat_ws(',', number, published_on, complete::text, points_new, points_revised,
          points_deleted) order by number)
        from data.vintages join loads using (load_no) where series_no = series.series_no)
    ) order by series_id collate "C"), '[]') as found
  from series where starts_with(series_id, $2)`;

function csvOf({ series }: Load): string[] {
  const rows = [...series].flatMap(([id, said]) =>
    [...said].map(([point, state]) => [id, ...point.split(' '), ...state.split('|')].join(',')),
  );
  return ['series_id,date,side,value,status', ...rows];
}

/** What the rows of the model say at a day is what was said by then: the model is right by the simplest reading. */
function checkModel(t: ExecutionContext, histories: Histories): void {
  for (const model of histories.models.values())
    for (const day of ['2024-02-29', ...vintages, '9999-12-31']) {
      const shown = [...model.at(day)].map(([point, { state }]) => [point, state]);
      t.deepEqual(shown.toSorted(), [...model.saidAt(day)].toSorted(), `at ${day}`);
    }
}

test.serial(
  'any loads at any vintages in any order leave every row, of every field, as if each had been kept whole',
  async (t) => {
    const property = fc.asyncProperty(
      fc.array(anyLoad, { minLength: 1, maxLength: 8, size: 'max' }),
      async (wishes) => {
        const histories = new Histories();
        let again: (() => Promise<unknown>) | undefined;
        for (const wish of wishes) {
          const load = histories.written(wish);
          const counts = await histories.store(load, wish.isFile);
          t.deepEqual(counts?.found, counts?.expected);
          if (counts !== null) again = () => histories.store(load, !wish.isFile);
        }
        checkModel(t, histories);
        const { found, expected } = await histories.rows();
        t.deepEqual(found, expected);

        const stored = await rowCounts(database);
        await again?.();
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
  'loading everything again in the order of the vintages changes nothing where no vintage was corrected',
  async (t) => {
    const distinctVintages = fc.uniqueArray(anyLoad, {
      minLength: 2,
      maxLength: 5,
      selector: (load) => load.vintage,
    });
    await fc.assert(
      fc.asyncProperty(distinctVintages, async (wishes) => {
        const histories = new Histories();
        const loads = wishes.map((wish) => histories.written(wish));
        for (const load of loads) await histories.store(load, false);
        const stored = await rowCounts(database);
        for (const load of loads.toSorted((a, b) => a.vintage.localeCompare(b.vintage))) {
          const counts = await histories.store(load, false);
          if (counts === null) continue;
          const { pointsUnchanged, ...changed } = counts.found;
          t.deepEqual(changed, { pointsNew: 0, pointsRevised: 0, pointsDeleted: 0 });
          t.is(
            pointsUnchanged,
            [...load.series.values()].reduce((sum, said) => sum + said.size, 0),
          );
        }
        t.deepEqual(await rowCounts(database), stored);
      }),
      { numRuns: 3, includeErrorInReport: true },
    );
  },
);
