// The result of a load as JSON: its counts, or why it failed. Used by releases, retractions, uploads and sources.
import { IngestFailure } from '../failure.ts';
import { interruptionsToJson } from './lock/give-way-to-release.ts';
import type { LoadSummary } from './store/load-options.ts';
import type { LoadCounts } from './store/load-record.sql.ts';

/** The changes of a load, as JSON. */
export const pointCounts = ({ pointsNew, pointsRevised, pointsUnchanged, pointsDeleted }: LoadCounts) => ({
  points_new: pointsNew,
  points_revised: pointsRevised,
  points_unchanged: pointsUnchanged,
  points_deleted: pointsDeleted,
});

/** The counts of a load, as in `almanac ingest --json`. */
export function reportOf(summary: LoadSummary) {
  return {
    rows_read: summary.rowsRead,
    ...pointCounts(summary),
    rows_rejected: summary.rowsRejected,
    rows_skipped: summary.rowsSkipped,
    seconds: summary.seconds,
    rejects: summary.rejects,
    notes: summary.notes,
    ...interruptionsToJson(summary.interruptions),
  };
}

const rejectsMax = 20;

/** Why a load failed. */
export function failureReport(error: unknown) {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof IngestFailure)) return { code: 'internal', message };
  const { code, rowsRejected, rejects } = error;
  return { code, message, rows_rejected: rowsRejected, rejects: rejects.slice(0, rejectsMax) };
}
