import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import fc from 'fast-check';
import { createSynonyms, loadSynonyms } from './synonyms.ts';

const { alternativesIn } = createSynonyms([
  ['jobs', 'employment'],
  ['interest', 'interest rate', 'yield'],
  ['yield', 'harvest'],
]);

test('a word that is a term may be replaced by every other term of its groups, and the other words by nothing', (t) => {
  t.deepEqual(alternativesIn('Youth jobs'), [['youth'], ['jobs', 'jobs', 'employment']]);
  t.deepEqual(alternativesIn('yield')?.[0]?.toSorted(), [
    'harvest',
    'interest',
    'interest rate',
    'yield',
    'yield',
  ]);
});

test('the longest term counts: words that are a term together are one', (t) => {
  t.deepEqual(
    alternativesIn('interest rate euro')?.map(([own]) => own),
    ['interest rate', 'euro'],
  );
});

test('letter case, accents, punctuation and a final s make no difference', (t) => {
  for (const query of ['JOB', 'jóbs', '(jobs)', 'job,']) t.truthy(alternativesIn(query), query);
});

test('a query without a term has no synonyms', (t) => {
  for (const query of ['jobless', 'unemployment', 'rate of', '']) t.is(alternativesIn(query), null, query);
});

test('no word of a query is lost, and all stay in their order', (t) => {
  const word = fc.constantFrom('jobs', 'Job', 'interest', 'rate', 'yield', 'youth', 'of', 'ÉTÉ');
  fc.assert(
    fc.property(fc.array(word), (words) => {
      const found = alternativesIn(words.join(', '));
      const plain = words.map((each) => (each === 'ÉTÉ' ? 'ete' : each.toLowerCase()));
      if (found !== null) t.deepEqual(found.map(([own]) => own).join(' '), plain.join(' '));
      t.is(
        found === null,
        plain.every((each) => ['youth', 'of', 'ete', 'rate'].includes(each)),
      );
    }),
  );
});

test('the file of the project can be read; another that is wrong is refused by its name and its faults', (t) => {
  t.truthy(loadSynonyms().alternativesIn('inflation'));
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-synonyms-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, 'synonyms.yml');
  writeFileSync(file, '- [jobs]\n- [a, "!!"]\n');
  const { message } = t.throws(() => loadSynonyms(file));
  t.true(message.startsWith(`${file}: `), message);
  t.regex(message, /\[0\]/);
  t.regex(message, /has no letter or digit/);
});
