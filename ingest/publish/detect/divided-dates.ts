// Dates that are divided over two places of a table: the year in a column, and the month or quarter in another column, or in the titles of the
// columns of values. A pure function of the rows; the texts of both, joined by a space, are read by one format.
import { entryAt } from '../../../kernel/entries.ts';
import { dateReader } from '../../files/dates.ts';
import { isBareYear, type DateForm } from './date-forms.ts';
import type { Layout } from './layout.ts';
import { looksNumeric, type Finding } from './number-forms.ts';
import { isDetermined } from './columns.ts';

interface PartColumn {
  column: number;
  form: Finding<DateForm>;
  /** Texts of the column that are neither months nor quarters, such as `M13` and `Annual`. */
  others: string[];
}

interface PartTitles {
  columns: number[];
  form: Finding<DateForm>;
}

/** The layout with the months or quarters of its years, if there are some. @param rows those of data. */
export function withParts(layout: Layout, rows: readonly string[][]): Layout {
  const { dates, titles } = layout;
  if (dates.kind !== 'column') return layout;
  const { column: year } = dates;
  const years = rows.map((row) => (row[year] ?? '').trim()).filter((text) => text !== '');
  if (years.filter(isBareYear).length < years.length * 0.95) return layout;
  const across = partTitles(titles, year);
  if (across !== null) return { ...layout, dates: { kind: 'across', year, ...across } };
  const part = partColumn(rows, titles, year);
  if (part === null) return layout;
  const { column, form, others } = part;
  return { ...layout, dates: { kind: 'column', column: year, part: { column, others }, form } };
}

/** Of a year and what follows it. */
const wordFormats = ['YYYY MMMM', 'YYYY MMM', 'YYYY [Q]Q', 'YYYY Q[Q]', 'YYYY [M]MM'];
const monthTitle = /^(?:months?|mon|mm|monat|mois|mes|m[eê]s|mese)(?:[ _]?(?:no\.?|num(?:ber)?))?$/i;
const quarterTitle = /^(?:quarters?|qtr|qq?|quartal|trimestre)(?:[ _]?(?:no\.?|num(?:ber)?))?$/i;
const partsMax = 20;

const formOf = (format: string): DateForm => ({ format, read: dateReader(format) });
const isRead = ({ read }: DateForm, text: string): boolean => read(`2000 ${text}`) !== null;

/** The form that reads most of the texts behind a year; numbers are months or quarters only where the title says so. */
function formOfParts(texts: readonly string[], title: string): DateForm | null {
  const isNumbers = texts.every((text) => /^\d{1,2}$/.test(text));
  const formats = !isNumbers
    ? wordFormats
    : monthTitle.test(title)
      ? ['YYYY M']
      : quarterTitle.test(title)
        ? ['YYYY Q']
        : [];
  const [best] = formats
    .map((format) => ({
      form: formOf(format),
      count: texts.filter((text) => isRead(formOf(format), text)).length,
    }))
    .toSorted((a, b) => b.count - a.count);
  return best !== undefined && best.count >= 2 && best.count * 4 >= texts.length * 3 ? best.form : null;
}

/** The column of the months or quarters of the years, if there is one: rows of one year differ in it, whatever the texts beside it are. */
function partColumn(rows: readonly string[][], titles: readonly string[], year: number): PartColumn | null {
  const distinct = titles.map((_, at) => distinctIn(rows, at));
  // What is nearly a text a row says which row it is, and nothing of the month. One row a month has at most 20 parts.
  const others = titles.flatMap((_, at) => {
    const texts = entryAt(distinct, at);
    return at !== year && texts.size * 2 <= rows.length && ![...texts].every(looksNumeric) ? [at] : [];
  });
  for (const [column, title] of titles.entries()) {
    const texts = [...entryAt(distinct, column)];
    if (column === year || texts.length > partsMax) continue;
    const form = formOfParts(texts, title);
    if (form === null) continue;
    const beside = others.filter((at) => at !== column);
    if (isDetermined(rows, [year, ...beside], column)) continue;
    const left = texts.filter((text) => !isRead(form, text));
    const [first = ''] = texts.filter((text) => isRead(form, text));
    const evidence = `${entryAt(titles, year)} has the years, and ${title} what they are divided into, such as "${first}" (${form.format ?? ''})`;
    return { column, form: { value: form, isSure: true, evidence }, others: left };
  }
  return null;
}

/** The columns whose titles are months or quarters, in their order, beside a column of years. */
function partTitles(titles: readonly string[], year: number): PartTitles | null {
  const formats = [...wordFormats, 'YYYY M'];
  for (const form of formats.map(formOf)) {
    const columns = titles.flatMap((title, at) => (at !== year && isRead(form, title) ? [at] : []));
    const spans = columns.map((at) => form.read(`2000 ${entryAt(titles, at)}`)?.from ?? '');
    const isOrdered = spans.every((from, at) => at === 0 || from > entryAt(spans, at - 1));
    // Numbers as titles are months only if they are all of them: 1 to 12.
    const least = form.format === 'YYYY M' ? 12 : form.format?.includes('Q') === true ? 4 : 3;
    if (columns.length < least || !isOrdered) continue;
    const [first = 0] = columns;
    const evidence = `${entryAt(titles, year)} has the years, and ${columns.length} titles what they are divided into, from ${entryAt(titles, first)} to ${entryAt(titles, columns.at(-1) ?? first)}`;
    return { columns, form: { value: form, isSure: true, evidence } };
  }
  return null;
}

/** Columns that may have the months or quarters of the years, or be one, and were not taken as that. @param columns values and dimensions. */
export function possibleParts(
  columns: readonly number[],
  titles: readonly string[],
  rows: readonly string[][],
): number[] {
  const forms = wordFormats.map(formOf);
  const isPart = (text: string) => forms.some((form) => isRead(form, text));
  return columns.filter((at) => {
    const title = entryAt(titles, at);
    if (monthTitle.test(title) || quarterTitle.test(title) || isPart(title)) return true;
    const texts = [...distinctIn(rows, at)];
    return texts.length >= 2 && texts.filter(isPart).length * 4 >= texts.length * 3;
  });
}

function distinctIn(rows: readonly string[][], column: number): Set<string> {
  const texts = new Set(rows.map((row) => (row[column] ?? '').trim()));
  texts.delete('');
  return texts;
}
