// The months of the calendar.
import test from 'ava';
import { daysOfMonth, monthAfter } from '../../dashboard/pages/calendar-months.ts';

test('a month is shown in whole weeks from Monday to Sunday, no week without a day of it', (t) => {
  for (let month = '2023-12'; month < '2028-04'; month = monthAfter(month, 1)) {
    const weeks = daysOfMonth(month);
    t.is(new Date(weeks[0]?.[0] ?? '').getUTCDay(), 1);
    for (const week of weeks) t.true(week.length === 7 && week.some((day) => day.startsWith(month)), month);
    const own = weeks.flat().filter((day) => day.startsWith(month));
    t.is(own[0], `${month}-01`);
    t.is(new Date(Date.parse(own.at(-1) ?? '') + 86_400_000).getUTCDate(), 1);
  }
});

test('the month after December is January of the next year', (t) => {
  t.is(monthAfter('2026-12', 1), '2027-01');
  t.is(monthAfter('2027-01', -1), '2026-12');
});
