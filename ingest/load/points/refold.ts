// Rewrites the stored history of points to match the active loads: after a load is erased, and after a vintage is loaded that is older than a
// retraction, where the value of later days comes from the remaining loads.
import type { Transaction } from '../../../kernel/database.ts';
import { addDays } from '../../../kernel/dates.ts';
import { noteChanged } from '../events/series-events.sql.ts';
import { countChanges, mergeRows, recountVintages } from '../store/recount-vintages.sql.ts';
import type { LoadRow } from '../store/load-record.sql.ts';
import { insertVintages, sumChanges, updateSeries, type LoadCounts } from '../store/load-record.sql.ts';
import { findRewritten, narrowPassedOver, rewriteRows } from '../store/rewrite-history.sql.ts';
import {
  createFold,
  findPointsOfBackfill,
  foldSince,
  hasRetractionsAfter,
  recordFolded,
} from '../store/stated-values.sql.ts';

/**
 * Rewrites the points of fold_points from a day on. @param load the load that causes the rewrite; its vintage is not used.
 * @returns the changes of the newest values; `others`: how many of the changed points the load itself had not changed.
 */
export async function refold(
  on: Transaction,
  load: LoadRow,
  day: string,
): Promise<(LoadCounts & { others: number }) | null> {
  await foldSince(on, day);
  const rewritten = await findRewritten(on);
  if (rewritten.points === 0) return null;
  const counts = await sumChanges(on);
  await noteChanged(on, load.loadNo);
  await recordFolded(on, load);
  await narrowPassedOver(on);
  const from = { ...load, vintage: day, complete: false };
  await countChanges(on, from, 'before');
  await rewriteRows(on, { loadNo: load.loadNo, day });
  await mergeRows(on);
  await countChanges(on, from, 'after');
  await insertVintages(on, { ...load, complete: false });
  await recountVintages(on, from);
  await updateSeries(on, load);
  return { ...counts, others: rewritten.others };
}

/**
 * Run after an old vintage was stored, if a load of one of its series was retracted on a later day: from that day on the old vintage may
 * supply the value. @returns the counts of the load, including the points that this changes.
 */
export async function refoldBackfill(
  on: Transaction,
  load: LoadRow,
  counts: LoadCounts,
): Promise<LoadCounts> {
  if (!(await hasRetractionsAfter(on, load))) return counts;
  await createFold(on);
  await findPointsOfBackfill(on, load);
  const refolded = await refold(on, load, addDays(load.vintage, 1));
  if (refolded === null) return counts;
  return {
    ...counts,
    pointsRevised: counts.pointsRevised + refolded.others,
    pointsUnchanged: counts.pointsUnchanged - refolded.others,
  };
}
