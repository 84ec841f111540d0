// The triggers of schema data, as cases.
import type { Bench, TriggerCase } from './bench.ts';

const at = '2026-11-20T10:00:00Z';

const stamped = [
  'securities',
  'security_prices',
  'security_trades',
  'auctions',
  'trade',
  'trade_commodities',
].concat(['amcs', 'funds', 'navs', 'payouts', 'expenses', 'portfolio_lines']);
const stamps: TriggerCase[] = stamped.map((table) => ({
  trigger: `data.${table}.stamp_change`,
  async seen(db) {
    await db.insert(`data.${table}`, { updated_on: '2000-01-01' });
    const before = await db.values(`select updated_on::text from data.${table}`);
    await db.run(`update data.${table} set updated_on = '2000-01-02'`);
    return [before, await db.values(`select updated_on = current_date from data.${table}`)];
  },
  expected: [['2000-01-01'], [true]],
}));

const entries = (db: Bench, type: string) =>
  db.values(
    `select id, name, trim(regexp_replace(facts, ' +', ' ', 'g')) from data.search_entries where type = '${type}'`,
  );

const search: TriggerCase[] = [
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

/** The series that have changed since they were made to look old. */
async function changedSeries(db: Bench, statement: string): Promise<unknown[]> {
  await db.run(`update data.series set updated_at = '2000-01-01'`);
  await db.run(statement);
  return db.values('select series_id from data.series where updated_at = now() order by 1');
}

async function threeSeries(db: Bench): Promise<void> {
  for (const [i, series_id] of ['A', 'B', 'C'].entries()) {
    await db.insert('data.series', { series_no: String(i + 1), series_id });
  }
}

const changes: TriggerCase[] = [
  {
    trigger: 'data.series.change_continuations',
    async seen(db) {
      await threeSeries(db);
      await db.insert('data.loads', { load_no: '1' });
      await db.insert('data.series_continuations');
      await db.insert('data.series_continuations', { series_no: '2', continued_by: '3' });
      const seen = [];
      for (const change of [
        `update data.series set series_id = 'D' where series_no = 3`,
        `update data.series set frequency = 'annual' where series_no = 1`,
        `update data.series set deleted_on = '2024-01-01' where series_no = 2`,
        `update data.series set series_id = series_id, name = 'N' where series_no = 2`,
      ])
        seen.push(await changedSeries(db, change));
      return seen;
    },
    expected: [['B'], ['B'], ['A', 'D'], []],
  },
  {
    trigger: 'data.releases.change_series_of_new_releases',
    async seen(db) {
      await threeSeries(db);
      return changedSeries(
        db,
        `insert into data.releases (release_id, title, source, release_at, time_zone, series_ids)
         values ('r', 'R', 'Tests', '${at}', 'UTC', '{A,C}')`,
      );
    },
    expected: ['A', 'C'],
  },
  {
    trigger: 'data.releases.change_series_of_changed_releases',
    async seen(db) {
      await threeSeries(db);
      await db.insert('data.releases', { series_ids: '{A}' });
      return changedSeries(db, `update data.releases set series_ids = '{B}'`);
    },
    expected: ['A', 'B'],
  },
  {
    trigger: 'data.releases.change_series_of_gone_releases',
    async seen(db) {
      await threeSeries(db);
      await db.insert('data.releases', { series_ids: '{B,C}' });
      return changedSeries(db, 'delete from data.releases');
    },
    expected: ['B', 'C'],
  },
  {
    trigger: 'data.dimension_labels.change_series_of_new_labels',
    async seen(db) {
      await threeSeries(db);
      return changedSeries(db, `insert into data.dimension_labels values (2, 'city', 'K', 'Karachi')`);
    },
    expected: ['B'],
  },
  {
    trigger: 'data.dimension_labels.change_series_of_changed_labels',
    async seen(db) {
      await threeSeries(db);
      await db.insert('data.dimension_labels', { series_no: '2' });
      return changedSeries(db, `update data.dimension_labels set label = 'Karāchī'`);
    },
    expected: ['B'],
  },
  {
    trigger: 'data.footnotes.change_series_of_new_footnotes',
    async seen(db) {
      await threeSeries(db);
      return changedSeries(db, `insert into data.footnotes (series_no, text) values (2, 'Estimated')`);
    },
    expected: ['B'],
  },
  {
    trigger: 'data.footnotes.change_series_of_changed_footnotes',
    async seen(db) {
      await threeSeries(db);
      await db.insert('data.footnotes', { series_no: '2' });
      return changedSeries(db, `update data.footnotes set text = 'Guessed'`);
    },
    expected: ['B'],
  },
  {
    trigger: 'data.footnotes.change_series_of_gone_footnotes',
    async seen(db) {
      await threeSeries(db);
      await db.insert('data.footnotes', { series_no: '2' });
      return changedSeries(db, 'delete from data.footnotes');
    },
    expected: ['B'],
  },
  {
    trigger: 'data.commodity_cities.change_series_of_cities',
    async seen(db) {
      await threeSeries(db);
      await db.insert('data.commodity_items');
      await db.insert('data.commodity_cities');
      return changedSeries(db, `update data.commodity_cities set name = 'Karāchī'`);
    },
    expected: ['commodity.wheat'],
  },
  {
    trigger: 'data.commodity_items.keep_commodity_series',
    async seen(db) {
      await db.insert('data.commodity_items', { category: 'food' });
      const made = await db.values('select series_id, name, unit, category, dimensions from data.series');
      await db.run(`update data.commodity_items set name = 'Wheat flour', unit = '20 Kg'`);
      return [made, await db.values('select series_id, name, unit from data.series')];
    },
    expected: [
      [['commodity.wheat', 'Wheat', 'PKR per 1 Kg', 'food', ['city', 'price_type', 'stat']]],
      [['commodity.wheat', 'Wheat flour', 'PKR per 20 Kg']],
    ],
  },
];

const prices = (db: Bench, columns: string) =>
  db.values(`select code, ${columns} from data.securities order by 1`);

const markets: TriggerCase[] = [
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

const codes = (db: Bench) => db.values('select code from data.fund_codes order by 1');

const funds: TriggerCase[] = [
  {
    trigger: 'data.funds.keep_codes_of_new',
    async seen(db) {
      await db.insert('data.funds', {
        symbol: 'S',
        isin: 'PK12AB34CD56',
        source_code: 'three',
        former_codes: '{F}',
      });
      return codes(db);
    },
    expected: ['F', 'PK12AB34CD56', 'S'], // its id needs no code
  },
  {
    trigger: 'data.funds.keep_codes_of_changed',
    async seen(db) {
      await db.insert('data.funds', { symbol: 'S' });
      await db.run(`update data.funds set symbol = 'T', isin_payout = 'US0378331005'`);
      return codes(db);
    },
    expected: ['S', 'T', 'US0378331005'], // the former one finds it still
  },
  {
    trigger: 'data.funds.keep_lineage',
    async seen(db) {
      await db.insert('data.funds', { name: 'Old', symbol: 'S', isin: 'PK12AB34CD56' });
      await db.run(`update data.funds set name = 'New', symbol = 'T'`);
      await db.run(
        `update data.funds set name = 'Old', symbol = 'T', source_code = 'PK12AB34CD56', isin = null`,
      );
      return db.values('select former_names, former_codes from data.funds');
    },
    expected: [[['Old', 'New'], ['S']]],
  },
  ...['navs', 'payouts', 'expenses'].map((table): TriggerCase => ({
    trigger: `data.${table}.figures_are_due_of_gone`,
    async seen(db) {
      await db.insert(`data.${table}`, { fund_no: '1' });
      await db.run('delete from data.fund_figures_due');
      await db.run(`delete from data.${table}`);
      return db.values('select fund_no from data.fund_figures_due');
    },
    expected: [1],
  })),
  ...['funds', 'navs', 'payouts', 'expenses'].flatMap((table): TriggerCase[] => {
    const due = (db: Bench) => db.values('select fund_no from data.fund_figures_due');
    const one = { fund_no: '1' };
    return [
      {
        trigger: `data.${table}.figures_are_due_of_new`,
        async seen(db) {
          await db.insert(`data.${table}`, one);
          return due(db);
        },
        expected: [1],
      },
      {
        trigger: `data.${table}.figures_are_due_of_changed`,
        async seen(db) {
          await db.insert(`data.${table}`, one);
          await db.run('delete from data.fund_figures_due');
          await db.run(`update data.${table} set updated_on = updated_on`);
          return due(db);
        },
        expected: [1],
      },
    ];
  }),
];

export const dataTriggers: readonly TriggerCase[] = [...stamps, ...search, ...changes, ...markets, ...funds];
