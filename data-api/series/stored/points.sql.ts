// The statements that read the points of a series, as of a load and a vintage, pinned to one version of the data. The storage model is in
// migrations/000001_series.sql.
import { entryAt } from '../../../kernel/entries.ts';
import type { Queryable } from '../../../kernel/database.ts';
import { rowVersion } from './series.sql.ts';

/**
 * Which row of a point is read:
 * `live` the newest value · `as_of` the value as of a vintage, found from the live points, so that the cost does not
 * grow with the number of vintages · `history` the same for any vintage and any earlier load, from all rows
 * ever stored · `first_release` the first published value, after any publication as missing.
 */
export type Reading = 'live' | 'as_of' | 'history' | 'first_release';

interface PointsQuery {
  reading: Reading;
  seriesNo: number;
  lineNos: readonly number[];
  /** Inclusive. */
  from: string;
  /** Inclusive. */
  to: string;
  order: 'asc' | 'desc';
  /** The maximum number of points read per combination. */
  perCombinationMax: number;
  /** `complete_dates`: the points up to the last date that is complete over all combinations. `all`: all points read. */
  cut: 'complete_dates' | 'all';
  wanted: 'values' | 'all' | 'not_zero';
  /** Whether the day of publication and the status of each point are read. */
  hasDetails: boolean;
  /** Not used for `live`. */
  vintage: string | null;
  /** The newest publication day up to the vintage, if any. Only `as_of` uses it, as its first guess. */
  vintagePublishedOn: string | null;
  /** The load that `history` and `first_release` are pinned to. */
  version: number;
}

export interface PointsRow {
  /** The data version that the statement saw; null when the series is gone. */
  version: number | null;
  /** The version of the series' row that it saw. */
  rowVersion: string | null;
  /** The last complete date if the reading stopped before the end; null at the end. */
  lastComplete: string | null;
  /** Joined by commas, ordered by date and line_no; a missing value is empty. Null if there are no points. */
  dates: string | null;
  values: string | null;
  /** Undefined: the one combination of the query. */
  lineNos?: string | null;
  publishedOn?: string | null;
  /** One status code per point, or null. */
  statuses?: (string | null)[] | null;
}

// The rows of one point, in each of the four readings. LINE_NO is the combination; the outer query orders and limits.
const ofPoint = 'o.line_no = LINE_NO';
const columns = 'o.date, o.value, o.status, o.published_on';
const earlier = `c.value, c.status, c.published_on from data.observations c
  where o.published_on > $7 and c.line_no = LINE_NO and c.date = o.date
    and c.superseded_on <> 'infinity' and c.superseded_on > $7`;
const everStored = `
  (select ${columns} from data.observations o
   where ${ofPoint} and o.date between $3 and $4 and o.superseded_on = 'infinity' and o.published_on <= $7 and o.load_no <= $8
   union all
   select ${columns} from data.observations o
   where ${ofPoint} and o.date between $3 and $4 and o.superseded_on <> 'infinity' and o.published_on <= $7 and o.load_no <= $8
     and (o.superseded_on > SUPERSEDED_AFTER or o.superseded_load_no > $8))`;

const readings: Record<Reading, string> = {
  live: `(select ${columns} from data.observations o
    where ${ofPoint} and o.date between $3 and $4 and o.superseded_on = 'infinity')`,
  // Most points of a vintage were published on its day itself, which takes one index lookup. Finding the newest of many days
  // costs four times as much, as PostgreSQL reads all that fit on an index page before it returns the first.
  as_of: `(select o.date, known.value, known.status, known.published_on from data.observations o
    cross join lateral (
      select o.value, o.status, o.published_on where o.published_on <= $7
      union all
      (select ${earlier} and c.published_on = $8)
      union all
      (select ${earlier} and c.published_on <= $7 order by c.published_on desc limit 1)
      limit 1) known
    where ${ofPoint} and o.date between $3 and $4 and o.superseded_on = 'infinity')`,
  history: everStored.replace('SUPERSEDED_AFTER', '$7'),
  first_release: `(select distinct on (o.date) ${columns}
    from ${everStored.replace('SUPERSEDED_AFTER', 'o.published_on')} o order by o.date, o.value is null, o.published_on)`,
};

const wanted = "($6::text = 'all' or ($6 = 'values' and p.value is not null) or p.value <> 0)";

/** The points of the combination in SQL, ordered, up to the limit. */
function pointsOf(lineNo: string, { reading, order }: Pick<PointsQuery, 'reading' | 'order'>): string {
  const rows = readings[reading].replaceAll('LINE_NO', lineNo);
  return `select p.* from ${rows} p where ${wanted} order by p.date ${order} limit $5`;
}

/**
 * A page of one combination as of a vintage. Most points of a vintage were published on its day itself: these are one range of
 * an index, whereas `as_of` looks each point up. A page ends after so many live points, whether or not the vintage has them.
 */
function pageAsOfSql({ order, hasDetails }: PointsQuery): string {
  const end = order === 'asc' ? 'last' : 'first';
  const closed = `c.line_no = $2 and c.superseded_on <> 'infinity' and c.superseded_on > $7`;
  // Without the materialized parts and NOT IN, which is a hash, PostgreSQL would compare each live point with each of the day.
  return `
    with live as materialized (
      select ${columns} from data.observations o
      where o.line_no = $2 and o.date between $3 and $4 and o.superseded_on = 'infinity'
      order by o.date ${order} limit $5
    ), bounds as materialized (
      select min(date) as first, max(date) as last, count(*) as points from live
    ), of_day as materialized (
      select c.date, c.value, c.status, c.published_on from data.observations c
      where ${closed} and c.published_on = $8
        and c.date between (select first from bounds) and (select last from bounds)
    ), known as (
      select * from live where published_on <= $7
      union all
      select * from of_day
      union all
      select o.date, c.* from live o cross join lateral (
        select c.value, c.status, c.published_on from data.observations c
        where ${closed} and c.date = o.date and c.published_on <= $7 order by c.published_on desc limit 1) c
      where o.published_on > $7 and o.date not in (select date from of_day)
    )
    select (select ${end} from bounds where points >= $5) as "lastComplete", ${textsOf(hasDetails)}
    from (select * from known p where ${wanted} order by p.date ${order}) points`;
}

/** The text columns of the points, in their order. */
function textsOf(hasDetails: boolean): string {
  const always = `string_agg(date::text, ',') as dates, string_agg(coalesce(value::text, ''), ',') as values`;
  return hasDetails
    ? `${always}, string_agg(published_on::text, ',') as "publishedOn",
       case when count(status) > 0 then json_agg(status) end as statuses`
    : always;
}

/** Of one combination, every date is complete: half the cost for 300 points (2026-11-23), and a plan that suits any parameters. */
function oneCombinationSql(query: PointsQuery): string {
  const last = query.order === 'asc' ? 'max' : 'min';
  return `select case when count(*) >= $5 then ${last}(date) end as "lastComplete", ${textsOf(query.hasDetails)}
    from (${pointsOf('$2', query)}) points`;
}

function combinationsSql(query: PointsQuery): string {
  const { order, cut, hasDetails } = query;
  const [last, frontier, isComplete] = order === 'asc' ? ['max', 'min', '<='] : ['min', 'max', '>='];
  return `
    with read as materialized (
      select d.line_no, p.* from unnest($2::int[]) as d(line_no) cross join lateral (${pointsOf('d.line_no', query)}) p
    ), stopped as (
      select ${frontier}(last) as at from (
        select ${last}(date) as last from read group by line_no having count(*) >= $5) ends
    )
    select (select at from stopped) as "lastComplete", string_agg(line_no::text, ',') as "lineNos", ${textsOf(hasDetails)}
    from (select * from read
      ${cut === 'all' ? '' : `where (select at from stopped) is null or date ${isComplete} (select at from stopped)`}
      order by date ${order}, line_no ${order}) points`;
}

function isPageAsOf({ reading, lineNos, cut }: PointsQuery): boolean {
  return reading === 'as_of' && lineNos.length === 1 && cut === 'complete_dates';
}

/**
 * name → text. The client compares the text of a statement with that of its name at each call: identical string objects compare at once.
 */
const texts = new Map<string, string>();

function textOf(name: string, query: PointsQuery): string {
  let text = texts.get(name);
  if (text === undefined) {
    const points = isPageAsOf(query)
      ? pageAsOfSql(query)
      : query.lineNos.length === 1
        ? oneCombinationSql(query)
        : combinationsSql(query);
    text = `select s.version, s."rowVersion", p.* from (${points}) p
      left join (select r.data_version as version, ${rowVersion('r')} as "rowVersion" from data.series r where r.series_no = $1) s on true`;
    texts.set(name, text);
  }
  return text;
}

/**
 * Reads points as columns of text: rows of objects would take Node four times as long (measured 2026-11-20).
 * @returns one row, of the snapshot with that `version`. `live` and `as_of` are valid only if it is the requested one.
 */
export async function readPoints(database: Queryable, query: PointsQuery): Promise<PointsRow> {
  const { reading, lineNos, order, cut, hasDetails } = query;
  const isOne = lineNos.length === 1;
  const values: unknown[] = [
    query.seriesNo,
    isOne ? entryAt(lineNos, 0) : lineNos,
    query.from,
    query.to,
    query.perCombinationMax,
    query.wanted,
  ];
  if (reading !== 'live') values.push(query.vintage ?? 'infinity');
  if (reading === 'as_of') values.push(query.vintagePublishedOn);
  if (reading === 'history' || reading === 'first_release') values.push(query.version);
  const form = isPageAsOf(query) ? 'page' : isOne ? 'one' : cut;
  const name = `points_${reading}_${order}_${form}${hasDetails ? '_details' : ''}`;
  const [row] = await database.query<PointsRow>(textOf(name, query), values, name);
  if (row === undefined) throw new Error('an aggregate always gives one row');
  return row;
}
