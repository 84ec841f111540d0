// The projection of a month's calls.
import test from 'ava';
import { elapsedPart, project } from './projection.ts';

const day = 86_400_000;
const from = Date.parse('2026-11-01T00:00:00Z');
const to = Date.parse('2026-12-01T00:00:00Z');
const month = { from, to, limit: 1000, used: 0, days: [] };

test('the projection begins on the third day', (t) => {
  t.is(project({ ...month, now: from + 2 * day - 1, used: 500 }), null);
  t.not(project({ ...month, now: from + 2 * day, used: 500 }), null);
});

test('the pace is the mean of the past days and determines when the limit is reached', (t) => {
  const found = project({ ...month, now: from + 10 * day, used: 500, days: Array<number>(10).fill(50) });
  t.deepEqual(found, { expected: 1500, spread: 0, exhaustedAt: from + 20 * day });
});

test('a limit that is not reached, is passed already or does not exist has no day of exhaustion', (t) => {
  const now = from + 10 * day;
  t.is(project({ ...month, now, used: 300 })?.exhaustedAt, null);
  t.is(project({ ...month, now, used: 1000 })?.exhaustedAt, null);
  t.is(project({ ...month, now, used: 900, limit: null })?.exhaustedAt, null);
  t.is(project({ ...month, now, used: 0 })?.expected, 0);
});

test('days that differ make the end uncertain, the more days are left the more', (t) => {
  const days = [0, 100, 0, 100];
  const early = project({ ...month, now: from + 4 * day, used: 200, days })?.spread ?? 0;
  const late = project({ ...month, now: from + 25 * day, used: 200, days })?.spread ?? 0;
  t.true(early > late && late > 0);
});

test('the part of the month that is over is from 0 to 1', (t) => {
  t.is(elapsedPart({ from, to, now: from + 15 * day }), 0.5);
  t.is(elapsedPart({ from, to, now: from - day }), 0);
  t.is(elapsedPart({ from, to, now: to + day }), 1);
});
