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

test('each month has its days, in leap years and others', (t) => {
  const lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  for (const year of ['2023', '2024', '1900', '2000', '0004']) {
    for (const [i, length] of lengths.entries()) {
      const month = `${year}-${String(i + 1).padStart(2, '0')}`;
      const last = length + (i === 1 && ['2024', '2000', '0004'].includes(year) ? 1 : 0);
      t.true(isDate(`${month}-${last}`), month);
      t.false(isDate(`${month}-${last + 1}`), month);
      t.false(isDate(`${month}-00`), month);
      t.deepEqual(parsePeriod(month), { from: `${month}-01`, to: `${month}-${last}` });
    }
  }
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

test('daily, weekly and irregular dates stay as they were published', (t) => {
  for (const each of ['daily', 'weekly', 'irregular'] as const)
    t.is(periodEnd('2024-02-15', each), '2024-02-15');
});

test('a fiscal year ends with its own month, in leap years too', (t) => {
  t.is(periodEnd('2024-02-01', 'annual', '02-28'), '2024-02-29');
  t.is(periodEnd('2024-03-01', 'annual', '02-28'), '2025-02-28');
  t.is(periodEnd('2024-01-01', 'annual', '01-31'), '2024-01-31');
  t.is(periodEnd('2024-12-31', 'annual', '12-31'), '2024-12-31');
});

test('months added and taken away again give the month back, and the day where both months have it', (t) => {
  fc.assert(
    fc.property(days, fc.integer({ min: -600, max: 600 }), (date, months) => {
      fc.pre(Number(date.slice(0, 4)) > 100 && Number(date.slice(0, 4)) < 9_900);
      const moved = addMonths(date, months);
      const back = addMonths(moved, -months);
      const month = (text: string) => Number(text.slice(0, 4)) * 12 + Number(text.slice(5, 7));
      return (
        isDate(moved) &&
        month(moved) - month(date) === months &&
        back.slice(0, 7) === date.slice(0, 7) &&
        (Number(date.slice(8)) > 28 || back === date)
      );
    }),
  );
  t.is(addMonths('2024-12-31', 2), '2025-02-28');
  t.is(addMonths('2024-01-31', -1), '2023-12-31');
});

test('a day number counts from 1970, and gives the date back', (t) => {
  t.is(dayNumber('1970-01-01'), 0);
  t.is(dayNumber('1969-12-31'), -1);
  t.is(fromDayNumber(19_782), '2024-02-29');
  t.is(fromDayNumber(dayNumber('0001-01-01')), '0001-01-01');
});
