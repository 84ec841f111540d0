// The statements of search: ranked matches and facet counts. No query reads more than a few thousand entries. The tables are in
// migrations/000006_discovery.sql.
import { z } from 'zod';
import type { Queryable } from '../../kernel/database.ts';
import { nothing, sampledEntries, type AskedWords } from './queries.sql.ts';
import {
  startsWithSql,
  comparison,
  finerRank,
  alike,
  isStale,
  popularIds,
  Values,
  wordsOfName,
} from './ranking.sql.ts';

/**
 * How an entry matches, best first: by its whole id or name; by whole words at the beginning of one; by every word in id and name; by
 * synonyms of the words there; by every word in all its metadata; by every word with the last one as a prefix (in id and name, then in all
 * metadata); by synonyms in all metadata; and by some of the words.
 */
export const matchKinds = [
  'id',
  'name',
  'id_beginning',
  'name_beginning',
  'name_words',
  'name_synonyms',
  'words',
  'name_words_begun',
  'words_begun',
  'synonyms',
  'some_words',
] as const;
export const someWords = matchKinds.indexOf('some_words');

/** At most this many prefix matches are ranked. */
const matchesMax = 500;
/** At most this many whole-word matches are ranked: the first that the index returns. */
const rankedMax = 1_000;
/**
 * Common words are found fastest by scanning entries; the index would first list all of them. A sample of the table decides: if one in so
 * many matches, at most so many entries are scanned before the index is used. Measured 2026-11-20 with a million entries and two words that
 * an eighth of them have: 13 ms of server CPU instead of 50 ms.
 */
const commonRatio = 25;
const readMax = 25_000;
/** If this many entries match, neither synonyms nor the last word as a prefix are tried. */
const enough = 100;
/** At most this many series are ranked: the sum of the other limits. PostgreSQL would otherwise expect very many. */
const seriesMax = 4_000;
/** At most this many entries are ranked for each word or term that they match. */
const someMax = 200;

interface SearchFilter {
  type: readonly string[] | undefined;
  frequency: readonly string[] | undefined;
  source: readonly string[] | undefined;
  /** Categories, including their subcategories. */
  category: readonly string[] | undefined;
}

export interface SearchQuery {
  /** As typed. */
  q: string;
  words: AskedWords;
  filter: SearchFilter;
  /** If fewer entries have all words, those that have some are searched for as well. */
  fewest: number;
  /** The day of the newest load, as of which series are stale or not; null before the first load. */
  newest: string | null;
  /** A further condition on entries, in SQL. */
  condition?: string;
}

/** The position of a hit in the order: two ranks, then the number of the entry. */
export type HitPlace = readonly [rank: number, finerRank: number, entryNo: number];

export const searchTypes = ['series', 'fund', 'amc', 'security', 'commodity'] as const;
export const searchFacets = ['type', 'frequency', 'source', 'category'] as const;

/** A hit, as sent. */
export const hitSchema = z.object({
  type: z.enum(searchTypes),
  id: z.string(),
  name: z.string(),
  unit: z.string().nullable(),
  frequency: z.string().nullable(),
  source: z.string().nullable(),
  category: z.string().nullable(),
  last_date: z.iso.date().nullable(),
  last_updated: z.iso.date().nullable(),
  match: z.enum(matchKinds).describe('How it matches, best first.'),
  score: z.number().describe('From 0 to 1; only the order is meaningful.'),
  matched: z.array(z.string()).describe('The words of the query that it has, itself or by a synonym.'),
  highlight: z.string().describe('HTML: the name with the words of the query in `<mark>`.'),
  excerpt: z
    .string()
    .nullable()
    .describe(
      'HTML: where the other metadata have words of the query, in `<mark>`; null if the name has all that were found.',
    ),
});

export interface SearchHit extends Omit<z.output<typeof hitSchema>, 'match' | 'score' | 'matched'> {
  /** A position in `matchKinds`. */
  match: number;
  /** How much of the query it has: from 0 to 1000. */
  covered: number;
  /** For each compared word or term, whether the entry has it. */
  found: boolean[];
  rank: number;
  finerRank: number;
  entryNo: number;
}

/** How many have a value. */
export interface FacetCount<Facet> {
  facet: Facet;
  value: string;
  count: number;
}

const escaped = (text: string) =>
  `replace(replace(replace(${text}, '&', '&amp;'), '<', '&lt;'), '>', '&gt;')`;
const marks = 'StartSel=<mark>, StopSel=</mark>';

/** A page of hits, best first (or newest first). @param after the position of the last hit of the previous page. */
export async function findHits(
  database: Queryable,
  query: SearchQuery,
  page: { sort: 'relevance' | 'updated'; after: HitPlace | null; limit: number },
): Promise<SearchHit[]> {
  const v = new Values();
  const hits = hitsSql(query, v);
  const [rank, finerRank] =
    page.sort === 'relevance'
      ? ['relevance', 'finer']
      : [`coalesce(date '1970-01-01' - last_updated, 2147483647)`, 'relevance'];
  const [first, second, third] = page.after ?? [];
  const behind =
    page.after === null
      ? ''
      : `where (rank, finer_rank, entry_no) > (${v.of(first)}::integer, ${v.of(second)}::integer, ${v.of(third)}::integer)`;
  const marked = v.query(query.words.marked);
  const { found } = comparison(query.words.compared, v, 'e.words');
  const rest = `concat_ws(' · ', nullif(e.facts, ''), e.source, e.category, left(e.description, 2000))`;
  return database.query<SearchHit>(
    `with ${hits}, page as (
       select * from (select *, ${rank} as rank, ${finerRank} as finer_rank from ranked) ranked ${behind}
       order by rank, finer_rank, entry_no limit ${v.of(page.limit)}
     )
     select e.type, e.id, e.name, e.unit, e.frequency, e.source, e.category, s.last_date, s.last_updated,
       ts_headline('data.english', ${escaped('e.name')}, ${marked}, '${marks}, HighlightAll=true') as highlight,
       case when p.covered > p.named then
         ts_headline('data.english', ${escaped(rest)}, ${marked}, '${marks}, MaxFragments=2, MaxWords=16, MinWords=4') end as excerpt,
       array[${found.join(', ')}]::boolean[] as found,
       p.match, p.covered, p.rank, p.finer_rank as "finerRank", p.entry_no as "entryNo"
     from page p join data.search_entries e using (entry_no) left join data.series s on s.series_no = e.series_no
     order by p.rank, p.finer_rank, p.entry_no`,
    v.all,
  );
}

/**
 * The CTEs up to `ranked_series`: the number of each series among the hits, and its `relevance`, an integer; smaller is more relevant.
 * The order is that of search.
 */
export const rankedSeriesSql = (query: SearchQuery, v: Values): string => `${hitsSql(query, v)},
  ranked_series as materialized (
    select series_no, relevance * 100000000::bigint + finer as relevance from ranked where series_no is not null
    order by relevance, entry_no limit ${seriesMax})`;

/** The number of ranked hits by type, frequency, source and category; the most common first. */
export async function countFacets(
  database: Queryable,
  query: SearchQuery,
): Promise<FacetCount<(typeof searchFacets)[number]>[]> {
  const v = new Values();
  return database.query(
    `with ${hitsSql(query, v)}
     select facet, value, count(*) as count
     from ranked join data.search_entries e using (entry_no), lateral (
       values ('type', e.type), ('frequency', e.frequency), ('source', e.source), ('category', e.category)
     ) facets (facet, value)
     where value is not null group by facet, value order by count(*) desc, value`,
    v.all,
  );
}

/** The values that all parts of a statement use. */
interface Parts {
  v: Values;
  text: string;
  /** The condition on the entries that match a tsquery and the filters. */
  matching: (query: string) => string;
  /** The condition on entries without an index of words. */
  passes: string;
  /** The ranking columns of each found entry, read while the row is at hand. */
  facts: string;
}

/**
 * The CTEs up to `ranked`: the found entries, in order of relevance. Statements without a name are planned for their values: common and
 * rare words need different plans.
 */
function hitsSql({ q, words, filter, fewest, newest, condition = 'true' }: SearchQuery, v: Values): string {
  const { type, frequency, source, category } = filter;
  const lexemes = v.query(filterLexemes(filter));
  const parts: Parts = {
    v,
    text: `btrim(data.search_text(${v.of(q)}))`,
    matching: (query) => `words @@ (${query} && ${lexemes}) and ${condition}`,
    passes: [
      ...Object.entries({ type, frequency, source }).flatMap(([column, values]) =>
        values === undefined ? [] : [`${column} = any(${v.of(values)}::text[])`],
      ),
      ...(category === undefined ? [] : [`(${category.map((each) => below(v.of(each))).join(' or ')})`]),
      condition,
    ].join(' and '),
    facts: `entry_no, series_no, length(name_text) as length, ${alike(words, v)} as alike`,
  };
  const { covered, total } = comparison(words.compared, v, 'words');
  const { covered: named } = comparison(words.compared, v, wordsOfName);
  return `${wholeSql(words, parts)}, ${someSql(words, fewest, parts)}, found as materialized (
    select entry_no, min(match) as match, min(series_no) as series_no, min(length) as length, max(alike) as alike
    from (select * from whole union all select * from with_some) every group by entry_no
  ), compared as materialized (
    select f.entry_no, f.series_no, f.match, f.length, f.alike, s.last_updated,
      case when f.match < ${someWords} then 1000 else (${covered}) * 1000 / ${total} end as covered,
      case when f.match < 6 then 1000 else (${named}) * 1000 / ${total} end as named,
      coalesce(s.series_id in (${popularIds}), false) as is_popular,
      f.series_no is not null and ${isStale('s', `${v.of(newest)}::date`)} as is_stale
    from found f
      -- An estimate of very many entries would make PostgreSQL read both tables as a whole.
      left join lateral (select words from data.search_entries e where e.entry_no = f.entry_no and f.match >= 6 offset 0) e on true
      left join lateral (select * from data.series s where s.series_no = f.series_no offset 0) s on true
  ), ranked as materialized (
    select entry_no, series_no, match, covered, named, last_updated,
      case when match < ${someWords} then match * 1000 else ${someWords} * 1000 + 1000 - covered end as relevance,
      ${finerRank({ named: 'named', isPopular: 'is_popular', stale: 'is_stale', alike: 'alike', length: 'length' })} as finer
    from compared
  )`;
}

const below = (parameter: string) =>
  `(category = ${parameter} or starts_with(category, ${parameter} || '/'))`;

/** Entries that match the whole query: by beginnings, by all words, by synonyms, and with the last word as a prefix. */
function wholeSql(words: AskedWords, { v, text, matching, passes, facts }: Parts): string {
  const [own, any] = [v.query(words.own), v.query(words.any)];
  const prefixMatches = (column: 'id_text' | 'name_text', whole: number, beginning: number) => `
    (select ${facts}, case when ${column} = ${text} then ${whole}
        when ${startsWithSql(column, text)} then ${beginning} else 7 end as match
     from (select * from data.search_entries where ${column} collate "C" >= ${text} and ${column} collate "C" < ${text} || chr(1114111)
           order by ${column} collate "C" limit ${matchesMax}) e where ${passes})`;
  const inName = (query: string, name: number, other: number) =>
    `${facts}, case when ${wordsOfName} @@ ${query} then ${name} else ${other} end as match`;
  const isCommon = (query: string, name: string) =>
    `count(*) filter (where ${matching(query)}) * ${commonRatio} > count(*) as ${name}`;
  const samples = words.compared.map(({ any: each }, i) => isCommon(v.query(each), `common_${i}`));
  const isFew = `(select count(*) from begins where match < 7) + (select count(*) from has_words) < ${enough}`;
  const isOther = words.any === words.own ? 'false' : `${isFew} and ${matching(any)}`;
  return `
  begins as materialized (${prefixMatches('id_text', 0, 2)} union all ${prefixMatches('name_text', 1, 3)}
  ), sample as materialized (
    select ${[isCommon(own, 'common'), isCommon(any, 'common_any'), ...samples].join(', ')}
    from ${sampledEntries}
  ), common as materialized (
    select ${inName(own, 4, 6)} from (select * from data.search_entries limit ${readMax}) e
    where (select common from sample) and ${matching(own)} limit ${rankedMax}
  ), has_words as materialized (
    select * from common where (select count(*) from common) = ${rankedMax}
    union all
    (select ${inName(own, 4, 6)} from data.search_entries
     where (select count(*) from common) < ${rankedMax} and ${matching(own)} limit ${rankedMax})
  ), common_synonyms as materialized (
    select ${inName(any, 5, 9)} from (select * from data.search_entries limit ${readMax}) e
    where (select common_any from sample) and ${isOther} limit ${matchesMax}
  ), has_synonyms as materialized (
    select * from common_synonyms where (select count(*) from common_synonyms) = ${matchesMax}
    union all
    (select ${inName(any, 5, 9)} from data.search_entries
     where (select count(*) from common_synonyms) < ${matchesMax} and ${isOther} limit ${matchesMax})
  ), whole as materialized (
    select * from begins union all select * from has_words union all select * from has_synonyms
    ${words.withPrefix === null ? '' : `union all (select ${inName(v.query(words.withPrefix), 7, 8)} from data.search_entries where ${isFew} and ${matching(v.query(words.withPrefix))} limit ${matchesMax})`}
  )`;
}

/**
 * Entries that match a part of the query, if few match all of it: first those that have every concept that any entry has, or all but one
 * if each is in an entry; then those that have one, then those that have a word of a term.
 */
function someSql({ compared }: AskedWords, fewest: number, { v, matching, facts }: Parts): string {
  const isFew = (...ctes: string[]) =>
    `not exists (select from begins where match < 2) and ${['whole', ...ctes].map((name) => `(select count(*) from ${name})`).join(' + ')} < ${fewest}`;
  const heaviest = Math.max(0, ...compared.map(({ weight }) => weight));
  /** The entries that match the query; of a common one, the first that a scan finds. */
  const having = (query: string, isFewSql: string, common?: string) => {
    const limit = `limit ${someMax}`;
    const byIndex = `(select ${facts} from data.search_entries
      where ${isFewSql} ${common === undefined ? '' : `and not (select ${common} from sample)`} and ${matching(query)} ${limit})`;
    return common === undefined
      ? byIndex
      : `${byIndex} union all (select ${facts} from (select * from data.search_entries limit ${readMax}) e
         where ${isFewSql} and (select ${common} from sample) and ${matching(query)} ${limit})`;
  };
  const none = `select ${facts} from data.search_entries where false`;
  const union = (selects: readonly string[]) => (selects.length === 0 ? none : selects.join(' union all '));
  const known = compared.filter(({ any }) => any !== nothing);
  const all = (parts: typeof known) =>
    having(v.query(parts.map(({ any }) => `(${any})`).join(' & ')), isFew());
  const most =
    known.length < compared.length
      ? known.length < 2
        ? []
        : [all(known)]
      : known.length < 3
        ? []
        : known.map((each) => all(known.filter((other) => other !== each)));
  const single = (isHeavy: boolean, few: string) =>
    compared.flatMap(({ any, weight, parts }, i) => [
      ...(compared.length > 1 && any !== nothing && weight >= Math.min(3, heaviest) === isHeavy
        ? [having(v.query(any), few, `common_${i}`)]
        : []),
      ...parts.flatMap(({ query, isContentWord }) =>
        isContentWord === isHeavy && query !== nothing ? [having(v.query(query), few)] : [],
      ),
    ]);
  return `
  most as materialized (${union(most)}
  ), heavy as materialized (${union(single(true, isFew('most')))}
  ), light as materialized (${union(single(false, `not exists (select from whole) and not exists (select from most) and not exists (select from heavy)`))}
  ), with_some as materialized (
    select *, ${someWords} as match from (select * from most union all select * from heavy union all select * from light) every
  )`;
}

/** The limits of a word in a tsquery or tsvector of PostgreSQL. */
const lexemeBytesMax = 2_046;

/** The filters as a tsquery. */
function filterLexemes({ type, frequency, source, category }: SearchFilter): string {
  // No entry has a longer value, nor an empty one.
  const lexeme = (name: string, value: string): string => {
    const word = `:${name}:${value}`;
    const possible = Buffer.byteLength(word) > lexemeBytesMax ? `:${name}:` : word;
    return `'${possible.replaceAll(/['\\]/g, '$&$&')}'`;
  };
  const either = (lexemes: readonly string[]) =>
    lexemes.length === 1 ? lexemes.join() : `(${lexemes.join(' | ')})`;
  return Object.entries({ type, frequency, source, category })
    .flatMap(([name, values]) =>
      values === undefined ? [] : [either(values.map((value) => lexeme(name, value)))],
    )
    .join(' & ');
}
