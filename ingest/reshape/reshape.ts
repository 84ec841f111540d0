// Turns the rows of a described table into long rows of observations, as a stream: dates across the columns, several columns of values,
// flags, ids and facts derived from other cells. Leaves the checks to the load; numbers and dates pass through as text.
import { counted } from '../../kernel/text/counted.ts';
import { entryAt } from '../../kernel/entries.ts';
import type { CsvBatch } from '../read/csv-batch.ts';
import { IngestFailure, usageError } from '../failure.ts';
import type { LoadableTable, TableDescription } from '../entry/entry-schema.ts';
import { fileNameOf, withoutQuery } from '../read/file-path.ts';
import { namesIn } from '../entry/file-name.ts';
import { LongRows, type RowsWatch, type SeriesSeen } from './long-rows.ts';
import { linesOf, planOf, type RowsOf } from './reshape-plan.ts';

export interface Reshaped {
  /** The header of a long file, then its rows. */
  rows: () => AsyncGenerator<CsvBatch>;
  /** The facts that are the same for all series, for `set`. */
  constants: Record<string, string>;
  /** The series that were seen, or whose columns the file has. */
  series: SeriesSeen;
  /** The ids of those that have a row, once the rows were read. */
  stated: ReadonlySet<string>;
}

const headRowsMax = 2_000;

/** @param name of the file, below the folder, or a URL. */
export function rowsOf({ sheet }: TableDescription, name: string): RowsOf {
  const plain = withoutQuery(name);
  return {
    fileName: fileNameOf(plain),
    where: `almanac.yml, ${plain}${sheet === undefined ? '' : `, sheet ${sheet}`}`,
  };
}

/**
 * @param open reads the file from its first line; called once per reading.
 * @throws IngestFailure, when the rows are read, if the entry names columns that the file does not have, or omits columns that it has.
 */
export function reshape(
  table: LoadableTable,
  of: RowsOf,
  open: () => AsyncGenerator<CsvBatch>,
  watch?: RowsWatch,
): Reshaped {
  const constants = constantFacts(table, of);
  const series: SeriesSeen = new Map();
  const stated = new Set<string>();
  return {
    rows: () => longRows(table, of, open(), constants, { series, stated, watch }),
    constants,
    series,
    stated,
  };
}

/** The facts without placeholders; those of single columns are never constant. */
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
  { series, stated, watch }: { series: SeriesSeen; stated: Set<string>; watch: RowsWatch | undefined },
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
      usageError(`${of.where}: first: at most ${headRowsMax} lines may precede the data.`);
    if (firstAt < 0) continue;
    const below = linesOf(table.header).find((line) => line >= table.first);
    if (below !== undefined) usageError(await headerBelow(table, of, below, batch, batches));
    const rest = { rows: batch.rows.slice(firstAt), lines: batch.lines.slice(firstAt) };
    const plan = planOf(table, of, head, rest.rows, constants);
    for (const { covers } of plan.values) if (covers !== null) series.set(covers, {});
    watch?.planned(plan);
    long = new LongRows(plan, of, series, stated, watch);
    yield { rows: [plan.header], lines: [lastOf(table.header)] };
    yield long.of(rest);
  }
  if (long === null)
    throw new IngestFailure(
      'invalid_file',
      `${of.where}: ${of.fileName} ends before line ${table.first}, its first line of data (first): it has ${counted(head.lines.at(-1) ?? 0, 'line')}.`,
    );
  if (long.count === 0)
    throw new IngestFailure(
      'invalid_file',
      `${of.where}: no row of ${of.fileName} has a value from line ${table.first} on: nothing is loaded. See date, values, only and leave_out of its entry.`,
    );
}

/** Why no line can name the columns. @param rest the batches that are not read yet. */
async function headerBelow(
  { first }: LoadableTable,
  { where, fileName }: RowsOf,
  line: number,
  batch: CsvBatch,
  rest: AsyncGenerator<CsvBatch>,
): Promise<string> {
  let last = batch.lines.at(-1) ?? 0;
  for await (const { lines } of rest) last = lines.at(-1) ?? last;
  return `${where}, header: line ${line} is not above line ${first}, the first line of data (first); ${fileName} has ${last} lines. Name the line of the column names under header.`;
}

const lastOf = (header: LoadableTable['header']): number =>
  entryAt(linesOf(header), linesOf(header).length - 1);
