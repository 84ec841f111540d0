// Loads a dataset that is a plain table, such as the metadata of series: one row per key, inserted or updated.
// A column that the file lacks keeps its values; an empty cell clears the value.
import type { Transaction } from '../../kernel/database.ts';
import { entryAt } from '../../kernel/entries.ts';
import { expectedOf, readCell, type Column } from '../files/cells.ts';
import { datasetCells, type DatasetCell } from '../datasets/columns.ts';
import type { Dataset } from '../datasets/dataset.ts';
import { misuse } from './failure.ts';
import type { LoadInput, LoadOptions, LoadResult } from './load-options.ts';
import {
  countStaged,
  createTableStage,
  deleteLeftOut,
  resolveNames,
  takeBreakers,
  takeDangling,
  takeIncomplete,
  takeRedatings,
  takeRepeatedKeys,
  takeShared,
  takeUnknownSeries,
  upsert,
} from './load-table.sql.ts';
import { cellText, hasCells, isEmpty } from '../points/points.ts';
import { CopyBuffer, CopyLine, copyText } from './stage.sql.ts';
import { finishLoad, insertLoad } from './statements.sql.ts';

/** @throws IngestFailure where a row is refused and the load does not skip such. */
export async function loadTable(
  on: Transaction,
  dataset: Dataset,
  input: LoadInput,
  options: LoadOptions,
): Promise<LoadResult> {
  refuseForeignOptions(dataset, input, options);
  const staged = planColumns(dataset, input.header, options);
  const columns = staged.map(({ column }) => column);
  await createTableStage(on, columns);
  const rowsRead = await stageRows(on, staged, input, options);
  await refuseStaged(on, dataset, columns, input);
  if (options.skipInvalid !== true) input.rejects.throwIfAny();

  const rows = await countStaged(on);
  const loadNo = await insertLoad(on, {
    dataset: dataset.name,
    sourceName: options.sourceName ?? (typeof options.input === 'string' ? options.input : '-'),
    vintage: input.vintage,
    complete: false,
  });
  const { inserted, updated } = await upsert(on, dataset, columns, loadNo);
  const deleted = await deleteLeftOut(on, dataset);
  await dataset.afterwards?.(on);
  const result = {
    rowsRead,
    pointsNew: inserted,
    pointsRevised: updated,
    pointsUnchanged: rows - inserted - updated,
    pointsDeleted: deleted,
  };
  await finishLoad(on, loadNo, { ...result, rowsRejected: input.rejects.count });
  return result;
}

function refuseForeignOptions(dataset: Dataset, input: LoadInput, options: LoadOptions): void {
  const foreign = [
    ...(options.wide === true ? ['--wide'] : []),
    ...(options.full === true ? ['--full'] : []),
    ...(options.create === true ? ['--create'] : []),
    ...(input.vintageGiven ? ['--vintage'] : []),
  ];
  if (foreign.length > 0) misuse(`${foreign.join(', ')}: not for ${dataset.name}, only for observations.`);
}

function planColumns(dataset: Dataset, header: readonly string[], options: LoadOptions): DatasetCell[] {
  const staged = datasetCells(dataset, header, options);
  staged.push(...copiedColumns(dataset, staged));
  for (const name of [...dataset.key, ...zoneOfInstants(staged)])
    if (!staged.some(({ column }) => column.name === name))
      misuse(
        `The file has no column ${name}; its columns are ${header.join(', ')}. Name it by --map ${name}=…`,
      );
  return staged;
}

/** The columns that take the text of another where the file does not have them. */
function copiedColumns(dataset: Dataset, staged: readonly DatasetCell[]): DatasetCell[] {
  return dataset.columns.flatMap((column) => {
    const original = staged.find((each) => each.column.name === column.copyOf);
    const isThere = staged.some((each) => each.column.name === column.name);
    return original === undefined || isThere ? [] : [{ ...original, column }];
  });
}

/** A local time means nothing without its zone. */
function zoneOfInstants(staged: readonly DatasetCell[]): string[] {
  return staged.some(({ column }) => column.type === 'instant') ? ['time_zone'] : [];
}

/** @returns the number of non-empty rows. */
async function stageRows(
  on: Transaction,
  staged: readonly DatasetCell[],
  input: LoadInput,
  options: LoadOptions,
): Promise<number> {
  const missing = new Set(options.missing ?? []);
  const line = new CopyLine(on);
  const buffer = new CopyBuffer(line, 'load_table');
  let rowsRead = 0;
  try {
    for await (const batch of input.batches) {
      for (const [at, row] of batch.rows.entries()) {
        if (isEmpty(row)) continue;
        rowsRead++;
        const cells = readRow(row, entryAt(batch.lines, at), staged, missing, input);
        if (cells !== null) buffer.add(`${cells.join('\t')}\n`);
      }
      await buffer.flushIfFull();
      input.onRows(rowsRead);
    }
    await buffer.flush();
  } finally {
    await line.settle();
  }
  return rowsRead;
}

/** The row in the stage's format; null if it was refused. */
function readRow(
  row: readonly string[],
  line: number,
  staged: readonly DatasetCell[],
  missing: ReadonlySet<string>,
  input: LoadInput,
): string[] | null {
  const { rejects, header } = input;
  if (!hasCells(row, header.length)) {
    rejects.add(line, 'row', row.join(','), `${header.length} cells, as in the header`);
    return null;
  }
  const cells = [String(line)];
  for (const { column, title, index, constant } of staged) {
    let text = cellText(row, { index, constant });
    if (text === '' && column.copyOf !== undefined) {
      const original = staged.find((each) => each.column.name === column.copyOf);
      if (original !== undefined) text = cellText(row, original);
    }
    const value = missing.has(text) ? null : readCell(column, text);
    if (value === undefined || (value === null && column.required)) {
      rejects.add(line, title, text, expectedOf(column));
      return null;
    }
    cells.push(value === null ? '\\N' : copyText(value));
  }
  return cells;
}

/** Refuses the rows that only a query can check. */
async function refuseStaged(
  on: Transaction,
  dataset: Dataset,
  columns: readonly Column[],
  input: LoadInput,
): Promise<void> {
  const { rejects } = input;
  const present = (name: string) => columns.some((column) => column.name === name);
  const references = (dataset.references ?? []).filter(({ column }) => present(column));
  for (const reference of references) await resolveNames(on, reference);
  for (const { line, first_line, key } of await takeRepeatedKeys(on, dataset))
    rejects.add(line, dataset.key.join(', '), key, `one row a key; line ${first_line} has the same`);
  for (const { line, column } of await takeIncomplete(on, dataset, columns))
    rejects.add(line, column, '', `${expectedFor(dataset, column)}: the row is new and needs it`);
  for (const reference of references)
    for (const { line, value } of await takeDangling(on, dataset, reference))
      rejects.add(line, reference.column, value, reference.expected);
  for (const name of (dataset.unique ?? []).filter(present))
    for (const { line, value, owner } of await takeShared(on, dataset, name))
      rejects.add(line, name, value, `one of its own; ${owner} has the same`);
  for (const rule of (dataset.rules ?? []).filter((rule) => rule.columns.every(present)))
    for (const { line, value } of await takeBreakers(on, rule))
      rejects.add(line, rule.columns[0], value, rule.expected);
  if (dataset.series !== undefined) {
    for (const name of ['frequency', 'fiscal_year_end'].filter(present))
      for (const { line, value, kept } of await takeRedatings(on, name, dataset.series))
        rejects.add(line, name, value ?? '', `${kept ?? 'nothing'}, as it is: observations are dated by it`);
  }
  if (present('series_ids'))
    for (const { line, unknown } of await takeUnknownSeries(on))
      rejects.add(line, 'series_ids', unknown, 'series that exist');
}

function expectedFor(dataset: Dataset, name: string): string {
  const column = dataset.columns.find((each) => each.name === name);
  return column === undefined ? 'a value' : expectedOf(column);
}
