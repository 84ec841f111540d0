// The dates of FRED: FRED dates a period to its first day, Almanac to its last; weekly and daily dates are equal in both.
import { addDays } from '../../kernel/dates.ts';
import { monthsPerPeriod, periodEnd, type Frequency } from '../../domain/periods.ts';
import { targetFrequencies } from '../../domain/aggregates.ts';
import { periodWith } from '../series/stored/aggregation.ts';

/** The facts that determine the dates of a series' periods. */
export interface Dating {
  frequency: Frequency;
  /** `MM-DD`, for annual periods. */
  fiscalYearEnd: string | null;
}

/** The date in FRED of the stored date. */
export function fredDate(date: string, { frequency, fiscalYearEnd }: Dating): string {
  if (monthsPerPeriod[frequency] === undefined) return date;
  const target = targetFrequencies.find((each) => each === frequency);
  return target === undefined ? date : periodWith(date, { target, fiscalYearEnd }).start;
}

/** The stored dates, both inclusive, of the periods whose dates in FRED are in a window. */
export function storedWindow(start: string, end: string, dating: Dating): { from: string; to: string } {
  const { frequency, fiscalYearEnd } = dating;
  if (monthsPerPeriod[frequency] === undefined) return { from: start, to: end };
  const endOf = (day: string) => periodEnd(day, frequency, fiscalYearEnd ?? undefined);
  const from = start < '0003' ? '0001-01-01' : fromDate(start, endOf(start), dating);
  return { from, to: end >= '9999' ? '9999-12-31' : endOf(end) };
}

/** A period that began before the window is not in it. */
function fromDate(start: string, end: string, dating: Dating): string {
  if (start >= '9999') return '9999-12-31';
  return fredDate(end, dating) >= start ? end : addDays(end, 1);
}
