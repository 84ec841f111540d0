import test from 'ava';
import { proposed } from '../../test/ingest/proposing.ts';

const years = Array.from({ length: 8 }, (_, at) => String(2015 + at));

test('years below a title that calls them fiscal have an end that is asked about; with months or quarters they are refused', (t) => {
  const { entry, evidence } = proposed([
    ['Fiscal year', 'Tax'],
    ...years.map((year, at) => [year, `${at}.5`]),
  ]);
  t.like(entry, {
    series: { frequency: 'annual', fiscal_year_end: '06-30' },
    guessed: ['series.fiscal_year_end'],
  });
  t.regex(
    evidence['series.fiscal_year_end'] ?? '',
    /^Fiscal year has fiscal years, and no line states the day/,
  );
  const end = (title: string, ...above: string[][]) =>
    proposed([...above, [title, 'Tax'], ...years.map((year, at) => [year, `${at}.5`])]).entry.series as
      Record<string, unknown> | undefined;
  for (const title of ['Marketing year', 'Academic year', 'Geschäftsjahr', 'Année scolaire', 'Season'])
    t.is(end(title)?.['fiscal_year_end'], '06-30', title);
  for (const title of ['Year ending March', 'Year ended 31 March', 'YE March', 'March year'])
    t.is(end(title)?.['fiscal_year_end'], '03-31', title);
  t.is(end('Year', ['Years ended 30 September'])?.['fiscal_year_end'], '09-30');
  for (const title of ['Year', 'Calendar year', 'Year ended 31 December', 'Jahr'])
    t.is(end(title)?.['fiscal_year_end'], undefined, title);
  t.is(end('Year', ['Taxes of the year may be subject to change'])?.['fiscal_year_end'], undefined);
  const quarters = years.map((year) => [year, '1', '2', '3', '4']);
  t.regex(
    proposed([['Fiscal year', 'Q1', 'Q2', 'Q3', 'Q4'], ...quarters]).entry.skip ?? '',
    /^Fiscal year has fiscal years/,
  );
  const rows = (months: string[]) =>
    years.flatMap((year) => months.map((month, at) => [year, month, `${at}.5`]));
  const skip = (months: string[], title = 'Year') =>
    proposed([[title, 'Month', 'Tax'], ...rows(months)]).entry.skip;
  const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
  t.regex(
    skip([...months.slice(6), ...months.slice(0, 6)]) ?? '',
    /^Year has fiscal years, which begin with "Jul", and Month their parts/,
  );
  t.regex(skip(months, 'FY') ?? '', /^FY has fiscal years, and Month their parts/);
  t.is(skip(months), undefined);
  t.is(skip(months.toReversed()), undefined);
  t.is(skip(months.toSorted()), undefined);
  t.is(skip(['Jul', 'Aug', 'Sep', 'Oct', 'Jan', 'Mar', 'Feb']), undefined, 'in no order');
});

test('annual values that are all of one month make the end of the year a guess; the first of January is a year', (t) => {
  const table = (day: (year: string) => string) =>
    proposed([['Date', 'Persons'], ...years.map((year, at) => [day(year), `${at}.5`])]).entry;
  for (const [day, end] of [
    [(year: string) => `Jun-${year}`, '06-30'],
    [(year: string) => `${year}-06-30`, '12-31'],
    [(year: string) => `${year}-07-01`, '12-31'],
  ] as const)
    t.like(table(day), {
      series: { frequency: 'annual', fiscal_year_end: end },
      guessed: ['series.fiscal_year_end'],
    });
  for (const day of ['01-01', '12-31']) t.is(table((year) => `${year}-${day}`).guessed, undefined);
});

test('quarters below a title with the word fiscal are refused; below such a line they are asked about', (t) => {
  const quarters = years.map((year, at) => [`Q${(at % 4) + 1} ${year}`, `${at}.5`]);
  const table = (title: string, ...above: string[][]) =>
    proposed([...above, [title, 'Tax'], ...quarters]).entry;
  t.regex(table('Fiscal quarter').skip ?? '', /^Fiscal quarter has parts of fiscal years/);
  t.true(table('Quarter', ['Fiscal years ending 30 June']).guessed?.includes('date'));
  t.not(table('Quarter', ['Taxes']).guessed?.includes('date'), true);
});

test('years below 年度 may begin in April, which is asked', (t) => {
  const guessed = (title: string) =>
    proposed([[title, 'GDP'], ...['2019', '2020', '2021', '2022'].map((year, at) => [year, `${at}.5`])]).entry
      .guessed ?? [];
  t.true(guessed('年度').includes('date'));
  t.false(guessed('年').includes('date'));
});
