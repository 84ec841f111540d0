// Finds columns and lines of dates that state the year only at the first month or quarter of each year.
import { CarriedYears, isPart, yearOf } from '../../cells/dates/carried-years.ts';
import type { ReadDateText } from '../../cells/dates/dates-of-table.ts';

const columnsMost = 10;
const partsLeast = 3;

/** Whether most of the texts are months or quarters without a year, and others have the years. */
export function areCarried(texts: readonly string[]): boolean {
  const filled = texts.map((text) => text.trim()).filter((text) => text !== '');
  const first = filled.findIndex((text) => yearOf(text) !== null);
  if (first < 0) return false;
  const below = filled.slice(first);
  const parts = below.filter((text) => yearOf(text) === null && isPart(text)).length;
  return parts >= partsLeast && parts * 2 >= below.length;
}

/** The first column with such dates, or null. */
export function columnOfCarriedYears(rows: readonly string[][]): number | null {
  for (let column = 0; column < columnsMost; column++)
    if (areCarried(rows.map((row) => row[column] ?? ''))) return column;
  return null;
}

/** The rows with the year in each cell of the column. @param read as for `CarriedYears`. */
export function withCarriedYears(
  rows: readonly string[][],
  column: number,
  read: ReadDateText | null,
): string[][] {
  const years = new CarriedYears(read);
  return rows.map((row) => {
    const text = (row[column] ?? '').trim();
    const whole = years.of(text);
    return whole === text ? row : row.with(column, whole);
  });
}
