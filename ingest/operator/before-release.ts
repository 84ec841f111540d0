// What operators change is over, or given up, when a release under embargo is to be prepared: no release waits for a call.
import { Failure } from '../../kernel/errors.ts';
import { clearOfReleases, ReleaseIsDue } from '../publisher/apart/clear-of-releases.ts';
import type { OperatorDeps } from './endpoint.ts';
import { retryAfter } from './refuse-waiting.ts';
import { refusalOf } from './uploads.ts';

/** @param work ends when its signal is aborted. @throws Failure `unavailable` then, and if a release is due in a moment. */
export async function beforeRelease<Result>(
  { database, releaseClock: clock }: Pick<OperatorDeps, 'database' | 'releaseClock'>,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  try {
    return await clearOfReleases({ database, clock }, work);
  } catch (error) {
    if (error instanceof ReleaseIsDue) throw new Failure('unavailable', error.message, retryAfter);
    throw refusalOf(error);
  }
}
