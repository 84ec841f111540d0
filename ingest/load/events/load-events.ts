// Writes the events of a load (changed series, datasets and releases) in the load's transaction. A load that changes nothing writes no
// event.
import { instantText } from '../../../kernel/clock.ts';
import type { Transaction } from '../../../kernel/database.ts';
import { reportUpdate } from './updates.sql.ts';
import type { LoadOptions } from '../store/load-options.ts';
import type { LoadCounts } from '../store/load-record.sql.ts';
import { insertReleaseEvents } from './release-events.sql.ts';
import { insertSeriesEvents } from './series-events.sql.ts';

const hasChanged = ({ pointsNew, pointsRevised, pointsDeleted }: LoadCounts) =>
  pointsNew + pointsRevised + pointsDeleted > 0;

/** Writes the event of a load into a table dataset. @param at when it is published. */
export async function emitRowEvents(
  on: Transaction,
  { loadNo, dataset, at }: { loadNo: number; dataset: string; at: Date },
  counts: LoadCounts,
): Promise<void> {
  if (!hasChanged(counts)) return;
  const data = {
    load: loadNo,
    published_at: instantText(at),
    dataset,
    rows_new: counts.pointsNew,
    rows_changed: counts.pointsRevised,
    rows_deleted: counts.pointsDeleted,
  };
  await reportUpdate(on, { type: 'dataset.updated', series: null, data, at });
}

/**
 * Writes the events of a file of points; load_changed lists the changed series. Each series is reported once per file, with the newest load
 * that changed it: a history of 700 vintages would otherwise make 700 events.
 * @param stored the counts of each load of the file, by load_no. @param sum of those counts.
 */
export async function emitPointEvents(
  on: Transaction,
  stored: ReadonlyMap<number, LoadCounts>,
  sum: LoadCounts,
  {
    dataset,
    clock,
    seriesTimeZone,
    isRelease = true,
  }: Pick<LoadOptions, 'dataset' | 'clock' | 'seriesTimeZone' | 'isRelease'>,
): Promise<void> {
  if (!hasChanged(sum)) return;
  const at = clock.now();
  await insertSeriesEvents(on, at);
  if (isRelease) await insertReleaseEvents(on, at, seriesTimeZone);
  if (dataset === 'observations') return; // its events are those of its series
  const changing = [...stored].filter(([, counts]) => hasChanged(counts)).map(([loadNo]) => loadNo);
  await emitRowEvents(on, { loadNo: Math.max(...changing), dataset, at }, sum);
}
