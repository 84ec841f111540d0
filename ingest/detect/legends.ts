// The meaning of signs that the notes of a table explain: a dash that is zero, or parentheses that do not mean below zero.
import { cellOf, isValueText } from '../cells/cell-forms.ts';

const noughts = String.raw`zero|zerowy|nil|null|nichts|nought|neant|nul|nulle|cero|nulo|nula|noll|nihil|nullo`;
const longestNote = 600;

/** In small letters without accents, and with one kind of quotes. */
const plain = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/\p{Mn}+/gu, '')
    .replaceAll(/[\u201c-\u201f«»]/g, '"')
    .toLowerCase();

/** The lines without numbers and marks in the columns of values, as they are read from left to right. */
const notesOf = (rows: readonly string[][], values: readonly number[]): string[] =>
  rows
    .filter((row) => !values.some((at) => isValueText((row[at] ?? '').trim())))
    .map((row) =>
      row
        .map((cell) => cell.trim())
        .filter((cell) => cell !== '')
        .join(' '),
    )
    .filter((text) => /\p{L}{3}/u.test(text) && text.length <= longestNote);

/** A note that contradicts a mark read as missing: it states that the mark is zero, as in `- Nil or rounded to zero`. Undefined if no note does. */
export function noteOfZero(
  rows: readonly string[][],
  values: readonly number[],
  marks: readonly string[],
): { mark: string; note: string } | undefined {
  const signs = marks.filter((each) => !/\p{L}/u.test(each));
  const notes = signs.length === 0 ? [] : notesOf(rows, values);
  for (const mark of signs) {
    const sign = /^[-\u2010-\u2015]$/.test(mark) ? '[-\u2010-\u2015]' : RegExp.escape(mark);
    const legend = new RegExp(
      String.raw`(?:^|[\s;,("'])${sign}["']?\s*(?:[=:]\s*)?[^;.]{0,30}\b(?:${noughts})\b`,
    );
    const note = notes.find((text) => legend.test(plain(text)));
    if (note !== undefined) return { mark, note };
  }
  return undefined;
}

const ofParentheses =
  /(?:^|[\s;,"'])\(\s*\)\s*[=:]|\b(?:parenthes[ei]s|brackets|klammern?|parentesis|parentesi|haakjes)\b/;
const belowZero = /negativ|minus|below zero|deficit|loss/;

/** Why numbers in parentheses may be above zero: a note explains them otherwise, or they are as large as all others of their column. */
export function whyAboveZero(
  every: readonly string[][],
  rows: readonly string[][],
  values: readonly number[],
): string | undefined {
  const note = notesOf(every, values).find((text) => {
    const folded = plain(text);
    return ofParentheses.test(folded) && !belowZero.test(folded);
  });
  if (note !== undefined) return `"${note.slice(0, 80)}"`;
  for (const at of values) {
    const [inside, others]: [number[], number[]] = [[], []];
    for (const row of rows) {
      const cell = cellOf((row[at] ?? '').trim());
      if (cell.kind !== 'number') continue;
      const size = Number(cell.core.replaceAll(/[^\d.-]/g, ''));
      (cell.negative === 'parentheses' ? inside : others).push(size);
    }
    const [least, most] = [Math.min(...others), Math.max(...others)];
    const isAlike = inside.every((size) => size >= least / 1.5 && size <= most * 1.5);
    const areFew = inside.length > 0 && others.length > 2 && inside.length * 2 <= others.length;
    if (areFew && least > 0 && most <= least * 2 && isAlike)
      return `the others beside them are from ${least} to ${most}`;
  }
  return undefined;
}
