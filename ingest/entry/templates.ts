// Texts with placeholders in braces, such as `IMF.{Country}`, filled in from a row, its column and its file.
import { nearestName } from '../../kernel/http/params.ts';
import { usageError } from '../failure.ts';

/** The sources of the placeholders. */
export interface Places {
  /** The titles of the file's columns. */
  titles: readonly string[];
  /** The name of the file without folder and endings. */
  file: string;
  /** The key of the text, for messages. */
  of: string;
}

/** The text for a row, for the column of values at `column` (-1 for none), and for the frequency of its date. */
export type Template = (row: readonly string[], column: number, frequency?: string) => string;

/** The part for the frequency of the date of each row, such as `monthly`, where one column has months, quarters and years. */
export const frequencyOfDate = 'frequency of date';

export interface CompiledTemplate {
  /** Null if the text is the same for every value of the file. */
  constant: string | null;
  /** Whether it differs from column to column. */
  isOfColumn: boolean;
  /** Whether it differs with the frequency of the date. */
  isOfDate: boolean;
  /** The positions of the columns of the file that it needs. */
  needs: number[];
  text: Template;
}

/**
 * @param lineAt the cells of a line above the data.
 * @param clean is applied to each part that is filled in.
 * @throws IngestFailure if a part names no column.
 */
export function compileTemplate(
  text: string,
  { titles, file, of }: Places,
  lineAt: (line: number) => readonly string[] = () => [],
  clean: (part: string) => string = (part) => part.trim(),
): CompiledTemplate {
  const needs: number[] = [];
  let isOfColumn = false;
  let isOfDate = false;
  const parts = text.split(/(\{[^{}]*\})/).map((part): Template => {
    const name = /^\{(.*)\}$/.exec(part)?.[1];
    if (name === undefined) return () => part;
    if (name === 'file') return () => clean(file);
    if (name === frequencyOfDate) {
      isOfDate = true;
      return (_row, _column, frequency = '') => frequency;
    }
    const line = /^line (\d+)$/.exec(name)?.[1];
    if (name === 'column' || line !== undefined) {
      isOfColumn = true;
      const texts = (line === undefined ? titles : lineAt(Number(line))).map(clean);
      return (_, column) => texts[column] ?? '';
    }
    const at = titles.indexOf(name);
    if (at < 0) failUnknownColumn(name, titles, of);
    needs.push(at);
    return (row) => clean(row[at] ?? '');
  });
  const isConstant = needs.length === 0 && !isOfColumn && !isOfDate;
  const fill: Template = (row, column, frequency) => {
    let filled = '';
    for (const part of parts) filled += part(row, column, frequency);
    return filled;
  };
  return { constant: isConstant ? fill([], -1) : null, isOfColumn, isOfDate, needs, text: fill };
}

/** The titles of columns that a text names. */
export function columnsNamedIn(text: string): string[] {
  return [...text.matchAll(/\{([^{}]*)\}/g)]
    .map(([, name = '']) => name)
    .filter((name) => !['file', 'column', frequencyOfDate].includes(name) && !/^line \d+$/.test(name));
}

const isAscii = (text: string): boolean => !/\P{ASCII}/u.test(text);

/** @throws IngestFailure always. */
export function failUnknownColumn(name: string, titles: readonly string[], of: string): never {
  const nearest = nearestName(name, titles);
  usageError(
    `${of}: the file has no column "${name}"${nearest === undefined ? '.' : `; did you mean "${nearest}"?`}` +
      ` Its columns are ${titles.map((title) => `"${title}"`).join(', ')}.` +
      (isAscii(name) && titles.every(isAscii)
        ? ''
        : ' Their names depend on the encoding: after a change of "encoding", an entry names them as they are now.'),
  );
}

/** Letters of Cyrillic and Greek as an id has them. */
const latin: Readonly<Record<string, string>> = Object.fromEntries(
  (
    'а a б b в v г g д d е e ж zh з z и i й i к k л l м m н n о o п p р r с s т t у u ф f х kh ц ts ч ch ш sh щ shch ъ _ ы y ь _ э e ю yu я ya і i ї i є ie ґ g ђ dj ј j ' +
    'љ lj њ nj ћ c џ dz ѓ g ќ k ѕ dz α a β v γ g δ d ε e ζ z η i θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r σ s ς s τ t υ y φ f χ ch ψ ps ω o'
  )
    .split(' ')
    .reduce<[string, string][]>(
      (pairs, text, at, all) =>
        at % 2 === 0 ? [...pairs, [text, (all[at + 1] ?? '').replace('_', '')]] : pairs,
      [],
    ),
);

/** A non-Latin letter in Latin ones, by the table. One that is not in it becomes `u` and its code point, so that such letters stay distinct. */
function latinLetter(letter: string): string {
  const small = latin[letter.toLowerCase()];
  if (small === undefined) return `u${letter.codePointAt(0)?.toString(16) ?? ''}`;
  return letter === letter.toLowerCase() ? small : `${small.charAt(0).toUpperCase()}${small.slice(1)}`;
}

/** Part of a series id: letters without diacritics, other alphabets transliterated; characters that an id cannot have become _. */
export function idPart(text: string): string {
  return text
    .trim()
    .normalize('NFD')
    .replaceAll(/\p{Mn}+/gu, '')
    .normalize('NFC')
    .replaceAll(/(?!\p{Script=Latin})\p{L}/gu, latinLetter)
    .replaceAll(/[^A-Za-z0-9._-]+/g, '_')
    .replaceAll(/^[._-]+|_+$/g, '');
}
