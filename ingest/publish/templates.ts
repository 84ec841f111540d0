// Texts with parts in braces, such as `IMF.{Country}`: what a row, its column and its file make of them.
import { nearestName } from '../../kernel/http/params.ts';
import { misuse } from '../load/failure.ts';

/** What the parts in braces stand for. */
export interface Places {
  /** The titles of the file's columns. */
  titles: readonly string[];
  /** The name of the file without folder and endings. */
  file: string;
  /** Where the text stands, for messages. */
  of: string;
}

/** The text for a row, and for the column of values at `column` (-1: there is none). */
export type Template = (row: readonly string[], column: number) => string;

export interface CompiledTemplate {
  /** Null if the text is the same for every value of the file. */
  constant: string | null;
  /** Whether it differs from column to column. */
  isOfColumn: boolean;
  /** The positions of the columns of the file that it needs. */
  needs: number[];
  text: Template;
}

/**
 * @param units the unit of each column, where a line of the file has them.
 * @param clean is applied to each part that is filled in.
 * @throws IngestFailure if a part names no column.
 */
export function compileTemplate(
  text: string,
  { titles, file, of }: Places,
  units: readonly string[] = [],
  clean: (part: string) => string = (part) => part.trim(),
): CompiledTemplate {
  const needs: number[] = [];
  let isOfColumn = false;
  const parts = text.split(/(\{[^{}]*\})/).map((part): Template => {
    const name = /^\{(.*)\}$/.exec(part)?.[1];
    if (name === undefined) return () => part;
    if (name === 'file') return () => clean(file);
    if (name === 'column' || name === 'unit line') {
      isOfColumn = true;
      const texts = (name === 'column' ? titles : units).map(clean);
      return (_, column) => texts[column] ?? '';
    }
    const at = titles.indexOf(name);
    if (at < 0) failUnknownColumn(name, titles, of);
    needs.push(at);
    return (row) => clean(row[at] ?? '');
  });
  const isConstant = needs.length === 0 && !isOfColumn;
  const fill: Template = (row, column) => {
    let filled = '';
    for (const part of parts) filled += part(row, column);
    return filled;
  };
  return { constant: isConstant ? fill([], -1) : null, isOfColumn, needs, text: fill };
}

/** The titles of columns that a text names. */
export function columnsNamedIn(text: string): string[] {
  return [...text.matchAll(/\{([^{}]*)\}/g)]
    .map(([, name = '']) => name)
    .filter((name) => !['file', 'column', 'unit line'].includes(name));
}

/** @throws IngestFailure always. */
export function failUnknownColumn(name: string, titles: readonly string[], of: string): never {
  const nearest = nearestName(name, titles);
  misuse(
    `${of}: the file has no column "${name}"${nearest === undefined ? '' : `; did you mean "${nearest}"?`}` +
      ` Its columns are ${titles.map((title) => `"${title}"`).join(', ')}.`,
  );
}

/** Part of a series id: letters without their marks; what an id cannot hold becomes _. */
export function idPart(text: string): string {
  return text
    .trim()
    .normalize('NFD')
    .replaceAll(/\p{Mn}+/gu, '')
    .replaceAll(/[^A-Za-z0-9._-]+/g, '_')
    .replaceAll(/^[._-]+|_+$/g, '');
}
