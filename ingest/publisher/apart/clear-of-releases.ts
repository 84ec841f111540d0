// Keeps long work clear of releases under embargo: it is not begun shortly before one is prepared, and is given up when that begins. No release
// waits for it.
import type { Database } from '../../../kernel/database.ts';
import { findNextRelease } from '../embargo.sql.ts';
import type { ReleaseClock } from '../release-clock.ts';

/** No work begins this long before a release is prepared: it would hold the lock that the release needs. */
const clearMs = 30_000;
/** Until the release is prepared, work that has begun must be over, so that the load lock is free. */
const freeBeforeMs = 5_000;
/** Work is over long before; timers of more than 24 days end at once. */
const timerMsMax = 86_400_000;

/** Thrown instead of work, and given as the reason why it ends. */
export class ReleaseIsDue extends Error {
  readonly at: Date;
  /** The work had begun, and was given up. */
  readonly hasBegun: boolean;

  constructor({ releaseNo, at }: { releaseNo: number; at: Date }, hasBegun: boolean) {
    super(`Release ${releaseNo} is due ${at.toISOString()}. Try again when it is made.`);
    this.at = at;
    this.hasBegun = hasBegun;
  }
}

/** @param work ends when its signal is aborted. @throws ReleaseIsDue then, and if a release is due in a moment. */
export async function clearOfReleases<Result>(
  { database, clock }: { database: Database; clock: ReleaseClock },
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const next = await findNextRelease(database);
  const [due, done] = [new AbortController(), new AbortController()];
  if (next !== null) {
    const leftMs = next.beginsAt.getTime() - (await clock.now(database)).getTime();
    if (leftMs < clearMs) throw new ReleaseIsDue(next, false);
    void clock.pause(Math.min(leftMs - freeBeforeMs, timerMsMax), done.signal).then(() => {
      due.abort(new ReleaseIsDue(next, true));
    });
  }
  try {
    return await work(due.signal);
  } finally {
    done.abort();
  }
}
