// Sizes of files as people read them.
import test from 'ava';
import fc from 'fast-check';
import { bytesText } from '../../../dashboard/text/amounts.ts';

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
