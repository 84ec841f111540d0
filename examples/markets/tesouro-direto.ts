// Turns the yearly workbooks of the Brazilian Treasury (Tesouro Direto; one sheet a bond) into securities, prices and series.
// Usage: node examples/convert.js markets/tesouro-direto <folder of the .xls files> <out folder>
// The price of a bond is the one at which the Treasury buys it back (Venda), with accrued interest, per 100 of par. Both sides
// of the market go into observations, with the dimensions bond and side. Sheets of other bonds than LTN and NTN-F are named, all at
// once, and nothing is written: the meaning of their prices and coupons is not known here.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { isoDate, Unknown, writeCsv } from './out.ts';
import { excelDate, readXls, type Cell } from './xls.ts';

const [folder = '', out = ''] = process.argv.slice(2);
const unknown = new Unknown();

/** The bonds that are known, by how their sheets are called: `LTN 010123`. */
const kinds: Readonly<Record<string, { coupon_type: string; coupon_pct: string }>> = {
  LTN: { coupon_type: 'zero', coupon_pct: '' },
  'NTN-F': { coupon_type: 'fixed', coupon_pct: '10' },
};

const dayOf = (cell: Cell | undefined): string =>
  typeof cell === 'number' ? excelDate(cell) : isoDate((cell ?? '').trim());
/** Excel stores 0.1014 as 0.10139999999999999. */
const plain = (number: number, decimals: number): string => String(Number(number.toFixed(decimals)));

const securities = new Map<string, string[]>();
const prices: string[][] = [];
const sides: string[][] = [];
const files = readdirSync(folder)
  .filter((name) => name.endsWith('.xls'))
  .sort();
if (files.length === 0) unknown.add(`${folder}: there is no .xls file`);
for (const file of files) {
  for (const { name, rows } of readXls(readFileSync(path.join(folder, file)))) {
    const matures = dayOf(rows.get(0)?.get(1));
    const [, kindName = ''] = /^(.*\S)\s+\d{6}$/.exec(name.trim()) ?? [];
    const kind = kinds[kindName];
    if (kind === undefined || !/^\d{4}-\d\d-\d\d$/.test(matures)) {
      const what = kind === undefined ? 'a bond that is neither LTN nor NTN-F' : 'no maturity in cell B1';
      unknown.add(`${file}, sheet "${name}": ${what}`);
      continue;
    }
    const isZero = kind.coupon_type === 'zero';
    const bond = `${kindName} ${matures}`;
    securities.set(bond, [bond, bond, matures, kind.coupon_type, kind.coupon_pct]);
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
unknown.refuse();
writeCsv(
  out,
  'tesouro-securities.csv',
  ['code', 'name', 'maturity_date', 'coupon_type', 'coupon_pct'],
  [...securities.values()],
);
writeCsv(out, 'tesouro-prices.csv', ['code', 'date', 'price', 'dirty_price', 'yield_pct'], prices);
writeCsv(out, 'tesouro-sides.csv', ['series_id', 'date', 'bond', 'side', 'value'], sides);
