// The default combinations of dimension values of a series: those with the newest values. The order is cached per state of a series.
import type { Queryable } from '../../kernel/database.ts';
import type { Series } from '../series/series.sql.ts';

/** Per series: combinations beyond this number keep the order of their first load. */
const linesMax = 1_000;
/** Points of a line are counted up to this number: lines with more are equal. */
const pointsCounted = 1_000;

const ordered = new WeakMap<Series, readonly number[]>();

/**
 * The lines of each series by their newest date with a value, descending, then by the number of their points, then in the order of their
 * first load.
 */
export async function newestLines(
  database: Queryable,
  series: readonly Series[],
): Promise<(readonly number[])[]> {
  const unknown = series.filter((each) => each.combinations.length > 1 && !ordered.has(each));
  if (unknown.length > 0) {
    const asked = unknown.flatMap(({ combinations }) =>
      combinations.slice(0, linesMax).map(({ lineNo }) => lineNo),
    );
    const place = new Map((await orderOf(database, asked)).map((lineNo, i) => [lineNo, i]));
    const placeOf = (lineNo: number): number => place.get(lineNo) ?? asked.length;
    for (const each of unknown)
      ordered.set(
        each,
        linesOf(each).toSorted((a, b) => placeOf(a) - placeOf(b)),
      );
  }
  return series.map((each) => ordered.get(each) ?? linesOf(each));
}

const linesOf = ({ combinations }: Series): number[] => combinations.map(({ lineNo }) => lineNo);

async function orderOf(database: Queryable, lineNos: readonly number[]): Promise<number[]> {
  const rows = await database.query<{ lineNo: number }>(
    `select asked.line_no as "lineNo"
     from unnest($1::int[]) as asked(line_no)
     left join lateral (
       select o.date from data.observations o
       where o.line_no = asked.line_no and o.superseded_on = 'infinity' and o.value is not null
       order by o.date desc limit 1) newest on true
     cross join lateral (
       select count(*) as points from (
         select from data.observations o where o.line_no = asked.line_no and o.superseded_on = 'infinity' limit $2) live) counted
     order by newest.date desc nulls last, counted.points desc, asked.line_no`,
    [lineNos, pointsCounted],
    'newest_lines',
  );
  return rows.map(({ lineNo }) => lineNo);
}
