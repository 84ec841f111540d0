// The tables whose loads keep the rows that they replace, as of a day, and the tables computed from them.
import { dayMark, lastRows, type AsOfTable } from './tables.sql.ts';
import { isOfThen, withFormerRows } from './former-rows.sql.ts';

const trade = withFormerRows({
  name: 'trade',
  dataset: 'trade',
  columns: {
    trade_no: 'bigint',
    reporter: 'text',
    flow: 'text',
    period: 'text',
    partner_code: 'text',
    partner_name: 'text',
    classification: 'text',
    classification_version: 'text',
    commodity_code: 'text',
    commodity_name: 'text',
    basis: 'text',
    currency: 'text',
    valuation: 'text',
    value: 'numeric',
    cif_value: 'numeric',
    fob_value: 'numeric',
    quantity: 'numeric',
    quantity_unit: 'text',
    quantity_estimated: 'boolean',
    net_weight_kg: 'numeric',
    status: 'text',
    is_aggregate: 'boolean',
    source: 'text',
    level: 'smallint',
    frequency: 'text',
    date: 'date',
  },
});

const tradeNames = withFormerRows({
  name: 'trade_commodities',
  dataset: 'trade-commodities',
  columns: { classification: 'text', commodity_code: 'text', name: 'text', source: 'text' },
});

const tradeGroup = ['reporter', 'flow', 'classification', 'basis', 'currency', 'period'];
const groupOf = (row: string) => tradeGroup.map((column) => `${row}.${column}`).join(', ');

/** A total that no later load has changed is still valid; the others are computed as in migrations/000004_trade.sql. */
const tradeTotals: AsOfTable = {
  needs: ['trade'],
  sql: `
    select ${groupOf('x')}, x.value from data.trade_totals x where ${isOfThen('x', 'trade')}
    union all
    select ${groupOf('g')}, total.value from (
      select ${groupOf('x')} from data.trade_totals x where (${isOfThen('x', 'trade')}) is not true
      union
      select ${groupOf('f')} from as_of_former_trade f) g, lateral (
      select sum(t.value) as value from as_of_trade t
      where (${groupOf('t')}) = (${groupOf('g')})
        and t.date = (make_date(left(g.period, 4)::integer, case length(g.period) when 4 then 12 else right(g.period, 2)::integer end, 1)
          + interval '1 month' - interval '1 day')::date
      group by t.partner_code = 'WLD', t.commodity_code = 'TOTAL', t.level
      order by case when t.partner_code = 'WLD' and t.commodity_code = 'TOTAL' then 1 when t.commodity_code = 'TOTAL' then 2
        when t.partner_code = 'WLD' then 3 else 4 end, t.level desc nulls last
      limit 1) total`,
};

const auctions = withFormerRows({
  name: 'auctions',
  dataset: 'auctions',
  columns: {
    auction_id: 'text',
    instrument: 'text',
    tenor: 'text',
    isin: 'text',
    source_code: 'text',
    status: 'text',
    format: 'text',
    currency: 'text',
    source: 'text',
    auction_date: 'date',
    announce_date: 'date',
    settlement_date: 'date',
    maturity_date: 'date',
    tenor_days: 'integer',
    bids_count: 'integer',
    accepted_bids_count: 'integer',
    reopening: 'boolean',
    target_amount: 'numeric',
    maturing_amount: 'numeric',
    bids_received_face: 'numeric',
    bids_received_realized: 'numeric',
    accepted_competitive: 'numeric',
    accepted_non_competitive: 'numeric',
    accepted_total: 'numeric',
    min_bid_yield_pct: 'numeric',
    max_bid_yield_pct: 'numeric',
    cutoff_yield_pct: 'numeric',
    cutoff_price: 'numeric',
    cutoff_margin_bps: 'numeric',
    weighted_avg_yield_pct: 'numeric',
    weighted_avg_price: 'numeric',
    coupon_pct: 'numeric',
    bid_to_cover_published: 'numeric',
  },
});

const prices = withFormerRows({
  name: 'security_prices',
  dataset: 'security-prices',
  columns: {
    code: 'text',
    method: 'text',
    source: 'text',
    date: 'date',
    valid_from: 'date',
    valid_to: 'date',
    traded: 'boolean',
    price: 'numeric',
    dirty_price: 'numeric',
    accrued: 'numeric',
    yield_pct: 'numeric',
    modified_duration: 'numeric',
    spread_bps: 'numeric',
  },
});

const ofPrice = (row: string): string =>
  ['code', 'date', 'price', 'yield_pct', 'traded'].map((column) => `${row}.${column}`).join(', ');
const hasPrice = (row: string): string =>
  `(${row}.price is not null or ${row}.dirty_price is not null or ${row}.yield_pct is not null)`;

/** By the rule of data.keep_last_prices; the rows that later loads have replaced are read once for all securities. */
const newestPrices: AsOfTable = {
  needs: ['former_security_prices'],
  sql: `
    select distinct on (code) ${ofPrice('n')} from (
      select ${ofPrice('k')} from data.securities s cross join lateral (
        select ${ofPrice('k')} from data.security_prices k
        where k.code = s.code and ${hasPrice('k')} and coalesce(${isOfThen('k', 'security-prices')}, k.updated_on <= ${dayMark})
        order by k.date desc limit 1) k
      union all
      select ${ofPrice('f')} from as_of_former_security_prices f where ${hasPrice('f')}) n
    order by code, date desc`,
};

const securityFacts = `
  code source_code isin name issuer type government_guaranteed shariah_compliant secured rating rating_agency rating_date issue_date
  maturity_date tenor_years issue_size currency par coupon_type coupon_pct base_rate spread_bps floor_pct cap_pct coupon_frequency day_count
  amortising callable puttable listing status merged_into former_names former_codes source`
  .trim()
  .split(/\s+/);

/** A security was last updated by the load that last changed its row, or by one that changed its newest price. */
const securities: AsOfTable = {
  needs: ['loads', 'newest_prices'],
  sql: `
    select ${securityFacts.map((column) => `s.${column}`).join(', ')},
      p.price as last_price, p.yield_pct as last_yield_pct, p.date as last_price_date, p.traded as last_traded,
      (select max(l.loaded_at)::date from as_of_loads l where l.load_no = s.load_no
        or l.load_no in (select c.load_no from data.newest_price_changes c where c.code = s.code)) as updated_on
    from (${lastRows('securities')}) s left join as_of_newest_prices p using (code)
    where s.load_no is not null or (s.created_at at time zone TIME_ZONE)::date <= ${dayMark}`,
};

const trades = withFormerRows({
  name: 'security_trades',
  dataset: 'security-trades',
  columns: {
    trade_id: 'text',
    code: 'text',
    side: 'text',
    currency: 'text',
    venue: 'text',
    counterparty_type: 'text',
    status: 'text',
    original_trade_id: 'text',
    source: 'text',
    trade_date: 'date',
    settlement_date: 'date',
    trade_time: 'time',
    price: 'numeric',
    price_low: 'numeric',
    price_high: 'numeric',
    yield_pct: 'numeric',
    yield_low_pct: 'numeric',
    yield_high_pct: 'numeric',
    face_amount: 'numeric',
    amount: 'numeric',
    trades_count: 'integer',
    as_of: 'boolean',
  },
});

export const rowTables: Readonly<Record<string, AsOfTable>> = {
  ...trade,
  ...tradeNames,
  trade_totals: tradeTotals,
  ...auctions,
  ...prices,
  newest_prices: newestPrices,
  securities,
  ...trades,
};
