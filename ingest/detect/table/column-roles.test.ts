import test from 'ava';
import { proposed as detected } from '../../../test/ingest/proposing.ts';

const proposed = (rows: string[][]) => detected(rows).entry;

const years = ['2018', '2019', '2020', '2021', '2022', '2023'];

test('a column called Number has values, unless it counts the rows', (t) => {
  const table = (number: (at: number) => string) => [
    ['Year', 'Men', '', 'Women', ''],
    ['', 'Rate', 'Number', 'Rate', 'Number'],
    ...years.map((year, at) => [year, `${at}.5`, number(at), `${at}.25`, number(at)]),
  ];
  t.is(proposed(table((at) => String(1000 + at))).ignore, undefined);
  t.deepEqual(proposed(table((at) => String(at + 1))).ignore, ['Men / Number', 'Women / Number']);
});

test('money called Notes has values, and numbers of footnotes have none', (t) => {
  const table = (of: (at: number) => string) =>
    proposed([['Year', 'Coins', 'Notes'], ...years.map((year, at) => [year, `${at}.25`, of(at)])]);
  t.is(table((at) => `${at * 3}00.5`).values, '*');
  t.deepEqual(table((at) => `${(at % 2) + 1}`).ignore, ['Notes']);
});

test('a row of numbers like years below other numbers does not name the columns', (t) => {
  const { skip } = proposed([
    ['City', '2016 Census', '2021 Census'],
    ['Alpha', '1000', '1100'],
    ['Beta', '2000', '2100'],
    ['Gamma', '3000', '3100'],
  ]);
  t.regex(skip ?? '', /^it has no dates/);
});

test('numbers below Units or Currency are values, and words below them are units', (t) => {
  const table = (title: string, of: (at: number) => string) =>
    proposed([['Year', title, 'Price'], ...years.map((year, at) => [year, of(at), `${at}.25`])]);
  for (const title of ['Units', 'Currency']) {
    t.is(table(title, (at) => `${at * 7}`).values, '*');
    t.is(table(title, () => 'USD').series?.unit, `{${title}}`);
  }
});

test('a column with the title of the dates is omitted if it repeats them; with other dates the table is refused', (t) => {
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

test('a currency code next to each number does not make it a column of words', (t) => {
  const { values } = proposed([
    ['Month', 'Amount'],
    ...years.map((year, at) => [`${year}-01`, `USD ${at + 1},000.50`]),
  ]);
  t.is(values, 'Amount');
});

test('a column of row numbers is omitted, and the table is not refused for its missing title', (t) => {
  const table = (title: string, number: (at: number) => string) => [
    [title, 'Year', 'Sales'],
    ...years.map((year, at) => [number(at), year, `${at}.5`]),
    ...['', '', 'Source: the office'].map((note) => ['', note, '']),
  ];
  const columnsOf = (title: string, number: (at: number) => string) => {
    const { values, dimensions, skip } = proposed(table(title, number));
    return [values, dimensions, skip];
  };
  t.deepEqual(columnsOf('', String), ['Sales', undefined, undefined], 'pandas');
  t.deepEqual(
    columnsOf('Unnamed: 0', String),
    ['Sales', undefined, undefined],
    'pandas, read and written again',
  );
  t.deepEqual(
    columnsOf('', (at) => String(3 * at + 7)),
    ['Sales', undefined, undefined],
    'a selection by pandas',
  );
  t.deepEqual(
    columnsOf('No.', (at) => String(at + 1)),
    ['Sales', undefined, undefined],
  );
  const keyed = proposed([
    ['Year', 'ID', 'Price'],
    ...['2020', '2020', '2020', '2021'].map((year, at) => [year, String(at + 1), `${at}.5`]),
  ]);
  t.deepEqual(
    [keyed.values, keyed.dimensions],
    ['Price', { id: 'ID' }],
    'it distinguishes the rows of a year',
  );
  t.deepEqual(
    columnsOf('Index', (at) => String(at + 95)),
    ['*', undefined, undefined],
    'a price index',
  );
});

test('yearly sums among quarters, and quarterly sums among months, are omitted after confirmation', (t) => {
  const across = (titles: string[]) =>
    proposed([
      ['Item', ...titles],
      ['Exports', ...titles.map((_, at) => String(at + 1))],
      ['Imports', ...titles.map((_, at) => String(at + 20))],
    ]);
  const quarters = across(['2021 Q1', '2021 Q2', '2021 Q3', '2021 Q4', '2021', '2022 Q1', '2022 Q2']);
  t.like(quarters, { ignore: ['2021'], guessed: ['ignore'], series: { frequency: 'quarterly' } });
  const months = across([
    '2021-01',
    '2021-02',
    '2021-03',
    '2021-Q1',
    '2021-04',
    '2021-05',
    '2021-06',
    '2021',
  ]);
  t.like(months, { ignore: ['2021-Q1', '2021'], series: { frequency: 'monthly' } });
});

test('a text that repeats the value with its bounds is not a dimension, and its omission is a guess', (t) => {
  const { entry, ignored } = detected([
    ['Location', 'Period', 'FactValue', 'Value'],
    ...['Chad', 'Peru'].flatMap((place, row) =>
      years.map((year, at) => [
        place,
        year,
        `${50 + row + at}.14`,
        `${50 + row + at}.1 [${40 + at}.0-${60 + row}.0]`,
      ]),
    ),
  ]);
  t.deepEqual(entry.dimensions, { location: 'Location' });
  t.regex(ignored?.['Value'] ?? '', /it has another number in nearly every row/);
  t.true(entry.guessed?.includes('ignore'));
});

test('a column of codes next to the dates has no values', (t) => {
  const entry = proposed([
    ['時間軸 コード', '時間軸', '全国'],
    ...years.map((year, at) => [`${year}000101`, `${year}年1月`, `${at}.5`]),
  ]);
  t.is(entry.values, '全国');
});

test('a column of numbers that repeats the dates of the rows is left out, as a guess', (t) => {
  const months = Array.from({ length: 9 }, (_, at) => ({
    text: `2022-0${at + 1}`,
    day: `2022-0${at + 1}-15`,
  }));
  const forms: ((day: string) => string)[] = [
    (day) => (2022 + (Number(day.slice(5, 7)) - 0.5) / 12).toFixed(4),
    (day) => day.replaceAll('-', ''),
    (day) => String(Date.parse(day) / 86_400_000 + 25_569),
    (day) => String(Date.parse(day) / 1_000),
  ];
  for (const write of forms) {
    const rows = months.map(({ text, day }, at) => [text, write(day), `${at + 4}18.25`]);
    const { ignore, guessed } = proposed([['Date', 'decimal', 'CO2'], ...rows]);
    t.deepEqual([ignore, guessed?.includes('ignore')], [['decimal'], true], write('2022-01-15'));
  }
  const values = months.map(({ text }, at) => [text, `${2022 + at * 7}.0417`, `${at}.25`]);
  t.is(proposed([['Date', 'Price', 'CO2'], ...values]).ignore, undefined);
});

test('a column of short texts beside some of the values has their status, as a guess unless its title means flags', (t) => {
  const entryOf = (title: string, texts: readonly string[]) =>
    proposed([['Year', 'Value', title], ...years.map((year, at) => [year, `${at}.5`, texts[at] ?? ''])]);
  for (const title of ['Zeichen', 'Provisional', 'Comment'])
    t.like(entryOf(title, ['', 'r', '', 'p', 'p']), { status: title, guessed: ['status'] }, title);
  const titled = entryOf('footnote_codes', ['', 'r', '', 'p', 'p']);
  t.deepEqual([titled.status, titled.guessed], [{ beside: 'values' }, undefined]);
  const comment = entryOf('Comment', ['', 'The survey was not held.', '', '', '']);
  t.deepEqual([comment.status, comment.ignore], [undefined, ['Comment']]);
});

test('columns of numbers before the periods are left out as a guess, also if a row has none of them', (t) => {
  const { ignore, guessed } = proposed([
    ['Item', '2022', '2023Q1', '2023Q2', '2023Q3'],
    ['Food', '1.5', '2.5', '3.5', '4.5'],
    ['Rent', '', '12.5', '13.5', '14.5'],
  ]);
  t.deepEqual([ignore, guessed?.includes('ignore')], [['2022'], true]);
});

test('recurring texts that are too long for a status are left out as a guess', (t) => {
  const { status, ignore, guessed } = proposed([
    ['Year', 'Value', 'Nature'],
    ...years.map((year, at) => [year, `${at}.5`, at > 3 ? 'Preliminary estimate' : '']),
  ]);
  t.deepEqual([status, ignore, guessed], [undefined, ['Nature'], ['ignore']]);
  const missing = proposed([
    ['Year', 'Value', 'Nature'],
    ...years.map((year, at) => (at > 3 ? [year, '.', 'No value available'] : [year, `${at}.5`, ''])),
  ]);
  t.is(missing.guessed, undefined, 'beside missing values only');
});

test('a column called Status or Frequency that divides the rows of each date is a dimension', (t) => {
  const rows = ['2021', '2022', '2023'].flatMap((year, at) =>
    ['Men', 'Women'].flatMap((sex) =>
      ['Employed', 'Unemployed'].map((status, n) => [year, sex, status, `${at}${n}.5`]),
    ),
  );
  const entry = proposed([['Year', 'Sex', 'Status', 'Persons'], ...rows]);
  t.like(entry, { dimensions: { sex: 'Sex', status_: 'Status' }, status: undefined, skip: undefined });
  const often = proposed([['Year', 'Sex', 'Frequency', 'Persons'], ...rows]);
  t.like(often, { dimensions: { sex: 'Sex', frequency_: 'Frequency' }, skip: undefined });
  const across = [
    ['Status', '2021', '2022', '2023'],
    ['Single', '1', '2', '3'],
    ['Married', '4', '5', '6'],
    ['Widowed', '7', '8', '9'],
  ];
  t.like(proposed(across), { dimensions: { status_: 'Status' }, skip: undefined });
  const flags = rows.filter((_, at) => at % 2 === 0).map(([year = '', sex = '', , value = ''], at) => [year, sex, at < 4 ? 'Final' : 'Provisional', value]); // prettier-ignore
  t.like(proposed([['Year', 'Sex', 'Status', 'Persons'], ...flags]), { status: 'Status' });
});

test('lengths of time such as 3M and 1Y are a dimension, not millions', (t) => {
  const of = (title: string, ...tenors: string[]) =>
    proposed([
      ['Date', title, 'Bid'],
      ...['2024-01-01', '2024-01-02', '2024-01-03'].flatMap((day, at) =>
        tenors.map((tenor, n) => [day, tenor, `${21 + at}.${n + 1}`]),
      ),
    ]);
  t.like(of('Tenor', '1W', '1M', '3M', '1Y'), { values: 'Bid', dimensions: { tenor: 'Tenor' } });
  t.like(of('Maturity (months)', '1M', '3M', '6M'), { values: 'Bid', multiples: undefined });
  t.like(of('Curve', 'O/N', '1W', '1M'), { values: 'Bid', dimensions: { curve: 'Curve' } });
});

test('flags have the codes of OECD.Stat, not their descriptions', (t) => {
  const { status, ignore } = proposed([
    ['Year', 'Value', 'Flag Codes', 'Flags'],
    ...years.map((year, at) => [year, `${at}.5`, ...(at > 3 ? ['P', 'Provisional value'] : ['', ''])]),
  ]);
  t.deepEqual([status, ignore], ['Flag Codes', ['Flags']]);
});

test('units are found by a title in any language, and a scale in a column with one text by the text', (t) => {
  const seriesOf = (title: string, text: string) =>
    proposed([
      ['Year', 'Region', title, 'Value'],
      ...years.flatMap((year, at) => ['North', 'South'].map((region) => [year, region, text, `${at}.5`])),
    ]).series;
  for (const title of ['Unidade de Medida', 'Jednostka miary', 'Ед. изм.', '단위', 'Unit of Measurement'])
    t.like(seriesOf(title, 'Tonnes'), { unit: `{${title}}` }, title);
  t.like(seriesOf('Potenz', 'Millionen'), { unit_multiplier: '6' });
  t.like(seriesOf('Scale factor', 'Thousands'), { unit_multiplier: '{Scale factor}' });
});

test('currencies with how many of their units, such as EUR1, name series and are no values', (t) => {
  const { dimensions, values } = proposed([
    ['Date', 'D1', 'Value'],
    ...['2024-03', '2024-04', '2024-05'].flatMap((month, at) => [
      [month, 'EUR1', `0.9${at}`],
      [month, 'JPY100', `0.6${at}`],
    ]),
  ]);
  t.deepEqual([dimensions, values], [{ d1: 'D1' }, 'Value']);
});

test('a title that shows the form of its dates is one of dates; the 13th month of a year is left out as a guess', (t) => {
  const months = ['202311', '202312', '202313', '202401', '202402', '202403'];
  const { date, leave_out, guessed } = proposed([
    ['MSN', 'YYYYMM', 'Value'],
    ...['TEP', 'TIM'].flatMap((name) => months.map((month, at) => [name, month, `${at}.5`])),
  ]);
  t.like(date, { column: 'YYYYMM', format: 'YYYYMM' });
  t.deepEqual([leave_out, guessed?.includes('leave_out')], [{ YYYYMM: ['202313'] }, true]);
});
