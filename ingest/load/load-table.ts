// Loads a dataset that is a plain table, such as the metadata of series: one row per key, inserted or updated.
// A column that the file lacks keeps its values; an empty cell clears the value.
import type { Transaction } from '../../kernel/database.ts';
import { usualFirstMonth } from '../../domain/funds/returns.ts';
import { entryAt } from '../../kernel/entries.ts';
import { emitRowEvents } from './events/load-events.ts';
import { cellReader, dateTypes, numberTypes, type CellReader, type Column } from '../cells/cells.ts';
import { datasetCells, refuseIdleFactors, type DatasetCell } from '../datasets/columns.ts';
import { notWide } from '../datasets/datasets.ts';
import { dateReader, expectedDate, PointDates } from '../cells/dates/date-patterns.ts';
import type { Dataset, Reference, Rule } from '../datasets/dataset.ts';
import { usageError } from '../failure.ts';
import { refreshFundFigures } from './fund-figures.ts';
import type { LoadInput, LoadOptions, LoadResult } from './store/load-options.ts';
import {
  countStaged,
  createTableStage,
  deleteLeftOut,
  findWrittenDates,
  recordStatements,
  resolveNames,
  setPointDates,
  rejectRuleViolations,
  rejectDanglingReferences,
  rejectDeletedSeries,
  rejectIncomplete,
  resolveKeys,
  resolveAliases,
  rejectRedatings,
  rejectRepeatedKeys,
  rejectDuplicateValues,
  rejectUnknownSeries,
  rejectUnknownZones,
  upsert,
} from './load-table.sql.ts';
import { refreshSearchOfStaged } from './store/after-series-change.sql.ts';
import { cellText, hasCells, isEmpty, notFuture } from './points/points.ts';
import { notDeleted } from './points/series-directory.ts';
import { asLong, wideToLong, type LongInput } from './points/wide-file.ts';
import { CopyBuffer, CopyLine, copyText } from './store/stage.sql.ts';
import { finishLoads, insertLoad } from './store/load-record.sql.ts';

/** @throws IngestFailure if a row is rejected and `skipInvalid` is not set. */
export async function loadTable(
  on: Transaction,
  dataset: Dataset,
  file: LoadInput,
  given: LoadOptions,
): Promise<LoadResult> {
  refuseForeignOptions(dataset, file, given);
  const { input, options } =
    dataset.wide !== undefined && given.wide === true
      ? wideToLong(dataset.wide, file, given)
      : { input: asLong(file), options: given };
  const staged = planColumns(dataset, input.header, options);
  const columns = staged.map(({ column }) => column);
  refuseIdleOptions(columns, options);
  refuseIdleFactors(staged, options.multiply);
  await createTableStage(on, columns);
  const reader = cellReader(options);
  const rowsStaged = await stageRows(on, staged, input, reader);
  const rowsRead = input.rowsRead?.() ?? rowsStaged;
  await resolveAliases(on, columns);
  for (const { line, column, id } of await rejectDeletedSeries(on, columns))
    input.rejects.add(line, column, id, notDeleted(id));
  await datePoints(on, columns, options.dateFormat, input);
  await refuseStaged(on, dataset, columns, reader, input);
  if (options.skipInvalid !== true) file.rejects.throwIfAny();

  const rows = await countStaged(on, dataset);
  const loadNo = await insertLoad(on, {
    dataset: dataset.name,
    sourceName: options.sourceName ?? (typeof options.input === 'string' ? options.input : '-'),
    vintage: input.vintage,
  });
  const { inserted, updated } = await upsert(on, dataset, columns, loadNo);
  const unchanged = rows - inserted - updated;
  if (dataset.retractable === true) await recordStatements(on, dataset, columns, { loadNo, unchanged });
  const deleted = await deleteLeftOut(on, dataset, loadNo);
  await refreshSearchOfStaged(on, dataset);
  const { today } = input;
  const now = options.clock.now();
  const fiscalYearFirstMonth = options.fiscalYearFirstMonth ?? usualFirstMonth;
  if (dataset.ofFundFigures === true) await refreshFundFigures(on, { today, now, fiscalYearFirstMonth });
  const counts = {
    pointsNew: inserted,
    pointsRevised: updated,
    pointsUnchanged: unchanged,
    pointsDeleted: deleted,
  };
  await finishLoads(on, new Map([[loadNo, counts]]), { rowsRead, rowsRejected: file.rejects.count });
  await emitRowEvents(on, { loadNo, dataset: dataset.name, at: now }, counts);
  return { ...counts, rowsRead, vintages: 'today', loadNo };
}

function refuseForeignOptions(dataset: Dataset, input: LoadInput, options: LoadOptions): void {
  if (options.wide === true && dataset.wide === undefined) usageError(notWide(dataset));
  const foreign = [
    ...(options.full === true ? ['--full'] : []),
    ...(options.create === true ? ['--create'] : []),
    ...(input.vintageGiven ? ['--vintage'] : []),
  ];
  if (foreign.length > 0)
    usageError(`${foreign.join(', ')}: not for ${dataset.name}, only for observations.`);
  if (dataset.whole !== undefined && options.skipInvalid === true)
    usageError(
      `A file of ${dataset.name} has all rows of its ${dataset.whole.join(' and ')}, so --skip-invalid would delete the stored rows that it leaves out. Correct the rows.`,
    );
}

/** @throws IngestFailure if an option is for cells that the file does not have. */
function refuseIdleOptions(columns: readonly Column[], options: LoadOptions): void {
  const { dateFormat, decimal, thousands } = options;
  const hasDates = columns.some(({ type }) => dateTypes.has(type));
  const hasNumbers = columns.some(({ type }) => numberTypes.has(type));
  if (dateFormat !== undefined && !hasDates) usageError('--date-format: the file has no column of dates.');
  for (const [name, sign] of Object.entries({ decimal, thousands }))
    if (sign !== undefined && !hasNumbers) usageError(`--${name}: the file has no column of numbers.`);
}

function planColumns(dataset: Dataset, header: readonly string[], options: LoadOptions): DatasetCell[] {
  const staged = datasetCells(dataset, header, options);
  staged.push(...copiedColumns(dataset, staged), ...impliedColumns(dataset, staged));
  const stated = dataset.statedBy === undefined ? [] : [dataset.statedBy];
  for (const name of [...dataset.key, ...stated, ...zoneOfInstants(staged)])
    if (!staged.some(({ column }) => column.name === name))
      usageError(
        `The file has no column ${name}; its columns are ${header.join(', ')}. Rename a column with --map ${name}=…`,
      );
  return staged;
}

/** Columns that copy the text of another column if the file does not have them. */
function copiedColumns(dataset: Dataset, staged: readonly DatasetCell[]): DatasetCell[] {
  return dataset.columns.flatMap((column) => {
    const original = staged.find((each) => each.column.name === column.copyOf);
    const isThere = staged.some((each) => each.column.name === column.name);
    return original === undefined || isThere ? [] : [{ ...original, column }];
  });
}

/** The parts of the key that a file may omit. */
function impliedColumns(dataset: Dataset, staged: readonly DatasetCell[]): DatasetCell[] {
  return dataset.columns.flatMap((column) => {
    const isThere = staged.some((each) => each.column.name === column.name);
    return column.unlessGiven === undefined || isThere
      ? []
      : [{ column, title: column.name, index: -1, constant: '' }];
  });
}

/** A local time is ambiguous without its zone. */
function zoneOfInstants(staged: readonly DatasetCell[]): string[] {
  return staged.some(({ column }) => column.type === 'instant') ? ['time_zone'] : [];
}

/** @returns the number of non-empty rows. */
async function stageRows(
  on: Transaction,
  staged: readonly DatasetCell[],
  input: LongInput,
  reader: CellReader,
): Promise<number> {
  const line = new CopyLine(on);
  const buffer = new CopyBuffer(line, 'load_table');
  let rowsRead = 0;
  try {
    for await (const batch of input.batches) {
      for (const [at, row] of batch.rows.entries()) {
        if (isEmpty(row)) continue;
        rowsRead++;
        const cells = readRow(row, entryAt(batch.lines, at), staged, reader, input);
        if (cells !== null) buffer.add(`${cells.join('\t')}\n`);
      }
      await buffer.flushIfFull();
      input.onRows(rowsRead);
    }
    await buffer.flush();
  } finally {
    await line.waitForCopy();
  }
  return rowsRead;
}

/** The row in the stage's format; null if it was rejected. */
function readRow(
  row: readonly string[],
  line: number,
  staged: readonly DatasetCell[],
  reader: CellReader,
  input: LongInput,
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
    const read = reader.read(column, text);
    const value = read === null ? (column.unlessGiven ?? null) : read;
    if (value === undefined || (value === null && column.required)) {
      rejects.add(line, title, text, reader.expected(column));
      return null;
    }
    if (value !== null && column.hasHappened === true && isFuture(value, input.today)) {
      rejects.add(line, title, text, notFuture(input.today));
      return null;
    }
    cells.push(value === null ? '\\N' : copyText(value));
  }
  return cells;
}

/** @param value a day, or a period, which means its first day: 2024-03, 2024. */
function isFuture(value: string, today: string): boolean {
  return value > today.slice(0, value.length);
}

/** Replaces dates in the file by the dates of the points, using the frequencies of their series. */
async function datePoints(
  on: Transaction,
  columns: readonly Column[],
  dateFormat: string | undefined,
  { rejects }: LongInput,
): Promise<void> {
  const dates = new PointDates(dateReader(dateFormat));
  for (const column of columns.filter(({ type }) => type === 'point_date')) {
    const written = await findWrittenDates(on, column);
    const dated = written.map((each) => ({
      ...each,
      date: dates.at(each.text, each.frequency, each.fiscalYearEnd),
    }));
    for (const { line, value, frequency } of await setPointDates(on, column, dated))
      rejects.add(line, column.name, value, expectedDate(frequency, dateFormat));
  }
}

/** Rejects the rows that only a query can check. */
async function refuseStaged(
  on: Transaction,
  dataset: Dataset,
  columns: readonly Column[],
  reader: CellReader,
  input: LongInput,
): Promise<void> {
  const { rejects } = input;
  const present = (name: string) => columns.some((column) => column.name === name);
  const applies = ({ columns, without }: Rule) =>
    columns.some(present) && (without === undefined || !present(without));
  const distinguishing = dataset.columns
    .filter(({ unlessGiven }) => unlessGiven !== undefined)
    .map(({ name }) => name);
  const references = (dataset.references ?? []).filter(({ column }) => present(column));
  for (const reference of references) await resolveNames(on, reference);
  await resolveKeys(on, dataset, columns);
  for (const { line, first_line, key } of await rejectRepeatedKeys(on, dataset))
    rejects.add(
      line,
      dataset.key.join(', '),
      key,
      `one row per key; line ${input.lineOf(first_line)} has the same${distinguishing.map((name) => ` (distinguish them with ${name})`).join('')}`,
    );
  for (const { line, column } of await rejectIncomplete(on, dataset, columns))
    rejects.add(line, column, '', `${expectedFor(dataset, column, reader)}: the row is new and needs it`);
  const rejectDangling = async (reference: Reference) => {
    const dangling = await rejectDanglingReferences(on, dataset, reference);
    for (const { line, value } of dangling) rejects.add(line, reference.column, value, reference.expected);
    return dangling.length;
  };
  for (const reference of references) await rejectDangling(reference);
  for (const name of (dataset.unique ?? []).filter(present))
    for (const { line, value, owner } of await rejectDuplicateValues(on, dataset, name))
      rejects.add(line, name, value, `a unique value; ${owner} already has this one`);
  for (const rule of (dataset.rules ?? []).filter(applies))
    for (const { line, value } of await rejectRuleViolations(on, dataset, rule, present))
      rejects.add(line, rule.columns[0], value ?? '', rule.expected);
  if (dataset.series !== undefined) {
    for (const name of ['frequency', 'fiscal_year_end'].filter(present))
      for (const { line, value, kept } of await rejectRedatings(on, name, dataset.series))
        rejects.add(
          line,
          name,
          value ?? '',
          `${kept ?? 'nothing'}, the present value: it cannot change, because the dates of observations depend on it`,
        );
  }
  if (present('time_zone'))
    for (const { line, zone } of await rejectUnknownZones(on))
      rejects.add(line, 'time_zone', zone, 'a time zone that PostgreSQL knows, such as Asia/Karachi');
  if (present('series_ids'))
    for (const { line, unknown } of await rejectUnknownSeries(on))
      rejects.add(line, 'series_ids', unknown, 'series that exist');
  // A row that another row of the file names may have been rejected meanwhile.
  for (const reference of references.filter(({ table }) => table === dataset.target))
    while ((await rejectDangling(reference)) > 0);
}

function expectedFor(dataset: Dataset, name: string, reader: CellReader): string {
  const column = dataset.columns.find((each) => each.name === name);
  return column === undefined ? 'a value' : reader.expected(column);
}
