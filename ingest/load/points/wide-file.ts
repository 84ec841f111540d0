// Wide files: one row per date, one column per series of observations, or per fund of NAVs. An empty cell is no observation. Each cell becomes
// a row, numbered by cell, so that two cells of a line are distinguished.
import { entryAt } from '../../../kernel/entries.ts';
import { isSeriesId } from '../../../domain/series-id.ts';
import { failUnusable, sourceColumns } from '../../datasets/columns.ts';
import type { Dataset } from '../../datasets/dataset.ts';
import { metadataNames } from '../../datasets/metadata.ts';
import type { CsvBatch } from '../../read/csv-batch.ts';
import { IngestFailure, usageError } from '../../failure.ts';
import type { LoadInput, LoadOptions } from '../store/load-options.ts';
import type { Rejects } from '../store/rejects.ts';
import { checkDimensionNames, hasCells, isDimensionValue, isEmpty } from './points.ts';

/** The rows of the file in long form. */
export interface LongInput extends Omit<LoadInput, 'rejects'> {
  /** Collects rejected rows by cell index. */
  rejects: Pick<Rejects, 'add'>;
  /** The line of the file for a cell index. */
  lineOf(place: number): number;
  /** The non-empty rows of the file so far; undefined if they equal the rows of the batches. */
  rowsRead?: () => number;
}

/** For a file that is already in long form. */
export const asLong = (input: LoadInput): LongInput => ({ ...input, lineOf: (line) => line });

/** A column other than the date. */
export interface WideColumn {
  /** The name of the series or the fund. */
  name: string;
  title: string;
  index: number;
}

/**
 * Converts the file to a long one with the columns `date`, `wide.column` and `wide.value`, and returns it with the options that still apply. The date
 * is the column that --map assigns, else the one titled date, else the first. The name of any other column is from --map, or is --prefix and its
 * title.
 * @throws IngestFailure if the header has no column besides the date, or two of one name, or if --set gives the date, the name or the value of all
 * cells.
 */
export function wideToLong(
  wide: NonNullable<Dataset['wide']>,
  input: LoadInput,
  options: LoadOptions,
  nameOf: (title: string) => string = (title) => title,
): { input: LongInput; options: LoadOptions; columns: readonly WideColumn[] } {
  const parts = ['date', wide.column, wide.value];
  for (const name of parts)
    if (options.set?.[name] !== undefined) usageError(`--set ${name} cannot be used with a wide file.`);
  const titles = input.header.map((title, index) => (index === 0 && title.trim() === '' ? 'date' : title));
  const columns = sourceColumns(titles, { ...options, set: {} }, new Set(['date']));
  const date = columns.find(({ target }) => target === 'date') ?? columns[0];
  const named = columns
    .filter((column) => column !== date)
    .map(({ target, title, index }, number) => ({
      name: nameOf(target === title ? (options.prefix ?? '') + title : target),
      title,
      index,
      number,
    }));
  if (date === undefined || named.length === 0)
    throw new IngestFailure('invalid_file', `The header names no ${wide.noun} besides the date.`);
  const missing = new Set(['', ...(options.missing ?? [])]);
  const refused = placedRejects(input, wide, (place) => ({
    line: Math.floor(place / named.length),
    title: entryAt(named, place % named.length).title,
    dateTitle: date.title,
  }));
  let rowsRead = 0;

  /** One batch per row of the file, which may have thousands of columns. */
  async function* cells(): AsyncGenerator<CsvBatch> {
    for await (const { rows, lines } of input.batches) {
      for (const [at, row] of rows.entries()) {
        if (isEmpty(row)) continue;
        rowsRead++;
        const line = entryAt(lines, at);
        if (!hasCells(row, titles.length)) {
          input.rejects.add(line, 'row', row.join(','), `${titles.length} cells, as in the header`);
          continue;
        }
        const stated = named.filter(({ index }) => !missing.has(entryAt(row, index).trim()));
        yield {
          rows: stated.map(({ name, index }) => [entryAt(row, date?.index ?? 0), name, entryAt(row, index)]),
          lines: stated.map(({ number }) => line * named.length + number),
        };
      }
    }
  }

  return {
    input: {
      ...input,
      ...refused,
      header: parts,
      batches: cells(),
      rowsRead: () => rowsRead,
      onRows: () => input.onRows(rowsRead),
    },
    options: { ...options, map: {}, ignore: [] },
    columns: named,
  };
}

/**
 * The same for series. The id is the name of the column, with characters that ids cannot have replaced by `_`.
 * @throws IngestFailure also if a column gives no id, two columns give one series, or a constant does not apply to a wide file.
 */
export function wideSeriesToLong(input: LoadInput, options: LoadOptions): ReturnType<typeof wideToLong> {
  const wide = { noun: 'series', column: 'series_id', value: 'value' };
  const long = wideToLong(wide, input, options, seriesIdOf);
  checkConstants(options.set ?? {});
  const without = long.columns.filter(({ name }) => !isSeriesId(name));
  if (without.length > 0)
    failUnusable(
      `${without.map(({ title }) => `"${title}"`).join(', ')} gives no series id: set one with --map ID="${without[0]?.title ?? ''}", or exclude the column with`,
      without.map(({ title }) => ['--ignore', title]),
    );
  const titleOf = new Map<string, string>();
  for (const { name, title } of long.columns) {
    const other = titleOf.get(name);
    if (other !== undefined)
      usageError(
        `The columns "${other}" and "${title}" both give the series ${name}: rename one with --map.`,
      );
    titleOf.set(name, title);
  }
  return long;
}

/** The id derived from a title; may be invalid. */
function seriesIdOf(target: string): string {
  if (isSeriesId(target)) return target;
  return target
    .replaceAll(/[^A-Za-z0-9._-]+/g, '_')
    .replace(/^[._-]+/, '')
    .slice(0, 128);
}

/** Constants apply to every row, so an invalid one is reported for the load and not for a row. */
function checkConstants({ status, vintage, ...set }: Readonly<Record<string, string>>): void {
  if (vintage !== undefined) usageError('--set vintage cannot be used with a wide file.');
  if (status !== undefined && status.length > 16) usageError('--set status: at most 16 characters.');
  const dimensions = Object.entries(set).filter(([name]) => !metadataNames.has(name));
  checkDimensionNames(dimensions.map(([name]) => name));
  for (const [name, text] of dimensions)
    if (!isDimensionValue(text.trim()))
      usageError(
        `--set ${name}: the value of a dimension has 1 to 200 characters, none of them a control character.`,
      );
}

/** Names the file's own line and column. A bad date is reported once per line, and an unknown name once, on the header's line. */
function placedRejects(
  { rejects, headerLine }: LoadInput,
  wide: NonNullable<Dataset['wide']>,
  find: (place: number) => { line: number; title: string; dateTitle: string },
): Pick<LongInput, 'rejects' | 'lineOf'> {
  const unknown = new Set<string>();
  let lineOfDate = 0;
  return {
    lineOf: (place) => find(place).line,
    rejects: {
      add(place, column, value, expected) {
        const { line, title, dateTitle } = find(place);
        if (column === 'date') {
          if (line !== lineOfDate) rejects.add(line, dateTitle, value, expected);
          lineOfDate = line;
        } else if (column === wide.column || column === 'header') {
          if (!unknown.has(title)) rejects.add(headerLine, title, value, expected);
          unknown.add(title);
        } else rejects.add(line, title, value, expected);
      },
    },
  };
}
