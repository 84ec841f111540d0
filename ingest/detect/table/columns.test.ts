import test from 'ava';
import { propose } from '../propose.ts';

const proposed = (rows: string[][]) =>
  propose(
    { rows, lines: rows.map((_, at) => at + 1), isWhole: true, continued: new Set(), delimiter: ',' },
    { stem: 'table', dateInName: null, sheet: undefined, folder: 'folder', facts: {}, today: '2026-11-23' },
  ).entry;

const years = ['2018', '2019', '2020', '2021', '2022', '2023'];

test('a column Number has values, unless it counts the rows', (t) => {
  const table = (number: (at: number) => string) => [
    ['Year', 'Men', '', 'Women', ''],
    ['', 'Rate', 'Number', 'Rate', 'Number'],
    ...years.map((year, at) => [year, `${at}.5`, number(at), `${at}.25`, number(at)]),
  ];
  t.is(proposed(table((at) => String(1000 + at))).ignore, undefined);
  t.deepEqual(proposed(table((at) => String(at + 1))).ignore, ['Men / Number', 'Women / Number']);
});

test('a column with the title of the dates is left out if it repeats them; with other dates the table is refused', (t) => {
  const table = (other: (year: string) => string) => [
    ['Year', 'Imports', '', 'Year', 'Exports'],
    ...years.map((year, at) => [year, `${at}.5`, '', other(year), `${at + 40}`]),
  ];
  const { values, ignore, skip } = proposed(table((year) => year));
  t.deepEqual([values, ignore, skip], ['*', ['Year (2)'], undefined]);
  t.is(
    proposed(table((year) => String(Number(year) + 1))).skip,
    'the columns Year and Year (2) have different dates on one line, such as "2018" and "2019": the sheet has two tables side by side. Put each into its own file or sheet',
  );
});

test('a code of a currency beside each number of a column does not make it a column of words', (t) => {
  const { values } = proposed([
    ['Month', 'Amount'],
    ...years.map((year, at) => [`${year}-01`, `USD ${at + 1},000.50`]),
  ]);
  t.is(values, 'Amount');
});
