// UTI (India): its dividend master (xls, sheet Sheet0), as funds.csv and payouts.csv.
// Usage: node examples/convert.js funds/uti-payouts <out folder> <Divmast.xls>
// A plan of a scheme is a fund: its code is the scheme's, with leading zeros, and the class. The record date is dd/mm/yyyy
// with a time that means nothing.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isoDate, Unknown, writeCsv } from '../markets/out.ts';
import { readXls } from '../markets/xls.ts';

const [out = '', workbook = ''] = process.argv.slice(2);
const unknown = new Unknown();
const sheet = readXls(readFileSync(workbook)).find(({ name }) => name === 'Sheet0');
const [header, ...rows] = [...(sheet?.rows.values() ?? [])];
if (rows.length === 0) unknown.add(`${path.basename(workbook)}: there is no sheet "Sheet0" with rows`);
const columns = new Map([...(header ?? [])].map(([column, title]) => [String(title), column]));

const funds = new Map<string, string[]>();
const payouts = rows.map((row) => {
  const cells = Object.fromEntries(
    [...columns].map(([title, column]) => [title, String(row.get(column) ?? '').trim()]),
  );
  const of = unknown.cells(cells, workbook);
  const code = `${of('code')}-${of('class')}`;
  const plan = /\b(direct|regular) plan\b/i.exec(of('class_name'))?.[1]?.toLowerCase() ?? '';
  funds.set(code, [
    `uti-${code.toLowerCase()}`,
    code,
    `${of('scheme_name')} - ${of('class_name')}`,
    plan,
    'income',
  ]);
  const type = of('class_name').includes('Reinvestment') ? 'reinvest' : 'cash';
  const day = isoDate(of('record_date').slice(0, 10));
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) unknown.add(`the record date "${of('record_date')}" of ${code}`);
  return [code, day, type, of('gross_dividend')];
});
unknown.refuse();
writeCsv(out, 'funds.csv', ['fund_id', 'source_code', 'name', 'plan', 'option'], [...funds.values()]);
writeCsv(out, 'payouts.csv', ['fund', 'ex_date', 'type', 'payout_per_unit'], payouts);
