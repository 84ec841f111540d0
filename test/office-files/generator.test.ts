// The generator of office files itself: its truth matches the file, and a seed repeats the file.
import test from 'ava';
import { read, utils } from '@e965/xlsx';
import { canonical, compare, type StoredSeries } from './compare.ts';
import { dateForms, truthDate } from './date-forms.ts';
import { draftOf, officeFile } from './generate.ts';
import { layouts } from './layouts/layouts.ts';
import { numberForm } from './number-forms.ts';
import type { Frequency, Question, Series } from './office-file.ts';
import { periodsOf } from './periods.ts';
import { randomOf } from './random.ts';
import { judged } from './try.ts';
import { languages, monthNames } from './words/months.ts';
import { namesOf } from './words/names.ts';
import { quarterForms } from './words/quarters.ts';
import { encoded, legacyEncodings } from './writing/encodings.ts';
import { formats, workbook } from './writing/files.ts';

const seeds = Array.from({ length: 600 }, (_, seed) => seed);

test('a seed gives the same file again, and another seed another', (t) => {
  for (const seed of seeds.slice(0, 40)) {
    const [one, two] = [officeFile(seed), officeFile(seed)];
    t.deepEqual([one.kind, one.name, one.series], [two.kind, two.name, two.series]);
    if (!/xls|ods|zip/.test(one.name))
      t.deepEqual(one.content, two.content, 'workbooks have the time of their writing');
  }
  t.true(new Set(seeds.map((seed) => JSON.stringify(officeFile(seed).series))).size > seeds.length - 3);
});

test('every layout, every format and every language is drawn', (t) => {
  const kinds = seeds.map((seed) => draftOf(seed));
  const drawn = {
    layouts: new Set(kinds.map(({ layout }) => layout.name)),
    formats: new Set(kinds.map(({ format }) => format.name)),
    languages: new Set(kinds.map(({ statistics }) => statistics.language)),
  };
  t.deepEqual(
    [drawn.layouts.size, drawn.formats.size, drawn.languages.size],
    [layouts.length, formats.length, languages.length],
  );
});

test('every value of the truth is in a cell of the table, in its form', (t) => {
  for (const seed of seeds.slice(0, 200)) {
    const { sheet, statistics, layout } = draftOf(seed);
    if (layout.name === 'magnitudes') continue;
    const cells = new Set(sheet.table.rows.flat().map(({ text }) => text.trim()));
    for (const { points } of sheet.series) {
      t.true(points.length > 0);
      for (const { value, isFlagged } of points)
        if (value !== null && isFlagged !== true)
          t.true(cells.has(statistics.numbers.write(value)) || cells.has(value), `seed ${seed}: ${value}`);
    }
    const numbers = sheet.table.rows.flat().filter(({ text }) => /\d/.test(text)).length;
    const values = sheet.series.flatMap(({ points }) => points.filter(({ value }) => value !== null)).length;
    t.true(numbers >= values || layout.name === 'releases', `seed ${seed}`);
  }
});

test('no series states a date twice', (t) => {
  for (const seed of seeds)
    for (const { points } of draftOf(seed).sheet.series)
      t.is(new Set(points.map(({ date }) => date)).size, points.length, `seed ${seed}`);
});

/** Written by hand: the form of the period, and the day under which it is served. */
const dates: readonly [
  Frequency,
  language: string,
  year: number,
  offset: number,
  form: string,
  text: string,
  date: string,
][] = [
  ['monthly', 'en', 2020, 1, 'YYYYMM01', '2020MM02', '2020-02-29'],
  ['monthly', 'en', 2023, 8, 'MM/YYYY', '09/2023', '2023-09-30'],
  ['monthly', 'de', 2023, 2, 'month name de', 'März 2023', '2023-03-31'],
  ['monthly', 'ja', 2023, 0, 'YYYY年M月', '2023年1月', '2023-01-31'],
  ['monthly', 'en', 2020, 9, 'YYYY.M as a number', '2020.1', '2020-10-31'],
  ['monthly', 'en', 2020, 6, 'decimal year', '2020.500', '2020-07-31'],
  ['quarterly', 'en', 2023, 3, '1QYY', '4Q23', '2023-12-31'],
  ['quarterly', 'en', 2023, 1, 'Jan-Mar YYYY', 'Apr-Jun 2023', '2023-06-30'],
  ['quarterly', 'en', 2023, 0, 'YYYY/01 to 04', '2023/01', '2023-03-31'],
  ['semiannual', 'en', 2023, 1, 'YYYY-S1', '2023-S2', '2023-12-31'],
  ['annual', 'en', 2009, 0, 'fiscal YYYY-YY', '2009-10', '2010-12-31'],
  ['annual', 'en', 1999, 0, 'fiscal YYYY/YY', '1999/00', '2000-12-31'],
  ['weekly', 'en', 2020, 52, 'YYYY-W01', '2020-W53', '2021-01-03'],
  ['weekly', 'en', 2021, 0, 'YYYYW01', '2021W01', '2021-01-10'],
  ['daily', 'en', 2024, 1, 'DD MMM YY', '02 Jan 24', '2024-01-02'],
  ['daily', 'en', 2024, 1, 'M/D/YYYY 12:00:00 AM', '1/2/2024 12:00:00 AM', '2024-01-02'],
  ['daily', 'en', 2024, 1, 'epoch seconds', '1704153600', '2024-01-02'],
  ['daily', 'pl', 2024, 1, 'long date pl', '2 stycznia 2024', '2024-01-02'],
];

test('periods have the texts and dates that a person would write', (t) => {
  for (const [frequency, language, year, offset, name, text, date] of dates) {
    const form = dateForms(frequency, language, false, randomOf(1)).find((each) => each.name === name);
    const [period] = periodsOf(frequency, year, offset, 1);
    const written = form && period && [form.write(period).text, truthDate(period, form).date];
    t.deepEqual(written, [text, date], name);
  }
});

test('numbers are written in many forms that preserve their digits', (t) => {
  const written = seeds.map((seed) => numberForm(randomOf(seed), 'de', true).write('-1234567.50'));
  for (const text of written) t.is(text.replaceAll(/\D/g, ''), '123456750', text);
  for (const form of [
    '-1234567.50',
    '-1.234.567,50',
    '(1’234’567.50)',
    '-12,34,567.50',
    '1 234 567,50-',
    '–1234567,50',
  ])
    t.true(written.includes(form), form);
});

test('every language has its words, and every encoding its signs', (t) => {
  for (const language of languages) {
    const { long, short, inDates } = monthNames(language);
    t.deepEqual(
      [long, short, inDates].map((names) => new Set(names).size),
      [12, 12, 12],
      language,
    );
    t.true((quarterForms[language] ?? []).length > 0, language);
    t.deepEqual([namesOf(language).regions.length, namesOf(language).columns.length], [5, 6], language);
  }
  for (const [language, encodings] of Object.entries(legacyEncodings))
    for (const encoding of encodings.filter((name) => !name.startsWith('cp'))) {
      const text = namesOf(language).columns.join(' ');
      const bytes = encoded(text, encoding);
      if (bytes !== null) t.is(new TextDecoder(encoding).decode(bytes), text, encoding);
      t.true(
        bytes !== null || encoding === 'iso-8859-15' || encoding === 'macintosh' || language === 'ro',
        `${language} ${encoding}`,
      );
    }
  t.deepEqual([...(encoded('Müñ€', 'cp850') ?? [])], [], 'cp850 has no euro');
  t.deepEqual([...(encoded('Ñü', 'cp850') ?? [])], [0xa5, 0x81]);
  t.deepEqual([...(encoded('Ñü', 'cp437') ?? [])], [0xa5, 0x81]);
});

test('a workbook has the numbers, dates and merged cells of the table as such', (t) => {
  const draft = seeds
    .map((seed) => draftOf(seed))
    .find(({ layout, format }) => layout.name === 'two rows of titles' && format.name === 'xlsx');
  const { table } = draft!.sheet;
  const sheet = read(workbook(table, 'xlsx')).Sheets['Data']!;
  t.is(sheet['!merges']?.length, table.merges.length);
  const rows = utils.sheet_to_json<(string | number)[]>(sheet, {
    header: 1,
    raw: true,
    blankrows: true,
    defval: '',
  });
  for (const [r, row] of table.rows.entries())
    for (const [c, { text, number }] of row.entries()) t.is(rows[r]?.[c] ?? '', number ?? text);
});

const stored = (points: [string, string | null][], more: Partial<StoredSeries> = {}): StoredSeries => ({
  ...{
    id: 'file.Exports',
    name: 'Exports',
    frequency: 'annual',
    unit: null,
    unit_multiplier: null,
    dims: {},
  },
  points: points.map(([date, value]) => ({ date, value, status: null, published_on: '2026-11-27' })),
  ...more,
});
const truth: Series = {
  labels: [['Exports']],
  points: [
    { date: '2020-12-31', value: '1.50' },
    { date: '2021-12-31', value: null },
    { date: '2022-12-31', value: '-3' },
  ],
  facts: { frequency: 'annual' },
};

test('a difference of one value, date, sign, series, flag or fact is found, and nothing else', (t) => {
  const right: [string, string | null][] = [
    ['2020-12-31', '1.5'],
    ['2022-12-31', '-3'],
  ];
  const faults = (series: StoredSeries[], of: Series = truth) => {
    const { values, facts } = compare([of], series);
    return [values.length, facts.length];
  };
  t.deepEqual(faults([stored(right)]), [0, 0]);
  t.deepEqual(faults([stored([...right, ['2021-12-31', null]])]), [0, 0], 'published as missing');
  t.deepEqual(faults([stored([...right, ['2021-12-31', '0']])])[0], 2);
  t.true(faults([stored([['2020-12-31', '1.5'], ['2022-12-31', '3']])])[0]! > 0); // prettier-ignore
  t.true(faults([stored(right.slice(1))])[0]! > 0);
  t.true(faults([stored([...right, ['2023-12-31', '4']])])[0]! > 0);
  t.true(faults([stored(right), stored(right, { id: 'other' })])[0]! > 0);
  t.true(faults([stored(right, { id: 'x', name: 'Imports' })])[0]! > 0);
  t.deepEqual(faults([stored(right, { frequency: 'irregular' })]), [0, 1]);
  const flagged = { ...truth, points: truth.points.map((point) => ({ ...point, isFlagged: true })) };
  t.true(faults([stored(right)], flagged)[0]! > 0);
  const week = { ...truth, facts: {}, points: [{ date: '2021-01-03', within: 'week' as const, value: '1' }] };
  t.deepEqual(faults([stored([['2021-01-01', '1']])], week), [0, 0]);
  t.true(faults([stored([['2020-12-27', '1']])], week)[0]! > 0);
});

test('numbers are compared exactly, but for leading and trailing noughts', (t) => {
  for (const [text, same] of [
    ['1.50', '1.5'],
    ['-0012', '-12'],
    ['.5', '0.5'],
    ['0.0', '0'],
    ['100', '100'],
    ['12.', '12'],
  ] as const)
    // prettier-ignore
    t.is(canonical(text), same);
  t.not(canonical('0.30000000000000004'), canonical('0.3'));
});

test('the stored data and the guesses decide whether a file counts as right, asked, refused or wrong', (t) => {
  const wrong = stored([['2020-12-31', '2']]);
  const right = stored([['2020-12-31', '1.5'], ['2022-12-31', '-3']]); // prettier-ignore
  const verdict = (
    series: StoredSeries[],
    guessed: string[],
    reasons: string[] = [],
    questions: Question[] = [],
  ) =>
    judged({ series: [truth], questions }, { stored: series, guessed, reasons, entries: [], shown: [] })
      .verdict;
  t.is(verdict([right], []), 'right');
  t.is(verdict([right], ['date']), 'right, asked');
  t.is(verdict([right], [], ['a sheet of words']), 'right, asked');
  t.is(verdict([wrong], ['date'], [], ['dates']), 'asked');
  t.is(verdict([wrong], [], [], ['dates']), 'WRONG', 'nobody was asked');
  t.is(verdict([wrong], ['date']), 'WRONG, asked', 'there was nothing to ask');
  t.is(verdict([wrong], ['encoding'], [], ['dates']), 'WRONG, asked', 'another thing was asked');
  t.is(verdict([], [], ['no dates']), 'refused');
  t.is(verdict([], [], []), 'WRONG', 'no reason is given');
  t.is(verdict([stored([['2020-12-31', '1.5'], ['2022-12-31', '-3']], { frequency: 'irregular' })], []), 'WRONG facts'); // prettier-ignore
});
