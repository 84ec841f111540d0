// Loads observations: rows become staged points, each vintage is compared with what stands and stored.
import type { Transaction } from '../kernel/database.ts';
import { dateReader, PointDates } from './dates.ts';
import type { LoadInput, LoadOptions, LoadResult } from './load.ts';
import { checkVintage, LongReader, planLong } from './long.ts';
import type { PointContext, PointReader } from './points.ts';
import {
  compareWithLive,
  compareWithStanding,
  createDifference,
  findLoadSeries,
  storeChanges,
  storeFresh,
  type LoadRow,
} from './revise.sql.ts';
import { SeriesDirectory } from './series-directory.ts';
import { CopyBuffer, createStage, stagedVintages, stageVintage, takeDuplicates } from './stage.sql.ts';
import {
  analyzeIfGrown,
  createTotals,
  finishLoad,
  insertConfirmations,
  insertLoad,
  insertVintages,
  narrowConfirmations,
  sumChanges,
  updateSeries,
  type LoadCounts,
} from './statements.sql.ts';
import { valueReader } from './values.ts';
import { planWide, WideReader } from './wide.ts';

/** @throws IngestFailure where a row is refused and the load does not skip such. */
export async function loadPoints(
  on: Transaction,
  input: LoadInput,
  options: LoadOptions,
): Promise<LoadResult> {
  await createStage(on);
  const { reader, manyVintages } = await stagePoints(on, input, options);
  await createDifference(on);
  await createTotals(on);
  const vintages = manyVintages ? await stagedVintages(on) : [input.vintage];
  const sum: LoadCounts = { points_new: 0, points_revised: 0, points_unchanged: 0, points_deleted: 0 };
  for (const vintage of vintages) {
    if (manyVintages) await stageVintage(on, vintage);
    if (reader.mayRepeat) await refuseDuplicates(on, input);
    if (input.rejects.count > 0 && options.skipInvalid !== true) continue; // only to name the other duplicates
    const load = {
      dataset: options.dataset,
      sourceName: options.sourceName ?? (typeof options.input === 'string' ? options.input : '-'),
      vintage,
      complete: options.full === true,
    };
    const loadNo = await insertLoad(on, load);
    const counts = await storeVintage(on, { ...load, loadNo }, [...reader.seriesWithoutPoints]);
    await finishLoad(on, loadNo, {
      ...counts,
      rows_read: reader.rowsRead,
      rows_rejected: input.rejects.count,
    });
    for (const name of Object.keys(sum) as (keyof LoadCounts)[]) sum[name] += counts[name];
  }
  if (options.skipInvalid !== true) input.rejects.throwIfAny();
  await analyzeIfGrown(on, sum.points_new + sum.points_revised);
  return { ...sum, rows_read: reader.rowsRead };
}

/** Reads the whole file into load_points, or into load_rows where its rows name their vintage. */
async function stagePoints(
  on: Transaction,
  input: LoadInput,
  options: LoadOptions,
): Promise<{ reader: PointReader; manyVintages: boolean }> {
  const create = options.create === true;
  const wide = options.wide === true ? planWide(input.header, { ...options, create }) : null;
  const long = wide === null ? planLong(input.header, { ...options, create }) : null;
  if (long !== null) checkVintage(long, input.vintageGiven ? input.vintage : undefined);
  const manyVintages = long !== null && long.vintage !== null;

  const names = (wide ?? long)?.dimensions.map(({ name }) => name) ?? [];
  const context: PointContext = {
    directory: new SeriesDirectory(on, names, create),
    buffer: new CopyBuffer(on, manyVintages ? 'load_rows' : 'load_points'),
    rejects: input.rejects,
    dates: new PointDates(dateReader(options.dateFormat)),
    dateFormat: options.dateFormat,
    values: valueReader(options),
    valueOptions: options,
    headerLine: input.headerLine,
    create,
  };
  const reader =
    wide === null
      ? new LongReader(long ?? planLong(input.header, { ...options, create }), context, input.today)
      : new WideReader(wide, context);
  try {
    for await (const batch of input.batches) {
      await reader.read(batch);
      await context.buffer.flushIfFull();
      input.onRows(reader.rowsRead);
    }
    await context.buffer.flush();
  } finally {
    await context.buffer.settle();
  }
  await context.directory.finish();
  return { reader, manyVintages };
}

/** A point that a vintage states twice is refused from its second row on, whether or not the values agree. */
async function refuseDuplicates(on: Transaction, input: LoadInput): Promise<void> {
  for (const duplicate of await takeDuplicates(on)) {
    const dims = Object.entries(duplicate.dims).map(([name, value]) => `, ${name} ${value}`);
    input.rejects.add(
      duplicate.line,
      'row',
      `${duplicate.series_id}, ${duplicate.date}${dims.join('')}`,
      `one row a point; line ${duplicate.first_line} is the same point (has the file a dimension more, or a higher frequency?)`,
    );
  }
}

async function storeVintage(
  on: Transaction,
  load: LoadRow,
  seriesWithoutPoints: readonly number[],
): Promise<LoadCounts> {
  const series = await findLoadSeries(on, load, seriesWithoutPoints);
  if (series.known > 0) await compareWithLive(on, load);
  if (series.backfill > 0) await compareWithStanding(on, load);
  const counts = await sumChanges(on);
  if (!load.complete && counts.points_unchanged > 0) await insertConfirmations(on, load);
  if (series.backfill > 0) await narrowConfirmations(on, load);
  if (series.fresh > 0) await storeFresh(on, load);
  if (series.known > 0 || series.backfill > 0) await storeChanges(on, load);
  await insertVintages(on, load);
  await updateSeries(on, load);
  return counts;
}
