import test from 'ava';
import fc from 'fast-check';
import { bibtex, citationText, cslItem, cslSchema, type Cited } from './citation.ts';

const cited: Cited = {
  series: 'CPI.M',
  title: 'Consumer prices, all items',
  publisher: 'Office of Statistics & Census',
  publishedOn: '2026-11-16',
  vintage: '2026-11-20',
  version: 412,
  url: 'https://almanac.example/v1/series/CPI.M?from=2020&vintage=2026-11-20&version=412&format=csv',
  accessedOn: '2026-11-23',
  sha256: 'ab'.repeat(32),
};

test('a citation is a sentence with the publisher, the year, the title, the state and the permanent URL', (t) => {
  t.is(
    citationText(cited),
    'Office of Statistics & Census (2026). Consumer prices, all items [CPI.M]. Vintage of 2026-11-20, version 412. ' +
      `${cited.url} (accessed 2026-11-23). SHA-256 of the CSV: ${cited.sha256}.`,
  );
  t.regex(citationText({ ...cited, vintage: null }), / First releases, version 412\. /);
  t.regex(
    citationText({ ...cited, publishedOn: null, vintage: '2019-01-31' }),
    /\(2019\)/,
    'before the first',
  );
});

test('BibTeX has every fact, preserves the capitals of the title, and has the publisher as one name', (t) => {
  t.is(
    bibtex(cited),
    `@misc{CPI.M-2026-11-20-v412,
  author = {{Office of Statistics \\& Census}},
  title = {{Consumer prices, all items [CPI.M]}},
  publisher = {Office of Statistics \\& Census},
  year = {2026},
  version = {412},
  url = {${cited.url}},
  urldate = {2026-11-23},
  note = {Vintage of 2026-11-20, version 412. SHA-256 of the CSV: ${cited.sha256}},
}
`,
  );
});

/** The characters that TeX shows for the commands used in escapes. */
const shownBy: Readonly<Record<string, string>> = {
  textbraceleft: '{',
  textbraceright: '}',
  textbackslash: '\\',
  textasciitilde: '~',
  textasciicircum: '^',
  textless: '<',
  textgreater: '>',
  textbar: '|',
  textquotedbl: '"',
};

/** The field's text as TeX shows it. @throws if a character still has a special meaning in TeX. */
function shown(field: string): string {
  const plain = field.replaceAll(
    /\{\\(text[a-z]+)\}|\\([$&#%_])|([{}\\~^$&#%_<>|"])/g,
    (_, command?: string, escaped?: string, special?: string) => {
      if (special !== undefined) throw new Error(`${special} in ${field}`);
      return command === undefined ? (escaped ?? '') : (shownBy[command] ?? '');
    },
  );
  return plain;
}

test('for any name, BibTeX finds balanced braces, and TeX shows the name', (t) => {
  const names = fc.string({
    unit: fc.constantFrom(...Array.from('{}\\~^<>|"$&#%_ aé\n')),
    minLength: 1,
    maxLength: 40,
  });
  fc.assert(
    fc.property(names, (title) => {
      const entry = bibtex({ ...cited, title });
      let depth = 0;
      for (const character of entry) {
        depth += character === '{' ? 1 : character === '}' ? -1 : 0;
        if (depth < 0) t.fail(entry);
      }
      t.is(depth, 0);
      const field = /^ {2}title = \{\{(.*)\}\},$/m.exec(entry)?.[1] ?? '';
      t.is(shown(field), `${title} [CPI.M]`.replaceAll(/\s+/g, ' '));
    }),
  );
});

test('CSL-JSON has the members of its schema, with dates in parts', (t) => {
  const item = cslItem(cited);
  t.deepEqual(cslSchema.parse(item), item);
  t.like(item, {
    type: 'dataset',
    author: [{ literal: cited.publisher }],
    issued: { 'date-parts': [[2026, 11, 16]] },
    accessed: { 'date-parts': [[2026, 11, 23]] },
    version: '412',
    URL: cited.url,
  });
});
