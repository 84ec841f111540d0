// Footnotes as plain digits behind numbers: `45.61` where the others have one decimal, and a line below explains a footnote 1; `401 123` among
// numbers of three digits.
import { cellOf } from '../cells/cell-forms.ts';

/** Numbers of one column, or of one row if the dates are across. */
export type NumbersOfSeries = readonly string[];

const note = /^[([]?([1-9])(?:[)\]]|[)\]]?[.:/])?\s+\p{L}|^([1-9])[)./]\p{L}/u;

/** The footnotes that lines without numbers in the columns of values explain: by their digit, the first such line. */
export function footnotesIn(texts: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const text of texts) {
    const [, digit, other] = note.exec(text.trim()) ?? [];
    const mark = digit ?? other;
    if (mark !== undefined && !found.has(mark)) found.set(mark, text.trim());
  }
  return found;
}

/** Fewer numbers show no usual count of decimals. */
const regularLeast = 3;
/** The same if no line explains a footnote: then its digit is small, too, and few numbers have one. */
const regularLeastUnexplained = 8;
const shareLeastUnexplained = 10;

/**
 * Why the last digit of a number may be a footnote: most have the same count of decimals, all others have one more, and all their last digits are
 * explained, or few and small. Null if there is no such number.
 */
export function gluedFootnote(
  series: Iterable<NumbersOfSeries>,
  footnotes: ReadonlyMap<string, string>,
): string | null {
  for (const texts of series) {
    const { odd, usual } = longerThanUsual(texts);
    const [first = ''] = odd;
    const areExplained = odd.every((text) => footnotes.has(text.at(-1) ?? ''));
    const areFew = usual >= Math.max(regularLeastUnexplained, shareLeastUnexplained * odd.length);
    if (first === '' || !(areExplained || (areFew && odd.every((text) => /[123]$/.test(text))))) continue;
    const footnote = footnotes.get(first.at(-1) ?? '') ?? first.at(-1) ?? '';
    return `"${first}" has a decimal more than the others, and may be ${first.slice(0, -1)} with the footnote "${footnote.slice(0, 40)}"`;
  }
  return null;
}

/** The numbers with one decimal more than most have, none if others differ in another way; and how many are usual. */
function longerThanUsual(texts: NumbersOfSeries): { odd: readonly string[]; usual: number } {
  const byDecimals = new Map<number, string[]>();
  for (const text of texts) {
    const cell = cellOf(text.trim());
    if (cell.kind !== 'number') continue;
    const decimals = /[.,](\d+)$/.exec(cell.core)?.[1]?.length ?? 0;
    const same = byDecimals.get(decimals);
    if (same === undefined) byDecimals.set(decimals, [cell.core]);
    else same.push(cell.core);
  }
  const [usual, longer, ...others] = [...byDecimals].toSorted(([a], [b]) => a - b);
  const count = usual?.[1].length ?? 0;
  if (usual === undefined || longer === undefined || others.length > 0) return { odd: [], usual: count };
  const isMost = count >= Math.max(regularLeast, 2 * longer[1].length);
  return { odd: usual[0] > 0 && longer[0] === usual[0] + 1 && isMost ? longer[1] : [], usual: count };
}

/** How many times the largest number without a blank a number with one must be. In a series that grows past 1,000 it is hardly larger. */
const largerLeast = 50;

/**
 * Why the digits behind a blank may be footnotes: the number with them is far larger than all numbers without a blank. Null if there is no such
 * number.
 */
export function spacedFootnote(series: Iterable<NumbersOfSeries>): string | null {
  for (const texts of series) {
    const numbers = texts
      .map((text) => cellOf(text.trim()))
      .flatMap((cell) => (cell.kind === 'number' ? [cell.core] : []));
    const isSpaced = (core: string) => /^-?\d{1,3}\s\d{3}$/.test(core);
    const spaced = numbers.filter(isSpaced);
    const [first] = spaced;
    if (first === undefined || numbers.length - spaced.length < Math.max(regularLeast, 2 * spaced.length))
      continue;
    const size = (core: string) => Math.abs(Number(core.replaceAll(/\s/g, '').replace(',', '.')));
    const most = numbers.reduce((max, core) => (isSpaced(core) ? max : Math.max(max, size(core))), 0);
    if (spaced.every((core) => size(core) > most * largerLeast))
      return `"${first}" may be ${first.replaceAll(/\s/g, '')}, far larger than all others, or ${first.replace(/\s.*/, '')} followed by footnotes`;
  }
  return null;
}
