// Shared by the converters: CSV in, CSV out, unknown content, the published bytes of a file, and decimals that stay text.
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { stringify } from 'csv-stringify/sync';

/** The file's bytes, unpacked where it is gzip. */
export function bytesOf(file: string): Buffer {
  const bytes = readFileSync(file);
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes;
}

/** Text in UTF-16 by its byte order mark, in UTF-8, or else in windows-1252. */
export function textOf(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes); // a file that is not UTF-8 was written by Excel
  }
}

/**
 * Content that a converter does not know. A converter collects all of it while reading, and calls `refuse`
 * before it writes, because a guess would become published data.
 */
export class Unknown {
  readonly #found = new Set<string>();

  add(what: string): void {
    this.#found.add(what);
  }

  /** The cells of a row by their columns; a column that is not there is unknown. @param file to name it. */
  cells(row: Readonly<Record<string, string>>, file: string): (column: string) => string {
    return (column) => {
      const cell = row[column];
      if (cell === undefined) this.add(`${path.basename(file)}: there is no column "${column}"`);
      return cell ?? '';
    };
  }

  /** Names everything that is unknown and ends the program with 1, if there is anything. */
  refuse(): void {
    if (this.#found.size === 0) return;
    const lines = [...this.#found].map((what) => `  ${what}\n`);
    process.stderr.write(`Nothing was written. What this converter does not know:\n${lines.join('')}`);
    process.exit(1);
  }
}

/** Writes rows under a header, and reports it. */
export function writeCsv(
  folder: string,
  name: string,
  header: readonly string[],
  rows: readonly (readonly (string | number | boolean)[])[],
): void {
  mkdirSync(folder, { recursive: true });
  const file = createWriteStream(path.join(folder, name));
  file.write(stringify([[...header]]));
  for (let at = 0; at < rows.length; at += 5_000)
    file.write(stringify(rows.slice(at, at + 5_000).map((row) => row.map(String))));
  file.end();
  process.stdout.write(`${name}: ${rows.length} rows\n`);
}

/** An id made of a name: lower-case letters and digits, hyphens between words. */
export function slug(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

/** `02/01/2025` → `2025-01-02`. */
export function isoDate(dayMonthYear: string): string {
  const [day = '', month = '', year = ''] = dayMonthYear.split('/');
  return `${year}-${month}-${day}`;
}

/** A decimal text divided by a power of ten, digit for digit: `15826.0495`, 1 → `1582.60495`. */
export function dividedByTen(text: string, times: number): string {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  const padded = whole.padStart(times + 1, '0');
  const digits = `${padded.slice(0, -times)}.${padded.slice(-times)}${fraction}`;
  return `${text.startsWith('-') ? '-' : ''}${digits.replace(/\.?0+$/, '')}`;
}

/** The product of two decimal texts, exactly. */
export function product(a: string, b: string): string {
  const scale = [a, b].reduce((total, text) => total + (text.split('.')[1]?.length ?? 0), 0);
  const units = BigInt(a.replace('.', '')) * BigInt(b.replace('.', ''));
  return scale === 0 ? String(units) : dividedByTen(String(units), scale);
}

/** The check digit of an ISIN for its first eleven signs (ISO 6166). */
export function isinOf(start: string): string {
  const digits = start
    .split('')
    .map((sign) => parseInt(sign, 36))
    .join('');
  const sum = digits
    .split('')
    .reverse()
    .reduce((total, digit, i) => {
      const weighted = Number(digit) * (i % 2 === 0 ? 2 : 1);
      return total + (weighted > 9 ? weighted - 9 : weighted);
    }, 0);
  return `${start}${(10 - (sum % 10)) % 10}`;
}
