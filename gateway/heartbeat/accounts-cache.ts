// An LRU cache with one entry per account or key, such as a block of calls. It sets lru-cache's maximum size instead of its maximum count: with a
// count, lru-cache allocates 2.7 MiB for 100,000 entries at once (2026-11-23), even while it is empty.
import { LRUCache } from 'lru-cache';

const entriesMax = 100_000;

/** Evicts the least recently used beyond 100,000. */
export function createAccountsCache<Value extends object | number>(): LRUCache<string, Value> {
  return new LRUCache({ maxSize: entriesMax, sizeCalculation: () => 1 });
}
