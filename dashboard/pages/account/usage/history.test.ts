// The usage of an account as bars.
import test from 'ava';
import { historyOf, monthOf, periodOf, viewOf } from './history.ts';

const now = Date.parse('2026-11-23T14:00:00Z');
const view = (query: string) => viewOf(new URLSearchParams(query));

test('missing or invalid parameters of the URL have their defaults', (t) => {
  t.deepEqual(view(''), { range: '30d', by: 'status', only: null });
  t.deepEqual(view('range=7d&by=key&only=key_a'), { range: '7d', by: 'key', only: 'key_a' });
  t.deepEqual(view('range=9d&by=day'), { range: '30d', by: 'status', only: null });
});

test('a range ends today and has the stated number of days', (t) => {
  t.deepEqual(periodOf('7d', now), { from: '2026-11-17', to: '2026-11-23', interval: 'day' });
  t.deepEqual(periodOf('month', now), { from: '2026-11-01', to: '2026-11-23', interval: 'day' });
  t.deepEqual(periodOf('12m', now), { from: '2025-12-01', to: '2026-11-23', interval: 'month' });
});

test('the bars of all groups add up to the rows, and days without calls have a bar', (t) => {
  const rows = [
    { date: '2026-11-20', status: '2xx', calls: 7, billed: 7 },
    { date: '2026-11-23', status: '4xx', calls: 2, billed: 0 },
    { date: '2026-11-23', status: '2xx', calls: 5, billed: 5 },
  ];
  const found = historyOf(rows, view('range=7d'), now);
  t.is(found.bars.length, 7);
  t.deepEqual(found.groups, [
    { id: '2xx', calls: 12, billed: 12 },
    { id: '4xx', calls: 2, billed: 0 },
  ]);
  t.deepEqual(found.bars.at(-1), { date: '2026-11-23', calls: [5, 2], total: 7 });
  t.is(found.calls, 14);
  t.is(found.billed, 12);
});

test('one group alone has its own sum, and the list of groups stays whole', (t) => {
  const rows = [
    { date: '2026-11-22', key_id: 'key_a', calls: 3, billed: 3 },
    { date: '2026-11-22', key_id: 'key_b', calls: 9, billed: 9 },
  ];
  const found = historyOf(rows, view('range=7d&by=key&only=key_a'), now);
  t.is(found.calls, 3);
  t.deepEqual(
    found.groups.map(({ id }) => id),
    ['key_b', 'key_a'],
  );
});

test('the rows of months fall into their months', (t) => {
  const rows = [{ date: '2026-10-31', status: '2xx', calls: 4, billed: 4 }];
  const found = historyOf(rows, view('range=12m'), now);
  t.is(found.bars.length, 12);
  t.is(found.bars.at(-2)?.total, 4);
});

test('the month of a reset is the one before it', (t) => {
  const { from, to } = monthOf('2026-12-01T00:00:00Z');
  t.is(new Date(from).toISOString(), '2026-11-01T00:00:00.000Z');
  t.is(new Date(to).toISOString(), '2026-12-01T00:00:00.000Z');
});
