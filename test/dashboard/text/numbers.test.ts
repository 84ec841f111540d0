// The format of numbers in the dashboard.
import test from 'ava';
import { changeText, numberText } from '../../../dashboard/text/numbers.ts';

test('a number keeps its published digits, with thousands separators and a true minus sign', (t) => {
  t.is(numberText(142629), '142,629');
  t.is(numberText(-1234.5), '−1,234.5');
  t.is(numberText(7, 2), '7.00');
  t.is(numberText(0.0006), '0.0006');
  t.is(numberText(0.1 + 0.2), '0.3');
  t.is(numberText(-2.5e-13), '−0.00000000000025');
});

test('a change has its sign, and none where it rounds to zero', (t) => {
  t.is(changeText(0.4), '+0.4');
  t.is(changeText(-0.2), '−0.2');
  t.is(changeText(0), '0');
  t.is(changeText(0.001, 1), '0.0');
  t.is(changeText(-0.001, 1), '0.0');
  t.is(changeText(1234.5, 1), '+1,234.5');
});
