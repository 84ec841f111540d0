// Retracts a load: from today on the data are as if it had not been loaded, or, erased, as if it never had been. A retraction is itself a
// load, and can be retracted. All loads of a file, one for each of its vintages, are retracted together.
import { usualFirstMonth } from '../../../domain/funds/returns.ts';
import type { Transaction } from '../../../kernel/database.ts';
import { fail } from '../../../kernel/errors.ts';
import { datasetNamed } from '../../datasets/datasets.ts';
import { emitPointEvents, emitRowEvents } from '../../load/events/load-events.ts';
import { createChanged, noteChanged } from '../../load/events/series-events.sql.ts';
import { createHistory } from '../../load/store/recount-vintages.sql.ts';
import {
  interruptionsToJson,
  type Interruption,
  type Transacting,
} from '../../load/lock/give-way-to-release.ts';
import { createDifference, findLoadSeries } from '../../load/store/store-difference.sql.ts';
import { createStage } from '../../load/store/stage.sql.ts';
import {
  createTotals,
  finishLoads,
  insertLoad,
  noCounts,
  sumChanges,
  type LoadCounts,
  type LoadRow,
} from '../../load/store/load-record.sql.ts';
import { pointCounts } from '../../load/load-report.ts';
import { storeDifference } from '../../load/store/store-difference.ts';
import { insertAuditEvent } from '../audit.sql.ts';
import { changeUnderLock, type ChangeSettings } from '../change-under-lock.ts';
import { refold } from '../../load/points/refold.ts';
import {
  countFoldedSeries,
  findLaterVintage,
  recordErasedFrom,
  setErased,
  setActive,
  type LoadsOfFile,
} from './retract.sql.ts';
import { retractRows } from './retract-rows.ts';
import { findLoads, unretractableBecause } from './retractable.ts';
import {
  findFoldChanges,
  forgetStatements,
  invalidateEarlierStates,
} from '../../load/store/rewrite-history.sql.ts';
import { createFold, findPointsOf, foldAt } from '../../load/store/stated-values.sql.ts';

export interface RetractOptions extends ChangeSettings {
  loadNo: number;
  /** Erases: the history too is as if the load had not been made. */
  erase?: boolean;
  fiscalYearFirstMonth?: number;
}

/** As it is stored. */
interface Retracted extends LoadCounts {
  /** The load number of the retraction. */
  loadNo: number;
  dataset: string;
  /** The loads that it deactivates or reactivates. */
  loads: number[];
  /** `in_force`: it retracts a retraction. */
  effect: 'out_of_force' | 'in_force' | 'erased';
  /** From this day on the data are changed. */
  since: string;
}

export interface Retraction extends Retracted {
  interruptions: readonly Interruption[];
}

/** A retraction as JSON. */
export const retractionReport = (result: Retraction, isDryRun: boolean) => ({
  dry_run: isDryRun,
  ...(isDryRun ? {} : { load: result.loadNo }),
  loads: result.loads,
  effect: result.effect,
  since: result.since,
  ...pointCounts(result),
  ...interruptionsToJson(result.interruptions),
});

/**
 * Retracts the load. After it resolves, every call that begins sees the retraction.
 * @throws Failure `not_found`, or `conflict` if the load cannot be retracted in its present state; then nothing is changed.
 */
export function retract(database: Transacting, options: RetractOptions): Promise<Retraction> {
  return changeUnderLock(database, options, (on, today) => retractWithin(on, today, options));
}

async function retractWithin(on: Transaction, today: string, options: RetractOptions): Promise<Retracted> {
  const { erase = false, reason = null, clock } = options;
  const now = clock.now();
  const load =
    (await findLoads(on, [options.loadNo])).get(options.loadNo) ??
    fail('not_found', `There is no load ${options.loadNo}.`);
  const because = unretractableBecause(load, { erase, today });
  if (because !== null) fail('conflict', because);
  const dataset = datasetNamed(load.dataset);
  const loadNo = await insertLoad(on, {
    ...{ dataset: load.dataset, sourceName: load.source_name, vintage: today, erases: erase, reason },
    retracts: load.retracts === null ? load.fileLoadNo : load.load_no,
  });
  const row: LoadRow = { loadNo, vintage: today, complete: false };
  const { loadNos } = load;

  const { fiscalYearFirstMonth = usualFirstMonth } = options;
  const day = { now, today, fiscalYearFirstMonth };
  const counts =
    dataset.kind === 'table'
      ? await retractRows(on, dataset, { file: load, retraction: loadNo, day })
      : await retractPoints(on, row, load, erase);
  await finishLoads(on, new Map([[loadNo, counts]]), { rowsRead: 0, rowsRejected: 0 });
  const reported = { ...options, dataset: dataset.name, isRelease: false };
  if (dataset.kind === 'table') await emitRowEvents(on, { loadNo, dataset: dataset.name, at: now }, counts);
  else await emitPointEvents(on, new Map([[loadNo, counts]]), counts, reported);
  const effect = erase ? 'erased' : load.isOutOfForce ? 'in_force' : 'out_of_force';
  await insertAuditEvent(on, {
    action: 'load.retracted',
    subject: String(load.load_no),
    loadNo,
    reason,
    details: { loads: loadNos, effect },
  });
  return {
    ...counts,
    loadNo,
    dataset: dataset.name,
    loads: loadNos,
    effect,
    since: erase ? load.firstVintage : today,
  };
}

async function retractPoints(
  on: Transaction,
  row: LoadRow,
  file: LoadsOfFile,
  erase: boolean,
): Promise<LoadCounts> {
  const { loadNos } = file;
  await createTables(on);
  const points = await findPointsOf(on, loadNos);
  if (erase) await setErased(on, loadNos, row.loadNo);
  else await setActive(on, { loadNos, day: row.vintage, isActive: file.isOutOfForce });
  return erase ? eraseHistory(on, row, file, points) : storeFold(on, row, points);
}

async function createTables(on: Transaction): Promise<void> {
  await createStage(on);
  await createDifference(on);
  await createHistory(on);
  await createTotals(on);
  await createChanged(on);
  await createFold(on);
}

/** Stores the state of the active loads as of today, as a load does. */
async function storeFold(on: Transaction, row: LoadRow, points: number): Promise<LoadCounts> {
  const later = await findLaterVintage(on, row.vintage);
  if (later !== undefined)
    fail(
      'conflict',
      `${later.series_id} has a vintage of ${later.vintage}, which is after today, ${row.vintage} (SERIES_TIME_ZONE).`,
    );
  await foldAt(on, row.vintage);
  const series = await findLoadSeries(on, row, await countFoldedSeries(on));
  await findFoldChanges(on);
  const counts = await sumChanges(on);
  await noteChanged(on, row.loadNo);
  await storeDifference(on, row, series);
  return { ...counts, pointsUnchanged: unchangedOf(points, counts) };
}

async function eraseHistory(
  on: Transaction,
  row: LoadRow,
  { loadNos, firstVintage }: LoadsOfFile,
  points: number,
): Promise<LoadCounts> {
  await recordErasedFrom(on);
  const counts = await refold(on, row, firstVintage);
  await forgetStatements(on, loadNos);
  if (counts === null) return { ...noCounts, pointsUnchanged: points };
  await invalidateEarlierStates(on, row.loadNo);
  const { pointsNew, pointsRevised, pointsDeleted } = counts;
  return { pointsNew, pointsRevised, pointsDeleted, pointsUnchanged: unchangedOf(points, counts) };
}

const unchangedOf = (points: number, { pointsNew, pointsRevised, pointsDeleted }: LoadCounts): number =>
  points - pointsNew - pointsRevised - pointsDeleted;
