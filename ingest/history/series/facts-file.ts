// Reads a file of facts of series: a column `id`, and columns of the dataset `series`. An empty cell leaves a fact unchanged. All faults of
// the file are collected in one pass.
import type { Readable } from 'node:stream';
import { sourceColumns, type SourceColumn } from '../../datasets/columns.ts';
import { IngestFailure } from '../../failure.ts';
import { readCsv } from '../../read/csv.ts';
import { factColumns } from '../../datasets/metadata.ts';
import { invalidFact, readFact, unknownFact } from './set.ts';

/** A fault of a row, or, on line 1, of a column. */
export interface FactsFault {
  line: number;
  /** The id of the row as given; empty if it has none. */
  id: string;
  /** The fact that is wrong; null if it is the row. */
  fact: string | null;
  /** A sentence. */
  text: string;
}

/** The new facts of a series. */
export interface FactsOfRow {
  /** The line of the file; in a request, the number of the row. */
  line: number;
  /** The id as given. */
  id: string;
  /** Column of data.series → its text in PostgreSQL's format; empty cells are omitted. */
  values: Record<string, string | null>;
  /** Fact → the value that it must have until the change. */
  before?: Readonly<Record<string, unknown>>;
}

export interface FactsFile {
  rows: FactsOfRow[];
  faults: FactsFault[];
}

/** A cell that clears the fact, as `unit=` does on the command line; an empty cell leaves it. */
const clearing = '-';
const idNames: ReadonlySet<string> = new Set(['id', 'series_id']);
const known: ReadonlySet<string> = new Set([...idNames, ...factColumns.map(({ name }) => name)]);

/**
 * @param input a path, or a stream of bytes.
 * @throws IngestFailure if the file cannot be read or has no column `id`; all other faults are returned in `faults`.
 */
export async function readFactsFile(input: Readable | string): Promise<FactsFile> {
  const file: FactsFile = { rows: [], faults: [] };
  const lineOfId = new Map<string, number>();
  let columns: SourceColumn[] | undefined;
  for await (const { rows, lines } of readCsv(input, {}))
    for (const [at, cells] of rows.entries()) {
      if (columns === undefined) {
        columns = columnsOf(cells, file.faults);
        continue;
      }
      if (cells.every((cell) => cell.trim() === '')) continue;
      readRow(file, { cells, line: lines[at] ?? 0, columns, lineOfId });
    }
  if (file.rows.length === 0 && file.faults.length === 0)
    throw new IngestFailure('invalid_file', 'The file has no rows below its header.');
  return file;
}

/** The columns of ids and facts. */
function columnsOf(header: readonly string[], faults: FactsFault[]): SourceColumn[] {
  const columns = sourceColumns(header, {}, known);
  if (columns.filter(({ target }) => idNames.has(target)).length !== 1)
    throw new IngestFailure(
      'invalid_file',
      `A file of facts has one column id, with the ids of series; this one has ${columns.map(({ title }) => title).join(', ')}.`,
    );
  const unknown = columns.filter(({ target }) => !known.has(target));
  for (const { title } of unknown)
    faults.push({ ...{ line: 1, id: '', fact: title }, text: unknownFact(title) });
  return columns.filter(({ target }) => known.has(target));
}

interface Row {
  cells: readonly string[];
  line: number;
  columns: readonly SourceColumn[];
  /** The line on which each id was found. */
  lineOfId: Map<string, number>;
}

function readRow({ rows, faults }: FactsFile, { cells, line, columns, lineOfId }: Row): void {
  const values: FactsOfRow['values'] = {};
  const textOf = ({ index }: SourceColumn) => (cells[index] ?? '').trim();
  const idColumn = columns.find(({ target }) => idNames.has(target));
  const id = idColumn === undefined ? '' : textOf(idColumn);
  for (const cell of columns) {
    const { target } = cell;
    const text = textOf(cell);
    const column = factColumns.find(({ name }) => name === target);
    if (column === undefined || text === '') continue;
    const value = readFact(column, text === clearing ? '' : text);
    if (value === undefined) faults.push({ ...{ line, id, fact: target }, text: invalidFact(column, text) });
    else values[target] = value;
  }
  const before = lineOfId.get(id);
  const ofRow = { line, id, fact: null };
  if (id === '') faults.push({ ...ofRow, text: 'The row has no id.' });
  else if (before !== undefined) faults.push({ ...ofRow, text: `"${id}" is on line ${before} already.` });
  else {
    lineOfId.set(id, line);
    rows.push({ line, id, values });
  }
}
