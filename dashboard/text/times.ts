// Days and times as people read them; all are UTC.
import { countText } from './numbers.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December']; // prettier-ignore

/** @param month from 1. */
const shortMonth = (month: number): string => (months[month - 1] ?? '').slice(0, 3);

/** `15 Dec`, for lists of days close to today. @param day `2020-12-15`, or an instant in UTC. */
export const shortDayText = (day: string): string =>
  `${Number(day.slice(8, 10))} ${shortMonth(Number(day.slice(5, 7)))}`;

/** `15 Dec 2020` */
export const dayText = (day: string): string => `${shortDayText(day)} ${day.slice(0, 4)}`;

/** `14:15`. @param instant in UTC. */
export const timeText = (instant: string): string => instant.slice(11, 16);

/** `15 Dec 2020, 14:15` */
export const instantText = (instant: string): string => `${dayText(instant)}, ${timeText(instant)}`;

/** `23:30`, or with its day where that is not the day beside it, as for a publisher in Tokyo: `14 Dec, 23:30`. @param day of the publisher. */
export const timeOnText = (instant: string, day: string): string =>
  instant.startsWith(day) ? timeText(instant) : `${shortDayText(instant)}, ${timeText(instant)}`;

/** `December 2020`. @param month `2020-12`, or a day in it. */
export const monthText = (month: string): string =>
  `${months[Number(month.slice(5, 7)) - 1] ?? ''} ${month.slice(0, 4)}`;

/** The day of today, `2020-12-15`. */
export const today = (): string => new Date().toISOString().slice(0, 10);

/** The period of an observation with this date: `Nov 2020`, `Q3 2020`, `2020`, `15 Dec 2020`. */
export function periodText(date: string, frequency: string): string {
  const year = date.slice(0, 4);
  const monthNumber = Number(date.slice(5, 7));
  if (frequency === 'monthly') return `${shortMonth(monthNumber)} ${year}`;
  if (frequency === 'quarterly') return `Q${Math.ceil(monthNumber / 3)} ${year}`;
  if (frequency === 'semiannual') return `H${Math.ceil(monthNumber / 6)} ${year}`;
  return frequency === 'annual' ? year : dayText(date);
}

/** The period of a release: `2020-11` is `Nov 2020`, `2020-Q3` is `Q3 2020`; other texts are unchanged. */
export function referencePeriodText(period: string): string {
  if (/^\d{4}-(?:0[1-9]|1[0-2])$/.test(period)) return periodText(period, 'monthly');
  const [, year, part] = /^(\d{4})-([QH]\d)$/.exec(period) ?? [];
  return year === undefined || part === undefined ? period : `${part} ${year}`;
}

/** `today, 13:32`, `yesterday, 13:32` or the day. */
export function recentText(instant: string): string {
  const daysAgo = (Date.parse(today()) - Date.parse(instant.slice(0, 10))) / dayMs;
  if (daysAgo === 0) return `today, ${timeText(instant)}`;
  return daysAgo === 1 ? `yesterday, ${timeText(instant)}` : instantText(instant);
}

/** `4 minutes ago`; an instant more than a month ago is shown as its day. */
export function agoText(instant: string, now: number): string {
  const passedMs = Math.max(0, now - Date.parse(instant));
  if (passedMs < minuteMs) return 'less than a minute ago';
  if (passedMs < hourMs) return `${countText(Math.floor(passedMs / minuteMs), 'minute', 'minutes')} ago`;
  if (passedMs < dayMs) return `${countText(Math.floor(passedMs / hourMs), 'hour', 'hours')} ago`;
  if (passedMs < 31 * dayMs) return `${countText(Math.floor(passedMs / dayMs), 'day', 'days')} ago`;
  return dayText(instant);
}

/** The day of an instant (ms) in UTC, `2020-12-15`. @param plusDays later days. */
export function utcDay(now: number, plusDays = 0): string {
  return new Date(now + plusDays * dayMs).toISOString().slice(0, 10);
}
