// The format of times in the dashboard.
import test from 'ava';
import {
  dayText,
  instantText,
  monthText,
  periodText,
  referencePeriodText,
  shortDayText,
  timeOnText,
} from '../../../dashboard/text/times.ts';

test('a day is written out, whatever the time zone and language of the reader', (t) => {
  t.is(dayText('2020-09-05'), '5 Sep 2020');
  t.is(shortDayText('2020-12-31T23:59:59Z'), '31 Dec');
  t.is(instantText('2020-12-15T14:15:00Z'), '15 Dec 2020, 14:15');
  t.is(monthText('2020-12'), 'December 2020');
});

test('a time in UTC names its day where the publisher has another one', (t) => {
  t.is(timeOnText('2020-12-15T14:15:00Z', '2020-12-15'), '14:15');
  t.is(timeOnText('2020-12-14T23:30:00Z', '2020-12-15'), '14 Dec, 23:30');
});

test('the period of a release is named as that of a value, and any other text stays', (t) => {
  const named = ['2020-11', '2020-Q3', '2020-H1', '2020', '2020-13', 'week 14'].map(referencePeriodText);
  t.deepEqual(named, ['Nov 2020', 'Q3 2020', 'H1 2020', '2020', '2020-13', 'week 14']);
});

test('a date is named as the period of its frequency', (t) => {
  t.is(periodText('2020-09-30', 'monthly'), 'Sep 2020');
  t.is(periodText('2020-09-30', 'quarterly'), 'Q3 2020');
  t.is(periodText('2020-06-30', 'semiannual'), 'H1 2020');
  t.is(periodText('2020-12-31', 'annual'), '2020');
  t.is(periodText('2020-12-31', 'daily'), '31 Dec 2020');
  t.is(periodText('2020-12-31', 'irregular'), '31 Dec 2020');
});
