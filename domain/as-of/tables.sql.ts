// The tables of schema data as of the end of a past day, as common table expressions: rows with the same columns, without anything published later. A
// table that is not here has no history. The storage model is in migrations/000001_series.sql.

/** The day, in the expressions. */
export const dayMark = 'AS_OF_DAY';

export interface AsOfTable {
  /** The other tables here that it reads, also as of the day. */
  needs?: readonly string[];
  /** Its rows are costly to compute: a statement that reads it often computes them once. */
  isCostly?: true;
  /** Every statement computes its rows once, as it is read for each of many rows. */
  isOnce?: true;
  sql: string;
}

const ofObservation = 'o.line_no, o.date, o.published_on';
const isLater = (column: string): string =>
  `o.${column} in (select l.load_no from data.loads l where l.vintage > ${dayMark})`;
/** A later load began an earlier row only if it changed the past itself; the row is then valid in every version, so its load is 0. */
const startedBy = `case when ${isLater('load_no')} then 0 else o.load_no end as load_no`;
/**
 * A row that ended before the day may name a later load as the one that ended it: an older vintage, loaded afterwards, has moved the end to its own
 * day. As of the day, that vintage ended the row.
 */
const endedBy = `case when not ${isLater('superseded_load_no')} then o.superseded_load_no else coalesce((
        select min(v.load_no) from data.series_dims d join data.vintages v using (series_no)
        where d.line_no = o.line_no and v.published_on = o.superseded_on and v.load_no > o.superseded_load_no), 0) end as superseded_load_no`;
const newerVintages = `(select from data.vintages v where v.series_no = s.series_no and v.published_on > ${dayMark})`;
const isChange = 'v.points_new + v.points_revised + v.points_deleted > 0';
/**
 * A load that restated a whole series has a vintage without counts; of several loads of a day, only the newest has counts. An erasure, which changes
 * only the past, reverts all of it.
 */
const hasChanged = `(${isChange} or v.takes_back is not null or exists (
      select from data.vintages w where w.series_no = v.series_no and w.published_on = v.published_on and w.load_no <> v.load_no))`;
/** The stored value of a column that loads maintain is valid if nothing was published later; otherwise the column is computed. */
const orComputed = (column: string, computed: string): string =>
  `case when exists ${newerVintages} then ${computed} else s.${column} end as ${column}`;
/** `offset 0`: PostgreSQL reads each line through an index, and does not join the lines with all observations. */
const livePoints = (aggregate: string): string =>
  `(select ${aggregate} from as_of_series_dims d cross join lateral (
      select o.date, o.value from as_of_observations o where o.line_no = d.line_no and o.superseded_on = 'infinity' offset 0) o
    where d.series_no = s.series_no)`;
/** The facts of the kind that the series had at the end of the day and that have changed since. */
const changedFacts = (kind: string, seriesNo: string): string =>
  `select from data.former_facts f where f.kind = '${kind}' and f.series_no = ${seriesNo} and f.replaced_on > ${dayMark}`;
const former = (kind: string): string => `
  f.kind = '${kind}' and f.replaced_on > ${dayMark} and not exists (select from data.former_facts e
    where e.kind = f.kind and e.series_no = f.series_no and e.replaced_on > ${dayMark} and e.replaced_on < f.replaced_on)`;

/** The rows of a table of facts as of the day: the current ones if they have not changed since, otherwise the former ones. */
const rowsThen = (table: string, kind: string, columns: string): string => `
  select t.series_no, ${columns} from data.${table} t where not exists (${changedFacts(kind, 't.series_no')})
  union all
  select f.series_no, ${columns} from data.former_facts f cross join lateral jsonb_populate_recordset(null::data.${table}, f.content) t
  where ${former(kind)}`;

/**
 * A table from which no load deletes rows. The row as of the day is the present one, or the one that the first load after the day replaced. A row
 * that no load has made is always included.
 */
export const lastRows = (table: string): string => `
  select k.* from data.${table} k where k.load_no is null or k.load_no in (select l.load_no from as_of_loads l)
  union all
  select former.* from data.${table} k
  cross join lateral (
    select r.row_no, r.load_no, r.content from data.replaced_rows r
    where r.row_no = k.row_no and not exists (select from as_of_loads l where l.load_no = r.replaced_by)
    order by r.replaced_by limit 1) r
  cross join lateral jsonb_populate_record(
    null::data.${table}, r.content || jsonb_build_object('row_no', r.row_no, 'load_no', r.load_no)) former
  where r.load_no is null or r.load_no in (select l.load_no from as_of_loads l)`;

/** The columns that loads maintain, and those that state facts of the series. */
const loadColumns =
  'series_no dimensions first_date last_date observation_count last_updated data_version row_version created_at updated_at'.split(
    ' ',
  );
const factColumns =
  `name unit frequency source description geography seasonal_adjustment unit_multiplier decimals licence attribution fiscal_year_end
  tags category licence_url methodology_url deleted_on`.split(/\s+/);
const columnsOf = (row: string, names: readonly string[]): string =>
  names.map((name) => `${row}.${name}`).join(', ');

/** The former id is read from the content itself, as that has an index. */
const factsThen = `
  select ${columnsOf('t', loadColumns)}, t.series_id, ${columnsOf('t', factColumns)} from data.series t
  where not exists (${changedFacts('series', 't.series_no')})
  union all
  select ${columnsOf('t', loadColumns)}, f.content ->> 'series_id', ${columnsOf('n', factColumns)}
  from data.former_facts f join data.series t using (series_no) cross join lateral jsonb_populate_record(t, f.content) n
  where ${former('series')}`;
/** The ids, as of the day, of the series with these ids. */
const idsThen = (ids: string): string => `array(
  select coalesce((select f.content ->> 'series_id' from data.series t join data.former_facts f using (series_no)
    where t.series_id = every.id and ${former('series')}), every.id)
  from unnest(${ids}) with ordinality every (id, place) order by place)`;
const changedThen = `select min(f.updated_at) from data.former_facts f
  where f.kind in ('series', 'aliases', 'labels', 'notes') and f.series_no = s.series_no and f.replaced_on > ${dayMark}`;

const series = `
  select s.series_no, s.series_id, s.name, s.unit, s.frequency, s.source, s.description, s.geography, s.seasonal_adjustment,
    s.unit_multiplier, s.decimals, s.licence, s.attribution, s.fiscal_year_end, s.tags, s.category,
    case when exists (select from as_of_series_dims d where d.series_no = s.series_no) or not exists ${newerVintages}
      or exists (select from data.commodity_items i where i.series_no = s.series_no)
      then s.dimensions else '{}' end as dimensions,
    ${orComputed('first_date', livePoints('min(o.date) filter (where o.value is not null)'))},
    ${orComputed('last_date', livePoints('max(o.date) filter (where o.value is not null)'))},
    ${orComputed('observation_count', livePoints('count(o.value)'))},
    ${orComputed('last_updated', `(select max(v.published_on) from as_of_vintages v where v.series_no = s.series_no and ${isChange})`)},
    case when exists (select from as_of_loads l where l.load_no = s.data_version) then s.data_version
      else coalesce(greatest((select max(v.load_no) from as_of_vintages v where v.series_no = s.series_no and ${hasChanged}),
        (select max(b.load_no) from as_of_series_breaks b where b.series_no = s.series_no),
        (select max(c.load_no) from as_of_series_continuations c where s.series_no in (c.series_no, c.continued_by)),
        (select max(a.merged_by) from as_of_series_aliases a where a.series_no = s.series_no),
        (select max(f.load_no) from data.former_facts f join data.loads l using (load_no)
          where f.kind = 'series' and f.series_no = s.series_no and f.replaced_on <= ${dayMark} and l.dataset <> 'commodity-items')), 0)
      end as data_version,
    s.row_version, s.created_at,
    least(s.updated_at, (${changedThen}), (${dayMark} + 1)::timestamp at time zone TIME_ZONE - interval '1 microsecond') as updated_at,
    s.licence_url, s.methodology_url,
    case when s.deleted_on <= ${dayMark} then s.deleted_on end as deleted_on
  from (${factsThen}) s
  where (s.created_at at time zone TIME_ZONE)::date <= ${dayMark}
    or exists (select from data.vintages v where v.series_no = s.series_no and v.published_on <= ${dayMark})`;

export const asOfTables: Readonly<Record<string, AsOfTable>> = {
  loads: { sql: `select * from data.loads where vintage <= ${dayMark}` },
  vintages: { sql: `select * from data.vintages where published_on <= ${dayMark}` },
  // Three parts, each covered by one of the partial indexes.
  observations: {
    sql: `
      select ${ofObservation}, 'infinity'::date as superseded_on, ${startedBy}, null::bigint as superseded_load_no, o.value, o.status
      from data.observations o where o.superseded_on = 'infinity' and o.published_on <= ${dayMark}
      union all
      select ${ofObservation}, 'infinity'::date, ${startedBy}, null::bigint, o.value, o.status
      from data.observations o
      where o.superseded_on <> 'infinity' and o.superseded_on > ${dayMark} and o.published_on <= ${dayMark}
      union all
      select ${ofObservation}, o.superseded_on, ${startedBy}, ${endedBy}, o.value, o.status
      from data.observations o
      where o.superseded_on <> 'infinity' and o.superseded_on <= ${dayMark} and o.published_on <= ${dayMark}`,
  },
  // Looked up line by line: PostgreSQL would evaluate `exists` for all lines at once, by reading all observations.
  series_dims: {
    sql: `
      select d.* from data.series_dims d
      where coalesce(
        d.erased_from <= ${dayMark} or null,
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
  series_aliases: {
    sql: rowsThen(
      'series_aliases',
      'aliases',
      columnsOf('t', ['alias', 'renamed_at', 'merged_from', 'merged_on', 'merged_by']),
    ),
  },
  series_breaks: { sql: `select * from data.series_breaks where declared_on <= ${dayMark}` },
  series_continuations: { sql: `select * from data.series_continuations where declared_on <= ${dayMark}` },
  dimension_labels: {
    sql: rowsThen('dimension_labels', 'labels', columnsOf('t', ['dimension', 'value', 'label'])),
  },
  footnotes: { sql: rowsThen('footnotes', 'notes', columnsOf('t', ['date', 'dims', 'mark', 'text'])) },
  // Loads of prices create cities without a load number.
  commodity_cities: {
    needs: ['loads', 'commodity_items', 'series_dims'],
    sql: `
      select c.* from (${lastRows('commodity_cities')}) c
      where c.load_no is not null or (c.created_at at time zone TIME_ZONE)::date <= ${dayMark} or exists (
        select from as_of_commodity_items i join as_of_series_dims d using (series_no) where d.dims ->> 'city' = c.city_id)`,
  },
  commodity_items: {
    needs: ['loads', 'series'],
    sql: `
      select i.* from (${lastRows('commodity_items')}) i
      where i.load_no is not null or exists (select from as_of_series s where s.series_no = i.series_no)`,
  },
  releases: {
    needs: ['loads'],
    sql: `
      select dated.* from (${lastRows('releases')}) k cross join lateral jsonb_populate_record(row(k.*)::data.releases, jsonb_build_object('series_ids', ${idsThen('k.series_ids')})) dated`,
  },
  // Dated by the instant of their load, which is when readers received them.
  updates: {
    sql: `select * from data.updates where at < (${dayMark} + 1)::timestamp at time zone TIME_ZONE`,
  },
  facet_counts: {
    needs: ['series'],
    sql: `
      select facet, value, count(*)::integer as series from as_of_series s, lateral (
        values ('category', s.category), ('source', s.source), ('frequency', s.frequency), ('geography', s.geography)) each (facet, value)
      where s.deleted_on is null and value is not null group by facet, value`,
  },
};
