// The API request for a table; and a draft belongs only to its own table.
import test from 'ava';
import {
  confirmedBy,
  emptyDraft,
  pickedIn,
  storeDraft,
  storedDraft,
  openGuesses,
  requestOf,
  type Draft,
} from './unpublished-input.ts';
import { factFields } from './fact-fields.ts';

const asked = (text: string) => ({ key: text, question: `Nobody has stated ${text}.`, options: [], text });
const found = {
  sure: [{ path: 'series.name', value: 'Prices, {column}' }],
  guesses: [{ path: 'date', value: 'Date' }],
  choices: [asked('columns.Price, net.unit'), asked('columns.Index 1.5.unit'), asked('series.source')],
};
const fields = factFields(found);
const draft: Draft = {
  facts: { 'columns.Price, net.unit': ' USD ', source: '', name: 'Prices' },
  entry: 'header: 2\n',
  picks: { date: 1 },
  confirmed: [],
};

test('a missing unit has an empty field for each column, and a known fact the field of all series', (t) => {
  t.deepEqual(
    fields.map(({ label, fact, found: text }) => [label, fact, text]),
    [
      ['Unit of Price, net', 'columns.Price, net.unit', ''],
      ['Unit of Index 1.5', 'columns.Index 1.5.unit', ''],
      ['Source', 'source', ''],
      ['Name', 'name', 'Prices'],
    ],
  );
  const guessed = {
    ...found,
    guesses: [{ path: 'series.unit', value: 'Percent' }],
    choices: [asked('series.unit')],
  };
  t.deepEqual(
    factFields(guessed).map(({ label, found: text }) => [label, text]),
    [
      ['Unit', 'Percent'],
      ['Source', ''],
      ['Name', 'Prices'],
    ],
  );
});

test('facts that are not filled in, or as they were found, are not sent; others are sent trimmed', (t) => {
  t.deepEqual(requestOf(0, emptyDraft, fields), { table: 0 });
  t.deepEqual(requestOf(0, { ...emptyDraft, facts: { source: ' ', name: 'Prices' } }, fields), { table: 0 });
  t.deepEqual(requestOf(3, draft, fields), {
    table: 3,
    entry: 'header: 2\n',
    set: { 'columns.Price, net.unit': 'USD' },
  });
  t.deepEqual(requestOf(0, { ...emptyDraft, entry: '' }, fields), { table: 0, entry: '' });
});

test('a guess is open until it is confirmed, one by one or several at once', (t) => {
  const guesses = [{ path: 'date' }, { path: 'series.unit' }];
  const one = confirmedBy(emptyDraft, ['date'], true);
  t.deepEqual(openGuesses(guesses, one), ['series.unit']);
  t.deepEqual(openGuesses(guesses, confirmedBy(one, ['date', 'series.unit'], true)), []);
  t.deepEqual(openGuesses(guesses, confirmedBy(one, ['date'], false)), ['date', 'series.unit']);
});

test('a picked reading keeps what was typed meanwhile, and confirms its guess', (t) => {
  const picked = pickedIn({ ...draft, confirmed: ['values'] }, { decimal: 2 }, 'decimal: ","\n');
  t.deepEqual(picked, {
    facts: draft.facts,
    entry: 'decimal: ","\n',
    picks: { date: 1, decimal: 2 },
    confirmed: ['values', 'decimal'],
  });
});

test.serial('each table keeps its own draft', (t) => {
  t.deepEqual(storedDraft('one 0'), emptyDraft);
  storeDraft('one 0', draft);
  t.deepEqual(storedDraft('one 0'), draft);
  t.deepEqual(storedDraft('one 1'), emptyDraft);
  storeDraft('one 1', { ...emptyDraft, entry: 'header: 3\n' });
  t.deepEqual(storedDraft('one 0'), draft);
  storeDraft('one 0', emptyDraft);
  t.deepEqual(storedDraft('one 0'), emptyDraft);
});
