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
 * @param fiscalYearEnd `MM-DD`, the last day of the year for annual series whose year is not the calendar year, such as 06-30, or
 *   04-05 for a year to 5 April. The last day of February, 02-28 or 02-29, is that of each year.
 */
export function periodEnd(date: string, frequency: Frequency, fiscalYearEnd = '12-31'): string {
  const months = monthsPerPeriod[frequency];
  if (months === undefined) return date;
  const year = Number(date.slice(0, 4));
  const month = Number(date.slice(5, 7));
  if (frequency === 'annual') {
    const end = yearEnd(year, fiscalYearEnd);
    return date <= end ? end : yearEnd(year + 1, fiscalYearEnd);
  }
  return monthEnd(year, Math.ceil(month / months) * months);
}

/** The day on which the year of the series ends that ends in this calendar year. */
function yearEnd(year: number, fiscalYearEnd: string): string {
  const month = Number(fiscalYearEnd.slice(0, 2));
  const last = monthEnd(year, month);
  const day = fiscalYearEnd.slice(3);
  return month === 2 && Number(day) >= 28 ? last : `${last.slice(0, 8)}${day}`;
}
