// Turns the rows of a described table into long rows of observations, as a stream: dates across the columns, several columns of values,
// flags, ids and facts made of other cells. Checks nothing that the load checks; the numbers and dates pass through as text.
import { entryAt } from '../../kernel/entries.ts';
import { dateReader } from '../files/dates.ts';
import type { CsvBatch } from '../files/csv-batch.ts';
import { IngestFailure, misuse } from '../load/failure.ts';
import { dateAbove, dateInText } from './detect/date-forms.ts';
import type { LoadableTable } from './description.ts';
import { isUntitled, periodTitle, titlesOf } from './detect/layout.ts';
import { flagReader, type FlagReader } from './detect/number-forms.ts';
import { namesIn } from './detect/propose.ts';
import { sdmxFrequencies } from './detect/sdmx.ts';
import { columnsNamedIn, compileTemplate, failUnknownColumn, idPart, type Template } from './templates.ts';

/** The file that the rows are from. */
export interface RowsOf {
  /** Its name, without the folder. */
  fileName: string;
  /** The entry in almanac.yml, for messages. */
  where: string;
}

export interface Reshaped {
  /** The header of a long file, then its rows. */
  rows: () => AsyncGenerator<CsvBatch>;
  /** The facts that are the same for all series, for `set`. */
  constants: Record<string, string>;
  /** The series that were seen, or whose columns the file has. */
  series: Map<string, Record<string, string>>;
}

interface Plan {
  header: string[];
  titles: string[];
  /** What a row is dated by: a column, or the whole file by a text. */
  date: { column: number } | { text: string } | { across: string[] };
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

/** Beyond so many series, ids are no longer compared: memory stays flat. */
const seriesKeptMax = 200_000;
const headRowsMax = 2_000;

/**
 * @param open reads the file from its first line; called once for each reading.
 * @throws IngestFailure, when the rows are read, if the entry names columns that the file has not, or leaves out columns that it has.
 */
export function reshape(table: LoadableTable, of: RowsOf, open: () => AsyncGenerator<CsvBatch>): Reshaped {
  const constants = constantFacts(table, of);
  const series: Reshaped['series'] = new Map();
  return { rows: () => longRows(table, of, open(), constants, series), constants, series };
}

/** The facts without parts in braces; those of single columns are never constant. */
function constantFacts(table: LoadableTable, { fileName }: RowsOf): Record<string, string> {
  const ofColumns = new Set(Object.values(table.columns ?? {}).flatMap((facts) => Object.keys(facts)));
  const { id: _, ...facts } = table.series;
  return Object.fromEntries(
    Object.entries(facts).flatMap(([name, text]) => {
      if (text === undefined || ofColumns.has(name)) return [];
      const filled = text.replaceAll('{file}', namesIn(fileName).stem);
      return filled.includes('{') ? [] : [[name, filled]];
    }),
  );
}

async function* longRows(
  table: LoadableTable,
  of: RowsOf,
  batches: AsyncGenerator<CsvBatch>,
  constants: Readonly<Record<string, string>>,
  series: Reshaped['series'],
): AsyncGenerator<CsvBatch> {
  const head: CsvBatch = { rows: [], lines: [] };
  let long: LongRows | null = null;
  for await (const batch of batches) {
    if (long !== null) {
      yield long.of(batch);
      continue;
    }
    const firstAt = batch.lines.findIndex((line) => line >= table.first);
    const headEnd = firstAt < 0 ? batch.rows.length : firstAt;
    head.rows.push(...batch.rows.slice(0, headEnd));
    head.lines.push(...batch.lines.slice(0, headEnd));
    if (head.rows.length > headRowsMax)
      misuse(`${of.where}: first: at most ${headRowsMax} lines may stand above the data.`);
    if (firstAt < 0) continue;
    const rest = { rows: batch.rows.slice(firstAt), lines: batch.lines.slice(firstAt) };
    const plan = planOf(table, of, head, rest.rows, constants);
    for (const { covers } of plan.values) if (covers !== null) series.set(covers, {});
    long = new LongRows(plan, of, series);
    yield { rows: [plan.header], lines: [lastOf(table.header)] };
    yield long.of(rest);
  }
  if (long === null)
    throw new IngestFailure(
      'invalid_file',
      `${of.where}: ${of.fileName} ends before line ${table.first}, its first line of data.`,
    );
}

const linesOf = (header: LoadableTable['header']): number[] => [header].flat();
const lastOf = (header: LoadableTable['header']): number =>
  entryAt(linesOf(header), linesOf(header).length - 1);

function planOf(
  table: LoadableTable,
  of: RowsOf,
  head: CsvBatch,
  firstRows: readonly string[][],
  constants: Readonly<Record<string, string>>,
): Plan {
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
    values: valueColumns.map((at) => {
      const title = entryAt(titles, at);
      const idText = table.columns?.[title]?.id ?? table.series.id;
      const id = compileTemplate(idText, { ...places, of: `${of.where}, series.id` }, units, idPart);
      const facts = factsOf(table, title);
      return {
        at,
        title,
        id: id.text,
        source: compileTemplate(idText, places, units).text,
        facts: factNames.map((name) => factTemplate(name, facts[name] ?? '', places, units)),
        covers: id.needs.length === 0 ? id.text(noCells, at) : null,
      };
    }),
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

function factTemplate(
  name: string,
  text: string,
  places: Parameters<typeof compileTemplate>[1],
  units: readonly string[],
): Template {
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
): Plan['date'] {
  const { date } = table;
  if ('column' in date) return { column: columnAt(date.column, 'date.column') };
  if ('value' in date) return { text: date.value };
  if ('across' in date) {
    const read = dateReader(date.format);
    const across = titles.map((title) => (read(periodTitle(title)) === null ? '' : periodTitle(title)));
    if (across.every((text) => text === ''))
      misuse(
        `${of.where}, date: no title of a column is a date${date.format === undefined ? '' : ` of the form ${date.format}`}.`,
      );
    return { across };
  }
  const found = date.in === 'file name' ? dateInText(of.fileName) : dateAbove(head.rows.flat());
  if (found === null)
    misuse(
      `${of.where}, date: ${of.fileName} has no date ${date.in === 'title' ? `above line ${table.first}` : 'in its name'}.`,
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

/** What the entry names, other than values. */
function columnsNamed(table: LoadableTable): Set<string> {
  const { date, vintage } = table;
  const templates = [
    ...Object.values(table.series),
    ...Object.values(table.columns ?? {}).flatMap((facts) => Object.values(facts)),
  ];
  return new Set([
    ...('column' in date ? [date.column] : []),
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

/** The long rows of the batches of one file, and what is known of their series. */
class LongRows {
  readonly #plan: Plan;
  readonly #of: RowsOf;
  readonly #series: Reshaped['series'];
  readonly #isWide: boolean;
  /** What an id is made of, as the file has it → the id and the facts: making them for each row would take most of the time. */
  #made = new Map<string, { id: string; facts: string[] }>();
  #sourceOf = new Map<string, string>();
  #long: Required<CsvBatch> = { rows: [], lines: [], titles: [] };

  constructor(plan: Plan, of: RowsOf, series: Reshaped['series']) {
    this.#plan = plan;
    this.#of = of;
    this.#series = series;
    this.#isWide = plan.values.length > 1 || 'across' in plan.date;
  }

  /** The long rows of a batch, each with the line and the column it is from. */
  of(batch: CsvBatch): CsvBatch {
    this.#long = { rows: [], lines: [], titles: [] };
    for (const [at, row] of batch.rows.entries()) {
      const line = entryAt(batch.lines, at);
      // One cell is never a whole row: it is refused with its line.
      if (row.slice(this.#plan.titles.length).some((cell) => cell.trim() !== ''))
        this.#add([row.join(',')], line, 'row');
      else if (this.#isData(row)) this.#addRows(row, line);
    }
    return this.#long;
  }

  #add(row: string[], line: number, title: string): void {
    this.#long.rows.push(row);
    this.#long.lines.push(line);
    this.#long.titles.push(title);
  }

  #isData(row: readonly string[]): boolean {
    const { only, leaveOut } = this.#plan;
    return (
      only.every(({ at, expression }) => expression.test(textAt(row, at))) &&
      !leaveOut.some(({ at, texts }) => texts.has(textAt(row, at)))
    );
  }

  #addRows(row: readonly string[], line: number): void {
    const { date, values, dimensions, missing, flags, status, withStatus, vintage } = this.#plan;
    const rowDate = 'column' in date ? textAt(row, date.column) : 'text' in date ? date.text : '';
    const isEmpty = values.every(({ at }) => textAt(row, at) === '');
    // Headings and notes have no value, and no place that one could be missing in.
    if (isEmpty && (this.#isWide || !/\d/.test(rowDate) || dimensions.some((at) => textAt(row, at) === '')))
      return;
    const dims = dimensions.map((at) => textAt(row, at));
    for (const value of values) {
      const text = textAt(row, value.at);
      const flag = text === '' ? null : flags(text);
      // An empty cell beside others states nothing: columns begin and end at different dates.
      if (this.#isWide && flag === null && (text === '' || missing.has(text))) continue;
      const { id, facts } = this.#made.get(value.source(row, value.at)) ?? this.#make(row, line, value);
      const cells = [id, 'across' in date ? entryAt(date.across, value.at) : rowDate, flag?.number ?? text];
      if (withStatus) cells.push(flag === null || flag.status === '' ? textAt(row, status) : flag.status);
      if (vintage >= 0) cells.push(textAt(row, vintage));
      cells.push(...facts, ...dims);
      this.#add(cells, line, value.title);
    }
  }

  /** @throws IngestFailure if another text of the file gives the same id: their points would be mixed. */
  #make(
    row: readonly string[],
    line: number,
    value: Plan['values'][number],
  ): { id: string; facts: string[] } {
    if (this.#made.size >= seriesKeptMax) {
      this.#made = new Map();
      this.#sourceOf = new Map();
    }
    const source = value.source(row, value.at);
    const made = { id: value.id(row, value.at), facts: value.facts.map((fill) => fill(row, value.at)) };
    const other = this.#sourceOf.get(made.id);
    if (other !== undefined && other !== source)
      throw new IngestFailure(
        'invalid_file',
        `${this.#of.where}, series.id: "${other}" and "${source}" (line ${line}) are both the series ${made.id}: make the id of other columns, ` +
          'or give one column an id of its own under columns.',
      );
    this.#made.set(source, made);
    this.#sourceOf.set(made.id, source);
    if (this.#series.size < seriesKeptMax)
      this.#series.set(
        made.id,
        Object.fromEntries(this.#plan.factNames.map((name, at) => [name, entryAt(made.facts, at)])),
      );
    return made;
  }
}

/** The text of a cell; '' if there is none, or no such column. */
const textAt = (row: readonly string[], at: number): string => (at < 0 ? '' : (row[at] ?? '').trim());
