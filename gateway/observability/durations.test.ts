import test from 'ava';
import fc from 'fast-check';
import { hundredths, thousandths } from './durations.ts';

const durations = fc.oneof(
  fc.double({ min: 0, max: 10, noNaN: true }),
  fc.double({ min: 0, max: 1e9, noNaN: true }),
);

test('a duration is written as the rounded number', (t) => {
  fc.assert(
    fc.property(durations, (ms) => {
      t.is(thousandths(ms), String(Math.round(ms * 1000) / 1000));
      t.is(hundredths(ms), String(Math.round(ms * 100) / 100));
    }),
  );
});
