// Projects the calls of a month from the pace of the past days. Pure functions, for the page and its chart.
import { dayMs } from '../../../text/times.ts';

export interface Projection {
  /** Calls at the end of the month. */
  expected: number;
  /** The uncertainty of the projected end, from the spread of the past days. */
  spread: number;
  /** The instant (ms) at which the limit is reached; null if not in this month, or without a limit. */
  exhaustedAt: number | null;
}

export interface MonthSoFar {
  /** The first instant (ms) of the month and of the next. */
  from: number;
  to: number;
  now: number;
  used: number;
  limit: number | null;
  /** The billed calls of each past day, oldest first. */
  days: readonly number[];
}

/** Elapsed days before the first projection. */
const daysMin = 2;

/** Null on the first two days of the month. */
export function project({ from, to, now, used, limit, days }: MonthSoFar): Projection | null {
  const elapsedDays = (now - from) / dayMs;
  if (elapsedDays < daysMin) return null;
  const perDay = used / elapsedDays;
  const leftDays = (to - now) / dayMs;
  const expected = used + perDay * leftDays;
  const isReached = limit !== null && used < limit && expected > limit;
  return {
    expected,
    spread: deviation(days) * Math.sqrt(leftDays),
    exhaustedAt: isReached ? now + ((limit - used) / perDay) * dayMs : null,
  };
}

function deviation(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1));
}

/** The part of the month that is over, 0 to 1. */
export function elapsedPart({ from, to, now }: Pick<MonthSoFar, 'from' | 'to' | 'now'>): number {
  return Math.min(1, Math.max(0, (now - from) / (to - from)));
}
