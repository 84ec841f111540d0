import test from 'ava';
import fc from 'fast-check';
import { fromDayNumber } from '../../../kernel/dates.ts';
import { dateReader, parseVintage, pointDate, PointDates, remembering } from './date-patterns.ts';
import { withoutMidnight } from './date-forms.ts';
import { IngestFailure } from '../../failure.ts';

const day = fc.integer({ min: -40_000, max: 40_000 }).map(fromDayNumber);
const monthShort = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Writes an ISO day by a pattern, as a reference implementation. */
function write(date: string, pattern: string): string {
  const [year = '', month = '', dayOfMonth = ''] = date.split('-');
  const name = monthShort[Number(month) - 1] ?? '';
  const parts: Record<string, string> = {
    YYYY: year,
    MMM: name,
    MM: month,
    M: String(Number(month)),
    DD: dayOfMonth,
    D: String(Number(dayOfMonth)),
  };
  return pattern.replaceAll(/YYYY|MMM|MM|M|DD|D/g, (token) => parts[token] ?? token);
}

test('a date written by a pattern is parsed by the same pattern', (t) => {
  const patterns = [
    'M/D/YYYY',
    'DD/MM/YYYY',
    'D-MMM-YYYY',
    'MMM DD, YYYY',
    'YYYYMMDD',
    'DD.MM.YYYY',
    'YYYY-MM-DD',
  ];
  fc.assert(
    fc.property(day, fc.constantFrom(...patterns), (date, pattern) => {
      t.deepEqual(dateReader(pattern)(write(date, pattern)), { from: date, to: date });
    }),
  );
});

test('a pattern matches only dates of its own form', (t) => {
  const read = dateReader('DD/MM/YYYY');
  for (const text of ['31/02/2024', '1/2/2024', '2024-01-01', '01/13/2024', ' 01/01/2024', '01/01/2024x', ''])
    t.is(read(text), null, text);
  t.is(dateReader('DD.MM.YYYY')('01x02x2024'), null, 'a point is a point');
});

test('a pattern without a day is a period, and two-digit years turn at 69', (t) => {
  t.deepEqual(dateReader('YYYYMM')('202402'), { from: '2024-02-01', to: '2024-02-29' });
  t.deepEqual(dateReader('YYYY:[Q]Q')('1947:Q1'), { from: '1947-01-01', to: '1947-03-31' });
  t.deepEqual(dateReader('MMMM YYYY')('march 2024'), { from: '2024-03-01', to: '2024-03-31' });
  t.is(dateReader('D-MMM-YY')('1-Jan-69')?.from, '1969-01-01');
  t.is(dateReader('D-MMM-YY')('1-Jan-68')?.from, '2068-01-01');
});

test('a pattern that cannot represent a date is refused', (t) => {
  for (const pattern of ['DD/MM', 'YYYY YYYY', 'DD YYYY'])
    t.throws(() => dateReader(pattern), { instanceOf: IngestFailure }, pattern);
});

test('without a pattern, days, periods and midnights of ISO 8601 are read', (t) => {
  const read = dateReader();
  t.deepEqual(read('2024-03'), { from: '2024-03-01', to: '2024-03-31' });
  t.deepEqual(read('2024-Q4'), { from: '2024-10-01', to: '2024-12-31' });
  t.deepEqual(read('1929'), { from: '1929-01-01', to: '1929-12-31' });
  t.is(read('2024-03-05T00:00:00')?.to, '2024-03-05');
  t.is(read('2024-03-05T12:00:00'), null);
  t.is(read('5/3/2024'), null);
});

test('a point is dated to the end of its period, and a period longer than that of the series has no date', (t) => {
  const range = (text: string) => dateReader()(text) ?? { from: '', to: '' };
  t.is(pointDate(range('2024-02-01'), 'monthly', '12-31'), '2024-02-29');
  t.is(pointDate(range('2024-02'), 'quarterly', '12-31'), '2024-03-31');
  t.is(pointDate(range('2024-Q1'), 'monthly', '12-31'), null);
  t.is(pointDate(range('2024'), 'semiannual', '12-31'), null);
  t.is(pointDate(range('2024-02'), 'daily', '12-31'), null);
  t.is(pointDate(range('2024'), 'annual', '06-30'), '2024-06-30');
  t.is(pointDate(range('2024-07-01'), 'annual', '06-30'), '2025-06-30');
  t.is(pointDate(range('2024-02'), 'irregular', '12-31'), '2024-02-29');
});

test('cached dates equal newly parsed ones, whatever the order of the frequencies', (t) => {
  const dates = new PointDates(dateReader());
  fc.assert(
    fc.property(
      day,
      fc.constantFrom('daily', 'monthly', 'annual'),
      fc.constantFrom('12-31', '06-30'),
      (date, frequency, end) => {
        t.is(dates.at(date, frequency, end), pointDate({ from: date, to: date }, frequency, end));
      },
    ),
  );
});

test('a text is parsed only once while a hundred thousand are cached, even one that is refused', (t) => {
  let reads = 0;
  const read = remembering((text) => {
    reads += 1;
    return text === 'refused' ? null : text;
  });
  t.deepEqual([read('refused'), read('refused'), reads], [null, null, 1]);
  for (let i = 1; i < 100_000; i += 1) read(String(i));
  t.deepEqual([read('refused'), reads], [null, 100_000]);
  read('one more');
  t.deepEqual([read('refused'), reads], [null, 100_002]);
});

test('a vintage is a day up to today, or the last day of a period', (t) => {
  t.is(parseVintage('2024-02', '2024-06-30'), '2024-02-29');
  t.is(parseVintage('2024-06-30', '2024-06-30'), '2024-06-30');
  t.throws(() => parseVintage('2024-06', '2024-06-29'), { message: /future/ });
  t.throws(() => parseVintage('yesterday', '2024-06-29'), { message: /not a date/ });
});

test('the usual forms of publishers are recognised without a pattern, and each corresponds to a pattern', (t) => {
  const forms = {
    '2024M02': ['2024-02-01', '2024-02-29'],
    'Feb-24': ['2024-02-01', '2024-02-29'],
    'Q2 2024': ['2024-04-01', '2024-06-30'],
    '05-Mar-2026': ['2026-03-05', '2026-03-05'],
    '5-Mar-2026': ['2026-03-05', '2026-03-05'],
  };
  for (const [text, [from = '', to = '']] of Object.entries(forms))
    t.deepEqual(dateReader()(text), { from, to }, text);
  t.is(dateReader('2024M01')('2025M12')?.to, '2025-12-31');
  t.is(dateReader('Jan-24')('dec-25')?.to, '2025-12-31');
  t.is(dateReader('Q1 2024')('Q4 2025')?.to, '2025-12-31');
  t.is(dateReader('30-Jan-2026')('1-Feb-2025')?.to, '2025-02-01');
  t.is(dateReader('2023/24')('2024/25')?.to, '2025-12-31');
  t.is(dateReader('2024M01')('2025-12'), null, 'a form that is named is the only one');
  for (const text of [
    '2024M13',
    '2024M1',
    'Jan 24',
    'Jan-2024',
    'Q5 2024',
    '2024 Q1',
    '2023/25',
    '2023-24',
    '31-Feb-2026',
  ])
    t.is(dateReader()(text), null, text);
});

test('a fiscal year such as 2023/24 is the year that ends in 2024, and only for series with a fiscal year', (t) => {
  const at = (text: string, frequency: 'annual' | 'monthly' | 'irregular', end: string) => {
    const range = dateReader()(text);
    return range === null ? null : pointDate(range, frequency, end);
  };
  t.is(at('2023/24', 'annual', '06-30'), '2024-06-30');
  t.is(at('2023/2024', 'annual', '06-30'), '2024-06-30');
  t.is(at('1999/00', 'annual', '03-31'), '2000-03-31');
  t.is(at('2011/12', 'annual', '06-30'), '2012-06-30');
  t.is(at('2023/24', 'annual', '12-31'), null);
  t.is(at('2011/12', 'monthly', '12-31'), null);
  t.is(at('2023/24', 'irregular', '12-31'), null);
});

test('a month, quarter or half never dates an annual point, also in a fiscal year', (t) => {
  for (const end of ['12-31', '06-30', '03-31', '04-05'])
    for (const text of ['2003-04', '2011-12', '2011-06', '2011-Q4', '2011-H1'])
      t.is(pointDate(dateReader()(text) ?? { from: '', to: '' }, 'annual', end), null, `${text} ${end}`);
});

test('a long run of blanks is read once', (t) => {
  const text = `a${' '.repeat(500_000)}12345`;
  t.is(withoutMidnight(text), text);
  t.is(withoutMidnight(`2024-01-31${' '.repeat(500_000)}00:00`), '2024-01-31');
});
