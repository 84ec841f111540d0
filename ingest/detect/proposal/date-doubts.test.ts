// Ambiguous dates of tables: each makes a question, or is refused with the reason.
import test from 'ava';
import { proposed } from '../../../test/ingest/proposing.ts';

const years = Array.from({ length: 8 }, (_, at) => String(2015 + at));

test('days and months in both orders are refused', (t) => {
  const rows = Array.from({ length: 20 }, (_, at) => [
    at < 12 ? `1/${at + 1}/2023` : `${at + 1}/1/2023`,
    `${at}.5`,
  ]);
  t.regex(
    proposed([['Date', 'Rate'], ...rows]).entry.skip ?? '',
    /Date mixes day-first and month-first dates: .* "1\/2\/2023" fits the dates around it only in the other/,
  );
  const sorted = Array.from({ length: 20 }, (_, at) => [`${at + 1}/1/2023`, `${at}.5`]);
  t.like(proposed([['Date', 'Rate'], ...sorted]).entry, { date: { column: 'Date', format: 'D/M/YYYY' } });
});

test('numbers under a title for weeks are weeks, or need confirmation', (t) => {
  const of = (write: (week: string) => string) =>
    proposed([['Week', 'Deaths'], ...Array.from({ length: 10 }, (_, at) => [write(String(at + 1).padStart(2, '0')), `${900 + at}`])]).entry; // prettier-ignore
  t.like(
    of((week) => `2023/${week}`),
    { date: { format: 'YYYY/W' }, series: { frequency: 'weekly' } },
  );
  t.true(of((week) => `${week}/2023`).guessed?.includes('date'));
});

test('periods of two, five or nine months are refused by what they are', (t) => {
  const skip = (...periods: string[]) =>
    proposed([
      ['Item', ...periods],
      ['Exports', ...periods.map((_, at) => `${at}.5`)],
    ]).entry.skip ?? '';
  t.regex(skip('Jul-Nov 2022', 'Jul-Nov 2023'), /^"Jul-Nov 2022" and others have 5 months/);
  t.regex(skip('Jan-Feb 2023', 'Mar-Apr 2023', 'May-Jun 2023'), /have 2 months/);
  t.is(skip('Jan-Mar 2022', 'Jan-Mar 2023'), '');
});

test('rows without a readable date are left out only if they are fewer than the others', (t) => {
  const periods = ['Jan-Mar 2023', 'Jan-Jun 2023', 'Jan-Sep 2023', 'Jan-Dec 2023'];
  const { entry } = proposed([['Period', 'Output'], ...periods.map((period, at) => [period, `${at}.5`])]);
  t.regex(entry.skip ?? '', /^3 rows with numbers have no readable date in Period/);
});

test('years that are all far ahead may be of another calendar', (t) => {
  const { entry, evidence } = proposed([
    ['Year', 'GDP'],
    ...years.map((year, at) => [String(Number(year) + 57), `${at}.5`]),
  ]);
  t.true(entry.guessed?.includes('date'));
  t.regex(evidence['date'] ?? '', /all dates are after 2036, and may be of another calendar/);
});

test('years of the Buddhist era are read once confirmed', (t) => {
  const rows = years.map((year, at) => [String(Number(year) + 543), `${at}.5`]);
  const { entry, evidence } = proposed([['ปี', 'GDP'], ...rows]);
  t.deepEqual(entry.date, { column: 'ปี', format: 'Buddhist year' });
  t.true(entry.guessed?.includes('date'));
  t.regex(evidence['date'] ?? '', /"2558", read as 2015/);
});

test('a title of weeks or months above other periods, and days that are all of January, are asked about', (t) => {
  const guessed = (title: string, first: number) =>
    proposed([[title, 'Deaths'], ...years.map((_, at) => [String(first + at), `${900 + at}`])]).entry.guessed;
  for (const title of ['Epiweek', 'yearweek', 'Kalenderwoche', 'Week'])
    t.true(guessed(title, 202401)?.includes('date'), title);
  t.true(guessed('Month', 2001)?.includes('date'));
  t.is(guessed('Month', 202401), undefined);
  t.true(guessed('Date', 23376)?.includes('date'), 'days since 1960');
  const days = (month: string) =>
    ['2022', '2023'].flatMap((year) => ['01', '02', '03', '04', '05'].map((day) => [`${year}-${month}-${day}`, `1.${day}`])); // prettier-ignore
  t.true(proposed([['Date', 'Rate'], ...days('01')]).entry.guessed?.includes('date'), 'months read as days');
  t.not(proposed([['Date', 'Rate'], ...days('03')]).entry.guessed?.includes('date'), true);
});

test('annual columns with the names of months in their titles, and numbers of rows behind the dates, are asked about', (t) => {
  const table = (...titles: string[]) =>
    proposed([['Year', ...titles], ...years.map((year, at) => [year, `${at + 1}`, `${at * 7}`])]);
  t.regex(
    table('Value-Jan', 'Value-Feb').evidence['values'] ?? '',
    /Value-Jan, Value-Feb may state the month or quarter/,
  );
  t.regex(table('nr tabeli', 'Value').evidence['ignore'] ?? '', /nr tabeli/);
  t.regex(table('nr tabeli', 'Rate').evidence['values'] ?? '', /nr tabeli counts the rows/);
  t.is(table('March past', 'Rate').entry.guessed, undefined);
  t.is(table('Men', 'Women').entry.guessed, undefined);
});

test('years below a title or line that names another calendar need confirmation', (t) => {
  const of = (title: string, above?: string) =>
    proposed([...(above === undefined ? [] : [[above]]), [title, 'Value'], ...years.map((year, at) => [year, `${at}.5`])]).entry.guessed?.includes('date') === true; // prettier-ignore
  for (const title of ['Year (E.C.)', 'EFY', 'Year (B.S.)', 'Saka year', 'Year (A.H.)'])
    t.true(of(title), title);
  t.true(of('Year', 'Crops by Ethiopian calendar'));
  t.false(of('Year', 'Exports to the EC, Basic Statistics'));
  t.false(of('Year'));
});

test('values of several months, and titles with quarters in brackets or among words, need confirmation', (t) => {
  const months = years.flatMap((year) => [`${year}-11`, `${year}-12`]);
  const of = (title: string) =>
    proposed([[title, 'Value'], ...months.map((month, at) => [month, `${at}.5`])]).entry.guessed?.includes('date') === true; // prettier-ignore
  t.deepEqual([of('3 months ended'), of('Twelve months to'), of('Months')], [true, true, false]);
  const rows = years.map((year, at) => [year, ...[1, 2, 3, 4].map((part) => `${at + part}.5`)]);
  const guessed = (titles: string[]) => proposed([['Year', ...titles], ...rows]).entry.guessed;
  t.true(guessed(['Q1 (Apr-Jun)', 'Q2 (Jul-Sep)', 'Q3 (Oct-Dec)', 'Q4 (Jan-Mar)'])?.includes('values'));
  t.true(guessed(['Sales Q1', 'Sales Q2', 'Sales Q3', 'Sales Q4'])?.includes('values'));
  t.is(guessed(['Sales M1', 'Sales M3', 'Costs', 'Profit']), undefined);
});

test('weeks under a title of epidemiology may begin on Sunday', (t) => {
  const of = (...titles: string[]) =>
    proposed([titles, ...[31, 32, 33, 34].map((week) => ['2024', String(week), `${week}5`])]).entry.guessed;
  t.deepEqual(of('epi_year', 'epi_week', 'cases'), ['date']);
  t.deepEqual(of('MMWR Year', 'MMWR Week', 'cases'), ['date']);
  t.is(of('Year', 'Week', 'cases'), undefined);
});

test('years over two lines of groups are refused as such', (t) => {
  const { entry } = proposed([
    ['Region', '2021', '', '', '', '2022', '', '', ''],
    ['', 'Urban', '', 'Rural', '', 'Urban', '', 'Rural', ''],
    ['', 'Men', 'Women', 'Men', 'Women', 'Men', 'Women', 'Men', 'Women'],
    ['North', '1', '2', '3', '4', '5', '6', '7', '8'],
    ['South', '11', '12', '13', '14', '15', '16', '17', '18'],
  ]);
  t.regex(entry.skip ?? '', /^line 1 has years over other titles .*, which are in more lines than are read/);
});

test('titles with several dates among other words are refused, and none of them dates the table', (t) => {
  const { entry } = proposed([
    ['Item', 'Weight', 'Index Jan 2023', 'Index Jan 2024', 'Change'],
    ['Food', '34.5', '210.5', '255.5', '2.1'],
    ['Housing', '23.6', '190.5', '201.5', '1.1'],
  ]);
  t.regex(entry.skip ?? '', /several dates, such as "Index Jan 2023" and "Index Jan 2024"/);
});

test('years, quarters and months across the columns are refused as periods of several lengths', (t) => {
  const periods = ['2021', '2021Q1', '2021Q2', '2021M1', '2021M2', '2022', '2022Q1', '2022M1'];
  const numbers = (from: number) => periods.map((_, at) => String(from + at));
  const { entry } = proposed([
    ['Country', 'Indicator', ...periods],
    ['Peru', 'Exports', ...numbers(100)],
    ['Chile', 'Exports', ...numbers(200)],
  ]);
  t.regex(
    entry.skip ?? '',
    /^line 1 has periods of several lengths, such as "2021" and "2021Q1": make a file/,
  );
});
