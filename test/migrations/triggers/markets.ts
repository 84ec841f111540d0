// The triggers of securities, auctions, trade and their kin, as cases.
import type { Bench, TriggerCase } from '../bench.ts';

const prices = (db: Bench, columns: string) =>
  db.values(`select code, ${columns} from data.securities order by 1`);

export const marketTriggers: readonly TriggerCase[] = [
  {
    trigger: 'data.securities.keep_lineage',
    async seen(db) {
      await db.insert('data.securities', { name: 'Old', isin: 'PK12AB34CD56' });
      await db.run(`update data.securities set name = 'New', isin = 'US0378331005'`);
      await db.run(`update data.securities set name = 'Newer', former_names = '{Stated}'`);
      return db.values('select former_names, former_codes from data.securities');
    },
    expected: [[['Stated'], ['PK12AB34CD56']]],
  },
  {
    trigger: 'data.securities.keep_lineage',
    async seen(db) {
      await db.insert('data.securities', { name: 'Old' });
      for (const name of ['New', 'Old', 'New', 'New']) {
        await db.run('update data.securities set name = $1', [name]);
      }
      return db.values('select name, former_names, former_codes from data.securities');
    },
    expected: [['New', ['Old', 'New'], []]],
  },
  {
    trigger: 'data.security_prices.keep_last_prices_of_new',
    async seen(db) {
      await db.insert('data.securities');
      await db.insert('data.securities', { code: 'B' });
      await db.insert('data.security_prices', {
        date: '2024-02-01',
        price: '99',
        yield_pct: '12',
        traded: 'true',
      });
      await db.insert('data.security_prices', { date: '2024-01-31', price: '98' });
      await db.insert('data.security_prices', { date: '2024-02-02' }); // without any price
      return prices(db, 'last_price, last_yield_pct, last_price_date::text, last_traded');
    },
    expected: [
      ['A', '99', '12', '2024-02-01', true],
      ['B', null, null, null, null],
    ],
  },
  {
    trigger: 'data.security_prices.keep_last_prices_of_changed',
    async seen(db) {
      await db.insert('data.securities');
      await db.insert('data.security_prices', { price: '99' });
      await db.run('update data.security_prices set price = 97');
      return prices(db, 'last_price');
    },
    expected: [['A', '97']],
  },
  {
    trigger: 'data.security_prices.keep_last_prices_of_gone',
    async seen(db) {
      await db.insert('data.securities');
      await db.insert('data.security_prices', { date: '2024-01-31', price: '98' });
      await db.insert('data.security_prices', { date: '2024-02-01', price: '99', yield_pct: '12' });
      await db.run(`delete from data.security_prices where date = '2024-02-01'`);
      const before = await prices(db, 'last_price, last_yield_pct, last_price_date::text');
      await db.run('delete from data.security_prices');
      return [before, await prices(db, 'last_price, last_yield_pct, last_price_date::text')];
    },
    expected: [[['A', '98', null, '2024-01-31']], [['A', null, null, null]]],
  },
  {
    trigger: 'data.trade.keep_trade_totals_of_new',
    async seen(db) {
      await db.insert('data.trade', { value: '1' });
      await db.insert('data.trade', { value: '2', partner_code: 'USA' });
      const summed = await db.values('select period, value from data.trade_totals');
      await db.insert('data.trade', { value: '5', partner_code: 'WLD', commodity_code: 'TOTAL' });
      return [summed, await db.values('select period, value from data.trade_totals')];
    },
    expected: [[['2025-01', '3']], [['2025-01', '5']]],
  },
  {
    trigger: 'data.trade.keep_trade_totals_of_changed',
    async seen(db) {
      await db.insert('data.trade', { value: '1' });
      await db.run('update data.trade set value = 4');
      return db.values('select period, value from data.trade_totals');
    },
    expected: [['2025-01', '4']],
  },
  {
    trigger: 'data.trade.keep_trade_totals_of_gone',
    async seen(db) {
      await db.insert('data.trade', { value: '1' });
      await db.insert('data.trade', { value: '5', partner_code: 'WLD', commodity_code: 'TOTAL' });
      await db.run(`delete from data.trade where partner_code = 'WLD'`);
      return db.values('select period, value from data.trade_totals');
    },
    expected: [['2025-01', '1']],
  },
  {
    trigger: 'data.trade.drop_trade_totals_of_gone',
    async seen(db) {
      await db.insert('data.trade', { value: '1' });
      await db.run('delete from data.trade');
      return db.values('select period, value from data.trade_totals');
    },
    expected: [],
  },
];
