// New series from a file are stored directly in their table, without a comparison. For every file, the result equals that of comparing the same rows
// read from a stream.
import test from 'ava';
import fc from 'fast-check';
import { daily, fileOf, loadCsv, openIngestDatabase, published } from './loading.ts';

const database = await openIngestDatabase(test);

/** The stored state of the series with the prefix, without the prefix and the numbers. */
async function leftOf(prefix: string): Promise<unknown> {
  const like = `${prefix}.%`;
  const series = await database.query<{ series_id: string }>(
    `select series_id, s.dimensions, first_date, last_date, observation_count, s.last_updated,
       s.data_version = (select max(load_no) from data.vintages v where v.series_no = s.series_no) as has_version
     from data.series s where series_id like $1 order by series_id`,
    [like],
  );
  const points: unknown[] = [];
  for (const { series_id } of series) points.push(await published(database, series_id));
  const rest = {
    vintages: await database.query(
      `select series_id, published_on, complete, points_new, points_revised, points_deleted
       from data.vintages join data.series using (series_no) where series_id like $1 order by series_id`,
      [like],
    ),
    events: await database.query(
      `select type, series, data - 'load' - 'published_at' as data from events.outbox where series::text like $1 order by type`,
      [`%${prefix}.%`],
    ),
    loads: await database.query(
      `select rows_read, rows_rejected, points_new, points_revised, points_unchanged, points_deleted, vintage, complete
       from data.loads where source_name = $1`,
      [prefix],
    ),
  };
  return JSON.parse(JSON.stringify({ series, points, ...rest }).replaceAll(prefix, 'ID')) as unknown;
}

const rowsOfFile = fc.record({
  dims: fc.boolean(),
  full: fc.boolean(),
  series: fc.array(
    fc
      .uniqueArray(fc.integer({ min: 0, max: 400 }), { maxLength: 8 })
      .map((days) => days.toSorted((a, b) => a - b)),
    { minLength: 1, maxLength: 3 },
  ),
});

test('new series from a file are stored like those from a stream: facts, vintages, events and the record of the load', async (t) => {
  let number = 0;
  await fc.assert(
    fc.asyncProperty(rowsOfFile, async ({ dims, full, series }) => {
      const linesOf = (prefix: string) => [
        `series_id,date,value${dims ? ',side' : ''}`,
        ...series.flatMap((days, at) =>
          days.map((day) => {
            const date = new Date(Date.UTC(2020, 0, 1 + day)).toISOString().slice(0, 10);
            // Every third value is published as missing; the sides alternate by date.
            return `${prefix}.S${at},${date},${day % 3 === 0 ? '' : day}${dims ? `,${day % 2 === 0 ? 'buy' : 'sell'}` : ''}`;
          }),
        ),
      ];
      number++;
      const load = async (kind: string, input?: (lines: string[]) => string) => {
        const prefix = `${kind}${number}X`;
        const lines = linesOf(prefix);
        const summary = await loadCsv(database, lines, {
          ...{ create: true, set: daily, full, sourceName: prefix },
          ...(input !== undefined && { input: input(lines) }),
        });
        const { pointsNew, pointsRevised, pointsUnchanged, pointsDeleted, rowsRead } = summary;
        return [{ pointsNew, pointsRevised, pointsUnchanged, pointsDeleted, rowsRead }, await leftOf(prefix)];
      };
      t.deepEqual(await load('FILE', fileOf), await load('STREAM'));
    }),
    { numRuns: 25, seed: 4 },
  );
});

test('a new series gets its facts from its first row that has those it needs, however many rows come before', async (t) => {
  const lacking = Array.from({ length: 5_000 }, (_, at) => `LATE.FACTS,bad ${at},1,`);
  const csv = [
    'series_id,date,value,frequency',
    'LATE.FIRST,2024-01-01,1,',
    'LATE.FIRST,2024-01-02,2,daily',
    ...lacking,
    'LATE.FACTS,2024-01-02,3,daily',
    'LATE.NEVER,2024-01-02,4,',
  ];
  const set = { unit: 'Index', source: 'Test' };
  const summary = await loadCsv(database, csv, { create: true, set, skipInvalid: true });
  t.like(summary, { pointsNew: 3, rowsRejected: 5_001 });
  t.deepEqual(await published(database, 'LATE.FIRST'), { '2024-01-01': '1', '2024-01-02': '2' });
  t.deepEqual(await published(database, 'LATE.FACTS'), { '2024-01-02': '3' });
});
