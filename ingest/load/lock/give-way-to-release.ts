// Makes work under the load lock give way to releases under embargo: a due release interrupts it, and it restarts after the release.
// PostgreSQL reports such an interruption only as a lost connection; this module finds the reason.
import { setTimeout as pause } from 'node:timers/promises';
import { instantText } from '../../../kernel/clock.ts';
import { inTransaction, type Database, type Transaction } from '../../../kernel/database.ts';
import { readClock } from '../../../kernel/time/database-clock.sql.ts';
import {
  terminateHolder,
  findInterruption,
  isCommitted,
  noteInterruption,
  readOwnTransaction,
  type InterruptedAt,
  type OwnTransaction,
} from './interruptions.sql.ts';
import {
  findLockHolder,
  isReleaseBeingPrepared,
  lockLoads,
  relaxLimits,
  tryLockLoads,
  type RunningLoad,
} from './load-lock.sql.ts';

/** Without `query`, the work is part of a running transaction; the code that began the transaction gives way. */
export type Transacting = Pick<Database, 'transaction'> & Partial<Pick<Database, 'query'>>;

export interface Interruption extends InterruptedAt {
  /** When the work restarted after the release, by the clock of the database. */
  startedAgainAt: Date;
}

/** How work acquires the load lock, and what it reports while waiting. */
export interface LockOptions {
  /** Rolls back everything at the end. */
  dryRun?: boolean | undefined;
  /** Called once before waiting for another load; `isRelease`: the holder may be a release under embargo, which ends at its instant. */
  onWaiting?: ((load: RunningLoad | undefined, isRelease: boolean) => void) | undefined;
  /** Called when a release has interrupted it, before it waits for the release. */
  onInterrupted?: ((interruption: InterruptedAt) => void) | undefined;
}

/** Thrown when a release has ended the transaction: nothing was stored. */
export class InterruptedByRelease extends Error {
  readonly interruption: InterruptedAt;

  constructor(interruption: InterruptedAt, cause: unknown) {
    super(
      `A due release (${interruption.releaseNo}) interrupted this operation at ${instantText(interruption.at)}; nothing was stored. ` +
        `Retry once "almanac releases list" shows the release as released.`,
      { cause },
    );
    this.interruption = interruption;
  }
}

/**
 * Runs work in one transaction that a release may end. @throws InterruptedByRelease if a release ended it; otherwise what the work throws.
 */
export async function runInterruptible<Result>(
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
    // The reply to a commit may be lost although the commit succeeded, for example while it waits for a standby.
    if (done !== undefined && (await isCommitted(asked, own))) return done.result;
    throw new InterruptedByRelease(interruption, error);
  }
}

/** Runs work as `runInterruptible` does, under the load lock and without statement timeouts. */
export function underLoadLock<Result>(
  database: Transacting,
  { dryRun = false, onWaiting }: LockOptions,
  work: (on: Transaction) => Promise<Result>,
): Promise<Result> {
  return runInterruptible(database, dryRun, async (on) => {
    await relaxLimits(on);
    await lockLoads(on, onWaiting);
    return work(on);
  });
}

/**
 * Repeats work that uses `runInterruptible` whenever a release interrupts it, each time after the release has finished.
 * @param attempt receives the interruptions so far; from the second attempt on it waits for the load lock, whatever `onWaiting` does.
 */
export async function retryAfterInterruption<Result>(
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
      while (await isReleaseBeingPrepared({ query })) await pause(askEveryMs);
      interruptions.push({ ...error.interruption, startedAgainAt: await readClock({ query }) });
    }
  }
}

const askEveryMs = 200;

/**
 * Acquires the load lock for a release. Interrupts its holder, and each transaction that gets the lock before the release does.
 * @param aside uses other connections, so that its records are visible at once. @param onHolder is called once for each holder; isEnded:
 * false if the holder may not be interrupted, so that the release waits for it.
 */
export async function acquireLoadLock(
  on: Transaction,
  aside: Pick<Database, 'query'>,
  { releaseNo, onHolder }: { releaseNo: number; onHolder: (isEnded: boolean) => void },
): Promise<void> {
  const seen = new Set<string>();
  while (!(await tryLockLoads(on))) {
    const holder = await findLockHolder(aside);
    if (holder !== undefined && !seen.has(holder)) {
      seen.add(holder);
      await noteInterruption(aside, releaseNo, holder);
      onHolder(await terminateHolder(aside, holder));
    }
    await pause(tryEveryMs);
  }
}

const tryEveryMs = 20;

/** The interruptions as JSON; an empty object if nothing was interrupted. */
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

/** The interruptions as text. */
export const interruptionText = ({ releaseNo, at, startedAgainAt }: Interruption): string =>
  `interrupted by release ${releaseNo} at ${instantText(at)}, started again at ${instantText(startedAgainAt)}`;
