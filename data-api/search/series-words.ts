// The part of search that the catalogue uses: which series have the words of a query.
import type { Queryable } from '../../kernel/database.ts';
import { conceptsOf } from './concepts.ts';
import { askedWords, findFrequency, type AskedWords } from './queries.sql.ts';
import type { Vocabulary } from './vocabulary.ts';

export interface SeriesWords {
  /** As typed. */
  q: string;
  words: AskedWords;
  /** The tsquery that a series must match. */
  matching: string;
  /** Whether few entries match. */
  isRare: boolean;
}

/** All words must match, by themselves or by a synonym, the last one also as a prefix; if no series has all, some. */
export async function seriesWords(
  database: Queryable,
  vocabulary: Vocabulary,
  q: string,
): Promise<SeriesWords> {
  const words = await askedWords(database, q, conceptsOf(q, vocabulary));
  const all = words.withPrefix === null ? words.any : `${words.any} | (${words.withPrefix})`;
  for (const matching of [all, words.content]) {
    const { isFound, isRare } = await findFrequency(database, matching);
    if (isFound) return { q, words, matching, isRare };
  }
  const { isRare } = await findFrequency(database, words.marked);
  return { q, words, matching: words.marked, isRare };
}
