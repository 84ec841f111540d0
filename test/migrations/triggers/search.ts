// The triggers that update the search entries of items, securities and funds, as cases.
import type { Bench, TriggerCase } from '../bench.ts';

const entries = (db: Bench, type: string) =>
  db.values(
    `select id, name, trim(regexp_replace(facts, ' +', ' ', 'g')) from data.search_entries where type = '${type}'`,
  );

export const searchTriggers: readonly TriggerCase[] = [
  {
    trigger: 'data.commodity_items.search_new_commodities',
    async seen(db) {
      await db.insert('data.commodity_items');
      return db.values(`select type, id, name from data.search_entries`);
    },
    expected: [['commodity', 'wheat', 'Wheat']],
  },
  {
    trigger: 'data.commodity_items.search_changed_commodities',
    async seen(db) {
      await db.insert('data.commodity_items');
      await db.run(`update data.commodity_items set name_local = 'gandum'`);
      return entries(db, 'commodity');
    },
    expected: [['wheat', 'Wheat', 'commodity.wheat gandum price']],
  },
  {
    trigger: 'data.securities.search_new_securities',
    async seen(db) {
      await db.insert('data.securities', { isin: 'PK12AB34CD56', former_codes: '{OLD}' });
      return entries(db, 'security');
    },
    expected: [['A', 'A', 'A PK12AB34CD56 OLD']],
  },
  {
    trigger: 'data.securities.search_changed_securities',
    async seen(db) {
      await db.insert('data.securities');
      await db.run(`update data.securities set name = 'Bond', issuer = 'Government'`);
      return entries(db, 'security');
    },
    expected: [['A', 'Bond', 'A Government A']],
  },
  {
    trigger: 'data.amcs.search_new_amcs',
    async seen(db) {
      await db.insert('data.amcs', { licence_no: 'L1' });
      return entries(db, 'amc');
    },
    expected: [['one', 'One', 'L1']],
  },
  {
    trigger: 'data.amcs.search_changed_amcs',
    async seen(db) {
      await db.insert('data.amcs');
      await db.run(`update data.amcs set name = 'First', short_name = 'F'`);
      return entries(db, 'amc');
    },
    expected: [['one', 'First', 'F']],
  },
  {
    trigger: 'data.funds.search_new_funds',
    async seen(db) {
      await db.insert('data.amcs');
      await db.insert('data.funds', { amc_id: 'one', symbol: 'S' });
      return entries(db, 'fund');
    },
    expected: [['three', 'Three', 'S One']],
  },
  {
    trigger: 'data.funds.search_changed_funds',
    async seen(db) {
      await db.insert('data.funds');
      await db.run(`update data.funds set symbol = 'S', objective = 'growth'`);
      return [await entries(db, 'fund'), await db.values('select description from data.search_entries')];
    },
    expected: [[['three', 'Three', 'S']], ['growth']],
  },
];
