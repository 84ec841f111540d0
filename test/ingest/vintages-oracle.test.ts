// Loads at random vintages, in random order, against an oracle that keeps every load as a plain table in memory.
import test from 'ava';
import fc from 'fast-check';
import { daily, fileOf, loadCsv, openIngestDatabase, published, rowCounts } from './loading.ts';

interface Load {
  vintage: string;
  /** Says again what stands at the vintage. */
  echoes: boolean;
  full: boolean;
  isFile: boolean;
  /** point → value; '' is published as missing. */
  states: Map<string, string>;
}
type Table = Record<string, string | null>;

const database = await openIngestDatabase(test);

const vintages = ['2024-03-01', '2024-03-02', '2024-03-03', '2024-03-04', '2024-03-05'];
const points = ['2024-01-01 buy', '2024-01-02 buy', '2024-01-04 buy', '2024-01-02 sell'];

const anyLoad: fc.Arbitrary<Load> = fc.record({
  vintage: fc.constantFrom(...vintages),
  echoes: fc.boolean(),
  full: fc.boolean(),
  isFile: fc.boolean(),
  states: fc
    .dictionary(fc.constantFrom(...points), fc.constantFrom('1', '2', ''), {
      minKeys: 1,
      noNullPrototype: true,
    })
    .map((states) => new Map(Object.entries(states))),
});

/** The load as a file: one that echoes takes from `states` only which points it leaves out, unless none would be left. */
function written(load: Load, loads: readonly Load[]): Load {
  if (!load.echoes) return load;
  const standing = Object.entries(asOf(loads, load.vintage)).map(
    ([point, value]) => [point, value ?? ''] as const,
  );
  const echoed = standing.filter(([point]) => load.states.get(point) !== '1');
  return echoed.length === 0 ? load : { ...load, states: new Map(echoed) };
}

/** The series as published at the end of a day: its loads folded by vintage, then by order of loading. */
function asOf(loads: readonly Load[], vintage: string): Table {
  let table: Table = {};
  const known = loads.filter((load) => load.vintage <= vintage);
  for (const load of known.toSorted((a, b) => a.vintage.localeCompare(b.vintage))) {
    if (load.full) table = {};
    for (const [point, value] of load.states) table[point] = value === '' ? null : value;
  }
  return table;
}

function difference(before: Table, after: Table, load: Load) {
  const counts = { pointsNew: 0, pointsRevised: 0, pointsUnchanged: 0, pointsDeleted: 0 };
  for (const point of load.states.keys()) {
    if (!(point in before)) counts.pointsNew++;
    else if (before[point] === after[point]) counts.pointsUnchanged++;
    else counts.pointsRevised++;
  }
  for (const point of Object.keys(before)) if (!(point in after)) counts.pointsDeleted++;
  return counts;
}

function csvOf(seriesId: string, load: Load): string[] {
  const rows = [...load.states].map(([point, value]) => {
    const [date, side] = point.split(' ');
    return [seriesId, date, side, value].join(',');
  });
  return ['series_id,date,side,value', ...rows];
}

async function store(seriesId: string, load: Load) {
  const csv = csvOf(seriesId, load);
  const { pointsNew, pointsRevised, pointsUnchanged, pointsDeleted } = await loadCsv(database, csv, {
    ...(load.isFile ? { input: fileOf(csv) } : {}),
    create: true,
    set: daily,
    vintage: load.vintage,
    full: load.full,
  });
  return { pointsNew, pointsRevised, pointsUnchanged, pointsDeleted };
}

let runs = 0;

test.serial(
  'any loads at any vintages in any order answer, at every vintage, as if each had been kept whole',
  async (t) => {
    const property = fc.asyncProperty(fc.array(anyLoad, { minLength: 1, maxLength: 8 }), async (sequence) => {
      const seriesId = `ORACLE.${++runs}`;
      const loads: Load[] = [];
      for (const wish of sequence) {
        const load = written(wish, loads);
        const before = asOf(loads, load.vintage);
        loads.push(load);
        const counts = await store(seriesId, load);
        t.deepEqual(counts, difference(before, asOf(loads, load.vintage), load));
      }
      for (const vintage of ['2024-02-29', ...vintages])
        t.deepEqual(await published(database, seriesId, vintage), asOf(loads, vintage), `at ${vintage}`);
      const live = asOf(loads, '9999-12-31');
      t.deepEqual(await published(database, seriesId), live);
      await checkBooks(seriesId, live);

      const stored = await rowCounts(database);
      const last = loads.at(-1);
      if (last !== undefined) await store(seriesId, last);
      t.deepEqual(await rowCounts(database), stored, 'the same file at once again');
    });

    /** The series row agrees with its points, and no two rows of a point overlap. */
    async function checkBooks(seriesId: string, live: Table): Promise<void> {
      const dates = Object.keys(live)
        .filter((point) => live[point] !== null)
        .map((point) => point.slice(0, 10))
        .toSorted();
      const [series] = await database.query<object>(
        'select first_date, last_date, observation_count from data.series where series_id = $1',
        [seriesId],
      );
      t.deepEqual(series, {
        first_date: dates[0] ?? null,
        last_date: dates.at(-1) ?? null,
        observation_count: dates.length,
      });
      const overlaps = await database.query<object>(
        `select a.* from data.observations a join data.observations b using (series_no, dims_no, date)
       join data.series s using (series_no)
       where s.series_id = $1 and a.ctid < b.ctid and daterange(a.published_on, a.superseded_on)
         && daterange(b.published_on, b.superseded_on)`,
        [seriesId],
      );
      t.deepEqual(overlaps, []);
    }

    await fc.assert(property, {
      numRuns: Number(process.env['ORACLE_RUNS'] ?? 50),
      includeErrorInReport: true,
    });
  },
);

test.serial(
  'loading everything again in the order of the vintages changes nothing where no vintage was corrected',
  async (t) => {
    const distinctVintages = fc.uniqueArray(anyLoad, {
      minLength: 2,
      maxLength: 6,
      selector: (load) => load.vintage,
    });
    await fc.assert(
      fc.asyncProperty(distinctVintages, async (loads) => {
        const seriesId = `AGAIN.${++runs}`;
        for (const load of loads) await store(seriesId, load);
        const stored = await rowCounts(database);
        for (const load of loads.toSorted((a, b) => a.vintage.localeCompare(b.vintage))) {
          const { pointsUnchanged, ...changed } = await store(seriesId, load);
          t.deepEqual(changed, { pointsNew: 0, pointsRevised: 0, pointsDeleted: 0 });
          t.is(pointsUnchanged, load.states.size);
        }
        t.deepEqual(await rowCounts(database), stored);
      }),
      { numRuns: 12, includeErrorInReport: true },
    );
  },
);
