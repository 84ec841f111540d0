// The names of the series of a table, from the first source available: a column or a line of names, the title of the table, the name of its
// file; followed by the parts that distinguish the series.
import { isDateTitle } from '../cells/dates/date-column-titles.ts';
import { entryAt } from '../../kernel/entries.ts';
import { isInformative, wordsOf } from '../entry/file-name.ts';
import type { About, Draft, Seen } from './proposal/proposal.ts';
import type { Columns } from './table/column-roles.ts';
import { detectDates } from './table/date-format.ts';
import type { Layout } from './table/layout.ts';

/** Titles of columns of values that add nothing to the name of the table. */
const isOfAnyValue =
  /^(?:obs[_ ]?)?(?:values?|observations?|amounts?|numbers?|data|prices?|levels?|index|rates?|figures?)$/i;
/** Lines above the data that are not a title. */
const isNote = /^(?:sources?|units?|notes?|footnotes?|last updated?|updated|release[d]?|copyright|©)\b/i;

/** The only text of a line above the data: the first that is neither a note nor a date. */
export function titleAbove(above: readonly string[][], { headerRows, facts }: Layout): string | undefined {
  const others = new Set([...headerRows, ...Object.values(facts)]);
  const isSpaced = isSentence(above[headerRows[0] ?? 0] ?? []);
  for (const [at, row] of above.entries()) {
    if (others.has(at)) continue;
    const cells = row.filter((cell) => cell.trim() !== '');
    const texts = isSentence(row) && !isSpaced ? [cells.join(',').trim()] : cells.map((cell) => cell.trim());
    const [text = ''] = texts;
    if (texts.length !== 1 || text.length < 4 || text.length > 200 || /[{}]/.test(text)) continue;
    if (/\p{L}{3}/u.test(text) && !isNote.test(text) && detectDates([text]) === null) return text;
  }
  return undefined;
}

/** Whether the cells are parts of a title with commas that is not quoted: each but the first begins with a blank. */
function isSentence(row: readonly string[]): boolean {
  const [first = '', ...others] = row.slice(0, row.findLastIndex((cell) => cell.trim() !== '') + 1);
  return first.trim() !== '' && others.length > 0 && others.every((cell) => /^ \S/.test(cell));
}

export interface Names {
  /** With {parts} that a row fills in. */
  name: string;
  /** Its beginning, if that is a title above the data. */
  title?: string;
  /** The reason. */
  evidence: string;
  /** The name is not stated, and the name of the file is uninformative. */
  isMissing: boolean;
}

/** The title of the table: from metadata beside it, above its rows, or from the name of its file. */
function tableName(
  { stem, folder, metadata }: About,
  title: string | undefined,
): Omit<Names, 'name'> & { base: string } {
  const stated = metadata?.facts['name'];
  if (stated !== undefined)
    return { base: stated, evidence: `stated by ${metadata?.from ?? ''}`, isMissing: false };
  if (title !== undefined)
    return { base: title, title, evidence: 'the title above the data', isMissing: false };
  const words = wordsOf(stem);
  const isMissing = !isInformative(stem);
  return {
    base: isMissing ? withFolder(folder, stem) : words,
    evidence: 'no line of the file says it: the name of the file',
    isMissing,
  };
}

/** The name of the folder without its sort number, and that of the file unless it is only a date. */
function withFolder(folder: string, stem: string): string {
  const words = wordsOf(folder.replace(/^\d{1,3}[\s_.-]+(?=\p{L})/u, ''));
  return stem.trim() === '' ? words : `${words}, ${wordsOf(stem)}`;
}

/**
 * @param parts the columns whose texts distinguish the series.
 * @param isSeveral each column of values is a series of its own.
 * @param line the placeholder for the line of names above the data, if there is one.
 */
export function namesOf(
  { layout, columns, about, above }: Omit<Seen, 'rows'> & { about: About; above: readonly string[][] },
  { parts, isSeveral, line }: { parts: readonly number[]; isSeveral: boolean; line: string | undefined },
): Names {
  const place = (at: number) => `{${entryAt(layout.titles, at)}}`;
  if (columns.name !== null) {
    const named = place(columns.name);
    return {
      name: isSeveral ? `${named}, {column}` : named,
      evidence: 'a column has the names',
      isMissing: false,
    };
  }
  if (line !== undefined)
    return { name: line, evidence: 'a line above the data has the names', isMissing: false };
  const { base, ...of } = tableName(about, titleAbove(above, layout));
  const key = columns.key === null ? [] : [columns.key];
  const column = isSeveral || isTitleInformative(layout, columns, base) ? ['{column}'] : [];
  const over = layout.dates.kind === 'across' ? layout.dates.after : '';
  const measure = isDateTitle(over) ? '' : over;
  const measured = plain(base).includes(plain(measure)) ? [] : [measure];
  return { ...of, name: [base, ...measured, ...key.map(place), ...parts.map(place), ...column].join(', ') };
}

const plain = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\d]+/gu, ' ');

/** Whether the title of the only column of values adds to the name of the table. */
function isTitleInformative({ titles, dates }: Layout, { values }: Columns, base: string): boolean {
  if (dates.kind === 'across' || values.length !== 1) return false;
  const title = entryAt(titles, entryAt(values, 0)).trim();
  return !isOfAnyValue.test(title) && !plain(base).includes(plain(title)) && !/^column \d+$/.test(title);
}

/** Names, units and descriptions of single columns from metadata beside the data. */
export function addStatedColumns(
  { entry, evidence, guessed }: Draft,
  titles: readonly string[],
  { metadata, facts: given }: About,
  isSeveral: boolean,
): void {
  if (metadata === undefined || entry.series === undefined) return;
  const base = (entry.series.name ?? '').replace(/, \{column\}$/, '');
  for (const title of titles) {
    const stated = metadata.columns.get(title);
    if (stated === undefined) continue;
    const { name, ...facts } = stated;
    if (!isSeveral) {
      const own = Object.entries(facts).filter(([fact]) => !(fact in metadata.facts) && !(fact in given));
      const isNamed =
        name !== undefined && metadata.facts['name'] === undefined && given['name'] === undefined;
      entry.series = { ...entry.series, ...Object.fromEntries(own), ...(isNamed && { name }) };
      for (const [fact] of own) {
        evidence[`series.${fact}`] = `stated by ${metadata.from}`;
        const at = guessed.indexOf(`series.${fact}`);
        if (at >= 0) guessed.splice(at, 1);
      }
      continue;
    }
    const own = { ...facts, ...(name !== undefined && { name: `${base}, ${name}` }) };
    if (Object.keys(own).length === 0) continue;
    entry.columns = { ...entry.columns, [title]: { ...entry.columns?.[title], ...own } };
    evidence['columns'] = [evidence['columns'], `stated by ${metadata.from}`]
      .filter((why, at, all) => why !== undefined && all.indexOf(why) === at)
      .join('; ');
  }
}
