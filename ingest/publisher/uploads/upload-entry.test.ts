// The entry by which a table of an upload is published: given facts take precedence, and no guess remains to be confirmed.
import test from 'ava';
import { IngestFailure } from '../../failure.ts';
import { entryOf } from './upload-entry.ts';

const yaml = `file: prices-*.csv
header: 1
first: 2
date: { column: date }
values: '*'
series: { id: 'P.{column}', unit: Index, frequency: monthly, source: folder }
columns:
  Rice: { id: RICE, unit: Rupee, name: Rice }
guessed: [series.unit]
`;

test('a given fact overrides those of all series and of single columns; other facts are unchanged', (t) => {
  const entry = entryOf(yaml, { name: 'prices-2024.csv', facts: { unit: 'Percent', source: 'Tests' } });
  t.deepEqual(entry.series, { id: 'P.{column}', unit: 'Percent', frequency: 'monthly', source: 'Tests' });
  t.deepEqual(entry.columns, { Rice: { id: 'RICE', name: 'Rice' } });
  t.false('guessed' in entry);
  const { columns, series } = entryOf(yaml, { name: 'prices-2024.csv', facts: {} });
  t.like(columns, { Rice: { unit: 'Rupee' } });
  t.like(series, { unit: 'Index' });
});

test('an entry that is for other files, or skips the table, is refused', (t) => {
  for (const [text, why] of [
    [
      yaml.replace('prices-*.csv', '[other.csv, more/prices-*.csv]'),
      /^file: other\.csv, more\/prices-\*\.csv does not match the uploaded file/,
    ],
    [`${yaml}skip: no need\n`, /^The entry excludes the table \(skip: no need\)/],
    ['just text', /^The entry cannot be used:\n {2}line 1/],
  ] as const)
    t.regex(
      t.throws(() => entryOf(text, { name: 'prices-2024.csv', facts: {} }), { instanceOf: IngestFailure })
        .message,
      why,
    );
});
