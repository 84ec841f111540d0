// The code that the dashboard gives to copy.
import test from 'ava';
import { samplesOf } from '../../../dashboard/text/samples.ts';

const samples = samplesOf({
  origin: 'https://api.example.org',
  id: 'A B',
  query: { from: '2020-09', dims: 'side:buy,city:x' },
});
const code = (language: string) => samples.find((sample) => sample.language === language)?.code ?? '';

test('each sample calls this installation for the same data, with a key that is not in it', (t) => {
  for (const { language, code: text } of samples) {
    t.true(
      text.includes('https://api.example.org/v1/series/A%20B?from=2020-09&dims=side:buy,city:x'),
      language,
    );
    t.notRegex(text, /pk_live/);
  }
  t.deepEqual(
    samples.map(({ language }) => language),
    ['curl', 'Python', 'R', 'JavaScript', 'Sheets'],
  );
});

test('programs that read tables get CSV, the others JSON', (t) => {
  for (const language of ['Python', 'R', 'Sheets']) t.regex(code(language), /&format=csv/);
  for (const language of ['curl', 'JavaScript']) t.notRegex(code(language), /format=/);
});
