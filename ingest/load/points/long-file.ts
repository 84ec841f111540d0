// Long files of observations: one row per point, with series, date, value, and a column for each dimension.
import { periodEnd } from '../../../domain/periods.ts';
import { entryAt, entryOf } from '../../../kernel/entries.ts';
import type { CsvBatch } from '../../read/csv-batch.ts';
import {
  failLacking,
  sourceColumns,
  type ColumnOptions,
  type DatasetCell,
  type SourceColumn,
} from '../../datasets/columns.ts';
import { datasetNamed } from '../../datasets/datasets.ts';
import { expectedDate, expectedVintage, vintageReader } from '../../cells/dates/date-patterns.ts';
import { usageError } from '../../failure.ts';
import {
  metadataConstants,
  metadataNames,
  metadataOfRow,
  newSeries,
  requireMetadata,
} from '../../datasets/metadata.ts';
import {
  cellText,
  checkDimensionNames,
  hasCells,
  isDimensionValue,
  isEmpty,
  notFuture,
  unknownSeries,
  type PointContext,
} from './points.ts';
import type { Combination, KnownSeries } from './series-directory.ts';
import type { SeriesMetadata } from '../../datasets/metadata.ts';
import type { WideColumn } from './wide-file.ts';
import { expectedValue } from '../../cells/numbers/observation-values.ts';

/** The source of a part of every row. */
type Cell = Omit<DatasetCell, 'column'>;

interface LongPlan {
  headerCells: number;
  seriesId: Cell;
  date: Cell;
  value: Cell;
  status: Cell | null;
  vintage: Cell | null;
  dimensions: { name: string; cell: Cell }[];
  metadataCells: SourceColumn[];
  metadata: SeriesMetadata;
}

const observations = datasetNamed('observations');
const pointNames = ['series_id', 'date', 'value', 'status', 'vintage'];
const statusColumn = observations.columns.find((column) => column.name === 'status');

/** @throws IngestFailure if the header lacks a required column, or a constant is given twice. */
export function planLong(
  header: readonly string[],
  options: ColumnOptions & { create: boolean; mayLackFacts?: boolean | undefined },
): LongPlan {
  const set = options.set ?? {};
  const columns = sourceColumns(header, options, new Set(observations.columns.map((column) => column.name)));
  const cell = (name: string): Cell | null => {
    const column = columns.find((each) => each.target === name);
    if (column !== undefined) return { title: column.title, index: column.index, constant: '' };
    const constant = set[name];
    return constant === undefined ? null : { title: name, index: -1, constant: constant.trim() };
  };
  const needed = (name: string): Cell => cell(name) ?? failLacking(name, header);
  const metadataCells = columns.filter((column) => metadataNames.has(column.target));
  const metadata = metadataConstants(set);
  const names = [...columns.map((column) => column.target), ...Object.keys(set)];
  const dimensions = names.filter((name) => !pointNames.includes(name) && !metadataNames.has(name));
  checkDimensionNames(dimensions);
  if (options.create)
    requireMetadata(
      new Set([...Object.keys(metadata), ...metadataCells.map((column) => column.target)]),
      options.mayLackFacts === true,
    );
  else if (Object.keys(metadata).length > 0)
    usageError(`--set ${Object.keys(metadata).join(', ')} describes new series and needs --create.`);
  return {
    headerCells: header.length,
    seriesId: needed('series_id'),
    date: needed('date'),
    value: needed('value'),
    status: cell('status'),
    vintage: cell('vintage'),
    dimensions: dimensions.map((name) => ({ name, cell: needed(name) })),
    metadataCells,
    metadata,
  };
}

/** Converts rows of a file to staged points. */
export class LongReader {
  /** series_no of the series that the file covers by a column or its entry, whether or not it has points of them. */
  readonly coveredSeries = new Set<number>();
  /** Non-empty rows. */
  rowsRead = 0;
  readonly #plan: LongPlan;
  readonly #context: PointContext;
  readonly #vintageDay: (text: string) => string | null;
  /** The dimension values of the current row. */
  readonly #dims: string[] = [];
  /** The column of the file with the value of the current row. */
  #title = '';

  /** @param today days in a vintage column must not be later. */
  constructor(plan: LongPlan, context: PointContext, today: string) {
    this.#plan = plan;
    this.#context = context;
    this.#vintageDay = vintageReader(context.dateFormat, today);
  }

  /**
   * Looks up the series that have a column each. A series that cannot be loaded is rejected once; the file covers the others, with or
   * without values.
   */
  async learnColumns(columns: readonly WideColumn[]): Promise<void> {
    const { directory, rejects, create } = this.#context;
    const titleOf = new Map(columns.map(({ name, title }) => [name, title]));
    await directory.learn([...titleOf.keys()], (id) =>
      newSeries(id, entryOf(titleOf, id), this.#plan.metadata),
    );
    for (const [place, { name }] of columns.entries()) {
      const series = directory.get(name) ?? null;
      if (series === null) rejects.add(place, this.#plan.seriesId.title, name, unknownSeries(create));
      else if (series.misfit !== null)
        rejects.add(place, series.misfit.column, series.misfit.value, series.misfit.expected);
      else this.coveredSeries.add(series.seriesNo);
    }
  }

  /** Reads a batch; its points are in the sink when this returns. */
  async read(batch: CsvBatch): Promise<void> {
    const { directory, sink } = this.#context;
    if (await directory.makeSpace()) sink.forgetDates();
    await this.#learnSeries(batch);
    for (const [at, row] of batch.rows.entries()) {
      this.#title = batch.titles?.[at] ?? this.#plan.value.title;
      const refused = batch.refused?.get(at);
      const line = entryAt(batch.lines, at);
      if (refused === undefined) this.#readRow(row, line);
      else {
        this.rowsRead++;
        this.#context.rejects.add(line, refused.title, refused.text, refused.expected);
      }
    }
  }

  async #learnSeries(batch: CsvBatch): Promise<void> {
    const { directory, sink, create } = this.#context;
    const mayFollow = create && this.#plan.metadataCells.length > 0;
    /** Of the first row that has the facts that a new series needs; null if none has them. */
    const factsOf = new Map<string, SeriesMetadata | null>();
    let before = '';
    for (const row of batch.rows) {
      if (!hasCells(row, this.#plan.headerCells)) continue; // rejected below
      const id = cellText(row, this.#plan.seriesId);
      if (id === before) continue;
      const known = directory.get(id);
      const isUnknown = known === undefined || (known === null && mayFollow);
      if (id !== '' && isUnknown && (factsOf.get(id) ?? null) === null)
        factsOf.set(id, this.#newSeries(id, row));
      if (!isUnknown || !mayFollow || factsOf.get(id) !== null) before = id;
    }
    const ids = [...factsOf.keys()].filter(
      (id) => directory.get(id) === undefined || factsOf.get(id) !== null,
    );
    if (ids.length === 0) return;
    await sink.flush();
    await directory.learn(ids, (id) => entryOf(factsOf, id));
  }

  #newSeries(id: string, row: readonly string[]): SeriesMetadata | null {
    const { metadata, metadataCells } = this.#plan;
    return newSeries(id, id, { ...metadata, ...metadataOfRow(row, metadataCells, this.#context.cells) });
  }

  /** Adds series that the file covers, whether or not it has rows of them. No statement may be running. */
  async cover(ids: readonly string[]): Promise<void> {
    const { directory } = this.#context;
    const unread = ids.filter((id) => directory.get(id) === undefined);
    await directory.learn(unread, () => null);
    for (const id of ids) {
      const series = directory.get(id) ?? null;
      if (series !== null && series.misfit === null) this.coveredSeries.add(series.seriesNo);
    }
  }

  #readRow(row: readonly string[], line: number): void {
    const plan = this.#plan;
    const { rejects, directory, sink, dates, values, valueOptions, dateFormat, create, latestDay } =
      this.#context;
    if (row.length !== plan.headerCells || row[0] === '') {
      if (isEmpty(row)) return;
      if (!hasCells(row, plan.headerCells)) {
        this.rowsRead++;
        rejects.add(line, 'row', row.join(','), `${plan.headerCells} cells, as in the header`);
        return;
      }
    }
    this.rowsRead++;

    const id = cellText(row, plan.seriesId);
    const series = directory.get(id) ?? null;
    if (series === null) return rejects.add(line, plan.seriesId.title, id, unknownSeries(create));
    const dateText = cellText(row, plan.date);
    const date = dates.at(dateText, series.frequency, series.fiscalYearEnd);
    if (date === null)
      return rejects.add(line, plan.date.title, dateText, expectedDate(series.frequency, dateFormat));
    if (latestDay !== null && date > periodEnd(latestDay, series.frequency, series.fiscalYearEnd))
      return rejects.add(line, plan.date.title, dateText, notFuture(latestDay));
    const valueText = cellText(row, plan.value);
    const value = values(valueText);
    if (value === undefined)
      return rejects.add(line, this.#title, valueText, expectedValue(valueText, valueOptions));
    const status = plan.status === null ? null : this.#status(row, line, plan.status);
    if (status === undefined) return;
    const vintage = plan.vintage === null ? '' : this.#vintage(row, line, plan.vintage);
    if (vintage === null) return;
    const combination = this.#combination(row, line, series);
    if (combination === null) return;
    sink.add(series, combination, vintage, line, date, value, status);
  }

  /** Undefined if it was rejected. */
  #status(row: readonly string[], line: number, cell: Cell): string | null | undefined {
    const text = cellText(row, cell);
    const status = statusColumn === undefined ? null : this.#context.cells.read(statusColumn, text);
    if (status === undefined)
      this.#context.rejects.add(line, cell.title, text, 'an observation status of at most 16 characters');
    return status;
  }

  /** The day and a tab, which begin a line to copy into load_rows; null if it was rejected. */
  #vintage(row: readonly string[], line: number, cell: Cell): string | null {
    const text = cellText(row, cell);
    const day = this.#vintageDay(text);
    if (day === null) this.#context.rejects.add(line, cell.title, text, expectedVintage);
    return day === null ? null : `${day}\t`;
  }

  /** Null if the row was rejected. */
  #combination(row: readonly string[], line: number, series: KnownSeries): Combination | null {
    const { rejects, directory } = this.#context;
    if (series.misfit !== null) {
      const { column, value, expected } = series.misfit;
      rejects.add(line, column, value, expected);
      return null;
    }
    const values = this.#dims;
    for (const [at, { cell }] of this.#plan.dimensions.entries()) {
      const text = cellText(row, cell);
      if (!isDimensionValue(text)) {
        rejects.add(
          line,
          cell.title,
          text,
          'the value of a dimension: 1 to 200 characters, none of them a control character',
        );
        return null;
      }
      values[at] = text;
    }
    return directory.combination(series, values);
  }
}

/** @throws IngestFailure if both a column and the option give the vintage. */
export function checkVintage(plan: LongPlan, vintage: string | undefined): void {
  if (plan.vintage !== null && vintage !== undefined)
    usageError(`The file has a vintage column ("${plan.vintage.title}"): leave out --vintage.`);
}
