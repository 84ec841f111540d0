// Times the lists of security trades and of external trade over a million rows each, compared with a hundredth of them, and times their loads.
// Everything is generated from one seed.
import { addDays, addMonths } from '../kernel/dates.ts';
import { compareSizes, loadLines } from './instruments/sizes.ts';
import { seeded } from './series/words.ts';

const securitiesTotal = 400;
const monthsTotal = 24;
const partners = Array.from({ length: 40 }, (_, i) => `A${letter(Math.floor(i / 26))}${letter(i)}`);

/** Calls whose answers have the same number of rows at either size. */
const calls = [
  '/v1/securities',
  '/v1/securities/trades',
  '/v1/securities/trades?sort=trade_date',
  '/v1/securities/trades?code=BOND-17',
  '/v1/securities/trades?type=sukuk',
  '/v1/securities/trades?venue=OTC',
  '/v1/securities/trades?min_amount=900000',
  '/v1/trade?flow=export',
  '/v1/trade?partner=AAA&period=2025-03&limit=50',
  '/v1/trade?commodity=010001',
  '/v1/trade?level=2',
  '/v1/trade?reporter=AAA&flow=import&sort=date',
  '/v1/trade?sort=-value',
];

/** Builds, measures, prints; removes everything it made. */
export async function run(): Promise<void> {
  await compareSizes({
    sizes: [10_000, 1_000_000],
    unit: 'rows',
    async fill(database, rows) {
      await loadLines(database, 'securities', securityLines());
      await loadLines(database, 'security-trades', securityTradeLines(rows));
      await loadLines(database, 'trade', tradeLines(rows));
    },
    calls,
  });
}

function* securityLines(): Iterable<string> {
  yield 'code,name,type,currency,source';
  for (let i = 0; i < securitiesTotal; i += 1)
    yield `BOND-${i},Bond ${i},${i % 50 === 3 ? 'sukuk' : 'corporate_bond'},PKR,Bench`;
}

function* securityTradeLines(rows: number): Iterable<string> {
  const draw = seeded(1);
  yield 'trade_id,trade_date,code,side,price,face_amount,amount,venue,status';
  for (let i = 0; i < rows; i += 1) {
    const day = addDays('2024-01-01', Math.floor((i / rows) * 730));
    const price = (90 + 20 * draw()).toFixed(4);
    const venue = draw() < 0.01 ? 'OTC' : 'EXCHANGE';
    yield `T${i},${day},BOND-${Math.floor(draw() * securitiesTotal)},${draw() < 0.5 ? 'buy' : 'sell'},${price},1000000,${Math.floor(draw() * 1e6)},${venue},new`;
  }
}

/** Every month, flow and partner has the same commodities; at least two at either size. */
function* tradeLines(rows: number): Iterable<string> {
  const draw = seeded(2);
  yield 'reporter,flow,period,partner_code,classification,commodity_code,basis,currency,value,quantity,quantity_unit,source';
  const commodities = Math.floor(rows / (monthsTotal * 2 * partners.length));
  for (let month = 0; month < monthsTotal; month += 1) {
    const period = addMonths('2024-01-01', month).slice(0, 7);
    for (const flow of ['import', 'export'])
      for (const partner of partners)
        for (let i = 1; i <= commodities; i += 1) {
          const code = i === 1 && month % 6 === 0 ? '01' : `01${String(i).padStart(4, '0')}`;
          yield `AAA,${flow},${period},${partner},hs,${code},customs,USD,${Math.floor(draw() * 1e7)},${Math.floor(draw() * 1e4)},KGM,Bench`;
        }
  }
}

function letter(i: number): string {
  return String.fromCharCode(65 + (i % 26));
}
