// What a call of an operator is told that would wait for another load: it waits for nothing.
import { fail } from '../../../kernel/errors.ts';

export const retryAfter = { headers: { 'retry-after': '5' } };

/** For a change that would wait for another load: its caller is told so. */
export function refuseWaiting(_load: unknown, isRelease?: boolean): never {
  const what = isRelease === true ? 'A release under embargo is being made' : 'A load is under way';
  return fail('unavailable', `${what}. Try again when it has ended.`, retryAfter);
}
