// Reads the published files for the checks: rows of CSV as text, and their dates as the service keeps them.
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

/** The last day of the period of so many months that holds the date (`1833`, `1947-01`, `1987-05-15`). */
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
