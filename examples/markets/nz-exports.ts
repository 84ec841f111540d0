// Turns the monthly exports of New Zealand (Stats NZ, ten digits of the Harmonized System by country) into the dataset trade.
// Usage: node examples/convert.js markets/nz-exports <out folder> <file.csv|file.csv.gz …>
// A row gives an export, which includes re-exports, and a re_export where there was one. An empty quantity stays unknown.
// Countries that nz-partners.csv does not have are named, all at once, and nothing is written.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import { bytesOf, textOf, Unknown, writeCsv } from './out.ts';

const [out = '', ...files] = process.argv.slice(2);
const unknown = new Unknown();
const read = (file: string) => {
  const rows = parse<Record<string, string>>(textOf(bytesOf(file)), { columns: true, bom: true });
  if (rows.length === 0) unknown.add(`${path.basename(file)}: there are no rows`);
  return rows.map((row) => unknown.cells(row, file));
};

const codeOf = new Map(
  parse<Record<string, string>>(readFileSync(path.join(import.meta.dirname, 'nz-partners.csv')), {
    columns: true,
  }).map(({ name = '', code = '' }) => [name, code]),
);

const trade: string[][] = [];
for (const of of files.flatMap(read)) {
  const partner = codeOf.get(of('country')) ?? '';
  if (partner === '')
    unknown.add(`the code of the country "${of('country')}": add a line for it to nz-partners.csv`);
  const add = (flow: string, value: string, quantity: string) =>
    trade.push([
      flow,
      of('month'),
      partner,
      of('country'),
      of('hs'),
      of('hs_desc'),
      value,
      of('uom') === '' ? '' : quantity,
      of('uom'),
      of('status').toLowerCase(),
    ]);
  add('export', of('total_export_FOB'), of('total_export_qty'));
  if (Number(of('Re_export_FOB')) > 0) add('re_export', of('Re_export_FOB'), of('Re_export_Qty'));
}
unknown.refuse();
writeCsv(
  out,
  'nz-exports.csv',
  [
    'flow',
    'period',
    'partner_code',
    'partner_name',
    'commodity_code',
    'commodity_name',
    'value',
    'quantity',
    'quantity_unit',
    'status',
  ],
  trade,
);
