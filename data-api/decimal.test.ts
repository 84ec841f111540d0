import test from 'ava';
import fc from 'fast-check';
import { decimal, mean, percentChange, percentOf } from './decimal.ts';

const digits = fc
  .tuple(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), fc.integer({ min: 0, max: 12 }))
  .map(([units, scale]) => {
    const text = String(units < 0n ? -units : units).padStart(scale + 1, '0');
    const sign = units < 0n ? '-' : '';
    return sign + (scale === 0 ? text : `${text.slice(0, -scale)}.${text.slice(-scale)}`);
  });

test('a change is exact where binary fractions are not', (t) => {
  t.is(percentChange(decimal('110'), decimal('100')), '10');
  t.is(percentChange(decimal('1.1'), decimal('1.0')), '10');
  t.is(percentChange(decimal('1000000.01'), decimal('1000000.00')), '0.000001');
  t.is(percentChange(decimal('99'), decimal('100')), '-1');
  t.is(percentChange(decimal('2'), decimal('3')), '-33.33333333');
  t.is(percentChange(decimal('-5'), decimal('10')), '-150');
  t.is(percentOf(decimal('1'), decimal('3')), '33.33333333');
  t.is(percentOf(decimal('2'), decimal('3')), '66.66666667');
  t.is(mean([decimal('0.1'), decimal('0.2'), decimal('0.3')], 10), '0.2');
  t.is(mean([decimal('1'), decimal('1'), decimal('2')], 10), '1.3333333333');
  t.is(mean([decimal('0.000000000001'), decimal('0'), decimal('0')], 10), '0.0000000000003333');
});

test('a percentage has ten significant digits, however large or small it is', (t) => {
  t.is(percentOf(decimal('1234567890123456'), decimal('1')), '123456789000000000');
  t.is(percentOf(decimal('1234567.890123456'), decimal('1')), '123456789');
  t.is(percentOf(decimal('1'), decimal('30000000000000')), '0.000000000003333333333');
  t.is(percentChange(decimal('3000000000001'), decimal('3000000000000')), '0.00000000003333333333');
  t.is(percentOf(decimal('0.999999999999'), decimal('1')), '100');
});

test('halves are rounded away from zero', (t) => {
  const [one, ...zeros] = ['1', ...Array.from({ length: 31 }, () => '0')];
  t.is(mean([one, ...zeros].map(decimal), 0), '0.0313');
  t.is(mean([`-${one}`, ...zeros].map(decimal), 0), '-0.0313');
  t.is(percentOf(decimal('12345.678905'), decimal('1')), '1234567.891');
  t.is(percentOf(decimal('12345.678905'), decimal('1000')), '1234.567891');
  t.is(percentOf(decimal('12345.6789050'), decimal('1000')), '1234.567891');
});

test('a base that is not positive has no ratio', (t) => {
  for (const base of ['0', '0.00', '-1', '-0.5']) {
    t.is(percentChange(decimal('1'), decimal(base)), null);
    t.is(percentOf(decimal('1'), decimal(base)), null);
  }
});

/** Pairs of arbitrary numbers, and pairs whose quotient ends in a half. */
const pairs = fc.oneof(
  fc.tuple(digits, digits),
  fc
    .tuple(
      fc.bigInt({ min: -(10n ** 10n), max: 10n ** 10n }),
      fc.constantFrom('0.001', '0.5', '1', '20', '100000'),
    )
    .map(([units, base]): [string, string] => [`${units}5`, base]),
);

test('a percentage is the nearest of all numbers with ten significant digits, and of two the one farther from zero', (t) => {
  fc.assert(
    fc.property(pairs, ([x, y]) => {
      const [a, b] = alignedUnits(x, y);
      fc.pre(b > 0n);
      t.true(isNearest(percentOf(decimal(x), decimal(y)), 100n * a, b), `${x} of ${y}`);
      t.true(isNearest(percentChange(decimal(x), decimal(y)), 100n * (a - b), b), `${y} to ${x}`);
    }),
    { numRuns: 2_000 },
  );
});

function alignedUnits(...texts: [string, string]): [bigint, bigint] {
  const [a, b] = texts.map((text) => {
    const [whole = '', fraction = ''] = text.split('.');
    return BigInt(whole + fraction.padEnd(12, '0'));
  });
  return [a ?? 0n, b ?? 0n];
}

/** Whether the text is the ten-digit number nearest to above / below. */
function isNearest(text: string | null, above: bigint, below: bigint): boolean {
  if (text === null) return false;
  if (above < 0n) return text.startsWith('-') && isNearest(text.slice(1), -above, below);
  if (above === 0n) return text === '0';
  const decimals = 60;
  const [whole = '', fraction = ''] = text.split('.');
  const found = BigInt(whole + fraction.padEnd(decimals, '0'));
  const step = 10n ** BigInt(String(found).length - 10);
  if (found <= 0n || found % step !== 0n) return false;
  const distance = (other: bigint) => {
    const difference = other * below - above * 10n ** BigInt(decimals);
    return difference < 0n ? -difference : difference;
  };
  const isPowerOfTen = found === 10n ** BigInt(String(found).length - 1);
  const before = found - (isPowerOfTen ? step / 10n : step);
  return distance(found) <= distance(before) && distance(found) < distance(found + step);
}

test('a computed number is plain digits that are valid in JSON', (t) => {
  fc.assert(
    fc.property(digits, digits, digits, (x, y, z) => {
      for (const text of [percentOf(decimal(x), decimal(y)) ?? '0', mean([x, y, z].map(decimal), 10)]) {
        t.regex(text, /^-?(0|[1-9]\d*)(\.\d*[1-9])?$/);
        t.not(text, '-0');
      }
    }),
  );
});
