// SQL that computes how much of a query an entry has. Words of a term count a little where the whole term is missing.
import type { AskedWords } from './queries.sql.ts';

/** Collects the values of a statement. */
export class Values {
  readonly all: unknown[];
  readonly #queries = new Map<string, string>();

  /** @param all of the statement so far; others are added to it. */
  constructor(all: unknown[] = []) {
    this.all = all;
  }

  /** The parameter of a value. */
  of(value: unknown): string {
    this.all.push(value);
    return `$${this.all.length}`;
  }

  /** The parameter of a tsquery; the same for the same text. */
  query(text: string): string {
    const known = this.#queries.get(text) ?? `${this.of(text)}::tsquery`;
    this.#queries.set(text, known);
    return known;
  }
}

interface Comparison {
  /** The weight of the concepts that the entry has, an integer. */
  covered: string;
  /** The weight of all. */
  total: number;
  /** For each concept, then each of its parts, whether the entry has it. */
  found: string[];
}

/** @param words the SQL of the entry's tsvector. */
export function comparison(compared: AskedWords['compared'], v: Values, words: string): Comparison {
  const has = (query: string) => (query === '' ? 'false' : `${words} @@ ${v.query(query)}`);
  const covered = compared.map(({ weight, any, parts }) => {
    const partly = parts.map(
      // Less than a specific word by itself.
      ({ query, isContentWord }) => `(${has(query)})::integer * ${isContentWord ? 2 : 1}`,
    );
    return `case when ${has(any)} then ${weight} else least(${[...partly, '0'].join(' + ')}, ${weight - 1}) end`;
  });
  return {
    covered: covered.length === 0 ? '0' : covered.join(' + '),
    total: Math.max(
      1,
      compared.reduce((sum, { weight }) => sum + weight, 0),
    ),
    found: compared.flatMap(({ any, parts }) => [has(any), ...parts.map(({ query }) => has(query))]),
  };
}

/** The series of important releases, by their ids. */
export const popularIds = `
  select unnest(series_ids) from (
    select series_ids from data.releases where importance = 'high' order by release_at desc limit 2000) important`;

/** Whether a series has had no observation for long, as of a day; false if that is null. @param day an expression of a date. */
export function isStale(series: string, day: string): string {
  const days = `case ${series}.frequency when 'daily' then 60 when 'weekly' then 120 when 'monthly' then 270 when 'quarterly' then 500 else 1300 end`;
  return `coalesce(${series}.last_date < ${day} - (${days}), ${day} is not null)`;
}

/** The words of an entry's id and name. */
export const wordsOfName = `ts_filter(words, '{a,c}')`;

/** From 0 to 2: whether the metadata have the words in sequence, and the name, without the id, has them with the typed endings. */
export function alike({ typed }: AskedWords, v: Values): string {
  const text = `data.search_text(${v.of(typed)})`;
  return `(words @@ phraseto_tsquery('data.english', ${text}))::integer + (ts_filter(words, '{a}') @@ plainto_tsquery('pg_catalog.simple', ${text}))::integer`;
}

/** Whether a column begins with whole words of a text; its last word may be the plural. */
export const startsWithSql = (column: string, text: string): string =>
  `starts_with(${column}, ${text}) and split_part(substr(${column}, length(${text}) + 1), ' ', 1) in ('', 's')`;

/**
 * The order within a kind of match, an integer: names that have more of the query come first, then series of important releases, then those
 * that are not stale, then those that have the words as typed, then short names.
 * @param named how much of the query the name has, from 0 to 1000.
 */
export function finerRank({
  named,
  isPopular,
  stale,
  alike,
  length,
}: Record<'named' | 'isPopular' | 'stale' | 'alike' | 'length', string>): string {
  return `(1000 - ${named}) / 10 * 100000 + (not ${isPopular})::integer * 50000 + (${stale})::integer * 25000
    + (2 - ${alike}) * 8000 + least(${length}, 7999)`;
}
