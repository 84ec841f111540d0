// The statements about one series besides those of its points: its facts, its versions, its neighbours. The storage model is in
// migrations/000001_series.sql.
import type { Queryable } from '../../../kernel/database.ts';
import type { Frequency } from '../../../domain/periods.ts';
import { utc } from '../../instants.sql.ts';

/** One combination of dimension values; a series without dimensions has only `{}`. */
export interface Combination {
  /** Negative if it is not stored, but an average of stored ones. */
  lineNo: number;
  dims: Readonly<Record<string, string>>;
  /** For an average: the stored combinations; the mean is over those that have a value on the date. */
  averageOf?: readonly number[];
}

export interface Footnote {
  /** As published, such as 1 or *; null without one. */
  mark: string | null;
  text: string;
  /** The note is on the points whose dimension values include these. */
  dims: Readonly<Record<string, string>>;
}

/** A date from which the points of a series are in another unit, and the unit before it. */
export interface Break {
  /** The first date in the new unit. */
  date: string;
  /** Null if unknown. */
  unit: string | null;
  unitMultiplier: number | null;
  note: string | null;
  /** Vintages of earlier days, and earlier loads, do not have it. */
  declaredOn: string;
  loadNo: number;
}

/** A date from which a series continues as another one, of another frequency. */
export interface Continuation {
  date: string;
  /** The present id of the other series. */
  id: string;
  /** The frequency of the other series. */
  frequency: Frequency;
  note: string | null;
  /** Vintages of earlier days, and earlier loads, do not have it. */
  declaredOn: string;
  loadNo: number;
}

/** The facts of a series that a call needs before it reads points. */
export interface Series {
  seriesNo: number;
  id: string;
  /** The earlier id in the request; null if it used the present one. */
  renamedFrom: string | null;
  /**
   * The requested id belonged to a series that was merged into this one: as of earlier days, and pinned to earlier loads, it still does.
   */
  merged: { seriesNo: number; on: string; loadNo: number } | null;
  /** The day since which it is not served; null for series that are. */
  deletedOn: string | null;
  name: string;
  /** Null if unknown. */
  unit: string | null;
  frequency: Frequency;
  /** Null if unknown. */
  source: string | null;
  description: string | null;
  geography: string | null;
  seasonalAdjustment: string | null;
  unitMultiplier: number | null;
  decimals: number | null;
  licence: string | null;
  licenceUrl: string | null;
  attribution: string | null;
  fiscalYearEnd: string | null;
  tags: string[];
  category: string | null;
  methodologyUrl: string | null;
  /** The notes on the series; see `findPointNotes` for those on its points. */
  footnotes: Footnote[];
  /** The breaks of its unit, by date. */
  breaks: Break[];
  /** Null if it continues as no other series. */
  continuation: Continuation | null;
  /** The series that continue as this one, by id. */
  continues: Pick<Continuation, 'id' | 'declaredOn' | 'loadNo'>[];
  dimensions: string[];
  firstDate: string | null;
  lastDate: string | null;
  observationCount: number;
  lastUpdated: string | null;
  /** The last load that changed the points, to which reads are pinned. */
  version: number;
  /** Changes with every change of the row, by a load or of its facts. No two series have the same one. */
  rowVersion: string;
  changedAt: Date;
  firstVintage: string | null;
  /** The next releases of it in the calendar, at most `releasesMax`, ascending, ISO 8601 in UTC. */
  releases: string[];
  /** The newest publication day up to the requested vintage; null without a vintage, or before the first. */
  vintagePublishedOn: string | null;
  /** Whether the requested vintage may include a point that is no longer live: one was deleted since. */
  vintageHasLostPoints: boolean;
  /** Dimension → value → its label, for values that have one. */
  labels: Readonly<Record<string, Readonly<Record<string, string>>>>;
  combinations: Combination[];
  /** The notes on its points, by date, if they were read. */
  pointNotes?: ReadonlyMap<string, readonly Footnote[]>;
}

/** Vintages without changes are stored too, but not shown to readers. */
const changed = 'v.points_new + v.points_revised + v.points_deleted > 0';

/** The two fields about a vintage. */
const ofVintage = `
    (select max(v.published_on) from data.vintages v
      where v.series_no = s.series_no and v.published_on <= $2 and ${changed}) as "vintagePublishedOn",
    exists (select from data.vintages v
      where v.series_no = s.series_no and v.published_on > $2 and v.points_deleted > 0) as "vintageHasLostPoints"`;

/** The present id of the series that has the id of the parameter, now or earlier; the same if there is none. */
export const presentId = (parameter: string): string =>
  `coalesce((select n.series_id from data.series_aliases a join data.series n using (series_no) where a.alias = ${parameter}), ${parameter})`;

/** The version of a row of data.series; if an id is given to another series, the version also differs. */
export const rowVersion = (row: string): string => `${row}.series_no || '.' || ${row}.row_version`;

/** The note of a row `f`. */
const footnote = `json_build_object('mark', nullif(f.mark, ''), 'text', f.text, 'dims', f.dims)`;

/** More would fill the caches where releases are daily. */
export const releasesMax = 20;

// Two statements, not one whose second parameter may be null: that would be cheaper when planned for null, so PostgreSQL would plan it again
// for each call, which takes four times as long as the statement itself (2026-11-23).
const seriesSql = (
  vintageFields: string,
  after: string,
  isAsked = `s.series_id = ${presentId('$1')}`,
): string => `
  select s.series_no as "seriesNo", s.series_id as id, nullif($1, s.series_id) as "renamedFrom", s.deleted_on as "deletedOn",
    (select json_build_object('seriesNo', a.merged_from, 'on', a.merged_on, 'loadNo', a.merged_by)
     from data.series_aliases a where a.alias = $1 and a.merged_from <> s.series_no) as merged, s.name, s.unit, s.frequency, s.source, s.description, s.geography,
    s.seasonal_adjustment as "seasonalAdjustment", s.unit_multiplier as "unitMultiplier", s.decimals, s.licence,
    s.licence_url as "licenceUrl", s.attribution, s.fiscal_year_end as "fiscalYearEnd", s.tags, s.category,
    s.methodology_url as "methodologyUrl", s.dimensions, s.first_date as "firstDate",
    s.last_date as "lastDate", s.observation_count as "observationCount", s.last_updated as "lastUpdated",
    s.data_version as version, ${rowVersion('s')} as "rowVersion",
    greatest(s.updated_at, (select l.loaded_at from data.loads l where l.load_no = s.data_version)) as "changedAt",
    (select min(v.published_on) from data.vintages v where v.series_no = s.series_no and ${changed}) as "firstVintage",
    array(select ${utc('release_at')} from data.releases r
      where r.series_ids @> array[s.series_id] and coalesce(r.status not in ('cancelled', 'delayed'), true) and r.release_at > ${after}
      order by release_at limit ${releasesMax}) as releases,
    ${vintageFields},
    (select coalesce(json_object_agg(dimension, labels), '{}') from (
       select dimension, json_object_agg(value, label) as labels from (
         select l.dimension, l.value, l.label from data.dimension_labels l where l.series_no = s.series_no
         union all
         select 'city', c.city_id, c.name from data.commodity_cities c
         where exists (select from data.commodity_items i where i.series_no = s.series_no)) named
       group by dimension) labelled) as labels,
    (select coalesce(json_agg(${footnote} order by f.mark, f.dims::text), '[]')
       from data.footnotes f where f.series_no = s.series_no and f.date = '-infinity') as footnotes,
    (select coalesce(json_agg(json_build_object('date', b.date, 'unit', b.from_unit, 'unitMultiplier', b.from_unit_multiplier,
       'note', b.note, 'declaredOn', b.declared_on, 'loadNo', b.load_no) order by b.date), '[]')
       from data.series_breaks b where b.series_no = s.series_no) as breaks,
    (select json_build_object('date', c.date, 'id', n.series_id, 'frequency', n.frequency, 'note', c.note,
       'declaredOn', c.declared_on, 'loadNo', c.load_no)
       from data.series_continuations c join data.series n on n.series_no = c.continued_by
       where c.series_no = s.series_no and n.deleted_on is null) as continuation,
    (select coalesce(json_agg(json_build_object('id', o.series_id, 'declaredOn', c.declared_on, 'loadNo', c.load_no) order by o.series_id), '[]')
       from data.series_continuations c join data.series o using (series_no)
       where c.continued_by = s.series_no and o.deleted_on is null) as continues,
    coalesce((
      select json_agg(json_build_object('lineNo', d.line_no, 'dims', (
        select coalesce(json_object_agg(name, d.dims -> name order by place), '{}')
        from unnest(s.dimensions) with ordinality as named(name, place) where d.dims ? name)) order by d.line_no)
      from data.series_dims d where d.series_no = s.series_no), '[]') as combinations
  from data.series s where ${isAsked}`;

const withoutVintage = 'null as "vintagePublishedOn", false as "vintageHasLostPoints"';
const seriesNowSql = seriesSql(withoutVintage, '$2::timestamptz');
const seriesAtSql = seriesSql(ofVintage, '$3::timestamptz');

/** The series with the id, now or earlier, or undefined. @param vintage fills the two fields about a vintage. @param now its releases are later. */
export async function findSeries(
  database: Queryable,
  id: string,
  vintage: string | null,
  now: Date,
): Promise<Series | undefined> {
  const [series] =
    vintage === null
      ? await database.query<Series>(seriesNowSql, [id, now], 'series')
      : await database.query<Series>(seriesAtSql, [id, vintage, now], 'series_at_vintage');
  return series;
}

const mergedNowSql = seriesSql(withoutVintage, `'infinity'`, 's.series_no = $2');
const mergedAtSql = seriesSql(ofVintage, `'infinity'`, 's.series_no = $3');

/** A series that was merged into another, in its state before the merge, without releases. @param id the requested one, an id that it had. */
export async function findMergedSeries(
  database: Queryable,
  { id, seriesNo }: { id: string; seriesNo: number },
  vintage: string | null,
): Promise<Series | undefined> {
  const [series] =
    vintage === null
      ? await database.query<Series>(mergedNowSql, [id, seriesNo], 'merged_series')
      : await database.query<Series>(mergedAtSql, [id, vintage, seriesNo], 'merged_series_at_vintage');
  return series;
}

/** id → rowVersion of the series that exist, by the requested ids, present or earlier. */
export async function readRowVersions(
  database: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await database.query<{ id: string; rowVersion: string; isAlias: boolean }>(
    `select s.series_id as id, ${rowVersion('s')} as "rowVersion", false as "isAlias" from data.series s where s.series_id = any($1)
     union all
     select a.alias, ${rowVersion('s')}, true from data.series_aliases a join data.series s using (series_no) where a.alias = any($1)`,
    [ids],
    'series_row_versions',
  );
  const versions = new Map<string, string>();
  // The id of a merged series is in both tables: a request for it gets the other series.
  for (const { id, rowVersion, isAlias } of rows)
    if (isAlias || !versions.has(id)) versions.set(id, rowVersion);
  return versions;
}

/**
 * The notes on points of a window, by date, and the version of the series' row for which they are valid; undefined if the series is gone.
 */
export async function findPointNotes(
  database: Queryable,
  seriesNo: number,
  { from, to }: { from: string; to: string },
): Promise<{ rowVersion: string; notes: ReadonlyMap<string, readonly Footnote[]> } | undefined> {
  const [row] = await database.query<{ rowVersion: string; notes: { date: string; notes: Footnote[] }[] }>(
    `select ${rowVersion('s')} as "rowVersion", (
       select coalesce(json_agg(json_build_object('date', date, 'notes', notes)), '[]') from (
         select f.date, json_agg(${footnote} order by f.mark, f.dims::text) as notes
         from data.footnotes f where f.series_no = s.series_no and f.date between $2 and $3 group by f.date) dated) as notes
     from data.series s where s.series_no = $1`,
    [seriesNo, from, to],
    'point_notes',
  );
  return (
    row && { rowVersion: row.rowVersion, notes: new Map(row.notes.map(({ date, notes }) => [date, notes])) }
  );
}

/** Up to six ids nearest to a mistyped one, by spelling or by case. */
export async function findNeighbourIds(database: Queryable, id: string): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    `select series_id as id from data.series where series_id in (upper($1), lower($1)) and deleted_on is null
     union (select series_id from data.series where series_id > $1 and deleted_on is null order by series_id limit 2)
     union (select series_id from data.series where series_id < $1 and deleted_on is null order by series_id desc limit 2)`,
    [id],
    'series_neighbours',
  );
  return rows.map((row) => row.id);
}

/**
 * Whether a load after that version rewrote the history, by an older vintage or by reverting a change within a day: then the state of that
 * version can no longer be read.
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
