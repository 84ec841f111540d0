// Loads and retractions at random, against a model that keeps every statement of every load: what each day shows of each series, what
// each vintage changed, and the facts of the series are compared after each step.
import test from 'ava';
import fc from 'fast-check';
import { retract } from '../../ingest/undo/retract.ts';
import { addDays } from '../../kernel/dates.ts';
import { Failure } from '../../kernel/errors.ts';
import { fakeClock } from '../services/harness.ts';
import { daily, loadCsv, openIngestDatabase } from './loading.ts';
import { UndoModel, type ModelLoad } from './undo-model.ts';
import type { State, States } from './vintages-model.ts';

const database = await openIngestDatabase(test);

const firstDay = '2024-03-01';
/** The day of the first step; each step is of the same day or the next. */
const startDay = '2024-03-04';
const points = ['2024-01-01 buy', '2024-01-02 buy', '2024-01-04 buy', '2024-01-02 sell'];
const states: State[] = ['1|', '1|', '2|', '2|', '|', '1|p'];
const seriesPerLoad = 8;

const anyStates: fc.Arbitrary<States> = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...points), fc.constantFrom(...states)), {
    selector: ([point]) => point,
  })
  .map((said) => new Map(said));

const anySeries = fc.array(fc.record({ echoes: fc.boolean(), states: anyStates }), {
  minLength: seriesPerLoad,
  maxLength: seriesPerLoad,
});

/** Loads of one day are what is difficult. */
const anyAge = fc.oneof(fc.constant(0), fc.nat(4));

const anyLoad = fc.record({
  kind: fc.constant('load' as const),
  nextDay: fc.boolean(),
  full: fc.boolean(),
  /** Each with how many days before today it was published. A file of several has a column for them. */
  vintages: fc.oneof(
    { weight: 4, arbitrary: fc.array(fc.tuple(anyAge, anySeries), { minLength: 1, maxLength: 1 }) },
    {
      weight: 1,
      arbitrary: fc.uniqueArray(fc.tuple(fc.nat(4), anySeries), {
        minLength: 2,
        maxLength: 3,
        selector: ([age]) => age,
      }),
    },
  ),
});
const anyRetraction = fc.record({
  kind: fc.constant('retract' as const),
  nextDay: fc.boolean(),
  erase: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  /** How many loads before the newest. */
  age: fc.nat(5),
});
type LoadStep = typeof anyLoad extends fc.Arbitrary<infer Step> ? Step : never;
type RetractStep = typeof anyRetraction extends fc.Arbitrary<infer Step> ? Step : never;
const anyStep = fc.oneof({ weight: 3, arbitrary: anyLoad }, { weight: 2, arbitrary: anyRetraction });

let runs = 0;

/** A database and a model that are told the same. */
class Sides {
  readonly model = new UndoModel();
  readonly prefix = `UNDO.${++runs}`;
  today = startDay;

  async load({ full, vintages }: LoadStep): Promise<void> {
    const loads = vintages
      .map(([age, series]) => this.#written(full, addDays(this.today, -age), series))
      .filter(({ vintage, series }) => vintage >= firstDay && series.size > 0)
      .toSorted((a, b) => a.vintage.localeCompare(b.vintage));
    const [first] = loads;
    if (first === undefined) return;
    const isMany = loads.length > 1;
    const before = await newestLoad();
    await loadCsv(database, csvOf(loads, isMany), {
      create: true,
      set: daily,
      full,
      clock: fakeClock(`${this.today}T12:00:00Z`),
      ...(isMany ? {} : { vintage: first.vintage }),
    });
    const numbers = await loadsAfter(before);
    this.model.load(new Map(loads.map((load, i) => [numbers[i] ?? Number.NaN, load])));
  }

  /** A series that echoes says again what its day shows, but for some points that it leaves out. */
  #written(full: boolean, vintage: string, wished: LoadStep['vintages'][number][1]): ModelLoad {
    const series = wished.map(({ echoes, states: said }, at): [string, States] => {
      const id = `${this.prefix}.${at}`;
      const shown = [...this.model.at(id, vintage)] as [string, State][];
      const echoed = shown.filter(([point]) => said.get(point) !== '1|');
      return [id, echoes && echoed.length > 0 ? new Map(echoed) : said];
    });
    return { vintage, full, series: new Map(series.filter(([, said]) => said.size > 0)) };
  }

  /** @returns what was refused and what should have been. */
  async retract({ age, erase }: RetractStep): Promise<{ found: boolean; expected: boolean } | null> {
    const number = this.model.numbers.at(-1 - age);
    if (number === undefined) return null;
    const refusal = this.model.refusal(number, erase);
    const clock = fakeClock(`${this.today}T12:00:00Z`);
    try {
      const { loadNo } = await retract(database, {
        ...{ loadNo: number, erase, clock, seriesTimeZone: 'UTC', noGateway: true },
      });
      if (refusal === null) this.model.retract(number, loadNo, this.today, erase);
      return { found: false, expected: refusal !== null };
    } catch (error) {
      if (error instanceof Failure && error.code === 'conflict')
        return { found: true, expected: refusal !== null };
      throw error;
    }
  }

  /** Everything that readers see of the series. */
  async compared(): Promise<{ found: unknown; expected: unknown }> {
    const days = daysUntil(addDays(this.today, 1));
    const ids = this.model.series;
    const [row] = await database.query<{ found: unknown }>(everythingSql, [ids, days]);
    const expected = ids.map((id) => {
      const tables = days.map((day) => this.model.at(id, day));
      const vintages = days.flatMap((day, i) =>
        changeOf(day, tables[i - 1] ?? new Map(), tables[i] ?? new Map()),
      );
      const dates = [...(tables.at(-1) ?? [])]
        .filter(([, state]) => !state.startsWith('|'))
        .map(([point]) => point.slice(0, 10));
      return {
        id,
        tables: tables.map((table) => [...table].map(([point, state]) => `${point}=${state}`).toSorted()),
        vintages,
        last_updated: vintages.at(-1)?.slice(0, 10) ?? null,
        observation_count: dates.length,
        first_date: dates.toSorted()[0] ?? null,
        last_date: dates.toSorted().at(-1) ?? null,
      };
    });
    return { found: row?.found, expected };
  }
}

function changeOf(day: string, before: Map<string, string>, after: Map<string, string>): string[] {
  const added = [...after.keys()].filter((point) => !before.has(point)).length;
  const revised = [...after].filter(
    ([point, state]) => before.has(point) && before.get(point) !== state,
  ).length;
  const deleted = [...before.keys()].filter((point) => !after.has(point)).length;
  return added + revised + deleted === 0 ? [] : [[day, added, revised, deleted].join()];
}

function daysUntil(last: string): string[] {
  const days = [addDays(firstDay, -1)];
  while ((days.at(-1) ?? last) < last) days.push(addDays(days.at(-1) ?? last, 1));
  return days;
}

const everythingSql = `
  select coalesce(json_agg(json_build_object('id', series_id,
      'tables', (select json_agg(points order by day) from (
        select day, coalesce(json_agg(concat(o.date, ' ', d.dims->>'side', '=', o.value, '|', o.status)
            order by concat(o.date, ' ', d.dims->>'side', '=', o.value, '|', o.status) collate "C")
          filter (where o.date is not null), '[]') as points
        from unnest($2::date[]) day
        left join (data.observations o join data.series_dims d using (series_no, dims_no))
          on o.series_no = series.series_no and o.published_on <= day and o.superseded_on > day
        group by day) t),
      'vintages', (select coalesce(json_agg(concat_ws(',', published_on, n, r, d) order by published_on), '[]') from (
        select published_on, sum(points_new) as n, sum(points_revised) as r, sum(points_deleted) as d
        from data.vintages where series_no = series.series_no group by published_on
        having sum(points_new + points_revised + points_deleted) > 0) v),
      'last_updated', last_updated, 'observation_count', observation_count, 'first_date', first_date, 'last_date', last_date
    ) order by series_id collate "C"), '[]') as found
  from data.series where series_id = any($1)`;

async function newestLoad(): Promise<number> {
  const [row] = await database.query<{ newest: number }>(
    'select coalesce(max(load_no), 0) as newest from data.loads',
  );
  return row?.newest ?? 0;
}

async function loadsAfter(load: number): Promise<number[]> {
  const rows = await database.query<{ load_no: number }>(
    'select load_no from data.loads where load_no > $1 order by load_no',
    [load],
  );
  return rows.map(({ load_no }) => load_no);
}

function csvOf(loads: readonly ModelLoad[], isMany: boolean): string[] {
  const rows = loads.flatMap(({ vintage, series }) =>
    [...series].flatMap(([id, said]) =>
      [...said].map(([point, state]) =>
        [id, ...point.split(' '), ...state.split('|'), ...(isMany ? [vintage] : [])].join(','),
      ),
    ),
  );
  return [`series_id,date,side,value,status${isMany ? ',vintage' : ''}`, ...rows];
}

test.serial(
  'after any loads and retractions, every day shows of every series what a fold of the loads in force on it shows',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 2, maxLength: 10, size: 'max' }), async (steps) => {
        const sides = new Sides();
        for (const step of steps) {
          if (step.nextDay) sides.today = addDays(sides.today, 1);
          if (step.kind === 'load') await sides.load(step);
          else {
            const refused = await sides.retract(step);
            t.is(refused?.found, refused?.expected);
          }
          const { found, expected } = await sides.compared();
          t.deepEqual(found, expected);
        }
      }),
      { numRuns: Number(process.env['ORACLE_RUNS'] ?? 20), includeErrorInReport: true },
    );
  },
);
