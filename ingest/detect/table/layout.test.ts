// The places of dates in the tables of statistical offices.
import test from 'ava';
import { proposed } from '../../../test/ingest/proposing.ts';

const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const years = [2019, 2020, 2021];

test('a column of the FAO for each year has its flag and note next to it', (t) => {
  const named = (ends: readonly string[]) => years.flatMap((year) => ends.map((end) => `Y${year}${end}`));
  const rows = (cells: readonly string[]) =>
    ['Kenya', 'Peru'].map((area, at) => [
      area,
      'Wheat',
      'Production',
      't',
      ...years.flatMap((year) => [String(year * 10 + at), ...cells]),
    ]);
  const titles = ['Area', 'Item', 'Element', 'Unit'];
  for (const [ends, cells] of [
    [['', 'F'], ['A']],
    [
      ['', 'F', 'N'],
      ['A', 'Unofficial figure'],
    ],
    [
      ['', 'F', 'N'],
      ['E', ''],
    ],
  ] as const) {
    const { entry } = proposed([[...titles, ...named(ends)], ...rows(cells)]);
    t.deepEqual(entry.date, { across: 'columns' });
    t.deepEqual(entry.status, { beside: 'values' });
    t.deepEqual(entry.dimensions, { area: 'Area' });
    t.is(entry.series?.frequency, 'annual');
    t.is(entry.guessed?.includes('ignore') ?? false, false);
  }
  const bare = proposed([[...titles, ...named([''])], ...rows([])]);
  t.deepEqual([bare.entry.date, bare.entry.status], [{ across: 'columns' }, undefined]);
});

test('moving quarters, one per month, are refused by name', (t) => {
  const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
  const moving = months.map(
    (month, at) => [month, months[(at + 2) % 12] ?? '', at < 10 ? 2020 : 2021] as const,
  );
  const forms = [
    moving.map(([from, to, year]) => `${from}-${to} ${year}`),
    moving.map(([from, to, year]) => `${from} to ${to} ${year}`),
    moving.map(([from, to, year]) => `${from} ${from > to && year === 2021 ? '2020' : year}-${to} ${year}`),
    moving.slice(0, 10).map(([from, to, year]) => `${year} ${from}-${to}`),
  ];
  for (const texts of forms) {
    const values = texts.map((_, at) => `${at}.5`);
    for (const rows of [
      [['Published 16 June 2021'], ['Period', 'Rate'], ...texts.map((text, at) => [text, values[at] ?? ''])],
      [
        ['Name', ...texts],
        ['Rate', ...values],
      ],
    ])
      t.regex(proposed(rows).entry.skip ?? '', /"[^"]+" and "[^"]+" overlap: moving and cumulative periods/);
  }
  const quarters = ['Jan-Mar 2020', 'Apr-Jun 2020', 'Jul-Sep 2020', 'Oct-Dec 2020', 'Jan-Mar 2021'];
  const { entry } = proposed([['Period', 'Rate'], ...quarters.map((text, at) => [text, `${at}.5`])]);
  t.is(entry.series?.frequency, 'quarterly');
});

const twoYears = ['2019', '2020'].flatMap((year) => monthNames.map((month) => [year, month] as const));

test('a year stated only at its first month, or in a line above, applies to all its months', (t) => {
  const value = (_: unknown, at: number) => `${100 + at}.5`;
  const before = twoYears.map(([year, month], at) => [
    month === 'Jan' ? `${year} Jan` : month,
    value(month, at),
  ]);
  const behind = twoYears.map(([year, month], at) => [
    month === 'Jan' ? `Jan ${year}` : month,
    value(month, at),
  ]);
  const above = twoYears.flatMap(([year, month], at) => [
    ...(month === 'Jan' ? [[year, '']] : []),
    [month, value(month, at)],
  ]);
  const latestFirst = before
    .toReversed()
    .map(([text = '', cell = ''], at) => [
      at % 12 === 0 ? `${at === 0 ? 2020 : 2019} Dec` : text.slice(-3),
      cell,
    ]);
  for (const rows of [before, behind, above, latestFirst]) {
    const { entry } = proposed([['Month', 'CPI'], ...rows]);
    t.deepEqual(entry.date, { column: 'Month', fill: true });
    t.deepEqual([entry.first, entry.values, entry.series?.frequency], [2, 'CPI', 'monthly']);
    t.is(entry.guessed?.includes('date') ?? false, false);
  }
  const quarters = ['2019 Q1', 'Q2', 'Q3', 'Q4', '2020 Q1', 'Q2', 'Q3', 'Q4'];
  const quarterly = proposed([['Quarter', 'GDP'], ...quarters.map((text, at) => [text, value(text, at)])]);
  t.is(quarterly.entry.series?.frequency, 'quarterly');
});

test('a month without a year that does not follow the previous one refuses the table', (t) => {
  const rows = twoYears.map(([year, month], at) => [at === 0 ? `${year} Jan` : month, `${100 + at}.5`]);
  t.regex(
    proposed([['Month', 'CPI'], ...rows]).entry.skip ?? '',
    /^"Jan" on line 14 is not in the order of the months or quarters above it, and has no year/,
  );
});

test('a year stated only in the title of its first month applies to the titles to the right', (t) => {
  for (const titles of [
    twoYears.map(([year, month]) => (month === 'Jan' ? `${year} Jan` : month)),
    twoYears.map(([year, month]) => (month === 'Jan' ? `Jan ${year}` : month)),
  ]) {
    const rows = ['Goods', 'Services'].map((name) => [name, ...titles.map((_, at) => `${100 + at}.5`)]);
    const { entry } = proposed([['Product', ...titles], ...rows]);
    t.deepEqual(entry.date, { across: 'columns', fill: true });
    t.deepEqual([entry.dimensions, entry.series?.frequency], [{ product: 'Product' }, 'monthly']);
  }
});

test('months whose year is only in a line above the table are refused, and the line is named', (t) => {
  const values = monthNames.map((_, at) => `${100 + at}.5`);
  for (const rows of [
    [['Exports 2023'], ['Month', 'Value'], ...monthNames.map((month, at) => [month, values[at] ?? ''])],
    [['Exports 2023'], ['Product', ...monthNames], ['Oil', ...values], ['Gas', ...values]],
  ])
    t.regex(
      proposed(rows).entry.skip ?? '',
      /^"Jan" and others have no year\. If the year of "Exports 2023" on line 1 is theirs/,
    );
});

test('a text without numbers is refused by what a table has, and signs beside numbers by how to name them', (t) => {
  const skipOf = (rows: string[][]) => proposed(rows).entry.skip ?? '';
  t.regex(
    skipOf([['Dear Madam'], ['The figures of June 2024 are attached.']]),
    /A table has a line of column names/,
  );
  t.regex(
    skipOf([
      ['Town', 'Jobs'],
      ['Bern', '5§5'],
    ]),
    /Name signs beside numbers under flags/,
  );
});
