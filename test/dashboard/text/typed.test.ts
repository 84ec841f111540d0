// Names that are typed to confirm a change.
import test from 'ava';
import { isTyped } from '../../../dashboard/text/typed.ts';

test('a name is confirmed by typing what is shown, and by nothing else', (t) => {
  t.true(isTyped('prod key', 'prod  key'));
  t.true(isTyped('prod key', 'prod\u00a0key'));
  t.true(isTyped('café', 'cafe\u0301'));
  t.true(isTyped('Notebook', 'Note\u00adbook\u200b'));
  t.false(isTyped('prodkey', 'prod key'));
  t.false(isTyped('Prod key', 'prod key'));
  t.false(isTyped('cafe', 'café'));
  t.false(isTyped('', 'prod key'));
});
