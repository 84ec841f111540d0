// Turns the daily revaluation files of MUFAP (Pakistan) of one year into a yield curve, securities and prices.
// Usage: node examples/markets/mufap.ts <folder> <year> <out folder>
// PKRV: rates by tenor · PKFRV: floating rate government bonds · PKISRV: government Ijarah sukuk. The files have a dozen
// layouts, so rows are known by how they begin, not by where they stand. The price is the average of the brokers' quotes, the
// last number of its row; 0.00 means no quote. The day stands in the file's name; of two files of a day the later one counts.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import { textOf, writeCsv } from './out.ts';

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

/** The rows of a report, trimmed; null where it is an Excel file under another name. */
function rowsOf(file: string): string[][] | null {
  const bytes = readFileSync(path.join(folder, file));
  if (bytes.toString('latin1', 0, 2) === 'PK') return null;
  const rows = parse(textOf(bytes), { relax_column_count: true, relax_quotes: true, bom: true });
  return rows.map((cells) => cells.map((cell) => cell.trim()));
}

const isNumber = (cell: string) => /^\d+(\.\d+)?$/.test(cell);

/** The last number of a row, where it is a quote. */
function average(cells: readonly string[]): string | null {
  const last = cells.findLast(isNumber);
  return last === undefined || Number(last) === 0 ? null : last;
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** `31-May-28` → `2028-05-31`; undefined where it is no such date. */
function dayOf(text: string): string | undefined {
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

/** The tenor that a row begins with. */
function tenorOf(label: string): string | undefined {
  const text = label.toLowerCase().replaceAll(/\s/g, '');
  const years = /^(\d+)years?$/.exec(text)?.[1];
  return tenors[text] ?? (years === undefined ? /^\d+[wmy]$/.exec(text)?.[0].toUpperCase() : `${years}Y`);
}

/** The names that a bond goes by in different reports, as one: `GOPIS-VRR-29-07-2025` is `GOPISV-29-07-2025`. */
function codeOf(label: string): string {
  const name = label.toUpperCase().replaceAll(/\s+/g, '-');
  const sukuk = /^GOPIS-?([VF]?)(?:RR)?-(?:\d\d-)?(\d\d-\d\d-\d{4})$/.exec(
    name.replace(/^GOPIS(?=\d)/, 'GOPIS-'),
  );
  return sukuk === null ? name : `GOPIS${sukuk[1]}-${sukuk[2]}`;
}

interface Security {
  code: string;
  type: string;
  issued: string;
  matures: string;
  frequency: string;
}

/** `day tenor` → row: a report may say a tenor twice. */
const curve = new Map<string, string[]>();
const securities = new Map<string, Security>();
const quotes: { name: string; day: string; price: string }[] = [];
const unread: string[] = [];
for (const { kind, day, file } of newestReports()) {
  const rows = rowsOf(file);
  const before = curve.size + quotes.length;
  // A few reports of the yield curve hold the interbank offer rates instead.
  const isOther = rows === null || (kind === 'PKRV' && rows[0]?.[0]?.startsWith('Kibor') === true);
  for (const cells of isOther ? [] : rows) {
    const [label = ''] = cells;
    if (kind === 'PKRV') {
      const rate = cells.length === 3 ? (cells[1] ?? '') : (average(cells.slice(1)) ?? '');
      const tenor = tenorOf(label);
      if (tenor !== undefined && isNumber(rate) && !curve.has(`${day} ${tenor}`))
        curve.set(`${day} ${tenor}`, [day, tenor, rate]);
      continue;
    }
    const name = codeOf(label);
    const price = average(cells.slice(1));
    if (/^(PIB-FRB|GOPFB|GOPIS)/.test(name) && price !== null) quotes.push({ name, day, price });
    if (name.startsWith('PIB-FRB') && !securities.has(name)) {
      const [issued, matures, frequency = ''] = [dayOf(cells[1] ?? ''), dayOf(cells[2] ?? ''), cells[3]];
      if (issued !== undefined && matures !== undefined)
        securities.set(name, { code: name, type: 'pib', issued, matures, frequency });
    } else if (name.startsWith('GOPIS') && !securities.has(name)) {
      const [, d, m, y] = /(\d\d)-(\d\d)-(20\d\d)$/.exec(name) ?? [];
      if (y !== undefined)
        securities.set(name, {
          code: name,
          type: 'gis',
          issued: '',
          matures: `${y}-${m}-${d}`,
          frequency: '',
        });
    }
  }
  if (curve.size + quotes.length === before) unread.push(file);
}

/** Some reports call a floating rate bond by its maturity: GOPFB-31-05-2028 is PIB-FRB-1. */
const byMaturity = new Map(
  [...securities.values()]
    .filter(({ type }) => type === 'pib')
    .map(({ code, matures }) => [`GOPFB-${matures.split('-').reverse().join('-')}`, code]),
);
const prices = quotes.flatMap(({ name, day, price }) => {
  const code = byMaturity.get(name) ?? name;
  return securities.has(code) ? [[code, day, price]] : [];
});

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
  [...securities.values()].map(({ code, type, issued, matures, frequency }) => [
    code,
    `${type === 'pib' ? 'Floating rate PIB' : 'GOP Ijarah sukuk'} ${code}, matures ${matures}`,
    type,
    issued,
    matures,
    type === 'pib' || code.startsWith('GOPISV') ? 'floating' : code.startsWith('GOPISF') ? 'fixed' : '',
    frequency,
    type === 'gis',
  ]),
);
writeCsv(out, 'mufap-prices.csv', ['code', 'date', 'price'], prices);
if (quotes.length > prices.length)
  process.stdout.write(
    `left out: ${quotes.length - prices.length} quotes of bonds that no report describes\n`,
  );
if (unread.length > 0) process.stdout.write(`not read: ${unread.join(', ')}\n`);
