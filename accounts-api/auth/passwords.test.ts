import test from 'ava';
import { parseOptions } from '@node-rs/argon2';
import { createPasswords } from './passwords.ts';

const light = { memoryCost: 64, timeCost: 1, parallelism: 1 };

test('a password is stored as argon2id of 46 MiB, one pass, one lane, a salt of 16 and a tag of 32 bytes', async (t) => {
  const hash = await createPasswords().hash('correct horse');
  t.regex(hash, /^\$argon2id\$v=19\$m=47104,t=1,p=1\$/);
  t.like(parseOptions(hash), { outputLen: 32, saltLen: 16 });
  t.not(hash, await createPasswords().hash('correct horse'));
});

test('a password is compared exactly as it came: no trimming, no normalising, no cut at 72 bytes or a NUL', async (t) => {
  const passwords = createPasswords(light);
  const long = 'x'.repeat(72);
  const pairs = [
    ['blank ', 'blank'],
    ['\u00e9tude', 'e\u0301tude'],
    [`${long}a`, `${long}b`],
    ['nul\u0000a', 'nul\u0000b'],
    ['Case', 'case'],
  ] as const;
  for (const [password, other] of pairs) {
    const hash = await passwords.hash(password);
    t.true(await passwords.matches(hash, password), JSON.stringify(password));
    t.false(await passwords.matches(hash, other), JSON.stringify(other));
  }
});

test('without a stored password a comparison runs all the same, and never matches', async (t) => {
  const passwords = createPasswords(light);
  t.false(await passwords.matches(null, ''));
  t.false(await passwords.matches(null, 'correct horse'));
});

test('a hash of other parameters is outdated, one of the same is not', async (t) => {
  const hash = await createPasswords(light).hash('correct horse');
  t.false(createPasswords(light).isOutdated(hash));
  t.true(createPasswords().isOutdated(hash));
});

test('a flood of passwords is bounded: a fixed number run, 64 wait, the rest are asked to retry', async (t) => {
  const passwords = createPasswords(light, 2);
  const results = await Promise.allSettled(
    Array.from({ length: 200 }, () => passwords.hash('correct horse')),
  );
  const refused = results.filter((result) => result.status === 'rejected');
  t.is(results.length - refused.length, 2 + 64);
  for (const { reason } of refused) {
    t.like(reason, { code: 'unavailable', headers: { 'retry-after': '2' } });
  }
  t.true(await passwords.matches(await passwords.hash('after the flood'), 'after the flood'));
});
