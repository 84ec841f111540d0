// Retracts or restores loads of a table: its rows are recomputed from the active loads. A table has no vintages, so a retraction leaves
// it as if the load had not been made.
import type { Transaction } from '../../../kernel/database.ts';
import { fail } from '../../../kernel/errors.ts';
import type { Dataset } from '../../datasets/dataset.ts';
import { refreshFundFigures, type LoadDay } from '../../load/fund-figures.ts';
import { storedName } from '../../load/load-table.sql.ts';
import type { LoadCounts } from '../../load/store/load-record.sql.ts';
import { findLaterLoads, findStatedRows, foldRows, storeFold, type FoldedTable } from './fold-rows.sql.ts';
import { setActive, type LoadsOfFile } from './retract.sql.ts';

/** @param retraction the load number of the retraction. @returns the changes. */
export async function retractRows(
  on: Transaction,
  dataset: Dataset,
  { file, retraction, day }: { file: LoadsOfFile; retraction: number; day: LoadDay },
): Promise<LoadCounts> {
  const columns = dataset.columns.map(({ name }) => storedName(dataset, name));
  const key = dataset.key.map((name) => storedName(dataset, name));
  const table: FoldedTable = {
    ...{ dataset: dataset.name, target: dataset.target, key },
    others: columns.filter((name) => !key.includes(name)),
  };
  const { loadNos } = file;
  const rows = await findStatedRows(on, table, loadNos);
  await setActive(on, { loadNos, day: day.today, isActive: file.isOutOfForce });
  const later = await findLaterLoads(on, table, Math.max(...loadNos));
  await foldRows(on, table);
  const changed = await storedOrRefused(storeFold(on, table, retraction), later);
  if (dataset.ofFundFigures === true) await refreshFundFigures(on, day);
  const { pointsNew, pointsRevised, pointsDeleted } = changed;
  return { ...changed, pointsUnchanged: rows - pointsNew - pointsRevised - pointsDeleted };
}

/** A load may complete rows of another: without that, they may lack required columns or break a rule. */
async function storedOrRefused<T>(work: Promise<T>, later: readonly number[]): Promise<T> {
  try {
    return await work;
  } catch (error) {
    // Class 23: integrity constraints.
    if (!(error instanceof Error) || (error as NodeJS.ErrnoException).code?.startsWith('23') !== true)
      throw error;
    const first =
      later.length === 0
        ? 'First restore the retracted loads whose rows this load completes.'
        : `First retract the later loads that have the same rows: ${later.join(', ')}.`;
    return fail('conflict', `Some rows would lack required columns or break a rule. ${first}`, {
      detail: error,
    });
  }
}
