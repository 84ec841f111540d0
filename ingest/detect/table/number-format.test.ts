import test from 'ava';
import { numberReader } from '../../cells/numbers/number-formats.ts';
import { detectNumbers } from './number-format.ts';

const marksOf = (texts: string[]) => {
  const { decimal, thousands } = detectNumbers(texts, { delimiter: ',' });
  return [decimal.value, thousands?.value ?? null, thousands?.isSure ?? null];
};

test('numbers with only one reading decide the decimal mark and the digit separator', (t) => {
  t.deepEqual(marksOf(['1.5', '1.234']), ['.', null, null]);
  t.deepEqual(marksOf(['1,5', '1.234']), [',', '.', true]);
  t.deepEqual(marksOf(['1,234.5', '12']), ['.', ',', true]);
  t.deepEqual(marksOf(['0,123']), [',', null, null]);
  t.deepEqual(marksOf(['1 234,5']), [',', ' ', true]);
  t.deepEqual(marksOf(["1'234.5"]), ['.', "'", true]);
  t.deepEqual(marksOf(['1,234']), ['.', ',', false], 'or three decimals: a guess');
  t.deepEqual(marksOf(['1,234,567', '1,234']), ['.', ',', true]);
  t.deepEqual(marksOf(['1.234.567']), [',', '.', true]);
  t.deepEqual(marksOf(['\u22121,5', '\u22121.234']), [',', '.', true], 'a typeset minus');
});

test('flags after numbers and marks of missing numbers are detected and removed', (t) => {
  const { flags, missing } = detectNumbers(['131,0 p', '12 e', '5', ':', ': c', '7.5%', '(p)', '3(r)'], {
    delimiter: ',',
  });
  t.deepEqual(flags?.value, { p: 'p', e: 'e', c: 'c', '%': null, '(p)': 'p', '(r)': 'r' });
  const slashed = detectNumbers(['131.0 p/', '12.5 r)', '5.1 1/', '7']).flags;
  t.deepEqual(slashed?.value, { 'p/': 'p', 'r)': 'r', '1/': '1' });
  t.true(slashed?.isSure);
  t.deepEqual(missing?.value, [':']);
  const read = numberReader({ decimal: ',', flags: { p: 'p', e: 'e', c: 'c', '%': null }, missing: [':'] });
  t.deepEqual(read('131,0 p'), { value: '131.0', status: 'p' });
  t.deepEqual(read('131,0p'), { value: '131.0', status: 'p' });
  t.deepEqual(read('7,5%'), { value: '7.5', status: '' });
  t.deepEqual(read(': c'), { value: null, status: 'c' });
  t.deepEqual(read('131,0'), { value: '131.0', status: '' });
  t.is(read('7.5'), undefined, 'a point is not a decimal mark here');
  t.is(read('stop'), undefined, 'a word that ends in a flag is a bad cell, and stays one');
});

test('a number such as -999 is read as missing if no other number is near it, after confirmation', (t) => {
  const missing = (...texts: string[]) => detectNumbers(texts, { delimiter: ',' }).missing;
  t.like(missing('1.5', '-999', '20', '-999'), { value: ['-999'], isSure: false });
  t.like(missing('-12', '-9999.0', '40'), { value: ['-9999.0'], isSure: false });
  t.like(missing('10.1', '-99.9', '12.2'), { value: ['-99.9'], isSure: false });
  t.is(missing('-40.5', '-99.9', '12.2'), null);
  t.is(missing('-600', '-999', '-1020'), null);
  t.like(missing('0.5', '99.99', '0.9'), { value: ['99.99'], isSure: false });
  t.like(missing('0.5', '-9.99', '0.9'), { value: ['-9.99'], isSure: false });
  t.like(missing('5', '9999', '9'), { value: ['9999'], isSure: false });
  for (const texts of [
    ['8.7', '-9.9', '2.1'],
    ['1200', '9999', '15000'],
    ['1,234', '9999'],
    ['99.99', '101.5'],
  ])
    t.is(missing(...texts), null, texts.join(' '));
  t.deepEqual(marksOf(['9,9', '12']), [',', null, null]);
  const read = numberReader({ missing: ['-999'] });
  t.deepEqual([read('-999')?.value, read('-998')?.value], [null, '-998']);
});
