// Changes series by the command line, in one transaction under the load lock; the change is a load of its own, recorded and reported like a
// load of metadata.
import { instantText } from '../../../kernel/clock.ts';
import type { Transaction } from '../../../kernel/database.ts';
import { fail } from '../../../kernel/errors.ts';
import { emitRowEvents } from '../../load/events/load-events.ts';
import { reportUpdate } from '../../load/events/updates.sql.ts';
import type { Interruption, Transacting } from '../../load/lock/give-way-to-release.ts';
import { refreshSearch } from '../../load/store/after-series-change.sql.ts';
import { finishLoads, insertLoad, noCounts } from '../../load/store/load-record.sql.ts';
import { insertAuditEvents, type AuditEvent } from '../audit.sql.ts';
import { changeUnderLock, type ChangeSettings } from '../change-under-lock.ts';
import { allIdsOf, findById, type FoundSeries } from './change.sql.ts';

export interface ChangeOptions extends ChangeSettings {
  /** The present id of the series. */
  id: string;
}

export interface SeriesChange {
  /** The load number of the change. */
  loadNo: number;
  /** The id of the series after the change. */
  series: string;
  interruptions: readonly Interruption[];
}

/** The input of the change: the series, locked until the end, and the number of the load that changes it. */
export interface ChangeContext {
  on: Transaction;
  series: FoundSeries;
  loadNo: number;
  today: string;
}

/** The description of the change, for the record. */
interface Changed {
  /** The id of the series after it. */
  series: string;
  details: Readonly<Record<string, unknown>>;
  update?: SeriesUpdate;
}

/** The updates for readers, besides that a row of the dataset `series` changed. */
type SeriesUpdate =
  { type: 'series.deleted' | 'series.restored' } | { type: 'series.renamed'; from: string; to: string };

/**
 * Changes the series. After it resolves, every call that begins sees the change.
 * @param work.find finds the series; default: one by its present id. @param work.refuse runs before anything is written.
 * @throws Failure `not_found`, or that of `refuse`; then nothing is changed.
 */
export async function changeSeries(
  database: Transacting,
  action: AuditEvent['action'],
  options: ChangeOptions,
  work: {
    find?: (on: Transaction, id: string) => Promise<FoundSeries>;
    refuse: (series: FoundSeries, on: Transaction) => Promise<void> | void;
    apply: (change: ChangeContext) => Promise<Changed>;
  },
): Promise<SeriesChange> {
  const { id } = options;
  const { result, ...load } = await changeByLoad(database, { action, sourceName: action }, options, {
    async find(on) {
      const series = await (work.find ?? requireById)(on, id);
      await work.refuse(series, on);
      return series;
    },
    async apply(series, change) {
      const { series: after, ...changed } = await work.apply({ ...change, series });
      return { result: after, changed: [{ seriesNo: series.seriesNo, subject: id, ...changed }] };
    },
  });
  return { ...load, series: result };
}

/** A changed series, for the record. */
interface ChangedSeries {
  seriesNo: number;
  /** Its id before the change. */
  subject: string;
  details: Readonly<Record<string, unknown>>;
  update?: SeriesUpdate;
}

/** The change of any number of series as one load. */
export interface LoadOfChanges<Found, Result> {
  /** Runs before anything is written. */
  find: (on: Transaction) => Promise<Found>;
  apply: (
    found: Found,
    change: Omit<ChangeContext, 'series'>,
  ) => Promise<{ result: Result; changed: readonly ChangedSeries[] }>;
}

/**
 * Changes series by one load, in one transaction. After it resolves, every call that begins sees the changes.
 * @param record.sourceName of the load. @throws what `find` and `apply` throw; then nothing is changed.
 */
export function changeByLoad<Found, Result>(
  database: Transacting,
  record: { action: AuditEvent['action']; sourceName: string },
  settings: ChangeSettings,
  { find, apply }: LoadOfChanges<Found, Result>,
): Promise<Pick<SeriesChange, 'loadNo' | 'interruptions'> & { result: Result }> {
  const { reason = null, clock } = settings;
  const { action, sourceName } = record;
  return changeUnderLock(database, settings, async (on, today) => {
    const found = await find(on);
    const loadNo = await insertLoad(on, { dataset: 'series', vintage: today, sourceName, reason });
    const { result, changed } = await apply(found, { on, loadNo, today });
    await refreshSearch(
      on,
      changed.map(({ seriesNo }) => seriesNo),
    );
    const counts = { ...noCounts, pointsRevised: changed.length };
    await finishLoads(on, new Map([[loadNo, counts]]), { rowsRead: 0, rowsRejected: 0 });
    const at = clock.now();
    await emitRowEvents(on, { loadNo, dataset: 'series', at }, counts);
    await reportUpdates(on, { loadNo, at }, changed);
    await insertAuditEvents(on, { action, loadNo, reason }, changed);
    return { loadNo, result };
  });
}

async function reportUpdates(
  on: Transaction,
  { loadNo, at }: { loadNo: number; at: Date },
  changed: readonly ChangedSeries[],
): Promise<void> {
  const load = { load: loadNo, published_at: instantText(at) };
  for (const { seriesNo, update } of changed) {
    if (update === undefined) continue;
    const { type, ...data } = update;
    const series = await allIdsOf(on, seriesNo);
    await reportUpdate(on, { type, series, data: { ...load, ...data }, at });
  }
}

/** @throws Failure `not_found`; `conflict` for an earlier id, as a caller who changes a series should know its present id. */
export async function requireById(on: Transaction, id: string): Promise<FoundSeries> {
  const series = await findById(on, id);
  if (series === undefined) fail('not_found', noSeries(id));
  const because = earlierIdBecause(id, series);
  if (because !== null) fail('conflict', because);
  return series;
}

export const noSeries = (id: string): string => `There is no series "${id}".`;

/** Why the series cannot be changed by the id; null if it is its present one. */
export const earlierIdBecause = (id: string, series: Pick<FoundSeries, 'id'>): string | null =>
  series.id === id ? null : `"${id}" is an earlier id of the series "${series.id}": give its present one.`;

/** Why a deleted series cannot be changed; null if it is not deleted. */
export const deletedBecause = ({ id, deletedOn }: Pick<FoundSeries, 'id' | 'deletedOn'>): string | null =>
  deletedOn === null ? null : `"${id}" was deleted on ${deletedOn}. Restore it with almanac series restore.`;

/** @throws Failure `conflict` if the series is deleted. */
export function refuseDeleted(series: FoundSeries): void {
  const because = deletedBecause(series);
  if (because !== null) fail('conflict', because);
}
