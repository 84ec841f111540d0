import test from 'ava';
import fc from 'fast-check';
import { IngestFailure } from '../../failure.ts';
import { expectedValue, scaled, valueReader } from './observation-values.ts';

const digits = (least: number, most: number) =>
  fc.stringMatching(new RegExp(`^[0-9]{${least},${most}}$`)).filter((text) => text.length >= least);

test('every plain decimal number keeps its digits', (t) => {
  const read = valueReader();
  const number = fc
    .tuple(fc.constantFrom('', '-', '+'), digits(0, 20), fc.constantFrom('', '.'), digits(0, 20))
    .filter(([, whole, point, fraction]) =>
      point === '' ? whole !== '' && fraction === '' : whole + fraction !== '',
    )
    .map((parts) => parts.join(''));
  fc.assert(fc.property(number, (text) => t.is(read(text), text)));
});

test('every accepted text is a finite number in JavaScript too, and no other letters reach PostgreSQL', (t) => {
  const read = valueReader();
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'0123456789.+-eE, xN'.split('')) }), (text) => {
      const value = read(text);
      if (typeof value !== 'string') return;
      t.true(Number.isFinite(Number(value)));
      t.regex(value, /^[0-9.+\-eE]+$/);
    }),
  );
});

test('NaN, infinities, errors of spreadsheets, hexadecimal and two points are refused', (t) => {
  const read = valueReader();
  for (const text of [
    'NaN',
    'Infinity',
    '-inf',
    '#N/A',
    '#DIV/0!',
    '0x10',
    '1.2.3',
    '.',
    '-',
    'e5',
    '1 000',
    '1,000',
    '1e999',
    '1e-999',
  ])
    t.is(read(text), undefined, text);
});

test('a number may have at most a hundred characters', (t) => {
  const read = valueReader();
  t.is(read('1'.repeat(100)), '1'.repeat(100));
  t.is(read('1'.repeat(101)), undefined);
});

test('only the empty cell and the texts of --missing mean missing', (t) => {
  const read = valueReader({ missing: ['.', 'NA'] });
  t.deepEqual(['', '.', 'NA', 'na', '0'].map(read), [null, null, null, undefined, '0']);
});

test('a decimal comma is read as the decimal point, and a point is then refused', (t) => {
  const read = valueReader({ decimal: ',' });
  t.deepEqual(['1,5', '-,5', '12', '1.5', '1,5,5'].map(read), ['1.5', '-.5', '12', undefined, undefined]);
});

test('groups of three digits are joined only if their separator is given', (t) => {
  const german = valueReader({ decimal: ',', thousands: '.' });
  t.deepEqual(['1.234.567,89', '1.234', '12.34', '1.2345'].map(german), [
    '1234567.89',
    '1234',
    undefined,
    undefined,
  ]);
  const french = valueReader({ decimal: ',', thousands: ' ' });
  t.deepEqual(['1 234,5', '1\u00a0234', '1\u202f234,5'].map(french), ['1234.5', '1234', '1234.5']);
  const english = valueReader({ thousands: ',' });
  t.deepEqual(['1,234,567.8', '1,23', '12,345'].map(english), ['1234567.8', undefined, '12345']);
  t.throws(() => valueReader({ decimal: ',', thousands: ',' }), { instanceOf: IngestFailure });
});

test('the message names the option that would help', (t) => {
  t.regex(expectedValue('NaN', {}), /--missing "NaN"/);
  t.regex(expectedValue('1,234', {}), /--thousands/);
  t.regex(expectedValue('abc', { decimal: ',' }), /1234,5/);
});

test('a factor is exact, whatever the digits, and no product is beyond the range of a double', (t) => {
  t.is(scaled('1.50', '1000000'), '1500000');
  t.is(scaled('.1', '3'), '0.3');
  t.is(scaled('-0.07', '0.01'), '-0.0007');
  t.is(scaled('+12345678901234567890.123', '1000'), '12345678901234567890123');
  t.is(scaled('1e-05', '1000000'), '10');
  t.is(scaled('2.5E3', '0.001'), '2.5');
  t.is(scaled('0.00', '7'), '0');
  t.is(scaled('1e300', '1000000000'), undefined);
  t.is(scaled(null, '7'), null);
  t.is(scaled(undefined, '7'), undefined);
  t.is(scaled('1.50', undefined), '1.50');
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 1, max: 1e6 }), fc.nat(6), (number, factor, decimals) => {
      const text = `${number < 0 ? '-' : ''}${String(Math.abs(number))
        .padStart(decimals + 1, '0')
        .replace(new RegExp(`(.{${decimals}})$`), '.$1')}`;
      const product = scaled(text, String(factor)) ?? '';
      const [whole = '', part = ''] = product.split('.');
      t.is(BigInt(`${whole}${part.padEnd(decimals, '0')}`), BigInt(number) * BigInt(factor), text);
    }),
  );
});

test('a typographic minus sign is a minus only before a number', (t) => {
  t.is(valueReader()('\u22121.5'), '-1.5');
  t.is(valueReader({ decimal: ',', thousands: '.' })('\u22121.234,5'), '-1234.5');
  for (const text of ['\u2212', '-\u22121', '1\u22122', '1\u2212', '1e\u22122'])
    t.is(valueReader()(text), undefined);
});
