import test from 'ava';
import { createResponseCache } from './response-cache.ts';

const answer = (bytes: number) => ({ status: 200, headers: [], body: Buffer.alloc(bytes) });

test('the least recently used answer is evicted first, and memory stays bounded', (t) => {
  const kept = createResponseCache(300);
  for (const etag of ['a', 'b', 'c']) kept.keep(etag, answer(100));
  t.truthy(kept.get('a'));
  kept.keep('d', answer(100));
  t.deepEqual(
    ['a', 'b', 'c', 'd'].filter((etag) => kept.get(etag) !== undefined),
    ['a', 'c', 'd'],
  );
  kept.keep('a', answer(250));
  t.deepEqual(
    ['a', 'c', 'd'].filter((etag) => kept.get(etag) !== undefined),
    ['a'],
    'the same answer kept again counts once',
  );
});

test('a very large answer is not kept', (t) => {
  const kept = createResponseCache();
  kept.keep('large', answer(513 * 1024));
  t.is(kept.get('large'), undefined);
});
