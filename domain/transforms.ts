// The transforms of a series by name, with FRED's names for them; docs/transforms.md has the formulas.
import { monthsPerPeriod, type Frequency } from './periods.ts';

export const transforms = [
  'yoy',
  'mom',
  'pct_change',
  '3ma',
  'index',
  'change',
  'change_yoy',
  'annualised',
  'log',
  'log_change',
  'log_change_annualised',
  'cumulative',
  'zscore',
] as const;
export type Transform = (typeof transforms)[number];

/** FRED's unit names; `lin` is the values as published. */
export const fredUnits = {
  lin: null,
  chg: 'change',
  ch1: 'change_yoy',
  pch: 'pct_change',
  pc1: 'yoy',
  pca: 'annualised',
  cch: 'log_change',
  cca: 'log_change_annualised',
  log: 'log',
} as const satisfies Readonly<Record<string, Transform | null>>;

/** The transforms whose values are in the unit of the source. */
export const unitPreserving: ReadonlySet<string> = new Set<Transform>([
  'change',
  'change_yoy',
  '3ma',
  'cumulative',
]);

/** The number of periods in a year for annual rates; an irregular series has none. */
export const periodsPerYear: Readonly<Partial<Record<Frequency, number>>> = {
  daily: 260,
  weekly: 52,
  monthly: 12,
  quarterly: 4,
  semiannual: 2,
  annual: 1,
};

/** Whether the transform is defined at the frequency: a month-on-month change needs months, an annual rate a number of periods. */
export function isApplicable(transform: Transform, frequency: Frequency): boolean {
  if (transform === 'mom') return (monthsPerPeriod[frequency] ?? 1) === 1;
  if (transform === 'annualised' || transform === 'log_change_annualised')
    return periodsPerYear[frequency] !== undefined;
  return true;
}
