// A release as JSON, for "almanac releases --json" and the API for operators.
import type { HistoryEntry, Release } from './embargo.sql.ts';

/** By how much the release was late, in ms. */
export function lateBy({ state, at, endedAt }: Release): number {
  return state === 'released' && at !== null && endedAt !== null ? endedAt.getTime() - at.getTime() : 0;
}

/** A release in a list. */
export function releaseReport(release: Release) {
  return {
    release: release.releaseNo,
    state: release.held === null ? release.state : ('held' as const),
    held_because: release.held,
    release_at: release.at?.toISOString() ?? null,
    release_with: release.calendarId,
    dataset: release.dataset,
    source_name: release.sourceName,
    options: release.options,
    lead_seconds: release.leadMs / 1000,
    file_bytes: release.fileBytes,
    file_sha256: release.fileSha256,
    checked: release.checked,
    accepted_at: release.createdAt.toISOString(),
    ended_at: release.endedAt?.toISOString() ?? null,
    late_seconds: lateBy(release) / 1000,
    outcome: release.outcome,
  };
}

/** An entry in the history of a release. */
export function historyReport({ at, event, actor, detail }: HistoryEntry) {
  return { at: at.toISOString(), event, actor, detail };
}
