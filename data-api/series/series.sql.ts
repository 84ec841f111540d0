// The statements about one series: its facts, its points as of a load and a vintage, its vintages.
// Hides the storage model (migrations/000001_data.sql) and how a read is pinned to one version of the data.
import type { Queryable } from '../../kernel/database.ts';
import type { Frequency } from '../../domain/periods.ts';
import { utc } from '../instants.sql.ts';

/** One combination of dimension values; a series without dimensions has only `{}`. */
export interface Combination {
  /** Negative if it is not stored, but an average of stored ones. */
  dimsNo: number;
  dims: Readonly<Record<string, string>>;
  /** For an average: the stored combinations; the mean is over those that have a value on the date. */
  averageOf?: readonly number[];
}

/** What a call needs to know about a series before it reads points. */
export interface Series {
  seriesNo: number;
  id: string;
  name: string;
  unit: string;
  frequency: Frequency;
  source: string;
  description: string | null;
  geography: string | null;
  seasonalAdjustment: string | null;
  unitMultiplier: number | null;
  decimals: number | null;
  licence: string | null;
  attribution: string | null;
  fiscalYearEnd: string | null;
  tags: string[];
  category: string | null;
  dimensions: string[];
  firstDate: string | null;
  lastDate: string | null;
  observationCount: number;
  lastUpdated: string | null;
  /** The last load that changed the points, to which reads are pinned. */
  version: number;
  /** Changes with every change of the row, by a load or of its facts. */
  rowVersion: string;
  changedAt: Date;
  firstVintage: string | null;
  /** Its releases in the calendar, ascending, ISO 8601 in UTC: the newest fifty, reduced to the coming ones if requested. */
  releases: string[];
  /** The newest publication day up to the requested vintage; null without a vintage, or before the first. */
  vintagePublishedOn: string | null;
  /** Whether the requested vintage may include a point that is no longer live: one was deleted since. */
  vintageHasLostPoints: boolean;
  /** Dimension → value → its label, for values that have one. */
  labels: Readonly<Record<string, Readonly<Record<string, string>>>>;
  combinations: Combination[];
}

/** Vintages without changes are stored too, but not shown to readers. */
const changed = 'v.points_new + v.points_revised + v.points_deleted > 0';

/** The two fields about a vintage. */
const ofVintage = `
    (select max(v.published_on) from data.vintages v
      where v.series_no = s.series_no and v.published_on <= $2 and ${changed}) as "vintagePublishedOn",
    exists (select from data.vintages v
      where v.series_no = s.series_no and v.published_on > $2 and v.points_deleted > 0) as "vintageHasLostPoints"`;

// Two statements, not one whose second parameter may be null: that would cost less to run when planned for null, so PostgreSQL
// would plan it anew for each call, which takes four times as long as the statement itself (2026-11-23).
const seriesSql = (vintageFields: string): string => `
  select s.series_no as "seriesNo", s.series_id as id, s.name, s.unit, s.frequency, s.source, s.description, s.geography,
    s.seasonal_adjustment as "seasonalAdjustment", s.unit_multiplier as "unitMultiplier", s.decimals, s.licence,
    s.attribution, s.fiscal_year_end as "fiscalYearEnd", s.tags, s.category, s.dimensions, s.first_date as "firstDate",
    s.last_date as "lastDate", s.observation_count as "observationCount", s.last_updated as "lastUpdated",
    s.data_version as version, s.xmin::text as "rowVersion",
    greatest(s.updated_at, (select l.loaded_at from data.loads l where l.load_no = s.data_version)) as "changedAt",
    (select min(v.published_on) from data.vintages v where v.series_no = s.series_no and ${changed}) as "firstVintage",
    array(select ${utc('release_at')} from (
      select release_at from data.releases r
      where r.series_ids @> array[s.series_id] and r.status is distinct from 'cancelled'
      order by release_at desc limit 50) newest order by release_at) as releases,
    ${vintageFields},
    (select coalesce(json_object_agg(dimension, labels), '{}') from (
       select dimension, json_object_agg(value, label) as labels from (
         select l.dimension, l.value, l.label from data.dimension_labels l where l.series_no = s.series_no
         union all
         select 'city', c.city_id, c.name from data.commodity_cities c
         where exists (select from data.commodity_items i where i.series_no = s.series_no)) named
       group by dimension) labelled) as labels,
    coalesce((
      select json_agg(json_build_object('dimsNo', d.dims_no, 'dims', (
        select coalesce(json_object_agg(name, d.dims -> name order by place), '{}')
        from unnest(s.dimensions) with ordinality as named(name, place) where d.dims ? name)) order by d.dims_no)
      from data.series_dims d where d.series_no = s.series_no), '[]') as combinations
  from data.series s where s.series_id = $1`;

const seriesNowSql = seriesSql('null as "vintagePublishedOn", false as "vintageHasLostPoints"');
const seriesAtSql = seriesSql(ofVintage);

/** The series with the id, or undefined. @param vintage fills the two fields about a vintage. */
export async function findSeries(
  database: Queryable,
  id: string,
  vintage: string | null,
): Promise<Series | undefined> {
  const [series] =
    vintage === null
      ? await database.query<Series>(seriesNowSql, [id], 'series')
      : await database.query<Series>(seriesAtSql, [id, vintage], 'series_at_vintage');
  return series;
}

/** id → rowVersion of the series that exist. */
export async function readRowVersions(
  database: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await database.query<{ id: string; rowVersion: string }>(
    'select series_id as id, xmin::text as "rowVersion" from data.series where series_id = any($1)',
    [ids],
    'series_row_versions',
  );
  return new Map(rows.map(({ id, rowVersion }) => [id, rowVersion]));
}

/** Up to six ids nearest to a mistyped one, by spelling or by case. */
export async function findNeighbourIds(database: Queryable, id: string): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    `select series_id as id from data.series where series_id in (upper($1), lower($1))
     union (select series_id from data.series where series_id > $1 order by series_id limit 2)
     union (select series_id from data.series where series_id < $1 order by series_id desc limit 2)`,
    [id],
    'series_neighbours',
  );
  return rows.map((row) => row.id);
}

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
  dimsNos: readonly number[];
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
  /** The last complete date if the reading stopped before the end; null at the end. */
  lastComplete: string | null;
  /** Joined by commas, ordered by date and dims_no; a missing value is empty. Null if there are no points. */
  dates: string | null;
  values: string | null;
  dimsNos: string | null;
  publishedOn: string | null;
  /** One status code per point, or null. */
  statuses: (string | null)[] | null;
}

// The rows of one point, in each of the four readings. d.dims_no is the combination; the outer query orders and limits.
const ofPoint = 'o.series_no = $1 and o.dims_no = d.dims_no';
const columns = 'o.date, o.value, o.status, o.published_on';
const earlier = `c.value, c.status, c.published_on from data.observations c
  where o.published_on > $7 and c.series_no = $1 and c.dims_no = d.dims_no and c.date = o.date
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

function pointsSql(reading: Reading, order: 'asc' | 'desc', cut: PointsQuery['cut']): string {
  const [last, frontier, isComplete] = order === 'asc' ? ['max', 'min', '<='] : ['min', 'max', '>='];
  return `
    with read as materialized (
      select d.dims_no, p.* from unnest($2::int[]) as d(dims_no) cross join lateral (
        select * from ${readings[reading]} p where ${wanted} order by p.date ${order} limit $5) p
    ), stopped as (
      select ${frontier}(last) as at from (
        select ${last}(date) as last from read group by dims_no having count(*) >= $5) ends
    )
    select (select data_version from data.series where series_no = $1) as version,
      (select at from stopped) as "lastComplete",
      string_agg(date::text, ',') as dates, string_agg(coalesce(value::text, ''), ',') as values,
      string_agg(dims_no::text, ',') as "dimsNos", string_agg(published_on::text, ',') as "publishedOn",
      case when count(status) > 0 then json_agg(status) end as statuses
    from (select * from read
      ${cut === 'all' ? '' : `where (select at from stopped) is null or date ${isComplete} (select at from stopped)`}
      order by date ${order}, dims_no ${order}) points`;
}

/**
 * Reads points as columns of text: rows of objects would take Node four times as long (measured 2026-11-20).
 * @returns one row, of the snapshot with that `version`. `live` and `as_of` are valid only if it is the requested one.
 */
export async function readPoints(database: Queryable, query: PointsQuery): Promise<PointsRow> {
  const { reading, order, cut } = query;
  const values: unknown[] = [
    query.seriesNo,
    query.dimsNos,
    query.from,
    query.to,
    query.perCombinationMax,
    query.wanted,
  ];
  if (reading !== 'live') values.push(query.vintage ?? 'infinity');
  if (reading === 'as_of') values.push(query.vintagePublishedOn);
  if (reading === 'history' || reading === 'first_release') values.push(query.version);
  const name = `points_${reading}_${order}_${cut}`;
  const [row] = await database.query<PointsRow>(pointsSql(reading, order, cut), values, name);
  if (row === undefined) throw new Error('an aggregate always gives one row');
  return row;
}

/**
 * Whether a load after that version rewrote its history, by an older vintage or by taking back a change within a day: then the
 * state of that version can no longer be read.
 */
export async function isRewrittenSince(
  database: Queryable,
  seriesNo: number,
  version: number,
): Promise<boolean> {
  const rows = await database.query(
    `select from data.vintages where series_no = $1 and load_no > $2 and (takes_back <= $2 or published_on <
       (select max(published_on) from data.vintages where series_no = $1 and load_no <= $2)) limit 1`,
    [seriesNo, version],
    'series_is_rewritten',
  );
  return rows.length > 0;
}
