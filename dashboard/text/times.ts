// Days and times as people read them; all are UTC.

const parts = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options });
const shortDay = parts({ day: 'numeric', month: 'short' });
const wholeDay = parts({ day: 'numeric', month: 'short', year: 'numeric' });
const month = parts({ month: 'short', year: 'numeric' });
const longMonth = parts({ month: 'long', year: 'numeric' });
const clock = parts({ hour: '2-digit', minute: '2-digit' });

/** `15 Dec 2020`; of a day, `2020-12-15`, or an instant. */
export const dayText = (day: string): string => wholeDay.format(new Date(day));

/** `15 Dec`, for lists of days close to today. */
export const shortDayText = (day: string): string => shortDay.format(new Date(day));

/** `14:15` */
export const timeText = (instant: string): string => clock.format(new Date(instant));

/** `15 Dec 2020, 14:15` */
export const instantText = (instant: string): string => `${dayText(instant)}, ${timeText(instant)}`;

/** `December 2020`; of a day in it. */
export const monthText = (day: string): string => longMonth.format(new Date(day));

/** The day of today, `2020-12-15`. */
export const today = (): string => new Date().toISOString().slice(0, 10);

/** The period that an observation of this date is of: `Nov 2020`, `Q3 2020`, `2020`, `15 Dec 2020`. */
export function periodText(date: string, frequency: string): string {
  const year = date.slice(0, 4);
  const monthNumber = Number(date.slice(5, 7));
  if (frequency === 'monthly') return month.format(new Date(date));
  if (frequency === 'quarterly') return `Q${Math.ceil(monthNumber / 3)} ${year}`;
  if (frequency === 'semiannual') return `H${Math.ceil(monthNumber / 6)} ${year}`;
  return frequency === 'annual' ? year : dayText(date);
}

/** `today, 13:32`, `yesterday, 13:32` or the day. */
export function recentText(instant: string): string {
  const daysAgo = (Date.parse(today()) - Date.parse(instant.slice(0, 10))) / 86_400_000;
  if (daysAgo === 0) return `today, ${timeText(instant)}`;
  return daysAgo === 1 ? `yesterday, ${timeText(instant)}` : instantText(instant);
}
