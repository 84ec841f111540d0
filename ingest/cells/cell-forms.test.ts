import test from 'ava';
import fc from 'fast-check';
import { cellOf } from './cell-forms.ts';
import { dateTextReader, loadedText } from './dates/dates-of-table.ts';
import { numberForms, orderForms, readPlain } from './dates/date-forms.ts';
import { languages, monthNamed } from './dates/month-names.ts';
import { numberReader } from './numbers/number-formats.ts';

test('each month is recognised by its full name, alone and next to a day, in every language', (t) => {
  for (const language of languages)
    for (let month = 1; month <= 12; month++)
      for (const style of [{ month: 'long' }, { month: 'long', day: 'numeric' }] as const) {
        const name = new Intl.DateTimeFormat(`${language}-u-ca-gregory`, { ...style, timeZone: 'UTC' })
          .formatToParts(new Date(Date.UTC(2023, month - 1, 15)))
          .find(({ type }) => type === 'month')?.value;
        t.is(monthNamed(name ?? '', language), month, `${language} ${name ?? ''}`);
        t.is(
          monthNamed((name ?? '').toUpperCase(), language),
          month,
          `${language} ${name ?? ''} in capitals`,
        );
      }
});

test('usual abbreviations of months are recognised, and prefixes shared by two months are not', (t) => {
  const known: Record<string, readonly [string, number]> = {
    Sept: ['en', 9], 'Sept.': ['en', 9], June: ['en', 6], Mrz: ['de', 3], 'Jän.': ['de', 1], 'févr.': ['fr', 2], AOUT: ['fr', 8], Set: ['pt', 9],
    ene: ['es', 1], mrt: ['nl', 3], Agt: ['id', 8], Ağu: ['tr', 8], maja: ['pl', 5], října: ['cs', 10], мая: ['ru', 5], 'сент.': ['ru', 9], Μαΐου: ['el', 5],
  }; // prettier-ignore
  for (const [word, [language, month]] of Object.entries(known))
    t.is(monthNamed(word, language), month, word);
  t.is(monthNamed('jui', 'fr'), null, 'juin or juillet');
  t.is(monthNamed('ma', 'en'), null, 'too short');
  const naming = languages.filter((language) => monthNamed('listopad', language) !== null);
  t.deepEqual(naming.toSorted(), ['cs', 'hr', 'pl'], 'October in one, November in two');
});

test('texts of dates have their stated meaning, and other texts are not dates', (t) => {
  for (const [text, kind, to] of [
    ['T1 2023', 'quarter', '2023-03-31'],
    ['2023K1', 'quarter', '2023-03-31'],
    ['1Q23', 'quarter', '2023-03-31'],
    ['Q1-23', 'quarter', '2023-03-31'],
    ['I/2023', 'quarter', '2023-03-31'],
    ['IV кв. 2023', 'quarter', '2023-12-31'],
    ['2018 1e kwartaal', 'quarter', '2018-03-31'],
    ['Jan-Mar 2023', 'quarter', '2023-03-31'],
    ['2023 Jul – Dec', 'half', '2023-12-31'],
    ['Triwulan IV 2001', 'quarter', '2001-12-31'],
    ['1995. gada 1. ceturksnis', 'quarter', '1995-03-31'],
    ['Β΄ τρίμηνο 1998', 'quarter', '1998-06-30'],
    ['R3 2018', 'quarter', '2018-09-30'],
    ['2. Quartal 2023', 'quarter', '2023-06-30'],
    ['2023-S1', 'half', '2023-06-30'],
    ['2023-H2', 'half', '2023-12-31'],
    ['1H23', 'half', '2023-06-30'],
    ['Second half 2008', 'half', '2008-12-31'],
    ['third quarter of 2008', 'quarter', '2008-09-30'],
    ['erstes Quartal 2008', 'quarter', '2008-03-31'],
    ['1998年10-12月', 'quarter', '1998-12-31'],
    ['II półrocze 2018', 'half', '2018-12-31'],
    ['2020-W53', 'week', '2021-01-03'],
    ['2020W49', 'week', '2020-12-06'],
    ['KW 1 2020', 'week', '2020-01-05'],
    ['2021M1', 'month', '2021-01-31'],
    ['2021-M01', 'month', '2021-01-31'],
    ['2023MM01', 'month', '2023-01-31'],
    ['2023年1月', 'month', '2023-01-31'],
    ['2023年第1季度', 'quarter', '2023-03-31'],
    ['21 Aug 23', 'day', '2023-08-21'],
    ['04-Sept-2023', 'day', '2023-09-04'],
    ['September 04, 2023', 'day', '2023-09-04'],
    ['2024-01-02 00:00:00', 'day', '2024-01-02'],
    ['2024-01-02T00:00:00+05:00', 'day', '2024-01-02'],
    ['2024-01-02 12:00:00 AM', 'day', '2024-01-02'],
    ['FY2019', 'fiscal year', '2019-12-31'],
    ['2023/24', 'fiscal year', '2024-12-31'],
  ] as const)
    // prettier-ignore
    t.like(readPlain(text, 'en'), { kind, to }, text);
  for (const [text, to] of [
    ['Meán Fómhair 2023', '2023-09-30'],
    ['5 Deireadh Fómhair 2023', '2023-10-05'],
    ['2023 Deireadh Fómhair', '2023-10-31'],
  ] as const)
    t.like(readPlain(text, 'ga'), { to }, `${text}: months of two words`);
  for (const text of [
    '2021-W53',
    'Line 2020',
    '2023/25',
    '31 Feb 2023',
    'Total 2021',
    '2024-01-02 16:30',
    'Feb-Apr 2023',
  ])
    t.is(readPlain(text, 'en'), null, text);
});

test('plain numbers are dates only by a named form, and each form has its documented meaning', (t) => {
  const meanings = (text: string) =>
    Object.fromEntries([...orderForms, ...numberForms].flatMap(({ format, read }) => {
      const found = read(text);
      return found === null ? [] : [[format, found.to]];
    })); // prettier-ignore
  t.deepEqual(meanings('01/02/2023'), { 'D/M/YYYY': '2023-02-01', 'M/D/YYYY': '2023-01-02' });
  t.like(meanings('2015/01'), { 'YYYY/M': '2015-01-31', 'YYYY/Q': '2015-03-31', 'YYYY/H': '2015-06-30' });
  t.like(meanings('2004/05'), { 'YYYY/M': '2004-05-31', 'YYYY/YY': '2005-12-31' });
  t.like(meanings('2020.1'), { 'YYYY.MM': '2020-10-31' });
  t.like(meanings('44927'), { 'Excel serial': '2023-01-01' });
  t.like(meanings('2023.25'), { 'decimal quarter': '2023-06-30', 'decimal year': '2023-04-30' });
  t.like(meanings('2011.917'), { 'decimal year': '2011-12-31' });
  t.like(meanings('1672531200'), { 'epoch seconds': '2023-01-01' });
  t.is(readPlain('01/02/2023', 'en'), null);
});

test('KW is a week in German and a quarter in Dutch', (t) => {
  t.like(readPlain('2001KW03', 'en'), { kind: 'week', to: '2001-01-21' });
  t.like(readPlain('2001KW03', 'nl'), { kind: 'quarter', to: '2001-09-30' });
});

test('a mark after a date becomes a status, and the loader accepts the text of every period', (t) => {
  const read = dateTextReader({ marks: { p: 'p', '(est.)': 'e', '*': null } });
  t.like(read('2023p'), { to: '2023-12-31', status: 'p' });
  t.like(read('2023 (est.)'), { to: '2023-12-31', status: 'e' });
  t.like(read('2023*'), { status: '' });
  t.is(read('2023x'), null);
  const loaded = (text: string) => loadedText(readPlain(text, 'en') ?? { kind: 'day', from: '', to: '' });
  t.deepEqual(['2024-01-02', '2020-W49', 'Jan 2024', 'Q3 2024', '2024-H2', '2024', '2023/24'].map(loaded), [
    '2024-01-02',
    '2020-12-06',
    '2024-01',
    '2024-Q3',
    '2024-H2',
    '2024',
    '2023/24',
  ]);
});

/** A number and how a table may write it. */
const written = fc.record({
  whole: fc.integer({ min: 0, max: 99_999_999 }),
  decimals: fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 4 }),
  isNegative: fc.boolean(),
  decimal: fc.constantFrom('.' as const, ',' as const),
  group: fc.constantFrom(undefined, ' ', "'", '.', ','),
  blank: fc.constantFrom(' ', '\u00a0', '\u2009', '\u202f', '\u2007'),
  below: fc.constantFrom(
    '-',
    '\u2212',
    '\u2013',
    '- ',
    'parentheses' as const,
    'trailing' as const,
    'triangle' as const,
  ),
  sign: fc.constantFrom('', '$', '€', '%', 'p', '[r]'),
});

test('a number keeps its value, with any marks, group separators, signs and minus', (t) => {
  fc.assert(
    fc.property(written, ({ whole, decimals, isNegative, decimal, group, blank, below, sign }) => {
      if (group === decimal) return;
      const shownGroup = group === ' ' ? blank : (group ?? '');
      const grouped =
        group === undefined ? String(whole) : String(whole).replaceAll(/\B(?=(?:\d{3})+$)/g, shownGroup);
      const digits = decimals.length === 0 ? grouped : `${grouped}${decimal}${decimals.join('')}`;
      const number = !isNegative
        ? digits
        : below === 'parentheses'
          ? `(${digits})`
          : below === 'trailing'
            ? `${digits}-`
            : `${below === 'triangle' ? '△' : below}${digits}`;
      const text = sign === '' ? number : sign === '$' ? `$ ${number}` : `${number} ${sign}`;
      const read = numberReader({
        decimal,
        ...(group !== undefined && { thousands: group }),
        negative: ['parentheses', 'trailing', 'triangle'],
        flags: { $: null, '€': null, '%': null, p: 'p', '[r]': 'r' },
      });
      const plain = `${isNegative ? '-' : ''}${whole}${decimals.length === 0 ? '' : `.${decimals.join('')}`}`;
      t.deepEqual(read(text), { value: plain, status: sign === 'p' ? 'p' : sign === '[r]' ? 'r' : '' }, text);
      t.is(cellOf(text).kind, 'number', text);
    }),
  );
});

test('a minus before or after the signs of a number belongs to the number', (t) => {
  const read = numberReader({
    ...{ decimal: ',', negative: ['parentheses', 'trailing', 'triangle'], flags: { '%': null, p: 'p' } },
  });
  for (const text of ['(5,5 %)', '5,5 %-', '(5,5) %', '-5,5 %', '5,5- %', '△5,5 %', '▲ 5,5'])
    t.deepEqual(read(text), { value: '-5.5', status: '' }, text);
  t.deepEqual(read('(5,5 %) p'), { value: '-5.5', status: 'p' });
  t.is(read('5,5 %--'), undefined);
  t.is(read('125,-'), undefined, 'without decimals, and not below zero');
});

test('groups as in India, bounds, marks and multiples are recognised, and other texts are not numbers', (t) => {
  const read = numberReader({
    thousands: ',',
    missing: [':', 'k.A.'],
    flags: { '<5': '<5', '[c]': 'c', '~': '~', bp: 'bp' },
    multiples: { K: '1000', M: '1000000' },
  });
  t.deepEqual(
    ['12,34,567.8', '<5', '[c]', '~40', ': bp', 'k.A.', '1.2M', '950.5K', '11.0 bp', ''].map((text) => read(text)),
    [
      { value: '1234567.8', status: '' }, { value: null, status: '<5' }, { value: null, status: 'c' }, { value: '40', status: '~' },
      { value: null, status: 'bp' }, { value: null, status: '' }, { value: '1200000', status: '' }, { value: '950500', status: '' },
      { value: '11.0', status: 'bp' }, { value: null, status: '' },
    ],
  ); // prettier-ignore
  for (const text of ['1,23', '12 345', '1.234,5', 'x', '5-', '(5)', '<6', '1.2G'])
    t.is(read(text), undefined, text);
  for (const text of ['2021-03', '12/31', 'North', 'A1', '12:30', '10 - 20', '125,-'])
    t.is(cellOf(text).kind, 'word', text);
  for (const text of ['[low]', '(D)', 'N/E', 'k.A.', '..', 'no data']) t.is(cellOf(text).kind, 'mark', text);
});

test('a numeric date has one separator throughout: a fraction after a year is not a month and day', (t) => {
  const days = orderForms.filter(({ format }) => format.includes('D'));
  const readings = (text: string) => days.flatMap(({ read }) => read(text)?.from ?? []);
  t.deepEqual(readings('2023 2/4'), []);
  t.deepEqual(readings('5/1.2024'), []);
  for (const text of ['2024 02 04', '2024 / 2 / 4', '2024.2. 4'])
    t.deepEqual(readings(text), ['2024-02-04'], text);
});
