import test from 'ava';
import { createAccountsCache } from './accounts-cache.ts';

test('a cache of accounts holds 100,000 of them, and then evicts the least recently used', (t) => {
  const cache = createAccountsCache<number>();
  for (let i = 0; i < 100_000; i += 1) cache.set(`acct_${i}`, i);
  t.is(cache.get('acct_0'), 0);
  cache.set('acct_new', 1);
  t.deepEqual([cache.size, cache.has('acct_0'), cache.has('acct_1')], [100_000, true, false]);
});
