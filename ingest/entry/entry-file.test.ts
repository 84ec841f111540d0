import { readFileSync } from 'node:fs';
import test from 'ava';
import { IngestFailure } from '../failure.ts';
import { addEntries, confirmGuesses, emptyDescription, parseDescription } from './entry-file.ts';
import { jsonSchema } from './entry-schema.ts';

const entry = `version: 1
name: prices
tables:
  - file: a.csv # ours
    header: 1
    first: 2
    date: { column: Date }
    values: Price
    series: { id: A, unit: USD, frequency: monthly, source: Tests }
`;

function faultOf(text: string): string {
  try {
    parseDescription(text, 'almanac.yml');
  } catch (error) {
    if (error instanceof IngestFailure) return error.message;
    throw error;
  }
  throw new Error('the description should have been refused');
}

test('a wrong key is reported with its line, the nearest key and all allowed keys', (t) => {
  const fault = faultOf(entry.replace('values:', 'valuse:'));
  t.regex(
    fault,
    /line 8, tables\[0\]\.valuse: is not a key here\. Did you mean "values"\? Allowed: file, sheet, /,
  );
  t.regex(
    faultOf(entry.replace('unit: USD', 'units: USD')),
    /line 9, tables\[0\]\.series\.units: .*Did you mean "unit"\?/,
  );
  t.regex(
    faultOf(entry.replace('column: Date', 'colum: Date')),
    /line 7, tables\[0\]\.date\.colum: .*Did you mean "column"\?/,
  );
});

test('a wrong value is reported with its line, and so is invalid YAML', (t) => {
  t.regex(
    faultOf(entry.replace('first: 2', 'first: two')),
    /line 6, tables\[0\]\.first: must be a whole number$/,
  );
  t.regex(faultOf(entry.replace('version: 1', 'version: 2')), /line 1, version: must be 1$/);
  t.regex(faultOf(entry.replace('name: prices\n', '')), /line 1, name: is missing: it must be text$/);
  t.regex(faultOf(''), /line 1, the file: must be \{ version, name, tables \}$/);
  t.regex(
    faultOf(entry.replace('{ column: Date }', 'Date')),
    /line 7, tables\[0\]\.date: .*\{ column, format, language, marks, fill \}/,
  );
  t.regex(faultOf(`${entry}  - file: [\n`), /line 1\d: /);
  t.regex(
    faultOf(entry.replace('    header', '    only: { Code: "(" }\n    header')),
    /line 5, tables\[0\]\.only\.Code: is not a regular expression/,
  );
});

test('a text that PostgreSQL cannot store is reported with its line', (t) => {
  for (const escaped of ['\\0', '\\uD83D'])
    for (const quoted of [`"U${escaped}"`, `USD, "${escaped}": x`])
      t.regex(
        faultOf(entry.replace('unit: USD', `unit: ${quoted}`)),
        /line 9: a text has U\+0000 or half of a character/,
      );
  t.notThrows(() => parseDescription(entry.replace('unit: USD', 'unit: "\\uD83D\\uDE00"'), 'almanac.yml'));
});

test('entries are added with their evidence, and existing text keeps its comments', (t) => {
  const file = parseDescription(entry, 'almanac.yml');
  addEntries(file, [
    {
      entry: { file: 'b.csv', header: 1, guessed: ['header'] },
      evidence: { header: 'line 1\nnames: the columns' },
      title: '3 rows',
    },
  ]);
  const text = file.document.toString({ lineWidth: 0 });
  t.true(text.startsWith(entry));
  t.regex(text, /# guess: line 1 names: the columns\n {4}header: 1\n/);
  const again = parseDescription(text, 'almanac.yml');
  t.deepEqual(again.description, file.description);
  confirmGuesses(again, again.description.tables.slice(1));
  t.notRegex(again.document.toString(), /guessed/);
  t.is(
    parseDescription(emptyDescription('x').document.toString(), 'almanac.yml').description.tables.length,
    0,
  );
});

test('the JSON Schema for editors matches the program', (t) => {
  const file = new URL('./almanac.schema.json', import.meta.url);
  t.deepEqual(JSON.parse(readFileSync(file, 'utf8')), JSON.parse(JSON.stringify(jsonSchema())));
});
