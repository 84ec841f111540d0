// What is done with each row of a described table, from its entry and the lines above the data: where its date, values, facts and
// dimensions stand. Refuses an entry that does not fit the file.
import { entryAt } from '../../kernel/entries.ts';
import { dateReader } from '../files/dates.ts';
import type { CsvBatch } from '../files/csv-batch.ts';
import { misuse } from '../load/failure.ts';
import { dateAbove, dateInText } from './detect/date-forms.ts';
import type { LoadableTable } from './description.ts';
import { namesIn } from './detect/file-name.ts';
import { isUntitled, periodTitle, titlesOf } from './detect/layout.ts';
import { flagReader, type FlagReader } from './detect/number-forms.ts';
import { sdmxFrequencies } from './detect/sdmx.ts';
import {
  columnsNamedIn,
  compileTemplate,
  failUnknownColumn,
  idPart,
  type Places,
  type Template,
} from './templates.ts';

/** The file that the rows are from. */
export interface RowsOf {
  /** Its name, without the folder. */
  fileName: string;
  /** The entry in almanac.yml, for messages. */
  where: string;
}

/** The positions are of columns; -1: there is none. */
export interface ReshapePlan {
  header: string[];
  titles: string[];
  /** What a row is dated by: columns, or the whole file by a text; across, the year is a column before the texts, or -1. */
  date: { columns: number[] } | { text: string } | { across: string[]; year: number };
  /** Whether a text is a date of the rows. */
  isDate: (text: string) => boolean;
  values: {
    at: number;
    title: string;
    id: Template;
    source: Template;
    facts: Template[];
    covers: string | null;
  }[];
  factNames: string[];
  status: number;
  withStatus: boolean;
  dimensions: number[];
  only: { at: number; expression: RegExp }[];
  leaveOut: { at: number; texts: ReadonlySet<string> }[];
  vintage: number;
  flags: FlagReader;
  missing: ReadonlySet<string>;
}

const noCells: readonly string[] = [];

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
  const units = table.unit_line === undefined ? [] : rowOfLine(table.unit_line);
  const date = dateOf(table, of, head, titles, columnAt);
  const valueColumns =
    'across' in date
      ? titles.flatMap((_, at) => (entryAt(date.across, at) === '' ? [] : [at]))
      : valuesOf(table, titles, columnAt);
  refuseUnnamed(table, titles, valueColumns, of);
  const factNames = Object.keys(factsOf(table, '')).filter((name) => !(name in constants));
  for (const title of Object.keys(table.columns ?? {})) columnAt(title, 'columns');
  const dimensions = Object.entries(table.dimensions ?? {});
  const withStatus = table.status !== undefined || table.flags !== undefined;
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
    isDate: isDateOf(table.date),
    values: valueColumns.map((at) => valuePlan(at, table, factNames, places, units)),
    factNames,
    status: table.status === undefined ? -1 : columnAt(table.status, 'status'),
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
    flags: flagReader(table.flags ?? {}),
    missing: new Set(table.missing ?? []),
  };
}

/** How the values of a column become points. */
function valuePlan(
  at: number,
  table: LoadableTable,
  factNames: readonly string[],
  places: Places,
  units: readonly string[],
): ReshapePlan['values'][number] {
  const title = entryAt(places.titles, at);
  const idText = table.columns?.[title]?.id ?? table.series.id;
  const id = compileTemplate(idText, { ...places, of: `${places.of}.id` }, units, idPart);
  const facts = factsOf(table, title);
  return {
    at,
    title,
    id: id.text,
    source: compileTemplate(idText, places, units).text,
    facts: factNames.map((name) => factTemplate(name, facts[name] ?? '', places, units)),
    covers: id.needs.length === 0 ? id.text(noCells, at) : null,
  };
}

function isVintageColumn(vintage: LoadableTable['vintage']): vintage is { column: string } {
  return typeof vintage === 'object' && 'column' in vintage;
}

/** Columns at the end that have neither a title nor a cell are none. */
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

function factTemplate(name: string, text: string, places: Places, units: readonly string[]): Template {
  const { text: fill } = compileTemplate(text, { ...places, of: `${places.of}.${name}` }, units);
  if (name !== 'frequency') return fill;
  return (row, column) => {
    const word = fill(row, column);
    return sdmxFrequencies[word.replace(/:.*$/s, '').trim()] ?? word;
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
    const read = dateReader(date.format);
    const year = date.year === undefined ? -1 : columnAt(date.year, 'date.year');
    const sampleYear = year < 0 ? '' : '2000 ';
    const across = titles.map((title) =>
      read(`${sampleYear}${periodTitle(title)}`) === null ? '' : periodTitle(title),
    );
    if (across.every((text) => text === ''))
      misuse(
        `${of.where}, date: no title of a column is a date${date.format === undefined ? '' : ` of the form ${date.format}`}.`,
      );
    return { across, year };
  }
  const found = date.in === 'file name' ? dateInText(of.fileName) : dateAbove(head.rows.flat());
  if (found === null)
    misuse(
      `${of.where}, date: ${of.fileName} has no date ${date.in === 'title' ? `above line ${table.first}` : 'in its name'}.`,
    );
  return { text: found.date };
}

function isDateOf(date: LoadableTable['date']): (text: string) => boolean {
  const read = dateReader('format' in date ? date.format : undefined);
  return (text) => read(text) !== null;
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

/** What the entry names, other than values. */
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
    ...(table.status === undefined ? [] : [table.status]),
    ...Object.values(table.dimensions ?? {}),
    ...(table.ignore ?? []),
    ...Object.keys(table.only ?? {}),
    ...Object.keys(table.leave_out ?? {}),
    ...templates.flatMap((text) => (typeof text === 'string' ? columnsNamedIn(text) : [])),
  ]);
}

/** A column that nobody has thought of is not left out silently. */
function refuseUnnamed(
  table: LoadableTable,
  titles: readonly string[],
  values: readonly number[],
  { where, fileName }: RowsOf,
): void {
  const named = columnsNamed(table);
  const unnamed = titles.filter(
    (title, at) => !named.has(title) && !values.includes(at) && !isUntitled(title, at),
  );
  if (unnamed.length === 0) return;
  misuse(
    `${where}: ${fileName} has ${unnamed.map((title) => `"${title}"`).join(', ')}, of which the entry says nothing: ` +
      'add it to values, dimensions or ignore.',
  );
}
