// AMFI (India): the scheme index and a tar of NAV histories, one file a scheme, as amcs.csv, funds.csv and nav.csv.
// Usage: node examples/convert.js funds/amfi <out folder> <scheme_index.csv[.gz]> <nav_history.tar.gz>
// A scheme's id is its AMFI code. The index is a faulty parse of NAVAll.txt: if SchemeType is none of the three valid
// ones, the category is omitted too, and an "AMC" that is not a mutual fund is no company.
import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { once } from 'node:events';
import { parse } from 'csv-parse/sync';
import { bytesOf, isinOf, textOf, Unknown, writeCsv } from '../markets/out.ts';

const structures: Readonly<Record<string, string>> = {
  'Open Ended Schemes': 'open_end',
  'Close Ended Schemes': 'closed_end',
  'Interval Fund Schemes': 'interval',
};

/** By the sub-category, else by the category; unknown if neither states it. */
const assetClasses: Readonly<Record<string, string>> = {
  'Liquid Fund': 'money_market',
  'Overnight Fund': 'money_market',
  'Money Market Fund': 'money_market',
  'FoF Domestic': 'fund_of_funds',
  'FoF Overseas': 'fund_of_funds',
  'Index Funds': 'index',
  'Gold ETF': 'commodity',
  Debt: 'income',
  Income: 'income',
  Equity: 'equity',
  Growth: 'equity',
  ELSS: 'equity',
  Hybrid: 'balanced',
  'Solution Oriented': 'asset_allocation',
};

const [out = '', index = '', history = ''] = process.argv.slice(2);
const schemes = parse<Record<string, string>>(textOf(bytesOf(index)), { columns: true, bom: true });
const unknown = new Unknown();
if (schemes.length === 0) unknown.add(`${path.basename(index)}: there are no rows`);

const needed = [
  'SchemeCode',
  'SchemeName',
  'ISIN',
  'SchemeType',
  'AMC',
  'CategoryRaw',
  'Category',
  'SubCategory',
];
for (const row of schemes.slice(0, 1)) needed.forEach(unknown.cells(row, index));
unknown.refuse();
const archive = bytesOf(history); // read before anything is written

const isAmc = (name: string) => name.includes('Mutual Fund');
const amcs = new Set(schemes.map((row) => row['AMC'] ?? '').filter(isAmc));
writeCsv(
  out,
  'amcs.csv',
  ['amc_id', 'name'],
  [...amcs].sort().map((name) => [name, name]),
);

writeCsv(
  out,
  'funds.csv',
  [
    'fund_id',
    'source_code',
    'name',
    'isin',
    'amc_id',
    'category',
    'asset_class',
    'structure',
    'plan',
    'option',
  ],
  schemes.map((row) => {
    const of = (column: string) => row[column] ?? '';
    const [code, name, isin, structure] = [
      of('SchemeCode'),
      of('SchemeName'),
      of('ISIN'),
      structures[of('SchemeType')] ?? '',
    ];
    const isIsin = /^[A-Z]{2}[A-Z0-9]{9}\d$/.test(isin) && isinOf(isin.slice(0, 11)) === isin;
    const known = structure !== '';
    return [
      code,
      code,
      name,
      isIsin ? isin : '',
      isAmc(of('AMC')) ? of('AMC') : '',
      known ? of('CategoryRaw') : '',
      known ? (assetClasses[of('SubCategory')] ?? assetClasses[of('Category')] ?? '') : '',
      structure,
      /\bdirect\b/i.test(name) ? 'direct' : /\bregular\b/i.test(name) ? 'regular' : '',
      /\bgrowth\b/i.test(name) ? 'growth' : /idcw|dividend|payout/i.test(name) ? 'income' : '',
    ];
  }),
);

const navs = createWriteStream(path.join(out, 'nav.csv'));
navs.write('fund,date,nav\n');
let count = 0;
for (const [name, text] of filesInTar(archive)) {
  const code = path.basename(name, '.csv');
  const rows = text.trim().split(/\r?\n/).slice(1);
  navs.write(rows.map((row) => `${code},${row}\n`).join(''));
  count += rows.length;
}
navs.end();
await once(navs, 'finish');
process.stdout.write(`nav.csv: ${count} rows\n`);

/** The plain files of a tar archive: a header of 512 bytes each, then the content, padded to 512. */
function* filesInTar(archive: Buffer): Generator<[name: string, text: string]> {
  const text = (at: number, length: number) =>
    archive
      .toString('latin1', at, at + length)
      .replace(/\0.*$/s, '')
      .trim();
  for (let at = 0; text(at, 100) !== '';) {
    const bytes = Number.parseInt(text(at + 124, 12), 8);
    const content = at + 512;
    if (['', '0'].includes(text(at + 156, 1)))
      yield [text(at, 100), archive.toString('utf8', content, content + bytes)];
    at = content + Math.ceil(bytes / 512) * 512;
  }
}
