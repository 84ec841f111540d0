// The statement of the previews: the newest points of many series at once.
import type { Queryable } from '../../kernel/database.ts';

/** The newest `count` points with a value of each line, ascending, as the JSON text of an array. */
export async function readNewestOfMany(
  database: Queryable,
  lineNos: readonly number[],
  count: number,
): Promise<string[]> {
  const rows = await database.query<{ points: string }>(
    `select (
       select coalesce(json_agg(newest order by date), '[]') from (
         select o.date, o.value from data.observations o
         where o.line_no = asked.line_no and o.superseded_on = 'infinity' and o.value is not null
         order by o.date desc limit $2) newest)::text as points
     from unnest($1::int[]) with ordinality as asked(line_no, place) order by place`,
    [lineNos, count],
    'newest_of_many',
  );
  return rows.map(({ points }) => points);
}
