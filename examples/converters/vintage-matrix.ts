// Turns a matrix of vintages, as the Philadelphia Fed publishes its real-time data, into a long CSV file on standard output.
// Usage: node examples/convert.js converters/vintage-matrix ROUTPUTQvQd.xlsx | npx almanac ingest observations - --full --create --set series_id=…
// Rows are periods (1947:Q1, 1947:01), columns vintages (ROUTPUT65Q4, EMPLOY64M12); #N/A and empty cells are left out.
import { pathToFileURL } from 'node:url';
import { readFirstSheet } from './xlsx.ts';

/** The matrix, column by column. */
export interface VintageMatrix {
  /** `1947-Q1` or `1947-01`, ascending. */
  periods: string[];
  vintages: {
    /** The publisher names no day: the 15th of the month, of a quarter's middle month. */
    day: string;
    /** One value a period; '' if there was none. */
    values: string[];
  }[];
}

/** @throws Error that names every title that is no vintage and every row that is no period. */
export function readVintageMatrix(file: string): VintageMatrix {
  const [titles = [], ...rows] = readFirstSheet(file);
  const unread = [
    ...titles.slice(1).filter((title) => vintageDay(title) === null),
    ...rows.map(([period = '']) => period).filter((period) => isoPeriod(period) === null),
  ];
  if (unread.length > 0 || titles.length < 2) {
    const known =
      'vintages such as ROUTPUT65Q4 or EMPLOY64M12 as titles, and periods such as 1947:Q1 or 1947:01 below';
    throw new Error(
      `${file} is to have ${known}. Neither is: ${unread.map((text) => `"${text}"`).join(', ')}`,
    );
  }
  return {
    periods: rows.map(([period = '']) => isoPeriod(period) ?? ''),
    vintages: titles.slice(1).map((title, i) => ({
      day: vintageDay(title) ?? '',
      values: rows.map((row) => row[i + 1] ?? '').map((text) => (text === '#N/A' ? '' : text)),
    })),
  };
}

function isoPeriod(text: string): string | null {
  return /^\d{4}:(?:Q[1-4]|0[1-9]|1[0-2])$/.test(text) ? text.replace(':', '-') : null;
}

/** `ROUTPUT65Q4` is 1965-11-15, `EMPLOY64M12` 1964-12-15. The real-time data begins in 1962. */
function vintageDay(title: string): string | null {
  const [, short, kind, number] =
    /^[A-Z]+(\d{2})(?:(Q)(?=[1-4]$)|M(?=[1-9]$|1[0-2]$))(\d{1,2})$/.exec(title) ?? [];
  if (short === undefined) return null;
  const year = Number(short) >= 62 ? `19${short}` : `20${short}`;
  const month = kind === 'Q' ? Number(number) * 3 - 1 : Number(number);
  return `${year}-${String(month).padStart(2, '0')}-15`;
}

/** The lines of the long file. */
export function* longLines({ periods, vintages }: VintageMatrix): Generator<string> {
  yield 'vintage,date,value\n';
  for (const { day, values } of vintages)
    for (const [i, value] of values.entries()) if (value !== '') yield `${day},${periods[i]},${value}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [file] = process.argv.slice(2);
  if (file === undefined)
    throw new Error('Usage: node examples/convert.js converters/vintage-matrix <matrix.xlsx>');
  process.stdout.write([...longLines(readVintageMatrix(file))].join(''));
}
