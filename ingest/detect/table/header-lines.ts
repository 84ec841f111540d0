// The lines above the data: the names of the columns, and lines that state a fact of each column, such as its unit or the id of its series.
import { entryAt } from '../../../kernel/entries.ts';
import { foldLetters } from '../../cells/dates/month-names.ts';
import { cellOf, isNumberText } from '../../cells/cell-forms.ts';
import { CarriedYears, isPart } from '../../cells/dates/carried-years.ts';
import { scaleIn } from '../../cells/numbers/scales.ts';
import type { ReadDateText } from '../../cells/dates/dates-of-table.ts';
import { isDateTitle } from '../../cells/dates/date-column-titles.ts';

/** Facts of the series that lines above the data may state, by their labels. */
export type LineFact = 'id' | 'name' | 'unit' | 'description' | 'multiplier' | 'currency' | 'prefix';

export interface Head {
  /** Positions in the rows of the sample. */
  headerRows: number[];
  /** The title of each column; a column without one is `column 5`. */
  titles: string[];
  /** Rows that state a fact of each column. */
  facts: Partial<Record<LineFact, number>>;
}

/** Labels of the lines that offices put above each column (ABS, RBA, ONS, the Fed, Bundesbank, Banque de France, Banco de México), folded. */
const labelOf: readonly [fact: LineFact | 'other', label: RegExp][] = [
  ['id', /^(?:(?:time ?)?series ?(?:id|code|key|number)|cdid|mnemonic|ticker|series_id|(?:unique )?identifier|vector|code serie|idbank|codigo)$/],
  ['unit', /^(?:units?(?: of measure(?:ment)?| label| name| description)?|measure(?:ment)? units?|mass?einheit|einheit|unite(?: de mesure)?|unidade?(?: de medida)?|unita di misura|(?:male)?enhe[dt]|eenheid|(?:mitta)?yksikko|jednostka(?: miary)?|(?:merna )?jednotka|mertekegyseg|unitate(?: de masura)?|jedinica (?:mjere|mere)|(?:merska enota|enota mere)|matavimo vienetas|mervieniba|mootuhik|(?:olcu )?birimi?|satuan|don vi(?: tinh)?|мерна единица|единица(?: измерения)?|ед изм|одиниц[ия](?: виміру)?|μοναδα(?: μετρησης)?|단위|(?:計量)?[单單単]位|الوحدة|وحدة القياس|יחידה|יחידת מידה)$/],
  ['name', /^(?:title|series (?:name|title|description)|name|series|item|titre|titulo|titel|titolo|libelle|bezeichnung)$/],
  ['description', /^(?:description|definition|long name)$/],
  ['multiplier', /^(?:multiplier|scale|dimension|magnitude)$/],
  ['currency', /^currency$/],
  ['prefix', /^preunit$/],
  ['other', /^(?:freq|frequency|(?:series|data) type|type|collection month|series (?:start|end)|no obs|(?:last )?(?:publication|release|update)d? ?(?:date|on)?|next release|important notes|source(?: dataset(?: id)?)?|seasonal(?:ity| adjustment)?|start|end|code|time period|notes?|transform(?:ation)?|stand vom|methode d'observation|periodicite|derniere mise a jour|periodo disponible|periodicidad|cifra|base|tipo de informacion)$/],
]; // prettier-ignore

/** The fact that a line with this label states of each column; null if it is no label. */
export const factLabelled = (cell: string): LineFact | 'other' | null => {
  const folded = foldLetters(cell.trim().replaceAll('_', ' '))
    .replace(/[:：]$/, '')
    .trim();
  return labelOf.find(([, label]) => label.test(folded))?.[0] ?? null;
};

/** The cell of a column in a line above the data; '' for none. */
export const cellOfLine = (line: number | undefined, above: readonly string[][], at: number): string =>
  line === undefined ? '' : (above[line]?.[at] ?? '').trim();

/** The scale of a column in the line that states those of all: `1000000`, `Millions` or `6`. */
export function scaleOfLine(
  { multiplier }: Head['facts'],
  above: readonly string[][],
  at: number,
): { exponent: number; text: string; isSure: boolean } | null {
  const text = cellOfLine(multiplier, above, at);
  const exponent = /^10*$/.test(text) ? text.length - 1 : scaleIn(text);
  return exponent === null ? null : { exponent, text, isSure: true };
}

const isFilled = (cell: string | undefined) => (cell ?? '').trim() !== '';

/**
 * The head of a table whose first row of data is known.
 * @param labels the column that may label the lines: that of the dates. @returns null if no line names the columns.
 */
export function headAbove(rows: readonly string[][], firstRow: number, labels: number | null): Head | null {
  const width = widthOf(rows);
  const block = labels === null ? null : labelledLines(rows, firstRow, labels, width);
  if (block !== null) return block;
  const header = headerAbove(rows, firstRow, labels);
  if (header === null) return null;
  const titles = titlesOf(
    header.map((at) => entryAt(rows, at)),
    width,
  );
  return { headerRows: header, titles, facts: {} };
}

/** The lines of a block of labels: two or more known labels, including a unit or an id. */
function labelledLines(
  rows: readonly string[][],
  firstRow: number,
  labels: number,
  width: number,
): Head | null {
  const least = Math.max(1, (width - 1) / 2);
  const named = rows.slice(0, firstRow).map((row, at) => {
    const others = row.filter((cell, column) => column !== labels && isFilled(cell)).length;
    return { at, fact: factLabelled(row[labels] ?? ''), others, isBare: !isFilled(row[labels]) };
  });
  const known = named.filter(({ fact }) => fact !== null);
  const full = known.filter(({ others }) => others >= least);
  if (known.length < 2 || !full.some(({ fact }) => fact === 'id' || fact === 'unit')) return null;
  const facts: Head['facts'] = {};
  for (const { fact, at } of full) if (fact !== null && fact !== 'other') facts[fact] ??= at;
  const prefix = known.find(({ fact, others }) => fact === 'prefix' && others > 0);
  if (prefix !== undefined && facts.unit !== undefined) facts.prefix = prefix.at;
  // A line above the block without a label has the names, as in the workbooks of the ABS.
  const bare = named.find(({ isBare, others, at }) => isBare && others >= least && at < entryAt(full, 0).at);
  const header = bare?.at ?? facts.name ?? facts.description ?? facts.id;
  if (header === undefined) return null;
  if (bare !== undefined && facts.name === undefined) facts.name = bare.at;
  return { headerRows: [header], titles: titlesOf([entryAt(rows, header)], width), facts };
}

export function widthOf(rows: readonly string[][]): number {
  return rows.reduce((width, row) => Math.max(width, row.findLastIndex((cell) => cell.trim() !== '') + 1), 0);
}

/**
 * The row that names the most columns above the data, the first of equals; where its names repeat, with the rows of groups above it.
 * @param dates the column of dates: it often has no title, and a row of units or codes has a word there.
 */
function headerAbove(rows: readonly string[][], firstRow: number, dates: number | null): number[] | null {
  const namesIn = (row: readonly string[]) => row.filter((cell, at) => at !== dates && cell.trim() !== '');
  // The row with most distinct names wins: a title may be in many cells as well.
  const above = rows.slice(0, firstRow);
  const counts = above.map((row) => {
    const names = numbersColumns(row) && above.length > 1 ? [] : namesIn(row);
    return new Set(names).size * 100_000 + names.length;
  });
  const most = Math.max(0, ...counts);
  const width = widthOf(rows);
  // A line that names the dates and all columns with data is that of the names, whatever is above it: the first with a name of its own for each
  // column, as another one below it may have codes or tags, or else the last, below repeated groups.
  const filled = [...(rows[firstRow] ?? []).keys()].filter((at) => isFilled(rows[firstRow]?.[at]));
  const whole = [...above.keys()].filter((at) => {
    const row = entryAt(above, at);
    const namesDates = dates !== null && isDateTitle((row[dates] ?? '').trim());
    return namesDates && filled.every((column) => isFilled(row[column]));
  });
  const distinct = whole.find(
    (at) => new Set(namesIn(entryAt(above, at))).size === namesIn(entryAt(above, at)).length,
  );
  const header = [distinct ?? whole.at(-1) ?? counts.indexOf(most)];
  // A line that names the dates is one of names, even if only one other column has a name: a column of row numbers has none.
  const namesDates = dates !== null && isDateTitle((rows[entryAt(header, 0)]?.[dates] ?? '').trim());
  if (most === 0 || (most < 200_000 && width > 2 && !namesDates)) return null;
  for (let at = entryAt(header, 0) - 1; at >= 0 && repeats(header, rows, width); at--)
    if (new Set(namesIn(rows[at] ?? [])).size > 1) header.unshift(at);
  return header;
}

/** Whether the cells number the columns: 1 2 3, (1) (2) (3) or (a) (b) (c). */
export function numbersColumns(row: readonly string[]): boolean {
  const cells = row.map((cell) => cell.trim()).filter((cell) => cell !== '');
  const places = cells.map((cell) => {
    const [, number, letter] = /^(?:[([]?(\d{1,3})[)\]]?|[([]([a-z])[)\]])$/i.exec(cell) ?? [];
    return number === undefined ? (letter?.toLowerCase().codePointAt(0) ?? Number.NaN) : Number(number);
  });
  return cells.length > 1 && places.every((place, at) => place === entryAt(places, 0) + at);
}

function repeats(header: readonly number[], rows: readonly string[][], width: number): boolean {
  const named = joinedTitles(
    header.map((at) => entryAt(rows, at)),
    width,
  ).filter((title) => title !== '');
  return new Set(named).size < named.length;
}

/** The titles of the columns. A column without a title, or with a repeated one, gets a new one. */
export function titlesOf(header: readonly (readonly string[])[], width: number): string[] {
  const seen = new Set<string>();
  const joined = joinedTitles(header, width);
  return joined.map((title, at) => {
    const own = title === '' ? `column ${at + 1}` : title;
    let unique = own;
    for (let number = 2; seen.has(unique); number++) unique = `${own} (${number})`;
    seen.add(unique);
    return unique;
  });
}

/** Whether the title was made by `titlesOf`. */
export const isUntitled = (title: string, at: number): boolean => title === `column ${at + 1}`;

/** Groups of columns are named once, above the first of them: the name applies to the columns to the right, up to the next. */
function joinedTitles(header: readonly (readonly string[])[], width: number): string[] {
  const last = header.at(-1) ?? [];
  const parts = header.map((row, level) => {
    let group = '';
    return Array.from({ length: width }, (_, at) => {
      const text = (row[at] ?? '').replaceAll(/\s+/g, ' ').trim();
      if (level === header.length - 1) return text;
      if (text !== '') group = text;
      return (last[at] ?? '').trim() === '' ? text : group;
    });
  });
  return Array.from({ length: width }, (_, at) =>
    parts
      .map((row) => row[at] ?? '')
      .filter((text, level, all) => text !== '' && text !== all[level - 1])
      .join(' / '),
  );
}

/**
 * The first group in the lines of the header, if a column to its left has a name that recurs in a group: it may belong to that one, if the names of
 * groups are centred above their columns.
 */
export function centredGroup(
  header: readonly (readonly string[])[],
  values: readonly number[],
): { group: string; title: string } | null {
  const names = values.map((at) => (header.at(-1)?.[at] ?? '').trim());
  for (const row of header.slice(0, -1)) {
    const first = values.findIndex((at) => isFilled(row[at]));
    const title = names.find((name, at) => at < first && name !== '' && names.lastIndexOf(name) >= first);
    if (title !== undefined) return { group: (row[values[first] ?? 0] ?? '').trim(), title };
  }
  return null;
}

/** Short words under most of the titles, that are neither numbers nor tags of the Humanitarian Exchange Language. */
export function isUnitRow(row: readonly string[], titles: readonly string[]): boolean {
  const cells = row.map((cell) => cell.trim()).filter((cell) => cell !== '');
  const words = cells.filter(
    (cell) =>
      cell.length <= 60 &&
      cellOf(cell).kind === 'word' &&
      !/^[([]\d+[)\]]$/.test(cell) &&
      !cell.startsWith('#'),
  );
  return words.length === cells.length && cells.length * 2 >= titles.length - 1 && cells.length > 0;
}

export const hasNumber = (row: readonly string[]): boolean => row.some((cell) => isNumberText(cell));

/** The FAO's `Y2019F` and `Y2019N`, the flag and the note of the points in the column `Y2019`. */
const yearAnnotation = /^Y\d{4}([FN])$/;

/** Whether the title is that of the flags, or of the notes, of the points in the column with the title of a year. */
export const isYearAnnotation = (title: string, of?: 'flag' | 'note'): boolean => {
  const [, letter] = yearAnnotation.exec(title.trim()) ?? [];
  return letter !== undefined && (of === undefined || (letter === 'F') === (of === 'flag'));
};

/**
 * The period in a title: the World Bank's DataBank writes `2020 [YR2020]`, the FAO `Y2020`, KOSIS `2020.10 Month` and `2020.1/4`, and titles of two lines are `2021 / Q1`.
 */
export function periodTitle(title: string): string {
  return title
    .replace(/^Y(?=\d{4}$)/, '')
    .replace(/\s*\[YR\d{4}\]$/, '')
    .replace(/(?<=^\d{4}(?:\.\d{1,2})?) (?:Month|Year|년|월)$/, '')
    .replace(/^(\d{4})\.([1-4])\/4(?: (?:Quarter|분기))?$/, '$1-Q$2')
    .replaceAll(' / ', ' ')
    .trim();
}

/**
 * The periods in titles; '' in a title without the words. @param after the words before each period. @param read if given, the year is only in
 * the title of the first month or quarter of each year.
 */
export function periodTitles(
  titles: readonly string[],
  { after = '', read }: { after?: string | undefined; read: ReadDateText | null },
): string[] {
  if (after !== '') return titles.map((title) => periodTitle(withoutWords(title, after)));
  if (read === null) return titles.map(periodTitle);
  const years = new CarriedYears(read);
  return titles.map((title) => years.of(periodTitle(title.replace(/ \(\d+\)$/, ''))));
}

/** A title without the words before its period, or over it in another line; '' if it does not begin with them. */
export const withoutWords = (title: string, words: string): string =>
  title.trim().startsWith(`${words} `)
    ? title
        .trim()
        .slice(words.length + 1)
        .replace(/^\/ /, '')
        .trim()
    : '';

const afterWords = /^([^\d{}]*\p{L}[^\d{}]*?)\s+(?:1[5-9]|2[01])\d{2}(?:\s?[MQKHTVW]\d{1,2})?$/u;

/**
 * The words that all titles with a year have before it, as `Population` in `Population 2021`; '' if they differ, some have none, or one of them may be
 * a part of the year.
 */
export function wordsBeforePeriods(cells: readonly string[]): string {
  const dated = cells.filter((cell) => /\d{4}/.test(cell));
  if (dated.some((cell) => cell.length > 200)) return '';
  const [words = '', ...others] = new Set(
    dated.map((cell) => afterWords.exec(cell.trim())?.[1]?.trim() ?? ''),
  );
  const isOfPeriod = words.split(/[^\p{L}\p{M}]+/u).some((word) => isPart(word));
  return dated.length >= 2 && others.length === 0 && !isOfPeriod ? words : '';
}

/** Some cells of a line, for messages. */
export const cellsShown = (row: readonly string[]): string =>
  row
    .filter((cell) => cell.trim() !== '')
    .slice(0, 4)
    .map((cell) => `"${cell.trim().slice(0, 30)}"`)
    .join(', ') || 'no cell';

/** The text for almanac.yml where no dates were found. */
export const namingDates =
  'Name the dates as date: { column: …, format: … }, or state the day of all values as date: { value: 2024-01-31 }';

const partOfYear = /^(?:19|20)\d{2}[\s-]?[QMKHTVW]\d{1,2}$/i;

/** What a line has that names columns in a way that is not read; null if it names none: then it has numbers other than years. */
export function whyUnreadTitles(row: readonly string[]): string | null {
  const years = row.filter((cell) => isNumberText(cell)).map((cell) => cell.trim());
  if (years.length < 2 || !years.every((cell) => /^(?:19|20)\d{2}$/.test(cell))) return null;
  const part = row.find((cell) => partOfYear.test(cell.trim()));
  return part === undefined
    ? `years over other titles (${cellsShown(row)}), which are in more lines than are read: give each column one title, as in "2023 Urban Men", or make a file for each group`
    : `periods of several lengths, such as "${years[0] ?? ''}" and "${part.trim()}": make a file for each length`;
}
