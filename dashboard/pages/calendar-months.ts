// Months as the calendar shows them: whole weeks, from Monday to Sunday.

const dayMs = 86_400_000;

/** The month so many months later. @param month `2026-11` */
export function monthAfter(month: string, count: number): string {
  const first = new Date(`${month}-01`);
  first.setUTCMonth(first.getUTCMonth() + count);
  return first.toISOString().slice(0, 7);
}

/** The weeks that have a day of the month, each as seven days. */
export function daysOfMonth(month: string): string[][] {
  const first = new Date(`${month}-01`);
  const daysBefore = (first.getUTCDay() + 6) % 7; // Sunday is 0
  const weeks: string[][] = [];
  for (let at = first.getTime() - daysBefore * dayMs; isoDay(at).slice(0, 7) <= month; at += 7 * dayMs)
    weeks.push(Array.from({ length: 7 }, (_unused, i) => isoDay(at + i * dayMs)));
  return weeks;
}

function isoDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
