import test from 'ava';
import { decimal } from './decimal.ts';
import { compoundChange, logChange, naturalLog, noMoments, standardScore, withValue } from './logarithms.ts';

test('a logarithm has ten correct digits, even for values that are nearly equal or very large', (t) => {
  t.is(naturalLog(decimal('2.50')), '0.9162907319');
  t.is(naturalLog(decimal('1')), '0');
  t.is(naturalLog(decimal('0.000001')), '-13.81551056');
  t.is(naturalLog(decimal(`1${'0'.repeat(300)}`)), '690.7755279');
  // ln(1 + 1e-12) = 1e-12 − 5e-25
  t.is(logChange(decimal('1000000000000.000001'), decimal('1000000000000'), 1), '0.0000000000000001');
  t.is(logChange(decimal('100000000001'), decimal('100000000000'), 12), '0.000000012');
});

test('a change at an annual rate is compounded, and is null beyond any number', (t) => {
  t.is(compoundChange(decimal('101'), decimal('100'), 4), '4.060401');
  t.is(compoundChange(decimal('99'), decimal('100'), 12), '-11.36151283');
  t.is(compoundChange(decimal('0'), decimal('100'), 12), '-100');
  t.is(compoundChange(decimal('1000'), decimal('1'), 260), null);
});

test('values without a logarithm have no result', (t) => {
  for (const text of ['0', '-1']) {
    t.is(naturalLog(decimal(text)), null);
    t.is(logChange(decimal(text), decimal('1'), 1), null);
    t.is(logChange(decimal('1'), decimal(text), 1), null);
    t.is(compoundChange(decimal('1'), decimal(text), 12), null);
  }
  t.is(compoundChange(decimal('-1'), decimal('1'), 12), null);
});

test('a standard score is by the deviation of a sample, of numbers of any size', (t) => {
  const of = (texts: readonly string[]) => texts.map(decimal).reduce(withValue, noMoments);
  const five = of(['2', '4', '4', '5', '10']);
  t.is(standardScore(decimal('10'), five), '1.666666667');
  t.is(standardScore(decimal('5'), five), '0');
  // The same with 40 leading digits: in floating point all are equal.
  const far = '1'.padEnd(40, '0');
  const texts = ['02', '04', '04', '05', '10'].map((end) => far.slice(0, -2) + end);
  t.is(standardScore(decimal(texts[4] ?? ''), of(texts)), '1.666666667');
  t.is(standardScore(decimal('3'), of(['3'])), null);
  t.is(standardScore(decimal('3'), of(['3', '3.0'])), null);
});
