// Shared by the tests of ingest: a database, loads of CSV text, failures of loads, and reading the published data.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { TestFn } from 'ava';
import { IngestFailure } from '../../ingest/failure.ts';
import { openDatabase, type Database } from '../../kernel/database.ts';
import type { LoadOptions, LoadSummary } from '../../ingest/load/store/load-options.ts';
import { load } from '../../ingest/load/load.ts';
import { createTestDatabase, fakeClock, silentLog } from '../services/harness.ts';

export const today = '2024-06-30';

/** The database of this test file, opened like by the command line; closed and dropped after the tests. */
export async function openIngestDatabase(test: TestFn): Promise<Database> {
  const testDatabase = await createTestDatabase();
  const database = openDatabase(testDatabase.url, silentLog, {
    applicationName: 'test',
    statementTimeoutMs: 0,
  });
  test.after.always(async () => {
    await database.close();
    await testDatabase.drop();
  });
  return database;
}

/** The failure of a load. @throws Error if it does not fail. */
export async function failureOf(work: Promise<unknown>): Promise<IngestFailure> {
  try {
    await work;
  } catch (error) {
    if (error instanceof IngestFailure) return error;
    throw error;
  }
  throw new Error('the load should have failed');
}

/** The rows rejected by a load: line, column, value. */
export async function rejectsOf(work: Promise<unknown>): Promise<[number, string, string][]> {
  return (await failureOf(work)).rejects.map(({ line, column, value }) => [line, column, value]);
}

/** The row of data.series. */
export async function seriesRow(
  database: Database,
  seriesId: string,
): Promise<Record<string, unknown> | undefined> {
  const [row] = await database.query<Record<string, unknown>>(
    'select * from data.series where series_id = $1',
    [seriesId],
  );
  return row;
}

/** Writes CSV text to a file, as points of a file may be stored on a shorter path than those of a stream. @returns its path. */
export function fileOf(csv: readonly string[]): string {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-test-')), 'data.csv');
  writeFileSync(file, csv.join('\n'));
  return file;
}

/** Loads CSV text into observations, as a stream unless `input` is a file. */
export function loadCsv(
  database: Database,
  csv: string | readonly string[],
  options: Partial<LoadOptions> = {},
): Promise<LoadSummary> {
  const text = typeof csv === 'string' ? csv : csv.join('\n');
  return load(database, {
    dataset: 'observations',
    input: Readable.from([Buffer.from(text)]),
    noGateway: true,
    seriesTimeZone: 'UTC',
    clock: fakeClock(`${today}T12:00:00Z`),
    ...options,
  });
}

/** The facts of new series, for `--create`. */
export const daily = { frequency: 'daily', unit: 'Index', source: 'Test' };

/** The published values of a series at a vintage (now, unless given): `date` or `date dims` → value, null where missing. */
export async function published(
  database: Database,
  seriesId: string,
  vintage?: string,
): Promise<Record<string, string | null>> {
  const rows = await database.query<{ point: string; value: string | null }>(
    `select concat_ws(' ', o.date, (select string_agg(value, ' ' order by key) from jsonb_each_text(d.dims))) as point,
       o.value
     from data.observations o join data.series_dims d using (line_no) join data.series s using (series_no)
     where s.series_id = $1 and case when $2::date is null then o.superseded_on = 'infinity'
       else o.published_on <= $2 and o.superseded_on > $2 end
     order by 1`,
    [seriesId, vintage ?? null],
  );
  const values = Object.fromEntries(rows.map((row) => [row.point, row.value]));
  if (Object.keys(values).length < rows.length)
    throw new Error(`${seriesId} has a point twice at ${vintage}`);
  return values;
}

/**
 * The row counts of the published data, which a load without changes does not affect. Repeated statements are not counted here: they are recorded, as
 * the load that stated them first may be retracted.
 */
export async function rowCounts(database: Database): Promise<Record<string, number>> {
  const [counts] = await database.query<Record<string, number>>(
    `select (select count(*) from data.observations) as observations,
       (select count(*) from data.observations where superseded_on <> 'infinity') as closed,
       (select count(*) from data.vintages where points_new + points_revised + points_deleted > 0) as vintages,
       (select count(*) from data.series) as series,
       (select count(*) from data.series_dims) as dims`,
  );
  return counts ?? {};
}
