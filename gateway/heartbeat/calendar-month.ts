// The calendar month (UTC) that a call is charged to, in the formats of answers and of the ledger.
import { nextUtcMonthText, utcDate } from '../../kernel/clock.ts';

export interface CalendarMonth {
  /** ISO instant. */
  readonly resetsAt: string;
  readonly resetsAtMs: number;
  readonly monthSeconds: number;
  /** `YYYY-MM-01`. */
  readonly month: string;
  /** `YYYY-MM-DD`. */
  readonly lastDay: string;
}

let latest: CalendarMonth | undefined;

/** The month, `YYYY-MM-01`. Computed once per month, as gateways need it on every call. */
export function calendarMonth(month: string): CalendarMonth {
  if (latest?.month === month) return latest;
  const begin = new Date(month);
  const resetsAt = nextUtcMonthText(begin);
  const resetsAtMs = Date.parse(resetsAt);
  const lastDay = utcDate(new Date(resetsAtMs - 1));
  return (latest = {
    resetsAt,
    resetsAtMs,
    month,
    lastDay,
    monthSeconds: (resetsAtMs - begin.getTime()) / 1000,
  });
}

/** The day, `YYYY-MM-DD`, moved into the month if it lies outside. */
export function dayWithin({ month, lastDay }: CalendarMonth, day: string): string {
  if (day < month) return month;
  return day > lastDay ? lastDay : day;
}
