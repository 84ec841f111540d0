import test from 'ava';
import fc from 'fast-check';
import { dayNumber, fromDayNumber, isDate, parsePeriod } from '../kernel/dates.ts';
import { frequencies, periodEnd } from './periods.ts';

const days = fc.integer({ min: dayNumber('0001-01-01'), max: dayNumber('9998-12-31') }).map(fromDayNumber);
const frequency = fc.constantFrom(...frequencies);

test('periods are dated to their last day', (t) => {
  t.is(periodEnd('2024-02-15', 'monthly'), '2024-02-29');
  t.is(periodEnd('2024-01-01', 'quarterly'), '2024-03-31');
  t.is(periodEnd('2024-07-01', 'semiannual'), '2024-12-31');
  t.is(periodEnd('2024-06-30', 'annual'), '2024-12-31');
  t.is(periodEnd('2024-06-30', 'annual', '06-30'), '2024-06-30');
  t.is(periodEnd('2024-07-01', 'annual', '06-30'), '2025-06-30');
  t.is(periodEnd('2024-07-03', 'weekly'), '2024-07-03');
});

test('the end of a period is unchanged by the rule, never before the date, and in the same period', (t) => {
  fc.assert(
    fc.property(days, frequency, (date, f) => {
      const end = periodEnd(date, f);
      return isDate(end) && end >= date && periodEnd(end, f) === end;
    }),
  );
  t.pass();
});

test('every quarter, half-year and year begins and ends where its months do', (t) => {
  const ends = ['03-31', '06-30', '09-30', '12-31'];
  const starts = ['01-01', '04-01', '07-01', '10-01'];
  for (const quarter of [1, 2, 3, 4]) {
    const range = { from: `2023-${starts[quarter - 1]}`, to: `2023-${ends[quarter - 1]}` };
    t.deepEqual(parsePeriod(`2023-Q${quarter}`), range);
    for (const day of [range.from, range.to]) t.is(periodEnd(day, 'quarterly'), range.to);
  }
  t.deepEqual(parsePeriod('2023-H1'), { from: '2023-01-01', to: '2023-06-30' });
  for (const day of ['2023-01-01', '2023-06-30']) t.is(periodEnd(day, 'semiannual'), '2023-06-30');
  for (const day of ['2023-07-01', '2023-12-31']) t.is(periodEnd(day, 'semiannual'), '2023-12-31');
  for (const text of ['2023-Q0', '2023-H0', '2023-H3', '2023-q1', '2023-00', '2023-13', '2023Q1', '12023']) {
    t.is(parsePeriod(text), null, text);
  }
});

test('daily, weekly and irregular dates stay as published', (t) => {
  for (const each of ['daily', 'weekly', 'irregular'] as const)
    t.is(periodEnd('2024-02-15', each), '2024-02-15');
});

test('a fiscal year ends with its own month, in leap years too', (t) => {
  t.is(periodEnd('2024-02-01', 'annual', '02-28'), '2024-02-29');
  t.is(periodEnd('2024-03-01', 'annual', '02-28'), '2025-02-28');
  t.is(periodEnd('2024-01-01', 'annual', '01-31'), '2024-01-31');
  t.is(periodEnd('2024-12-31', 'annual', '12-31'), '2024-12-31');
});

test('a fiscal year may end within a month', (t) => {
  for (const day of ['2023-04-06', '2024-01-01', '2024-04-05'])
    t.is(periodEnd(day, 'annual', '04-05'), '2024-04-05');
  t.is(periodEnd('2024-04-06', 'annual', '04-05'), '2025-04-05');
  t.is(periodEnd('2024-07-16', 'annual', '07-15'), '2025-07-15');
  t.is(periodEnd('2023-03-01', 'annual', '02-29'), '2024-02-29');
});
