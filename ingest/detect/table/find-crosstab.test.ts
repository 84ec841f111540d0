import test from 'ava';
import { proposed } from '../../../test/ingest/proposing.ts';

const rows = [
  ['North', '10', '4', '6', '11'],
  ['South', '20', '10', '10', '20'],
  ['East', '20', '10', '10', '20'],
];
const entryOf = (upper: string[], lower: string[], below = rows) => proposed([upper, lower, ...below]).entry;

test('periods over groups, groups over periods and repeated labels are read as a row for each group', (t) => {
  const above = {
    crosstab: { periods: 1, groups: 2 },
    ...{ header: 2, first: 3, dimensions: { region: 'Region', group: 'Group' } },
  };
  t.like(entryOf(['Region', '2021', '', '2022', ''], ['', 'Men', 'Women', 'Men', 'Women']), above);
  t.like(entryOf(['Region', 'Q1 2022', '', 'Q2 2022', ''], ['', '0-14', '15+', '0-14', '15+']), above);
  t.like(entryOf(['', '2021', '2021', '2022', '2022'], ['Region', 'Men', 'Women', 'Men', 'Women']), above);
  t.like(entryOf(['Region', 'Jan-24', '', 'Feb-24', ''], ['', 'Tons', 'Sum', 'Tons', 'Sum']), above);
  const below = { ...above, crosstab: { periods: 2, groups: 1 } };
  t.like(entryOf(['Region', 'Men', '', 'Women', ''], ['', '2021', '2022', '2021', '2022']), below);
});

test('months of rows below years and groups, marks of years, and a line of one unit are read', (t) => {
  const months = ['Jan', 'Feb', 'Mar', 'Apr'].map((month) => [month, '10', '4', '6', '11']);
  const byMonth = entryOf(['Month', '2021', '', '2022', ''], ['', 'In', 'Out', 'In', 'Out'], months);
  t.like(byMonth, { crosstab: { periods: 1, groups: 2 }, date: { across: 'columns', year: 'Month' } });
  const marked = entryOf(['Region', '2021', '', '2022 p', ''], ['', 'Men', 'Women', 'Men', 'Women']);
  t.like(marked.date, { marks: { p: 'p' } });
  const unit = ['', 'Mio EUR', 'Mio EUR', 'Mio EUR', 'Mio EUR'];
  const stated = entryOf(
    ['Region', '2021', '', '2022', ''],
    ['', 'Men', 'Women', 'Men', 'Women'],
    [unit, ...rows],
  );
  t.like(stated, { first: 4, series: { unit: '{line 3}' } });
});

test('a name without numbers among the rows of a crosstab may be a heading', (t) => {
  const headed = [
    ['Europe', '', '', '', ''],
    ...rows.slice(0, 2),
    ['Asia', '', '', '', ''],
    ...rows.slice(2),
  ];
  const { guessed } = entryOf(
    ['Region', '2021', '', '2022', ''],
    ['', 'Men', 'Women', 'Men', 'Women'],
    headed,
  );
  t.deepEqual(guessed, ['dimensions']);
});

test('titles of a group and a period are read as a row for each group', (t) => {
  const read = {
    crosstab: { periods: 1, groups: 1 },
    header: 1,
    first: 2,
    dimensions: { region: 'Region', group: 'Group' },
  };
  const of = (...titles: string[]) => proposed([['Region', ...titles], ...rows]).entry;
  t.like(of('Births 2021', 'Births 2022', 'Deaths 2021', 'Deaths 2022'), read);
  t.like(of('births_2021', 'deaths_2021', 'births_2022', 'deaths_2022'), read);
  t.like(of('2021 Births', '2021 Deaths', '2022 Births', '2022 Deaths'), read);
  t.is(of('Births 2021', 'Births 2022', 'Deaths 2022', 'Other 2021').crosstab, undefined);
  t.is(of('2021 Jan', '2021 Feb', '2022 Jan', '2022 Feb').crosstab, undefined);
});

test('years over quarters, flags beside values, a third line of names, and unequal groups are no crosstab', (t) => {
  const years = ['Region', '2021', '', '2022', ''];
  t.is(entryOf(years, ['', 'Q1', 'Q2', 'Q1', 'Q2']).crosstab, undefined);
  const flagged = rows.map(([region = '', first = '', , second = '']) => [region, first, 'p', second, '']);
  t.is(entryOf(years, ['', 'Value', 'Flag', 'Value', 'Flag'], flagged).crosstab, undefined);
  t.is(entryOf(years, ['', 'Men', 'Women', 'Women', 'Men']).crosstab, undefined);
  t.is(entryOf(['Region', '', '2021', '', '2022'], ['', 'Men', 'Women', 'Men', 'Women']).crosstab, undefined);
  const third = proposed([
    ['Region', '2021', '', '', '', '2022', '', '', ''],
    ['', 'Urban', '', 'Rural', '', 'Urban', '', 'Rural', ''],
    ['', 'M', 'F', 'M', 'F', 'M', 'F', 'M', 'F'],
    ...rows.map((row) => [...row, ...row.slice(1)]),
  ]);
  t.is(third.entry.crosstab, undefined);
  const base = rows.map((row, at) => [`2022-0${at + 1}`, ...row.slice(1)]);
  t.is(
    entryOf(['Month', '2010', '', '2015', ''], ['', 'CPI', 'PPI', 'CPI', 'PPI'], base).crosstab,
    undefined,
  );
});
