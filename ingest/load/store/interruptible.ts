// Work under the load lock gives way to releases under embargo. A release that is due interrupts it; it starts again after the release.
// Hides how a transaction finds out that a release has ended it: PostgreSQL says only that its connection is gone.
import { setTimeout as pause } from 'node:timers/promises';
import { instantText } from '../../../kernel/clock.ts';
import { inTransaction, type Database, type Transaction } from '../../../kernel/database.ts';
import {
  endHolder,
  findInterruption,
  isCommitted,
  noteInterruption,
  readInstant,
  readOwnTransaction,
  type InterruptedAt,
  type OwnTransaction,
} from './interruptions.sql.ts';
import {
  findLockHolder,
  isReleaseUnderWay,
  lockLoads,
  relaxLimits,
  tryLockLoads,
  type LoadUnderWay,
} from './statements.sql.ts';

/** Without `query` it is a part of a transaction that is under way: whoever began that one gives way. */
export type Transacting = Pick<Database, 'transaction'> & Partial<Pick<Database, 'query'>>;

/** Of a load, by the clock of the database. */
export interface Interruption extends InterruptedAt {
  startedAgainAt: Date;
}

/** How work takes the load lock, and what it reports meanwhile. */
export interface LockOptions {
  dryRun?: boolean | undefined;
  /** Called once before it waits for another load; isRelease: for releases under embargo, until their instant. */
  onWaiting?: ((load: LoadUnderWay | undefined, isRelease: boolean) => void) | undefined;
  /** Called when a release has interrupted it, before it waits for the release. */
  onInterrupted?: ((interruption: InterruptedAt) => void) | undefined;
}

/** Thrown instead of the failure of a transaction that a release has ended: nothing of it is stored. */
export class InterruptedByRelease extends Error {
  readonly interruption: InterruptedAt;

  constructor(interruption: InterruptedAt, cause: unknown) {
    super(
      `Release ${interruption.releaseNo} is due, and has interrupted this at ${instantText(interruption.at)}; nothing of it is stored. ` +
        `Try again when the release is made, see "almanac releases list".`,
      { cause },
    );
    this.interruption = interruption;
  }
}

/**
 * Does work in one transaction that a release may end. @throws InterruptedByRelease then; otherwise what the work throws.
 */
export async function interruptible<Result>(
  database: Transacting,
  isDryRun: boolean,
  work: (on: Transaction) => Promise<Result>,
): Promise<Result> {
  const { query } = database;
  if (query === undefined) return inTransaction(database, isDryRun, work);
  const state: { own?: OwnTransaction; done?: { result: Result } } = {};
  try {
    return await inTransaction(database, isDryRun, async (on) => {
      state.own = await readOwnTransaction(on);
      const result = await work(on);
      state.done = { result };
      return result;
    });
  } catch (error) {
    const { own, done } = state;
    if (own === undefined) throw error;
    const asked = { query };
    const interruption = await findInterruption(asked, own).catch(() => undefined); // the database may be away
    if (interruption === undefined) throw error;
    // The answer to the commit may be lost although it is done, as while a standby is waited for.
    if (done !== undefined && (await isCommitted(asked, own))) return done.result;
    throw new InterruptedByRelease(interruption, error);
  }
}

/** `interruptible`, under the load lock and without the limits of statements. */
export function underLoadLock<Result>(
  database: Transacting,
  { dryRun = false, onWaiting }: LockOptions,
  work: (on: Transaction) => Promise<Result>,
): Promise<Result> {
  return interruptible(database, dryRun, async (on) => {
    await relaxLimits(on);
    await lockLoads(on, onWaiting);
    return work(on);
  });
}

/**
 * Does work that is made of `interruptible` transactions again as often as a release interrupts it, each time when no release is being made any more.
 * @param attempt is given those of before; from the second time on it waits for the load lock, whatever `onWaiting` does.
 */
export async function startingAgain<Result>(
  { query }: Transacting,
  { onWaiting, onInterrupted }: LockOptions,
  attempt: (interruptions: readonly Interruption[], onWaiting: LockOptions['onWaiting']) => Promise<Result>,
): Promise<Result> {
  const interruptions: Interruption[] = [];
  for (;;) {
    try {
      return await attempt(interruptions, interruptions.length === 0 ? onWaiting : undefined);
    } catch (error) {
      if (!(error instanceof InterruptedByRelease) || query === undefined) throw error;
      onInterrupted?.(error.interruption);
      while (await isReleaseUnderWay({ query })) await pause(askEveryMs);
      interruptions.push({ ...error.interruption, startedAgainAt: await readInstant({ query }) });
    }
  }
}

const askEveryMs = 200;

/**
 * Takes the load lock for a release. Interrupts its holder, and each transaction that gets the lock before the release does.
 * @param aside on other connections: what it notes must be seen at once. @param onHeld is called once for each holder; isEnded: false if it may not be interrupted, and is waited for.
 */
export async function takeLoadLock(
  on: Transaction,
  aside: Pick<Database, 'query'>,
  { releaseNo, onHeld }: { releaseNo: number; onHeld: (isEnded: boolean) => void },
): Promise<void> {
  const seen = new Set<string>();
  while (!(await tryLockLoads(on))) {
    const holder = await findLockHolder(aside);
    if (holder !== undefined && !seen.has(holder)) {
      seen.add(holder);
      await noteInterruption(aside, releaseNo, holder);
      onHeld(await endHolder(aside, holder));
    }
    await pause(tryEveryMs);
  }
}

const tryEveryMs = 20;

/** For programs; an empty object if nothing was interrupted. */
export const interruptionsToJson = (interruptions: readonly Interruption[]) =>
  interruptions.length === 0
    ? {}
    : {
        interruptions: interruptions.map(({ releaseNo, at, startedAgainAt }) => ({
          release: releaseNo,
          at: instantText(at),
          started_again_at: instantText(startedAgainAt),
        })),
      };

/** For people. */
export const interruptionText = ({ releaseNo, at, startedAgainAt }: Interruption): string =>
  `interrupted by release ${releaseNo} at ${instantText(at)}, started again at ${instantText(startedAgainAt)}`;
