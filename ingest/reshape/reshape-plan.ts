// Plans the reading of the rows of a described table, from its entry and the lines above the data: where the date, values, facts and
// dimensions of each row are, and how they are parsed. Rejects an entry that does not fit the file.
import { entryAt } from '../../kernel/entries.ts';
import type { CsvBatch } from '../read/csv-batch.ts';
import { remembering } from '../cells/dates/date-patterns.ts';
import { usageError } from '../failure.ts';
import type { LoadableTable } from '../entry/entry-schema.ts';
import { namesIn } from '../entry/file-name.ts';
import {
  cellsShown,
  isYearAnnotation,
  isUntitled,
  periodTitles,
  titlesOf,
} from '../detect/table/header-lines.ts';
import { scaleIn } from '../cells/numbers/scales.ts';
import { sdmxFrequencies } from '../detect/sdmx-csv.ts';
import { dateAbove, dateInText } from '../cells/dates/date-in-line.ts';
import { dateTextReader, isWholeYear, type ReadDate } from '../cells/dates/dates-of-table.ts';
import { numberReader, type NumberRead } from '../cells/numbers/number-formats.ts';
import {
  columnsNamedIn,
  compileTemplate,
  failUnknownColumn,
  idPart,
  type Places,
  type Template,
} from '../entry/templates.ts';

/** The file that the rows are from. */
export interface RowsOf {
  /** Its name, without the folder. */
  fileName: string;
  /** The entry in almanac.yml, for messages. */
  where: string;
}

/** Positions are of columns; -1 for none. */
export interface ReshapePlan {
  header: string[];
  titles: string[];
  /** The date source of a row: columns, or a text for the whole file; across, the year is a column before the texts, or -1. */
  date: { columns: number[] } | { text: string } | { across: string[]; year: number };
  readDate: (text: string) => ReadDate | null;
  /** The expected form of a date, for messages. */
  expectedDate: string;
  readNumber: (text: string) => NumberRead | undefined;
  values: {
    at: number;
    title: string;
    id: Template;
    source: Template;
    facts: Template[];
    covers: string | null;
    /** Its column is stated to be annual: the month or quarter of a row dates the value of its year. */
    isAnnual: boolean;
  }[];
  factNames: string[];
  /** The column of the statuses; `beside`: the one to the right of each column of values. */
  status: number | 'beside';
  withStatus: boolean;
  dimensions: number[];
  only: { at: number; expression: RegExp }[];
  leaveOut: { at: number; texts: ReadonlySet<string> }[];
  vintage: number;
  readVintage: (text: string) => ReadDate | null;
  /** Columns whose empty cells repeat the cell above. */
  filled: number[];
  /** The column of dates that has the year only at the first month or quarter, or -1. */
  carried: number;
}

const noCells: readonly string[] = [];
/** Ends each part of the source of an id: `a.b` with `c` gives the same id as `a` with `b.c`. */
export const partEnd = '\u001f';

/** The lines of the column names. */
export const linesOf = (header: LoadableTable['header']): number[] => [header].flat();

export function planOf(
  table: LoadableTable,
  of: RowsOf,
  head: CsvBatch,
  firstRows: readonly string[][],
  constants: Readonly<Record<string, string>>,
): ReshapePlan {
  const rowOfLine = (line: number) => head.rows[head.lines.indexOf(line)] ?? [];
  const headerRows = linesOf(table.header).map(rowOfLine);
  const width = Math.max(
    ...headerRows.map((row) => row.length),
    ...firstRows.slice(0, 100).map((row) => row.length),
  );
  const titles = trimmedTitles(titlesOf(headerRows, width), headerRows, firstRows);
  const columnAt = (title: string, key: string) => {
    const at = titles.indexOf(title);
    return at >= 0 ? at : failUnknownColumn(title, titles, `${of.where}, ${key}`);
  };
  const places = { titles, file: namesIn(of.fileName).stem, of: `${of.where}, series` };
  const date = dateOf(table, of, head, titles, columnAt);
  const valueColumns =
    'across' in date
      ? titles.flatMap((_, at) => (entryAt(date.across, at) === '' ? [] : [at]))
      : valuesOf(table, titles, columnAt);
  refuseUnnamed(table, titles, valueColumns, of);
  const factNames = Object.keys(factsOf(table, '')).filter((name) => !(name in constants));
  for (const title of Object.keys(table.columns ?? {})) columnAt(title, 'columns');
  const dimensions = Object.entries(table.dimensions ?? {});
  const marks = 'marks' in table.date ? table.date.marks : undefined;
  const withStatus = table.status !== undefined || table.flags !== undefined || marks !== undefined;
  const fill = [...(table.fill ?? []).map((title) => columnAt(title, 'fill')), ...filledDates(table, date)];
  const isStatusAdjacent = typeof table.status === 'object';
  return {
    header: [
      'series_id',
      'date',
      'value',
      ...(withStatus ? ['status'] : []),
      ...(isVintageColumn(table.vintage) ? ['vintage'] : []),
      ...factNames,
      ...dimensions.map(([name]) => name),
    ],
    titles,
    date,
    readDate: remembering(dateTextReader(styleOf(table.date))),
    expectedDate: `a date ${formOf(table.date)}; another form is named under date, and a row without a date is left out by leave_out`,
    readNumber: numberReader(table),
    values: valueColumns.map((at) => valuePlan(at, table, factNames, places, rowOfLine)),
    factNames,
    status: isStatusAdjacent
      ? 'beside'
      : typeof table.status === 'string'
        ? columnAt(table.status, 'status')
        : -1,
    withStatus,
    dimensions: dimensions.map(([name, title]) => columnAt(title, `dimensions.${name}`)),
    only: Object.entries(table.only ?? {}).map(([title, form]) => ({
      at: columnAt(title, 'only'),
      expression: new RegExp(form),
    })),
    leaveOut: Object.entries(table.leave_out ?? {}).map(([title, texts]) => ({
      at: columnAt(title, 'leave_out'),
      texts: new Set(texts),
    })),
    vintage: isVintageColumn(table.vintage) ? columnAt(table.vintage.column, 'vintage') : -1,
    readVintage: remembering(
      dateTextReader(isVintageColumn(table.vintage) ? { format: table.vintage.format } : {}),
    ),
    filled: fill,
    carried: carriedColumn(table, date),
  };
}

/** How the values of a column become points. */
function valuePlan(
  at: number,
  table: LoadableTable,
  factNames: readonly string[],
  places: Places,
  lineAt: (line: number) => readonly string[],
): ReshapePlan['values'][number] {
  const title = entryAt(places.titles, at);
  const idText = table.columns?.[title]?.id ?? table.series.id;
  const id = compileTemplate(idText, { ...places, of: `${places.of}.id` }, lineAt, idPart);
  const facts = factsOf(table, title);
  return {
    at,
    title,
    id: id.text,
    source: compileTemplate(idText, places, lineAt, (part) => `${part.trim()}${partEnd}`).text,
    facts: factNames.map((name) => factTemplate(name, facts[name] ?? '', places, lineAt)),
    covers: id.needs.length === 0 && !id.isOfDate ? id.text(noCells, at) : null,
    isAnnual: (table.columns?.[title]?.['frequency'] ?? table.series.frequency) === 'annual',
  };
}

/** The column that has the year only in the first row of its periods. */
function filledDates({ date: described }: LoadableTable, date: ReshapePlan['date']): number[] {
  if (!('fill' in described) || described.fill === undefined) return [];
  if ('across' in date) return date.year < 0 ? [] : [date.year];
  return 'columns' in date && date.columns.length > 1 ? date.columns.slice(0, 1) : [];
}

/** Without a column of years, the year is in the texts of the dates. */
function carriedColumn({ date: described }: LoadableTable, date: ReshapePlan['date']): number {
  if (!('fill' in described) || described.fill === undefined || !('columns' in date)) return -1;
  return date.columns.length === 1 ? entryAt(date.columns, 0) : -1;
}

const styleOf = (date: LoadableTable['date']) =>
  'column' in date || 'across' in date
    ? { format: date.format, language: date.language, marks: date.marks }
    : {};

const formOf = (date: LoadableTable['date']): string =>
  'format' in date && date.format !== undefined
    ? `of the form ${date.format}`
    : 'language' in date && date.language !== undefined
      ? `with months in the language ${date.language}`
      : 'of ISO 8601 or a form of one meaning';

function isVintageColumn(vintage: LoadableTable['vintage']): vintage is { column: string; format?: string } {
  return typeof vintage === 'object' && 'column' in vintage;
}

/** Columns at the end that have neither a title nor a cell are ignored. */
function trimmedTitles(
  titles: readonly string[],
  header: readonly string[][],
  rows: readonly string[][],
): string[] {
  const isUsed = (at: number) => [...header, ...rows].some((row) => (row[at] ?? '').trim() !== '');
  const last = titles.findLastIndex((_, at) => isUsed(at));
  return titles.slice(0, last + 1);
}

function factsOf(table: LoadableTable, title: string): Record<string, string | undefined> {
  const { id: _, ...all } = table.series;
  const { id: __, ...own } = table.columns?.[title] ?? {};
  const names = new Set([
    ...Object.keys(all),
    ...Object.values(table.columns ?? {}).flatMap((facts) => Object.keys(facts)),
  ]);
  names.delete('id');
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      (own as Record<string, string | undefined>)[name] ?? (all as Record<string, string | undefined>)[name],
    ]),
  );
}

function factTemplate(
  name: string,
  text: string,
  places: Places,
  lineAt: (line: number) => readonly string[],
): Template {
  const { text: fill } = compileTemplate(text, { ...places, of: `${places.of}.${name}` }, lineAt);
  if (name === 'unit_multiplier') return (row, column) => String(scaleIn(fill(row, column)) ?? '');
  if (name !== 'frequency') return fill;
  return (row, column, frequency) => {
    const word = fill(row, column, frequency);
    const code = word.replace(/:.*$/s, '').trim();
    return Object.hasOwn(sdmxFrequencies, code) ? (sdmxFrequencies[code] ?? word) : word;
  };
}

function dateOf(
  table: LoadableTable,
  of: RowsOf,
  head: CsvBatch,
  titles: readonly string[],
  columnAt: (title: string, key: string) => number,
): ReshapePlan['date'] {
  const { date } = table;
  if ('column' in date)
    return { columns: [date.column].flat().map((title) => columnAt(title, 'date.column')) };
  if ('value' in date) return { text: date.value };
  if ('across' in date) {
    const read = dateTextReader(styleOf(date));
    const year = date.year === undefined ? -1 : columnAt(date.year, 'date.year');
    // Beside a column of years the titles are months or quarters; beside one of these they are years.
    const isPeriod = (text: string) =>
      year < 0 ? read(text) !== null : read(`2000 ${text}`) !== null || isWholeYear(text);
    const ignored = new Set(table.ignore);
    const periods = periodTitles(titles, {
      after: date.after,
      read: date.fill === true && year < 0 ? read : null,
    });
    const across = titles.map((title, at) => {
      const period = entryAt(periods, at);
      return ignored.has(title) || !isPeriod(period) ? '' : period;
    });
    if (across.every((text) => text === ''))
      usageError(
        `${of.where}, date: no title of a column is a date${date.format === undefined ? '' : ` of the form ${date.format}`}; the titles are ${cellsShown(titles)}.`,
      );
    return { across, year };
  }
  const found = date.in === 'file name' ? dateInText(of.fileName) : dateAbove(head.rows.flat());
  if (found === null)
    usageError(
      `${of.where}, date: ${of.fileName} has no date ${date.in === 'title' ? `above line ${table.first}` : 'in its name'}. State it as date: { value: 2024-01-31 }.`,
    );
  return { text: found.date };
}

function valuesOf(
  table: LoadableTable,
  titles: readonly string[],
  columnAt: (title: string, key: string) => number,
): number[] {
  if (table.values !== '*') return [table.values ?? []].flat().map((title) => columnAt(title, 'values'));
  const named = columnsNamed(table);
  return titles.flatMap((title, at) => (named.has(title) || isUntitled(title, at) ? [] : [at]));
}

/** The columns that the entry names, other than values. */
function columnsNamed(table: LoadableTable): Set<string> {
  const { date, vintage } = table;
  const templates = [
    ...Object.values(table.series),
    ...Object.values(table.columns ?? {}).flatMap((facts) => Object.values(facts)),
  ];
  return new Set([
    ...('column' in date ? [date.column].flat() : []),
    ...('year' in date && date.year !== undefined ? [date.year] : []),
    ...(isVintageColumn(vintage) ? [vintage.column] : []),
    ...(typeof table.status === 'string' ? [table.status] : []),
    ...(table.fill ?? []),
    ...Object.values(table.dimensions ?? {}),
    ...(table.ignore ?? []),
    ...Object.keys(table.only ?? {}),
    ...Object.keys(table.leave_out ?? {}),
    ...templates.flatMap((text) => (typeof text === 'string' ? columnsNamedIn(text) : [])),
  ]);
}

/** An unmentioned column is not left out silently. */
function refuseUnnamed(
  table: LoadableTable,
  titles: readonly string[],
  values: readonly number[],
  { where, fileName }: RowsOf,
): void {
  const named = columnsNamed(table);
  const isStatus = (at: number) => typeof table.status === 'object' && values.includes(at - 1);
  const unnamed = titles.filter(
    (title, at) =>
      !named.has(title) &&
      !values.includes(at) &&
      !isUntitled(title, at) &&
      !isYearAnnotation(title, 'note') &&
      !isStatus(at),
  );
  if (unnamed.length === 0) return;
  usageError(
    `${where}: ${fileName} has ${unnamed.map((title) => `"${title}"`).join(', ')}, which the entry does not mention: ` +
      'add it to values, dimensions or ignore.',
  );
}
