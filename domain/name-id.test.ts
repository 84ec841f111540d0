import test from 'ava';
import fc from 'fast-check';
import { nameId, numberOfNameId } from './name-id.ts';

test('an id contains the words of its name, and distinguishes names with the same words', (t) => {
  t.regex(nameId('Statistics Office (Île-de-France)'), /^statistics-office-ile-de-france-[0-9a-f]{8}$/);
  t.regex(nameId('統計局'), /^[0-9a-f]{8}$/);
  t.not(nameId('Statistics Office'), nameId('STATISTICS OFFICE'));
  t.not(nameId('Prices', 'One'), nameId('Prices', 'Other'));
  t.is(nameId('Prices', 'One'), nameId('Prices', 'One'));
});

test('an id needs no escape in a path', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 500 }), (name) => {
      t.regex(nameId(name), /^[a-z0-9]+(?:-[a-z0-9]+)*$/);
      t.true(nameId(name).length <= 69);
    }),
  );
});

test('the number of an id is its digits, below 2^31', (t) => {
  t.is(numberOfNameId('consumer-prices-3f0c9a1e'), 1_057_790_494);
  t.is(numberOfNameId('3f0c9a1e'), 1_057_790_494);
  t.is(numberOfNameId('prices-ffffffff'), 2_147_483_647);
  t.is(numberOfNameId('prices-80000000'), 0);
});
