// The synonyms of search, from config/synonyms.yml. Hides how the words of a query are compared with them.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { projectRoot } from '../../kernel/project.ts';

export interface Synonyms {
  /**
   * The words of a query in order, each with what may stand in its place; words that are a term together are one.
   * Null if no word of it has a synonym.
   */
  alternativesIn(query: string): readonly (readonly string[])[] | null;
}

export const synonymsFile = path.join(projectRoot, 'config/synonyms.yml');

const fileSchema = z.array(z.array(z.string().regex(/[\p{L}\p{N}]/u, 'has no letter or digit')).min(2));

/** Reads and checks the file. @throws Error that names the file and every fault in it. */
export function loadSynonyms(file: string = synonymsFile): Synonyms {
  const parsed = fileSchema.safeParse(parse(readFileSync(file, 'utf8')));
  if (!parsed.success) throw new Error(`${file}: ${z.prettifyError(parsed.error)}`);
  return createSynonyms(parsed.data);
}

/** @param groups of terms, each of one or more words, that mean the same. */
export function createSynonyms(groups: readonly (readonly string[])[]): Synonyms {
  const termsOf = new Map<string, Set<string>>(); // by each term of the groups that have it
  for (const group of groups)
    for (const term of group) {
      const key = wordsOf(term).map(stemOf).join(' ');
      termsOf.set(key, new Set([...(termsOf.get(key) ?? []), ...group]));
    }
  const wordsMax = Math.max(0, ...[...termsOf.keys()].map((term) => term.split(' ').length));
  return {
    alternativesIn(query) {
      const words = wordsOf(query);
      const found: string[][] = [];
      let hasSynonym = false;
      for (let at = 0; at < words.length;) {
        const count = longestTerm(words, at);
        const own = words.slice(at, at + Math.max(1, count));
        const terms = termsOf.get(own.map(stemOf).join(' '));
        if (terms !== undefined) hasSynonym = true;
        found.push([own.join(' '), ...(terms ?? [])]);
        at += own.length;
      }
      return hasSynonym ? found : null;
    },
  };

  /** How many words from there are a term; 0 if none. */
  function longestTerm(words: readonly string[], from: number): number {
    const stems = words.slice(from, from + wordsMax).map(stemOf);
    for (let count = stems.length; count > 0; count -= 1)
      if (termsOf.has(stems.slice(0, count).join(' '))) return count;
    return 0;
  }
}

/** As data.search_text takes a text apart: lower case, no accents, words of letters and digits. */
function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .split(/[!-/:-@[-`{-~\s]+/)
    .filter((word) => word !== '');
}

const stemOf = (word: string): string =>
  word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
