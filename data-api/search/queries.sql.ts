// The statements that prepare a search: the tsqueries of its words, and corrections of misspelt words.
import type { Queryable } from '../../kernel/database.ts';
import { entryAt } from '../../kernel/entries.ts';
import { comparedConcepts, fullWeight, type Concept } from './concepts.ts';
import { wordsOf } from './vocabulary.ts';

/** A part of a query by which entries are compared, as tsqueries. */
interface Compared {
  weight: number;
  /** Its own words or a synonym of them. */
  any: string;
  /** Each of its words that is searched for by itself. */
  parts: readonly { word: string; isContentWord: boolean; query: string }[];
  text: string;
}

/** The search conditions, as texts of tsqueries. */
export interface AskedWords {
  /** All words as typed or corrected. */
  own: string;
  /** All words, each as typed or by a synonym. */
  any: string;
  /** Like `any`, with the last word as a prefix; null if that is too short, a term is complete, or no other word begins with it. */
  withPrefix: string | null;
  compared: readonly Compared[];
  /** Any of the specific words. */
  content: string;
  /** The words as typed, without stop words. */
  typed: string;
  /** Any of the words, for marking them. */
  marked: string;
}

const prefixLengthMin = 3;

/** The tsqueries of the concepts. @param q as typed. */
export async function askedWords(
  database: Queryable,
  q: string,
  concepts: readonly Concept[],
): Promise<AskedWords> {
  const compared = comparedConcepts(concepts);
  const lists = concepts.flatMap(({ own, synonyms, parts }) => [
    own,
    [...own, ...synonyms],
    ...parts.map(({ word }) => [word]),
  ]);
  const last = wordsOf(q).at(-1) ?? '';
  const lastConcept = concepts.at(-1);
  const isPrefix =
    last.length >= prefixLengthMin && lastConcept?.text === last && lastConcept.own[0] === last;
  const queries = await findQueries(database, lists);
  const prefixQuery = isPrefix ? await findPrefixQuery(database, last) : null;
  let at = 0;
  const each = concepts.map((concept) => {
    const [own, any] = [entryAt(queries, at), entryAt(queries, at + 1)];
    const parts = concept.parts.map((part, i) => ({ ...part, query: entryAt(queries, at + 2 + i) }));
    at += 2 + parts.length;
    return { concept, own, any, parts };
  });
  return {
    own: allOf(each.map(({ own }) => own)),
    any: allOf(each.map(({ any }) => any)),
    withPrefix:
      prefixQuery === null ? null : allOf([...each.slice(0, -1).map(({ any }) => any), prefixQuery]),
    compared: each
      .filter(({ concept }) => compared.includes(concept))
      .map(({ concept: { weight, text }, any, parts }) => ({ weight, any, parts, text })),
    typed: concepts.map(({ text }) => text).join(' '),
    content: anyOf(
      each.flatMap(({ concept, any, parts }) => [
        ...(concept.weight >= fullWeight ? [any] : []),
        ...parts.flatMap(({ isContentWord, query }) => (isContentWord ? [query] : [])),
      ]),
    ),
    marked: anyOf([
      ...each.flatMap(({ any, parts }) => [any, ...parts.map(({ query }) => query)]),
      ...(prefixQuery === null ? [] : [prefixQuery]),
    ]),
  };
}

/** A word that no entry has, instead of unknown words and of none: an empty query would match every entry of its filters. */
export const nothing = "'~'";

const allOf = (queries: readonly string[]): string => joined(queries, ' & ');
const anyOf = (queries: readonly string[]): string => joined(queries, ' | ');

function joined(queries: readonly string[], operator: string): string {
  const filled = queries.filter((query) => query !== '');
  if (filled.length === 0) return nothing;
  return filled.map((query) => `(${query})`).join(operator);
}

/**
 * For each list of terms, the tsquery that has any of them; empty if they have stop words only. Terms that no entry has, and those that
 * another term includes, are left out: the index evaluates each for every entry that has a common word of it. A word in the statistics of
 * the table is known to be in an entry; the index would list all entries of a common word to find the first.
 */
async function findQueries(database: Queryable, lists: readonly (readonly string[])[]): Promise<string[]> {
  const rows = await database.query<{ query: string }>(
    `with terms as materialized (
       select list_no, plainto_tsquery('data.english', text)::text as query, tsvector_to_array(to_tsvector('data.english', text)) as lexemes
       from jsonb_array_elements($1::jsonb) with ordinality lists (list, list_no), jsonb_array_elements_text(list) term,
         lateral (select data.search_text(term) as text offset 0) plain
     ), common as materialized (
       select unnest(most_common_elems::text::text[]) as lexeme from pg_stats
       where schemaname = 'data' and tablename = 'search_entries' and attname = 'words'
     ), unknown as materialized (
       select coalesce(array_agg(lexeme), '{}') as lexemes
       from (select unnest(lexemes) as lexeme from terms except select lexeme from common) rare
       where not data.has_search_word(lexeme)
     ), narrower as materialized (
       select t.list_no, t.query from terms t join terms wider using (list_no)
       where wider.query <> '' and wider.lexemes <@ t.lexemes and not t.lexemes <@ wider.lexemes
     )
     select case count(t.query) when 0 then '' else coalesce(
       string_agg(distinct '(' || t.query || ')', ' | ') filter (
         where not t.lexemes && (select lexemes from unknown) and (list_no, t.query) not in (select list_no, query from narrower)
       ), $2) end as query
     from generate_series(1, jsonb_array_length($1::jsonb)) list_no left join (select * from terms where query <> '') t using (list_no)
     group by list_no order by list_no`,
    [JSON.stringify(lists), nothing],
    'search_queries',
  );
  return rows.map(({ query }) => query);
}

/** At most this many words of names are meant by the beginning of a common one. */
const prefixWordsMax = 32;

/**
 * The tsquery of the words that begin with a word, without the word itself; null if no other word does. The index lists the entries of all
 * words with a prefix before it compares them. So if a common word has the prefix, the query is the common words and the shortest words of
 * names.
 */
async function findPrefixQuery(database: Queryable, word: string): Promise<string | null> {
  const [row] = await database.query<{ query: string | null }>(
    `with common as materialized (
       select lexeme from pg_stats, unnest(most_common_elems::text::text[]) lexeme
       where schemaname = 'data' and tablename = 'search_entries' and attname = 'words' and starts_with(lexeme, $1)
     ), begun as (
       select lexeme from common
       union
       (select word from data.search_terms where word >= $1 and word < $1 || chr(1114111) order by length(word), word limit ${prefixWordsMax})
     )
     select case when exists (select from common) then
       (select string_agg(quote_literal(lexeme), ' | ') from begun where not to_tsvector('data.english', lexeme) @@ plainto_tsquery('data.english', $1))
       else quote_literal($1) || ':*' end as query`,
    [word],
    'search_beginning',
  );
  return row?.query ?? null;
}

/** Some of the entries, the same ones at each call. */
export const sampledEntries = 'data.search_entries tablesample system (0.1) repeatable (1)';
/** A tsquery is rare if fewer than one in so many entries match. */
const rareRatio = 200;
const firstMatches = 1_000;

/**
 * Whether a series has an entry that matches, and whether few have. If none of the sample matches, the first matches are read by the index;
 * for a single one, PostgreSQL would scan the table. @param matching a tsquery.
 */
export async function findFrequency(
  database: Queryable,
  matching: string,
): Promise<{ isFound: boolean; isRare: boolean }> {
  const rows = await database.query<{ isFound: boolean; isRare: boolean }>(
    `with sample as materialized (
       select count(*) as entries, count(*) filter (where words @@ $1::tsquery and series_no is not null) as matches from ${sampledEntries}
     )
     select matches * ${rareRatio} <= entries as "isRare", case when matches > 0 then true else (
       select count(*) > 0 from (
         select from data.search_entries where words @@ $1::tsquery and series_no is not null limit ${firstMatches}) first
     ) end as "isFound" from sample`,
    [matching],
  );
  return entryAt(rows, 0);
}

/**
 * Corrections of misspelt words: all known words that differ by one letter, else the few that share the most letters. A word that is known,
 * has a digit, is short or resembles no other has no correction.
 */
export async function findCorrections(
  database: Queryable,
  words: readonly string[],
): Promise<{ word: string; meant: string[]; isNear: boolean }[]> {
  return database.query(
    `select word, coalesce(nullif(nearest, '{}'), alike) as meant, nearest <> '{}' as "isNear"
     from unnest($1::text[]) typed (word),
       lateral (select array(
         select t.word from data.search_terms t where t.near && data.near_spellings(typed.word)
         order by similarity(t.word, typed.word) desc, t.word limit 5) as nearest) near,
       lateral (select array(
         select t.word from data.search_terms t where nearest = '{}' and t.word % typed.word
         order by similarity(t.word, typed.word) desc, t.word limit 3) as alike) alike
     where length(word) >= 4 and word !~ '[0-9]' and not exists (select from data.search_terms t where t.word = typed.word)`,
    [words],
    'search_corrections',
  );
}
