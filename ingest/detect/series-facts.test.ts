import test from 'ava';
import { proposed as proposedRows } from '../../test/ingest/proposing.ts';

function proposed(head: string[][]) {
  const rows = [
    ...head,
    ...Array.from({ length: 8 }, (_, at) =>
      [String(2015 + at), `${at}.5`, `${at + 3}.5`].slice(0, head.at(-1)?.length),
    ),
  ];
  return proposedRows(rows);
}

test('the last line of a title can state its unit and scale', (t) => {
  const { entry } = proposed([['Year', 'Sales\n(Mio. EUR)', 'Jobs\nin thousands']]);
  t.deepEqual(entry.columns, {
    'Sales (Mio. EUR)': { unit: 'Mio. EUR', unit_multiplier: '6' },
    'Jobs in thousands': { unit: 'thousands', unit_multiplier: '3' },
  });
  t.is(proposed([['Year', 'Jobs\nthousands']]).entry.series?.unit, 'thousands');
  t.is(proposed([['Year', 'Gross\nproduct', 'Net\nproduct']]).entry.columns, undefined);
});

test('a scale in the line of units applies to its column', (t) => {
  const { entry } = proposed([
    ['Year', 'Sales', 'Jobs'],
    ['', 'USD', 'thousands'],
  ]);
  t.deepEqual(entry.columns, { Jobs: { unit_multiplier: '3' } });
  t.is(entry.series?.unit, '{line 2}');
});

test('a distance in a title is confirmed before it counts as a scale', (t) => {
  const { entry } = proposed([['Year', 'Roads in miles', 'Roads in km']]);
  t.true(entry.guessed?.includes('columns'));
});

test('a unit or a scale that changes within the table is a part of the id, or what it depends on', (t) => {
  const id = (title: string, of: (area: string, year: number) => string) => {
    const rows = ['RO', 'BG'].flatMap((area) =>
      [2003, 2004, 2005, 2006].map((year) => [area, String(year), of(area, year), `${year * 3}.5`]),
    );
    return proposedRows([['Area', 'Year', title, 'GDP'], ...rows]).entry.series?.id;
  };
  t.is(
    id('Unit', () => 'EUR'),
    'table',
  );
  t.is(
    id('Unit', (area) => area),
    'table.{Area}',
  );
  t.is(
    id('Unit', (_, year) => (year < 2005 ? 'ROL' : 'RON')),
    'table.{Unit}',
  );
  t.is(
    id('Scale', (area) => (area === 'RO' ? 'million' : 'thousand')),
    'table.{Area}',
  );
  t.is(
    id('Scale', (_, year) => (year < 2005 ? 'billion' : 'million')),
    'table.{Scale}',
  );
});

test('a scale above the table that does not hold for a percentage or an index is a guess', (t) => {
  const guessed = (title: string) =>
    proposed([['Key figures, EUR million'], ['Year', 'Exports', title]]).entry.guessed?.includes(
      'series.unit_multiplier',
    );
  for (const title of [
    'Growth (%)',
    'Percent of GDP',
    'Price index',
    'Exchange rate',
    'GDP per capita',
    'Cars (number)',
    'Wage (Rs.)',
    'Yield (kg/ha)',
  ])
    t.true(guessed(title), title);
  for (const title of ['Imports', 'Imports (net)', 'GDP at current prices', 'Corporate loans'])
    t.not(guessed(title), true, title);
  const ofRows = (item: string, unit: string) =>
    proposedRows([
      ['Key figures, in millions'],
      ['Item', 'Unit', 'Year', 'Value'],
      ...['2021', '2022', '2023'].flatMap((year, at) => [
        ['Exports', 'USD', year, `10${at}.5`],
        [item, unit, year, `${at}.5`],
      ]),
    ]).entry.guessed?.includes('series.unit_multiplier');
  t.true(ofRows('Growth', '%'));
  t.true(ofRows('Exchange rate', 'PKR'));
  t.not(ofRows('Imports', 'USD'), true);
});

test('a scale in the cell behind the label of the unit is that of the table', (t) => {
  const multiplier = (...line: string[]): unknown => {
    const { series = {} } = proposed([line, ['Year', 'Exports', 'Imports']]).entry;
    return 'unit_multiplier' in series ? series.unit_multiplier : undefined;
  };
  t.is(multiplier('Unit:', 'Million USD'), '6');
  t.is(multiplier('単位：', '万人'), '4');
  t.is(multiplier('Einheit', 'Tsd. EUR'), '3');
  t.is(multiplier('Source', 'Office'), undefined);
});

test('lines of units, currencies and factors above the data hold for their columns', (t) => {
  const data = ['2022Q1', '2022Q2', '2022Q3', '2022Q4'].map((date, at) => [date, `${at}.5`, `${at}.25`]);
  const { series, columns } = proposedRows([
    ['Series Description', 'Net worth', 'Rate'],
    ['Unit:', 'Currency', 'Percent'],
    ['Multiplier:', '1000000', '1'],
    ['Currency:', 'USD', 'NA'],
    ['Unique Identifier:', 'Z1/FL15.Q', 'H15/RIF.Q'],
    ['Time Period', 'FL15.Q', 'RIF.Q'],
    ...data,
  ]).entry;
  t.like(series, { id: '{line 5}', name: '{line 1}', unit: '{line 2}' });
  t.deepEqual(columns, {
    'Net worth': { unit: 'USD', unit_multiplier: '6' },
    Rate: { unit_multiplier: '0' },
  });
  const dimension = (...texts: string[]) =>
    proposedRows([
      ['', 'BB.A', ...(texts.length > 1 ? ['BB.B'] : [])],
      ['Einheit', ...texts.map(() => 'Euro')],
      ['Dimension', ...texts],
      ...data.map((row) => row.slice(0, texts.length + 1)),
    ]).entry;
  t.like(dimension('Millionen').series, { unit_multiplier: '6' });
  t.deepEqual(dimension('Millionen', 'Eins').columns, {
    'BB.A': { unit_multiplier: '6' },
    'BB.B': { unit_multiplier: '0' },
  });
});

test('a line of words below the titles has the units for certain only if its label means that, or it has none', (t) => {
  const isAsked = (...line: string[]) => {
    const { series, guessed } = proposed([['Year', 'Exports', 'Imports', 'Rate'], line]).entry;
    t.is(series?.unit, '{line 2}');
    return guessed?.includes('series.unit') === true;
  };
  t.true(isAsked('Status', 'Final', 'Final', 'Prelim'));
  t.true(isAsked('', 'Exportations', 'Importations', 'Taux'));
  t.false(isAsked('Enhet', 'Kronor', 'Kronor', 'Procent'));
  t.false(isAsked('', 'USD', 'EUR', 'Percent'));
});

test('a currency that alone distinguishes the rows of a date is a dimension, as exchange rates are of it; beside others it is a unit, once confirmed', (t) => {
  const days = ['2024-01-01', '2024-01-02', '2024-01-03'];
  const of = (titles: string[], ...each: string[][]) =>
    proposedRows([
      titles,
      ...days.flatMap((day, n) => each.map((cells, at) => [day, ...cells, `${278 + 9 * n + at}.5`])),
    ]).entry;
  const rates = of(['Date', 'Currency', 'Rate'], ['USD'], ['EUR']);
  t.like(rates, { values: 'Rate', dimensions: { currency: 'Currency' }, series: { id: 'table' } });
  t.is(rates.series?.unit, undefined);
  const named = of(['Date', 'Currency Code', 'Currency', 'Rate'], ['USD', 'Dollar'], ['EUR', 'Euro']);
  t.like(named, { dimensions: { currency_code: 'Currency Code' } });
  t.is(named.series?.unit, undefined);
  const debt = of(['Date', 'Kind', 'Currency', 'Sum'], ['Bonds', 'USD'], ['Bonds', 'EUR'], ['Bills', 'USD']);
  t.like(debt, { series: { id: 'table.{Currency}', unit: '{Currency}' }, dimensions: { kind: 'Kind' } });
  t.true(debt.guessed?.includes('series.unit'));
  const units = of(['Date', 'Unit', 'Value'], ['kg'], ['USD']);
  t.like(units, { series: { id: 'table.{Unit}', unit: '{Unit}' }, skip: undefined });
});

test('the sign before a unit in a line of its own is a part of the unit', (t) => {
  const data = ['2022 Q1', '2022 Q2', '2022 Q3', '2022 Q4'].map((date, at) => [date, `${at}.5`, `${at}.25`]);
  const { series, columns } = proposedRows([
    ['Title', 'GDP', 'Growth'],
    ['CDID', 'ABMI', 'IHYQ'],
    ['PreUnit', '£', ''],
    ['Unit', 'm', '%'],
    ...data,
  ]).entry;
  t.is(series?.unit, '{line 3}{line 4}');
  t.deepEqual(columns, { GDP: { unit_multiplier: '6' } });
});

test('a title with commas that is not quoted is the name, unless the cells of the titles begin with a blank, too', (t) => {
  const title = ['Exports', ' imports and balance', ' annual', ''];
  const named = proposed([title, ['Year', 'Exports', 'Imports']]).entry.series;
  t.is(named?.name, 'Exports, imports and balance, annual, {column}');
  const spaced = proposed([['Country', ' Norway'], ['Year', ' Exports', ' Imports']]).entry.series; // prettier-ignore
  t.notRegex(spaced?.name ?? '', /Norway/);
});

test('a column of scales that are not known is not left out without a question', (t) => {
  const guessed = (...scales: string[]) =>
    proposedRows([
      ['Item', 'Year', 'Multiplier', 'Value'],
      ...['2021', '2022', '2023'].flatMap((year, at) => scales.map((scale, place) => [`Item ${place}`, year, scale, `${at}.5`])), // prettier-ignore
    ]).entry;
  for (const scales of [
    ['Millions', 'Percent'],
    ['Millions', 'n/a'],
    ['1', '1000'],
  ])
    t.true(guessed(...scales).guessed?.includes('ignore'), scales.join(' '));
  for (const scales of [
    ['Millions', 'Thousands'],
    ['6', '0'],
    ['1000', '1000000'],
  ])
    t.like(
      guessed(...scales),
      { guessed: undefined, series: { unit_multiplier: '{Multiplier}' } },
      scales.join(' '),
    );
});

test('a scale above the names beside periods is that of the table', (t) => {
  const { entry } = proposedRows([
    ['US$ million', '2021', '2022', '2023'],
    ['Exports', '1.5', '2.5', '3.5'],
    ['Imports', '4.5', '5.5', '6.5'],
  ]);
  t.like(entry.series, { unit_multiplier: '6' });
});

test('a scale in one cell of a line of units above the titles may not hold for the other columns', (t) => {
  const guessed = (...units: string[]) =>
    proposed([
      ['Unit', ...units],
      ['Year', 'Production', 'Price'],
    ]).entry.guessed?.includes('series.unit_multiplier');
  t.true(guessed('1000 t', 'EUR/t'));
  t.not(guessed('1000 t', '1000 t'), true);
});
