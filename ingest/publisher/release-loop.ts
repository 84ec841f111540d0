// The release loop of the publisher: makes releases as they become due, one group after another, until it is stopped. Several publishers
// may run: one prepares at a time, and another takes over if it dies.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  deleteFilesOfReleased,
  recordHeartbeat,
  removePublisher,
  selectReleases,
} from './releases/embargo.sql.ts';
import { deleteOldUpdates } from '../load/events/updates.sql.ts';
import { deleteOldInterruptions } from '../load/lock/interruptions.sql.ts';
import { deleteExpiredUploads } from './uploads/uploads.sql.ts';
import { makeNextReleases, type Made, type ReleaseDeps } from './releases/make-releases.ts';
import { run, type Running } from './periodic-job/periodic-job.ts';

export interface Publishing extends Running {
  /** The releases that this process has made since it started. */
  readonly counts: Readonly<{ released: number; failed: number }>;
}

const lookEveryMs = 1_000;
const aliveEveryMs = 10_000;
/** A release that comes later than this is logged as late. */
export const lateMs = 1_000;

export function startPublishing(deps: ReleaseDeps): Publishing {
  const { database, clock, log } = deps;
  const counts = { released: 0, failed: 0 };
  const instance = `${hostname().slice(0, 100)} ${randomUUID()}`;
  let isSweepDue = true; // for releases that another process made and did not sweep
  let reportedHeld = '';

  async function maintain(): Promise<boolean> {
    await recordHeartbeat(database, instance);
    const now = await clock.now(database);
    await deleteExpiredUploads(database, now);
    await deleteOldInterruptions(database);
    await deleteOldUpdates(database, now);
    const held = (await selectReleases(database)).filter((release) => release.held !== null);
    const text = held.map((release) => `${release.releaseNo}: ${release.held}`).join('; ');
    if (text !== reportedHeld && text !== '')
      log.warn({ event: 'releases_held', releases: text }, 'Releases under embargo are held');
    reportedHeld = text;
    return false;
  }

  async function look(signal: AbortSignal): Promise<boolean> {
    const made = await makeNextReleases(deps, signal);
    if (made.result === 'failed') counts.failed += 1;
    if (made.result === 'released') {
      counts.released += made.releases.length;
      for (const release of made.releases) report(release);
      isSweepDue = true;
    }
    if (isSweepDue) {
      await deleteFilesOfReleased(database);
      isSweepDue = false;
    }
    return made.result !== 'none' && made.result !== 'busy';
  }

  function report({
    releaseNo,
    at,
    endedAt,
  }: Extract<Made, { result: 'released' }>['releases'][number]): void {
    const lateByMs = endedAt.getTime() - at.getTime();
    const line = { event: 'released', release: releaseNo, due: at.toISOString(), late_ms: lateByMs };
    if (lateByMs > lateMs) log.warn(line, 'A release under embargo was made late');
    else log.info(line, 'A release under embargo was made');
  }

  // In parallel with the releases, whose preparation may take long.
  const maintaining = run(
    {
      ...{ everyMs: aliveEveryMs, event: 'upkeep_fault', look: maintain },
      fault: 'The publisher could not record that it is running; will retry',
    },
    deps,
  );
  const fault = 'Releases could not be made; will retry';
  const working = run({ everyMs: lookEveryMs, event: 'releases_fault', fault, look }, deps);
  return {
    counts,
    async close() {
      await working.close();
      await maintaining.close();
      await removePublisher(database, instance).catch((error: unknown) =>
        log.warn({ err: error }, 'the end of this publisher could not be recorded'),
      );
    },
  };
}
