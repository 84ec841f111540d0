// The terms that search knows: synonyms, and terms in other languages, from config/ and from the operator's file.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { projectRoot } from '../../kernel/project.ts';

export interface Vocabulary {
  /** The longest term that begins at a position, with its words in any order: how many words it has, and every synonymous term. */
  termAt(words: readonly string[], from: number): { count: number; terms: readonly string[] } | undefined;
  /** Whether the word is part of a term. */
  has(word: string): boolean;
  /** The words of terms that differ from it by one letter added, left out, replaced, or exchanged with the next. */
  near(word: string): readonly string[];
  /** The text of the files: answers depend on it. */
  text: string;
}

const synonymsFile = path.join(projectRoot, 'config/synonyms.yml');
const translationsFile = path.join(projectRoot, 'config/translations.yml');

const term = z.string().regex(/[\p{L}\p{N}]/u, 'has no letter or digit');
const synonymsSchema = z.array(z.array(term).min(2));
/** English term → language → the terms in it. */
const translationsSchema = z.record(term, z.record(z.string().regex(/^[a-z]{2}$/), z.array(term).min(1)));

export type Translations = z.output<typeof translationsSchema>;

/**
 * Reads and checks the files of the project, and that of the operator, whose groups are added.
 * @param ownFile has groups of synonyms, as `config/synonyms.yml`.
 * @throws Error that names the file and every fault in it.
 */
export function loadVocabulary(ownFile?: string): Vocabulary {
  const texts = [synonymsFile, translationsFile, ...(ownFile === undefined ? [] : [ownFile])].map((file) =>
    readFileSync(file, 'utf8'),
  );
  const [synonyms = '', translations = '', own = '[]'] = texts;
  const groups = [
    ...parsed(synonymsSchema, synonyms, synonymsFile),
    ...parsed(synonymsSchema, own, ownFile ?? ''),
  ];
  const vocabulary = createVocabulary(groups, parsed(translationsSchema, translations, translationsFile));
  return { ...vocabulary, text: texts.join('\n') };
}

function parsed<Schema extends z.ZodType>(schema: Schema, text: string, file: string): z.output<Schema> {
  const result = schema.safeParse(parse(text) ?? []);
  if (!result.success) throw new Error(`${file}: ${z.prettifyError(result.error)}`);
  return result.data;
}

/** @param groups of synonymous terms, each of one or more words. */
export function createVocabulary(
  groups: readonly (readonly string[])[],
  translations: Translations = {},
): Omit<Vocabulary, 'text'> {
  const termsOf = new Map<string, Set<string>>(); // by each term of the groups that have it
  const words = new Set<string>();
  function add(term: string, meanings: Iterable<string>): void {
    const key = keyOf(wordsOf(term));
    if (key === '') return;
    for (const word of wordsOf(term)) words.add(folded(word));
    termsOf.set(key, new Set([...(termsOf.get(key) ?? []), ...meanings]));
  }
  for (const group of groups) for (const term of group) add(term, group);
  for (const [english, byLanguage] of Object.entries(translations)) {
    const meanings = [english, ...(termsOf.get(keyOf(wordsOf(english))) ?? [])];
    for (const term of Object.values(byLanguage).flat()) add(term, meanings);
  }
  const wordsMax = Math.max(0, ...[...termsOf.keys()].map((key) => key.split(' ').length));
  return {
    termAt(asked, from) {
      for (let count = Math.min(wordsMax, asked.length - from); count > 0; count -= 1) {
        const terms = termsOf.get(keyOf(asked.slice(from, from + count)));
        if (terms !== undefined) return { count, terms: [...terms] };
      }
      return undefined;
    },
    has: (word) => words.has(folded(word)) || termsOf.has(stemOf(word)),
    near: (word) => [...words].filter((known) => known.length > 4 && isNear(word, known)),
  };
}

/** Splits text as data.search_text does: lower case, no accents, words of letters and digits. */
export function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** Stop words, in English and the languages of the translations. */
const emptyWords = new Set(
  `a an the of in for to by on at and or with from per as is are was what how much many show me us's vs versus between
  der die das den dem des und fur fuer im am von vom zu zum zur bei
  le la les l d de du un une et en au aux sur par dans
  el los las y del una por para
  il lo gli i e di della dello dei delle degli dell su con al alla ai
  het een van voor op
  w z na dla
  o os do da dos das no nos nas em
  och av for pa`.split(/\s+/),
);

/** The words that are searched for: without stop words, unless there are no others. */
export function contentWords(words: readonly string[]): readonly string[] {
  const content = words.filter((word) => !emptyWords.has(word));
  return content.length === 0 ? words : content;
}

/** The same for the same words in any order, singular or plural. */
function keyOf(words: readonly string[]): string {
  return contentWords(words).map(stemOf).toSorted().join(' ');
}

/** Letters that are distinct characters, and their spelling in plain Latin letters. */
const folded = (word: string): string => word.replaceAll('ß', 'ss').replaceAll('ł', 'l');

function stemOf(typed: string): string {
  const word = folded(typed);
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

/** Whether two words differ by one letter added, left out, replaced, or exchanged with the next. */
function isNear(a: string, b: string): boolean {
  if (a === b || Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const [restA, restB] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  if (restA.length <= 1 && restB.length <= 1) return true;
  return restA.length === 2 && restB.length === 2 && restA[0] === restB[1] && restA[1] === restB[0];
}
