// The long rows of the batches of one file: one per value, with the id and the facts of its series.
import { entryAt } from '../../kernel/entries.ts';
import type { CsvBatch, RefusedCell } from '../read/csv-batch.ts';
import { CarriedYears, isYearAlone } from '../cells/dates/carried-years.ts';
import { IngestFailure } from '../failure.ts';
import { dateOfBoth, frequencyOfKind, loadedText, type ReadDate } from '../cells/dates/dates-of-table.ts';
import { partEnd, type ReshapePlan, type RowsOf } from './reshape-plan.ts';

/** The facts of the series that were seen, by id. */
export type SeriesSeen = Map<string, Record<string, string>>;

/** Beyond this many series, ids are no longer compared, so that memory stays flat. */
const seriesCachedMax = 200_000;

/** Why a row is not loaded: `only` or `leave_out` of its entry, with the position of the column; or it has no value. */
export type LeftOut = { by: 'only' | 'leave_out'; at: number } | { by: 'no point' };

/** Receives the outcome of each row, for a preview. */
export interface RowsWatch {
  planned: (plan: ReshapePlan) => void;
  /** Rows without any content are not among them. */
  leftOut: (why: LeftOut, row: readonly string[], line: number) => void;
}

/** Produces the long rows of the batches of one file, and collects the facts of their series. */
export class LongRows {
  readonly #plan: ReshapePlan;
  readonly #of: RowsOf;
  readonly #series: SeriesSeen;
  readonly #stated: Set<string>;
  /** How many rows there were. */
  count = 0;
  readonly #isWide: boolean;
  /** The parts of an id as in the file → the id and the facts: building them for each row would take most of the time. */
  #made = new Map<string, { id: string; facts: string[] }>();
  #sourceOf = new Map<string, string>();
  #long: LongBatch = emptyBatch();
  readonly #above = new Map<number, string>();
  readonly #years: CarriedYears;
  readonly #watch: RowsWatch | undefined;

  constructor(plan: ReshapePlan, of: RowsOf, series: SeriesSeen, stated: Set<string>, watch?: RowsWatch) {
    this.#watch = watch;
    this.#plan = plan;
    this.#years = new CarriedYears(plan.readDate);
    this.#of = of;
    this.#series = series;
    this.#stated = stated;
    this.#isWide = plan.values.length > 1 || 'across' in plan.date;
  }

  /** The long rows of a batch, each with the line and the column it is from. */
  of(batch: CsvBatch): CsvBatch {
    this.#long = emptyBatch();
    for (const [at, row] of batch.rows.entries()) {
      const line = entryAt(batch.lines, at);
      // A row with more cells than titles is passed on as one cell, which the load rejects with its line.
      if (row.slice(this.#plan.titles.length).some((cell) => cell.trim() !== ''))
        this.#add([row.join(',')], line, 'row');
      else {
        const full = this.#filled(row);
        const before = this.count;
        if (this.#isData(full)) this.#addRows(full, line);
        if (this.#watch !== undefined && this.count === before && row.some((cell) => cell.trim() !== ''))
          this.#watch.leftOut(this.#whyLeftOut(full), row, line);
      }
    }
    return this.#long;
  }

  #add(row: string[], line: number, title: string): void {
    this.count++;
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

  #whyLeftOut(row: readonly string[]): LeftOut {
    const { only, leaveOut, values } = this.#plan;
    const named = leaveOut.find(({ at, texts }) => texts.has(textAt(row, at)));
    if (named !== undefined) return { by: 'leave_out', at: named.at };
    const unlike = only.find(({ at, expression }) => !expression.test(textAt(row, at)));
    const isNote = values.every(({ at }) => textAt(row, at) === '');
    return unlike === undefined || isNote ? { by: 'no point' } : { by: 'only', at: unlike.at };
  }

  /** The row, with empty cells of the entry's `fill` columns replaced by the cells above, and the year of its date. */
  #filled(row: readonly string[]): readonly string[] {
    const { carried, filled } = this.#plan;
    if ((filled.length === 0 && carried < 0) || row.every((cell) => cell.trim() === '')) return row;
    const full = [...row];
    if (carried >= 0) full[carried] = this.#years.of(textAt(row, carried));
    for (const at of this.#plan.filled) {
      const text = textAt(row, at);
      if (text !== '') this.#above.set(at, text);
      else {
        while (full.length < at) full.push('');
        full[at] = this.#above.get(at) ?? '';
      }
    }
    return full;
  }

  #addRows(row: readonly string[], line: number): void {
    const { date, values, dimensions, readDate, readNumber, vintage, readVintage } = this.#plan;
    const rowDate = dateOf(row, date);
    const isAcross = 'across' in date;
    const day = isAcross ? null : readDate(rowDate);
    const numbers = values.map(({ at }) => readNumber(textAt(row, at)));
    const hasNumber = numbers.some((number) => number !== undefined && number.value !== null);
    const isEmpty = values.every(({ at }) => textAt(row, at) === '');
    const isDated = 'columns' in date && day !== null;
    const isWords = numbers.every(
      (number, at) => number === undefined || textAt(row, entryAt(values, at).at) === '',
    );
    // Headings and notes have no number, and either no readable date or, if the dates are not in a column, only words or blanks as values.
    if (!hasNumber && !isDated && ('columns' in date || isWords)) return;
    if (isEmpty && (this.#isWide || dimensions.some((at) => textAt(row, at) === ''))) return;
    if (isEmpty && this.#plan.carried >= 0 && isYearAlone(rowDate)) return; // a heading
    const published = vintage < 0 ? null : readVintage(textAt(row, vintage));
    const dims = dimensions.map((at) => textAt(row, at));
    for (const [place, value] of values.entries()) {
      const text = textAt(row, value.at);
      const number = numbers[place];
      const status = this.#status(row, value.at, number?.status ?? '');
      // An empty cell beside others is no observation: columns begin and end at different dates.
      if (this.#isWide && number?.value === null && status === '') continue;
      const dated = isAcross ? readDate(dateOfBoth(rowDate, entryAt(date.across, value.at))) : day;
      const frequency = dated === null ? '' : frequencyOfKind[dated.kind];
      const { id, facts } =
        this.#made.get(value.source(row, value.at, frequency)) ?? this.#make(row, line, value, frequency);
      const cells = [
        id,
        dated === null ? rowDate : value.isAnnual && isWithinYear(dated) ? dated.to : loadedText(dated),
        number === undefined ? text : (number.value ?? ''),
      ];
      if (this.#plan.withStatus) cells.push(status === '' ? (dated?.status ?? '') : status);
      if (vintage >= 0) cells.push(published === null ? textAt(row, vintage) : published.to);
      cells.push(...facts, ...dims);
      this.#add(cells, line, value.title);
      if (dated === null) this.#refuse(this.#dateTitle(), rowDate, this.#plan.expectedDate);
      else if (number === undefined) this.#refuse(value.title, text, expectedNumber);
    }
  }

  #status(row: readonly string[], at: number, own: string): string {
    const { status } = this.#plan;
    if (own !== '') return own;
    return status === 'beside' ? textAt(row, at + 1) : textAt(row, status);
  }

  #dateTitle(): string {
    const { date, titles } = this.#plan;
    return 'columns' in date ? date.columns.map((at) => titles[at] ?? '').join(' ') : 'date';
  }

  /** Marks the row that was added last: the load rejects it. */
  #refuse(title: string, text: string, expected: string): void {
    this.#long.refused.set(this.#long.rows.length - 1, { title, text, expected });
  }

  /** @throws IngestFailure if another text of the file gives the same id: their points would be mixed. */
  #make(
    row: readonly string[],
    line: number,
    value: ReshapePlan['values'][number],
    frequency: string,
  ): { id: string; facts: string[] } {
    if (this.#made.size >= seriesCachedMax) {
      this.#made = new Map();
      this.#sourceOf = new Map();
    }
    const source = value.source(row, value.at, frequency);
    const made = {
      id: value.id(row, value.at, frequency),
      facts: value.facts.map((fill) => fill(row, value.at, frequency)),
    };
    const other = this.#sourceOf.get(made.id);
    if (other !== undefined && other !== source)
      throw new IngestFailure(
        'invalid_file',
        `${this.#of.where}, series.id: "${other.replaceAll(partEnd, '')}" and "${source.replaceAll(partEnd, '')}" (line ${line}) both give the series id ${made.id}. Build series.id from other ` +
          'columns, or set an id for one column under columns.',
      );
    this.#made.set(source, made);
    this.#sourceOf.set(made.id, source);
    if (this.#stated.size < seriesCachedMax) this.#stated.add(made.id);
    if (this.#series.size < seriesCachedMax)
      this.#series.set(
        made.id,
        Object.fromEntries(this.#plan.factNames.map((name, at) => [name, entryAt(made.facts, at)])),
      );
    return made;
  }
}

/** A month or quarter that dates the value of its year. */
const isWithinYear = ({ kind }: ReadDate): boolean => kind === 'month' || kind === 'quarter';

/** The date text of a row; '' if the titles of the columns have all of it. */
export function dateOf(row: readonly string[], date: ReshapePlan['date']): string {
  if ('text' in date) return date.text;
  if ('across' in date) return textAt(row, date.year);
  const [first = -1, ...others] = date.columns;
  return others.reduce((text, at) => joined(text, textAt(row, at)), textAt(row, first));
}

const expectedNumber =
  'a number as almanac.yml describes them (decimal, thousands, negative); list other texts under missing or flags';

type LongBatch = CsvBatch & { titles: string[]; refused: Map<number, RefusedCell> };
const emptyBatch = (): LongBatch => ({ rows: [], lines: [], titles: [], refused: new Map() });

const joined = (text: string, part: string): string =>
  text === '' || part === '' ? `${text}${part}` : `${text} ${part}`;

/** The text of a cell; '' if there is none, or no such column. */
const textAt = (row: readonly string[], at: number): string => (at < 0 ? '' : (row[at] ?? '').trim());
