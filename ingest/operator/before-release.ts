// What operators change is over, or given up, when a release under embargo is to be prepared: no release waits for a call.
import { Failure } from '../../kernel/errors.ts';
import { findNextRelease } from '../publisher/embargo.sql.ts';
import type { OperatorDeps } from './endpoint.ts';
import { retryAfter } from './refuse-waiting.ts';
import { refusalOf } from './uploads.ts';

/** How long before a release is prepared no call of an operator begins a change: it would hold the lock that the release needs. */
const clearMs = 30_000;
/** Until the release is prepared, work that has begun must be over, so that the load lock is free. */
const freeBeforeMs = 5_000;
/** Work is over long before; timers of more than 24 days end at once. */
const timerMsMax = 86_400_000;

/** @param work ends when its signal is aborted. @throws Failure `unavailable` then, and if a release is due in a moment. */
export async function beforeRelease<Result>(
  { database, releaseClock }: Pick<OperatorDeps, 'database' | 'releaseClock'>,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const next = await findNextRelease(database);
  const [due, done] = [new AbortController(), new AbortController()];
  if (next !== null) {
    const isDue = new Failure(
      'unavailable',
      `Release ${next.releaseNo} is due ${next.at.toISOString()}. Try again when it is made.`,
      retryAfter,
    );
    const leftMs = next.beginsAt.getTime() - (await releaseClock.now(database)).getTime();
    if (leftMs < clearMs) throw isDue;
    void releaseClock.pause(Math.min(leftMs - freeBeforeMs, timerMsMax), done.signal).then(() => {
      due.abort(isDue);
    });
  }
  try {
    return await work(due.signal);
  } catch (error) {
    throw refusalOf(error);
  } finally {
    done.abort();
  }
}
