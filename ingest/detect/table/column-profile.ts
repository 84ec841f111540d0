// The titles of columns by their roles, and the profile of one column of a table: its cells counted by kind, whether its title names codes, and whether its cells number the rows or follow
// from those of other columns.
import { cellOf, currencySigns } from '../../cells/cell-forms.ts';
import { factLabelled, isUntitled } from './header-lines.ts';

/** The titles of columns by their roles. */
export const titled = {
  status: /^(?:obs(?:ervation)?[ _]?)?(?:status|flags?)$/i,
  statusCodes: /^(?:flag|status)[ _]codes?$/i,
  flags:
    /^(?:.*[ _(])?(?:flags?|status|footnotes?|notes?|symbols?|fn|markers?)(?:[ _]codes?)?\)?(?: \(\d+\))?$/i,
  flagCodes: /^codes?(?: \(\d+\))?$/i,
  ofFlags: /(?:^|[ _])(?:flags?|status)(?:[ _]|$)/i,
  comment: /comment|footnote|^notes?(?: \(\d+\))?$|remark|sequence/i,
  unit: /^(?:unit[ _]measure|uom|um)$/i,
  currency: /^currency(?:[ _]code)?$/i,
  frequency: /^freq(?:uency)?$/i,
  multiplier:
    /^(?:scal(?:e|ar)[ _]factor|units?[ _]?mult(?:iplier)?|scale|multiplier|power[ _]?code|(?:order of )?magnitude)$/i,
  key: /^(?:series|indicator|variable|subject)[ _.-]?(?:key|id|code|identifier)$/i,
  name: /^(?:series|indicator|variable|subject)(?:[ _.-]?(?:display[ _])?(?:name|title|descriptor))?$/i,
  dataset: /^(?:data[ _-]?set|table|publication)(?:[ _.-]?(?:name|title))?$/i,
  value:
    /^(?:(?:obs(?:ervation)?[ _.]?)?values?|wert|valeur|valor|valore|waarde|v[æä]rde?i?|arvo|wartość|hodnota|érték|vrijednost|vrednost|valoare|значение|значення|değer|nilai|数?値|数?值|값)$/i,
} as const;

/** The titles of units are also labels of lines. */
export const unitTitle = {
  test: (title: string): boolean => titled.unit.test(title) || factLabelled(title) === 'unit',
};

export interface Profile {
  filled: number;
  /** Numbers, with flags or without. */
  numbers: number;
  /** Bounds, and marks in place of numbers. */
  marks: number;
  /** Numbers without a letter beside them: `3m` in every row is a word. */
  plain: number;
  /** Words, each with its count. */
  words: Map<string, number>;
  distinct: Map<string, number>;
  averageLength: number;
}

/** Rows beyond this number are not examined. */
export const examinedRows = 20_000;

export function profileOf(rows: readonly string[][], column: number): Profile {
  const profile: Profile = {
    ...{ filled: 0, numbers: 0, marks: 0, plain: 0, averageLength: 0 },
    ...{ words: new Map<string, number>(), distinct: new Map<string, number>() },
  };
  let length = 0;
  for (const row of rows) {
    const text = (row[column] ?? '').trim();
    if (text === '') continue;
    profile.filled++;
    length += text.length;
    const cell = cellOf(text);
    if (cell.kind === 'number') {
      profile.numbers++;
      if (!cell.signs.some((sign) => /^[a-z]+$/i.test(sign) && !currencySigns.includes(sign)))
        profile.plain++;
    } else if (cell.kind === 'word') profile.words.set(text, (profile.words.get(text) ?? 0) + 1);
    else profile.marks++;
    if (profile.distinct.size < examinedRows)
      profile.distinct.set(text, (profile.distinct.get(text) ?? 0) + 1);
  }
  profile.averageLength = profile.filled === 0 ? 0 : length / profile.filled;
  return profile;
}

const codeTitle =
  /(?:^|[\s_.-])(?:codes?|ids?|no\.?|nr\.?|num(?:ber)?|lat(?:itude)?|lon(?:g(?:itude)?)?|rank|row|line|vector|dguid|guid|key|year|month|day|quarter|decimals|coordinate|precision|sl\.? ?no\.?)$/i;
const camelCodeTitle = /[a-z](?:ID|Id|Code|No|Nr|Key)s?$/;

/** Code, in Japanese, Korean and Chinese. */
const eastAsianCodeTitle = /(?:コード|코드|代码|代碼)$/;

export const isCodeTitle = (title: string): boolean =>
  codeTitle.test(title) || camelCodeTitle.test(title) || eastAsianCodeTitle.test(title);

/** Whether rows with the same texts in the columns `by` always have the same text in `column`. */
export function isDetermined(rows: readonly string[][], by: readonly number[], column: number): boolean {
  const texts = new Map<string, string>();
  for (const row of rows) {
    const key = by.map((at) => (row[at] ?? '').trim()).join('\u001f');
    const text = (row[column] ?? '').trim();
    const other = texts.get(key);
    if (other === undefined) texts.set(key, text);
    else if (other !== text) return false;
  }
  return true;
}

/** Whether no two rows are equal in these columns: otherwise a number may be what distinguishes them. */
export function areDistinct(rows: readonly string[][], columns: readonly number[]): boolean {
  const keys = rows.map((row) => columns.map((at) => (row[at] ?? '').trim()).join('\u001f'));
  return new Set(keys).size === keys.length;
}

/** Whether most of the texts are numbers with decimals, as of coordinates or values. */
export const areDecimals = (texts: readonly string[]): boolean =>
  texts.filter((text) => /^-?\d*[.,]\d+$/.test(text)).length * 2 > texts.length;

/** Titles that programs give to the numbers of rows: pandas, R, Excel. A price may be called `Index`, so it must count from 0 or 1. */
const rowNumberTitle =
  /^(?:unnamed: ?\d+|\.\.\.1|x|v1|index|#|№|no\.?|nr\.?|s\.? ?no\.?|sr\.? ?no\.?|row(?:[ _.]?(?:number|names?|num|no|id))?|rowid|id)$/i;

/**
 * A column without a title, or with one of row numbers, whose cells count the rows from 0 or 1; the first column may have gaps if it has no
 * title, as pandas writes for a selection.
 */
export function numbersRows(
  title: string,
  at: number,
  { filled, distinct }: Profile,
  rows: readonly string[][],
): boolean {
  const isBare = isUntitled(title, at) || /^unnamed: ?\d+$/i.test(title);
  if (filled < 3 || distinct.size < filled || (!isBare && !rowNumberTitle.test(title))) return false;
  const numbers = rows.map((row) => (row[at] ?? '').trim()).filter((text) => text !== '');
  if (!numbers.every((text) => /^\d{1,9}\.?$/.test(text))) return false;
  const first = Number(numbers[0]);
  if (numbers.every((text, place) => Number(text) === first + place)) return first === 0 || first === 1;
  return (
    isBare &&
    at === 0 &&
    numbers.every((text, place) => place === 0 || Number(text) > Number(numbers[place - 1]))
  );
}

/** Whether all cells of the column are equal, or a repeated text of another column always has the same one beside it. */
export function followsFromText(
  at: number,
  profiles: readonly Profile[],
  rows: readonly string[][],
): boolean {
  const body = rows.filter((row) => (row[at] ?? '').trim() !== '').slice(0, examinedRows);
  const texts = profiles.flatMap(({ words, filled }, other) =>
    words.size > 0 && words.size * 2 <= filled ? [other] : [],
  );
  return isDetermined(body, [], at) || texts.some((other) => isDetermined(body, [other], at));
}
