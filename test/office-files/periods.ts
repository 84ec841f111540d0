// Periods of all frequencies, with their first and last day.
import type { Frequency } from './office-file.ts';
import type { Random } from './random.ts';

export interface Period {
  year: number;
  /** Half, quarter, month, week or day of the year, from 1. */
  part: number;
  /** YYYY-MM-DD */
  first: string;
  last: string;
}

const dayMs = 86_400_000;
export const isoDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const at = (year: number, month: number, day: number) => Date.UTC(year, month, day);

const partsOfYear = { annual: 1, semiannual: 2, quarterly: 4, monthly: 12 } as const;

/** `count` periods that follow each other. */
export function periodsOf(frequency: Frequency, startYear: number, offset: number, count: number): Period[] {
  const numbers = Array.from({ length: count }, (_, number) => number + offset);
  if (frequency === 'weekly') return numbers.map((number) => week(startYear, number));
  if (frequency === 'daily') return businessDays(startYear, offset, count);
  const parts = partsOfYear[frequency];
  const months = 12 / parts;
  return numbers.map((number) => {
    const year = startYear + Math.floor(number / parts);
    const part = (number % parts) + 1;
    const first = at(year, (part - 1) * months, 1);
    return { year, part, first: isoDay(first), last: isoDay(at(year, part * months, 0)) };
  });
}

/** The week with the 4 January is the first of the year. */
function week(startYear: number, number: number): Period {
  const fourth = at(startYear, 0, 4);
  const monday = fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * dayMs + number * 7 * dayMs;
  const year = new Date(monday + 3 * dayMs).getUTCFullYear();
  const january = at(year, 0, 4);
  const firstMonday = january - ((new Date(january).getUTCDay() + 6) % 7) * dayMs;
  const part = Math.round((monday - firstMonday) / dayMs / 7) + 1;
  return { year, part, first: isoDay(monday), last: isoDay(monday + 6 * dayMs) };
}

function businessDays(startYear: number, offset: number, count: number): Period[] {
  const days: Period[] = [];
  for (let ms = at(startYear, 0, 1 + offset); days.length < count; ms += dayMs) {
    const day = new Date(ms);
    if (day.getUTCDay() === 0 || day.getUTCDay() === 6) continue;
    const part = Math.round((ms - at(day.getUTCFullYear(), 0, 1)) / dayMs) + 1;
    days.push({ year: day.getUTCFullYear(), part, first: isoDay(ms), last: isoDay(ms) });
  }
  return days;
}

/** How many periods a file of the frequency has: enough that the steps between them can be seen. */
const counts: Readonly<Record<Frequency, readonly [number, number]>> = {
  annual: [8, 30],
  semiannual: [8, 16],
  quarterly: [12, 28],
  monthly: [18, 48],
  weekly: [20, 60],
  daily: [30, 70],
};

export function somePeriods(random: Random, frequency: Frequency, wholeYears = false): Period[] {
  const [least, most] = counts[frequency];
  const count = random.whole(least, most);
  const span = frequency === 'annual' ? most : 5;
  const startYear = random.whole(1995, 2025 - span);
  if (!wholeYears || frequency === 'annual') {
    const offsetMax = { annual: 0, semiannual: 1, quarterly: 3, monthly: 11, weekly: 50, daily: 200 }[
      frequency
    ];
    return periodsOf(frequency, startYear, random.whole(0, offsetMax), count);
  }
  const parts = partsOfYear[frequency as keyof typeof partsOfYear] ?? 12;
  return periodsOf(frequency, startYear, 0, Math.ceil(count / parts) * parts);
}

/** Days since 1899-12-30, as workbooks count them. */
export const serialOf = (date: string): number => Date.parse(date) / dayMs + 25_569;
