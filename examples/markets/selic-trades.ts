// Turns the monthly files of the Selic secondary market (Banco Central do Brasil, NegE/NegT) into securities and trades.
// Usage: node examples/convert.js markets/selic-trades <out folder> <tpf_mensal_….zip …>
// A row of the file is all trades of a bond on a day. Prices are per unit of a nominal 1,000 at issue: here per 100 of it.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import { dividedByTen, isoDate, product, textOf, Unknown, writeCsv } from './out.ts';
import { unzip } from './zip.ts';

const [out = '', ...archives] = process.argv.slice(2);

const unknown = new Unknown();
const securities = new Map<string, string[]>();
const codeOfIsin = new Map<string, string>();
const trades: string[][] = [];
for (const archive of archives) {
  for (const [name, bytes] of unzip(readFileSync(archive))) {
    const market = /^Neg[ET](?=\d{6}\.csv$)/i.exec(name)?.[0];
    if (market === undefined) {
      unknown.add(`${path.basename(archive)}: the file "${name}", which is neither NegE nor NegT of a month`);
      continue;
    }
    const rows = parse<Record<string, string>>(textOf(bytes), { columns: true, delimiter: ';' });
    for (const row of rows) {
      const cell = unknown.cells(row, name);
      const of = (column: string) => cell(column).trim();
      const number = (column: string) => of(column).replace(',', '.');
      const per100 = (column: string) => (of(column) === '' ? '' : dividedByTen(number(column), 1));
      const [isin, day, units] = [of('CODIGO ISIN'), isoDate(of('DATA MOV')), of('QUANT NEGOCIADA')];
      const matures = isoDate(of('VENCIMENTO'));
      // Some notes are split into principal and coupons, which have a CODIGO of their own.
      const code = `${of('SIGLA')}/${of('CODIGO')}/${of('VENCIMENTO').replaceAll('/', '')}`;
      // Principal and coupons of one note had the same ISIN: only the first of them gets it.
      if (!codeOfIsin.has(isin)) codeOfIsin.set(isin, code);
      securities.set(code, [
        code,
        codeOfIsin.get(isin) === code ? isin : '',
        `${of('SIGLA')} ${of('CODIGO')}, ${matures}`,
        isoDate(of('EMISSAO')),
        matures,
        of('SIGLA') === 'LTN' ? 'zero' : '',
      ]);
      const price = number('PU MED');
      trades.push([
        `${market}-${code.replaceAll('/', '-')}-${day}`,
        day,
        code,
        per100('PU MED'),
        per100('PU MIN'),
        per100('PU MAX'),
        number('TAXA MED'),
        number('TAXA MIN'),
        number('TAXA MAX'),
        product(units, '1000'),
        price === '' ? '' : product(units, price),
        of('NUM DE OPER'),
        market === 'NegE' ? 'Selic, extra-group' : 'Selic',
      ]);
    }
  }
}
unknown.refuse();
writeCsv(
  out,
  'selic-securities.csv',
  ['code', 'isin', 'name', 'issue_date', 'maturity_date', 'coupon_type'],
  [...securities.values()],
);
writeCsv(
  out,
  'selic-trades.csv',
  [
    'trade_id',
    'trade_date',
    'code',
    'price',
    'price_low',
    'price_high',
    'yield_pct',
    'yield_low_pct',
    'yield_high_pct',
    'face_amount',
    'amount',
    'trades_count',
    'venue',
  ],
  trades,
);
