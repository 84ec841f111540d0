// Stores the changes of a load (load_changes), and updates what depends on them. A load into the past, or into a day that is stored, also
// recounts the vintages and records what it corrects.
import type { Transaction } from '../../../kernel/database.ts';
import { narrowConfirmations } from './confirmations.sql.ts';
import { countChanges, createHistory, mergeRows, recountVintages } from './recount-vintages.sql.ts';
import { storeChanges } from './store-difference.sql.ts';
import type { LoadRow } from './load-record.sql.ts';
import { insertVintages, updateSeries } from './load-record.sql.ts';
import { recordCorrected } from './stated-values.sql.ts';

/** @param series how many of load_series, by `findLoadSeries`. load_totals has the sums of load_changes. */
export async function storeDifference(
  on: Transaction,
  load: LoadRow,
  series: { known: number; backfill: number; rewrites: number },
): Promise<void> {
  if (series.rewrites > 0) {
    await createHistory(on);
    await recordCorrected(on, load);
    await narrowConfirmations(on, load);
    await countChanges(on, load, 'before');
  }
  if (series.known > 0 || series.backfill > 0) await storeChanges(on, load);
  if (series.rewrites > 0) {
    await mergeRows(on);
    await countChanges(on, load, 'after');
  }
  await insertVintages(on, load);
  if (series.rewrites > 0) await recountVintages(on, load);
  await updateSeries(on, load);
}
