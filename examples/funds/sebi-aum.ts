// SEBI (India): assets under management of a company by scheme, a workbook a month (xlsx or xls), as amcs.csv, funds.csv and nav.csv.
// Usage: node examples/convert.js funds/sebi-aum <out folder> <workbook …>
// The figures are monthly averages in crores (10,000,000) and count as the assets of the month's last day; the 62 columns by
// kind of investor are left out. So are domestic funds of funds, as in the grand total: their money is in the other schemes.
// If titles of workbooks have another form, all of them are named and nothing is written.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { readFirstSheet } from '../converters/xlsx.ts';
import { product, slug, Unknown, writeCsv } from '../markets/out.ts';
import { readXls } from '../markets/xls.ts';

/** By the letter of the part, and where that distinguishes more, by its number. */
const assetClasses: Readonly<Record<string, string>> = {
  'A(i)': 'money_market',
  A: 'income',
  B: 'equity',
  C: 'balanced',
  'D(i)': 'commodity',
  D: 'index',
  E: 'fund_of_funds',
};
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

const [out = '', ...workbooks] = process.argv.slice(2);
const unknown = new Unknown();
const amcs = new Map<string, string>();
const funds = new Map<string, string[]>();
const assets: string[][] = [];
for (const workbook of workbooks) {
  const rows = rowsOf(workbook);
  const title = (rows[0]?.join(' ') ?? '').replaceAll(/\s+/g, ' ').trim();
  const [, amc = '', day = '', monthName = '', year = ''] =
    /Name (\S.*?) ?:.* on (\d\d)-([A-Za-z]+)-(\d{4})\b.*\bCrore\b/i.exec(title) ?? [];
  const month = months.indexOf(monthName.slice(0, 3).toLowerCase()) + 1;
  if (amc === '' || month === 0) {
    unknown.add(
      `${path.basename(workbook)}: the title "${title.slice(0, 200)}" is not "… Scheme Name COMPANY: … as on DD-MON-YYYY (… Crore)"`,
    );
    continue;
  }
  const date = `${year}-${String(month).padStart(2, '0')}-${day}`;
  amcs.set(slug(amc), amc);
  let [part, number, category] = ['', '', ''];
  for (const [mark = '', name = '', ...cells] of rows.slice(5)) {
    if (/^[A-Z]$/.test(mark)) part = mark;
    if (mark.startsWith('(')) [number, category] = [mark, name.trim()];
    const crores = cells.findLast((cell) => cell !== '');
    if (mark !== '' || crores === undefined || part === 'F' || /total|^scheme names/i.test(name.trim()))
      continue;
    if (!Number.isFinite(Number(crores))) continue; // the notes at the end
    const fund = slug(name);
    funds.set(fund, [
      fund,
      name.trim(),
      amc,
      category,
      assetClasses[part + number] ?? assetClasses[part] ?? '',
    ]);
    assets.push([fund, date, product(Number(crores).toFixed(4), '10000000')]);
  }
}
unknown.refuse();
writeCsv(out, 'amcs.csv', ['amc_id', 'name'], [...amcs]);
writeCsv(out, 'funds.csv', ['fund_id', 'name', 'amc_id', 'category', 'asset_class'], [...funds.values()]);
writeCsv(out, 'nav.csv', ['fund', 'date', 'aum'], assets);

function rowsOf(workbook: string): string[][] {
  if (workbook.endsWith('.xlsx')) return readFirstSheet(workbook);
  const rows = readXls(readFileSync(workbook))[0]?.rows ?? new Map<number, Map<number, string | number>>();
  return [...rows.values()].map((cells) =>
    Array.from({ length: Math.max(...cells.keys()) + 1 }, (_, at) => String(cells.get(at) ?? '')),
  );
}
