// Decides whether a load can be retracted, and if not, why. Retractions and the lists of loads use the same rule.
import type { Queryable } from '../../../kernel/database.ts';
import type { Dataset } from '../../datasets/dataset.ts';
import { datasetNames, datasetNamed } from '../../datasets/datasets.ts';
import { findRetractableLoads, type RetractableLoad } from './retract.sql.ts';

const retractableTables = datasetNames.filter((name) => datasetNamed(name).retractable === true);

/** The loads of those numbers, by number. */
export async function findLoads(
  on: Queryable,
  loadNos: readonly number[],
): Promise<Map<number, RetractableLoad>> {
  const found = await findRetractableLoads(on, loadNos, retractableTables);
  return new Map(found.map((load) => [load.load_no, load]));
}

/**
 * Returns why the load cannot be retracted in this way, and what to do instead; null if it can. Whether a table's rows would lack required columns is
 * found only when they are stored (retract-rows.ts).
 * @param today in the publisher's time zone.
 */
export function unretractableBecause(
  load: RetractableLoad,
  { erase, today }: { erase: boolean; today: string },
): string | null {
  const { load_no: number, dataset: name } = load;
  if (!datasetNames.includes(name))
    return `Load ${number} is of the dataset ${name}, which this version does not know.`;
  const dataset = datasetNamed(name);
  const because = dataset.kind === 'table' ? ofTable(load, dataset, erase) : null;
  return because ?? ofState(load, erase) ?? ofStatements(load, today);
}

function ofTable({ load_no: number, loadNos, unkept }: RetractableLoad, dataset: Dataset, erase: boolean) {
  const [which, { name }] = [`Load ${number}`, dataset];
  if (dataset.retractable !== true) return `${which} ${insteadOf(dataset)}`;
  if (erase)
    return `${which} is of the dataset ${name}, whose earlier states are not served: retract it without erasing it.`;
  if (unkept === null) return null;
  const whose = loadNos.includes(unkept) ? 'It' : `Load ${unkept}, which came after it,`;
  return (
    `${which} cannot be retracted. ${whose} was made by a version of Almanac that did not store the rows that a load of ${name} replaces. ` +
    'Load the earlier file again.'
  );
}

/** The alternative to retracting a load of the dataset. */
function insteadOf({ name, whole }: Dataset): string {
  const of = `is of the dataset ${name}`;
  if (whole !== undefined)
    return `${of}, where each file replaces all rows of its ${whole.join(' and ')}: it cannot be retracted. Load the earlier file again.`;
  if (name === 'calendar')
    return `${of}, whose entries are cancelled, not removed: it cannot be retracted. Load them with the status cancelled, or the earlier file again.`;
  return `${of}, to whose rows other rows refer: it cannot be retracted. Load the earlier file again.`;
}

function ofState(load: RetractableLoad, erase: boolean): string | null {
  const { load_no: number, retracts, erasedBy, lastRetraction, isOutOfForce } = load;
  const which = `Load ${number}`;
  if (erasedBy !== null) {
    const by = erasedBy === number ? 'it' : `load ${erasedBy}`;
    const what = retracts === null ? 'it' : `load ${load.fileLoadNo}`;
    return `${which} cannot be retracted: ${by} has erased ${what}. Load the file again.`;
  }
  if (retracts !== null && erase)
    return `${which} is a retraction, which has no points of its own to erase. It can be retracted without erasing it.`;
  if (retracts !== null && lastRetraction !== number)
    return `${which} is no longer current: load ${lastRetraction} came after it.`;
  if (retracts === null && isOutOfForce && !erase)
    return `${which} is already retracted, by load ${lastRetraction}. Retract that load to restore it, or erase load ${number}.`;
  return null;
}

function ofStatements(load: RetractableLoad, today: string): string | null {
  const { load_no: number, lastVintage, unknownRestatements } = load;
  const which = `Load ${number}`;
  if (lastVintage > today)
    return `${which} has the vintage ${lastVintage}, which is after today, ${today} (SERIES_TIME_ZONE).`;
  if (unknownRestatements.length === 0) return null;
  return (
    `${which} was made by a version of Almanac that did not record which points a load repeats unchanged. Other loads of its vintage (${unknownRestatements.join(', ')}) ` +
    `repeated some, so the values without load ${number} are unknown. Load the earlier file with a new vintage.`
  );
}
