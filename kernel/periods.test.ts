import test from 'ava';
import fc from 'fast-check';
import {
  addDays,
  addMonths,
  dayNumber,
  frequencies,
  fromDayNumber,
  isDate,
  parsePeriod,
  periodEnd,
} from './periods.ts';

const days = fc.integer({ min: dayNumber('0001-01-01'), max: dayNumber('9998-12-31') }).map(fromDayNumber);
const frequency = fc.constantFrom(...frequencies);

test('a date that does not exist is no date', (t) => {
  for (const text of [
    '2024-02-30',
    '2023-02-29',
    '1900-02-29',
    '2024-13-01',
    '2024-00-10',
    '2024-1-1',
    '0000-01-01',
    '',
  ]) {
    t.false(isDate(text), text);
  }
  for (const text of ['2024-02-29', '2000-02-29', '0001-01-01', '9999-12-31']) t.true(isDate(text), text);
});

test('periods are dated to their last day', (t) => {
  t.is(periodEnd('2024-02-15', 'monthly'), '2024-02-29');
  t.is(periodEnd('2024-01-01', 'quarterly'), '2024-03-31');
  t.is(periodEnd('2024-07-01', 'semiannual'), '2024-12-31');
  t.is(periodEnd('2024-06-30', 'annual'), '2024-12-31');
  t.is(periodEnd('2024-06-30', 'annual', '06-30'), '2024-06-30');
  t.is(periodEnd('2024-07-01', 'annual', '06-30'), '2025-06-30');
  t.is(periodEnd('2024-07-03', 'weekly'), '2024-07-03');
});

test('the end of a period is its own end, never before the date, and in the same period', (t) => {
  fc.assert(
    fc.property(days, frequency, (date, f) => {
      const end = periodEnd(date, f);
      return isDate(end) && end >= date && periodEnd(end, f) === end;
    }),
  );
  t.pass();
});

test('a partial date means its whole period', (t) => {
  t.deepEqual(parsePeriod('2024'), { from: '2024-01-01', to: '2024-12-31' });
  t.deepEqual(parsePeriod('2024-02'), { from: '2024-02-01', to: '2024-02-29' });
  t.deepEqual(parsePeriod('2024-Q3'), { from: '2024-07-01', to: '2024-09-30' });
  t.deepEqual(parsePeriod('2024-H2'), { from: '2024-07-01', to: '2024-12-31' });
  t.deepEqual(parsePeriod('2024-03-05'), { from: '2024-03-05', to: '2024-03-05' });
  for (const text of ['2024-02-30', '24', '2024-Q5', '2024-', '0000', ' 2024', '2024-03-05T00:00'])
    t.is(parsePeriod(text), null);
});

test('a year earlier than 29 February is 28 February', (t) => {
  t.is(addMonths('2024-02-29', -12), '2023-02-28');
  t.is(addMonths('2024-01-31', 1), '2024-02-29');
  t.is(addMonths('2024-01-15', -1), '2023-12-15');
});

test('days added and taken away again give the date back', (t) => {
  fc.assert(
    fc.property(
      days,
      fc.integer({ min: -300, max: 300 }),
      (date, n) => addDays(addDays(date, n), -n) === date,
    ),
  );
  t.is(addDays('2024-02-28', 2), '2024-03-01');
});
