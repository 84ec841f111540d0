import test from 'ava';
import { entryAt, entryOf, memberOf } from './entries.ts';

test('existing entries are read, even if they are empty, zero or null', (t) => {
  t.deepEqual([entryAt(['', 'a'], 0), entryAt([1, 0], 1), entryAt([null], 0)], ['', 0, null]);
  t.is(entryOf(new Map([['a', 0]]), 'a'), 0);
  t.is(memberOf({ a: '' }, 'a'), '');
});

test('a missing entry throws an error that names it', (t) => {
  for (const position of [-1, 2, 0.5, NaN])
    t.throws(() => entryAt(['a', 'b'], position), { message: `no entry ${position} in a list of 2` });
  t.throws(() => entryOf(new Map([['a', 0]]), 'b'), { message: 'no entry b in a map of 1' });
  t.throws(() => memberOf({ a: 1 }, 'toString'), { message: 'no member toString' });
});
