// The answers about vintages do not depend on the order of the loads: they are the same as after loads in the order of their vintages.
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { findVintages } from '../../cli/commands/history/vintages.sql.ts';
import { openDatabase } from '../../kernel/database.ts';
import { loadCsv } from '../ingest/loading.ts';
import { propertyRuns } from '../run/property-runs.ts';
import { startDataService } from '../services/data-service.ts';
import { silentLog } from '../services/harness.ts';

const service = await startDataService();
const database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'tests' });
test.after.always(async () => {
  await database.close();
  await service.close();
});

/** The statements of one file about a series; `full`: the file is complete, so points that it omits are deleted. */
interface File {
  /** A day of March 2024. */
  vintage: number;
  full: boolean;
  /** Point (`day of January, side`) → value; empty if it is published as missing. */
  points: ReadonlyMap<string, string>;
}

const days = [10, 11, 12, 20, 21];
const march = (day: number) => `2024-03-${String(day).padStart(2, '0')}`;

const anyFiles: fc.Arbitrary<File[]> = fc.array(
  fc.record({
    vintage: fc.constantFrom(...days),
    full: fc.boolean(),
    points: fc
      .uniqueArray(
        fc.tuple(fc.constantFrom('01,buy', '02,buy', '04,buy', '02,sell'), fc.constantFrom('1', '2', '')),
        {
          selector: ([point]) => point,
          minLength: 1,
        },
      )
      .map((points) => new Map(points)),
  }),
  { minLength: 2, maxLength: 7, size: 'max' },
);

let made = 0;

/** Loads the files into a series of its own, one after the other. @returns its id. */
async function series(files: readonly File[], afterEach?: (id: string) => Promise<void>): Promise<string> {
  const id = `ORDER.${++made}`;
  for (const { vintage, full, points } of files) {
    const rows = [...points].map(([point, value]) => `${id},2024-01-${point},${value}`);
    await loadCsv(database, ['series_id,date,side,value', ...rows], {
      create: true,
      set: { frequency: 'daily', unit: 'Index', source: 'Office' },
      vintage: march(vintage),
      full,
      clock: service.clock,
    });
    await afterEach?.(id);
  }
  return id;
}

interface Answer {
  meta?: Record<string, unknown>;
  data: Record<string, unknown>[] | Record<string, unknown>;
}

/**
 * An answer without the parts that depend on the loading instead of the data: the number of the newest load, the time of loading, and the order of
 * combinations, which is that of their first load.
 */
async function comparableAnswer(id: string, path: string): Promise<unknown> {
  const { status, json } = await service.call(path.replace('ID', id));
  if (status !== 200) throw new Error(`${path}: ${status}`);
  const { meta, data } = json as Answer;
  const ofData = (facts: Record<string, unknown> = {}) => {
    const { version: _, loaded_at: __, id: ___, name: ____, sample_url: _____, dims, ...rest } = facts;
    if (!Array.isArray(dims)) return { ...rest, dims };
    return { ...rest, dims: (dims as { values: string[] }[]).map((dim) => dim.values.toSorted()) };
  };
  const list = Array.isArray(data) ? data.map((row) => JSON.stringify(ofData(row))).toSorted() : ofData(data);
  return { meta: ofData(meta), list };
}

const all = 'fields=date,value,dims,status,published_on&include_missing=true';
const questions = [
  `/v1/series/ID?${all}`,
  `/v1/series/ID?release=first&${all}`,
  '/v1/series/ID/vintages',
  '/v1/series/ID/latest?fields=date,value,dims,status,published_on',
  '/v1/catalog/ID',
  ...[9, ...days, 25].map((day) => `/v1/series/ID?vintage=${march(day)}&${all}`),
];

test('every answer about vintages is the same whatever the order of the loads', async (t) => {
  await fc.assert(
    fc.asyncProperty(anyFiles, async (files) => {
      const mixed = await series(files);
      const inOrder = await series(files.toSorted((a, b) => a.vintage - b.vintage));
      for (const question of questions)
        t.deepEqual(
          await comparableAnswer(mixed, question),
          await comparableAnswer(inOrder, question),
          question,
        );
      t.deepEqual(await findVintages(database, mixed), await findVintages(database, inOrder));
    }),
    { numRuns: propertyRuns(15), includeErrorInReport: true },
  );
});

test('vintages loaded newest first are counted and dated as if loaded oldest first', async (t) => {
  const points = (...values: string[]) => new Map(values.map((value, i) => [`0${i + 1},buy`, value]));
  const files = [
    { vintage: 12, full: false, points: points('1', '3', '5', '7') },
    { vintage: 11, full: false, points: points('1', '3', '5') },
    { vintage: 10, full: false, points: points('1', '2') },
  ];
  const id = await series(files);
  const listed = (
    await service.call(`/v1/series/${id}/vintages?fields=vintage,points_new,points_revised,points_deleted`)
  ).json as Answer;
  t.deepEqual(listed.data, [
    { vintage: '2024-03-10', points_new: 2, points_revised: 0, points_deleted: 0 },
    { vintage: '2024-03-11', points_new: 1, points_revised: 1, points_deleted: 0 },
    { vintage: '2024-03-12', points_new: 1, points_revised: 0, points_deleted: 0 },
  ]);
  for (const [query, expected] of [
    ['', ['1 03-10', '3 03-11', '5 03-11', '7 03-12']],
    ['&vintage=2024-03-11', ['1 03-10', '3 03-11', '5 03-11']],
    ['&release=first', ['1 03-10', '2 03-10', '5 03-11', '7 03-12']],
  ] as const) {
    const { data } = (await service.call(`/v1/series/${id}?fields=value,published_on${query}`)).json as {
      data: { value: number; published_on: string }[];
    };
    t.deepEqual(
      data.map(({ value, published_on }) => `${value} ${published_on.slice(5)}`),
      expected,
      query,
    );
  }
});

/** Each vintage and the first releases, by pinned URLs. */
async function pinned(t: ExecutionContext, id: string): Promise<[url: string, text: string][]> {
  const urls = [...days.map((day) => `vintage=${march(day)}`), 'release=first'];
  return Promise.all(
    urls.map(async (query): Promise<[string, string]> => {
      const open = await service.call(`/v1/series/${id}?${query}&${all}&format=csv`);
      t.is(open.status, 200);
      return [open.headers.get('content-location') ?? '', open.text];
    }),
  );
}

test('a pinned state is unchanged or gone, whatever is loaded after it', async (t) => {
  await fc.assert(
    fc.asyncProperty(anyFiles, async (files) => {
      const states: [url: string, text: string][] = [];
      await series(files, async (id) => {
        states.push(...(await pinned(t, id)));
      });
      for (const [url, text] of states) {
        const current = await service.call(url);
        if (current.status !== 410)
          t.is(
            current.text,
            text,
            `${url} of ${JSON.stringify(files.map((f) => ({ ...f, points: [...f.points] })))}`,
          );
      }
    }),
    { numRuns: propertyRuns(15), includeErrorInReport: true },
  );
});

test('reverting a value within its day makes the states with another value gone, and no earlier state', async (t) => {
  const value = (vintage: number, text: string): File => ({
    vintage,
    full: false,
    points: new Map([['01,buy', text]]),
  });
  const urls: string[] = [];
  await series([value(10, '5'), value(20, '6'), value(20, '5')], async (id) => {
    urls.push(
      (await service.call(`/v1/series/${id}?vintage=2024-03-20`)).headers.get('content-location') ?? '',
    );
  });
  t.deepEqual(await Promise.all(urls.map(async (url) => (await service.call(url)).status)), [200, 410, 200]);
});
