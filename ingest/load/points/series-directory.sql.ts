// The statements of the series directory: find series, create them, and number their lines.
import type { Queryable } from '../../../kernel/database.ts';
import { entryAt } from '../../../kernel/entries.ts';
import type { Frequency } from '../../../domain/periods.ts';
import { datasetNamed } from '../../datasets/datasets.ts';

export interface SeriesRow {
  series_no: number;
  series_id: string;
  frequency: Frequency;
  fiscal_year_end: string | null;
  dimensions: string[];
  is_deleted: boolean;
  /** No point of the series was ever published. */
  fresh: boolean;
}

/** The existing series among the ids. */
export function findSeries(on: Queryable, ids: readonly string[]): Promise<SeriesRow[]> {
  return on.query<SeriesRow>(
    `select series_no, series_id, frequency, fiscal_year_end, dimensions, deleted_on is not null as is_deleted,
       not exists (select from data.vintages v where v.series_no = s.series_no) as fresh
     from data.series s where series_id = any($1)`,
    [ids],
  );
}

/** Earlier id → present id, for the ids that are earlier ones. */
export async function findPresentIds(
  on: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await on.query<{ alias: string; series_id: string }>(
    'select a.alias, s.series_id from data.series_aliases a join data.series s using (series_no) where a.alias = any($1)',
    [ids],
  );
  return new Map(rows.map(({ alias, series_id }) => [alias, series_id]));
}

/** The lines of the series, in the order of their numbers. */
export function findDims(
  on: Queryable,
  seriesNos: readonly number[],
): Promise<{ series_no: number; line_no: number; dims: Record<string, string> }[]> {
  return on.query(
    `select series_no, line_no, dims from data.series_dims where series_no = any($1) order by line_no`,
    [seriesNos],
  );
}

const columns = datasetNamed('series').columns.map(({ name }) => name);

/** Inserts series. @param rows objects of the dataset's columns; missing ones are null, tags is an array literal. */
export function insertSeries(
  on: Queryable,
  rows: readonly Record<string, string | null>[],
): Promise<SeriesRow[]> {
  const values = columns.map((name) => (name === 'tags' ? `coalesce(tags, '{}')` : name));
  return on.query<SeriesRow>(
    `insert into data.series (${columns.join(', ')})
     select ${values.join(', ')} from jsonb_populate_recordset(null::data.series, $1)
     returning series_no, series_id, frequency, fiscal_year_end, dimensions, false as is_deleted, true as fresh`,
    [JSON.stringify(rows)],
  );
}

/** The highest line number, 0 before the first line. The load lock ensures that no other process assigns the next one. */
export async function findLastLineNo(on: Queryable): Promise<number> {
  const rows = await on.query<{ last: number }>(
    'select coalesce(max(line_no), 0) as last from data.series_dims',
  );
  return entryAt(rows, 0).last;
}

/** Inserts lines. */
export async function insertDims(
  on: Queryable,
  seriesNos: readonly number[],
  lineNos: readonly number[],
  dims: readonly string[],
): Promise<void> {
  await on.query(
    `insert into data.series_dims (series_no, line_no, dims)
     select * from unnest($1::int[], $2::int[], $3::jsonb[])`,
    [seriesNos, lineNos, dims],
  );
}

/** Sets the dimension names of series that had none. */
export async function nameDimensions(
  on: Queryable,
  seriesNos: readonly number[],
  names: readonly string[],
): Promise<void> {
  await on.query(
    'update data.series set dimensions = $2, row_version = row_version + 1 where series_no = any($1)',
    [seriesNos, names],
  );
}

/** Deletes series that this load created but no valid row used. */
export async function deleteSeriesWithoutDims(on: Queryable, seriesNos: readonly number[]): Promise<void> {
  await on.query(
    `delete from data.series s where series_no = any($1)
     and not exists (select from data.series_dims d where d.series_no = s.series_no)`,
    [seriesNos],
  );
}
