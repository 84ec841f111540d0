import test from 'ava';
import { counted, nounOf } from './counted.ts';

test('a noun is singular for one, and for no other count', (t) => {
  t.deepEqual(
    [0, 1, 2, 1128].map((count) => counted(count, 'row')),
    ['0 rows', '1 row', '2 rows', '1128 rows'],
  );
  t.deepEqual(
    [0, 1, 2].map((count) => counted(count, 'entry', 'entries')),
    ['0 entries', '1 entry', '2 entries'],
  );
  t.is(nounOf(-1, 'row'), 'rows');
});
