import test from 'ava';
import fc from 'fast-check';
import { dateInText } from '../cells/dates/date-in-line.ts';
import { detectNumbers } from './table/number-format.ts';
import { namesIn } from '../entry/file-name.ts';
import { propose } from './propose.ts';
import { about, sampleOf } from '../../test/ingest/proposing.ts';

test('a lone sign among numbers is a guess, as it may mean something else; two points are not', (t) => {
  for (const sign of ['@', '^', '#', '*']) {
    const { missing } = detectNumbers(['1.5', sign, '2', sign], { delimiter: ',' });
    t.deepEqual([missing?.value, missing?.isSure], [[sign], false]);
    t.regex(missing?.evidence ?? '', /is alone in 2 cells/);
    const data = months.map((month, at) => [month, at === 3 ? sign : `${at}.5`]);
    t.true(propose(sampleOf([['Date', 'A'], ...data]), about).entry.guessed?.includes('missing'));
  }
  t.true(detectNumbers(['1.5', '..', 'n/a'], { delimiter: ',' }).missing?.isSure);
});

test('years under an unknown title are dates, which is a guess; dates across the columns may be few', (t) => {
  const years = ['1995', '1996', '1997', '1998', '1999'];
  const unknown = propose(sampleOf([['Region', 'Xyz', 'Price'], ...years.map((year, at) => ['Riga', year, `${at}.5`])]), about); // prettier-ignore
  t.like(unknown.entry, { date: { column: 'Xyz' } });
  t.true(unknown.entry.guessed?.includes('date'));
  const known = propose(sampleOf([['Region', 'Gads', 'Price'], ...years.map((year, at) => ['Riga', year, `${at}.5`])]), about); // prettier-ignore
  t.not(known.entry.guessed?.includes('date'), true);
  const across = propose(
    sampleOf([
      ['Code', '2002-04', '2002-05', '2002-06'],
      ['A', '5', '6', '5'],
    ]),
    about,
  );
  t.deepEqual([across.entry.date, across.entry.series?.frequency], [{ across: 'columns' }, 'monthly']);
  const fourDigits = propose(
    sampleOf([
      ['Code', '1995', '1996', '1997'],
      ['A', '3389', '3585', '3738'],
    ]),
    about,
  );
  t.deepEqual(fourDigits.entry.date, { across: 'columns' });
});

test('a column with the title of the table in every row becomes the description of its series', (t) => {
  const rows = (title: string) => sampleOf([['Dataset', 'Series Key', 'Series', 'Date', 'Value'], ...['2024-01', '2024-02', '2024-03'].map((month, at) => [title, 'LSM.1', 'Overall', month, `${at}.5`])]); // prettier-ignore
  const described = propose(rows('Large-scale manufacturing (base 2015-16)'), about).entry;
  t.like(described.series, { description: '{Dataset}' });
  t.is(described.ignore, undefined);
  t.deepEqual(propose(rows('LSM_1516'), about).entry.ignore, ['Dataset']);
});

test('a date in a title or a name is read if it has only one meaning', (t) => {
  t.is(dateInText('as on 31-JULY-2014 (All figures in Rs. Crore)')?.date, '2014-07-31');
  t.is(dateInText('Portfolio as on Jun 30,2025')?.date, '2025-06-30');
  t.is(dateInText('2020-05.csv')?.date, '2020-05');
  t.is(dateInText('AAUM as on September 30, 2014.xlsx')?.date, '2014-09-30');
  t.is(dateInText('GDP 2020'), null);
  t.is(dateInText('31 February 2024'), null);
  t.deepEqual(namesIn('2012-09-20__f607da1__gdp.csv.gz'), { stem: 'gdp', dateInName: '2012-09-20' });
});

test('a few consecutive days are daily, even within the first or the last week of a month', (t) => {
  for (const first of [1, 2, 3, 28]) {
    const days = [0, 1, 2, 3].map((more) => `2024-01-${String(first + more).padStart(2, '0')}`);
    const { entry } = propose(
      sampleOf([['date', 'oil', 'gas'], ...days.map((day, at) => [day, `1.${at}`, '2.5'])]),
      about,
    );
    t.is(entry.skip, undefined);
    t.is(entry.series?.frequency, 'daily');
  }
});

test('months can be written 01.2024 or 1-2024; similar numbers next to a column of dates are not dates', (t) => {
  for (const [format, texts] of [
    ['M/YYYY', ['01.2024', '02.2024', '03.2024', '12.2024']],
    ['M/YYYY', ['1-2024', '2-2024', '3-2024', '12-2024']],
  ] as const) {
    const { entry } = propose(
      sampleOf([['Monat', 'Preis'], ...texts.map((text, at) => [text, `1${at},5`])]),
      about,
    );
    t.deepEqual(
      [entry.date, entry.decimal, entry.series?.frequency],
      [{ column: 'Monat', format }, ',', 'monthly'],
    );
  }
  const rates = ['10.1823', '10.1788', '10.1801', '10.1900', '11.1990'];
  const rows = rates.map((rate, at) => [`2024-01-0${at + 2}`, rate, rate]);
  for (const table of [rows, rows.map(([day = '', ...others]) => [...others, day])]) {
    const { entry } = propose(sampleOf([['a', 'b', 'c'], ...table]), about);
    t.deepEqual(entry.date, { column: table === rows ? 'a' : 'c' });
  }
});

const months = Array.from({ length: 14 }, (_, at) =>
  new Date(Date.UTC(2020, at, 1)).toISOString().slice(0, 7),
);
const formsOfMonth: Readonly<Record<string, (month: string) => string>> = {
  'YYYY-MM': (month) => month,
  'M/D/YYYY': (month) => `${Number(month.slice(5))}/1/${month.slice(0, 4)}`,
  'D/M/YYYY': (month) => `1.${Number(month.slice(5))}.${month.slice(0, 4)}`,
  YYYYMM: (month) => month.replace('-', ''),
};

/** A known table, in one of the usual layouts of files. */
const rendered = fc.record({
  layout: fc.constantFrom('long', 'wide', 'across'),
  form: fc.constantFrom(...Object.keys(formsOfMonth)),
  decimal: fc.constantFrom('.', ','),
  titles: fc.integer({ min: 0, max: 3 }),
  countries: fc.uniqueArray(fc.constantFrom('Chad', 'Peru', 'Fiji', 'Oman', 'Togo'), {
    minLength: 2,
    maxLength: 5,
  }),
});

test('a known table is detected in every layout: its beginning, its dates, its values and the columns that distinguish its rows', (t) => {
  fc.assert(
    fc.property(rendered, ({ layout, form, decimal, titles, countries }) => {
      const write = formsOfMonth[form] ?? String;
      const value = (at: number, country: number) => `${10 * country + at + 1}.25`.replace('.', decimal);
      const dates = months.map(write);
      const above = Array.from({ length: titles }, (_, at) => [
        ['Statistics Office', 'Output by country', 'Provisional'][at] ?? '',
      ]);
      const table: string[][] =
        layout === 'long'
          ? [
              ['Date', 'Country', 'Output'],
              ...countries.flatMap((country, c) => dates.map((date, at) => [date, country, value(at, c)])),
            ]
          : layout === 'wide'
            ? [
                ['Date', ...countries],
                ...dates.map((date, at) => [date, ...countries.map((_, c) => value(at, c))]),
              ]
            : [
                ['Country', ...dates],
                ...countries.map((country, c) => [country, ...dates.map((_, at) => value(at, c))]),
              ];
      const { entry } = propose(sampleOf([...above, ...table]), about);
      t.deepEqual([entry.header, entry.first], [titles + 1, titles + 2]);
      t.is(entry.decimal ?? '.', decimal);
      t.is(entry.series?.frequency, 'monthly');
      t.deepEqual(entry.dimensions ?? {}, layout === 'wide' ? {} : { country: 'Country' });
      t.deepEqual(entry.values, layout === 'long' ? 'Output' : layout === 'wide' ? '*' : undefined);
      t.is(entry.date !== undefined && 'across' in entry.date, layout === 'across');
      const format = entry.date !== undefined && 'format' in entry.date ? entry.date.format : undefined;
      t.is(format, form === 'YYYY-MM' ? undefined : form);
    }),
  );
});

test('a line of units below the titles gives each series its unit; a line of codes does not', (t) => {
  const data = months.map((month, at) => [month, `${at}.5`, `${at * 2}`]);
  const units = propose(sampleOf([['Date', 'A', 'B'], ['', 'Percent', 'USD'], ...data]), about);
  t.deepEqual([units.entry.series?.unit, units.entry.first], ['{line 2}', 3]);
  const codes = propose(sampleOf([['Date', 'A', 'B'], ['Transform:', '5', '2'], ...data]), about);
  t.deepEqual([codes.entry.series?.unit, codes.entry.first], [undefined, 3]);
});

test('a few rows that repeat a point are a guess, and many are refused', (t) => {
  const rows = Array.from({ length: 120 }, (_, at) => [
    new Date(Date.UTC(2010, at, 15)).toISOString().slice(0, 10),
    '1.5',
  ]);
  const few = propose(sampleOf([['Date', 'Rate'], ...rows, ['2012-03-16', '9']]), about);
  t.is(few.entry.repeated, 'first');
  t.is(few.entry.skip_invalid, undefined, 'other rows that are not valid stop the load');
  t.true(few.entry.guessed?.includes('repeated'));
  t.regex(
    few.evidence['repeated'] ?? '',
    /^1 of 121 rows .*, 1 of them with another value: the first is kept, and 1 is left out$/,
  );
  const many = propose(
    sampleOf([['Date', 'Rate'], ...rows, ['2012-03-16', '9'], ['2012-04-16', '9']]),
    about,
  );
  t.regex(
    many.entry.skip ?? '',
    /^2 of 122 rows .* and no column distinguishes them\. At most 10 % may repeat a point/,
  );
  t.deepEqual(many.entry.guessed, ['skip']);
  const alike = propose(sampleOf([['Date', 'Rate'], ...rows, ...rows.slice(0, 5)]), about);
  t.regex(
    alike.evidence['repeated'] ?? '',
    /^5 of 125 rows .*, 0 of them with another value: .* 5 are left out$/,
  );
  t.regex(
    propose(sampleOf([['Date', 'Rate'], ...rows, ...rows]), about).entry.skip ?? '',
    /^120 of 240 rows/,
  );
});

test('a row whose date and number are not readable is left out only if the user confirms it; a note is not asked about', (t) => {
  const table = (row: string[], note: string[] = []) => {
    const months = [3, 4, 5, 6].map((month) => [`2024-0${month}`, '2.5']);
    return propose(sampleOf([['Date', 'Value'], ['2024-01', '1.5'], row, ...months, note]), about).entry;
  };
  t.like(table(['2024-O2', '2.5 see note']), { leave_out: { Date: ['2024-O2'] }, guessed: ['leave_out'] });
  t.is(table(['2024-02', '2.5'], ['Source: report of 2024', '']).guessed, undefined);
});

test('a first row whose date has another form belongs to the table, and is not omitted with the titles', (t) => {
  const quarters = ['2023 Q1', '2023 Q2', '2023 Q3', '2023 Q4', '2024 Q1'].map((quarter) => [quarter, '3']);
  const { entry } = propose(
    sampleOf([['Period', 'Value'], ['2022', '10'], ['2023', '12'], ...quarters]),
    about,
  );
  t.deepEqual(
    [entry.date, entry.first, entry.leave_out],
    [{ column: 'Period' }, 2, { Period: ['2022', '2023'] }],
  );
  t.true(entry.guessed?.includes('leave_out'));
  const years = ['2021', '2022', '2023'].map((year) => [year, '1', '2']);
  for (const numbers of [
    ['(1)', '(2)', '(3)'],
    ['1', '2', '3'],
    ['Codes', '5', '2'],
  ]) {
    const numbered = propose(sampleOf([['Year', 'Exports', 'Imports'], numbers, ...years]), about);
    t.is(numbered.entry.first, 3, 'numbers of the columns, or codes');
    t.not(numbered.entry.series?.unit, '{line 2}');
    t.true((numbered.evidence['first'] ?? '').includes('line 2 has no date and is left out'));
  }
});

test('a table of few rows is found between its titles and its notes', (t) => {
  const rows = [
    ['Table 5'],
    [],
    ['Year', 'Exports'],
    ['2021', '1'],
    ['2022', '2'],
    ['2023', '3'],
    [],
    ['1) of 2023'],
    ['Source: the bank'],
  ];
  const { entry } = propose(sampleOf(rows), about);
  t.like(entry, { header: 3, first: 4, date: { column: 'Year' }, values: 'Exports' });
});

test('the same words before each period across the columns are left out of it; other words, or a column of dates, make it a part of a name', (t) => {
  const proposed = (...lines: string[]) =>
    propose(sampleOf(lines.map((line) => line.split(','))), about).entry;
  const rows = ['North,1200,1210', 'South,1300,1310'];
  const salaries = proposed('region,Average salary 2021M01,Average salary 2021M02', ...rows);
  t.like(salaries.date, { across: 'columns', after: 'Average salary' });
  t.true(salaries.guessed?.includes('date'));
  t.is(proposed('region,Births 2021,Deaths 2022', ...rows).date, undefined);
  t.is(proposed('region,Births 2021,2022', ...rows).date, undefined);
  const three = ['North,1200,1210,5', 'South,1300,1310,6'];
  t.is(proposed('region,Births 2021,Births 2022,Deaths 2023', ...three).date, undefined);
  t.is(proposed('region,Jul-Nov 2021,Jul-Nov 2022', ...rows).date, undefined);
  const dated = months.map((month, at) => `${month},${at}.5,${at + 9}.5`);
  t.deepEqual(proposed('Month,Index 2015,Index 2020', ...dated).date, { column: 'Month' });
});

test('one text over all periods, beside the titles of other columns, is read as the words before each of them', (t) => {
  const proposed = (...lines: string[]) =>
    propose(sampleOf([...lines, 'North,1,2', 'South,3,4'].map((line) => line.split(','))), about).entry;
  const read = {
    ...{ header: [1, 2], first: 3, date: { across: 'columns', after: 'Thousand persons' } },
    ...{ dimensions: { region: 'Region' }, guessed: ['date'] },
  };
  t.like(proposed('Region,Thousand persons,', ',2021,2022'), read);
  t.like(proposed('Region,Thousand persons,', ',2021,2022').series, { unit_multiplier: '3' });
  t.like(proposed('Region,Thousand persons,Thousand persons', 'Region,2021,2022'), read);
  t.like(proposed('Table 1,Persons,', 'Region,2021,2022'), { header: 2, dimensions: { region: 'Region' } });
  t.is(proposed('Region,Actual,Forecast', ',2021,2022').header, 2);
  const year = proposed('Region,Year,', ',2021,2022');
  t.like(year, {
    date: { after: 'Year' },
    dimensions: { region: 'Region' },
    series: { name: 'folder, table' },
  });
  t.is(year.guessed, undefined);
});

test('possible multiples, units and shares are guesses, as are points that may group or be decimal', (t) => {
  const flagsOf = (...texts: string[]) => detectNumbers(texts, { delimiter: ',' }).flags;
  const multiplesOf = (...texts: string[]) => detectNumbers(texts, { delimiter: ',' }).multiples;
  t.deepEqual([flagsOf('1.5 p', '2bp', '3 (r)', '4*', '5 A')?.isSure, flagsOf('1.5%')?.isSure], [true, true]);
  for (const sign of ['M', 'K', 'bn', 'mio']) {
    t.is(multiplesOf(`1.5 ${sign}`, '2')?.isSure, false, sign);
    t.regex(multiplesOf(`1.5${sign}`, '2')?.evidence ?? '', /may be flags or units/);
  }
  t.is(flagsOf('1.5 kg', '2')?.isSure, false);
  t.regex(flagsOf('1.5 kg', '2')?.evidence ?? '', /may be a unit, or multiply the number/);
  const grouped = (...texts: string[]) => {
    const { decimal, thousands } = detectNumbers(texts, { delimiter: ';' });
    return [decimal.value, thousands?.value, thousands?.isSure];
  };
  t.deepEqual(grouped('45.512', '46.012', '512'), [',', '.', false]);
  t.deepEqual(
    grouped('45.512', '1512'),
    ['.', undefined, undefined],
    'a number of four digits is not grouped',
  );
  t.deepEqual(grouped('0.512', '1.512'), ['.', undefined, undefined]);
  for (const delimiter of ['\t', undefined])
    t.like(detectNumbers(['4.506', '12.933'], { delimiter }).decimal, { value: '.', isSure: false });
  t.true(
    detectNumbers(['4.506', '12.933'], { delimiter: ',' }).decimal.isSure,
    'where commas divide the cells',
  );
  const isSureBeside = (title: string) =>
    !propose(
      sampleOf([
        [title, 'Rate'],
        ...['4.506', '12.933', '13.004'].map((value, at) => [months[at] ?? '', value]),
      ]),
      about,
    ).entry.guessed?.includes('decimal');
  t.deepEqual(['Date', '日付', 'Datum', 'Godina', 'Дата'].map(isSureBeside), [
    true,
    true,
    false,
    false,
    false,
  ]);
  const rates = (...values: string[]) =>
    propose(sampleOf([['Date', 'Rate'], ...values.map((value, at) => [months[at] ?? '', value])]), about)
      .entry;
  t.not(rates('1.5%', '2%', '3%').guessed?.includes('flags'), true);
  t.true(rates('1.5%', '0.02', '0.03').guessed?.includes('flags'));
  t.deepEqual(rates('1.5', '#DIV/0!', '3').missing, ['#DIV/0!']);
  t.true(rates('1.5', '#DIV/0!', '3').guessed?.includes('missing'));
  t.not(rates('1.5', '#N/A', '3').guessed?.includes('missing'), true);
});

test('a two-digit year read as one far in the future is a guess, and so is the use of a second column of dates', (t) => {
  const table = (...dates: string[]) =>
    propose(sampleOf([['Month', 'Rate'], ...dates.map((date, at) => [date, `${at}.5`])]), about);
  const early = table('Nov-68', 'Dec-68', 'Jan-69');
  t.true(early.entry.guessed?.includes('date'));
  t.regex(early.evidence['date'] ?? '', /"Nov-68" is read as 2068/);
  t.not(table('Nov-98', 'Dec-98', 'Jan-99').entry.guessed?.includes('date'), true);
  const rows = ['01', '02', '03'].map((month) => [`2024-${month}-15`, '1.5', `2023-${month}-28`, '2.5']);
  const two = propose(sampleOf([['Date', 'A', 'Date of B', 'B'], ...rows]), about);
  t.true(two.entry.guessed?.includes('ignore'));
  t.regex(
    two.evidence['ignore'] ?? '',
    /Date of B: .* dates of its own, which may be those of the values beside it/,
  );
  const twice = propose(
    sampleOf([
      ['Date', 'A', 'Date of B', 'B'],
      ...rows,
      ...rows.map(([date = '', ...others]) => [date.replace('2024', '2025'), ...others]),
    ]),
    about,
  );
  t.true(twice.entry.guessed?.includes('dimensions'), 'where the dates go with several of the others');
});

test('omitting a column that repeats the dates is a guess; names that happen to have one date each are kept', (t) => {
  const rows = (label: (month: string, at: number) => string) =>
    propose(
      sampleOf([
        ['Month', 'Label', 'Rate'],
        ...months.map((month, at) => [month, label(month, at), `${at}.5`]),
      ]),
      about,
    ).entry;
  const repeating = rows((month) => month.replace('-', ' M'));
  t.deepEqual([repeating.dimensions, repeating.ignore], [undefined, ['Label']]);
  t.true(repeating.guessed?.includes('ignore'));
  t.is(repeating.series?.frequency, 'monthly');
  t.deepEqual(rows((_, at) => `Town ${'ABCDEFGHIJKLMN'.charAt(at)}`).dimensions, { label: 'Label' });
});
