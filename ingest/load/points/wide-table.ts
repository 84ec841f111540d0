// Wide files of a plain table, such as NAVs: one row per date, one column per fund. An empty cell states nothing.
// Hides that each cell becomes a row of its own, with a place instead of a line, so that two cells of a line are told apart.
import { entryAt } from '../../../kernel/entries.ts';
import { sourceColumns } from '../../datasets/columns.ts';
import type { Dataset } from '../../datasets/dataset.ts';
import type { CsvBatch } from '../../read/csv-batch.ts';
import { IngestFailure, misuse } from '../../failure.ts';
import type { LoadInput, LoadOptions } from '../store/load-options.ts';
import type { Rejects } from '../store/rejects.ts';
import { hasCells, isEmpty } from './points.ts';

/** The rows of a table, long. */
export interface TableInput extends Omit<LoadInput, 'rejects'> {
  /** Receives what is refused by the place of its row. */
  rejects: Pick<Rejects, 'add'>;
  /** The line of the file with the row at a place. */
  lineOf(place: number): number;
  /** The non-empty rows of the file so far; undefined if they are those of the batches. */
  rowsRead?: () => number;
}

/**
 * The file as a long one of the columns `date`, `wide.column` and `wide.value`, and the options that are left for it. The date is the
 * column that --map names, else the one called date, else the first; any other column is named by --map, or by --prefix and its title.
 * @throws IngestFailure if the header names nothing beside the date, or one thing twice, or --set names a part of each cell.
 */
export function unfolded(
  wide: NonNullable<Dataset['wide']>,
  input: LoadInput,
  options: LoadOptions,
): { input: TableInput; options: LoadOptions } {
  const parts = ['date', wide.column, wide.value];
  for (const name of parts)
    if (options.set?.[name] !== undefined) misuse(`--set ${name} has no place in a wide file.`);
  const titles = input.header.map((title, index) => (index === 0 && title.trim() === '' ? 'date' : title));
  const columns = sourceColumns(titles, { ...options, set: {} }, new Set(['date']));
  const date = columns.find(({ target }) => target === 'date') ?? columns[0];
  const named = columns
    .filter((column) => column !== date)
    .map(({ target, title, index }, number) => ({
      name: target === title ? (options.prefix ?? '') + title : target,
      title,
      index,
      number,
    }));
  if (date === undefined || named.length === 0)
    throw new IngestFailure('invalid_file', `The header names no ${wide.column} beside the date.`);
  const missing = new Set(['', ...(options.missing ?? [])]);
  const refused = placedRejects(input, wide, (place) => ({
    line: Math.floor(place / named.length),
    title: entryAt(named, place % named.length).title,
    dateTitle: date.title,
  }));
  let rowsRead = 0;

  /** One batch a row of the file: it may have thousands of columns. */
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
  };
}

/** Names the file's own line and column. A bad date is refused once a line, and an unknown name once, on the line of the header. */
function placedRejects(
  { rejects, headerLine }: LoadInput,
  wide: NonNullable<Dataset['wide']>,
  find: (place: number) => { line: number; title: string; dateTitle: string },
): Pick<TableInput, 'rejects' | 'lineOf'> {
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
        } else if (column === wide.column) {
          if (!unknown.has(title)) rejects.add(headerLine, title, value, expected);
          unknown.add(title);
        } else rejects.add(line, title, value, expected);
      },
    },
  };
}
