// Ambiguous lines among and above the rows of tables: each makes a question, or is refused with the reason.
import test from 'ava';
import { proposed } from '../../../test/ingest/proposing.ts';

const years = Array.from({ length: 8 }, (_, at) => String(2015 + at));

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

test('a sum without a text below few rows is left out, once confirmed', (t) => {
  const { entry } = proposed([
    ['Item', '2021', '2022'],
    ['Tax', '1', '2'],
    ['Other', '3', '5'],
    ['', '4', '7'],
  ]);
  t.like(entry, { dimensions: { item: 'Item' }, only: { Item: String.raw`\S` }, guessed: ['only'] });
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

test('a second table with the titles of the first repeats its points, and its titles are not taken for months', (t) => {
  const table = (from: number) => years.slice(0, 3).map((year, at) => [year, `${from + 2 * at}`, `${from + 1 + 2 * at}`]); // prettier-ignore
  const titles = ['Year', 'Goods', 'Services'];
  const second = [[''], ['Table 2. Imports'], titles, ...table(20)];
  const { entry } = proposed([['Table 1. Exports'], titles, ...table(10), ...second]);
  t.regex(entry.skip ?? '', /3 of 6 rows repeat a point of an earlier row \(2015\)/);
});
