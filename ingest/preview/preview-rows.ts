// The rows of a table as they will be served, and its parts that are not loaded, made from the sampled rows by the code that loads them. So
// the preview of a file reads every row as its load does.
import type { Frequency } from '../../domain/periods.ts';
import { isSeriesId } from '../../domain/series-id.ts';
import { entryAt } from '../../kernel/entries.ts';
import { plainCells } from '../cells/cells.ts';
import type { CsvBatch } from '../read/csv-batch.ts';
import { dateReader, parseVintage, PointDates } from '../cells/dates/date-patterns.ts';
import { isFactor, scaledReader } from '../cells/numbers/observation-values.ts';
import type { SeriesMetadata } from '../datasets/metadata.ts';
import { IngestFailure, usageError } from '../failure.ts';
import { lackingIn, type LoadableTable, type TableDescription } from '../entry/entry-schema.ts';
import { failureNamedByKey } from '../entry/messages-by-key.ts';
import { LongReader, planLong } from '../load/points/long-file.ts';
import type { PointContext } from '../load/points/points.ts';
import type { KnownSeries } from '../load/points/series-directory.ts';
import { isUntitled } from '../detect/table/header-lines.ts';
import { isNumberText } from '../cells/cell-forms.ts';
import type { LeftOut } from '../reshape/long-rows.ts';
import { linesOf, type ReshapePlan } from '../reshape/reshape-plan.ts';
import { vintageOf } from '../entry/file-name.ts';
import { reshape, rowsOf } from '../reshape/reshape.ts';
import type { Sample } from '../read/table-rows.ts';
import type { LeftOutRows, Preview, PreviewPoint, RefusedInPreview } from '../entry/table-preview.ts';

export interface PreviewOf {
  /** The path below the folder, or a URL. */
  path: string;
  /** YYYY-MM-DD. */
  today: string;
  /** Why columns are not loaded, by their titles. */
  ignored?: Readonly<Record<string, string>> | undefined;
}

const [pointsAtEnds, pointsBetween, examplesMax, refusedMax, columnsMax] = [3, 2, 3, 5, 20];
/** Beyond this many points, repeated ones are no longer counted, so that memory stays flat. */
const pointsComparedMax = 100_000;

/** A preview that shows no rows. */
export const withoutRows = (fault: string | null, isWhole = false): Preview => ({
  ...{ points: [], points_read: 0, is_whole: isWhole, left_out: [], columns_left_out: [] },
  ...{ refused: [], refused_count: 0, fault },
});

/** @returns the preview, and the plan used to read the rows. */
export async function previewRows(
  entry: TableDescription,
  sample: Sample,
  about: PreviewOf,
): Promise<{ preview: Preview; plan: ReshapePlan | null }> {
  const preview = withoutRows(null, sample.isWhole);
  if (entry.dataset !== undefined) {
    preview.fault = `it has the columns of the dataset ${entry.dataset}, and is read when it is loaded; a dry run counts what it would change`;
    return { preview, plan: null };
  }
  const lacking = lackingIn(entry);
  if (lacking.length > 0) {
    preview.fault = `the entry lacks ${lacking.join(', ')}, which a load needs`;
    return { preview, plan: null };
  }
  const reading = new Reading(entry as LoadableTable, sample, about, preview);
  try {
    await reading.readAll();
  } catch (error) {
    if (!(error instanceof IngestFailure)) throw error;
    preview.fault = failureNamedByKey(error, entry).message;
  }
  return { preview, plan: reading.plan };
}

/** One reading of the sampled rows, by the code that loads them. */
class Reading {
  plan: ReshapePlan | null = null;
  readonly #table: LoadableTable;
  readonly #sample: Sample;
  readonly #about: PreviewOf;
  readonly #preview: Preview;
  readonly #leftOut = new Map<string, LeftOutRows>();
  readonly #seen = new Map<string, number>();
  readonly #middleLine: number;
  #middle: PreviewPoint[] = [];
  #last: PreviewPoint[] = [];

  constructor(table: LoadableTable, sample: Sample, about: PreviewOf, preview: Preview) {
    this.#table = table;
    this.#sample = sample;
    this.#about = about;
    this.#preview = preview;
    const first = sample.lines.findIndex((line) => line >= table.first);
    this.#middleLine = sample.lines[Math.floor((Math.max(0, first) + sample.lines.length) / 2)] ?? 0;
  }

  /** @throws IngestFailure if the entry does not fit the file. */
  async readAll(): Promise<void> {
    const of = rowsOf(this.#table, this.#about.path);
    const { multiply } = this.#table;
    if (multiply !== undefined && !isFactor(multiply))
      usageError(`multiply: ${multiply} is not a factor such as 1000.`);
    const stated = vintageOf(this.#table, of.fileName, this.#about.today);
    const vintage = stated === undefined ? null : parseVintage(stated, this.#about.today);
    this.#countAbove();
    const { rows, constants } = reshape(this.#table, of, () => batchOf(this.#sample), {
      planned: (plan) => {
        this.plan = plan;
        this.#preview.columns_left_out = columnsLeftOut(this.#table, plan, this.#about.ignored ?? {});
      },
      leftOut: (why, row, line) => this.#count(reasonOf(why, this.plan), row, line),
    });
    let reader: LongReader | null = null;
    for await (const batch of rows()) {
      if (reader === null) reader = this.#readerOf(entryAt(batch.rows, 0), constants, vintage);
      else await reader.read(batch);
    }
    const { points } = this.#preview;
    const shown = new Set(points);
    for (const point of [...this.#middle, ...this.#last]) shown.add(point);
    this.#preview.points = [...shown];
    this.#preview.left_out = [...this.#leftOut.values()];
  }

  /** @param vintage of all rows; null: they have their own, or it is the day of the load. */
  #readerOf(
    header: readonly string[],
    constants: Readonly<Record<string, string>>,
    vintage: string | null,
  ): LongReader {
    const plan = planLong(header, { set: constants, create: true, mayLackFacts: true });
    let dims: Record<string, string> = {};
    const context: PointContext = {
      directory: newSeriesOnly((values) => {
        dims = Object.fromEntries(plan.dimensions.map(({ name }, at) => [name, entryAt(values, at)]));
      }),
      sink: {
        add: ({ id: series }, _combination, day, line, date, value, status) =>
          this.#add({ line, series, dims, date, value, status, vintage: day === '' ? vintage : day.trim() }),
        flush: () => Promise.resolve(),
        forgetDates: () => undefined,
      },
      rejects: { add: (line, column, text, expected) => this.#refuse({ line, column, text, expected }) },
      dates: new PointDates(dateReader()),
      dateFormat: undefined,
      values: scaledReader({}, this.#table.multiply),
      cells: plainCells,
      valueOptions: {},
      create: true,
      latestDay: null,
    };
    return new LongReader(plan, context, this.#about.today);
  }

  #add(point: PreviewPoint): void {
    if (this.#isRepeated(point)) return;
    const preview = this.#preview;
    preview.points_read++;
    if (preview.points.length < pointsAtEnds) preview.points.push(point);
    else if (point.line >= this.#middleLine && this.#middle.length < pointsBetween) this.#middle.push(point);
    this.#last.push(point);
    if (this.#last.length > pointsAtEnds) this.#last.shift();
  }

  #isRepeated({ line, date, series, dims, vintage }: PreviewPoint): boolean {
    if (this.#seen.size >= pointsComparedMax) return false;
    const place = [series, date, vintage ?? '', ...Object.values(dims)].join('\u001f');
    const before = this.#seen.get(place);
    if (before === undefined) {
      this.#seen.set(place, line);
      return false;
    }
    const text = [series, date, ...Object.entries(dims).map(([name, value]) => `${name} ${value}`)].join(
      ', ',
    );
    if (this.#table.repeated === 'first')
      this.#countText('it repeats an observation of an earlier row (repeated: first)', text, line);
    else
      this.#refuse({
        ...{ line, column: 'row', text },
        expected: `one row per observation; line ${before} has the same series, date and dimensions`,
      });
    return true;
  }

  #refuse(cell: RefusedInPreview): void {
    this.#preview.refused_count++;
    if (this.#preview.refused.length < refusedMax)
      this.#preview.refused.push({ ...cell, text: shortened(cell.text) });
  }

  /** Rows with numbers above the first line of data. */
  #countAbove(): void {
    const heads = new Set(linesOf(this.#table.header));
    for (const [at, line] of this.#sample.lines.entries()) {
      if (line >= this.#table.first) return;
      const row = entryAt(this.#sample.rows, at);
      if (!heads.has(line) && row.filter((cell) => isNumberText(cell)).length > 1)
        this.#count(`it is above line ${this.#table.first}, the first of data (first)`, row, line);
    }
  }

  #count(reason: string, row: readonly string[], line: number): void {
    this.#countText(reason, row.filter((cell) => cell.trim() !== '').join(', '), line);
  }

  #countText(reason: string, text: string, line: number): void {
    const rows = this.#leftOut.get(reason) ?? { reason, count: 0, examples: [] };
    this.#leftOut.set(reason, rows);
    rows.count++;
    if (rows.examples.length < examplesMax) rows.examples.push({ line, text: shortened(text) });
  }
}

/** The series that a load would create: none exists. @param onDims receives the dimension values of each point before it is added. */
function newSeriesOnly(onDims: (values: readonly string[]) => void): PointContext['directory'] {
  const known = new Map<string, KnownSeries | null>();
  return {
    makeSpace: () => Promise.resolve(false),
    get: (id) => known.get(id),
    async learn(ids, metadataOf) {
      for (const id of ids) {
        const facts = isSeriesId(id) ? metadataOf(id) : null;
        known.set(id, facts && newlyKnown(id, facts));
      }
    },
    combination(_series, values) {
      onDims(values);
      return { lineNo: 0, lastPlace: '' };
    },
  };
}

const newlyKnown = (id: string, facts: SeriesMetadata): KnownSeries => ({
  ...{ id, seriesNo: 0, fresh: true, misfit: null, dims: new Map() },
  frequency: facts['frequency'] as Frequency,
  fiscalYearEnd: facts['fiscal_year_end'] ?? '12-31',
});

// oxlint-disable-next-line require-yield -- a sample is one batch, as the loader takes batches
async function* batchOf({ rows, lines }: Sample): AsyncGenerator<CsvBatch> {
  yield { rows, lines };
}

function reasonOf(why: LeftOut, plan: ReshapePlan | null): string {
  if (why.by === 'no point') return 'it has no number: a heading or a note';
  const title = plan?.titles[why.at] ?? '';
  return why.by === 'only'
    ? `its cell in ${title} is empty, or has another form than those of the other rows (only)`
    : `its text in ${title} is left out (leave_out)`;
}

/** The columns whose cells are not loaded. Columns without a title and without a cell are ignored. */
function columnsLeftOut(
  table: LoadableTable,
  plan: ReshapePlan,
  ignored: Readonly<Record<string, string>>,
): Preview['columns_left_out'] {
  const named = new Set(table.ignore);
  return plan.titles
    .flatMap((title, at) => {
      if (named.has(title)) return [{ title, reason: ignored[title] ?? 'the entry names it under ignore' }];
      const isAdjacentStatus = plan.status === 'beside' && plan.values.some((value) => value.at === at - 1);
      const isUsed =
        isAdjacentStatus ||
        plan.values.some((value) => value.at === at) ||
        ('columns' in plan.date && plan.date.columns.includes(at)) ||
        ('across' in plan.date && plan.date.year === at) ||
        [plan.status, plan.vintage, ...plan.dimensions].includes(at);
      return isUsed || !isUntitled(title, at) ? [] : [{ title, reason: 'it has no title' }];
    })
    .slice(0, columnsMax);
}

const textMax = 80;
const shortened = (text: string): string => (text.length > textMax ? `${text.slice(0, textMax)}…` : text);
