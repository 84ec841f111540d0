// The statement of the previews: the newest points of many series at once.
import type { Queryable } from '../../kernel/database.ts';
import type { Series } from '../series/series.sql.ts';

/** The newest `count` points with a value of the first combination of each series, ascending, as the JSON text of an array. */
export async function readNewestOfMany(
  database: Queryable,
  series: readonly Series[],
  count: number,
): Promise<string[]> {
  const rows = await database.query<{ points: string }>(
    `select (
       select coalesce(json_agg(newest order by date), '[]') from (
         select o.date, o.value from data.observations o
         where o.line_no = asked.line_no and o.superseded_on = 'infinity' and o.value is not null
         order by o.date desc limit $2) newest)::text as points
     from unnest($1::int[]) with ordinality as asked(line_no, place) order by place`,
    [series.map(({ combinations }) => combinations[0]?.lineNo ?? 0), count],
    'newest_of_many',
  );
  return rows.map(({ points }) => points);
}
