// The triggers that keep the index of the search, as cases.
import type { Bench, TriggerCase } from '../bench.ts';

const entries = (db: Bench, type: string) =>
  db.values(
    `select id, name, trim(regexp_replace(facts, ' +', ' ', 'g')) from data.search_entries where type = '${type}'`,
  );

export const searchTriggers: readonly TriggerCase[] = [
  {
    trigger: 'data.series.search_new_series',
    async seen(db) {
      await db.insert('data.series', { name: 'Consumer prices', tags: '{cpi}' });
      return entries(db, 'series');
    },
    expected: [['A', 'Consumer prices', 'cpi']],
  },
  {
    trigger: 'data.series.search_changed_series',
    async seen(db) {
      await db.insert('data.series');
      await db.run(`update data.series set name = 'Consumer prices', geography = 'PK'`);
      const changed = await entries(db, 'series');
      await db.run(
        `insert into data.series_aliases (alias, series_no) select 'A', series_no from data.series`,
      );
      await db.run(`update data.series set series_id = 'B'`);
      const renamed = await entries(db, 'series');
      await db.run(`update data.series set deleted_on = '2024-01-01'`);
      const deleted = await entries(db, 'series');
      await db.run(`update data.series set deleted_on = null`);
      return [...changed, ...renamed, ...deleted, ...(await entries(db, 'series'))];
    },
    expected: [
      ['A', 'Consumer prices', 'PK'],
      ['B', 'Consumer prices', 'PK A'],
      ['B', 'Consumer prices', 'PK A'],
    ],
  },
  {
    trigger: 'data.series.search_gone_series',
    async seen(db) {
      await db.insert('data.series');
      await db.insert('data.series', { series_id: 'B' });
      await db.run(`delete from data.series where series_id = 'A'`);
      return db.values(`select id from data.search_entries`);
    },
    expected: ['B'],
  },
  {
    trigger: 'data.series_dims.search_new_dims',
    async seen(db) {
      await db.insert('data.series', { series_no: '1', dimensions: '{city}' });
      await db.insert('data.series_dims', { series_no: '1', dims: '{"city": "Lahore"}' });
      return db.values(`select trim(facts) from data.search_entries`);
    },
    expected: ['Lahore'],
  },
  {
    trigger: 'data.dimension_labels.search_new_labels',
    async seen(db) {
      await db.insert('data.series', { series_no: '1', dimensions: '{city}' });
      await db.insert('data.dimension_labels', { series_no: '1', label: 'Karachi' });
      return db.values(`select trim(facts) from data.search_entries`);
    },
    expected: ['Karachi'],
  },
  {
    trigger: 'data.dimension_labels.search_changed_labels',
    async seen(db) {
      await db.insert('data.series', { series_no: '1', dimensions: '{city}' });
      await db.insert('data.dimension_labels', { series_no: '1', label: 'Karachi' });
      await db.run(`update data.dimension_labels set label = 'Karāchī'`);
      return db.values(`select trim(facts) from data.search_entries`);
    },
    expected: ['Karāchī'],
  },
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
  {
    trigger: 'data.search_entries.derive_search_words',
    async seen(db) {
      await db.insert('data.search_entries', { id: 'CPI.PK', name: 'Prices, Café', source: 'Bureau' });
      return db.values(
        `select id_text, name_text, words @@ 'price:A' and words @@ 'bureau:B' and words @@ '''source:Bureau''',
                words @@ 'bureau:A'
         from data.search_entries`,
      );
    },
    expected: [['cpi pk', 'prices  cafe', true, false]],
  },
  {
    trigger: 'data.search_entries.collect_search_terms_of_new',
    async seen(db) {
      await db.insert('data.search_entries', { name: 'Wheat and rice, 2024 a1b2' });
      return db.values(
        'select word, array(select unnest(near) collate "C" order by 1) from data.search_terms order by 1',
      );
    },
    expected: [
      ['rice', ['ice', 'rce', 'ric', 'rice', 'rie']],
      ['wheat', ['heat', 'weat', 'what', 'whea', 'wheat', 'whet']],
    ],
  },
  {
    trigger: 'data.search_entries.collect_search_terms_of_changed',
    async seen(db) {
      await db.insert('data.search_entries', { name: 'Wheat' });
      await db.run(`update data.search_entries set name = 'Rice'`);
      return db.values('select word from data.search_terms order by 1');
    },
    expected: ['rice', 'wheat'],
  },
];
