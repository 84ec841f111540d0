import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { openDatabase, type Database } from '../../kernel/database.ts';
import { loadCsv } from '../ingest/loading.ts';
import { propertyRuns } from '../run/property-runs.ts';
import { startDataService, type DataService } from '../services/data-service.ts';
import { silentLog } from '../services/harness.ts';

interface Envelope {
  data: { date: string; value: number; dims: Record<string, string> }[];
}

let service: DataService;
let database: Database;

test.before(async () => {
  service = await startDataService();
  database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'tests' });
});

test.after.always(async () => {
  await database.close();
  await service.close();
});

interface PublishedPoint {
  day: number;
  side: string;
  value: number;
}
interface PublishedFile {
  vintageDay: number;
  full: boolean;
  points: PublishedPoint[];
}

const seriesPerFile = 6;

/** One file: its vintage, whether it is complete for its series, and its points for each series. */
const fileArbitrary = fc.record({
  vintageDay: fc.integer({ min: 10, max: 14 }),
  full: fc.boolean(),
  series: fc.array(
    fc.uniqueArray(
      fc.record({
        day: fc.integer({ min: 1, max: 4 }),
        side: fc.constantFrom('buy', 'sell'),
        value: fc.integer({ min: 1, max: 3 }),
      }),
      { selector: ({ day, side }) => `${day}${side}`, minLength: 1, maxLength: 5 },
    ),
    { minLength: seriesPerFile, maxLength: seriesPerFile },
  ),
});

test('in any order of loading, every vintage shows the statements of its publisher up to that day', async (t) => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fileArbitrary, { minLength: 1, maxLength: 6 }), async (files) => {
      run += 1;
      const ids = Array.from({ length: seriesPerFile }, (_, at) => `BACK${run}.${at}`);
      for (const { vintageDay, full, series } of files) {
        const lines = series.flatMap((points, at) =>
          points.map(({ day, side, value }) => `${ids[at]},2024-01-0${day},${value},${side}`),
        );
        await loadCsv(database, ['series_id,date,value,side', ...lines], {
          create: true,
          set: { unit: 'USD', frequency: 'daily', source: 'Tests' },
          vintage: `2024-02-${vintageDay}`,
          full,
          clock: service.clock,
        });
      }
      const histories = ids.map((id, at) =>
        checkHistory(
          t,
          id,
          files.map(({ vintageDay, full, series }) => ({ vintageDay, full, points: series[at] ?? [] })),
        ),
      );
      await Promise.all(histories);
    }),
    { numRuns: propertyRuns(10), includeErrorInReport: true },
  );
});

/** The statements of a publisher: the files by vintage, those of one vintage in the order of loading. */
async function checkHistory(t: ExecutionContext, id: string, files: readonly PublishedFile[]): Promise<void> {
  const inOrder = files.toSorted((a, b) => a.vintageDay - b.vintageDay);
  const first = new Map<string, number>();
  for (let day = 9; day <= 15; day += 1) {
    const expected = new Map<string, number>();
    for (const { full, points } of inOrder.filter((file) => file.vintageDay <= day)) {
      if (full) expected.clear();
      for (const point of points) expected.set(`2024-01-0${point.day} ${point.side}`, point.value);
    }
    for (const [key, value] of expected) if (!first.has(key)) first.set(key, value);
    const queries = [`vintage=2024-02-${String(day).padStart(2, '0')}`, ...(day === 15 ? ['sort=asc'] : [])];
    for (const query of queries) {
      t.deepEqual(await shown(id, query), [...expected].sort(), `${query} of ${JSON.stringify(files)}`);
    }
  }
  t.deepEqual(await shown(id, 'release=first'), [...first].sort(), `first of ${JSON.stringify(files)}`);
}

async function shown(id: string, query: string): Promise<[string, number][]> {
  const { json } = await service.call(`/v1/series/${id}?${query}`);
  return (json as Envelope).data
    .map(({ date, dims, value }): [string, number] => [`${date} ${dims['side']}`, value])
    .sort();
}
