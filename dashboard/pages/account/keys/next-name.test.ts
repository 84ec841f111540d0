// The suggested name of a key that replaces another one.
import test from 'ava';
import { nextName } from './next-name.ts';

const named = (...names: string[]) => names.map((name) => ({ name }));

test('a new key is named after the old one with the next free number, in 100 characters', (t) => {
  t.is(nextName('Production', []), 'Production 2');
  t.is(nextName('Production 2', named('Production', 'Production 2', 'Production 3')), 'Production 4');
  t.is(
    nextName('Build 99999999999999999999', named('Build 99999999999999999999')),
    'Build 99999999999999999999 2',
  );
  t.is(nextName('x'.repeat(100), []), `${'x'.repeat(98)} 2`);
  t.is(nextName(`${'x'.repeat(97)} 10`, named(`${'x'.repeat(97)} 11`)), `${'x'.repeat(97)} 12`);
});
