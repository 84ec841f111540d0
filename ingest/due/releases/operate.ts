// What operators do with releases: cancel one, or have it made now.
import type { Database } from '../../../kernel/database.ts';
import { inForce } from '../../load/load.ts';
import { cancelOne, makeDue, selectReleases, type Release } from './embargo.sql.ts';
import { makeNextReleases, type ReleaseDeps } from './make-releases.ts';
import { databaseClock, type ReleaseClock } from './release-clock.ts';

/** Nothing can be done with the release in its state, or there is none of the number. */
export class WrongRelease extends Error {}

const busyPauseMs = 200;

/** @throws WrongRelease if there is none. */
export async function findRelease(database: Database, releaseNo: number): Promise<Release> {
  const [release] = await selectReleases(database, releaseNo);
  if (release === undefined)
    throw new WrongRelease(`There is no release ${releaseNo}: see "almanac releases list".`);
  return release;
}

/** Cancels a release: once this resolves, it is never made. @throws WrongRelease if it is not pending and has not failed. */
export async function cancelRelease(
  database: Database,
  releaseNo: number,
  clock: ReleaseClock = databaseClock,
): Promise<Release> {
  const isCancelled = await database.transaction(async (on) => cancelOne(on, releaseNo, await clock.now(on)));
  const release = await findRelease(database, releaseNo);
  if (!isCancelled)
    throw new WrongRelease(`Release ${releaseNo} is ${release.state}; it cannot be cancelled.`);
  return release;
}

/** Makes a release that is pending, held or has failed due now: a publisher at work makes it. @throws WrongRelease if it was made or cancelled. */
export async function hastenRelease(
  database: Database,
  releaseNo: number,
  clock: ReleaseClock = databaseClock,
): Promise<Release> {
  const isDue = await database.transaction(async (on) => makeDue(on, releaseNo, await clock.now(on)));
  const release = await findRelease(database, releaseNo);
  if (!isDue) throw new WrongRelease(`Release ${releaseNo} is ${release.state}; it cannot be made.`);
  return release;
}

/**
 * Makes a release that is pending, held or has failed here, whatever it was due. A publisher at work gives way to it.
 * @returns it as it is then: released, or failed.
 * @throws WrongRelease if it was made or cancelled. Error if the database fails: then it is due, and a publisher makes it.
 */
export async function releaseNow(
  deps: ReleaseDeps,
  releaseNo: number,
  signal: AbortSignal,
): Promise<Release> {
  const { database, clock } = deps;
  await hastenRelease(database, releaseNo, clock);
  for (;;) {
    const made = await makeNextReleases(deps, signal);
    const release = await findRelease(database, releaseNo);
    if (release.state !== 'pending') {
      if (release.state === 'released') await inForce();
      return release;
    }
    signal.throwIfAborted();
    if (made.result === 'busy') await clock.pause(busyPauseMs, signal);
  }
}
