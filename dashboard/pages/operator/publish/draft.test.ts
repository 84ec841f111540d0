// What is asked of the API for a table, and that it is kept for that table alone.
import test from 'ava';
import { emptyDraft, keepDraft, keptDraft, wishOf, type Draft } from './draft.ts';

const draft: Draft = {
  facts: { unit: ' Percent ', source: '', name: 'Prices' },
  entry: 'header: 2\n',
  picks: { date: 1 },
};

test('facts that are not filled in are not sent, so that they stay as they were found', (t) => {
  t.deepEqual(wishOf(0, emptyDraft), { table: 0 });
  t.deepEqual(wishOf(0, { ...emptyDraft, facts: { unit: ' ', source: '', name: '' } }), { table: 0 });
});

test('facts are sent trimmed, and an entry as it was edited', (t) => {
  t.deepEqual(wishOf(3, draft), {
    table: 3,
    entry: 'header: 2\n',
    set: { unit: 'Percent', name: 'Prices' },
  });
  t.deepEqual(wishOf(0, { ...emptyDraft, entry: '' }), { table: 0, entry: '' });
});

test.serial('a draft is kept for its table, and no other table has it', (t) => {
  t.deepEqual(keptDraft('one 0'), emptyDraft);
  keepDraft('one 0', draft);
  t.deepEqual(keptDraft('one 0'), draft);
  t.deepEqual(keptDraft('one 1'), emptyDraft);
  keepDraft('one 0', emptyDraft);
  t.deepEqual(keptDraft('one 0'), emptyDraft);
});
