// The statements of search: ranked matches, facet counts, and corrections for a misspelt query.
// Hides its tables (migrations/000004_discovery.sql), and that no query looks at more than a few thousand entries.
import { z } from 'zod';
import type { Queryable } from '../../kernel/database.ts';
import { memberOf } from '../../kernel/entries.ts';

/**
 * How an entry matches, best first: by its whole id or name, by a prefix of one, by every word in id and name, by
 * every word in all its metadata, by the same two with the last word as a prefix, and by synonyms of the words.
 */
export const matchKinds = [
  'id',
  'name',
  'id_beginning',
  'name_beginning',
  'name_words',
  'words',
  'name_words_begun',
  'words_begun',
  'synonyms',
] as const;

/** At most this many prefix matches are ranked. If that many are found, no other kind of match is tried. */
const beginningsMax = 500;
/** At most this many whole-word matches are ranked: the first that the index returns. */
const rankedMax = 1_000;
/**
 * Common words are found fastest by scanning entries; the index would first list all of them.
 * A sample of the table decides: if one in so many matches, at most so many entries are scanned before the index is used.
 * Measured 2026-11-20 with a million entries and two words that an eighth of them have: 13 ms of server CPU instead of 50 ms.
 */
const samplePct = 0.1;
const commonRatio = 25;
const readMax = 25_000;
/** If this many entries match, the last word is not tried as a prefix. */
const enough = 100;

interface SearchFilter {
  type: string | undefined;
  frequency: string | undefined;
  source: string | undefined;
  /** A category, including its subcategories. */
  category: string | undefined;
}

export interface SearchQuery {
  /** As typed. */
  q: string;
  /** Replaces the words of `q`: a tsquery of the corrected words. */
  corrected: string | null;
  /** A tsquery of the words of `q` or their synonyms; null if none has any. */
  synonyms: string | null;
  filter: SearchFilter;
}

/** The place of a hit in the order: two ranks, then the number of the entry. */
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
  highlight: z.string().describe('HTML: the name with the words of the query in `<mark>`.'),
});

export interface SearchHit extends Omit<z.output<typeof hitSchema>, 'match' | 'score'> {
  /** A position in `matchKinds`. */
  match: number;
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

// $1 the text · $2 the corrected query or null · $3 the filters as a tsquery · $4–$7 the same filters as values · $8 the query with
// synonyms or null.
// Statements without a name are planned for their values: common and rare words need different plans.
const text = searchText('$1');
const last = lastWord('$1');
const whole = `coalesce($2::tsquery, ${wholeWords('$1')})`;
const begun = `(${begunWords('$1')})`;
const beginsWithText = (column: string) =>
  `${column} collate "C" >= ${text} and ${column} collate "C" < ${text} || chr(1114111)`;
const passes = `($4::text is null or type = $4) and ($5::text is null or frequency = $5)
  and ($6::text is null or source = $6) and ($7::text is null or category = $7 or starts_with(category, $7 || '/'))`;

const hits = `
  begins as materialized (
    (select entry_no, length(name_text) as length, case when id_text = ${text} then 0 else 2 end as match
     from (select * from data.search_entries where ${beginsWithText('id_text')}
           order by id_text collate "C" limit ${beginningsMax}) e where ${passes})
    union all
    (select entry_no, length(name_text), case when name_text = ${text} then 1 else 3 end
     from (select * from data.search_entries where ${beginsWithText('name_text')}
           order by name_text collate "C" limit ${beginningsMax}) e where ${passes})
  ), sample as materialized (
    select count(*) as entries, count(*) filter (where words @@ (${whole} && $3::tsquery)) as hits
    from data.search_entries tablesample system (${samplePct}) repeatable (1)
  ), common as materialized (
    select entry_no, length(name_text), case when ts_filter(words, '{a}') @@ ${whole} then 4 else 5 end
    from (select * from data.search_entries limit ${readMax}) e
    where (select count(*) from begins) < ${beginningsMax} and (select hits * ${commonRatio} > entries from sample)
      and words @@ (${whole} && $3::tsquery) limit ${rankedMax}
  ), has_words as materialized (
    select * from common where (select count(*) from common) = ${rankedMax}
    union all
    (select entry_no, length(name_text), case when ts_filter(words, '{a}') @@ ${whole} then 4 else 5 end
     from data.search_entries
     where (select count(*) from begins) < ${beginningsMax} and (select count(*) from common) < ${rankedMax}
       and words @@ (${whole} && $3::tsquery) limit ${rankedMax})
  ), hits as materialized (
    select entry_no, length, min(match) as match from (
      select * from begins
      union all
      select * from has_words
      union all
      (select entry_no, length(name_text), case when ts_filter(words, '{a}') @@ ${begun} then 6 else 7 end
       from data.search_entries
       where (select count(*) from begins) + (select count(*) from has_words) < ${enough} and length(${last}) >= 3
         and words @@ (${begun} && $3::tsquery) limit ${beginningsMax})
      union all
      (select entry_no, length(name_text), 8
       from data.search_entries
       where (select count(*) from begins) + (select count(*) from has_words) < ${enough} and $8::tsquery is not null
         and words @@ ($8::tsquery && $3::tsquery) limit ${beginningsMax})
    ) every group by entry_no, length
  )`;

function searchText(parameter: string): string {
  return `btrim(data.search_text(${parameter}))`;
}

function lastWord(parameter: string): string {
  return `split_part(${searchText(parameter)}, ' ', -1)`;
}

function wholeWords(parameter: string): string {
  return `plainto_tsquery('data.english', ${searchText(parameter)})`;
}

/** The words of the text, with the last one as a prefix. */
function begunWords(parameter: string): string {
  const text = searchText(parameter);
  const last = lastWord(parameter);
  return `case when ${last} = '' then ''::tsquery else plainto_tsquery('data.english', left(${text}, -length(${last})))
    && to_tsquery('pg_catalog.simple', '''' || ${last} || ''':*') end`;
}

/** Whether an entry has every word of the text; the last one may be a prefix. @param parameter such as `$1`. */
export function hasWords(parameter: string): string {
  return `words @@ (${wholeWords(parameter)} || (${begunWords(parameter)}))`;
}

const escapedName = `replace(replace(replace(name, '&', '&amp;'), '<', '&lt;'), '>', '&gt;')`;

/** A page of hits, best first (or newest first). @param after the place of the last hit of the previous page. */
export async function findHits(
  database: Queryable,
  query: SearchQuery,
  page: { sort: 'relevance' | 'updated'; after: HitPlace | null; limit: number },
): Promise<SearchHit[]> {
  const [rank, finerRank] =
    page.sort === 'relevance'
      ? ['match', 'length']
      : [
          `coalesce((select date '1970-01-01' - s.last_updated from data.search_entries e join data.series s using (series_no)
             where e.entry_no = hits.entry_no), 2147483647)`,
          'match',
        ];
  return database.query<SearchHit>(
    `with ${hits}, page as (
       select * from (select entry_no, match, ${rank} as rank, ${finerRank} as finer_rank from hits) ranked
       where $9::integer is null or (rank, finer_rank, entry_no) > ($9, $10::integer, $11::integer)
       order by rank, finer_rank, entry_no limit $12
     )
     select e.type, e.id, e.name, e.unit, e.frequency, e.source, e.category, s.last_date, s.last_updated,
       ts_headline('data.english', ${escapedName.replaceAll('name', 'e.name')}, ${whole} || ${begun} || coalesce($8::tsquery, ''),
         'StartSel=<mark>, StopSel=</mark>, HighlightAll=true') as highlight,
       p.match, p.rank, p.finer_rank as "finerRank", p.entry_no as "entryNo"
     from page p join data.search_entries e using (entry_no) left join data.series s using (series_no)
     order by p.rank, p.finer_rank, p.entry_no`,
    [...parameters(query), ...(page.after ?? [null, null, null]), page.limit],
  );
}

/** A tsquery of which every part must match by one of its alternatives. */
export async function findAlternatives(
  database: Queryable,
  parts: readonly (readonly string[])[],
): Promise<string> {
  const [row] = await database.query<{ words: string }>(
    `select string_agg((
       select '(' || string_agg('(' || plainto_tsquery('data.english', data.search_text(term))::text || ')', '|') || ')'
       from jsonb_array_elements_text(part) term), '&') as words
     from jsonb_array_elements($1::jsonb) part`,
    [JSON.stringify(parts)],
  );
  return memberOf(row ?? {}, 'words');
}

/** The number of ranked hits by type, frequency, source and category; the most common first. */
export async function countFacets(
  database: Queryable,
  query: SearchQuery,
): Promise<FacetCount<(typeof searchFacets)[number]>[]> {
  return database.query(
    `with ${hits}
     select facet, value, count(*) as count
     from hits join data.search_entries e using (entry_no), lateral (
       values ('type', e.type), ('frequency', e.frequency), ('source', e.source), ('category', e.category)
     ) facets (facet, value)
     where value is not null group by facet, value order by count(*) desc, value`,
    parameters(query),
  );
}

interface Correction {
  /** The corrected words, as a tsquery. */
  words: string;
  /** The corrected query for display: the likeliest word in place of each. */
  text: string;
}

/**
 * Replaces unknown words by the nearest known ones: all that differ by one letter, else the few that share the most
 * letters. Undefined if an unknown word has none, or every word is known.
 */
export async function findCorrection(database: Queryable, q: string): Promise<Correction | undefined> {
  const [row] = await database.query<Correction & { complete: boolean; changed: boolean }>(
    `select string_agg('(' || (
         select string_agg(plainto_tsquery('data.english', word)::text, '|') from unnest(meant) word
       ) || ')', '&' order by place) as words,
       string_agg(meant[1], ' ' order by place) as text,
       bool_and(cardinality(meant) > 0) as complete, bool_or(known is null) as changed
     from string_to_table(${text}, ' ') with ordinality typed (word, place),
       lateral (select case when length(typed.word) < 4 or typed.word ~ '[0-9]'
         or exists (select from data.search_terms t where t.word = typed.word) then array[typed.word] end as known),
       lateral (select array(
         select t.word from data.search_terms t where known is null and t.near && data.near_spellings(typed.word)
         order by similarity(t.word, typed.word) desc, t.word limit 5) as nearest),
       lateral (select array(
         select t.word from data.search_terms t where known is null and nearest = '{}' and t.word % typed.word
         order by similarity(t.word, typed.word) desc, t.word limit 3) as alike),
       lateral (select coalesce(known, nullif(nearest, '{}'), alike) as meant)
     where typed.word <> ''`,
    [q],
  );
  return row?.complete === true && row.changed ? { words: row.words, text: row.text } : undefined;
}

/** Of a word in a tsquery or tsvector of PostgreSQL. */
const lexemeBytesMax = 2_046;

function parameters({ q, corrected, synonyms, filter }: SearchQuery): unknown[] {
  const { type, frequency, source, category } = filter;
  // No entry has a longer one, nor one without a value.
  const lexeme = (name: string, value: string): string => {
    const word = `${name}:${value}`;
    const possible = Buffer.byteLength(word) > lexemeBytesMax ? `${name}:` : word;
    return `'${possible.replaceAll(/['\\]/g, '$&$&')}'`;
  };
  const lexemes = Object.entries({ type, frequency, source }).flatMap(([name, value]) =>
    value === undefined ? [] : [lexeme(name, value)],
  );
  if (category !== undefined) {
    // Without a value, the beginning would be that of every category.
    const below =
      Buffer.byteLength(`category:${category}/`) > lexemeBytesMax
        ? ''
        : ` | ${lexeme('category', `${category}/`)}:*`;
    lexemes.push(`(${lexeme('category', category)}${below})`);
  }
  return [q, corrected, lexemes.join(' & '), type, frequency, source, category, synonyms];
}
