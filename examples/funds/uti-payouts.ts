// UTI (India): its dividend master (xls, sheet Sheet0), as funds.csv and payouts.csv.
// Usage: node examples/funds/uti-payouts.ts <out folder> <Divmast.xls>
// A plan of a scheme is a fund: its code is the scheme's, leading zeros kept, and the class. The record date is dd/mm/yyyy
// with a time that means nothing.
import { readFileSync } from 'node:fs';
import { isoDate, writeCsv } from '../markets/out.ts';
import { readXls } from '../markets/xls.ts';

const [out = '', workbook = ''] = process.argv.slice(2);
const sheet = readXls(readFileSync(workbook)).find(({ name }) => name === 'Sheet0');
const [header, ...rows] = [...(sheet?.rows.values() ?? [])];
const columns = new Map([...(header ?? [])].map(([column, title]) => [String(title), column]));

const funds = new Map<string, string[]>();
const payouts = rows.map((row) => {
  const of = (title: string) => String(row.get(columns.get(title) ?? -1) ?? '').trim();
  const code = `${of('code')}-${of('class')}`;
  const plan = of('class_name').startsWith('Direct') ? 'direct' : 'regular';
  funds.set(code, [
    `uti-${code.toLowerCase()}`,
    code,
    `${of('scheme_name')} - ${of('class_name')}`,
    plan,
    'income',
  ]);
  const type = of('class_name').includes('Reinvestment') ? 'reinvest' : 'cash';
  return [code, isoDate(of('record_date').slice(0, 10)), type, of('gross_dividend')];
});
writeCsv(out, 'funds.csv', ['fund_id', 'source_code', 'name', 'plan', 'option'], [...funds.values()]);
writeCsv(out, 'payouts.csv', ['fund', 'ex_date', 'type', 'payout_per_unit'], payouts);
