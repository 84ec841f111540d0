// Why no dates were found in a table whose texts a person reads as dates: the year is elsewhere, is fiscal or of another era, or follows other words.
import { entryAt } from '../../kernel/entries.ts';
import { isPart } from '../cells/dates/carried-years.ts';
import type { Sample } from '../read/table-rows.ts';
import type { About } from './proposal/proposal.ts';

const partsLeast = 3;
const yearInText = /(?<!\d)(?:19|20)\d{2}(?!\d)/;

/** Texts that are dates for a person, and what to write instead. */
const unread: readonly [expression: RegExp, what: string][] = [
  [
    /^(?:FY\s?(?:\d{4}|\d{2})(?:[-/]\d{2,4})?|\d{4}[-/](?:\d{2}|\d{4}))[\s.:/-]*(?:Q|H|M|P)\s?\d{1,2}$|^(?:[QH]\s?\d|\p{L}{3,9})[\s.:/-]*(?:FY\s?\d{2,4}|\d{4}[-/]\d{2,4})$/iu,
    'is a part of a fiscal year, and no line states when that begins: write its calendar year and quarter or month, as in 2023-Q3',
  ],
  [
    /^(?:令和|平成|昭和|民國|民国|R|H|S)\s?\d{1,3}\s?年|^1[01]\d\s?年/,
    'has the year of an era: write the year of the common era, as in 2023年1月',
  ],
  [
    /^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}[T\s]+\d{1,2}:\d{2}/,
    'has a time of day, and points have days or longer periods: write one row for each day, without the time',
  ],
  [
    /^\d{1,2}(?:\s?\p{L}{3,9}\.?)?\s?[-–]\s?\d{1,2}\s?\p{L}{3,9}\.?,?\s?\d{4}$/u,
    'is a range of days: write its first and last day, as in 2024-01-01/2024-01-07',
  ],
  [
    /^\d{2}[-\s]\p{L}{3}$/u,
    'is a day without a year, or a year of two digits and a month: write it as 2024-01-24 or 2024-01',
  ],
  [/(?=\P{ASCII})\p{Nd}/u, 'has digits other than 0 to 9: write its numbers with these'],
];

/** @returns null if no text is like a date. */
export const unreadDates = (sample: Sample, { sheet, stem }: About): string | null =>
  unreadForms(sample) ?? partsWithoutYear(sample, [sheet, stem]);

/** Whether a word before the year is no part of one, as in `Budget 2022-23`. */
function isBehindWord(text: string): boolean {
  const [word = ''] = /^\p{L}{3,}/u.exec(text) ?? [];
  return word !== '' && !isPart(word);
}

/** Why texts that look like dates are not read. @returns null if no text does. */
export function unreadForms({ rows, lines }: Sample): string | null {
  const cells = rows
    .slice(0, 40)
    .flatMap((row, at) =>
      row.map((cell, column) => ({ text: cell.trim(), line: entryAt(lines, at), column })),
    );
  for (const [expression, what] of unread) {
    const [found, other] = cells.filter(
      ({ text }) => text.length <= 30 && expression.test(text) && !isBehindWord(text),
    );
    if (found !== undefined && other !== undefined) return `"${found.text}" on line ${found.line} ${what}`;
  }
  const first = cells.filter(({ text, column }) => column === 0 && /^\d/.test(text));
  if (first.length > 1 && first.every(({ text }) => /^1[34]\d{2}(?:\D\d{1,2})*$/.test(text)))
    return `"${entryAt(first, 0).text}" on line ${entryAt(first, 0).line} may be a year of the Iranian or Islamic calendar: write the year of the common era, as in 2023`;
  return contentsOf(cells);
}

/** Years behind different words in the titles, such as `Births 2021` and `Deaths 2021`. */
function contentsOf(cells: readonly { text: string; line: number }[]): string | null {
  const titles = cells.flatMap(({ text, line }) => {
    if (text.length > 80) return [];
    const [, words] = /^(\p{L}.*?)[\s,(/:]+(?:19|20)\d{2}\)?$/su.exec(text) ?? [];
    return words === undefined ? [] : [{ words, line }];
  });
  const [first] = titles;
  const ofLine = titles.filter(({ line }) => line === first?.line).map(({ words }) => words);
  const [one, two] = new Set(ofLine);
  if (ofLine.length < 4 || one === undefined || two === undefined || new Set(ofLine).size * 2 > ofLine.length)
    return null;
  return `its titles have years behind several words, such as "${one}" and "${two}": make a file for each, or write the words and the years into columns of their own`;
}

/** Roman numerals alone number sections as often as quarters. */
const isPartAlone = (text: string): boolean =>
  isPart(text) && !/^[ivx]+\.?$|\p{L}{3,}\.?[\s-]+\d{2}$/iu.test(text);

/** Months or quarters without a year, which may be in a line above them, or in the name of the sheet or of the file. */
function partsWithoutYear(
  { rows, lines }: Pick<Sample, 'rows' | 'lines'>,
  names: readonly (string | undefined)[],
): string | null {
  const head = rows.findIndex((row) => row.filter((cell) => isPartAlone(cell.trim())).length >= partsLeast);
  const down = rows.findIndex((row) => isPartAlone((row[0] ?? '').trim()));
  const parts = head >= 0 ? (rows[head] ?? []) : rows.map((row) => row[0] ?? '');
  const named = parts.map((text) => text.trim()).filter(isPartAlone);
  const [part] = named;
  if (part === undefined || new Set(named).size < partsLeast) return null;
  const above = rows.slice(0, head >= 0 ? head : down).map((row) => row.join(' ').trim());
  const at = above.findIndex((text) => yearInText.test(text));
  const name = names.find((text) => text !== undefined && yearInText.test(text));
  const place = at >= 0 ? `"${above[at]?.slice(0, 60)}" on line ${entryAt(lines, at)}` : `the name "${name}"`;
  if (at < 0 && name === undefined)
    return `"${part}" and others have no year: put it into each, as in "2024 ${part}"`;
  return `"${part}" and others have no year. If the year of ${place} is theirs, put it into each, as in "2024 ${part}"`;
}
