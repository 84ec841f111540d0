// The rows of a table as they will be served, and its parts that are not loaded, made from the sampled rows by the code that loads them. So
// the preview of a file reads every date and number as its load does.
import { frequencies, type Frequency } from '../../domain/periods.ts';
import { isDate } from '../../kernel/dates.ts';
import { entryAt } from '../../kernel/entries.ts';
import type { CsvBatch } from '../read/csv-batch.ts';
import {
  dateReader,
  expectedDate,
  expectedVintage,
  parseVintage,
  PointDates,
  vintageReader,
} from '../cells/dates/date-patterns.ts';
import {
  expectedValue,
  isFactor,
  scaledReader,
  type ValueReader,
} from '../cells/numbers/observation-values.ts';
import { IngestFailure, usageError } from '../failure.ts';
import { lackingIn, type LoadableTable, type TableDescription } from '../entry/entry-schema.ts';
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
    preview.fault = error.message;
  }
  return { preview, plan: reading.plan };
}

/** One reading of the sampled rows. */
class Reading {
  plan: ReshapePlan | null = null;
  readonly #table: LoadableTable;
  readonly #sample: Sample;
  readonly #about: PreviewOf;
  readonly #preview: Preview;
  readonly #values: ValueReader;
  readonly #dates = new PointDates(dateReader());
  readonly #vintageDay: (text: string) => string | null;
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
    this.#values = scaledReader({}, table.multiply);
    this.#vintageDay = vintageReader(undefined, about.today);
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
    let header: Header | null = null;
    for await (const batch of rows()) {
      if (header === null) header = headerOf(entryAt(batch.rows, 0), this.#table, constants, vintage);
      else for (const [at, row] of batch.rows.entries()) this.#read(row, header, placeOf(batch, at));
    }
    const { points } = this.#preview;
    const shown = new Set(points);
    for (const point of [...this.#middle, ...this.#last]) shown.add(point);
    this.#preview.points = [...shown];
    this.#preview.left_out = [...this.#leftOut.values()];
  }

  #read(row: readonly string[], header: Header, { line, title, refused }: Place): void {
    if (refused !== undefined)
      return this.#refuse({ line, column: refused.title, text: refused.text, expected: refused.expected });
    const point = this.#pointOf(row, header, line, title);
    if (point === null || this.#isRepeated(row, header, point)) return;
    const preview = this.#preview;
    preview.points_read++;
    if (preview.points.length < pointsAtEnds) preview.points.push(point);
    else if (line >= this.#middleLine && this.#middle.length < pointsBetween) this.#middle.push(point);
    this.#last.push(point);
    if (this.#last.length > pointsAtEnds) this.#last.shift();
  }

  /** Null if a cell was rejected. */
  #pointOf(row: readonly string[], header: Header, line: number, title: string): PreviewPoint | null {
    const cell = (at: number) => (at < 0 ? '' : (row[at] ?? '').trim());
    const refuse = (column: string, text: string, expected: string) => {
      this.#refuse({ line, column, text, expected });
      return null;
    };
    const frequency = header.frequency.at < 0 ? header.frequency.constant : cell(header.frequency.at);
    if (!isFrequency(frequency)) return refuse('frequency', frequency, `one of ${frequencies.join(', ')}`);
    const end = header.yearEnd.at < 0 ? header.yearEnd.constant : cell(header.yearEnd.at);
    if (end !== '' && !isYearEnd(end)) return refuse('fiscal_year_end', end, 'a month and day such as 06-30');
    const date = this.#dates.at(cell(1), frequency, end === '' ? '12-31' : end);
    if (date === null) return refuse('date', cell(1), expectedDate(frequency, undefined));
    const value = this.#values(cell(2));
    if (value === undefined) return refuse(title, cell(2), expectedValue(cell(2), {}));
    const vintage = header.vintageAt < 0 ? header.vintage : this.#vintageDay(cell(header.vintageAt));
    if (header.vintageAt >= 0 && vintage === null)
      return refuse('vintage', cell(header.vintageAt), expectedVintage);
    const dims = Object.fromEntries(header.dims.map(([name, at]) => [name, cell(at)]));
    const empty = header.dims.find(([, at]) => cell(at) === '');
    if (empty !== undefined) return refuse(empty[0], '', 'the value of a dimension');
    const status = cell(header.statusAt);
    return {
      ...{ line, series: cell(0), dims, date, value, vintage },
      status: status === '' ? null : status,
    };
  }

  #isRepeated(
    row: readonly string[],
    { dims }: Header,
    { line, date, series, vintage }: PreviewPoint,
  ): boolean {
    if (this.#seen.size >= pointsComparedMax) return false;
    let place = `${series}\u001f${date}\u001f${vintage ?? ''}`;
    for (const [, at] of dims) place += `\u001f${row[at] ?? ''}`;
    const before = this.#seen.get(place);
    if (before === undefined) {
      this.#seen.set(place, line);
      return false;
    }
    const text = [series, date, ...dims.map(([name, at]) => `${name} ${row[at] ?? ''}`)].join(', ');
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

/** The positions of the parts of a point in a long row. */
interface Header {
  statusAt: number;
  vintageAt: number;
  vintage: string | null;
  frequency: Fact;
  yearEnd: Fact;
  dims: [name: string, at: number][];
}
interface Fact {
  at: number;
  constant: string;
}

function headerOf(
  titles: readonly string[],
  { dimensions = {} }: LoadableTable,
  constants: Readonly<Record<string, string>>,
  vintage: string | null,
): Header {
  const names = Object.keys(dimensions);
  const facts = titles.slice(0, titles.length - names.length);
  const fact = (name: string): Fact => ({
    at: facts.indexOf(name, 3),
    constant: constants[name] ?? '',
  });
  return {
    statusAt: facts.indexOf('status'),
    vintageAt: facts.indexOf('vintage'),
    vintage,
    frequency: fact('frequency'),
    yearEnd: fact('fiscal_year_end'),
    dims: names.map((name, at) => [name, facts.length + at]),
  };
}

interface Place {
  line: number;
  title: string;
  refused: { title: string; text: string; expected: string } | undefined;
}

const placeOf = ({ lines, titles, refused }: CsvBatch, at: number): Place => ({
  line: entryAt(lines, at),
  title: titles?.[at] ?? 'value',
  refused: refused?.get(at),
});

/** The last day of a year, as MM-DD. */
export const isYearEnd = (text: string): boolean => /^\d\d-\d\d$/.test(text) && isDate(`2024-${text}`);

const isFrequency = (text: string): text is Frequency => (frequencies as readonly string[]).includes(text);

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
