// Ambiguous columns of tables: each makes a question, or is refused with the reason.
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

test('a small digit behind one of many numbers with the same count of decimals may be a footnote that no line explains', (t) => {
  const many = Array.from({ length: 20 }, (_, at) => `${2000 + at}`);
  const why = (...ends: string[]) => {
    const rows = many.map((year, at) => [year, `${at + 40}.5${ends[at] ?? ''}`]);
    return proposed([['Year', 'Rate'], ...rows]).evidence['values'] ?? '';
  };
  t.regex(
    why('', '1'),
    /"41\.51" has a decimal more than the others, and may be 41\.5 with the footnote "1"/,
  );
  t.notRegex(why('', '7'), /footnote/);
  t.notRegex(why('', '1', '2', '3'), /footnote/, 'not few');
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

test('standard errors in parentheses are asked about: they are not below zero', (t) => {
  const table = (title: string, errors: (at: number) => string) =>
    proposed([['Year', 'Estimate', title], ...years.map((year, at) => [year, `${at}.5`, errors(at)])]).entry;
  for (const title of ['SE', 'Std. error', 'Standard deviation', 'Margin of error'])
    t.deepEqual(table(title, (at) => `(0.${at + 1})`).guessed, ['negative'], title);
  t.is(table('Balance', (at) => `(0.${at + 1})`).guessed, undefined);
  t.is(table('Error', (at) => (at > 3 ? `(0.${at})` : `0.${at}`)).guessed, undefined);
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

test('numbers that never change in time, and numbers left out under a title such as Population Number, need confirmation', (t) => {
  const rows = years.flatMap((year, at) => ['Food', 'Rent'].map((item, place) => [item, year, `${30 + place}.5`, `${at + place}.25`])); // prettier-ignore
  const guessed = (titles: string[], table = rows) => proposed([titles, ...table]).entry.guessed;
  t.true(guessed(['Item', 'Year', 'Weight', 'Index'])?.includes('values'));
  const changing = rows.map(([item = '', year = '', , index = ''], at) => [item, year, `${at * 7}`, index]);
  t.is(guessed(['Item', 'Year', 'Weight', 'Index'], changing), undefined);
  t.true(guessed(['Item', 'Year', 'Population Number', 'Index'], changing)?.includes('ignore'));
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
