import test from 'ava';
import fc from 'fast-check';
import { detectFrequency } from './frequency.ts';

const stepOf = { monthly: 1, quarterly: 3, semiannual: 6, annual: 12 } as const;

test('the frequency of regular dates is detected, whatever day represents the period', (t) => {
  fc.assert(
    fc.property(
      fc.constantFrom('monthly', 'quarterly', 'semiannual', 'annual'),
      fc.integer({ min: 1950, max: 2020 }),
      fc.integer({ min: 1, max: 28 }),
      fc.integer({ min: 5, max: 60 }),
      (frequency, year, day, count) => {
        const spans = Array.from({ length: count }, (_, at) => {
          const from = new Date(Date.UTC(year, at * stepOf[frequency], day)).toISOString().slice(0, 10);
          return { kind: 'day' as const, from, to: from };
        });
        return detectFrequency(spans).value === frequency;
      },
    ),
  );
  const daysFrom = (step: number) =>
    Array.from({ length: 100 }, (_, at) => {
      const from = new Date(Date.UTC(2020, 0, 3 + at * step)).toISOString().slice(0, 10);
      return { kind: 'day' as const, from, to: from };
    });
  t.is(detectFrequency(daysFrom(1)).value, 'daily');
  t.is(detectFrequency(daysFrom(7)).value, 'weekly');
  t.is(detectFrequency(daysFrom(40)).value, 'irregular');
});
