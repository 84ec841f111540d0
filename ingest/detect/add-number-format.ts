// Adds the number format of a table to its entry.
import { isTitleOfCommaLanguage } from '../cells/dates/date-column-titles.ts';
import { cellOf, isNumberText, type NumberCell } from '../cells/cell-forms.ts';
import { footnotesIn, gluedFootnote, spacedFootnote } from './glued-footnotes.ts';
import { noteOfZero, whyAboveZero } from './legends.ts';
import type { Sample } from '../read/table-rows.ts';
import { cellPlace, type ColumnNumbers, type SheetNumbers } from '../read/workbook.ts';
import { detectNumbers, isPartlyPercent, type Finding } from './table/number-format.ts';
import { doubt, type Draft } from './proposal/proposal.ts';

const numbersSampled = 200_000;
/** Words among numbers that mean missing, if the user confirms it. */
const wordsMax = 6;

/**
 * @param rows those with a point. @param values the positions of the columns of values.
 * @returns why the numbers cannot be read, or null.
 */
export function addNumbers(
  { entry, evidence, guessed }: Draft,
  { delimiter, rows: everyRow, lines, numbers = new Map() }: Sample,
  rows: readonly string[][],
  values: readonly number[],
): string | null {
  const texts: string[] = [];
  for (const row of rows)
    for (const at of values) {
      const text = (row[at] ?? '').trim();
      if (text !== '' && texts.length < numbersSampled) texts.push(text);
    }
  const first = lines.indexOf(entry.first ?? 1);
  const stored = storedNumbers(numbers, values, first);
  const found = detectNumbers(texts, {
    delimiter,
    hasCommaLanguage: hasCommaLanguage(entry.date),
    withPoint: stored.withPoint,
  });
  const add = <Key extends 'decimal' | 'thousands' | 'missing' | 'flags' | 'multiples' | 'negative'>(
    key: Key,
    finding: Finding<NonNullable<Draft['entry'][Key]>> | null,
  ) => {
    if (finding === null) return;
    entry[key] = finding.value;
    evidence[key] = finding.evidence;
    if (!finding.isSure) guessed.push(key);
  };
  if (found.decimal.value === ',' || !found.decimal.isSure) add('decimal', found.decimal);
  add('thousands', found.thousands as Finding<NonNullable<Draft['entry']['thousands']>> | null);
  const series = seriesOf(rows, values, entry.values === undefined);
  if (entry.decimal === undefined && entry.thousands === undefined && stored.withPoint === undefined)
    add('decimal', partlyGrouped(series, texts));
  // A word that occurs once may be a mistake: the load rejects it, with its line.
  const repeated = new Map([...found.words].filter(([, times]) => times > 1));
  add('missing', withWords(found.missing, repeated));
  add('flags', found.flags);
  add('multiples', found.multiples);
  add('negative', found.negative);
  doubtPercent({ entry, evidence, guessed }, rows, values);
  const header = everyRow[lines.indexOf([entry.header ?? 1].flat().at(-1) ?? 1)] ?? [];
  doubtParentheses({ entry, evidence, guessed }, rows, values, header);
  if (entry.negative?.includes('parentheses') === true) {
    const why = whyAboveZero(everyRow, rows, values) ?? germanSigns(found.missing?.value);
    if (why !== undefined)
      doubt(
        { evidence, guessed },
        'negative',
        `numbers in parentheses may be above zero: ${why}; if they are, write them without`,
      );
  }
  const zero = noteOfZero(everyRow, values, found.missing?.value ?? []);
  if (zero !== undefined)
    doubt(
      { evidence, guessed },
      'missing',
      `"${zero.note.slice(0, 80)}" says that ${zero.mark} is zero: for that, write 0 in the file`,
    );
  const doubts = [stored.doubt, footnoteDoubt(everyRow.slice(first), series, values)];
  const key = entry.values === undefined ? 'date' : 'values';
  for (const why of doubts) if (why !== null) doubt({ evidence, guessed }, key, why);
  if (found.words.size > wordsMax) {
    const [first = ''] = found.words.keys();
    const at = everyRow.findIndex((row) => values.some((each) => (row[each] ?? '').trim() === first));
    return `${found.words.size} different words are among its numbers, the first "${first.slice(0, 60)}" on line ${lines[at] ?? 0}: name them under missing or flags`;
  }
  return null;
}

/**
 * What the stored numbers of a sheet show of the texts among them.
 * @param first the first row of data. @returns withPoint: one with decimals; doubt: why a text may be another number.
 */
function storedNumbers(
  numbers: SheetNumbers,
  values: readonly number[],
  first: number,
): { withPoint?: string | undefined; doubt: string | null } {
  const columns = values.flatMap((at) => {
    const { last = -1, withDecimals, grouped } = numbers.get(at) ?? {};
    return last < first ? [] : [{ withDecimals, grouped }];
  });
  const mixed = columns.find(({ grouped }) => grouped !== undefined && grouped.row >= first);
  const decimals = columns.find(
    ({ withDecimals }) => withDecimals !== undefined && withDecimals.row >= first,
  );
  return {
    withPoint: decimals?.withDecimals?.text,
    doubt: mixed?.grouped === undefined ? null : textAmongNumbers(mixed.grouped),
  };
}

/** The cells of each column of values, or of each row if the dates are across. */
const seriesOf = (rows: readonly string[][], values: readonly number[], isAcross: boolean): string[][] =>
  isAcross
    ? rows.map((row) => values.map((at) => row[at] ?? ''))
    : values.map((at) => rows.map((row) => row[at] ?? ''));

/** @param below all rows from the first of data on. */
function footnoteDoubt(
  below: readonly string[][],
  series: readonly string[][],
  values: readonly number[],
): string | null {
  const isNote = (row: readonly string[]) => !values.some((at) => isNumberText((row[at] ?? '').trim()));
  const footnotes = footnotesIn(below.filter(isNote).flat());
  return gluedFootnote(series, footnotes) ?? spacedFootnote(series);
}

/** Some numbers of one series have three digits behind a point, and others have four digits or more and no point: 12.345 may be 12345. */
function partlyGrouped(series: readonly string[][], texts: readonly string[]): Finding<'.'> | null {
  const isGrouped = (text: string) => /^[-+]?[1-9]\d{0,2}\.\d{3}$/.test(text);
  if (texts.some((text) => /\.\d/.test(text) && !isGrouped(text))) return null;
  for (const cells of series) {
    const [grouped, whole] = [cells.find(isGrouped), cells.find((cell) => /^[-+]?[1-9]\d{3,}$/.test(cell))];
    if (grouped === undefined || whole === undefined) continue;
    const evidence = `"${grouped}" is ${grouped.replace('.', '')} if the point divides groups, as the size of "${whole}" suggests`;
    return { value: '.', isSure: false, evidence };
  }
  return null;
}

function textAmongNumbers({ row, column, text }: NonNullable<ColumnNumbers['grouped']>): string {
  const sign = text.includes('.') ? '.' : ',';
  return `${cellPlace(row, column)} is the text "${text}" in a column of numbers: ${text.replaceAll(sign, '')} if ${sign} divides groups, ${text.replace(sign, '.')} if it is the decimal mark; store it as a number`;
}

/** Whether the names or the titles of the dates are of a language that writes decimals with a comma. */
function hasCommaLanguage(date: Draft['entry']['date']): boolean {
  if (date === undefined) return false;
  if ('language' in date && date.language !== undefined)
    return new Intl.NumberFormat(date.language).format(1.5).includes(',');
  const titles = 'column' in date ? [date.column].flat() : 'year' in date ? [date.year ?? ''] : [];
  return titles.some(isTitleOfCommaLanguage);
}

/** Words in place of numbers may mean missing; only a person can decide that. */
function withWords(
  missing: Finding<string[]> | null,
  words: ReadonlyMap<string, number>,
): Finding<string[]> | null {
  if (words.size === 0 || words.size > wordsMax) return missing;
  const counted = [...words].map(([text, times]) => `"${text}" (${times})`).join(', ');
  return {
    value: [...(missing?.value ?? []), ...words.keys()],
    isSure: false,
    evidence: `${missing === null ? '' : `${missing.evidence}; `}words among the numbers, taken as missing: ${counted}`,
  };
}

/** German offices write / for a number that is not certain enough, and (12) for one that is hardly so. */
const germanSigns = (missing: readonly string[] = []): string | undefined =>
  missing.includes('/')
    ? '"/" is beside them, as in German tables, where (12) is an uncertain 12'
    : undefined;

const errorTitle =
  /\b(?:s\.?e\.?|r\.?s\.?e\.?|std|st\.? ?dev|standard|errors?|t[- ]?(?:stat|value)|ci|c\.?v\.?|confidence|margin|moe)\b|±/i;

/** Errors of estimates are in parentheses, and not below zero. */
function doubtParentheses(
  { entry, evidence, guessed }: Pick<Draft, 'entry' | 'evidence' | 'guessed'>,
  rows: readonly string[][],
  values: readonly number[],
  header: readonly string[],
): void {
  if (entry.negative?.includes('parentheses') !== true) return;
  const at = values.find((each) => {
    const cells = rows.map((row) => cellOf((row[each] ?? '').trim())).filter(({ kind }) => kind === 'number');
    const isAll = cells.every((cell) => cell.kind === 'number' && cell.negative === 'parentheses');
    return cells.length > 0 && isAll && errorTitle.test(header[each] ?? '');
  });
  if (at === undefined) return;
  const title = (header[at] ?? '').trim();
  const why = `all numbers of ${title} are in parentheses, and may be errors above zero: write them without`;
  doubt({ evidence, guessed }, 'negative', why);
}

/** 1.5% and 0.015 may be the same: a workbook has both where only some cells are formatted. */
function doubtPercent(
  { entry, evidence, guessed }: Draft,
  rows: readonly string[][],
  values: readonly number[],
): void {
  if (entry.flags?.['%'] !== null) return;
  const isPartly = values.some((at) =>
    isPartlyPercent(
      rows.map((row) => cellOf(row[at] ?? '')).filter((cell): cell is NumberCell => cell.kind === 'number'),
    ),
  );
  if (!isPartly) return;
  evidence['flags'] =
    `${evidence['flags'] ?? ''}; in one column some numbers have % and others not: they may be shares`;
  if (!guessed.includes('flags')) guessed.push('flags');
}
