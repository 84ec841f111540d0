// The last used of something that each account or key has, such as a block of calls. Hides that lru-cache is given a size instead of a count:
// for a count it lays out room at once, which is 2.7 MiB for 100,000 entries (2026-11-23), before there is any.
import { LRUCache } from 'lru-cache';

const entriesMax = 100_000;

/** Evicts the least recently used beyond 100,000. */
export function createAccountsCache<Value extends object | number>(): LRUCache<string, Value> {
  return new LRUCache({ maxSize: entriesMax, sizeCalculation: () => 1 });
}
