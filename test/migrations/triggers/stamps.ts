// The triggers that note when a row has changed, as cases.
import type { TriggerCase } from '../bench.ts';

const stamped = [
  'securities',
  'security_prices',
  'security_trades',
  'auctions',
  'trade',
  'trade_commodities',
].concat(['amcs', 'funds', 'navs', 'payouts', 'expenses', 'portfolio_lines']);
export const stampTriggers: readonly TriggerCase[] = stamped.map((table) => ({
  trigger: `data.${table}.stamp_change`,
  async seen(db) {
    await db.insert(`data.${table}`, { updated_on: '2000-01-01' });
    const before = await db.values(`select updated_on::text from data.${table}`);
    await db.run(`update data.${table} set updated_on = '2000-01-02'`);
    return [before, await db.values(`select updated_on = current_date from data.${table}`)];
  },
  expected: [['2000-01-01'], [true]],
}));
