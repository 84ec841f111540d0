// Frequencies and their periods. The only place with the rule that a period is dated to its last day.
import { monthEnd } from '../kernel/dates.ts';

export const frequencies = [
  'daily',
  'weekly',
  'monthly',
  'quarterly',
  'semiannual',
  'annual',
  'irregular',
] as const;
export type Frequency = (typeof frequencies)[number];

/** Frequencies whose periods are whole months; the others date their observations by day. */
export const monthsPerPeriod: Readonly<Partial<Record<Frequency, number>>> = {
  monthly: 1,
  quarterly: 3,
  semiannual: 6,
  annual: 12,
};

/**
 * The last day of the period that contains the date: the end of a month, quarter, half-year or year.
 * Daily, weekly and irregular dates stay as published.
 * @param fiscalYearEnd `MM-DD`, the last day of the year for annual series whose year is not the calendar year.
 */
export function periodEnd(date: string, frequency: Frequency, fiscalYearEnd = '12-31'): string {
  const months = monthsPerPeriod[frequency];
  if (months === undefined) return date;
  const year = Number(date.slice(0, 4));
  const month = Number(date.slice(5, 7));
  if (frequency === 'annual') {
    const endMonth = Number(fiscalYearEnd.slice(0, 2));
    return monthEnd(month <= endMonth ? year : year + 1, endMonth);
  }
  return monthEnd(year, Math.ceil(month / months) * months);
}
