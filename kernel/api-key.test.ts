import test from 'ava';
import fc from 'fast-check';
import { hashApiKey, isWellFormedApiKey, maskApiKey, mintApiKey } from './api-key.ts';

test('every minted key is well-formed and differs from every other', (t) => {
  const keys = Array.from({ length: 1000 }, mintApiKey);
  t.true(keys.every(isWellFormedApiKey));
  t.is(new Set(keys).size, keys.length);
});

test('a key with any one character changed is refused before any lookup', (t) => {
  const key = mintApiKey();
  fc.assert(
    fc.property(
      fc.integer({ min: 8, max: key.length - 1 }),
      fc.constantFrom('0', 'A', 'z', '9'),
      (at, character) => {
        fc.pre(key[at] !== character);
        t.false(isWellFormedApiKey(key.slice(0, at) + character + key.slice(at + 1)));
      },
    ),
  );
});

test('the mask shows four characters at either end, and the hash none', (t) => {
  const key = mintApiKey();
  t.is(maskApiKey(key), `pk_live_${key.slice(8, 12)}…${key.slice(-4)}`);
  t.regex(hashApiKey(key), /^[0-9a-f]{64}$/);
});
