// Texts with placeholders in braces, such as `IMF.{Country}`, filled in from a row, its column and its file.
import { nearestName } from '../../kernel/http/params.ts';
import { usageError } from '../failure.ts';
import { transliterated } from './transliterate.ts';

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

/** Part of a series id: letters without diacritics, other alphabets transliterated; characters that an id cannot have become _. */
export function idPart(text: string): string {
  return text
    .trim()
    .normalize('NFD')
    .replaceAll(/\p{Mn}+/gu, '')
    .normalize('NFC')
    .replaceAll(/(?!\p{Script=Latin})\p{L}/gu, transliterated)
    .replaceAll(/[^A-Za-z0-9._-]+/g, '_')
    .replaceAll(/^[._-]+|_+$/g, '');
}
