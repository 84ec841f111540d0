// Turns the yearly workbooks of the Brazilian Treasury (Tesouro Direto; one sheet a bond) into securities, prices and series.
// Usage: node examples/markets/tesouro-direto.ts <folder of the .xls files> <out folder>
// The price of a bond is the one at which the Treasury buys it back (Venda), with what has accrued, per 100 of par. Both sides
// of the market go into observations, with the dimensions bond and side.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { isoDate, writeCsv } from './out.ts';
import { excelDate, readXls, type Cell } from './xls.ts';

const [folder = '', out = ''] = process.argv.slice(2);

const dayOf = (cell: Cell | undefined): string =>
  typeof cell === 'number' ? excelDate(cell) : isoDate((cell ?? '').trim());
/** Excel keeps 0.1014 as 0.10139999999999999. */
const plain = (number: number, decimals: number): string => String(Number(number.toFixed(decimals)));

const securities = new Map<string, string[]>();
const prices: string[][] = [];
const sides: string[][] = [];
for (const file of readdirSync(folder)
  .filter((name) => name.endsWith('.xls'))
  .sort()) {
  for (const { name, rows } of readXls(readFileSync(path.join(folder, file)))) {
    const matures = dayOf(rows.get(0)?.get(1));
    const isZero = name.startsWith('LTN');
    const bond = `${isZero ? 'LTN' : 'NTN-F'} ${matures}`;
    securities.set(bond, [bond, bond, matures, isZero ? 'zero' : 'fixed', isZero ? '' : '10']);
    for (const [at, cells] of rows) {
      const [buyRate, sellRate, buy, sell] = [1, 2, 3, 4].map((column) => cells.get(column));
      if (at < 2 || typeof sell !== 'number' || typeof sellRate !== 'number' || sell === 0) continue;
      const day = dayOf(cells.get(0));
      const dirty = plain(sell / 10, 4);
      prices.push([bond, day, isZero ? dirty : '', dirty, plain(sellRate * 100, 4)]);
      for (const [side, price, rate] of [
        ['buy', buy, buyRate],
        ['sell', sell, sellRate],
      ] as const) {
        if (typeof price === 'number') sides.push(['TESOURO.PRICE', day, bond, side, plain(price, 2)]);
        if (typeof rate === 'number') sides.push(['TESOURO.RATE', day, bond, side, plain(rate * 100, 4)]);
      }
    }
  }
}
writeCsv(
  out,
  'tesouro-securities.csv',
  ['code', 'name', 'maturity_date', 'coupon_type', 'coupon_pct'],
  [...securities.values()],
);
writeCsv(out, 'tesouro-prices.csv', ['code', 'date', 'price', 'dirty_price', 'yield_pct'], prices);
writeCsv(out, 'tesouro-sides.csv', ['series_id', 'date', 'bond', 'side', 'value'], sides);
