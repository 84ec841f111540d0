// The long rows of the batches of one file: one of each value, with the id and the facts of its series.
import { entryAt } from '../../kernel/entries.ts';
import type { CsvBatch } from '../files/csv-batch.ts';
import { IngestFailure } from '../load/failure.ts';
import type { ReshapePlan, RowsOf } from './reshape-plan.ts';

/** The facts of the series that were seen, by id. */
export type SeriesSeen = Map<string, Record<string, string>>;

/** Beyond so many series, ids are no longer compared: memory stays flat. */
const seriesKeptMax = 200_000;

/** The long rows of the batches of one file, and what is known of their series. */
export class LongRows {
  readonly #plan: ReshapePlan;
  readonly #of: RowsOf;
  readonly #series: SeriesSeen;
  readonly #isWide: boolean;
  /** What an id is made of, as the file has it → the id and the facts: making them for each row would take most of the time. */
  #made = new Map<string, { id: string; facts: string[] }>();
  #sourceOf = new Map<string, string>();
  #long: Required<CsvBatch> = { rows: [], lines: [], titles: [] };

  constructor(plan: ReshapePlan, of: RowsOf, series: SeriesSeen) {
    this.#plan = plan;
    this.#of = of;
    this.#series = series;
    this.#isWide = plan.values.length > 1 || 'across' in plan.date;
  }

  /** The long rows of a batch, each with the line and the column it is from. */
  of(batch: CsvBatch): CsvBatch {
    this.#long = { rows: [], lines: [], titles: [] };
    for (const [at, row] of batch.rows.entries()) {
      const line = entryAt(batch.lines, at);
      // One cell is never a whole row: it is refused with its line.
      if (row.slice(this.#plan.titles.length).some((cell) => cell.trim() !== ''))
        this.#add([row.join(',')], line, 'row');
      else if (this.#isData(row)) this.#addRows(row, line);
    }
    return this.#long;
  }

  #add(row: string[], line: number, title: string): void {
    this.#long.rows.push(row);
    this.#long.lines.push(line);
    this.#long.titles.push(title);
  }

  #isData(row: readonly string[]): boolean {
    const { only, leaveOut } = this.#plan;
    return (
      only.every(({ at, expression }) => expression.test(textAt(row, at))) &&
      !leaveOut.some(({ at, texts }) => texts.has(textAt(row, at)))
    );
  }

  #addRows(row: readonly string[], line: number): void {
    const { date, values, dimensions, missing, flags, status, withStatus, vintage } = this.#plan;
    const rowDate = dateOf(row, date);
    const isEmpty = values.every(({ at }) => textAt(row, at) === '');
    // Headings and notes have no value, and no date or place that one could be missing in.
    if (
      isEmpty &&
      (this.#isWide || !this.#plan.isDate(rowDate) || dimensions.some((at) => textAt(row, at) === ''))
    )
      return;
    const dims = dimensions.map((at) => textAt(row, at));
    for (const value of values) {
      const text = textAt(row, value.at);
      const flag = text === '' ? null : flags(text);
      // An empty cell beside others states nothing: columns begin and end at different dates.
      if (this.#isWide && flag === null && (text === '' || missing.has(text))) continue;
      const { id, facts } = this.#made.get(value.source(row, value.at)) ?? this.#make(row, line, value);
      const day = 'across' in date ? joined(rowDate, entryAt(date.across, value.at)) : rowDate;
      const cells = [id, day, flag?.number ?? text];
      if (withStatus) cells.push(flag === null || flag.status === '' ? textAt(row, status) : flag.status);
      if (vintage >= 0) cells.push(textAt(row, vintage));
      cells.push(...facts, ...dims);
      this.#add(cells, line, value.title);
    }
  }

  /** @throws IngestFailure if another text of the file gives the same id: their points would be mixed. */
  #make(
    row: readonly string[],
    line: number,
    value: ReshapePlan['values'][number],
  ): { id: string; facts: string[] } {
    if (this.#made.size >= seriesKeptMax) {
      this.#made = new Map();
      this.#sourceOf = new Map();
    }
    const source = value.source(row, value.at);
    const made = { id: value.id(row, value.at), facts: value.facts.map((fill) => fill(row, value.at)) };
    const other = this.#sourceOf.get(made.id);
    if (other !== undefined && other !== source)
      throw new IngestFailure(
        'invalid_file',
        `${this.#of.where}, series.id: "${other}" and "${source}" (line ${line}) are both the series ${made.id}: make the id of other columns, ` +
          'or give one column an id of its own under columns.',
      );
    this.#made.set(source, made);
    this.#sourceOf.set(made.id, source);
    if (this.#series.size < seriesKeptMax)
      this.#series.set(
        made.id,
        Object.fromEntries(this.#plan.factNames.map((name, at) => [name, entryAt(made.facts, at)])),
      );
    return made;
  }
}

/** What a row says of its date; '' if the titles of the columns say all of it. */
function dateOf(row: readonly string[], date: ReshapePlan['date']): string {
  if ('text' in date) return date.text;
  if ('across' in date) return textAt(row, date.year);
  const [first = -1, ...others] = date.columns;
  return others.reduce((text, at) => joined(text, textAt(row, at)), textAt(row, first));
}

const joined = (text: string, part: string): string =>
  text === '' || part === '' ? `${text}${part}` : `${text} ${part}`;

/** The text of a cell; '' if there is none, or no such column. */
const textAt = (row: readonly string[], at: number): string => (at < 0 ? '' : (row[at] ?? '').trim());
