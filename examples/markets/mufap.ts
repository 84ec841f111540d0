// Turns the daily revaluation files of MUFAP (Pakistan) of one year into a yield curve, securities and prices.
// Usage: node examples/convert.js markets/mufap <folder> <year> <out folder>
// PKRV: rates by tenor · PKFRV: floating rate government bonds · PKISRV: government Ijarah sukuk. The files have some thirty
// layouts, a few are Excel under another name: rows are recognised by their beginning, and the price or rate is in the column that the
// header calls the average of the brokers' quotes. 0.00 means no quote. The day is in the file's name; of two files of a day
// the later one counts.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import { readFirstSheet } from '../converters/xlsx.ts';
import { textOf, writeCsv } from './out.ts';
import { excelDate } from './xls.ts';

const [folder = '', year = '', out = ''] = process.argv.slice(2);

interface Report {
  kind: string;
  day: string;
  /** Grows with every report. */
  id: number;
  file: string;
}

/** The newest report of each kind and day, wherever it was filed. */
function newestReports(): Report[] {
  const newest = new Map<string, Report>();
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const name = new RegExp(`^(PKRV|PKFRV|PKISRV)(\\d\\d)(\\d\\d)0?${year}\\D*(\\d*)\\.csv$`).exec(
      path.basename(file),
    );
    if (name === null) continue;
    const [, kind = '', day = '', month = '', id = ''] = name;
    const report = { kind, day: `${year}-${month}-${day}`, id: Number(id), file };
    const known = newest.get(`${kind} ${report.day}`);
    if (known === undefined || known.id < report.id) newest.set(`${kind} ${report.day}`, report);
  }
  return [...newest.values()].sort((a, b) => (a.day < b.day ? -1 : 1));
}

/** The rows of a report, trimmed. A printed page has blanks between its columns. */
function rowsOf(file: string): string[][] {
  const name = path.join(folder, file);
  const bytes = readFileSync(name);
  const isExcel = bytes.toString('latin1', 0, 4) === 'PK\u0003\u0004';
  const rows = isExcel
    ? readFirstSheet(name)
    : parse(textOf(bytes), { relax_column_count: true, relax_quotes: true, bom: true });
  return rows.map(([first = '', ...others]) =>
    (others.length === 0 ? first.split(/\s+(?=\d+\.\d)/) : [first, ...others]).map((cell) => cell.trim()),
  );
}

const isNumber = (cell: string) => /^\d+(\.\d+)?$/.test(cell);
const averageTitles = /^(?:(?:avg\.? ?|mid )?rate|avg\.?|ave(?:rage)?|fmap?|price)$/i;

/** Where the average is, according to a header: in these columns, or in `last`, the last number of a row. */
interface AverageAt {
  columns: readonly number[];
  last: boolean;
}

/** The columns of the average by a header row; undefined for any other row. A few rows that lack a cell still end in the average. */
function averageAt(cells: readonly string[]): AverageAt | undefined {
  const columns = cells.flatMap((cell, at) => (averageTitles.test(cell) ? [at] : []));
  return columns.length === 0 ? undefined : { columns, last: !cells.some((cell) => cell.endsWith('Change')) };
}

function quoteOf(cells: readonly string[], { columns, last }: AverageAt): string | null {
  const named = columns.map((at) => cells[at] ?? '').find(isNumber);
  const found = named ?? (last ? cells.slice(1).findLast(isNumber) : undefined);
  return found === undefined || Number(found) === 0 ? null : found;
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** `31-May-28`, or Excel's number of it, → `2028-05-31`; undefined where it is no such date. */
function dayOf(text: string): string | undefined {
  if (/^[45]\d{4}$/.test(text)) return excelDate(Number(text));
  const [, day = '', month = '', shortYear] = /^(\d{1,2})-([A-Za-z]{3})-(\d\d)$/.exec(text) ?? [];
  const n = months.indexOf(month.toLowerCase()) + 1;
  return shortYear === undefined || n === 0
    ? undefined
    : `20${shortYear}-${String(n).padStart(2, '0')}-${day.padStart(2, '0')}`;
}

const tenors: Readonly<Record<string, string>> = {
  '0-7days': '1W',
  '8-15days': '2W',
  '16-30days': '1M',
  '31-60days': '2M',
  '61-90days': '3M',
  '91-120days': '4M',
  '121-180days': '6M',
  '181-270days': '9M',
  '271-365days': '1Y',
};

/** The tenor that a row begins with; some reports write `1wk` and, for a month, `1s`. */
function tenorOf(label: string): string | undefined {
  const text = label.toLowerCase().replaceAll(/\s/g, '');
  const [, count, unit = ''] = /^(\d+)(years?|wk|[wmsy])$/.exec(text) ?? [];
  return (
    tenors[text] ??
    (count === undefined ? undefined : `${count}${unit === 's' ? 'M' : unit[0]?.toUpperCase()}`)
  );
}

interface Bond {
  code: string;
  type: 'pib' | 'gis';
  issued: string;
  matures: string;
  frequency: string;
}

/**
 * The bond of a row; undefined if the row has none. PIB-FRB-25 is only the number of a row, which
 * changes as bonds mature: a floating rate bond is named by its terms, PIBFR10YS2028-05-31, as in the reports of late 2024.
 */
function bondOf(cells: readonly string[]): Bond | undefined {
  const label = (cells[0] ?? '').toUpperCase().replaceAll(/\s+/g, '-');
  const [first, second] = cells.slice(1, 3).map(dayOf);
  const written = /(\d\d)-(\d\d)-(20\d\d)$/.exec(label);
  const matures =
    /^PIBFR.*(20\d\d-\d\d-\d\d)$/.exec(label)?.[1] ??
    (written === null ? undefined : `${written[3]}-${written[2]}-${written[1]}`) ??
    second ??
    first;
  if (matures === undefined) return undefined;
  if (label.startsWith('GOPIS')) {
    // GOPIS-VRR-29-07-2025; GOPIS-20-30-04-2025, the kind in the next column; GOPISV with the day in the next column.
    const kind = /^GOPIS-?([VF])/.exec(label)?.[1] ?? /\(([VF])RR\)/.exec(cells[1] ?? '')?.[1] ?? '';
    const code = `GOPIS${kind}-${matures.split('-').reverse().join('-')}`;
    return { code, type: 'gis', issued: '', matures, frequency: '' };
  }
  const [, years, period] = /^PIBFR(\d+)Y([QS])/.exec(label) ?? [];
  const isQuarterly = period === 'Q' || cells.slice(1, 4).some((cell) => /^q/i.test(cell));
  const terms = { type: 'pib', matures, frequency: isQuarterly ? 'quarterly' : 'semiannual' } as const;
  if (label.startsWith('GOPFB')) return { ...terms, code: '', issued: '' };
  const issued =
    years === undefined ? first : `${Number(matures.slice(0, 4)) - Number(years)}${matures.slice(4)}`;
  if (!label.startsWith('PIB') || issued === undefined || issued >= matures) return undefined;
  const tenor = years ?? Math.round((Date.parse(matures) - Date.parse(issued)) / (365.25 * 86_400_000));
  return { ...terms, code: `PIBFR${tenor}Y${isQuarterly ? 'Q' : 'S'}${matures}`, issued };
}

/** `day tenor` → row: a report may list a tenor twice. */
const curve = new Map<string, string[]>();
const bonds = new Map<string, Bond>();
const quotes: { bond: Bond; day: string; price: string }[] = [];
const unread: string[] = [];
let leftOut = 0;
for (const { kind, day, file } of newestReports()) {
  const rows = rowsOf(file);
  const before = curve.size + quotes.length;
  let average: AverageAt = { columns: [], last: true };
  // A few reports of the yield curve contain the interbank offer rates instead.
  const isOther = kind === 'PKRV' && rows[0]?.[0]?.startsWith('Kibor') === true;
  for (const cells of isOther ? [] : rows) {
    average = averageAt(cells) ?? average;
    const quote = quoteOf(cells, average);
    if (kind === 'PKRV') {
      const tenor = tenorOf(cells.find((cell) => cell !== '') ?? '');
      if (tenor !== undefined && quote !== null && !curve.has(`${day} ${tenor}`))
        curve.set(`${day} ${tenor}`, [day, tenor, quote]);
      continue;
    }
    const bond = bondOf(cells);
    if (bond !== undefined && bond.matures > day) {
      if (bond.code !== '') bonds.set(bond.code, bond);
      if (quote !== null) quotes.push({ bond, day, price: quote });
    } else if (quote !== null && /^(?:PIB|GOPFB|GOPIS)/i.test(cells[0] ?? '')) leftOut += 1; // no future maturity
  }
  if (curve.size + quotes.length === before) unread.push(file);
}

/** Some reports call a floating rate bond by its maturity alone: GOPFB-31-05-2028. */
const termsOf = ({ matures, frequency }: Bond) => `${matures} ${frequency}`;
const codeByTerms = new Map(
  [...bonds.values()].filter(({ type }) => type === 'pib').map((bond) => [termsOf(bond), bond.code]),
);
/** `day code` → row. */
const prices = new Map<string, string[]>();
for (const { bond, day, price } of quotes) {
  const code = bond.code === '' ? codeByTerms.get(termsOf(bond)) : bond.code;
  if (code === undefined) leftOut += 1;
  else prices.set(`${day} ${code}`, [code, day, price]);
}

writeCsv(out, 'mufap-curve.csv', ['date', 'tenor', 'value'], [...curve.values()]);
writeCsv(
  out,
  'mufap-securities.csv',
  [
    'code',
    'name',
    'type',
    'issue_date',
    'maturity_date',
    'coupon_type',
    'coupon_frequency',
    'shariah_compliant',
  ],
  [...bonds.values()].map(({ code, type, issued, matures, frequency }) => [
    code,
    type === 'pib' ? `Floating rate PIB, matures ${matures}` : `GOP Ijarah sukuk ${code}`,
    type,
    issued,
    matures,
    type === 'pib' || code.startsWith('GOPISV') ? 'floating' : code.startsWith('GOPISF') ? 'fixed' : '',
    frequency,
    type === 'gis',
  ]),
);
writeCsv(out, 'mufap-prices.csv', ['code', 'date', 'price'], [...prices.values()]);
if (leftOut > 0) process.stdout.write(`left out: ${leftOut} quotes of bonds that no report describes\n`);
if (unread.length > 0) process.stdout.write(`not read: ${unread.join(', ')}\n`);
