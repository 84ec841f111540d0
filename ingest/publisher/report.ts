// What is told of a load under embargo: the counts of its check or of its release, or why it failed.
import { IngestFailure } from '../load/failure.ts';
import type { LoadSummary } from '../load/load-options.ts';

/** The counts of a load, as `almanac ingest --json` has them. */
export function reportOf(summary: LoadSummary) {
  return {
    rows_read: summary.rowsRead,
    points_new: summary.pointsNew,
    points_revised: summary.pointsRevised,
    points_unchanged: summary.pointsUnchanged,
    points_deleted: summary.pointsDeleted,
    rows_rejected: summary.rowsRejected,
    rows_skipped: summary.rowsSkipped,
    seconds: summary.seconds,
    rejects: summary.rejects,
    notes: summary.notes,
  };
}

const rejectsMax = 20;

/** Why a release failed. */
export function failureReport(error: unknown) {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof IngestFailure)) return { code: 'internal', message };
  const { code, rowsRejected, rejects } = error;
  return { code, message, rows_rejected: rowsRejected, rejects: rejects.slice(0, rejectsMax) };
}
