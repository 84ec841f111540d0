// The unsaved input in the table of facts, and the API request made from it.
import test from 'ava';
import {
  countOf,
  filled,
  textOf,
  requestedFacts,
  withText,
  type Draft,
  type SeriesFacts,
} from './unsaved-facts.ts';

const row = (id: string, more: Partial<SeriesFacts> = {}): SeriesFacts => ({
  ...{ id, name: id, unit: null, frequency: 'monthly', source: 'Bureau', description: null, geography: null },
  ...{ seasonal_adjustment: null, unit_multiplier: null, decimals: 0, licence: null, licence_url: null },
  ...{ attribution: null, fiscal_year_end: null, tags: ['a', 'b'], category: null, methodology_url: null },
  ...{ fixed: ['frequency'], ...more },
});

test('a fact is typed in the form of the command line; an unknown one is empty', (t) => {
  t.is(textOf(row('A'), 'tags'), 'a; b');
  t.is(textOf(row('A'), 'decimals'), '0');
  t.is(textOf(row('A'), 'unit'), '');
});

test('a text equal to the stored one is not a change, and the other series stay in order', (t) => {
  const [a, b] = [row('A'), row('B')];
  const draft = withText(withText({}, a, 'unit', 'Index'), b, 'source', '');
  t.deepEqual(draft, { A: { unit: 'Index' }, B: { source: '' } });
  t.deepEqual(Object.keys(withText(draft, a, 'unit', 'Percent')), ['A', 'B']);
  t.deepEqual(withText(draft, a, 'unit', ''), { B: { source: '' } });
  t.is(countOf(withText(draft, a, 'name', 'Prices')), 3);
});

test('a fact is filled in all rows that may have it, or only where it is neither known nor typed', (t) => {
  const rows = [row('A'), row('B', { unit: 'Percent' }), row('C'), row('D', { fixed: ['unit'] })];
  const typed: Draft = { C: { unit: 'Tonnes' } };
  t.deepEqual(filled(typed, rows, { fact: 'unit', text: 'Index', onlyUnknown: true }), {
    ...{ A: { unit: 'Index' }, C: { unit: 'Tonnes' } },
  });
  t.deepEqual(filled(typed, rows, { fact: 'unit', text: 'Index', onlyUnknown: false }), {
    ...{ A: { unit: 'Index' }, B: { unit: 'Index' }, C: { unit: 'Index' } },
  });
});

test('an empty text clears the fact, and blanks around one are not sent', (t) => {
  t.deepEqual(requestedFacts({ A: { unit: ' Index ', source: ' ' } }), [
    { id: 'A', facts: { unit: 'Index', source: null } },
  ]);
});
