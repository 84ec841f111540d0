// Answers `unavailable` at once to an operator's call that would wait for another load.
import { fail } from '../../../kernel/errors.ts';

export const retryAfter = { headers: { 'retry-after': '5' } };

/** Rejects a change that would wait for another load. */
export function refuseWaiting(_load: unknown, isRelease?: boolean): never {
  const what = isRelease === true ? 'A release under embargo is being made' : 'A load is running';
  return fail('unavailable', `${what}. Try again when it has ended.`, retryAfter);
}
