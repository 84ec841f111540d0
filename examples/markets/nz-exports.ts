// Turns the monthly exports of New Zealand (Stats NZ, ten digits of the Harmonized System by country) into the dataset trade.
// Usage: node examples/markets/nz-exports.ts <out folder> <file.csv|file.csv.gz …>
// A row gives an export, which includes re-exports, and a re_export where there was one. An empty quantity stays unknown.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import { bytesOf, textOf, writeCsv } from './out.ts';

const [out = '', ...files] = process.argv.slice(2);
const read = (file: string) =>
  parse<Record<string, string>>(textOf(bytesOf(file)), { columns: true, bom: true });

const codeOf = new Map(
  parse<Record<string, string>>(readFileSync(path.join(import.meta.dirname, 'nz-partners.csv')), {
    columns: true,
  }).map(({ name = '', code = '' }) => [name, code]),
);

const trade: string[][] = [];
for (const row of files.flatMap(read)) {
  const of = (column: string) => row[column] ?? '';
  const partner = codeOf.get(of('country'));
  if (partner === undefined) throw new Error(`nz-partners.csv has no code for ${of('country')}`);
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
