// The operators' actions on releases: cancel one, or make it now.
import type { Database } from '../../../kernel/database.ts';
import { waitForGatewayLeases } from '../../load/load.ts';
import { cancelOne, makeDue, selectReleases, type Release } from './embargo.sql.ts';
import { makeNextReleases, type ReleaseDeps } from './make-releases.ts';
import { databaseClock, type ReleaseClock } from './release-clock.ts';

/** The state of the release does not allow the action, or no release has the number. */
export class WrongRelease extends Error {}

const busyPauseMs = 200;

/** @throws WrongRelease if it does not exist. */
export async function findRelease(database: Database, releaseNo: number): Promise<Release> {
  const [release] = await selectReleases(database, releaseNo);
  if (release === undefined)
    throw new WrongRelease(`There is no release ${releaseNo}: see "almanac releases list".`);
  return release;
}

/** @param act returns false if the state of the release does not allow it. */
const action =
  (act: typeof cancelOne, past: string) =>
  async (database: Database, releaseNo: number, clock: ReleaseClock = databaseClock): Promise<Release> => {
    const isDone = await database.transaction(async (on) => act(on, releaseNo, await clock.now(on)));
    const release = await findRelease(database, releaseNo);
    if (!isDone) throw new WrongRelease(`Release ${releaseNo} is ${release.state}; it cannot be ${past}.`);
    return release;
  };

/** Cancels a release: once this resolves, it is never made. @throws WrongRelease if it is not pending and has not failed. */
export const cancelRelease = action(cancelOne, 'cancelled');

/** Makes a pending, held or failed release due now: a running publisher makes it. @throws WrongRelease if it was made or cancelled. */
export const makeDueNow = action(makeDue, 'published');

/**
 * Makes a pending, held or failed release in this process, whenever it was due. A running publisher gives way to it.
 * @returns the release afterwards: released, or failed.
 * @throws WrongRelease if it was made or cancelled. Error if the database fails: then the release is due, and a publisher makes it.
 */
export async function releaseNow(
  deps: ReleaseDeps,
  releaseNo: number,
  signal: AbortSignal,
): Promise<Release> {
  const { database, clock } = deps;
  await makeDueNow(database, releaseNo, clock);
  for (;;) {
    const made = await makeNextReleases(deps, signal);
    const release = await findRelease(database, releaseNo);
    if (release.state !== 'pending') {
      if (release.state === 'released') await waitForGatewayLeases();
      return release;
    }
    signal.throwIfAborted();
    if (made.result === 'busy') await clock.pause(busyPauseMs, signal);
  }
}
