// Reads the published files for the checks: rows of CSV as text, and their dates as the service stores them.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import type { History, Lines } from './transforms.ts';

/** The rows by the names of the header. */
export function rowsOf(file: string, skipRows = 0): Record<string, string>[] {
  const bytes = readFileSync(file);
  const text = file.endsWith('.gz') ? gunzipSync(bytes) : bytes;
  return parse<Record<string, string>>(text, { columns: true, bom: true, skip_empty_lines: true }).slice(
    skipRows,
  );
}

/** The last day of the period, of the given number of months, that contains the date (`1833`, `1947-01`, `1987-05-15`). */
export function endOfPeriod(date: string, months: number): string {
  const [year = '', month = '1'] = date.split('-');
  const last = Math.ceil(Number(month) / months) * months;
  return new Date(Date.UTC(Number(year), last, 0)).toISOString().slice(0, 10);
}

/** One combination without dimensions. */
export function oneLine(history: Iterable<readonly [date: string, value: string]>): Lines {
  return new Map([['', new Map(history)]]);
}

/** Points by the values of their dimensions; of a point that the file states twice, the first. */
export function linesOf(points: Iterable<readonly [dims: string, date: string, value: string]>): Lines {
  const lines = new Map<string, Map<string, string>>();
  for (const [dims, date, value] of points) {
    const line = lines.get(dims) ?? new Map<string, string>();
    if (!line.has(date)) line.set(date, value);
    lines.set(dims, line);
  }
  return lines satisfies ReadonlyMap<string, History>;
}

/** How the points changed from one vintage to the next. */
export interface Changes {
  points_new: number;
  points_revised: number;
  points_deleted: number;
}

export function changes(before: History, after: History): Changes {
  const [old, current] = [[...before.keys()], [...after.keys()]];
  return {
    points_new: current.filter((point) => !before.has(point)).length,
    points_revised: current.filter((point) => isRevised(before.get(point), after.get(point))).length,
    points_deleted: old.filter((point) => !after.has(point)).length,
  };
}

/** `1.50` is not a revision of `1.5`; numbers with more digits than a double can hold differ if any digit does. */
export function isRevised(before: string | undefined, after: string | undefined): boolean {
  return before !== undefined && after !== undefined && plain(before) !== plain(after);
}

function plain(digits: string): string {
  return digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits;
}
