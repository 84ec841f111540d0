// Loads observations: rows become staged points; each vintage is compared with the stored points, and the difference is stored.
import type { Transaction } from '../../kernel/database.ts';
import { createSpans, insertConfirmations, narrowConfirmations } from '../load/confirmations.sql.ts';
import { dateReader, PointDates } from '../files/dates.ts';
import type { LoadInput, LoadOptions, LoadResult } from '../load/load-options.ts';
import { checkVintage, LongReader, planLong } from './long.ts';
import { PointSink, type PointContext, type PointReader } from './points.ts';
import {
  compareWithLive,
  compareWithStanding,
  createDifference,
  findLoadSeries,
  storeChanges,
  storeFresh,
  type LoadRow,
  type SpokenOf,
} from '../load/revise.sql.ts';
import { SeriesDirectory } from './series-directory.ts';
import { createStage, stagedVintages, stageVintage, takeDuplicates } from '../load/stage.sql.ts';
import {
  analyzeIfGrown,
  createTotals,
  finishLoad,
  insertLoad,
  insertVintages,
  sumChanges,
  updateSeries,
  type LoadCounts,
} from '../load/statements.sql.ts';
import { valueReader } from '../files/values.ts';
import { planWide, WideReader } from './wide.ts';

/**
 * @param straight whether points of never published series may be stored directly in their table.
 * @throws IngestFailure if a row is refused and `skipInvalid` is not set.
 * @throws NotAscending if points were stored directly but must not be: load again without `straight`.
 */
export async function loadPoints(
  on: Transaction,
  input: LoadInput,
  options: LoadOptions,
  straight = false,
): Promise<LoadResult> {
  await createStage(on);
  await createDifference(on);
  await createTotals(on);
  await createSpans(on);
  const record = {
    dataset: options.dataset,
    sourceName: options.sourceName ?? (typeof options.input === 'string' ? options.input : '-'),
    complete: options.full === true,
  };
  const plan = planFile(input, options);
  const refuses = () => input.rejects.count > 0 && options.skipInvalid !== true;
  const loadOf = async (vintage: string) => {
    const load = { ...record, vintage };
    return { ...load, loadNo: await insertLoad(on, load) };
  };
  const first = plan.manyVintages ? null : await loadOf(input.vintage);
  const sink = new PointSink(on, plan.manyVintages ? 'load_rows' : 'load_points', straight ? first : null);
  const reader = await readPoints(on, plan, sink, input, options);

  const rowsRead = reader.rowsRead + (input.rowsRefused?.() ?? 0);
  const sum: LoadCounts = { pointsNew: 0, pointsRevised: 0, pointsUnchanged: 0, pointsDeleted: 0 };
  for (const vintage of first === null ? await stagedVintages(on) : [input.vintage]) {
    if (plan.manyVintages) await stageVintage(on, vintage);
    if (sink.mayRepeat) await refuseDuplicates(on, input);
    if (refuses()) continue; // only to report further duplicates
    const load = first ?? (await loadOf(vintage));
    const counts = await storeVintage(on, load, spokenOf(reader, sink));
    await finishLoad(on, load.loadNo, {
      ...counts,
      rowsRead,
      rowsRejected: input.rejects.count,
    });
    for (const name of Object.keys(sum) as (keyof LoadCounts)[]) sum[name] += counts[name];
  }
  if (refuses()) input.rejects.throwIfAny();
  await analyzeIfGrown(on, sum.pointsNew + sum.pointsRevised);
  return { ...sum, rowsRead };
}

interface FilePlan {
  dimensions: string[];
  manyVintages: boolean;
  readerOf: (context: PointContext) => PointReader;
}

function planFile(input: LoadInput, options: LoadOptions): FilePlan {
  const wishes = { ...options, create: options.create === true };
  if (options.wide === true) {
    const plan = planWide(input.header, wishes);
    return {
      dimensions: plan.dimensions.map(({ name }) => name),
      manyVintages: false,
      readerOf: (context) => new WideReader(plan, context),
    };
  }
  const plan = planLong(input.header, wishes);
  checkVintage(plan, input.vintageGiven ? input.vintage : undefined);
  return {
    dimensions: plan.dimensions.map(({ name }) => name),
    manyVintages: plan.vintage !== null,
    readerOf: (context) => new LongReader(plan, context, input.today),
  };
}

/** Reads the whole file into the sink. */
async function readPoints(
  on: Transaction,
  plan: FilePlan,
  sink: PointSink,
  input: LoadInput,
  options: LoadOptions,
): Promise<PointReader> {
  const directory = new SeriesDirectory(on, plan.dimensions, options.create === true);
  const reader = plan.readerOf({
    directory,
    sink,
    rejects: input.rejects,
    dates: new PointDates(dateReader(options.dateFormat)),
    dateFormat: options.dateFormat,
    values: valueReader(options),
    valueOptions: options,
    headerLine: input.headerLine,
    create: options.create === true,
  });
  try {
    for await (const batch of input.batches) {
      await reader.read(batch);
      if (input.rejects.count > 0 && options.skipInvalid !== true) sink.refuse();
      await (input.batchesAsk === true ? sink.flush() : sink.flushIfFull());
      input.onRows(reader.rowsRead);
    }
    await sink.flush();
  } finally {
    await sink.settle();
  }
  await directory.finish();
  return reader;
}

function spokenOf(reader: PointReader, sink: PointSink): SpokenOf {
  const none = { points: 0, pointsWithValue: 0, firstDate: null, lastDate: null };
  const seriesNos = [...new Set([...sink.direct.keys(), ...reader.seriesWithoutPoints])];
  const counts = seriesNos.map((seriesNo) => sink.direct.get(seriesNo) ?? none);
  return {
    seriesNos,
    points: counts.map((count) => count.points),
    pointsWithValue: counts.map((count) => count.pointsWithValue),
    firstDates: counts.map((count) => count.firstDate),
    lastDates: counts.map((count) => count.lastDate),
  };
}

/** If a vintage has a point several times, all rows but the first are refused, even if the values are equal. */
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

async function storeVintage(on: Transaction, load: LoadRow, spoken: SpokenOf): Promise<LoadCounts> {
  const series = await findLoadSeries(on, load, spoken);
  if (series.known > 0) await compareWithLive(on, load);
  if (series.backfill > 0) await compareWithStanding(on, load);
  const counts = await sumChanges(on);
  if (!load.complete && counts.pointsUnchanged > 0) await insertConfirmations(on, load);
  if (series.backfill > 0) await narrowConfirmations(on, load);
  if (series.fresh > 0) await storeFresh(on, load);
  if (series.known > 0 || series.backfill > 0) await storeChanges(on, load);
  await insertVintages(on, load);
  await updateSeries(on, load);
  return counts;
}
