// Changes of an entry by picks: the entry and its text agree, comments stay, and a pick can be undone.
import test from 'ava';
import { addEntries, emptyDescription, parseEntry, changeEntry } from './entry-file.ts';
import type { TableDescription } from './entry-schema.ts';
import {
  changed,
  changeOf,
  linesOf,
  changedText,
  valuesAt,
  type Choice,
  type EntryChange,
} from './resolve-guesses.ts';
import { renamedBy } from '../preview/change-encoding.ts';
import type { Sample } from '../read/table-rows.ts';

const entryNow = (): TableDescription => ({
  ...{ file: 'a.csv', header: 1, first: 2, date: { column: 'Date', format: 'M/D/YYYY' }, values: 'Price' },
  series: { id: 'A', unit: 'not stated', frequency: 'daily', source: 'Tests' },
  guessed: ['date'],
});
const other: EntryChange = { 'date.format': 'D/M/YYYY', 'series.frequency': 'monthly', thousands: ',' };

test('a change is the same in the entry, in almanac.yml and in the text of one entry; other keys are unchanged', (t) => {
  const description = emptyDescription('folder');
  const entry = entryNow();
  addEntries(description, [{ entry, evidence: { values: 'it has numbers' }, title: 'a table' }]);
  const expected = changed(entryNow(), other);
  changeEntry(description, entry, other, 'picked: day\nfirst');
  t.deepEqual(entry, expected);
  t.deepEqual((description.document.toJS() as { tables: unknown[] }).tables, [expected]);
  const text = description.document.toString({ lineWidth: 0 });
  t.regex(text, /# it has numbers\n +values: Price/);
  t.regex(text, /# picked: day first\n +thousands: ","/);
  t.regex(text, /thousands: .*\n(?: +#.*\n)* +guessed: /, 'what nobody has confirmed stays last');
  const alone =
    'file: a.csv # ours\nheader: 1\nfirst: 2\ndate: { column: Date, format: M/D/YYYY }\nvalues: Price\nseries: { id: A, unit: not stated, frequency: daily, source: Tests }\nguessed: [date]\n';
  t.deepEqual(parseEntry(changedText(alone, [other])), expected);
  t.regex(changedText(alone, [other]), /a\.csv # ours/);
});

test('the previous values at the keys of a change revert it', (t) => {
  const now = valuesAt(entryNow(), [other]);
  t.deepEqual(now, { 'date.format': 'M/D/YYYY', 'series.frequency': 'daily', thousands: null });
  t.deepEqual(changed(changed(entryNow(), other), now), entryNow());
});

test('an option is picked by its number, and a text is accepted only where one is allowed', (t) => {
  const choice: Choice = {
    key: 'date',
    question: '',
    options: [
      { label: 'a', set: {} },
      { label: 'b', set: other },
    ],
    text: null,
  };
  t.is(changeOf(choice, { option: 1 }), other);
  t.is(changeOf(choice, { option: 2 }), null);
  t.is(changeOf(choice, { text: 'x' }), null);
  const typed: Choice = { key: 'series.unit', question: '', options: [], text: 'series.unit' };
  t.deepEqual(changeOf(typed, { text: ' Percent ' }), { 'series.unit': 'Percent' });
  t.is(changeOf(typed, { text: ' ' }), null);
});

test('the lines of a change are those of almanac.yml', (t) => {
  t.is(
    linesOf(entryNow(), other),
    'date: { column: Date, format: D/M/YYYY }; frequency: monthly under series; thousands: ","',
  );
  t.is(linesOf({ ...entryNow(), vintage: { in: 'file name' } }, { vintage: null }), 'no vintage');
  t.is(linesOf(entryNow(), { 'series.fiscal_year_end': null }), 'no fiscal_year_end under series');
});

test('another encoding changes titles, texts of cells, parts in braces, units in brackets and names made of titles', (t) => {
  const sample = (rows: string[][]): Sample => ({
    ...{ rows, lines: rows.map((_, at) => at + 1), isWhole: true, continued: new Set<number>() },
  });
  const entry: TableDescription = {
    ...{
      file: 'a.csv',
      encoding: 'windows-1252',
      header: 1,
      first: 2,
      date: { column: 'Rok' },
      values: ['Poèet (kè)'],
    },
    dimensions: { east: 'Èást' },
    leave_out: { Èást: ['Souèet'] },
    series: { id: 'a.{Èást}', name: '{column}', unit: 'kè', frequency: 'annual', source: 'Tests' },
  };
  const change = renamedBy(entry, 'windows-1250', {
    before: sample([
      ['Rok', 'Èást', 'Poèet (kè)'],
      ['2020', 'A', '1'],
      ['2021', 'Souèet', '2'],
    ]),
    after: sample([
      ['Rok', 'Část', 'Počet (kč)'],
      ['2020', 'A', '1'],
      ['2021', 'Součet', '2'],
    ]),
  });
  t.deepEqual(changed(entry, change), {
    ...entry,
    ...{
      encoding: 'windows-1250',
      values: ['Počet (kč)'],
      dimensions: { cast: 'Část' },
      leave_out: { Část: ['Součet'] },
    },
    series: { ...entry.series, id: 'a.{Část}', unit: 'kč' } as TableDescription['series'],
  });
});
