// The lower frequencies at which a series can be read, and the values of their periods; docs/transforms.md has the rules.
import type { Frequency } from './periods.ts';

/** The frequencies that points are aggregated to, the highest first. */
export const targetFrequencies = ['weekly', 'monthly', 'quarterly', 'semiannual', 'annual'] as const;
export type TargetFrequency = (typeof targetFrequencies)[number];
export const aggregates = ['avg', 'sum', 'last', 'first', 'min', 'max'] as const;
export type Aggregate = (typeof aggregates)[number];

const perYear: Readonly<Record<Frequency, number>> = {
  daily: 366,
  weekly: 53,
  monthly: 12,
  quarterly: 4,
  semiannual: 2,
  annual: 1,
  irregular: 366,
};

/** The target frequencies below a frequency. */
export function lowerFrequencies(source: Frequency): readonly TargetFrequency[] {
  return targetFrequencies.filter((target) => perYear[target] < perYear[source]);
}

/** The approximate maximum of stored points in a period. */
export function sourcePerPeriod(source: Frequency, target: TargetFrequency): number {
  return Math.ceil(perYear[source] / perYear[target]);
}
