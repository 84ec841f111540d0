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
  parts: readonly { word: string; isTelling: boolean; query: string }[];
  text: string;
}

/** The search conditions, as texts of tsqueries. */
export interface AskedWords {
  /** All words as typed or corrected. */
  own: string;
  /** All words, each as typed or by a synonym. */
  any: string;
  /** Like `any`, with the last word as a prefix; null if that is too short or a term is complete. */
  begun: string | null;
  compared: readonly Compared[];
  /** Any of the specific words. */
  telling: string;
  /** The words as typed, without stop words. */
  typed: string;
  /** Any of the words, for marking them. */
  marked: string;
}

const begunLengthMin = 3;

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
  const queries = await findQueries(database, lists);
  let at = 0;
  const each = concepts.map((concept) => {
    const [own, any] = [entryAt(queries, at), entryAt(queries, at + 1)];
    const parts = concept.parts.map((part, i) => ({ ...part, query: entryAt(queries, at + 2 + i) }));
    at += 2 + parts.length;
    return { concept, own, any, parts };
  });
  const last = wordsOf(q).at(-1) ?? '';
  const lastConcept = concepts.at(-1);
  const isBegun = last.length >= begunLengthMin && lastConcept?.text === last && lastConcept.own[0] === last;
  const beginning = `'${last}':*`;
  return {
    own: allOf(each.map(({ own }) => own)),
    any: allOf(each.map(({ any }) => any)),
    begun: isBegun ? allOf([...each.slice(0, -1).map(({ any }) => any), beginning]) : null,
    compared: each
      .filter(({ concept }) => compared.includes(concept))
      .map(({ concept: { weight, text }, any, parts }) => ({ weight, any, parts, text })),
    typed: concepts.map(({ text }) => text).join(' '),
    telling: anyOf(
      each.flatMap(({ concept, any, parts }) => [
        ...(concept.weight >= fullWeight ? [any] : []),
        ...parts.flatMap(({ isTelling, query }) => (isTelling ? [query] : [])),
      ]),
    ),
    marked: anyOf([
      ...each.flatMap(({ any, parts }) => [any, ...parts.map(({ query }) => query)]),
      ...(isBegun ? [beginning] : []),
    ]),
  };
}

/** A word that no entry has: an empty query would match every entry of its filters. */
const nothing = "'~'";

const allOf = (queries: readonly string[]): string => joined(queries, ' & ');
const anyOf = (queries: readonly string[]): string => joined(queries, ' | ');

function joined(queries: readonly string[], operator: string): string {
  const filled = queries.filter((query) => query !== '');
  if (filled.length === 0) return nothing;
  return filled.map((query) => `(${query})`).join(operator);
}

/** For each list of terms, the tsquery that has any of them. */
async function findQueries(database: Queryable, lists: readonly (readonly string[])[]): Promise<string[]> {
  const rows = await database.query<{ query: string }>(
    `select coalesce((
       select string_agg(distinct '(' || q || ')', ' | ')
       from jsonb_array_elements_text(list) term, lateral (select plainto_tsquery('data.english', data.search_text(term))::text as q) made
       where q <> ''), '') as query
     from jsonb_array_elements($1::jsonb) with ordinality lists (list, place) order by place`,
    [JSON.stringify(lists)],
    'search_queries',
  );
  return rows.map(({ query }) => query);
}

/** Whether a series has an entry that matches. @param matching a tsquery. */
export async function hasEntry(database: Queryable, matching: string): Promise<boolean> {
  const [row] = await database.query<{ found: boolean }>(
    `select exists (select from data.search_entries where words @@ $1::tsquery and series_no is not null) as found`,
    [matching],
  );
  return row?.found === true;
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
