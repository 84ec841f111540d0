// Makes releases: the loads due at the next instant are prepared in one transaction, which is committed at that instant. Before it they are
// invisible; from then on all of them are visible. If the releases due then change meanwhile, the preparation is rolled back.
import { Readable } from 'node:stream';
import { dateIn } from '../../../kernel/clock.ts';
import { inSavepoints, type Database, type Queryable, type Transaction } from '../../../kernel/database.ts';
import { entryAt } from '../../../kernel/entries.ts';
import type { Log } from '../../../kernel/log/log.ts';
import { load } from '../../load/load.ts';
import { acquireLoadLock } from '../../load/lock/give-way-to-release.ts';
import { relaxLimits, tryLockReleases } from '../../load/lock/load-lock.sql.ts';
import { endRelease, readPieces, selectDue, type DueRelease } from './embargo.sql.ts';
import { dateLoads, dropStage, readNextLoadNo, returnLoadNumbers } from './prepared-loads.sql.ts';
import { isTemporary } from './temporary-faults.ts';
import type { ReleaseClock } from './release-clock.ts';
import { failureReport, reportOf } from '../../load/load-report.ts';
import { fromStored } from './stored-options.ts';

export interface ReleaseDeps {
  database: Database;
  clock: ReleaseClock;
  log: Log;
}

/**
 * `none`: nothing is due for preparation yet. `busy`: another process prepares. `changed`: the releases changed meanwhile, or the process stops;
 * start again. `failed`: this one cannot be loaded. `released`: these were made.
 */
export type Made =
  | { result: 'none' | 'busy' | 'changed' }
  | { result: 'failed'; releaseNo: number }
  | { result: 'released'; releases: { releaseNo: number; at: Date; endedAt: Date }[] };

/** How often a prepared release is checked for cancellation while it waits for its instant. */
const pollMs = 500;
/** When the process is stopping, a release due within this time is still finished: the next process would have to load it again. */
const finishWithinMs = 10_000;

/** The releases of one instant, in the order in which they are loaded. */
interface Group {
  at: Date;
  releases: DueRelease[];
}

/** Thrown to roll a preparation back. */
class GivenUp extends Error {
  readonly made: Made;

  constructor(made: Made) {
    super('the preparation is abandoned');
    this.made = made;
  }
}

/** Thrown when a release cannot be loaded, even by a retry. */
class CannotLoad extends Error {
  readonly releaseNo: number;

  constructor(releaseNo: number, cause: unknown) {
    super(`release ${releaseNo} cannot be loaded`, { cause });
    this.releaseNo = releaseNo;
  }
}

/**
 * Makes the releases of the earliest instant, if it is time to prepare them; waits for the instant.
 * @param signal stops uncommitted work. @throws Error if the database fails: nothing is made then, and a retry is safe.
 */
export async function makeNextReleases(deps: ReleaseDeps, signal: AbortSignal): Promise<Made> {
  const { database, clock } = deps;
  const due = await groupToPrepare(database, clock);
  if (due === undefined) return { result: 'none' };
  try {
    return await database.transaction((on) => prepareAndWait(deps, on, due, signal));
  } catch (error) {
    if (error instanceof GivenUp) return error.made;
    if (error instanceof CannotLoad) return fail(deps, error);
    throw error;
  }
}

async function prepareAndWait(
  deps: ReleaseDeps,
  on: Transaction,
  due: Group,
  signal: AbortSignal,
): Promise<Made> {
  const { database, clock, log } = deps;
  if (!(await tryLockReleases(on))) return { result: 'busy' };
  await relaxLimits(on);
  const { releaseNo } = entryAt(due.releases, 0);
  await acquireLoadLock(on, database, {
    releaseNo,
    onHolder(isEnded) {
      const line = { event: 'release_interrupts', release: releaseNo };
      if (isEnded) log.info(line, 'A release under embargo has interrupted a load, which restarts after it');
      else
        log.error(
          line,
          'A load of another database role is running, which this role may not interrupt; the release waits for it',
        );
    },
  });
  const group = await groupToPrepare(on, clock); // the group as seen under the locks
  if (group === undefined) return { result: 'none' };
  const firstLoadNo = await readNextLoadNo(on);
  const giveUp = async (made: Made): Promise<never> => {
    await returnLoadNumbers(on, firstLoadNo);
    throw new GivenUp(made);
  };
  const outcomes = new Map<DueRelease, object>();
  for (const release of group.releases) {
    if (signal.aborted) await giveUp({ result: 'changed' });
    outcomes.set(release, await prepare(deps, on, release, firstLoadNo));
  }
  if (!(await waitUntil(deps, on, group, signal))) await giveUp({ result: 'changed' });
  const endedAt = await clock.now(on);
  for (const [{ releaseNo, at: dueAt }, outcome] of outcomes)
    // It may have just been cancelled, and the caller has been notified of that.
    if (!(await endRelease(on, releaseNo, { dueAt, at: endedAt, outcome })))
      await giveUp({ result: 'changed' });
  return {
    result: 'released',
    releases: group.releases.map(({ releaseNo, at }) => ({ releaseNo, at, endedAt })),
  };
}

/** The releases of the earliest instant. Undefined if no release is pending, or it is too early to prepare them. */
async function groupToPrepare(on: Queryable, clock: ReleaseClock): Promise<Group | undefined> {
  const group = await firstGroup(on);
  if (group === undefined) return undefined;
  const leadMs = group.releases.reduce((sum, release) => sum + release.leadMs, 0);
  return (await clock.now(on)).getTime() >= group.at.getTime() - leadMs ? group : undefined;
}

async function firstGroup(on: Queryable): Promise<Group | undefined> {
  const due = await selectDue(on);
  const [first] = due;
  if (first === undefined) return undefined;
  const releases = due.filter(({ at }) => at.getTime() === first.at.getTime());
  return { at: first.at, releases };
}

/** Loads a release in the transaction. @returns the outcome to store. @throws CannotLoad after returning the load numbers. */
async function prepare(
  { database, clock }: ReleaseDeps,
  on: Transaction,
  release: DueRelease,
  firstLoadNo: number,
): Promise<object> {
  const now = await clock.now(on);
  const visibleAt = now > release.at ? now : release.at;
  const own = await readNextLoadNo(on);
  try {
    const options = fromStored(release.options);
    const summary = await load(inSavepoints(on), {
      ...options,
      ...{ dataset: release.dataset, sourceName: release.sourceName, noGateway: true },
      input: Readable.from(readPieces(database, release)),
      clock: { now: () => visibleAt },
      today: dateIn(options.seriesTimeZone, release.at),
    });
    const loads = await dateLoads(on, visibleAt, own);
    await dropStage(on);
    return { ...reportOf(summary), loads };
  } catch (error) {
    if (isTemporary(error)) throw error;
    await returnLoadNumbers(on, firstLoadNo);
    throw new CannotLoad(release.releaseNo, error);
  }
}

const never = new AbortController().signal;

/** Resolves at the instant. @returns false if the releases due then have changed, or the signal was aborted. */
async function waitUntil(
  { clock }: ReleaseDeps,
  on: Transaction,
  group: Group,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    const leftMs = group.at.getTime() - (await clock.now(on)).getTime();
    if (leftMs <= 0) return true;
    if (signal.aborted && leftMs > finishWithinMs) return false;
    await clock.pause(Math.min(leftMs, pollMs), signal.aborted ? never : signal);
    if (!isSame(await firstGroup(on), group)) return false;
  }
}

function isSame(found: Group | undefined, group: Group): boolean {
  const textOf = ({ at, releases }: Group) =>
    [at.toISOString(), ...releases.map(({ releaseNo }) => releaseNo)].join(' ');
  return found !== undefined && textOf(found) === textOf(group);
}

/** Stores the failure of a release at once: there may be time to repair it before its instant. */
async function fail({ database, clock, log }: ReleaseDeps, { releaseNo, cause }: CannotLoad): Promise<Made> {
  const outcome = failureReport(cause);
  const isNoted = await database.transaction(async (on) =>
    endRelease(on, releaseNo, { dueAt: null, at: await clock.now(on), outcome }),
  );
  if (!isNoted) return { result: 'changed' };
  log.error(
    { event: 'release_failed', release: releaseNo, err: cause },
    'A release under embargo cannot be loaded; it is not made',
  );
  return { result: 'failed', releaseNo };
}
