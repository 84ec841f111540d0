// The counter of a second that the combined request of admission.ts counts in.
import { luaFile } from '../../kernel/redis.ts';
import type { Taken } from '../limits/seconds.ts';

export type { Taken };

export const countLua = luaFile(new URL('count.lua', import.meta.url));

/** The counter of an account's calls. */
export function accountCounter(accountId: string): string {
  return `almanac:rate:account:${accountId}`;
}

/** Distributes a count among the calls it includes: the first ones are allowed, up to the limit. */
export function share(
  calls: number,
  { counted, resetMs }: { counted: number; resetMs: number },
  limit: number,
): Taken[] {
  const taken: Taken[] = [];
  for (let consumed = counted - calls + 1; consumed <= counted; consumed += 1)
    taken.push({ allowed: consumed <= limit, remaining: Math.max(0, limit - consumed), resetMs });
  return taken;
}
