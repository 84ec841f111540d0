// The displayed result of a release: the counts of its check, then those of the release, or why it failed.
import test from 'ava';
import { countsOf, failureOf } from './counts.ts';

const counts = { points_new: 1, points_revised: 2, points_unchanged: 3, points_deleted: 4 };
const others = { points_new: 5, points_revised: 6, points_unchanged: 7, points_deleted: 8 };

test('before a release is made its counts are those of the check, afterwards its own', (t) => {
  for (const state of ['pending', 'held', 'failed', 'cancelled'] as const)
    t.deepEqual(countsOf({ state, checked: { rows_read: 9, ...counts }, outcome: { message: 'x' } }), counts);
  t.deepEqual(countsOf({ state: 'released', checked: counts, outcome: { seconds: 1, ...others } }), others);
});

test('counts missing from a report are not shown as 0', (t) => {
  t.is(
    countsOf({ state: 'pending', checked: { ...counts, points_new: undefined }, outcome: null }),
    undefined,
  );
  t.is(countsOf({ state: 'pending', checked: {}, outcome: null }), undefined);
});

test('only a release that has failed has a reason', (t) => {
  t.is(failureOf({ state: 'pending', checked: counts, outcome: null }), null);
  t.is(failureOf({ state: 'released', checked: counts, outcome: others }), null);
  const outcome = { code: 'invalid_rows', message: '12 rows are not valid.' };
  t.is(failureOf({ state: 'failed', checked: counts, outcome }), '12 rows are not valid.');
  t.is(failureOf({ state: 'failed', checked: counts, outcome: null }), 'No reason is recorded.');
});
