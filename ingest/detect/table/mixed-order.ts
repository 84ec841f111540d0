// Finds dates in both orders of day and month in one column.
import { entryAt } from '../../../kernel/entries.ts';
import { dateText, type Layout } from './layout.ts';

const ambiguous = /^(\d{1,2})(\D)(\d{1,2})\2(\d{4}|\d{2})(?!\d)/;

/** Dates in both orders of day and month in one column, as written by a program that has misread some of them. */
export function mixedOrder({ dates, titles }: Layout, rows: readonly string[][]): string | null {
  if (dates.kind !== 'column' || dates.columns.length > 1) return null;
  const { format } = dates.found.style;
  if (format === undefined || !/^(?:D\/M|M\/D)\//.test(format)) return null;
  const texts = rows.map((row) => dateText(row, dates)).filter((text, at, all) => text !== all[at - 1]);
  const days = texts.map((text) => dates.found.read(text)?.from ?? '');
  const swapped = days.map((day, at) =>
    Number(day.slice(8)) <= 12 && ambiguous.test(texts[at] ?? '')
      ? `${day.slice(0, 5)}${day.slice(8)}-${day.slice(5, 7)}`
      : day,
  );
  const [asRead, otherwise] = [turns(days), turns(swapped)];
  const example = texts.find((_, at) => days[at] !== swapped[at]);
  if (example === undefined || otherwise > 0 || asRead === 0) return null;
  const fixed = texts.find((_, at) => Number((days[at] ?? '').slice(8)) > 12) ?? '';
  return `${entryAt(titles, entryAt(dates.columns, 0))} mixes day-first and month-first dates: "${fixed}" has one order, and "${example}" fits the dates around it only in the other. Write all dates as YYYY-MM-DD`;
}

/** How often the order of the days changes between ascending and descending. */
function turns(days: readonly string[]): number {
  const steps = days.slice(1).map((day, at) => Math.sign(day.localeCompare(days[at] ?? '')));
  return steps.slice(1).filter((step, at) => step !== steps[at]).length;
}
