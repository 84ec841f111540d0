// The statements of the catalogue: its filters, orders and counts.
import { z } from 'zod';
import { frequencies } from '../../domain/periods.ts';
import type { Queryable } from '../../kernel/database.ts';
import { entryAt } from '../../kernel/entries.ts';
import { date, filled, json, number, sorted, text, word } from '../list-fields.ts';
import { Conditions, escapeLike, narrow, type List } from '../list.sql.ts';
import { rankedSeriesSql, type FacetCount } from '../search/hits.sql.ts';
import { Values } from '../search/ranking.sql.ts';
import type { SeriesWords } from '../search/series-words.ts';

/** All but the deleted ones. */
const servedSeries = '(select * from data.series where deleted_on is null) series';

/** The series in short form. */
export const catalogList: List = {
  name: 'catalog',
  datasets: ['series', 'observations', 'commodity-items', 'commodity-prices'],
  from: servedSeries,
  fields: {
    id: sorted(filled(text('series_id'))),
    name: filled(text('name')),
    unit: text('unit'),
    frequency: filled(word('frequency', frequencies)),
    source: text('source'),
    category: text('category'),
    geography: text('geography'),
    tags: filled(json('tags', z.array(z.string()))),
    first_date: date('first_date'),
    last_date: date('last_date'),
    last_updated: sorted(date('last_updated')),
    observation_count: number('observation_count'),
  },
  key: ['id'],
  sort: 'id',
};

interface CatalogFilter {
  words?: SeriesWords | undefined;
  /** A category, including its subcategories. */
  category?: readonly string[] | undefined;
  source?: readonly string[] | undefined;
  frequency?: readonly string[] | undefined;
  geography?: readonly string[] | undefined;
  tag?: readonly string[] | undefined;
}

const isBelow = (p: string): string => `(category like ${p} or category || '/' like ${p})`;
const belowPattern = (category: string): string => `${escapeLike(category)}/%`;

/** PostgreSQL expects more matches of rare words than there are, and would look for them in the order of the page. */
const hasWords = (found: string, { words }: CatalogFilter): string =>
  words?.isRare === true ? `series_no = any(array(${found}))` : `series_no in (${found})`;

/** The conditions of the filter; that on words is the first. */
export function catalogWhere(filter: CatalogFilter): Conditions {
  const where = new Conditions().and(filter.words?.matching, (p) =>
    hasWords(`select e.series_no from data.search_entries e where words @@ ${p}::tsquery`, filter),
  );
  return withFacets(where, filter).any(filter.tag, (p) => `${p} = any(tags)`);
}

const withFacets = (
  where: Conditions,
  { category, source, frequency, geography }: CatalogFilter,
): Conditions =>
  where
    .any(category?.map(belowPattern), isBelow)
    .equals('source', source, 'source')
    .isOneOf(frequency, 'frequency')
    .equals('geography', geography, 'geography');

/** What a request counts. Series with some words are counted by their entries alone, unless a filter needs more. */
export function countedCatalog(filter: CatalogFilter): { list: List; where: Conditions } {
  const { words, tag } = filter;
  const narrowed = new Conditions();
  narrow(catalogList, filter, narrowed);
  if (words === undefined || tag !== undefined || narrowed.sql.length > 0)
    return { list: catalogList, where: catalogWhere(filter) };
  const from = '(select * from data.search_entries where series_no is not null) series';
  const where = new Conditions().and(words.matching, (p) => `words @@ ${p}::tsquery`);
  return { list: { ...catalogList, from }, where: withFacets(where, filter) };
}

/** With more subcategories than this, they are not looked up one by one: 20 take 3 ms, 60 take 11 (2026-11-28, 200,000 series). */
const categoriesMax = 20;

/** The catalogue below a category, in the order of ids. @param where of the catalogue without the category, which is added to its values. */
export function belowCategory(category: string, where: Conditions): List {
  const value = `$${where.values.push(category)}::text`;
  const pattern = `$${where.values.push(belowPattern(category))}::text`;
  const from = `(select value from data.facet_counts
    where facet = 'category' and (value = ${value} or starts_with(value, ${value} || '/'))) part`;
  const parts = { from, on: 'category = part.value', most: categoriesMax, otherwise: isBelow(pattern) };
  return { ...catalogList, parts };
}

/**
 * The catalogue in order of relevance: the series that search ranks, then the other matching ones by id, whose relevance is null.
 * @param newest the day of the newest load; null before the first load.
 */
export function byRelevance(
  { words, category, source, frequency }: CatalogFilter & { words: SeriesWords },
  newest: string | null,
): List {
  const { q } = words;
  const filter = { type: undefined, category, source, frequency };
  const ranked = [words, category, source, frequency].filter((each) => each !== undefined).length;
  const ctes = (where: Conditions): string => {
    const [, ...others] = where.sql;
    const isSelected =
      where.sql.length === ranked
        ? 'series_no is not null'
        : `series_no in (select series_no from ${servedSeries} where ${others.join(' and ')})`;
    return rankedSeriesSql(
      { q, words: words.words, filter, fewest: 1, newest, condition: isSelected },
      new Values(where.values),
    );
  };
  return {
    ...catalogList,
    from: '(select * from data.series left join ranked_series using (series_no) where deleted_on is null) series',
    fields: { ...catalogList.fields, relevance: sorted(number('relevance')) },
    ranking: { of: [q, newest], ctes },
  };
}

const facetValuesMax = 100;

export const catalogFacets = ['category', 'source', 'frequency', 'geography'] as const;

type CatalogFacet = FacetCount<(typeof catalogFacets)[number]>;

/**
 * The number of matching series by category, source, frequency and geography: the most common values. The loads store the counts for all
 * series; others are counted, which takes as long as finding the matching series.
 */
export async function countCatalogFacets(
  database: Queryable,
  { list, where }: { list: List; where: Conditions },
): Promise<CatalogFacet[]> {
  if (where.sql.length === 0)
    return database.query<CatalogFacet>(
      `select facet, value, series as count from unnest($1::text[]) asked (name), lateral (
         select * from data.facet_counts where facet = name order by series desc, value limit ${facetValuesMax}) most
       order by facet, series desc, value`,
      [catalogFacets],
      'catalog_facets',
    );
  return database.query(
    `select facet, value, count from (
       select facet, value, count, row_number() over (partition by facet order by count desc, value) as place
       from (
         select case when grouping(category) = 0 then 'category' when grouping(source) = 0 then 'source'
             when grouping(frequency) = 0 then 'frequency' else 'geography' end as facet,
           coalesce(category, source, frequency, geography) as value, count(*) as count
         from ${list.from} where ${where.sql.join(' and ')}
         group by grouping sets ((category), (source), (frequency), (geography))) counted
       where value is not null) placed
     where place <= ${facetValuesMax} order by facet, place`,
    where.values,
  );
}

/** The categories that series have; a parent category only if a series has it too. */
export async function listCategories(database: Queryable): Promise<string[]> {
  const rows = await database.query<{ value: string }>(
    `select value from data.facet_counts where facet = 'category'`,
  );
  return rows.map(({ value }) => value);
}

/** The tags of all series, and how many series have each. It scans every series. */
export function countTags(database: Queryable): Promise<{ name: string; count: number }[]> {
  return database.query(
    `select tag as name, count(*) as count from ${servedSeries}, unnest(tags) tag group by tag`,
  );
}

/**
 * The number of matching series, from the counts that the loads store; undefined if the filter is not a single facet, as only these are
 * counted.
 * @param where of the filter, with all other conditions of the request.
 */
export async function storedCount(
  database: Queryable,
  where: Conditions,
  filter: CatalogFilter,
): Promise<number | undefined> {
  const [facet, ...others] = catalogFacets.filter((name) => filter[name] !== undefined);
  const isOfFacet = others.length === 0 && where.sql.length === (facet === undefined ? 0 : 1);
  if (!isOfFacet) return undefined;
  const rows = await database.query<{ count: number }>(
    `select coalesce(sum(series), 0)::integer as count from data.facet_counts
     where facet = $1 and ($2::text[] is null or value = any($2)
       or facet = 'category' and exists (select from unnest($2) above where starts_with(value, above || '/')))`,
    [facet ?? 'frequency', facet === undefined ? null : filter[facet]],
    'kept_count',
  );
  return entryAt(rows, 0).count;
}

export const relatedSchema = z.object({
  id: z.string(),
  name: z.string(),
  unit: z.string().nullable(),
  frequency: z.enum(frequencies),
});
type RelatedSeries = z.output<typeof relatedSchema>;

const relatedMax = 10;
/** Related series usually have similar ids; this many before and after are compared. */
const neighbours = 50;

/** Series with a similar id that share the category, a tag, or source and geography; those with most in common first. */
export async function findRelated(database: Queryable, seriesNo: number): Promise<RelatedSeries[]> {
  return database.query<RelatedSeries>(
    `with one as materialized (select * from data.series where series_no = $1),
     near as (
       (select s.* from data.series s where s.deleted_on is null and s.series_id > (select series_id from one) order by s.series_id limit ${neighbours})
       union all
       (select s.* from data.series s where s.deleted_on is null and s.series_id < (select series_id from one) order by s.series_id desc limit ${neighbours})
     ), compared as (
       select n.series_id, n.name, n.unit, n.frequency,
         coalesce((n.category = one.category)::integer, 0) * 2
           + (select count(*) from unnest(n.tags) tag where tag = any(one.tags)) as alike,
         coalesce(n.source = one.source and n.geography = one.geography, false) as same_place
       from near n cross join one
     )
     select series_id as id, name, unit, frequency from compared where alike > 0 or same_place
     order by alike + same_place::integer desc, series_id limit ${relatedMax}`,
    [seriesNo],
    'related_series',
  );
}
