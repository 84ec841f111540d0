import test from 'ava';
import fc from 'fast-check';
import { hashApiKey, isWellFormedApiKey, maskApiKey, mintApiKey } from './api-key.ts';

test('every new key is well-formed and unique', (t) => {
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

test('the mask shows four characters at either end; the hash shows none', (t) => {
  const key = mintApiKey();
  t.is(maskApiKey(key), `pk_live_${key.slice(8, 12)}…${key.slice(-4)}`);
  t.regex(hashApiKey(key), /^[0-9a-f]{64}$/);
});

// Computed independently: the CRC32 of thirty-six zeros is 604,254,626, which is six digits in base 62.
const known = `pk_live_${'0'.repeat(36)}0etOEM`;

test('a key of another version verifies in this one: the format and the checksum do not change', (t) => {
  t.true(isWellFormedApiKey(known));
  t.is(hashApiKey('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});

test('anything that does not have exactly the format of a key is refused', (t) => {
  for (const text of [
    '',
    known.slice(1),
    known.slice(0, -1),
    `${known}0`,
    ` ${known}`,
    `${known}\n`,
    known.replace('live', 'test'),
    known.toUpperCase(),
    known.replace('0000', '00-0'),
  ]) {
    t.false(isWellFormedApiKey(text), JSON.stringify(text));
  }
});

test('every character of a key is equally likely', (t) => {
  const counts = new Map<string, number>();
  for (let made = 0; made < 3_000; made += 1) {
    for (const character of mintApiKey().slice(8, 44))
      counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  t.is(counts.size, 62);
  const expected = (3_000 * 36) / 62;
  const distance = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  t.true(distance < 150, `chi-squared ${distance}`); // with 61 degrees of freedom, beyond 150 about once in 4 · 10^8 runs
});
