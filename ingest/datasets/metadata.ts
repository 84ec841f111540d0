// The metadata of series that a load creates (--create): from --set constants, and from columns of the file.
import { plainCells, type CellReader, type Column } from '../cells/cells.ts';
import { datasetNamed } from './datasets.ts';
import { usageError } from '../failure.ts';
import { entryAt } from '../../kernel/entries.ts';

/** The metadata of a series to create, columns of data.series as given by `readCell`. */
export type SeriesMetadata = Readonly<Record<string, string | null>>;

/** The facts of a series: the columns of the dataset `series` besides its id. */
export const factColumns: readonly Column[] = datasetNamed('series').columns.filter(
  (column) => column.name !== 'series_id',
);
const required = factColumns.filter((column) => column.required && column.name !== 'name');
/** Facts that a typed command must also give; an entry of almanac.yml may lack them if they are unknown. */
const askedOfCommands: ReadonlySet<string> = new Set(['unit', 'source']);

/** The names of the columns that describe a series rather than a point. */
export const metadataNames: ReadonlySet<string> = new Set(factColumns.map((column) => column.name));

/** Parses the metadata among the constants. @throws IngestFailure if one is not of its column's type. */
export function metadataConstants(set: Readonly<Record<string, string>>): SeriesMetadata {
  const constants: Record<string, string | null> = {};
  for (const column of factColumns) {
    const text = set[column.name];
    if (text === undefined) continue;
    const value = plainCells.read(column, text.trim());
    if (value === undefined)
      usageError(`--set ${column.name}=${text}: ${plainCells.expected(column)} is expected.`);
    constants[column.name] = value;
  }
  return constants;
}

/**
 * @param given by constants or columns.
 * @param mayLack that the unit and the source may be unknown.
 * @throws IngestFailure if --create lacks a required fact of a series.
 */
export function requireMetadata(given: ReadonlySet<string>, mayLack: boolean): void {
  const lacking = factColumns
    .filter((column) => required.includes(column) || (!mayLack && askedOfCommands.has(column.name)))
    .map(({ name }) => name)
    .filter((name) => !given.has(name));
  if (lacking.length > 0)
    usageError(
      `--create makes series from --set, and lacks ${lacking.join(', ')}: ` +
        `add --set ${lacking.map((name) => `${name}=…`).join(' --set ')}, or --map them to columns of the file.`,
    );
}

/** A series to create; its name defaults to its title in the file. Null if a required fact is empty. */
export function newSeries(id: string, title: string, facts: SeriesMetadata): SeriesMetadata | null {
  const series: Record<string, string | null> = { ...facts, series_id: id };
  series['name'] ??= title.slice(0, 500).toWellFormed();
  return required.some((column) => (series[column.name] ?? null) === null) ? null : series;
}

/** Reads the metadata cells of a row; a cell that is not of its column's type is ignored. */
export function metadataOfRow(
  row: readonly string[],
  cells: readonly { target: string; index: number }[],
  reader: CellReader,
): SeriesMetadata {
  const facts: Record<string, string | null> = {};
  for (const { target, index } of cells) {
    const column = factColumns.find((each) => each.name === target);
    const value = column === undefined ? undefined : reader.read(column, entryAt(row, index).trim());
    if (value !== undefined) facts[target] = value;
  }
  return facts;
}
