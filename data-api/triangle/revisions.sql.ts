// The statements of the triangle: the days of the vintages of a series, and every value that its points had in them, pinned to one version
// of the data. docs/decisions/0002-vintages.md describes how a revision is stored.
import type { Queryable } from '../../kernel/database.ts';

/** The days of the vintages that changed something up to a load, ascending. The newest load of a day has its counts, so a later one counts too. */
export async function readVintageDays(
  database: Queryable,
  seriesNo: number,
  version: number,
): Promise<string[]> {
  const rows = await database.query<{ day: string }>(
    `select published_on as day from data.vintages where series_no = $1 group by published_on
     having min(load_no) <= $2 and sum(points_new + points_revised + points_deleted) > 0 order by published_on`,
    [seriesNo, version],
    'vintage_days',
  );
  return rows.map(({ day }) => day);
}

interface RevisionsQuery {
  seriesNo: number;
  /** In the order in which they are read. */
  lineNos: readonly number[];
  /** Inclusive. */
  from: string;
  /** Inclusive. */
  to: string;
  /** Values that were valid on no day from the first to the last vintage are omitted. */
  firstVintage: string;
  lastVintage: string;
  version: number;
  /** The most revisions read per combination. */
  perCombinationMax: number;
}

/** Revisions as columns of text, in the order of the given combinations, then by date, then by publication. Null if there are none. */
export interface RevisionsRow {
  /** The data version that the statement saw; null when the series is gone. */
  version: number | null;
  lineNos: string | null;
  dates: string | null;
  /** Published digits; empty if published as missing. */
  values: string | null;
  /** The first day of each value. */
  publishedOn: string | null;
  /** The day after its last, or `infinity`. */
  supersededOn: string | null;
}

const ofCombination = `o.line_no = d.line_no and o.date between $3 and $4
  and o.published_on <= $6 and o.load_no <= $7`;

// Live and ended rows each have an index in this order: with a limit for each, no statement reads on to the end of the series.
const revisionsSql = `
  with read as materialized (
    select d.line_no, d.place, r.* from unnest($2::int[]) with ordinality as d(line_no, place) cross join lateral (
      select * from (
        (select o.date, o.value, o.published_on, o.superseded_on from data.observations o
         where ${ofCombination} and o.superseded_on = 'infinity'
         order by o.date limit $8)
        union all
        (select o.date, o.value, o.published_on,
           case when o.superseded_load_no > $7 then 'infinity' else o.superseded_on end
         from data.observations o
         where ${ofCombination} and o.superseded_on <> 'infinity' and (o.superseded_on > $5 or o.superseded_load_no > $7)
           and (o.published_on < o.superseded_on or o.superseded_load_no > $7)
         order by o.date, o.published_on limit $8)
      ) stored order by date, published_on limit $8) r
  )
  select (select data_version from data.series where series_no = $1) as version,
    string_agg(line_no::text, ',') as "lineNos", string_agg(date::text, ',') as dates,
    string_agg(coalesce(value::text, ''), ',') as values, string_agg(published_on::text, ',') as "publishedOn",
    string_agg(superseded_on::text, ',') as "supersededOn"
  from (select * from read order by place, date, published_on) revisions`;

/** Reads revisions; valid only if no load after that version rewrote its history. */
export async function readRevisions(database: Queryable, query: RevisionsQuery): Promise<RevisionsRow> {
  const { seriesNo, lineNos, from, to, firstVintage, lastVintage, version, perCombinationMax } = query;
  const values = [seriesNo, lineNos, from, to, firstVintage, lastVintage, version, perCombinationMax];
  const [row] = await database.query<RevisionsRow>(revisionsSql, values, 'revisions');
  if (row === undefined) throw new Error('an aggregate always gives one row');
  return row;
}
