// The result of a load as JSON: its counts, or why it failed. Used by releases, retractions, uploads and sources.
import { z } from 'zod';
import { IngestFailure } from '../failure.ts';
import { interruptionsToJson } from './lock/give-way-to-release.ts';
import type { LoadSummary } from './store/load-options.ts';
import type { LoadCounts } from './store/load-record.sql.ts';

export const count = z.int().min(0);
/** The changes of a load. */
export const pointCountsSchema = {
  points_new: count,
  points_revised: count,
  points_unchanged: count,
  points_deleted: count,
};

export const interruptionsSchema = z
  .array(z.object({ release: z.int(), at: z.iso.datetime(), started_again_at: z.iso.datetime() }))
  .optional()
  .describe(
    'The releases that came due meanwhile: each interrupted the load, which restarted after the release. Absent: none.',
  );

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
