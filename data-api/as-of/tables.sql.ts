// What the tables of schema data held at the end of a past day, as common table expressions: rows of the same columns, without all that was
// published later. A table that is not here keeps no past. The storage model is in migrations/000001_series.sql.

/** The day, in the expressions. */
export const dayMark = 'AS_OF_DAY';

export interface AsOfTable {
  /** The tables among these that it reads as of the day too. */
  needs?: readonly string[];
  sql: string;
}

const ofObservation = 'o.line_no, o.date, o.published_on';
/** Loads of later days left marks on rows of before only where they changed the past itself, which is then so for every version. */
const untilThen = (column: string): string =>
  `case when o.${column} in (select l.load_no from data.loads l where l.vintage > ${dayMark}) then 0 else o.${column} end as ${column}`;
const newerVintages = `(select from data.vintages v where v.series_no = s.series_no and v.published_on > ${dayMark})`;
const isChange = 'v.points_new + v.points_revised + v.points_deleted > 0';
/** A column that the loads keep is right if nothing was published later; otherwise it is computed. */
const orComputed = (column: string, computed: string): string =>
  `case when exists ${newerVintages} then ${computed} else s.${column} end as ${column}`;
/** `offset 0`: PostgreSQL reads each line through an index, and does not join the lines with all observations. */
const livePoints = (aggregate: string): string =>
  `(select ${aggregate} from as_of_series_dims d cross join lateral (
      select o.date, o.value from as_of_observations o where o.line_no = d.line_no and o.superseded_on = 'infinity' offset 0) o
    where d.series_no = s.series_no)`;
/** The break after the day, from which on the points are in another unit. */
const unitThen = (column: string): string =>
  `case when later.series_no is null then s.${column} else later.from_${column} end as ${column}`;

/** What a series says of itself is as it is now; these columns are not. */
const series = `
  select s.series_no, s.series_id, s.name, ${unitThen('unit')}, s.frequency, s.source, s.description, s.geography, s.seasonal_adjustment,
    ${unitThen('unit_multiplier')}, s.decimals, s.licence, s.attribution, s.fiscal_year_end, s.tags, s.category,
    case when exists (select from as_of_series_dims d where d.series_no = s.series_no) or not exists ${newerVintages}
      then s.dimensions else '{}' end as dimensions,
    ${orComputed('first_date', livePoints('min(o.date) filter (where o.value is not null)'))},
    ${orComputed('last_date', livePoints('max(o.date) filter (where o.value is not null)'))},
    ${orComputed('observation_count', livePoints('count(o.value)'))},
    ${orComputed('last_updated', `(select max(v.published_on) from as_of_vintages v where v.series_no = s.series_no and ${isChange})`)},
    case when exists (select from as_of_loads l where l.load_no = s.data_version) then s.data_version
      else coalesce(greatest((select max(v.load_no) from as_of_vintages v where v.series_no = s.series_no),
        (select max(b.load_no) from as_of_series_breaks b where b.series_no = s.series_no),
        (select max(c.load_no) from as_of_series_continuations c where s.series_no in (c.series_no, c.continued_by)),
        (select max(a.merged_by) from as_of_series_aliases a where a.series_no = s.series_no)), 0) end as data_version,
    s.row_version, s.created_at,
    least(s.updated_at, (${dayMark} + 1)::timestamp at time zone TIME_ZONE - interval '1 microsecond') as updated_at,
    s.licence_url, s.methodology_url,
    case when s.deleted_on <= ${dayMark} then s.deleted_on end as deleted_on
  from data.series s
  left join lateral (
    select b.series_no, b.from_unit, b.from_unit_multiplier from data.series_breaks b
    where b.series_no = s.series_no and b.declared_on > ${dayMark} order by b.date limit 1) later on true
  where (s.created_at at time zone TIME_ZONE)::date <= ${dayMark}
    or exists (select from data.vintages v where v.series_no = s.series_no and v.published_on <= ${dayMark})`;

export const asOfTables: Readonly<Record<string, AsOfTable>> = {
  loads: { sql: `select * from data.loads where vintage <= ${dayMark}` },
  vintages: { sql: `select * from data.vintages where published_on <= ${dayMark}` },
  // Three parts, each of which one of the partial indexes has.
  observations: {
    sql: `
      select ${ofObservation}, 'infinity'::date as superseded_on, ${untilThen('load_no')}, null::bigint as superseded_load_no, o.value, o.status
      from data.observations o where o.superseded_on = 'infinity' and o.published_on <= ${dayMark}
      union all
      select ${ofObservation}, 'infinity'::date, ${untilThen('load_no')}, null::bigint, o.value, o.status
      from data.observations o
      where o.superseded_on <> 'infinity' and o.superseded_on > ${dayMark} and o.published_on <= ${dayMark}
      union all
      select ${ofObservation}, o.superseded_on, ${untilThen('load_no')}, ${untilThen('superseded_load_no')}, o.value, o.status
      from data.observations o
      where o.superseded_on <> 'infinity' and o.superseded_on <= ${dayMark} and o.published_on <= ${dayMark}`,
  },
  // Looked up line by line: PostgreSQL would answer `exists` for all lines at once, from all observations.
  series_dims: {
    sql: `
      select d.* from data.series_dims d
      where coalesce(
        (select true from data.observations o
          where o.line_no = d.line_no and o.superseded_on = 'infinity' and o.published_on <= ${dayMark} limit 1),
        (select true from data.observations o
          where o.line_no = d.line_no and o.superseded_on <> 'infinity' and o.published_on <= ${dayMark} limit 1),
        false)`,
  },
  series: {
    needs: [
      'loads',
      'vintages',
      'observations',
      'series_dims',
      'series_aliases',
      'series_breaks',
      'series_continuations',
    ],
    sql: series,
  },
  // Until the day of the merge, the ids of a merged series are its own. Its last one is in the table of the series.
  series_aliases: {
    sql: `
      select a.alias, case when a.merged_on > ${dayMark} then a.merged_from else a.series_no end as series_no, a.renamed_at,
        case when a.merged_on <= ${dayMark} then a.merged_from end as merged_from,
        case when a.merged_on <= ${dayMark} then a.merged_on end as merged_on,
        case when a.merged_on <= ${dayMark} then a.merged_by end as merged_by
      from data.series_aliases a
      where a.merged_on is null or a.merged_on <= ${dayMark}
        or not exists (select from data.series o where o.series_no = a.merged_from and o.series_id = a.alias)`,
  },
  series_breaks: { sql: `select * from data.series_breaks where declared_on <= ${dayMark}` },
  series_continuations: { sql: `select * from data.series_continuations where declared_on <= ${dayMark}` },
  // What is shown beside the points, as it is now.
  dimension_labels: { sql: 'select * from data.dimension_labels' },
  footnotes: { sql: 'select * from data.footnotes' },
  commodity_cities: { sql: 'select * from data.commodity_cities' },
  commodity_items: { sql: 'select * from data.commodity_items' },
  // The calendar keeps no past: nothing of it is shown.
  releases: { sql: 'select * from data.releases where false' },
};
