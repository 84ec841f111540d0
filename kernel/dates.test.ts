import test from 'ava';
import fc from 'fast-check';
import {
  addDays,
  addMonths,
  dayNumber,
  fromDayNumber,
  isDate,
  parsePeriod,
  withinCalendar,
} from './dates.ts';

const days = fc.integer({ min: dayNumber('0001-01-01'), max: dayNumber('9998-12-31') }).map(fromDayNumber);

test('a date that does not exist is refused', (t) => {
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

test('adding and subtracting the same days returns the original date', (t) => {
  fc.assert(
    fc.property(
      days,
      fc.integer({ min: -300, max: 300 }),
      (date, n) => addDays(addDays(date, n), -n) === date,
    ),
  );
  t.is(addDays('2024-02-28', 2), '2024-03-01');
});

test('each month has the right number of days, in leap years and others', (t) => {
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

test('adding and subtracting the same months returns the original month, and the day if both months have it', (t) => {
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

test('a day number counts from 1970 and converts back to its date', (t) => {
  t.is(dayNumber('1970-01-01'), 0);
  t.is(dayNumber('1969-12-31'), -1);
  t.is(fromDayNumber(19_782), '2024-02-29');
  t.is(fromDayNumber(dayNumber('0001-01-01')), '0001-01-01');
});

test('a date beyond the calendar becomes its first or last day; any other is unchanged', (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: -719_162, max: 2_932_896 }),
      fc.integer({ min: -200_000, max: 200_000 }),
      (day, n) => {
        const date = fromDayNumber(day);
        for (const [moved, target] of [
          [addDays(date, n), day + n],
          [addMonths(date, n % 3_000), day + (n % 3_000) * 30.436875],
        ] as const) {
          const clamped = withinCalendar(moved);
          t.true(isDate(clamped), moved);
          if (isDate(moved)) t.is(clamped, moved);
          else t.is(clamped, target < 0 ? '0001-01-01' : '9999-12-31', moved);
        }
      },
    ),
  );
  t.is(withinCalendar(addMonths('0001-01-31', -1)), '0001-01-01');
  t.is(withinCalendar(addMonths('9999-12-01', 1)), '9999-12-31');
});
