// Ambiguous tables: each makes a question, or is refused with the reason.
import test from 'ava';
import { proposed } from '../../../test/ingest/proposing.ts';

const years = Array.from({ length: 8 }, (_, at) => String(2015 + at));

test('a column that distinguishes no two points of one date is a dimension only if the user confirms it', (t) => {
  const rows = years.map((year, at) => [year, at < 5 ? 'survey' : 'census', `${at}.5`]);
  const { entry, evidence } = proposed([['Year', 'Method', 'Value'], ...rows]);
  t.true(entry.guessed?.includes('dimensions'));
  t.regex(evidence['dimensions'] ?? '', /no two points of one date differ only in Method/);
  const both = years.flatMap((year, at) => ['survey', 'census'].map((each) => [year, each, `${at}.5`]));
  t.not(proposed([['Year', 'Method', 'Value'], ...both]).entry.guessed?.includes('dimensions'), true);
});

test('a description of the flags does not divide the series', (t) => {
  const rows = years.flatMap((year, at) =>
    ['Kenya', 'Peru'].map((area) => [
      area,
      year,
      `${at}.5`,
      at < 7 ? 'A' : 'E',
      at < 7 ? 'Official' : 'Estimated',
    ]),
  );
  const { entry } = proposed([['Area', 'Year', 'Value', 'Flag', 'Flag Description'], ...rows]);
  t.like(entry, { dimensions: { area: 'Area' }, status: 'Flag', ignore: ['Flag Description'] });
  t.is(entry.guessed, undefined);
  const codes = years.map((year, at) => [year, `${at}.5`, at < 7 ? 'A' : 'P', `${at}`, 'A']);
  t.like(proposed([['Year', 'Prices', 'Codes', 'Output', 'Codes'], ...codes]).entry, {
    values: ['Prices', 'Output'],
    status: { beside: 'values' },
  });
});

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

test('a heading among the rows needs confirmation; repeated titles do not, and titles in another order are refused', (t) => {
  const titles = ['Year', 'Exports', 'Imports'];
  const rows = years.map((year, at) => [year, `${100 + at}`, `${200 + at}`]);
  const withLine = (line: string[]) => proposed([titles, ...rows.slice(0, 5), line, ...rows.slice(5)]).entry;
  t.like(withLine(['Index 2020 = 100']), { leave_out: { Year: ['Index 2020 = 100'] } });
  t.true(withLine(['Index 2020 = 100']).guessed?.includes('leave_out'));
  t.is(withLine(titles).guessed, undefined);
  t.regex(withLine(['Year', 'Imports', 'Exports']).skip ?? '', /"Imports" is in another place than above/);
});

test('a line with the numbers of the columns is not a line of names', (t) => {
  const rows = years.map((year, at) => [year, `${at}.5`, `${at}.1`, `${at}.2`]);
  for (const numbers of [
    ['1', '2', '3', '4'],
    ['(a)', '(b)', '(c)', '(d)'],
  ])
    // prettier-ignore
    t.like(proposed([['Year', 'Oil', '', 'Gas'], ['', 'Output', 'Stock', 'Output'], numbers, ...rows]).entry, {
      header: [1, 2],
      first: 4,
    });
});

test('a column without a title beside those of the periods is asked about, even with a word among few numbers', (t) => {
  const { entry } = proposed([
    ['', '2022', '', '2023', ''],
    ['Region', 'Level', '% change', 'Level', 'revised'],
    ...['North', 'South', 'West'].map((name, at) => [
      name,
      `${100 + at}`,
      `${at}.5`,
      `${110 + at}`,
      `${at}.1`,
    ]),
  ]);
  t.true(entry.guessed?.includes('ignore'));
  t.deepEqual(entry.ignore, ['column 3', 'column 5']);
});

test('years close to the dates, and week numbers, are not values', (t) => {
  const spans = years.map((year, at) => [year, String(Number(year) + 5), `${at}.5`]);
  const { entry } = proposed([['From', 'To', 'Growth'], ...spans]);
  t.like(entry, { values: 'Growth', ignore: ['To'] });
  t.true(entry.guessed?.includes('ignore'));
  const weeks = years.map((_, at) => [
    String(at + 1),
    `2023-01-${String(at * 3 + 1).padStart(2, '0')}`,
    `${900 + at}`,
  ]);
  t.like(proposed([['Week', 'Date', 'Deaths'], ...weeks]).entry, { values: 'Deaths', ignore: ['Week'] });
  // A value may be as large as a year.
  const large = years.map((year, at) => [year, String(2001 + at * 9), `${at}.5`]);
  t.is(proposed([['Year', 'Births', 'Rate'], ...large]).entry.values, '*');
});

test('a digit behind a number that a line below explains as a footnote is asked about', (t) => {
  const rates = ['45.6', '45.61', '45.9', '46.1', '46.3', '46.2', '46.02', '47.1'];
  const table = (values: string[], ...notes: string[]) =>
    proposed([
      ['Year', 'Rate'],
      ...years.map((year, at) => [year, values[at] ?? '']),
      [''],
      ...notes.map((note) => [note]),
    ]);
  const why = (values: string[], ...notes: string[]) => table(values, ...notes).evidence['values'] ?? '';
  const asked = table(rates, '1 Provisional', '2) Estimated');
  t.deepEqual(asked.entry.guessed, ['values']);
  t.regex(
    asked.evidence['values'] ?? '',
    /"45\.61" has a decimal more than the others, and may be 45\.6 with the footnote "1 Prov/,
  );
  t.notRegex(why(rates, '1 Provisional'), /footnote/, 'the 2 is not explained');
  t.notRegex(why(rates), /footnote/);
  t.notRegex(
    why(['45.6', '45.611', '45.9', '46.1', '46.3'], '1 Provisional'),
    /footnote/,
    'two decimals more',
  );
  t.notRegex(why([...rates.slice(0, 7), '47.125'], '1 Provisional', '2 Estimated'), /footnote/);
  t.notRegex(why(['45', '45.1', '46', '46', '46.2', '46', '47', '47'], '1 Low', '2 High'), /footnote/);
  t.notRegex(why(['45.61', '45.71', '45.81', '46.1', '46.3', '46.2', '46.4', '47.1'], '1 Low'), /footnote/);
  const across = proposed([['Item', ...years], ['Food', ...rates], ['1 Provisional'], ['2 Estimated']]);
  t.regex(across.evidence['date'] ?? '', /"45\.61" has a decimal more/);
});

test('four digits behind a comma, where most numbers have three, may be a footnote: the commas divide groups, which is asked', (t) => {
  const table = (...values: string[]) =>
    proposed([['Year', 'Exports'], ...years.map((year, at) => [year, values[at] ?? ''])]);
  const { entry } = table('1,234', '1,2341', '1,301', '1,422', '1,5001', '1,602');
  t.like(entry, { decimal: undefined, thousands: ',', guessed: ['thousands'] });
  t.is(table('1,2341', '1,2352', '1,236', '1,2371').entry.decimal, ',');
  t.is(table('1,234', '1,2341', '1,301', '1,42').entry.decimal, ',');
  t.is(table('1,234', '1,2341', '1,301', '1,4221', '1,511').entry.decimal, ',', 'three of five');
  t.is(table('1,234', '1,2340', '1,301', '1,422').entry.decimal, ',');
});

test('dates across the columns may have the word of their period; a line of words under them is no row of data: it may be the unit, and another one among the rows is asked about', (t) => {
  const titles = ['Item', '2022-01', '2022-02', '2022-03'];
  t.like(
    proposed([
      ['Item', '2023.11 Month', '2023.12 Month', '2024.01 Month'],
      ['Food', '1.5', '2.5', '3.5'],
    ]).entry.date,
    { across: 'columns' },
  );
  const rows = ['Food', 'Fuel', 'Rent', 'Health'].map((item, at) => [item, `${at}.5`, `${at}.7`, `1${at}.9`]);
  const units = (text: string) => ['', text, text, text];
  const { entry } = proposed([titles, units('2002=100'), ...rows]);
  t.like(entry, { first: 3, date: { across: 'columns' }, dimensions: { item: 'Item' } });
  t.is(entry.series?.unit, '{line 2}');
  t.is(entry.guessed?.includes('date'), undefined);
  t.is(proposed([titles, ['', 'Actual', 'Actual', 'Forecast'], ...rows]).entry.series?.unit, undefined);
  const two = proposed([titles, units('Persons'), ...rows.slice(0, 2), units('Percent'), ...rows.slice(2)]);
  t.true(two.entry.guessed?.includes('date'));
  t.regex(two.evidence['date'] ?? '', /"Percent" among the rows may be the unit of the rows below it/);
});

test('standard errors in parentheses are asked about: they are not below zero', (t) => {
  const table = (title: string, errors: (at: number) => string) =>
    proposed([['Year', 'Estimate', title], ...years.map((year, at) => [year, `${at}.5`, errors(at)])]).entry;
  for (const title of ['SE', 'Std. error', 'Standard deviation', 'Margin of error'])
    t.deepEqual(table(title, (at) => `(0.${at + 1})`).guessed, ['negative'], title);
  t.is(table('Balance', (at) => `(0.${at + 1})`).guessed, undefined);
  t.is(table('Error', (at) => (at > 3 ? `(0.${at})` : `0.${at}`)).guessed, undefined);
});

test('a sum without a text below few rows is left out, once confirmed', (t) => {
  const { entry } = proposed([
    ['Item', '2021', '2022'],
    ['Tax', '1', '2'],
    ['Other', '3', '5'],
    ['', '4', '7'],
  ]);
  t.like(entry, { dimensions: { item: 'Item' }, only: { Item: String.raw`\S` }, guessed: ['only'] });
});

test('a scale that does not hold for all series is asked about', (t) => {
  const table = (title: string) =>
    proposed([[title], ['Indicator', '2021', '2022'], ['Exports', '100', '110'], ['Inflation', '5.1', '6.2']])
      .entry;
  t.deepEqual(table('Key figures (in millions of dollars, unless otherwise stated)').guessed, [
    'series.unit_multiplier',
  ]);
  t.is(table('Key figures (in millions of dollars)').guessed, undefined);
});

test('a second table below the first, with other columns, is refused', (t) => {
  const months = Array.from({ length: 6 }, (_, at) => [`2024-0${at + 1}`, `${at}.5`, `${at}.7`]);
  const skip = (...line: string[]) =>
    proposed([['Month', 'Food', 'Fuel'], ...months.slice(0, 3), [''], line, ...months.slice(3)]).entry.skip;
  t.regex(
    skip('Month', 'Rent', 'Health') ?? '',
    /has "Rent" below Food, and may name the columns of another table/,
  );
  t.regex(skip('', 'Food', 'Health') ?? '', /has "Health" below Fuel/);
  t.is(skip('Month', 'Food', 'Fuel'), undefined);
  t.is(skip('A note', 'see', 'below'), undefined);
  t.is(skip('', '..', '..'), undefined);
  const names = ['Month', 'Value', 'Volume', 'Value', 'Volume'];
  const twice = months.map(([month = '', one = '', other = '']) => [month, one, other, one, other]);
  const groups = ['', 'Imports', '', 'Exports', ''];
  const again = proposed([groups, names, ...twice.slice(0, 3), names, ...twice.slice(3)]);
  t.is(again.entry.skip, undefined, 'the last of two lines of names again');
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

test('different numbers in brackets behind most numbers are asked about: footnotes are few', (t) => {
  const table = (text: (at: number) => string) =>
    proposed([['Year', 'Deaths'], ...years.map((year, at) => [year, `${at + 100}${text(at)}`])]).entry
      .guessed;
  t.deepEqual(
    table((at) => ` (${at + 12})`),
    ['flags'],
  );
  t.is(
    table((at) => (at > 5 ? ` (${at - 5})` : '')),
    undefined,
  );
  t.is(
    table(() => ' (1)'),
    undefined,
  );
  const few = proposed([
    ['Year', 'Deaths'],
    ['2021', '100 (1)'],
    ['2022', '101 (2)'],
    ['2023', '103'],
  ]);
  t.is(few.entry.guessed, undefined);
});

test('a second line of periods among the rows begins another table, and is refused', (t) => {
  const refusal = (second: readonly string[]) =>
    proposed([
      ['Births', '2020', '2021', '2022'],
      ['North', '1', '2', '3'],
      ['South', '4', '5', '6'],
      [...second],
      ['East', '7', '8', '9'],
    ]).entry.skip;
  for (const second of [
    ['Deaths', '2020', '2021', '2022'],
    ['Deaths', '2023', '2024', '2025'],
  ])
    t.regex(refusal(second) ?? '', /a line among its rows has the periods .*, and begins another table/);
  t.is(refusal(['West', '2020', '1890', '2022']), undefined);
});

test('rows without a readable date are left out only if they are fewer than the others', (t) => {
  const periods = ['Jan-Mar 2023', 'Jan-Jun 2023', 'Jan-Sep 2023', 'Jan-Dec 2023'];
  const { entry } = proposed([['Period', 'Output'], ...periods.map((period, at) => [period, `${at}.5`])]);
  t.regex(entry.skip ?? '', /^3 rows with numbers have no readable date in Period/);
});

test('digits behind a blank that make a number far larger than all others may be footnotes', (t) => {
  const table = (texts: readonly string[]) =>
    proposed([['Year', 'Deaths'], ...years.map((year, at) => [year, texts[at] ?? `41${at}`])]);
  const { entry, evidence } = table(['398', '401 123']);
  t.true(entry.guessed?.includes('values'));
  t.regex(
    evidence['values'] ?? '',
    /"401 123" may be 401123, far larger than all others, or 401 followed by footnotes/,
  );
  t.is(table(['998', '1 012', '950', '1 104']).entry.guessed, undefined);
});

test('a column of whole numbers may be a code if all are equal, and a row number if it counts the rows and is left of the dates', (t) => {
  const table = (title: string, of: (at: number) => string) =>
    proposed([[title, 'Year', 'Rate'], ...years.map((year, at) => [of(at), year, `${at}.5`])]);
  t.regex(table('Level', () => '2').evidence['values'] ?? '', /Level is 2 in every row, and may be a code/);
  t.regex(
    table('Seq', (at) => `${at + 1}`).evidence['values'] ?? '',
    /Seq counts the rows, and may be a row number, not a value/,
  );
  t.is(table('Jobs', (at) => `${at * 7}`).entry.guessed, undefined);
});

test('numbers beside a column called value that do not follow from a text are left out only if the user confirms it', (t) => {
  const table = (title: string, quantity: (at: number) => string) =>
    proposed([['Year', 'Quantity', title], ...years.map((year, at) => [year, quantity(at), `${at}.5`])]);
  for (const title of ['Value', 'Hodnota', 'Valeur', '値']) {
    const { entry, evidence } = table(title, (at) => `${at * 3}`);
    t.is(entry.values, title);
    t.true(entry.guessed?.includes('ignore'));
    t.regex(evidence['ignore'] ?? '', /Quantity: its numbers may be values as well, beside the column/);
  }
  t.is(table('Value', () => '7').entry.guessed, undefined, 'one number in all rows');
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

test('a dimension of decimals, of numbers that leave out names, or of dates beside years as titles is asked about', (t) => {
  const why = (...rows: string[][]) => {
    const { entry, evidence } = proposed(rows);
    return entry.guessed?.includes('dimensions') === true ? evidence['dimensions'] : undefined;
  };
  const across = ['2020', '2021', '2022'];
  t.regex(
    why(['Lat', 'Place', ...across], ['30.97', 'A', '1', '2', '3'], ['31.82', 'A', '4', '5', '6']) ?? '',
    /Lat has decimals, which may be values/,
  );
  const goods = [['3', 'Goods', '1', '2', '3'], ['6', 'Goods', '4', '5', '6'], ['7', 'Services', '7', '8', '9']]; // prettier-ignore
  t.regex(
    why(['Line', 'Item', ...across], ...goods) ?? '',
    /the numbers of Line name the series, and not Item/,
  );
  t.is(
    why(['Line', 'Item', ...across], ...goods.map((row, at) => row.with(1, `Goods ${'abc'[at] ?? ''}`))),
    undefined,
  );
  const months = ['2024-01', '2024-02', '2024-03'].map((month, at) => [
    month,
    `${at}.5`,
    `${at}.6`,
    `${at}.7`,
  ]);
  t.regex(why(['Date', ...across], ...months) ?? '', /Date has dates, as the titles have/);
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

test('numbers that never change in time, and numbers left out under a title such as Population Number, need confirmation', (t) => {
  const rows = years.flatMap((year, at) => ['Food', 'Rent'].map((item, place) => [item, year, `${30 + place}.5`, `${at + place}.25`])); // prettier-ignore
  const guessed = (titles: string[], table = rows) => proposed([titles, ...table]).entry.guessed;
  t.true(guessed(['Item', 'Year', 'Weight', 'Index'])?.includes('values'));
  const changing = rows.map(([item = '', year = '', , index = ''], at) => [item, year, `${at * 7}`, index]);
  t.is(guessed(['Item', 'Year', 'Weight', 'Index'], changing), undefined);
  t.true(guessed(['Item', 'Year', 'Population Number', 'Index'], changing)?.includes('ignore'));
});

test('short words in a row without numbers below periods may be the flags of the numbers above', (t) => {
  const dateOf = (...flags: string[]) => {
    const { entry, evidence } = proposed([
      ['Item', 'Attribute', ...years.slice(0, 3)],
      ['Food', 'Value', '1.5', '2.5', '3.5'],
      ['Food', ...flags],
      ['Rent', 'Value', '4.5', '5.5', '6.5'],
    ]);
    return entry.guessed?.includes('date') === true ? evidence['date'] : '';
  };
  t.regex(dateOf('Status', '', '', 'P') ?? '', /"P" in a row without numbers may be the flag/);
  t.is(dateOf('Value', 'n.a.', '..', ':'), '');
  t.is(dateOf('Value', '', '', ''), '');
});

test('different words in a line over or under periods may be their statuses', (t) => {
  const isAsked = (...head: string[][]) =>
    proposed([...head, ['Food', '1.5', '2.5', '3.5'], ['Rent', '4.5', '5.5', '6.5']]).entry.guessed?.includes(
      'date',
    ) === true;
  const periods = ['Item', '2022', '2023', '2024'];
  t.true(isAsked(['', 'Actual', 'Actual', 'Forecast'], periods));
  t.true(isAsked(periods, ['', 'Actual', 'Estimate', 'Forecast']));
  t.false(isAsked(['', 'Calendar years', '', ''], periods));
  t.false(isAsked(periods, ['', 'Dollars', 'Dollars', 'Dollars']));
});

test('a name without numbers among the rows below periods may be a heading', (t) => {
  const guessed = (...names: string[]) =>
    proposed([
      ['Item', ...years.slice(0, 3)],
      ...names.map((name, at) => (name.endsWith(':') ? [name, '', '', ''] : [name, `${at}`, '2.5', '3.5'])),
    ]).entry.guessed;
  t.true(guessed('Exports:', 'Goods', 'Imports:', 'Services')?.includes('dimensions'));
  t.is(guessed('Exports:', 'Goods', 'Services'), undefined);
});

test('columns whose titles differ only in a date may be vintages of one series', (t) => {
  const guessedOf = (...titles: string[]) =>
    proposed([['observation_date', ...titles], ...years.map((year) => [`${year}-01-01`, '1.5', '1.6'])]).entry
      .guessed;
  t.deepEqual(guessedOf('GDP_20240125', 'GDP_20240425'), ['values']);
  t.deepEqual(guessedOf('ROUTPUT65Q4', 'ROUTPUT66Q1'), ['values']);
  t.is(guessedOf('GDP_20240125', 'CPI_20240425'), undefined);
  t.is(guessedOf('GDP_20240125', 'GDP'), undefined);
});

test('weeks under a title of epidemiology may begin on Sunday', (t) => {
  const of = (...titles: string[]) =>
    proposed([titles, ...[31, 32, 33, 34].map((week) => ['2024', String(week), `${week}5`])]).entry.guessed;
  t.deepEqual(of('epi_year', 'epi_week', 'cases'), ['date']);
  t.deepEqual(of('MMWR Year', 'MMWR Week', 'cases'), ['date']);
  t.is(of('Year', 'Week', 'cases'), undefined);
});

test('columns of one title, and days beside years, are asked about; the days of a month across the columns are refused', (t) => {
  const titles = ['Year', 'Men', 'Women', 'Men', 'Women'];
  const repeated = proposed([titles, ...years.map((year, at) => [year, `${at}`, '2', '3.5', `${at}.5`])]);
  t.true(repeated.entry.guessed?.includes('values'));
  t.regex(repeated.evidence['values'] ?? '', /several columns have the title Men, and no line says/);
  const days = Array.from({ length: 31 }, (_, at) => String(at + 1));
  const daily = proposed([
    ['Year', 'Month', ...days],
    ...['1', '2', '3'].map((month) => ['2023', month, ...days.map((day) => `${day}.5`)]),
  ]);
  t.regex(daily.entry.skip ?? '', /its titles count from 1 to 31, and may be the days of each month/);
  const parted = proposed([
    ['Year', 'Day', 'Rate'],
    ...['01-01', '02-01', '03-01', '04-01'].map((day, at) => ['2024', day, `${at}.5`]),
  ]);
  t.true(parted.entry.guessed?.includes('dimensions'));
  t.regex(parted.evidence['dimensions'] ?? '', /Day may have the day or the part of each year/);
});

test('rows whose text is empty in a column that the others need are left out once confirmed, as are those of totals', (t) => {
  const { entry } = proposed([
    ['Province', 'District', '2021', '2022'],
    ['Punjab', 'Lahore', '10', '11'],
    ['Punjab', 'Multan', '20', '21'],
    ['Punjab', 'Total', '30', '32'],
    ['Sindh', 'Karachi', '40', '41'],
    ['Sindh', 'Total', '40', '41'],
    ['Pakistan', '', '70', '73'],
  ]);
  t.like(entry, {
    dimensions: { province: 'Province', district: 'District' },
    only: { District: String.raw`\S` },
    leave_out: { District: ['Total'] },
  });
  t.deepEqual(entry.guessed, ['only', 'leave_out']);
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

test('a second table with the titles of the first repeats its points, and its titles are not taken for months', (t) => {
  const table = (from: number) => years.slice(0, 3).map((year, at) => [year, `${from + 2 * at}`, `${from + 1 + 2 * at}`]); // prettier-ignore
  const titles = ['Year', 'Goods', 'Services'];
  const second = [[''], ['Table 2. Imports'], titles, ...table(20)];
  const { entry } = proposed([['Table 1. Exports'], titles, ...table(10), ...second]);
  t.regex(entry.skip ?? '', /3 of 6 rows repeat a point of an earlier row \(2015\)/);
});
