// Takes loads of a table back, or puts them into force again: the rows are then what the loads in force state. A table has no vintages, so
// it is as if the load had not been made. Hides which tables can be: those whose rows nothing else names.
import type { Transaction } from '../../kernel/database.ts';
import { fail } from '../../kernel/errors.ts';
import type { Dataset, LoadDay } from '../datasets/dataset.ts';
import { storedName } from '../load/load-table.sql.ts';
import type { LoadCounts } from '../load/statements.sql.ts';
import {
  findLaterLoads,
  findStatedRows,
  findUnkept,
  foldRows,
  storeFold,
  type FoldedTable,
} from './fold-rows.sql.ts';
import { setInForce, type LoadsOfFile } from './retract.sql.ts';

/** @throws Failure `conflict` if the dataset cannot be retracted, or it is not known what its loads stated. */
export async function refuseRows(
  on: Transaction,
  dataset: Dataset,
  { loadNo, file, erase }: { loadNo: number; file: LoadsOfFile; erase: boolean },
): Promise<void> {
  const which = `Load ${loadNo}`;
  if (dataset.retractable !== true) fail('conflict', unretractableDataset(loadNo, dataset));
  if (erase)
    fail(
      'conflict',
      `${which} is of the dataset ${dataset.name}, of which no earlier state is answered: retract it without --erase.`,
    );
  const unkept = await findUnkept(on, dataset.name, file.loadNos);
  if (unkept === undefined) return;
  fail('conflict', notKept(loadNo, dataset, file.loadNos.includes(unkept) ? loadNo : unkept));
}

/** Why a load of a dataset that can be retracted cannot. @param unkept the load that is of an earlier version: itself, or one after it. */
export function notKept(loadNo: number, { name }: Dataset, unkept: number): string {
  const whose = unkept === loadNo ? 'It' : `Load ${unkept}, which came after it,`;
  return (
    `Load ${loadNo} cannot be retracted. ${whose} is of a version of Almanac that did not keep what loads of ${name} replace. ` +
    'Load the earlier file again.'
  );
}

/** Why no load of the dataset can be retracted. */
export const unretractableDataset = (loadNo: number, dataset: Dataset): string =>
  `Load ${loadNo} ${insteadOf(dataset)}`;

/** What to do instead of retracting a load of the dataset. */
function insteadOf({ name, whole }: Dataset): string {
  const of = `is of the dataset ${name}`;
  if (whole !== undefined)
    return `${of}, of which a file states all rows of a ${whole.join(' and ')}: it cannot be retracted. Load the earlier file again.`;
  if (name === 'calendar')
    return `${of}, whose entries are cancelled, not removed: it cannot be retracted. Load them with the status cancelled, or the earlier file again.`;
  return `${of}, whose rows describe what other rows name: it cannot be retracted. Load the earlier file again.`;
}

/** @param options.retraction the number of the retraction, as a load. @returns what it changes. */
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
  await setInForce(on, { loadNos, day: day.today, inForce: file.isOutOfForce });
  const later = await findLaterLoads(on, table, Math.max(...loadNos));
  await foldRows(on, table);
  const changed = await storedOrRefused(storeFold(on, table, retraction), later);
  await dataset.afterwards?.(on, day);
  const { pointsNew, pointsRevised, pointsDeleted } = changed;
  return { ...changed, pointsUnchanged: rows - pointsNew - pointsRevised - pointsDeleted };
}

/** A load may complete rows of another: alone, they lack what a row needs, or break a rule. */
async function storedOrRefused<T>(work: Promise<T>, later: readonly number[]): Promise<T> {
  try {
    return await work;
  } catch (error) {
    // Class 23: integrity constraints.
    if (!(error instanceof Error) || (error as NodeJS.ErrnoException).code?.startsWith('23') !== true)
      throw error;
    const first =
      later.length === 0
        ? 'Put the loads that it completes into force first.'
        : `Retract first the loads that came after it and state the same rows: ${later.join(', ')}.`;
    return fail('conflict', `Rows would be left incomplete, or contradict themselves. ${first}`, {
      detail: error,
    });
  }
}
