import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import fc from 'fast-check';
import { conceptsOf } from './concepts.ts';
import { createVocabulary, loadVocabulary } from './vocabulary.ts';

const vocabulary = createVocabulary(
  [
    ['jobs', 'employment'],
    ['interest', 'interest rate', 'yield'],
    ['yield', 'harvest'],
    ['10 year treasury', 'GS10'],
  ],
  { employment: { de: ['Beschäftigung'], fr: ["taux d'emploi"] } },
);
const concepts = (query: string) =>
  conceptsOf(query, { ...vocabulary, text: '' }).map(({ text, synonyms }) => [text, synonyms.toSorted()]);

test('a word that is a term can be replaced by every term of its groups; other words cannot be replaced', (t) => {
  t.deepEqual(concepts('Youth jobs'), [
    ['youth', []],
    ['jobs', ['employment', 'jobs']],
  ]);
  t.deepEqual(concepts('yield'), [['yield', ['harvest', 'interest', 'interest rate', 'yield']]]);
});

test('the longest term counts, with its words in any order: words that form a term together are one concept', (t) => {
  const texts = (query: string) => concepts(query).map(([text]) => text);
  t.deepEqual(texts('interest rate euro'), ['interest rate', 'euro']);
  t.deepEqual(texts('us treasury 10-year'), ['us', 'treasury 10 year']);
});

test('letter case, accents, punctuation and the plural make no difference', (t) => {
  for (const query of ['JOB', 'jóbs', '(jobs)', 'job,'])
    t.deepEqual(concepts(query)[0]?.[1], ['employment', 'jobs'], query);
});

test('a term of another language represents the English one and its synonyms', (t) => {
  for (const query of ['beschaftigung', 'Beschäftigung', 'le taux de l’emploi'])
    t.deepEqual(concepts(query).at(0)?.[1], ['employment', 'jobs'], query);
});

test('stop words are omitted, unless there are no others', (t) => {
  t.deepEqual(
    concepts('price of the flour').map(([text]) => text),
    ['price', 'flour'],
  );
  t.deepEqual(
    concepts('the of').map(([text]) => text),
    ['the', 'of'],
  );
});

test('no content word of a query is lost, and all keep their order', (t) => {
  const word = fc.constantFrom('jobs', 'Job', 'interest', 'rate', 'yield', 'youth', 'treasury', 'ÉTÉ');
  fc.assert(
    fc.property(fc.array(word), (words) => {
      const plain = words.map((each) => (each === 'ÉTÉ' ? 'ete' : each.toLowerCase()));
      const found = concepts(words.join(', ')).map(([text]) => text);
      t.is(found.join(' '), plain.join(' '));
    }),
  );
});

test('a word that differs by one letter from one of a term is near it', (t) => {
  for (const typed of ['employmnt', 'employmemt', 'employmetn', 'employmentt'])
    t.deepEqual(vocabulary.near(typed), ['employment'], typed);
  for (const typed of ['emp', 'emplmnt', 'employment']) t.deepEqual(vocabulary.near(typed), [], typed);
});

test('the operator’s own synonyms are added; an invalid file is refused with its name and its faults', (t) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-synonyms-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, 'synonyms.yml');
  writeFileSync(file, '# none yet\n');
  t.deepEqual(loadVocabulary(file).termAt(['widgets'], 0), undefined);
  writeFileSync(file, '- [widgets, gadgets]\n- [GDP, total output]\n');
  t.deepEqual(loadVocabulary(file).termAt(['widgets'], 0)?.terms, ['widgets', 'gadgets']);
  const gdp = loadVocabulary(file).termAt(['gdp'], 0)?.terms ?? [];
  t.true(gdp.includes('total output') && gdp.includes('gross domestic product'), gdp.join());
  writeFileSync(file, '- [jobs]\n- [a, "!!"]\n');
  const { message } = t.throws(() => loadVocabulary(file));
  t.true(message.startsWith(`${file}: `), message);
  t.regex(message, /\[0\]/);
  t.regex(message, /has no letter or digit/);
});

test('the project’s own files have terms in each of their languages, and translations lead to synonyms', (t) => {
  const { termAt } = loadVocabulary();
  for (const word of ['inflatie', 'arbeitslosenquote', 'chomage', 'desempleo', 'disoccupazione', 'bezrobocie', 'desemprego', 'arbetsloshet'])
    t.truthy(termAt([word], 0), word); // prettier-ignore
  t.true(termAt(['arbeitslosenquote'], 0)?.terms.includes('UNRATE'));
});
