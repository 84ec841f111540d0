// Sizes of files and sums of money as people read them.
import test from 'ava';
import fc from 'fast-check';
import { bytesText, moneyText, shareText } from '../../../dashboard/text/amounts.ts';

test('a size has one decimal at most, in the unit that keeps it below a thousand', (t) => {
  t.is(bytesText(0), '0 bytes');
  t.is(bytesText(1), '1 byte');
  t.is(bytesText(999), '999 bytes');
  t.is(bytesText(1_000), '1 kB');
  t.is(bytesText(3_234_567), '3.2 MB');
  t.is(bytesText(999_949), '999.9 kB');
  t.is(bytesText(999_950), '1 MB');
  t.is(bytesText(64_000_000), '64 MB');
  t.is(bytesText(2_500_000_000_000), '2,500 GB');
});

test('a larger file never has a smaller size', (t) => {
  const factors = { byte: 1, bytes: 1, kB: 1e3, MB: 1e6, GB: 1e9 };
  const sizeOf = (bytes: number) => {
    const [number = '', unit = 'byte'] = bytesText(bytes).replaceAll(',', '').split(' ');
    return Number(number) * factors[unit as keyof typeof factors];
  };
  const sizes = fc.tuple(fc.nat(2_000_000_000), fc.nat(2_000_000_000));
  fc.assert(
    fc.property(sizes, ([a, b]) => {
      t.true(sizeOf(Math.min(a, b)) <= sizeOf(Math.max(a, b)));
    }),
  );
});

test('a share is neither nothing nor the whole unless it is', (t) => {
  const texts = [0, 0.0004, 0.971, 0.99949, 0.9999, 1, 1.5].map(shareText);
  t.deepEqual(texts, ['0 %', 'below 0.1 %', '97.1 %', '99.9 %', 'above 99.9 %', '100 %', '150 %']);
});

test('an amount is in the unit in which the currency is counted at Stripe, whatever the browser rounds it to', (t) => {
  t.is(moneyText(9900, 'usd'), '$99');
  t.is(moneyText(-9950, 'usd'), '−$99.50');
  t.is(moneyText(990_000, 'huf'), 'HUF\u00a09,900');
  t.is(moneyText(14_950_050, 'idr'), 'IDR\u00a0149,500.50');
  t.is(moneyText(500, 'isk'), 'ISK\u00a05');
  t.is(moneyText(2_900, 'jpy'), '¥2,900');
  t.is(moneyText(12_500, 'kwd'), 'KWD\u00a012.500');
});
