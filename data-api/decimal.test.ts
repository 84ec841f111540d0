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
  t.is(percentChange(decimal('110'), decimal('100'), 10), '10');
  t.is(percentChange(decimal('1.1'), decimal('1.0'), 10), '10');
  t.is(percentChange(decimal('1000000.01'), decimal('1000000.00'), 10), '0.000001');
  t.is(percentChange(decimal('99'), decimal('100'), 10), '-1');
  t.is(percentChange(decimal('2'), decimal('3'), 10), '-33.3333333333');
  t.is(percentChange(decimal('-5'), decimal('10'), 10), '-150');
  t.is(percentOf(decimal('1'), decimal('3'), 10), '33.3333333333');
  t.is(percentOf(decimal('2'), decimal('3'), 10), '66.6666666667');
  t.is(mean([decimal('0.1'), decimal('0.2'), decimal('0.3')], 10), '0.2');
  t.is(mean([decimal('1'), decimal('1'), decimal('2')], 10), '1.3333333333');
  t.is(mean([decimal('0.000000000001'), decimal('0'), decimal('0')], 10), '0.0000000000003333');
});

test('halves are rounded away from zero, and what rounds to zero has no sign', (t) => {
  t.is(mean([decimal('0.5'), decimal('0')], 0), '0.25');
  t.is(percentOf(decimal('5'), decimal('1000'), 0), '1');
  t.is(percentOf(decimal('-5'), decimal('1000'), 0), '-1');
  t.is(percentOf(decimal('4'), decimal('1000'), 0), '0');
  t.is(percentOf(decimal('-4'), decimal('1000'), 0), '0');
});

test('a base that is not positive has no ratio', (t) => {
  for (const base of ['0', '0.00', '-1', '-0.5']) {
    t.is(percentChange(decimal('1'), decimal(base), 10), null);
    t.is(percentOf(decimal('1'), decimal(base), 10), null);
  }
});

test('results agree with binary arithmetic as far as that is exact', (t) => {
  fc.assert(
    fc.property(digits, digits, (x, y) => {
      const [a, b] = [Number(x), Number(y)];
      fc.pre(b > 1e-9);
      const change = Number(percentChange(decimal(x), decimal(y), 10));
      const expected = (100 * (a - b)) / b;
      const scale = (100 * (Math.abs(a) + Math.abs(b))) / b;
      t.true(Math.abs(change - expected) <= 1e-10 + scale * 1e-14, `${x} ${y}: ${change} ${expected}`);
    }),
  );
});

test('a computed number is plain digits that JSON takes', (t) => {
  fc.assert(
    fc.property(digits, digits, digits, (x, y, z) => {
      for (const text of [percentOf(decimal(x), decimal(y), 10) ?? '0', mean([x, y, z].map(decimal), 10)]) {
        t.regex(text, /^-?(0|[1-9]\d*)(\.\d*[1-9])?$/);
        t.not(text, '-0');
      }
    }),
  );
});
