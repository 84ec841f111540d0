// The changes of points by the loads of a transaction: the series and the largest changes. Call it under the load lock, before the commit.
import type { Transaction } from '../../../kernel/database.ts';
import type { CheckedTable } from './published-table.ts';

type Changes = Pick<CheckedTable, 'series' | 'series_changed' | 'largest_changes'>;

interface ChangedPoint {
  series: string;
  dims: Record<string, string>;
  date: string;
  /** As published, with their digits; null if published as missing. */
  before: string | null;
  after: string | null;
}

const seriesShown = 50;
const pointsShown = 20;

// A point is deleted if the loads ended its value and began none. Changes between two of their own values are not reported.
const changed = `
  with touched as materialized (select distinct series_no from data.vintages where load_no >= $1),
  points as materialized (
    select series_no, line_no, date, bool_or(load_no >= $1) as begins, bool_or(load_no < $1) as ends,
      (array_agg(value order by published_on desc) filter (where load_no >= $1))[1] as after,
      (array_agg(value order by published_on desc, superseded_on desc) filter (where load_no < $1))[1] as before
    from touched join data.series_dims using (series_no) join data.observations using (line_no)
    where load_no >= $1 or superseded_load_no >= $1
    group by series_no, line_no, date
  )`;

/**
 * The changes by the loads from this number on. @returns the first fifty of the changed series, how many there are, and the twenty largest changes in
 * percent.
 */
export async function changesSince(on: Transaction, firstLoadNo: number): Promise<Changes> {
  const series = await on.query<Changes['series'][number] & { all: number }>(
    `${changed}
     select series_id as id,
       not exists (select from data.vintages v where v.series_no = s.series_no and v.load_no < $1) as is_new,
       count(*) filter (where begins and not ends)::int as points_new,
       count(*) filter (where begins and ends)::int as points_revised,
       count(*) filter (where not begins)::int as points_deleted, (count(*) over ())::int as all
     from points p join data.series s using (series_no)
     group by s.series_no, series_id order by series_id collate "C" limit $2`,
    [firstLoadNo, seriesShown],
  );
  const largest = await on.query<ChangedPoint>(
    `${changed}
     select series_id as series, dims, date, before::text, after::text
     from points p join data.series using (series_no) join data.series_dims using (series_no, line_no)
     where begins and ends and before is distinct from after
     order by abs((after - before) / nullif(before, 0)) desc nulls last, series_id collate "C", date, line_no limit $2`,
    [firstLoadNo, pointsShown],
  );
  return {
    series: series.map(({ all: _all, ...each }) => each),
    series_changed: series[0]?.all ?? 0,
    largest_changes: largest.map(withPercent),
  };
}

function withPercent(point: ChangedPoint): Changes['largest_changes'][number] {
  const [before, after] = [numberOf(point.before), numberOf(point.after)];
  const percent =
    before === null || after === null || before === 0 ? NaN : ((after - before) / Math.abs(before)) * 100;
  return { ...point, before, after, percent: Number.isFinite(percent) ? percent : null };
}

function numberOf(value: string | null): number | null {
  const number = value === null ? NaN : Number(value);
  return Number.isFinite(number) ? number : null;
}
