// The text of a filter by dimension values: parsing the written text yields the same filter.
import test from 'ava';
import fc from 'fast-check';
import { readDims, writeDims } from './dims-text.ts';

const word = fc.string({
  unit: fc.constantFrom('a', 'ü', '😀', ' ', ',', '|', '\\'),
  minLength: 1,
  maxLength: 6,
});

test('a written filter is parsed as the same filter, whatever characters a value has', (t) => {
  fc.assert(
    fc.property(
      fc.dictionary(word, fc.array(word, { minLength: 1, maxLength: 3 }), { minKeys: 1, maxKeys: 3 }),
      (selected) => {
        const read = readDims(writeDims(selected)).map(({ name, values }) => [name, values]);
        t.deepEqual(read, Object.entries(selected));
      },
    ),
  );
});

test('a part without a name or a value is parsed as such', (t) => {
  t.deepEqual(readDims('buy,:x,side:'), [
    { name: '', values: ['buy'] },
    { name: '', values: ['x'] },
    { name: 'side', values: [''] },
  ]);
});
