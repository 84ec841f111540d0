import test from 'ava';
import fc from 'fast-check';
import { percent } from './percent.ts';

test('a percentage of binary fractions has ten significant digits', (t) => {
  t.is(percent((121 / 110 - 1) * 100), 10);
  t.is(percent(100 / 3), 33.33333333);
  t.is(percent(-200 / 3), -66.66666667);
  t.is(percent(1234567890123), 1234567890000);
  t.is(percent(1 / 3e10), 0.00000000003333333333);
  t.is(percent(0), 0);
});

test('halves are rounded away from zero', (t) => {
  t.is(percent(1073741824.5), 1073741825);
  t.is(percent(-1073741824.5), -1073741825);
});

test('a percentage that is not a finite number, or rounds to none, is null', (t) => {
  for (const value of [NaN, Infinity, -Infinity, Number.MAX_VALUE]) t.is(percent(value), null);
});

test('a rounded value is within half a unit of the tenth digit, and rounding it again does not change it', (t) => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, min: -1e300, max: 1e300 }), (value) => {
      const rounded = percent(value) ?? NaN;
      const digits = /^-?(\d+)\.?(\d*)/
        .exec(String(rounded))
        ?.slice(1)
        .join('')
        .replace(/^0+|0+$/g, '');
      t.true((digits ?? '').length <= 10, String(rounded));
      t.true(Math.abs(rounded - value) <= Math.abs(value) * 5.000001e-10 || Math.abs(value) < 1e-300);
      t.is(percent(rounded), rounded);
    }),
  );
});
