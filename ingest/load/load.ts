// Loads a file into a dataset, atomically: read, stage, compare and store run in one transaction. One load runs at a time; readers see it
// once it is committed.
import { statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { dateIn, onOneDay, type DatedWork } from '../../kernel/clock.ts';
import type { CsvBatch } from '../read/csv-batch.ts';
import { readCsv } from '../read/csv.ts';
import { isDataPackage } from '../read/file-kind.ts';
import { packageOptions } from './datapackage.ts';
import { isPrintable } from '../cells/cells.ts';
import type { Dataset } from '../datasets/dataset.ts';
import { datasetNamed } from '../datasets/datasets.ts';
import { isFactor } from '../cells/numbers/observation-values.ts';
import { parseVintage } from '../cells/dates/date-patterns.ts';
import { selectRows } from './store/row-selection.ts';
import { IngestFailure, usageError } from '../failure.ts';
import { readCalendar } from '../read/release-calendar.ts';
import type { LoadOptions, LoadResult, LoadSummary } from './store/load-options.ts';
import { loadPoints } from './points/load-points.ts';
import { loadPrices } from './load-prices.ts';
import { loadTable } from './load-table.ts';
import { NotAscending } from './points/points.ts';
import { Rejects } from './store/rejects.ts';
import {
  InterruptedByRelease,
  interruptionText,
  retryAfterInterruption,
  underLoadLock,
  type Interruption,
  type LockOptions,
  type Transacting,
} from './lock/give-way-to-release.ts';
import { visibleAfterMs } from '../../kernel/http/validity.ts';
import { entryAt } from '../../kernel/entries.ts';

/**
 * Loads the file. After it resolves, every call that begins sees the load. Loading a file twice changes nothing. A file of an older vintage
 * is inserted at its place in the history.
 * @throws IngestFailure if the call or the file is invalid, or a row is and `skipInvalid` is not set; nothing is stored.
 */
export async function load(database: Transacting, given: LoadOptions): Promise<LoadSummary> {
  const started = performance.now();
  const options = withPackage(given);
  const isRereadable = canBeReadAgain(options);
  return retryAfterInterruption(database, options, (interruptions, onWaiting) =>
    onOneDay(options, async (dated) => {
      const shared = { dated, started, interruptions, onWaiting };
      try {
        // The direct path requires an input that can be read a second time.
        return await attempt(database, options, { ...shared, straight: isRereadable });
      } catch (error) {
        if (error instanceof InterruptedByRelease && !isRereadable) throw notAgain(error);
        if (!(error instanceof NotAscending)) throw error;
        return attempt(database, options, { ...shared, straight: false });
      }
    }),
  );
}

/** True for files; false for streams and named pipes. */
const canBeReadAgain = ({ input, rows }: LoadOptions): boolean =>
  rows !== undefined ||
  (typeof input === 'string' && statSync(input, { throwIfNoEntry: false })?.isFIFO() !== true);

const notAgain = (error: InterruptedByRelease): IngestFailure =>
  new IngestFailure(
    'usage',
    `A due release (${error.interruption.releaseNo}) interrupted the load, whose input cannot be read again; nothing was stored. ` +
      `Load it again once "almanac releases list" shows the release as released, or load from a file: such a load restarts by itself.`,
    { cause: error },
  );

interface Attempt {
  dated: DatedWork;
  straight: boolean;
  started: number;
  interruptions: readonly Interruption[];
  onWaiting: LockOptions['onWaiting'];
}

/**
 * Adds the options from the data package, if the input is one; its file then becomes the input. @throws IngestFailure as `packageOptions`
 * does.
 */
export function withPackage(given: LoadOptions): LoadOptions {
  if (typeof given.input === 'string' && isDataPackage(given.input))
    return packageOptions(given, given.input);
  if (given.resource !== undefined)
    usageError('--resource works only with a datapackage.json, and the file is not one.');
  return given;
}

async function attempt(
  database: Transacting,
  options: LoadOptions,
  { dated, straight, started, interruptions, onWaiting }: Attempt,
): Promise<LoadSummary> {
  const dataset = datasetNamed(options.dataset);
  checkOptions(options);
  checkFactors(dataset, options.multiply);
  // Runs before waiting for another load.
  if (options.vintage !== undefined) parseVintage(options.vintage, todayOf(options));
  const rejects = new Rejects(options.reportFile);
  let rowsSkipped = 0;
  const notes: string[] = interruptions.map(interruptionText);
  let bytes: [bytesRead: number, bytesTotal: number | undefined] = [0, undefined];
  const csv = { ...options, onBytes: (...read: [number, number | undefined]) => void (bytes = read) };
  const read = dataset.name === 'calendar' ? readCalendar : readCsv;
  const batches = options.rows?.() ?? read(options.input, csv);
  try {
    const result = await underLoadLock(database, { dryRun: options.dryRun, onWaiting }, async (on) => {
      const today = options.today ?? dated.begin();
      const vintage = options.vintage === undefined ? today : parseVintage(options.vintage, today);
      const { rows, ...head } = await headerAndRows(batches, options);
      const input = {
        ...head,
        batches: selectRows(head.header, rows, options, (skipped) => void (rowsSkipped += skipped), notes),
        vintage,
        vintageGiven: options.vintage !== undefined,
        today,
        rejects,
        notes,
        onRows: (rowsRead: number) => options.onProgress?.(rowsRead, ...bytes),
      };
      const stored =
        dataset.name === 'commodity-prices'
          ? await loadPrices(on, input, options)
          : dataset.kind === 'points'
            ? await loadPoints(on, input, options, straight)
            : await loadTable(on, dataset, input, options);
      await options.inSameTransaction?.(on, stored.loadNo, interruptions);
      endInTime(dated, options, stored);
      return stored;
    });
    const seconds = (performance.now() - started) / 1000;
    if (options.dryRun !== true && options.noGateway !== true) await waitForGatewayLeases();
    return { ...summarise(result, rejects, notes, seconds), rowsSkipped, interruptions };
  } finally {
    rejects.close();
    await batches.return(undefined);
  }
}

const todayOf = ({ today, seriesTimeZone, clock }: LoadOptions): string =>
  today ?? dateIn(seriesTimeZone, clock.now());

/**
 * The last step before the commit. Rows are dated today, unless the call or the file gives their day.
 * @throws IngestFailure if midnight has passed since the load began and the input cannot be read again.
 */
function endInTime(
  dated: DatedWork,
  { dataset, input, rows, vintage, dryRun }: LoadOptions,
  result: LoadResult,
): void {
  if (dryRun === true || vintage !== undefined || result.vintages !== 'today' || !dated.isOver) return;
  if (typeof input === 'string' || rows !== undefined) dated.end();
  const other = datasetNamed(dataset).kind === 'points' ? ', or set its day with --vintage' : '';
  throw new IngestFailure(
    'usage',
    `The day ended while the load was running, and its input cannot be read again. Load it again${other}.`,
  );
}

/** Resolves when no gateway serves cached data from before the load. Runs after the commit, and before the load is reported as done. */
export const waitForGatewayLeases = (): Promise<void> => pause(visibleAfterMs);

function checkOptions(options: LoadOptions): void {
  if (options.full === true && options.skipInvalid === true)
    usageError(
      'With --full, points missing from the file are deleted, so --skip-invalid would delete the points of rejected rows. Use only one of the two.',
    );
  if (options.prefix !== undefined && options.wide !== true) usageError('--prefix is for wide files.');
  if (options.delimiter !== undefined && !/^[^"\r\n]$/.test(options.delimiter))
    usageError('--delimiter must be the one character between the cells: a comma, ; | or a tab.');
  if (typeof options.input === 'string' && statSync(options.input, { throwIfNoEntry: false })?.isDirectory())
    usageError(`${options.input} is a folder; must be a file.`);
}

function checkFactors(dataset: Dataset, factors: Readonly<Record<string, string>> = {}): void {
  const numbers = dataset.columns.filter(({ type }) => type === 'number').map(({ name }) => name);
  for (const [name, factor] of Object.entries(factors)) {
    if (!numbers.includes(name))
      usageError(
        `--multiply ${name}: not a column of numbers in ${dataset.name}` +
          (numbers.length === 0 ? ', which has none.' : `; there are ${numbers.join(', ')}.`),
      );
    if (!isFactor(factor))
      usageError(`--multiply ${name}=${factor}: a number such as 1000000 or 0.01 is expected.`);
  }
}

/** Removes the header and the skipped rows from the front. */
async function headerAndRows(
  batches: AsyncGenerator<CsvBatch>,
  options: LoadOptions,
): Promise<{ header: string[]; headerLine: number; rows: AsyncIterable<CsvBatch> }> {
  const first = await nonEmpty(batches);
  const header = first?.rows[0];
  if (first === null || header === undefined || header.every((title) => title.trim() === ''))
    throw new IngestFailure(
      'invalid_file',
      (options.headerLine ?? 1) > 1 && first === null
        ? `The file ends before line ${options.headerLine}, its header: correct --header-line.`
        : 'The file has no header: its first line must name the columns.',
    );
  if (!header.every(isPrintable))
    throw new IngestFailure(
      'invalid_file',
      'The names of the columns contain control characters: is the file in another encoding (--encoding)?',
    );
  const left = { rows: first.rows.slice(1), lines: first.lines.slice(1) };
  return {
    header,
    headerLine: entryAt(first.lines, 0),
    rows: withoutRows(options.skipRows ?? 0, left, batches),
  };
}

async function nonEmpty(batches: AsyncGenerator<CsvBatch>): Promise<CsvBatch | null> {
  for (;;) {
    const next = await batches.next();
    if (next.done === true) return null;
    if (next.value.rows.length > 0) return next.value;
  }
}

async function* withoutRows(
  count: number,
  first: CsvBatch,
  rest: AsyncGenerator<CsvBatch>,
): AsyncGenerator<CsvBatch> {
  let left = count;
  const cut = (batch: CsvBatch): CsvBatch => {
    if (left === 0) return batch;
    const skipped = Math.min(left, batch.rows.length);
    left -= skipped;
    return { rows: batch.rows.slice(skipped), lines: batch.lines.slice(skipped) };
  };
  yield cut(first);
  for await (const batch of rest) yield cut(batch);
}

function summarise(
  result: LoadResult,
  rejects: Rejects,
  notes: string[],
  seconds: number,
): Omit<LoadSummary, 'rowsSkipped' | 'interruptions'> {
  const { loadNo: _number, vintages: _vintages, ...counts } = result;
  return {
    ...counts,
    rowsRejected: rejects.count,
    seconds,
    rowsPerSecond: seconds === 0 ? 0 : Math.round(result.rowsRead / seconds),
    rejects: rejects.first,
    notes,
  };
}
