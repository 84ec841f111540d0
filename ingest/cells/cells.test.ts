import test from 'ava';
import { cellReader, isPrintable, plainCells, type Column, type ColumnType } from './cells.ts';

interface Cells {
  column?: Partial<Column>;
  /** Text → what is stored, where it is not the text itself. */
  accepted: readonly (string | readonly [text: string, stored: string | null])[];
  refused: readonly string[];
}

/** Both sides of every bound. */
const cells: Record<ColumnType, Cells> = {
  text: {
    column: { lengthMax: 5 },
    accepted: ['12345', 'a\tb\nc', 'é'],
    refused: ['123456', 'a\u0000b', 'a\u001fb', 'a\u007fb', 'a\u000bb'],
  },
  series_id: {
    accepted: ['a', '9', `A${'b'.repeat(127)}`, 'A.b_c-d'],
    refused: ['.a', '-a', '_a', `A${'b'.repeat(128)}`, 'a b', 'a/b', 'ä'],
  },
  frequency: { accepted: ['daily', ['Monthly', 'monthly'], 'irregular'], refused: ['hourly', 'day'] },
  date: {
    accepted: ['2024-02-29', '1999-12-31', ['30-Jan-2026', '2026-01-30'], ['3-FEB-1999', '1999-02-03']],
    refused: [
      '2023-02-29',
      '2024-2-1',
      '2024-02',
      '29.02.2024',
      'Jan-24',
      '2024M01',
      '2023/24',
      '30-Feb-2026',
    ],
  },
  point_date: {
    accepted: ['2024-02-29', '2024-02', '2024-Q1', '2024', '2024M01', '2023/24'],
    refused: ['2023-02-29', '2024-13', '29.02.2024', 'today', '-infinity'],
  },
  number: {
    column: { range: [-1, 2.5] },
    accepted: [
      '-1',
      '2.5',
      '+2',
      '.5',
      '2.',
      `0.${'1'.repeat(30)}`,
      `${'0'.repeat(29)}1`,
      '1e-05',
      '2.5E0',
      '1e-30',
    ],
    refused: [
      '-1.01',
      '2.51',
      `0.${'1'.repeat(31)}`,
      `${'0'.repeat(30)}1`,
      '1e1',
      '1e-31',
      '1e',
      '1,5',
      '.',
      '-',
      'NaN',
    ],
  },
  integer: {
    column: { range: [0, 7] },
    accepted: ['0', '7', '+7', `${'0'.repeat(14)}7`],
    refused: ['-1', '8', '1.0', '1e0', `${'0'.repeat(15)}7`],
  },
  boolean: {
    accepted: [
      ['Yes', 'true'],
      ['1', 'true'],
      ['TRUE', 'true'],
      ['no', 'false'],
      ['0', 'false'],
      ['false', 'false'],
    ],
    refused: ['y', '2', 'on'],
  },
  word: {
    column: { words: ['retail', 'farm'] },
    accepted: ['farm', ['Retail', 'retail']],
    refused: ['street'],
  },
  slug: {
    accepted: [
      ['Rice (basmati, broken)', 'rice-basmati-broken'],
      ['Köln', 'koln'],
      'a'.repeat(80),
      ['a'.padEnd(200, '!'), 'a'],
    ],
    refused: ['!!!', 'a'.repeat(81), 'a'.padEnd(201, '!'), 'a\u0000b'],
  },
  city: {
    accepted: [
      ['Dera Ghazi Khan', 'dera-ghazi-khan'],
      ['All Saints', 'all-saints'],
      'market',
      ['Köln', 'koln'],
    ],
    refused: [
      'National',
      'national average',
      'Total',
      'All cities',
      'Average (urban)',
      '!!!',
      'a'.repeat(81),
    ],
  },
  instant: {
    accepted: [
      '2024-01-05',
      '2024-01-05 08:30',
      '2024-01-05T23:59:59',
      '2024-01-05 00:00Z',
      '2024-01-05T08:30+14:00',
      '2024-01-05T08:30-0959',
    ],
    refused: ['2024-02-30 08:30', '2024-01-05 24:00', '2024-01-05 08:60', '2024-01-05T08:30+15:00', '08:30'],
  },
  time_zone: {
    accepted: ['UTC', 'Asia/Karachi', 'America/New_York'],
    refused: ['IST', 'EST', '+05:00', 'Asia/Nowhere', 'GMT'],
  },
  url: {
    accepted: ['http://x', 'https://example.org/a?b=c', `https://${'a'.repeat(1990)}`],
    refused: ['ftp://x', 'https://', 'https://a b', `https://${'a'.repeat(1991)}`, 'x https://a'],
  },
  https_url: {
    accepted: ['https://x', 'https://example.org/a?b=c', `https://${'a'.repeat(1990)}`],
    refused: [
      'http://x',
      'https://',
      'https://a b',
      `https://${'a'.repeat(1991)}`,
      'https://me@x',
      'https://:secret@x',
      'https://x/\u0000',
    ],
  },
  currency: { accepted: ['PKR', ['usd', 'USD']], refused: ['PK', 'PKRS', 'P1R'] },
  coicop: {
    accepted: ['01', '01.1', '01.1.11.1.1'],
    refused: ['1', '001', '01.', '01.111', '01.1.1.1.1.1'],
  },
  security_code: {
    accepted: [['pib/3y', 'PIB-3Y'], 'A'.repeat(64), 'A.b_c+d&e'.toUpperCase()],
    refused: ['A'.repeat(65), '.A', 'ä'],
  },
  isin: {
    accepted: ['US0378331005', ['gb0002634946', 'GB0002634946']],
    refused: ['US0378331006', 'US037833100', 'US03783310055', '0S0378331005'],
  },
  tenor: {
    accepted: [
      '3M',
      '13W',
      ['10-Year', '10Y'],
      ['9-Year 10-Month', '9Y10M'],
      ['29 years, 11 months', '29Y11M'],
      ['1y 2m 3w 4d', '1Y2M3W4D'],
    ],
    refused: ['M', '3', 'soon', '10-Month 9-Year', '1Y1Y', '10000D'],
  },
  country: { accepted: ['PAK', ['chn', 'CHN']], refused: ['PK', 'PAKI', 'P1K'] },
  partner: {
    accepted: [['World', 'WLD'], 'CHN', 'A'.repeat(16), 'EU_27-X'],
    refused: ['A'.repeat(17), 'A B'],
  },
  commodity_code: {
    accepted: ['0101', ['total', 'TOTAL'], '1'.repeat(20), '01.A-b_2'.toUpperCase()],
    refused: ['1'.repeat(21), '01 01', 'a/b'],
  },
  month_or_year: {
    accepted: ['2025', '2025-01', ['202512', '2025-12'], ['2025M01', '2025-01'], ['Dec-25', '2025-12']],
    refused: ['2025-13', '2025-00', '0999', '3000', '25', '2025-1', '2025-01-31', '2025-Q1', '2024/25'],
  },
  time: {
    accepted: ['00:00', '23:59', '09:30:59'],
    refused: ['24:00', '9:30', '09:60', '09:30:60', '09:30Z'],
  },
  month_day: { accepted: ['02-29', '12-31'], refused: ['02-30', '13-01', '1-1'] },
  dims: {
    accepted: [
      ['side:buy', '{"side":"buy"}'],
      ['side:buy,city:La hore', '{"side":"buy","city":"La hore"}'],
      ['a:b\\,c:d', '{"a":"b,c:d"}'],
    ],
    refused: ['side', 'side:', ':buy', 'side:buy|sell', 'side:buy,side:sell', 'side:buy,', 'a:\u0000'],
  },
  list: {
    accepted: [
      ['a; b ;;c', '{"a","b","c"}'],
      ['say "x"\\', '{"say \\"x\\"\\\\"}'],
      [';', '{}'],
    ],
    refused: ['a\u0000;b'],
  },
};

for (const [type, { column: own = {}, accepted, refused }] of Object.entries(cells)) {
  test(`a cell of type ${type} accepts exactly the values of its description, up to its bounds`, (t) => {
    const column: Column = { name: 'x', type: type as ColumnType, required: false, meaning: '', ...own };
    for (const each of accepted) {
      const [text, stored] = typeof each === 'string' ? [each, each] : each;
      t.is(plainCells.read(column, text), stored, text);
    }
    for (const text of refused) t.is(plainCells.read(column, text), undefined, text);
    t.is(plainCells.read(column, ''), null);
    t.not(plainCells.expected(column), '');
  });
}

test('the expectation names the bounds: the length of a text, the range of a number, the words, and names that are not cities', (t) => {
  const column = { name: 'x', required: false, meaning: '' };
  for (const [own, expected] of [
    [{ type: 'text', lengthMax: 5 }, 'text of at most 5 characters'],
    [{ type: 'text' }, 'text'],
    [{ type: 'integer', range: [0, 7] }, 'a whole number from 0 to 7'],
    [{ type: 'number' }, 'a number'],
    [{ type: 'word', words: ['a', 'b'] }, 'one of a, b'],
  ] as const)
    t.is(plainCells.expected({ ...column, ...own }), expected);
  t.regex(plainCells.expected({ ...column, type: 'slug' }), /at most 80\)/);
  t.regex(plainCells.expected({ ...column, type: 'city' }), /one city; an average over cities is not a city/);
});

test('if zero means missing, zero and negative numbers are empty, and positive ones are unchanged', (t) => {
  const column: Column = { name: 'x', type: 'number', required: false, meaning: '', zeroIsMissing: true };
  t.deepEqual(
    ['0', '-1', '0.00', '0.01', 'x'].map((text) => plainCells.read(column, text)),
    [null, null, null, '0.01', undefined],
  );
});

test('line breaks and tabs are allowed in text; other control characters are not', (t) => {
  for (let code = 0; code < 0x80; code++) {
    const isControl = code < 0x20 || code === 0x7f;
    const isText = !isControl || [0x09, 0x0a, 0x0d].includes(code);
    t.is(isPrintable(`a${String.fromCharCode(code)}`), isText, `0x${code.toString(16)}`);
  }
});

test('every column of dates or numbers is read by the options', (t) => {
  const options = {
    dateFormat: 'DD/MM/YYYY',
    decimal: ',',
    thousands: '.',
    missing: ['k. A.'],
    multiply: { value: '0.01' },
  };
  const reader = cellReader(options);
  const read = (type: ColumnType, text: string, name = 'x') =>
    reader.read({ name, type, required: false, meaning: '' }, text);
  t.is(read('date', '30/01/2026'), '2026-01-30');
  t.is(read('date', '2026-01-30'), undefined);
  t.is(read('instant', '30/01/2026 08:30'), '2026-01-30 08:30');
  t.is(read('instant', '30/01/2026T08:30:00+05:00'), '2026-01-30T08:30:00+05:00');
  t.is(
    cellReader({ dateFormat: 'MM/YYYY' }).read(
      { name: 'x', type: 'month_or_year', required: true, meaning: '' },
      '01/2026',
    ),
    '2026-01',
  );
  t.is(read('number', '1.234.567,50'), '1234567.50');
  t.is(read('number', '1.5'), undefined);
  t.is(read('number', '1.234,5', 'value'), '12.345');
  t.is(read('integer', '1.234'), '1234');
  for (const type of Object.keys(cells) as ColumnType[]) t.is(read(type, 'k. A.'), null, type);
});
