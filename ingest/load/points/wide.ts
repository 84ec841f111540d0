// Wide files of observations: one row per date, one column per series. An empty cell states nothing.
import { entryAt, entryOf } from '../../../kernel/entries.ts';
import type { CsvBatch } from '../../read/csv-batch.ts';
import { failUnusable, sourceColumns, type ColumnOptions } from '../../datasets/columns.ts';
import { isSeriesId } from '../../../domain/series-id.ts';
import { isPrintable } from '../../cells/cells.ts';
import { expectedDate } from '../../cells/dates.ts';
import { IngestFailure, misuse } from '../../failure.ts';
import { metadataConstants, metadataNames, newSeries, requireMetadata } from '../../datasets/metadata.ts';
import {
  checkDimensionNames,
  hasCells,
  isEmpty,
  unknownSeries,
  type PointContext,
  type PointReader,
} from './points.ts';
import type { Combination, KnownSeries } from './series-directory.ts';
import type { SeriesMetadata } from '../../datasets/metadata.ts';
import { copyText } from '../store/stage.sql.ts';
import { expectedValue } from '../../cells/values.ts';

interface WidePlan {
  headerCells: number;
  date: { title: string; index: number };
  series: { id: string; title: string; index: number }[];
  /** Constants of --set that are neither facts of the series nor parts of a point. */
  dimensions: { name: string; value: string }[];
  status: string | null;
  metadata: SeriesMetadata;
}

/**
 * The date is the column that --map names, else the one called date, else the first. Every other column is a series:
 * its id is the name given by --map, else the prefix and its title, with characters that ids cannot have as `_`.
 * @throws IngestFailure if two columns are the same series, or a constant does not apply to a wide file.
 */
export function planWide(
  header: readonly string[],
  options: ColumnOptions & {
    create: boolean;
    mayLackFacts?: boolean | undefined;
    prefix?: string | undefined;
  },
): WidePlan {
  const { series_id: _one, ...set } = options.set ?? {};
  if (_one !== undefined)
    misuse('In a wide file the columns name the series: --set series_id has no place there.');
  const titles = header.map((title, index) => (index === 0 && title.trim() === '' ? 'date' : title));
  const columns = sourceColumns(titles, options, new Set(['date']));
  const date = columns.find((column) => column.target === 'date') ?? columns[0];
  if (date === undefined) throw new IngestFailure('invalid_file', 'The header names no column.');

  const series = columns
    .filter((column) => column !== date)
    .map(({ target, title, index }) => ({
      id: seriesIdOf(target === title ? (options.prefix ?? '') + title : target),
      title,
      index,
    }));
  const without = series.filter(({ id }) => !isSeriesId(id));
  if (without.length > 0)
    failUnusable(
      `${without.map(({ title }) => `"${title}"`).join(', ')} gives no series id: name one by --map ID="${without[0]?.title ?? ''}", or leave out by`,
      without.map(({ title }) => ['--ignore', title]),
    );
  const titleOf = new Map<string, string>();
  for (const { id, title } of series) {
    const other = titleOf.get(id);
    if (other !== undefined)
      misuse(`The columns "${other}" and "${title}" are both the series ${id}: rename one by --map.`);
    titleOf.set(id, title);
  }
  if (series.length === 0)
    throw new IngestFailure('invalid_file', 'The header names no series beside the date.');

  const metadata = metadataConstants(set);
  if (options.create) requireMetadata(new Set(Object.keys(metadata)), options.mayLackFacts === true);
  else if (Object.keys(metadata).length > 0)
    misuse(`--set ${Object.keys(metadata).join(', ')} describes new series and needs --create.`);
  const { status, date: _date, value, vintage, ...rest } = set;
  for (const [name, constant] of Object.entries({ date: _date, value, vintage }))
    if (constant !== undefined) misuse(`--set ${name} has no place in a wide file.`);
  if (status !== undefined && status.length > 16) misuse('--set status: at most 16 characters.');
  const dimensions = Object.entries(rest)
    .filter(([name]) => !metadataNames.has(name))
    .map(([name, text]) => ({ name, value: text.trim() }));
  checkDimensionNames(dimensions.map(({ name }) => name));
  for (const { name, value } of dimensions)
    if (value === '' || value.length > 200 || !isPrintable(value))
      misuse(`--set ${name}: the value of a dimension, at most 200 characters, is expected.`);
  return { headerCells: header.length, date, series, dimensions, status: status ?? null, metadata };
}

/** The id that a title gives, which may be none. */
function seriesIdOf(target: string): string {
  if (isSeriesId(target)) return target;
  return target
    .replaceAll(/[^A-Za-z0-9._-]+/g, '_')
    .replace(/^[._-]+/, '')
    .slice(0, 128);
}

interface Column {
  title: string;
  index: number;
  series: KnownSeries | null;
  id: string;
  /** Set at the first value. */
  combination: Combination | null;
}

export class WideReader implements PointReader {
  readonly seriesWithoutPoints = new Set<number>();
  rowsRead = 0;
  readonly #plan: WidePlan;
  readonly #context: PointContext;
  readonly #dims: readonly string[];
  readonly #status: string;
  #columns: Column[] | null = null;

  constructor(plan: WidePlan, context: PointContext) {
    this.#plan = plan;
    this.#context = context;
    this.#dims = plan.dimensions.map(({ value }) => value);
    this.#status = plan.status === null ? '\\N' : copyText(plan.status);
  }

  async read(batch: CsvBatch): Promise<void> {
    this.#columns ??= await this.#learnColumns();
    for (const [at, row] of batch.rows.entries()) this.#readRow(row, entryAt(batch.lines, at), this.#columns);
  }

  /** Finds the series of the header; a missing one is refused once, on the header's line. */
  async #learnColumns(): Promise<Column[]> {
    const { directory, rejects, create, headerLine } = this.#context;
    const { series, metadata } = this.#plan;
    const titleOf = new Map(series.map(({ id, title }) => [id, title]));
    await directory.learn([...titleOf.keys()], (id) => newSeries(id, entryOf(titleOf, id), metadata));
    return series.map(({ id, title, index }) => {
      let known = directory.get(id) ?? null;
      if (known === null) rejects.add(headerLine, title, id, unknownSeries(create));
      else if (known.misfit !== null) {
        rejects.add(headerLine, title, known.misfit.value, known.misfit.expected);
        known = null;
      }
      if (known !== null) this.seriesWithoutPoints.add(known.seriesNo);
      return { title, index, series: known, id, combination: null };
    });
  }

  #readRow(row: readonly string[], line: number, columns: Column[]): void {
    const { rejects, dates, values, valueOptions, dateFormat, directory, sink } = this.#context;
    const { date: dateCell, headerCells } = this.#plan;
    if (isEmpty(row)) return;
    this.rowsRead++;
    if (!hasCells(row, headerCells))
      return rejects.add(line, 'row', row.join(','), `${headerCells} cells, as in the header`);

    const dateText = entryAt(row, dateCell.index).trim();
    for (const column of columns) {
      const { series, title, index } = column;
      const text = entryAt(row, index).trim();
      if (series === null || text === '') continue;
      const value = values(text);
      if (value === null) continue;
      if (value === undefined) {
        rejects.add(line, title, text, expectedValue(text, valueOptions));
        continue;
      }
      const date = dates.at(dateText, series.frequency, series.fiscalYearEnd);
      // The date is wrong for every series of the row; one message is enough.
      if (date === null)
        return rejects.add(line, dateCell.title, dateText, expectedDate(series.frequency, dateFormat));
      column.combination ??= directory.combination(series, this.#dims);
      sink.add(series, column.combination, '', line, date, value, this.#status);
    }
  }
}
