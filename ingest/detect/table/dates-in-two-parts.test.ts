import test from 'ava';
import { proposed } from '../../../test/ingest/proposing.ts';

const twoYears = ['2022', '2023'];
const monthNames = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

test('months and quarters in a column next to that of the years are parts of the dates', (t) => {
  const table = (title: string, parts: readonly string[], countries = ['Chad', 'Peru']) => [
    ['Country', 'Year', title, 'Value'],
    ...countries.flatMap((country) =>
      twoYears.flatMap((year) => parts.map((part, at) => [country, year, part, `${at}.5`])),
    ),
  ];
  const numbers = monthNames.map((_, at) => String(at + 1));
  for (const [title, parts, format, frequency] of [
    ['Month', monthNames, undefined, 'monthly'],
    ['Period', monthNames.map((name) => name.slice(0, 3)), undefined, 'monthly'],
    ['Month', numbers, 'YYYY/M', 'monthly'],
    ['Quarter', ['Q1', 'Q2', 'Q3', 'Q4'], undefined, 'quarterly'],
    ['Quarter', ['1', '2', '3', '4'], 'YYYY/Q', 'quarterly'],
    ['Halbjahr', ['1', '2'], 'YYYY/H', 'semiannual'],
    ['Xahar', numbers, 'YYYY/M', 'monthly'],
  ] as const) {
    const { entry } = proposed(table(title, parts));
    t.deepEqual(entry.date, { column: ['Year', title], ...(format !== undefined && { format }) });
    t.deepEqual([entry.series?.frequency, entry.dimensions], [frequency, { country: 'Country' }]);
  }
  t.regex(
    proposed(table('Month', [...numbers, '13'])).entry.skip ?? '',
    /the column Month divides the years, and "13"/,
  );
  t.regex(
    proposed(table('Quarter', ['1', '2', '3', '4', '5'])).entry.skip ?? '',
    /Quarter divides the years, and "5"/,
  );
  const codes = numbers.map((number) => `M${number.padStart(2, '0')}`);
  const withAnnual = proposed(table('Period', [...codes, 'M13']));
  t.like(withAnnual.entry, {
    date: { column: ['Year', 'Period'] },
    leave_out: { Period: ['M13'] },
  });
  t.true(withAnnual.entry.guessed?.includes('leave_out'));
  const coded = proposed(table('Group', ['1', '2', '3']));
  t.regex(coded.entry.skip ?? '', /no column distinguishes them/, 'numbers under another title are codes');
  const peaks = ['May', 'June', 'May', 'July'].map((month, at) => [String(2020 + at), month, `${at}.5`]);
  t.deepEqual(
    proposed([['Year', 'Peak', 'Price'], ...peaks]).entry.date,
    { column: 'Year' },
    'a fact of the year',
  );
});

test('years, months and days in three columns form the dates', (t) => {
  const days = Array.from({ length: 40 }, (_, at) => new Date(Date.UTC(2024, 0, 1 + at)));
  const rows = days.map((day, at) => [
    ...[day.getUTCFullYear(), day.getUTCMonth() + 1, day.getUTCDate()].map(String),
    `${at}.5`,
  ]);
  const { entry } = proposed([['Year', 'Month', 'Day', 'Rain'], ...rows]);
  t.like(entry, {
    date: { column: ['Year', 'Month', 'Day'], format: 'YYYY/M/D' },
    values: 'Rain',
    dimensions: undefined,
  });
  t.is(entry.series?.frequency, 'daily');
});

test('months and quarters as titles next to a column of years are parts of the dates; omitting the sum of the year is a guess', (t) => {
  const rows = (titles: readonly string[]) =>
    twoYears.map((year, row) => [year, ...titles.map((_, at) => `${row}${at}.5`)]);
  for (const [titles, format, frequency] of [
    [monthNames, undefined, 'monthly'],
    [monthNames.map((_, at) => String(at + 1)), 'YYYY/M', 'monthly'],
    [['Q1', 'Q2', 'Q3', 'Q4'], undefined, 'quarterly'],
  ] as const) {
    const { entry } = proposed([['Year', ...titles, 'Average'], ...rows([...titles, 'Average'])]);
    t.deepEqual(entry.date, { across: 'columns', year: 'Year', ...(format !== undefined && { format }) });
    t.deepEqual(entry.ignore, ['Average']);
    t.is(entry.series?.frequency, frequency);
    t.deepEqual(entry.guessed, ['ignore']);
  }
  // From July to June: no line indicates the year of the first months.
  const fiscal = [...monthNames.slice(6), ...monthNames.slice(0, 6)];
  const { entry } = proposed([['Year', ...fiscal], ...rows(fiscal)]);
  t.regex(
    entry.skip ?? '',
    /months from July to June, and no line states the calendar year of the first ones/,
  );
});

test('a year stated only in the first row of its months is repeated; a month counts even if its name means a yearly sum elsewhere', (t) => {
  const rows = twoYears.flatMap((year) =>
    monthNames.map((name, at) => [at === 0 ? year : '', name.toUpperCase(), `${at}.5`]),
  );
  t.like(proposed([['Bliain', 'Mí', 'Price'], ...rows]).entry, {
    date: { column: ['Bliain', 'Mí'], fill: true },
    series: { frequency: 'monthly' },
  });
  const short = 'jan feb mar apr maj jun jul avg sep okt nov dec'.split(' ');
  const slovene = twoYears.flatMap((year) => short.map((part, at) => [year, part, `${at}.5`]));
  const { entry } = proposed([['Leto', 'Mesec', 'Cena'], ...slovene]);
  t.deepEqual([entry.date, entry.leave_out], [{ column: ['Leto', 'Mesec'], language: 'sl' }, undefined]);
});

test('months, quarters and years in one column form a series of each frequency; a few sums are omitted', (t) => {
  const kinds: [string, number][] = [];
  for (const year of ['2021', '2022', '2023']) {
    kinds.push([year, 1]);
    for (let quarter = 1; quarter <= 4; quarter++) kinds.push([`${year} Q${quarter}`, 2]);
    for (const name of monthNames) kinds.push([`${year} ${name.slice(0, 3).toUpperCase()}`, 3]);
  }
  const rows = kinds.map(([date, value], at) => [date, `${value}${at}.5`]);
  const { entry, evidence } = proposed([['Date', 'CPI'], ...rows]);
  t.like(entry.series, { id: 'table.{frequency of date}', frequency: '{frequency of date}' });
  t.regex(evidence['series.frequency'] ?? '', /3 years, 12 quarters, 36 months: a series of each frequency/);
  t.true(entry.guessed?.includes('series.frequency'));
  const named = kinds.map(([date, value], at) => [date, ['', 'A', 'Q', 'M'][value] ?? '', `${value}${at}.5`]);
  t.falsy(proposed([['Date', 'Frequency', 'CPI'], ...named]).entry.guessed?.includes('series.frequency'));
  const keyed = kinds.map(([date, value], at) => [
    date,
    ['', 'KA', 'KQ', 'KM'][value] ?? '',
    `${value}${at}.5`,
  ]);
  t.is(
    proposed([['Date', 'Series ID', 'CPI'], ...keyed]).entry.series?.id,
    '{Series ID}',
    'which has one each',
  );
  const few = proposed([
    ['Date', 'CPI'],
    ...rows.filter(([date = '']) => /[A-Z]{3}$|^2022$/.test(date)),
  ]).entry;
  t.deepEqual([few.leave_out, few.series?.frequency], [{ Date: ['2022'] }, 'monthly']);
});

test('a title that is a month in one language and an average in another is read like its neighbours', (t) => {
  const across = (titles: readonly string[]) =>
    proposed([
      ['Year', ...titles],
      ...['2020', '2021', '2022'].map((year) => [year, ...titles.map((_, at) => `${at}.5`)]),
    ]).entry;
  const slovenian = 'jan feb mar apr maj jun jul avg sep okt nov dec'.split(' ');
  t.like(across(slovenian), { date: { across: 'columns', language: 'sl' }, ignore: undefined });
  const averaged = [...'jan feb mar apr'.split(' '), 'avg'];
  t.like(across(averaged), { date: { across: 'columns', language: undefined }, ignore: ['avg'] });
});

test('parts of fiscal years in the titles are refused, as their calendar years are not stated', (t) => {
  const titles = ['Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec', 'Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun'];
  for (const parts of [titles, ['Q1', 'Q2', 'Q3', 'Q4']]) {
    const rows = ['2020/21', '2021/22', '2022/23'].map((year) => [year, ...parts.map((_, at) => `${at}.5`)]);
    t.regex(
      proposed([['Year', ...parts], ...rows]).entry.skip ?? '',
      /^Year has fiscal years, and titles are/,
    );
  }
});

test('months, quarters or halves in a column beside years across are parts of the dates', (t) => {
  for (const [parts, sum, language, frequency] of [
    [['Enero', 'Febrero', 'Marzo', 'Abril', 'Mayo'], 'Promedio', 'es', 'monthly'],
    [['Q1', 'Q2', 'Q3', 'Q4'], 'Total', undefined, 'quarterly'],
    [['H1', 'H2'], 'Year', undefined, 'semiannual'],
  ] as const) {
    const rows = [...parts, sum].map((part, at) => [part, `${at}.5`, `${at + 20}.5`]);
    const { entry } = proposed([['Part', ...twoYears], ...rows]);
    const form = language === undefined ? {} : { language };
    t.deepEqual(entry.date, { across: 'columns', year: 'Part', ...form } as never);
    t.deepEqual([entry.series?.frequency, entry.dimensions], [frequency, undefined]);
    t.deepEqual([entry.leave_out, entry.guessed?.includes('leave_out')], [{ Part: [sum] }, true]);
  }
});

test('months below fiscal years, and a text among months that is not a month, are refused', (t) => {
  const rows = ['July', 'August', 'September', 'October'].map((month, at) => [month, `${at}.5`, `${at}.7`]);
  t.regex(
    proposed([['Month', '2021-22', '2022-23'], ...rows]).entry.skip ?? '',
    /titles are fiscal years, and Month has their parts: put the calendar year into each text, as in July 2024/,
  );
  t.regex(
    proposed([['Month', ...twoYears], ...rows, ['Novembr', '1.5', '1.7']]).entry.skip ?? '',
    /"Novembr" in it is neither a month nor a quarter that is known/,
  );
});

test('Roman numerals are months if there are twelve, or the title says so, and quarters otherwise', (t) => {
  const numerals = ['I', 'II', 'III', 'IV', 'V', 'VI', 'VII', 'VIII', 'IX', 'X', 'XI', 'XII'];
  const values = numerals.map((_, at) => `${at}.5`);
  const across = proposed([['Rok', ...numerals], ...twoYears.map((year) => [year, ...values])]).entry;
  t.deepEqual(
    [across.date, across.series?.frequency],
    [{ across: 'columns', year: 'Rok', format: 'Roman month' }, 'monthly'],
  );
  const down = (title: string, count: number, year: string) =>
    proposed([
      [title, 'Index'],
      ...numerals.slice(0, count).map((month, at) => [`${month} ${year}`, `${at}.5`]),
    ]).entry;
  for (const [title, count, frequency, guessed] of [
    ['Okres', 12, 'monthly', undefined],
    ['Miesiąc', 4, 'monthly', undefined],
    ['Kwartał', 4, 'quarterly', undefined],
    ['Okres', 4, 'quarterly', ['date']],
  ] as const) {
    const entry = down(title, count, '2024');
    t.deepEqual([entry.series?.frequency, entry.guessed], [frequency, guessed as never], `${title} ${count}`);
  }
});

test('halves in a column next to that of the years are parts of the dates, and their year is left out', (t) => {
  const rows = twoYears.flatMap((year) => ['S01', 'S02', 'S03'].map((part, at) => [year, part, `${at}.5`]));
  const { entry } = proposed([['year', 'period', 'value'], ...rows]);
  t.deepEqual(entry.date, { column: ['year', 'period'] });
  t.deepEqual([entry.series?.frequency, entry.leave_out], ['semiannual', { period: ['S03'] }]);
});

test('months in a column next to that of fiscal years are refused', (t) => {
  const rows = ['2022-23', '2023-24'].flatMap((year) =>
    ['July', 'August', 'September'].map((month, at) => [year, month, `${at}.5`]),
  );
  t.regex(
    proposed([['Year', 'Month', 'Imports'], ...rows]).entry.skip ?? '',
    /^Year has fiscal years, and another column their parts/,
  );
});

test('weeks in a column next to that of the years are parts of the dates', (t) => {
  const weeks = [['2020', '52'], ['2020', '53'], ['2021', '1'], ['2021', '2']]; // prettier-ignore
  const { entry } = proposed([['Jahr', 'KW', 'Zahl'], ...weeks.map((week, at) => [...week, `${at}.5`])]);
  t.deepEqual(entry.date, { column: ['Jahr', 'KW'], format: 'YYYY/W' });
  t.is(entry.series?.frequency, 'weekly');
});

test('months and quarters of unknown names beside years across are refused, or asked about; the months that end quarters are parts of the dates', (t) => {
  const across = (title: string, parts: readonly string[]) =>
    proposed([[title, '2022', '2023'], ...parts.map((part, at) => [part, `${at}.5`, `${at + 20}.5`])]).entry;
  const months = Array.from({ length: 12 }, (_, at) => `Tháng ${at + 1}`);
  t.regex(across('Month', months).skip ?? '', /^the column Month divides the years, and "Tháng 1" in it/);
  t.regex(across('Quarter', ['First', 'Second', 'Third', 'Fourth']).skip ?? '', /"First" in it is neither/);
  t.deepEqual(across('Month', months.slice(0, 3)).guessed, ['dimensions']);
  t.is(across('Area', months).guessed, undefined);
  const { date, series } = across('Quarter', ['Mar', 'Jun', 'Sep', 'Dec']);
  t.like({ ...date, ...series }, { across: 'columns', year: 'Quarter', frequency: 'quarterly' });
});

test('months from July to June beside calendar years are refused, as no line states the calendar year of the first ones', (t) => {
  const rows = (months: readonly string[]) =>
    proposed([['Month', ...twoYears], ...months.map((month, at) => [month, `${at}.5`, `${at + 20}.5`])])
      .entry;
  const fiscal = [...monthNames.slice(6), ...monthNames.slice(0, 6)];
  t.regex(
    rows(fiscal).skip ?? '',
    /^Month has the parts of a year from July to June, and no line states the calendar year/,
  );
  for (const months of [monthNames, monthNames.toReversed()])
    t.like(rows(months).date, { across: 'columns', year: 'Month' });
});

test('titles of three months that are no quarter, beside years, may be parts of them', (t) => {
  const titles = ['Feb-Apr', 'May-Jul', 'Aug-Oct', 'Nov-Jan'];
  const { guessed } = proposed([
    ['Year', ...titles],
    ...twoYears.map((year) => [year, '1.5', '2.5', '3.5', '4.5']),
  ]).entry;
  t.true(guessed?.includes('values'));
});
