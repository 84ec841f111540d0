// The default combinations of dimension values of a series: those with the newest values. The order is cached per state of a series.
import { writeCombination } from '../../domain/dims-text.ts';
import type { Queryable } from '../../kernel/database.ts';
import type { Series } from '../series/stored/series.sql.ts';

/** Per series: combinations beyond this number keep the order of their first load. */
const linesMax = 1_000;
/** Points of a line are counted up to this number: lines with more are equal. */
const pointsCounted = 1_000;

/** By the combinations: they are those of one state of a series, while each call has facts of its own. */
const ordered = new WeakMap<Series['combinations'], readonly number[]>();

/**
 * The lines of each series by their newest date with a value, descending, then by the number of their points, then by their dimension values:
 * the order of the loads does not matter.
 */
export async function newestLines(
  database: Queryable,
  series: readonly Series[],
): Promise<(readonly number[])[]> {
  const unknown = series.filter((each) => each.combinations.length > 1 && !ordered.has(each.combinations));
  if (unknown.length > 0) {
    const asked = unknown.flatMap((each) => linesOf(each).slice(0, linesMax));
    const states = new Map((await statesOf(database, asked)).map((state) => [state.lineNo, state]));
    for (const each of unknown) ordered.set(each.combinations, newestFirst(each, states));
  }
  return series.map((each) => ordered.get(each.combinations) ?? linesOf(each));
}

const linesOf = ({ combinations }: Series): number[] => combinations.map(({ lineNo }) => lineNo);

interface LineState {
  lineNo: number;
  /** The date of the newest point with a value; '' without one. */
  newest: string;
  points: number;
}

function newestFirst({ combinations }: Series, states: ReadonlyMap<number, LineState>): number[] {
  const known = combinations.slice(0, linesMax).map(({ lineNo, dims }) => ({
    ...(states.get(lineNo) ?? { lineNo, newest: '', points: 0 }),
    text: writeCombination(dims),
  }));
  known.sort((a, b) => compare(b.newest, a.newest) || b.points - a.points || compare(a.text, b.text));
  return [...known, ...combinations.slice(linesMax)].map(({ lineNo }) => lineNo);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function statesOf(database: Queryable, lineNos: readonly number[]): Promise<LineState[]> {
  return database.query<LineState>(
    `select asked.line_no as "lineNo", coalesce(newest.date::text, '') as newest, counted.points::int as points
     from unnest($1::int[]) as asked(line_no)
     left join lateral (
       select o.date from data.observations o
       where o.line_no = asked.line_no and o.superseded_on = 'infinity' and o.value is not null
       order by o.date desc limit 1) newest on true
     cross join lateral (
       select count(*) as points from (
         select from data.observations o where o.line_no = asked.line_no and o.superseded_on = 'infinity' limit $2) live) counted`,
    [lineNos, pointsCounted],
    'newest_lines',
  );
}
