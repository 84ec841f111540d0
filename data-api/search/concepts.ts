// The concepts of a query, each a word or a term of several words, with its synonyms; common words count little.
import { contentWords, wordsOf, type Vocabulary } from './vocabulary.ts';

export interface Concept {
  /** As typed, without accents. */
  text: string;
  /** Its own words; several if a word was misspelt and several words are near. */
  own: readonly string[];
  /** Synonymous terms. */
  synonyms: readonly string[];
  /** Its words, if it has several; whether each is specific enough to be searched for by itself. */
  parts: readonly { word: string; isContentWord: boolean }[];
  /** The weight of an entry that has it. */
  weight: number;
}

/** Misspelt word → the words that may be meant, the likeliest first. */
export type Corrections = ReadonlyMap<string, readonly string[]>;

/** Words in very many names, which are too common to search for alone. */
const weakWords = new Set(
  `rate rates index indices indexes price prices level levels total data series statistic statistics number numbers value values
  change changes growth average mean annual yearly monthly quarterly weekly daily percent percentage year years month months week
  day days current latest historical history real nominal all items item adjusted seasonally general national share ratio chart
  table time figures`.split(/\s+/),
);
const weightOfWord = (word: string): number => (weakWords.has(word) || /^\p{N}+$/u.test(word) ? 1 : 3);

/** The weight of a word; the words of a concept add up. */
export const fullWeight = 3;
/** Entries are compared by this many concepts; further ones of a longer query count only where all words match. */
const comparedMax = 6;

/** The concepts of a query in order. */
export function conceptsOf(
  query: string,
  vocabulary: Vocabulary,
  corrections: Corrections = new Map(),
): Concept[] {
  const words = contentWords(wordsOf(query));
  const meant = words.map((word) => corrections.get(word)?.[0] ?? word);
  const concepts: Concept[] = [];
  for (let at = 0; at < words.length;) {
    const term = vocabulary.termAt(meant, at);
    const count = term?.count ?? 1;
    concepts.push(conceptOf(words.slice(at, at + count), term?.terms ?? [], corrections));
    at += count;
  }
  return concepts;
}

function conceptOf(words: readonly string[], terms: readonly string[], corrections: Corrections): Concept {
  const meant = words.map((word) => corrections.get(word) ?? [word]);
  const own = meant.length === 1 ? (meant[0] ?? []) : [meant.map(([likeliest]) => likeliest).join(' ')];
  const isWeak = terms.some((term) => weakWords.has(term));
  const parts =
    words.length === 1 ? [] : meant.flatMap(([word = '']) => [{ word, isContentWord: isContentWord(word) }]);
  return {
    text: words.join(' '),
    own,
    synonyms: terms.map((term) => contentWords(wordsOf(term)).join(' ')),
    parts,
    weight: isWeak
      ? 1
      : Math.max(
          terms.length === 0 ? 1 : fullWeight,
          words.reduce((sum, word) => sum + weightOfWord(word), 0),
        ),
  };
}

const isContentWord = (word: string): boolean => weightOfWord(word) === fullWeight;

/** The concepts that entries are compared by: the first of the most specific ones, in query order. */
export function comparedConcepts(concepts: readonly Concept[]): readonly Concept[] {
  if (concepts.length <= comparedMax) return concepts;
  const heaviest = new Set(concepts.toSorted((a, b) => b.weight - a.weight).slice(0, comparedMax));
  return concepts.filter((concept) => heaviest.has(concept));
}
