// Charts for tests: arbitrary ones, and one of given lines.
import fc from 'fast-check';
import type { Chart, ChartLine } from '../../domain/chart/layout.ts';
import { frequencies, monthsPerPeriod, periodEnd, type Frequency } from '../../domain/periods.ts';
import { addDays, addMonths } from '../../kernel/dates.ts';
import { entryAt } from '../../kernel/entries.ts';

const value = fc.oneof(
  { weight: 6, arbitrary: fc.double({ min: -1e12, max: 1e12, noNaN: true }) },
  { weight: 3, arbitrary: fc.integer({ min: -200, max: 20_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(0, 1e-9, -1e-9, 100, 100.00000001) },
);

/** The end of the period that is `number` periods after the first one. */
export function dateOf(frequency: Frequency, first: string, number: number): string {
  const months = monthsPerPeriod[frequency];
  if (months !== undefined) return periodEnd(addMonths(first, months * number), frequency);
  return addDays(first, number * (frequency === 'weekly' ? 7 : 1));
}

/** A chart of up to eight lines with gaps, of any frequency, size and unit. */
export const anyChart: fc.Arbitrary<Chart> = fc
  .record({
    frequency: fc.constantFrom(...frequencies),
    first: fc.constantFrom('1871-01-15', '1999-12-31', '2004-02-29', '2019-07-01'),
    columns: fc.array(fc.array(fc.option(value, { freq: 6 }), { maxLength: 60, size: 'medium' }), {
      maxLength: 8,
      size: 'max',
    }),
    names: fc.array(fc.string({ unit: 'binary', maxLength: 60 }), { minLength: 8, maxLength: 8 }),
    unit: fc.string({ unit: 'binary', maxLength: 200 }),
    width: fc.integer({ min: 240, max: 1600 }),
    height: fc.integer({ min: 240, max: 900 }),
    isLog: fc.boolean(),
    base: fc.option(fc.constantFrom(100, 0, -3.5)),
    theme: fc.constantFrom('light', 'dark'),
    isStandalone: fc.boolean(),
  })
  .map(({ first, columns, names, isStandalone, unit, ...rest }) => ({
    ...rest,
    unit,
    title: entryAt(names, 7),
    lines: columns.map((values, lineNo) => ({
      name: entryAt(names, lineNo),
      points: values.map((value, i) => ({ date: dateOf(rest.frequency, first, i), value })),
    })),
    ...(isStandalone ? { standalone: { caption: unit } } : {}),
  }));

/** The ends of the first months of 2024. */
export const months = (count: number) =>
  Array.from({ length: count }, (_, i) => dateOf('monthly', '2024-01-01', i));

/** A monthly chart of these lines. */
export function chartOf(lines: ChartLine[], more: Partial<Chart> = {}): Chart {
  return {
    title: 'A chart',
    unit: 'Per cent',
    frequency: 'monthly',
    lines,
    width: 824,
    height: 420,
    theme: 'light',
    isLog: false,
    base: null,
    ...more,
  };
}
