// A change of one series by the command line: a load of its own, recorded and told of like a load of metadata.
// Hides the transaction, the lock of the loads, and when the change is in force.
import { onOneDay, type Clock } from '../../../kernel/clock.ts';
import type { Transaction } from '../../../kernel/database.ts';
import { fail } from '../../../kernel/errors.ts';
import { tellOfRows } from '../../load/events/load-events.ts';
import { inForce } from '../../load/load.ts';
import {
  startingAgain,
  underLoadLock,
  type Interruption,
  type LockOptions,
  type Transacting,
} from '../../load/store/interruptible.ts';
import { refreshSearch } from '../../load/store/shown-facts.sql.ts';
import { finishLoads } from '../../load/store/statements.sql.ts';
import { insertAuditEvent, type AuditEvent } from '../retract/audit.sql.ts';
import { findById, insertSeriesLoad, type FoundSeries } from './change.sql.ts';

export interface ChangeOptions extends LockOptions {
  /** The present id of the series. */
  id: string;
  /** Rolls back everything at the end. */
  dryRun?: boolean | undefined;
  reason?: string;
  /** As in a load. */
  seriesTimeZone: string;
  clock: Clock;
  noGateway?: boolean;
}

export interface SeriesChange {
  /** Of the change, as a load. */
  loadNo: number;
  /** The id of the series after it. */
  series: string;
  interruptions: readonly Interruption[];
}

/** What the work is given: the series, locked until the end, and the number of the load that changes it. */
export interface ChangeUnderWay {
  on: Transaction;
  series: FoundSeries;
  loadNo: number;
  today: string;
}

/** What was changed, for the record. */
interface Changed {
  /** The id of the series after it. */
  series: string;
  details: Readonly<Record<string, unknown>>;
}

/**
 * Changes the series; when it resolves, no call that begins later is answered from before.
 * @param work.find the series; one by its present id unless given. @param work.refuse runs before anything is written. @throws Failure `not_found`, or that of `refuse`; then nothing is changed.
 */
export async function changeSeries(
  database: Transacting,
  action: AuditEvent['action'],
  options: ChangeOptions,
  work: {
    find?: (on: Transaction, id: string) => Promise<FoundSeries>;
    refuse: (series: FoundSeries, on: Transaction) => Promise<void> | void;
    apply: (change: ChangeUnderWay) => Promise<Changed>;
  },
): Promise<SeriesChange> {
  const { id, dryRun = false, reason = null, clock } = options;
  const result = await startingAgain(database, options, (interruptions, onWaiting) =>
    onOneDay(options, (dated) =>
      underLoadLock(database, { dryRun, onWaiting }, async (on) => {
        const series = await (work.find ?? requireById)(on, id);
        await work.refuse(series, on);
        const today = dated.begin();
        const loadNo = await insertSeriesLoad(on, { vintage: today, sourceName: action, reason });
        const changed = await work.apply({ on, series, loadNo, today });
        await refreshSearch(on, [series.seriesNo]);
        const counts = { pointsNew: 0, pointsRevised: 1, pointsUnchanged: 0, pointsDeleted: 0 };
        await finishLoads(on, new Map([[loadNo, counts]]), { rowsRead: 0, rowsRejected: 0 });
        await tellOfRows(on, { loadNo, dataset: 'series', at: clock.now() }, counts);
        await insertAuditEvent(on, { action, subject: id, loadNo, reason, details: changed.details });
        if (!dryRun) dated.end();
        return { loadNo, series: changed.series, interruptions };
      }),
    ),
  );
  if (!dryRun && options.noGateway !== true) await inForce();
  return result;
}

/** @throws Failure `not_found`; `conflict` for an earlier id, as whoever changes a series should know what it is called. */
export async function requireById(on: Transaction, id: string): Promise<FoundSeries> {
  const series = (await findById(on, id)) ?? fail('not_found', `There is no series "${id}".`);
  if (series.id !== id)
    fail('conflict', `"${id}" is an earlier id of the series "${series.id}": give its present one.`);
  return series;
}

/** @throws Failure `conflict` if the series is deleted. */
export function refuseDeleted({ id, deletedOn }: FoundSeries): void {
  if (deletedOn !== null)
    fail('conflict', `"${id}" was deleted on ${deletedOn}. almanac series restore brings it back.`);
}
