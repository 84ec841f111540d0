// Writes the points of a file to the stage or directly to data.observations, and distinguishes rows without a point from invalid ones.
import type { Transaction } from '../../../kernel/database.ts';
import type { CellReader } from '../../cells/cells.ts';
import type { PointDates } from '../../cells/dates/date-patterns.ts';
import { failUnusable } from '../../datasets/columns.ts';
import type { SeriesInFile } from '../store/load-record.sql.ts';
import type { Rejects } from '../store/rejects.ts';
import type { Combination, KnownSeries, SeriesDirectory } from './series-directory.ts';
import { CopyBuffer, CopyLine, copyText } from '../store/stage.sql.ts';
import type { ValueOptions, ValueReader } from '../../cells/numbers/observation-values.ts';
import { entryAt } from '../../../kernel/entries.ts';

export interface PointContext {
  directory: Pick<SeriesDirectory, 'makeSpace' | 'learn' | 'get' | 'combination'>;
  sink: Pick<PointSink, 'add' | 'flush' | 'forgetDates'>;
  /** By row index, which is the line in a long file. */
  rejects: Pick<Rejects, 'add'>;
  dates: PointDates;
  dateFormat: string | undefined;
  values: ValueReader;
  /** Cells of the columns that are neither date nor value. */
  cells: CellReader;
  valueOptions: ValueOptions;
  create: boolean;
  /** Set if points cannot be in the future: today, whose period is the last that is accepted. */
  latestDay: string | null;
}

/** What is expected instead of a date in the future. */
export const notFuture = (today: string): string =>
  `a date that is not in the future: today is ${today} (SERIES_TIME_ZONE), and only what has happened is loaded`;

/** Thrown if points were stored directly and one is not later than the last: they must be staged instead. */
export class NotAscending extends Error {
  constructor() {
    super('the points of a series do not ascend');
    this.name = 'NotAscending';
  }
}

export const withoutPoints = (seriesNo: number): SeriesInFile => ({
  ...{ seriesNo, points: 0, pointsWithValue: 0, firstDate: null, lastDate: null },
});

/**
 * The destination of points: the stage, for comparison with the stored ones; or directly data.observations, if the series was never
 * published and its dates ascend, so that there is nothing to compare and no point can occur twice.
 */
export class PointSink {
  /** Whether the stage may have a point twice. */
  mayRepeat = false;
  /** Whether a point went into the stage. */
  isStaged = false;
  /** By series_no. */
  readonly direct = new Map<number, SeriesInFile>();
  readonly #line: CopyLine;
  readonly #staged: CopyBuffer;
  readonly #straight: CopyBuffer | null;
  readonly #published: string;
  #createStage: (() => Promise<void>) | null;
  #isRefused = false;

  /**
   * @param stage the table of staged points, and a function that creates it: most loads of new series do not need one.
   * @param straight the vintage and number of the load, if points may be stored directly.
   */
  constructor(
    on: Transaction,
    stage: { table: string; create: () => Promise<void> },
    straight: { vintage: string; loadNo: number } | null,
  ) {
    this.#line = new CopyLine(on);
    this.#staged = new CopyBuffer(this.#line, stage.table);
    this.#createStage = stage.create;
    this.#straight =
      straight === null
        ? null
        : new CopyBuffer(
            this.#line,
            'data.observations (line_no, date, published_on, load_no, value, status)',
          );
    this.#published = straight === null ? '' : `\t${straight.vintage}\t${straight.loadNo}\t`;
  }

  /**
   * @param vintage of the row, followed by a tab, if the stage has a column for it; else ''.
   * @param value digits; null: published as missing.
   * @throws NotAscending
   */
  add(
    series: KnownSeries,
    combination: Combination,
    vintage: string,
    line: number,
    date: string,
    value: string | null,
    status: string | null,
  ): void {
    const cells = `${value ?? '\\N'}\t${status === null ? '\\N' : copyText(status)}\n`;
    const place = vintage + date;
    const ascends = place > combination.lastPlace;
    combination.lastPlace = place;
    if (this.#straight === null || !series.fresh) {
      if (!ascends) this.mayRepeat = true;
      this.isStaged = true;
      this.#staged.add(`${vintage}${line}\t${series.seriesNo}\t${combination.lineNo}\t${date}\t${cells}`);
      return;
    }
    if (!ascends) throw new NotAscending();
    if (!this.#isRefused) this.#straight.add(`${combination.lineNo}\t${date}${this.#published}${cells}`);
    this.#count(series.seriesNo, date, value !== null);
  }

  #count(seriesNo: number, date: string, hasValue: boolean): void {
    let count = this.direct.get(seriesNo);
    if (count === undefined) {
      count = withoutPoints(seriesNo);
      this.direct.set(seriesNo, count);
    }
    count.points++;
    if (!hasValue) return;
    count.pointsWithValue++;
    if (count.firstDate === null || date < count.firstDate) count.firstDate = date;
    if (count.lastDate === null || date > count.lastDate) count.lastDate = date;
  }

  /** Call when the load will fail: later points are only checked. */
  refuse(): void {
    this.#isRefused = true;
  }

  /** Call when the directory has evicted the last dates. @throws NotAscending if they are needed. */
  forgetDates(): void {
    if (this.#straight !== null && this.direct.size > 0) throw new NotAscending();
    this.mayRepeat = true;
  }

  /** Creates the stage, once. */
  async openStage(): Promise<void> {
    const create = this.#createStage;
    if (create === null) return;
    this.#createStage = null;
    await this.#line.arrived();
    await create();
  }

  async flushIfFull(): Promise<void> {
    if (this.isStaged) await this.openStage();
    await this.#staged.flushIfFull();
    await this.#straight?.flushIfFull();
  }

  /** Sends the rest; other statements may follow. */
  async flush(): Promise<void> {
    if (this.isStaged) await this.openStage();
    await this.#staged.flush();
    await this.#straight?.flush();
  }

  /** Waits for the running COPY, successful or not. */
  async waitForCopy(): Promise<void> {
    await this.#line.waitForCopy();
  }
}

const dimensionName = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/** @throws IngestFailure if a name cannot be used in `dims=name:value`. */
export function checkDimensionNames(names: readonly string[]): void {
  const others = names.filter((name) => !dimensionName.test(name));
  if (others.length === 0) return;
  const slugs = new Set(names.filter((name) => dimensionName.test(name)));
  const fix = others.map((name): [string, string] => {
    let target = slug(name);
    while (slugs.has(target)) target += '_';
    slugs.add(target);
    return ['--map', `${target}=${name}`];
  });
  const quoted = others.map((name) => `"${name}"`).join(', ');
  failUnusable(
    `${quoted} would be a dimension, whose name may contain only letters, digits and _: exclude it with --ignore, or rename it with`,
    fix,
  );
}

// oxlint-disable-next-line no-control-regex -- refusing control characters is the point
const dimensionValue = /^[^\u0000-\u001f\u007f]{1,200}$/;

/** Whether the value of a dimension has 1 to 200 characters, none of them a control character. */
export const isDimensionValue = (text: string): boolean => dimensionValue.test(text);

function slug(name: string): string {
  const words = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_');
  return words.replace(/^_+|_+$/g, '').replace(/^(?=\d)/, '_') || 'name';
}

/** Whether all cells of the row are empty: many files end with such rows. */
export function isEmpty(row: readonly string[]): boolean {
  return row.every((cell) => cell.trim() === '');
}

/** Whether the row has as many cells as the header; additional empty ones do not count. */
export function hasCells(row: readonly string[], cells: number): boolean {
  return row.length === cells || (row.length > cells && isEmpty(row.slice(cells)));
}

/** The text of a cell of a complete row; the constant if the index is -1. */
export function cellText(
  row: readonly string[],
  { index, constant }: { index: number; constant: string },
): string {
  return index < 0 ? constant : entryAt(row, index).trim();
}

export function unknownSeries(create: boolean): string {
  return create
    ? 'a series id (letters, digits, . _ and -), and the facts that a new series needs'
    : 'a series that exists; --create makes new ones';
}
