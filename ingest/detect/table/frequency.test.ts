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

test('dates that are neither of the first nor of the last month of their quarters or halves, nor in their middle, are a guess', (t) => {
  const doubt = (days: string[], kind: 'day' | 'month' = 'day') =>
    detectFrequency(days.map((from) => ({ kind, from, to: kind === 'day' ? from : `${from.slice(0, 8)}28` })))
      .doubt;
  t.regex(
    doubt(['2023-01-31', '2023-04-30', '2023-07-31', '2023-10-31']) ?? '',
    /^"2023-01-31" is dated to the end of its quarter/,
  );
  t.regex(doubt(['2023-02-28', '2023-05-31', '2023-08-31']) ?? '', /end of its quarter/);
  t.regex(doubt(['2022-04-30', '2022-10-31', '2023-04-30']) ?? '', /end of its half-year/);
  t.regex(doubt(['2023-02-01', '2023-05-01', '2023-08-01'], 'month') ?? '', /end of its quarter/);
  for (const days of [
    ['2023-01-01', '2023-04-01', '2023-07-01'],
    ['2023-02-15', '2023-05-15', '2023-08-15'],
    ['2023-03-31', '2023-06-30', '2023-09-30'],
    ['2023-01-31', '2023-02-28', '2023-03-31'],
  ])
    t.is(doubt(days), undefined, days[0]);
  t.is(doubt(['2023-01-01', '2023-04-01', '2023-07-01'], 'month'), undefined);
  const quarters = (...months: string[]) =>
    detectFrequency(
      ['2021', '2022'].flatMap(
        (year) =>
        months.map((month) => ({ kind: 'quarter' as const, from: `${year}-${month}-01`, to: `${year}-${String(Number(month) + 2).padStart(2, '0')}-28` })), // prettier-ignore
      ),
    ).doubt;
  t.regex(quarters('01', '04', '07') ?? '', /no year has a fourth quarter/);
  t.is(quarters('01', '04', '07', '10'), undefined);
});
