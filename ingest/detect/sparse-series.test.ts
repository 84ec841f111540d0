import test from 'ava';
import { proposed as proposedRows } from '../../test/ingest/proposing.ts';

const proposed = (lines: readonly string[]) => proposedRows(lines.map((line) => line.split(',')));
const months = Array.from({ length: 24 }, (_, at) => {
  const month = String((at % 12) + 1).padStart(2, '0');
  return { month: `${2022 + Math.floor(at / 12)}-${month}`, isEnd: at % 3 === 2, at };
});

test('a series that has values only once a quarter, among others of months in one column, makes the frequency a guess', (t) => {
  const { entry, evidence } = proposed([
    'Month,Series,Value',
    ...months.flatMap(({ month, isEnd, at }) => [
      `${month},CPI,${at + 100}`,
      ...(isEnd ? [`${month},GDP,${at}.5`] : []),
    ]),
  ]);
  t.is(entry.series?.frequency, 'monthly');
  t.true(entry.guessed?.includes('series.frequency'));
  t.regex(evidence['series.frequency'] ?? '', /1 of 2 series, such as GDP, has a value only once a quarter/);
});

test('a row with values only once a quarter, below periods across the columns, makes the frequency a guess', (t) => {
  const row = (name: string, has: (isEnd: boolean) => boolean) =>
    [name, ...months.map(({ isEnd, at }) => (has(isEnd) ? `${at}.5` : ''))].join(',');
  const { entry, evidence } = proposed([
    ['Series', ...months.map(({ month }) => month)].join(','),
    row('CPI', () => true),
    row('GDP', (isEnd) => isEnd),
  ]);
  t.is(entry.series?.frequency, 'monthly');
  t.true(entry.guessed?.includes('series.frequency'));
  t.regex(evidence['series.frequency'] ?? '', /1 of 2 series, such as GDP, has/);
});

test('a column with values only once a quarter, the only one of its table, makes the frequency a guess', (t) => {
  const { entry, evidence } = proposed([
    'Month,GDP',
    ...months.map(({ month, isEnd, at }) => `${month},${isEnd ? at : ''}`),
  ]);
  t.is(entry.series?.frequency, 'monthly');
  t.true(entry.guessed?.includes('series.frequency'));
  t.regex(evidence['series.frequency'] ?? '', /; GDP has a value only once a quarter/);
});

test('values that are missing here and there, or three of them a quarter apart among others, are monthly without a question', (t) => {
  const { entry } = proposed([
    'Month,A,B',
    ...months.map(
      ({ month, at }) => `${month},${at % 5 === 0 ? '' : at},${at > 10 && at % 3 !== 2 ? at : ''}`,
    ),
  ]);
  t.is(entry.series?.frequency, 'monthly');
  t.is(entry.columns, undefined);
  t.false(entry.guessed?.some((key) => /columns|frequency/.test(key)) ?? false);
});

test('a column of weeks in a table of working days is a guess of its own frequency; one without the holidays is not', (t) => {
  const days = Array.from({ length: 60 }, (_, at) => new Date(Date.UTC(2024, 0, 1 + at))).filter(
    (day) => day.getUTCDay() % 6 !== 0,
  );
  const { entry, evidence } = proposed([
    'Date,Rate,Reserves,Bonds',
    ...days.map(
      (day, at) =>
        `${day.toISOString().slice(0, 10)},${at},${day.getUTCDay() === 5 ? at : ''},${at % 9 === 4 ? '' : at}`,
    ),
  ]);
  t.deepEqual(entry.columns, { Reserves: { frequency: 'weekly' } });
  t.deepEqual(entry.guessed, ['columns']);
  t.regex(evidence['columns'] ?? '', /Reserves has a value only once a week/);
});

test('a series that is quarterly up to a date and monthly from then on makes the frequency a guess', (t) => {
  const { entry, evidence } = proposed([
    'Month,Prices,Jobs',
    ...months.map(({ month, isEnd, at }) => `${month},${at},${at < 12 && !isEnd ? '' : at + 50}`),
  ]);
  t.true(entry.guessed?.includes('series.frequency'));
  const why = /Jobs has a value once a quarter up to 2022-12-31, and once a month from then on/;
  t.regex(evidence['series.frequency'] ?? '', why);
});

test('a series with one value for the months of each quarter makes the frequency a guess; one that seldom changes does not', (t) => {
  const table = (length: number) => [
    'Month,Prices,GDP',
    ...months.map(({ month, at }) => `${month},${at},${Math.floor(at / length) + 50}`),
  ];
  const { entry, evidence } = proposed(table(3));
  t.true(entry.guessed?.includes('series.frequency'));
  t.regex(
    evidence['series.frequency'] ?? '',
    /GDP has one value for all dates of each quarter, and may be quarterly/,
  );
  for (const length of [5, 8]) t.is(proposed(table(length)).entry.guessed, undefined);
});
