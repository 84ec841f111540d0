// Loads observations: rows become staged points; each vintage is compared with the stored points, and the difference is stored.
import type { Transaction } from '../../../kernel/database.ts';
import { insertConfirmations } from '../store/confirmations.sql.ts';
import { cellReader } from '../../cells/cells.ts';
import { emitPointEvents } from '../events/load-events.ts';
import { createChanged, noteChanged } from '../events/series-events.sql.ts';
import { dateReader, PointDates } from '../../cells/dates/date-patterns.ts';
import type { LoadInput, LoadOptions, LoadResult } from '../store/load-options.ts';
import { checkVintage, LongReader, planLong } from './long-file.ts';
import { PointSink, withoutPoints, type PointContext } from './points.ts';
import {
  compareWithLive,
  compareWithVintage,
  createDifference,
  findLoadSeries,
  storeFresh,
} from '../store/store-difference.sql.ts';
import {
  createPlaces,
  indexVintages,
  planVintages,
  stageVintage,
  storeFollowing,
} from '../store/following-vintages.sql.ts';
import { storeDifference } from '../store/store-difference.ts';
import { SeriesDirectory } from './series-directory.ts';
import { createStage, createStageOfVintages, rejectDuplicatePoints } from '../store/stage.sql.ts';
import {
  analyzeIfGrown,
  createTotals,
  finishLoads,
  insertLoad,
  noCounts,
  storeNewSeries,
  sumChanges,
  type LoadCounts,
  type LoadRow,
  type SeriesInFile,
} from '../store/load-record.sql.ts';
import { scaledReader } from '../../cells/numbers/observation-values.ts';
import { refoldBackfill } from './refold.ts';
import { asLong, wideSeriesToLong, type LongInput, type WideColumn } from './wide-file.ts';

/**
 * @param straight whether points of never published series may be stored directly in their table.
 * @throws IngestFailure if a row is rejected and `skipInvalid` is not set, or, for a repeated row, neither `skipInvalid` nor `repeated`.
 * @throws NotAscending if points were stored directly but must not be: load again without `straight`.
 */
export async function loadPoints(
  on: Transaction,
  input: LoadInput,
  options: LoadOptions,
  straight = false,
): Promise<LoadResult> {
  const plan = planFile(input, options);
  const manyVintages = plan.vintage !== null;
  await createChanged(on);
  const record = {
    dataset: options.dataset,
    sourceName: options.sourceName ?? (typeof options.input === 'string' ? options.input : '-'),
    complete: options.full === true,
  };
  const load = manyVintages ? null : { ...record, vintage: input.vintage };
  const first = load === null ? null : { ...load, loadNo: await insertLoad(on, load) };
  const stage = manyVintages ? 'load_rows' : 'load_points';
  const create = () => createTables(on, manyVintages);
  const sink = new PointSink(on, { table: stage, create }, straight ? first : null);
  const reader = await readPoints(on, plan, sink, input, options);

  const isNew = straight && first !== null && isOfNewSeries(sink, reader, first.complete);
  if (!isNew) await sink.openStage();
  // Repeated rows that may be skipped do not stop a load; any other rejected row does.
  if (options.repeated === 'first' && options.skipInvalid !== true) input.rejects.throwIfAny();
  if (sink.mayRepeat) await refuseDuplicates(on, stage, plan.long);
  if (options.repeated !== 'first' && options.skipInvalid !== true) input.rejects.throwIfAny();
  const store = isNew ? storeNewSeries : storeVintage;
  const stored =
    first === null
      ? await storeVintages(on, record)
      : new Map([[first.loadNo, await store(on, first, seriesInFile(reader, sink))]]);
  const rowsRead = plan.long.rowsRead?.() ?? reader.rowsRead;
  await finishLoads(on, stored, { rowsRead, rowsRejected: input.rejects.count });
  const sum = sumOf([...stored.values()]);
  await emitPointEvents(on, stored, sum, options);
  await analyzeIfGrown(on, sum.pointsNew + sum.pointsRevised);
  const vintages = manyVintages ? 'column' : 'today';
  return { ...sum, rowsRead, vintages, loadNo: stored.size === 0 ? null : Math.min(...stored.keys()) };
}

/**
 * The temporary tables of the comparison. A load of new series only does not create them: with them, PostgreSQL used three times the CPU
 * for 2,000 points (measured 2026-11-23).
 */
async function createTables(on: Transaction, manyVintages: boolean): Promise<void> {
  await createStage(on);
  if (manyVintages) await createStageOfVintages(on);
  await createDifference(on);
  await createTotals(on);
}

/** Whether every point was stored directly, so that there is nothing to compare. A complete load also covers series without points. */
function isOfNewSeries(sink: PointSink, reader: LongReader, isComplete: boolean): boolean {
  if (sink.isStaged || sink.mayRepeat) return false;
  return !isComplete || [...reader.coveredSeries].every((seriesNo) => sink.direct.has(seriesNo));
}

/** The file in long form, and how its rows are read. */
interface FilePlan extends ReturnType<typeof planLong> {
  long: LongInput;
  /** For a wide file only. */
  columns: readonly WideColumn[];
}

function planFile(input: LoadInput, options: LoadOptions): FilePlan {
  const unfolding =
    options.wide === true ? wideSeriesToLong(input, options) : { input: asLong(input), options, columns: [] };
  const long = unfolding.input;
  const plan = planLong(long.header, { ...unfolding.options, create: options.create === true });
  checkVintage(plan, input.vintageGiven ? input.vintage : undefined);
  return { ...plan, long, columns: unfolding.columns };
}

/** Reads the whole file into the sink. */
async function readPoints(
  on: Transaction,
  plan: FilePlan,
  sink: PointSink,
  input: LoadInput,
  options: LoadOptions,
): Promise<LongReader> {
  const { long } = plan;
  const dimensions = plan.dimensions.map(({ name }) => name);
  const directory = new SeriesDirectory(on, dimensions, options.create === true, plan.metadata);
  const context: PointContext = {
    directory,
    sink,
    rejects: long.rejects,
    dates: new PointDates(dateReader(options.dateFormat)),
    dateFormat: options.dateFormat,
    values: scaledReader(options, options.multiply?.['value']),
    cells: cellReader(options),
    valueOptions: options,
    create: options.create === true,
    latestDay: input.hasHappened === true ? input.today : null,
  };
  const reader = new LongReader(plan, context, input.today);
  try {
    if (plan.columns.length > 0) await reader.learnColumns(plan.columns);
    for await (const batch of long.batches) {
      await reader.read(batch);
      if (input.rejects.count > 0 && options.skipInvalid !== true) sink.refuse();
      await (input.batchesAsk === true ? sink.flush() : sink.flushIfFull());
      long.onRows(reader.rowsRead);
    }
    await sink.flush();
    if (options.covers !== undefined) await reader.cover(options.covers());
  } finally {
    await sink.waitForCopy();
  }
  await directory.finish();
  input.notes.push(...directory.notes());
  return reader;
}

function seriesInFile(reader: LongReader, sink: PointSink): SeriesInFile[] {
  const seriesNos = new Set([...sink.direct.keys(), ...reader.coveredSeries]);
  return [...seriesNos].map((seriesNo) => sink.direct.get(seriesNo) ?? withoutPoints(seriesNo));
}

/** If a vintage has a point several times, all rows but the first are rejected, even if the values are equal. */
async function refuseDuplicates(
  on: Transaction,
  stage: 'load_points' | 'load_rows',
  { rejects, lineOf }: LongInput,
): Promise<void> {
  for (const duplicate of await rejectDuplicatePoints(on, stage)) {
    const dims = Object.entries(duplicate.dims).map(([name, value]) => `, ${name} ${value}`);
    const expected =
      duplicate.line === duplicate.first_line
        ? 'one column per observation; another column of this line has the same series, date and dimensions'
        : `one row per observation; line ${lineOf(duplicate.first_line)} has the same series, date and dimensions`;
    rejects.add(
      duplicate.line,
      'row',
      `${duplicate.series_id}, ${duplicate.date}${dims.join('')}`,
      `${expected} (is a dimension column missing, or the frequency higher?)`,
    );
  }
}

/** Stores each vintage of a file with a vintage column as a load of its own. @returns the counts of each load. */
async function storeVintages(
  on: Transaction,
  record: Omit<LoadRow, 'loadNo' | 'vintage'> & { dataset: string; sourceName: string },
): Promise<Map<number, LoadCounts>> {
  await createPlaces(on);
  const earlier = await planVintages(on, record);
  const stored = new Map<number, LoadCounts>();
  if (earlier.length > 0) await indexVintages(on);
  for (const { vintage, loadNo } of earlier) {
    await stageVintage(on, vintage);
    stored.set(loadNo, await storeVintage(on, { ...record, vintage, loadNo }, []));
  }
  for (const { loadNo, ...counts } of await storeFollowing(on, record.complete))
    stored.set(loadNo, sumOf([counts, stored.get(loadNo) ?? noCounts]));
  return stored;
}

function sumOf(all: readonly LoadCounts[]): LoadCounts {
  const sum = { ...noCounts };
  for (const counts of all)
    for (const name of Object.keys(sum) as (keyof LoadCounts)[]) sum[name] += counts[name];
  return sum;
}

async function storeVintage(
  on: Transaction,
  load: LoadRow,
  fileSeries: readonly SeriesInFile[],
): Promise<LoadCounts> {
  const series = await findLoadSeries(on, load, fileSeries);
  if (series.known > 0) await compareWithLive(on, load);
  if (series.backfill > 0) await compareWithVintage(on, load);
  const counts = await sumChanges(on);
  await noteChanged(on, load.loadNo);
  if (!load.complete && counts.pointsUnchanged > 0) await insertConfirmations(on, load);
  if (series.fresh > 0) await storeFresh(on, load);
  await storeDifference(on, load, series);
  return series.backfill > 0 ? refoldBackfill(on, load, counts) : counts;
}
