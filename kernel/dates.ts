// Dates: which exist, which days a partial date covers, how days are counted. Dates are text `YYYY-MM-DD` of the proleptic Gregorian calendar, years
// 0001 to 9999, without a time zone.

/** A range of days, both inclusive. */
export interface DateRange {
  from: string;
  to: string;
}

const [firstDate, lastDate] = ['0001-01-01', '9999-12-31'];

/** Whether the text is an existing day, `YYYY-MM-DD` (2024-02-30 is not). */
export function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
}

/** The days of a date or period: `2024-03-05`, `2024-03`, `2024-Q1`, `2024-H1`, `2024`. Null if the text is not one of these or does not exist. */
export function parsePeriod(text: string): DateRange | null {
  if (isDate(text)) return { from: text, to: text };
  const match = /^(\d{4})(?:-(?:(0[1-9]|1[0-2])|Q([1-4])|H([12])))?$/.exec(text);
  if (match === null || match[1] === '0000') return null;
  const year = Number(match[1]);
  if (match[2] !== undefined) return monthsRange(year, Number(match[2]), 1);
  if (match[3] !== undefined) return monthsRange(year, Number(match[3]) * 3 - 2, 3);
  if (match[4] !== undefined) return monthsRange(year, Number(match[4]) * 6 - 5, 6);
  return monthsRange(year, 1, 12);
}

/** Adds whole months to a date, limited by `withinCalendar`. A day that the target month lacks becomes its last (29 Feb − 12 → 28 Feb). */
export function addMonths(date: string, months: number): string {
  const index = Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7)) - 1 + months;
  const year = Math.floor(index / 12);
  const month = (index % 12) + 1;
  return format(year, month, Math.min(Number(date.slice(8, 10)), daysInMonth(year, month)));
}

/** Adds days to a date. */
export function addDays(date: string, days: number): string {
  return fromDayNumber(dayNumber(date) + days);
}

/** Limits a moved date to the calendar: 0001-01-01 also represents earlier dates, 9999-12-31 later ones. */
export function withinCalendar(moved: string): string {
  if (/^\d{4}-/.test(moved)) return moved < firstDate ? firstDate : moved;
  return /^(?:\+|\d{5})/.test(moved) ? lastDate : firstDate;
}

/** Days since 1970-01-01; negative before. */
export function dayNumber(date: string): number {
  // Counted from 1 March, so that a leap day ends its year: a tenth of the time of Date.parse (measured 2026-11-22).
  const month = Number(date.slice(5, 7));
  const year = Number(date.slice(0, 4)) - (month < 3 ? 1 : 0);
  const leapDays = Math.floor(year / 4) - Math.floor(year / 100) + Math.floor(year / 400);
  const daysBefore = Math.floor((153 * ((month + 9) % 12) + 2) / 5);
  return year * 365 + leapDays + daysBefore + Number(date.slice(8, 10)) - 719_469;
}

/** The inverse of `dayNumber`. */
export function fromDayNumber(days: number): string {
  return new Date(days * 86_400_000).toISOString().slice(0, 10);
}

export function isWeekend(date: string): boolean {
  return [0, 6].includes(new Date(date).getUTCDay());
}

function monthsRange(year: number, firstMonth: number, months: number): DateRange {
  return { from: format(year, firstMonth, 1), to: monthEnd(year, firstMonth + months - 1) };
}

/** The last day of a month. */
export function monthEnd(year: number, month: number): string {
  return format(year, month, daysInMonth(year, month));
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function format(year: number, month: number, day: number): string {
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}
