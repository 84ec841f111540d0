// The constraints of schema data that securities, auctions and external trade have, as cases.
import { checksOf, currencies, isins, key, type TableCases } from './tables.ts';

const day = '2024-01-31';
const classifications = ['hs', 'sitc', 'bec', 'national_group'] as const;
const commodityCodes = {
  accepted: ['A', '0101', 'a.B_c-9', 'a'.repeat(20)],
  refused: ['', 'a b', 'a/b', 'é', 'a'.repeat(21)],
};
const updatedToday = { updated_on: 'current_date' };

function securities(): TableCases {
  const is = checksOf('securities');
  const row = {
    ...{ code: 'A', source_code: 'A', name: 'A', type: 'pib', currency: 'PKR', source: 'Tests' },
  };
  const isin = isins.accepted[0] as string;
  return {
    table: 'data.securities',
    row,
    defaults: { ...updatedToday, created_at: 'now()', former_names: [], former_codes: [] },
    cases: [
      key('securities_pkey', ['code'], row, { code: 'B' }),
      {
        constraint: 'securities_isin_key',
        existing: { isin },
        refused: [{ code: 'B', isin }],
        accepted: [{ code: 'B', isin: isins.accepted[1] as string }, { code: 'B' }],
      },
      ...is.pattern(
        'code',
        ['A', '9', 'A._+&-9', 'A'.repeat(64)],
        ['', 'a', '.A', '-A', 'A B', 'A/B', 'A'.repeat(65)],
      ),
      ...is.text(100, 'source_code', 'rating_agency', 'base_rate', 'listing'),
      ...is.pattern('isin', isins.accepted, isins.refused),
      ...is.text(300, 'name', 'issuer'),
      ...is.oneOf(
        'type',
        ...['tfc', 'sukuk', 'tbill', 'pib', 'gis', 'commercial_paper', 'corporate_bond', 'government_bond'],
      ),
      ...is.text(20, 'rating'),
      ...is.check(
        'check',
        [{ issue_date: '2024-02-01', maturity_date: day }],
        [{ issue_date: day, maturity_date: day }, { maturity_date: day }, { issue_date: day }],
      ),
      ...is.between(0, 200, 'tenor_years'),
      ...is.notNegative('issue_size'),
      ...is.pattern('currency', currencies.accepted, currencies.refused),
      ...is.positive('par'),
      ...is.oneOf('coupon_type', 'fixed', 'floating', 'zero'),
      ...is.between(-100, 1000, 'coupon_pct', 'floor_pct', 'cap_pct'),
      ...is.between(-100_000, 100_000, 'spread_bps'),
      ...is.text(40, 'coupon_frequency', 'day_count'),
      ...is.oneOf('status', 'active', 'matured', 'redeemed', 'defaulted', 'merged', 'suspended'),
      ...is.text(64, 'merged_into'),
      ...is.text(500, 'source'),
    ],
  };
}

function prices(): TableCases {
  const is = checksOf('security_prices');
  const row = { code: 'A', date: day };
  return {
    table: 'data.security_prices',
    row,
    defaults: updatedToday,
    cases: [
      key('security_prices_pkey', ['code', 'date'], row, { code: 'B', date: '2024-02-01' }),
      ...is.between(0, 1e6, 'price', 'dirty_price'),
      ...is.between(-1e6, 1e6, 'accrued', 'yield_pct', 'spread_bps'),
      ...is.between(-1000, 1000, 'modified_duration'),
      ...is.oneOf('method', 'trade', 'matrix', 'capped', 'quote'),
      ...is.check(
        'check',
        [{ valid_from: '2024-02-01', valid_to: day }],
        [{ valid_from: day, valid_to: day }, { valid_to: day }, { valid_from: day }],
      ),
      ...is.text(500, 'source'),
    ],
  };
}

function trades(): TableCases {
  const is = checksOf('security_trades');
  const row = { trade_id: '1', trade_date: day, code: 'A' };
  return {
    table: 'data.security_trades',
    row,
    defaults: updatedToday,
    cases: [
      key('security_trades_pkey', ['trade_id'], row, { trade_id: '2' }),
      ...is.text(64, 'trade_id', 'original_trade_id'),
      ...is.oneOf('side', 'buy', 'sell'),
      ...is.between(0, 1e6, 'price', 'price_low', 'price_high'),
      ...is.between(-1e6, 1e6, 'yield_pct', 'yield_low_pct', 'yield_high_pct'),
      ...is.notNegative('face_amount', 'amount'),
      ...is.pattern('currency', currencies.accepted, currencies.refused),
      ...is.wholeFrom(1, 'trades_count'),
      ...is.text(100, 'venue'),
      ...is.text(40, 'counterparty_type'),
      ...is.oneOf('status', 'new', 'corrected', 'cancelled', 'reversed'),
      ...is.text(500, 'source'),
    ],
  };
}

function auctions(): TableCases {
  const is = checksOf('auctions');
  const row = {
    ...{ auction_id: '1', instrument: 'mtb', tenor: '3M', auction_date: day, status: 'held' },
    ...{ currency: 'PKR', source: 'Tests' },
  };
  return {
    table: 'data.auctions',
    row,
    defaults: updatedToday,
    cases: [
      key('auctions_pkey', ['auction_id', 'instrument', 'tenor', 'auction_date'], row, {
        ...{ auction_id: '2', instrument: 'bill', tenor: '6M', auction_date: '2024-02-01' },
      }),
      ...is.text(64, 'auction_id', 'source_code'),
      ...is.oneOf(
        'instrument',
        ...['mtb', 'pib_fixed', 'pib_floating', 'gis_fixed', 'gis_variable', 'gis_discounted'],
        ...['bill', 'cmb', 'note', 'bond', 'tips', 'frn'],
      ),
      ...is.pattern(
        'tenor',
        ['1D', '13W', '3M', '9999Y', '9Y10M', '1Y2M3W4D'],
        ['', 'M', '3', '3m', '3Q', '10000D', ' 3M', '3M ', '10M9Y', '1Y1Y'],
      ),
      ...is.whole(1, 40_000, 'tenor_days'),
      ...is.pattern('isin', isins.accepted, isins.refused),
      ...is.oneOf('status', 'announced', 'held', 'rejected', 'cancelled'),
      ...is.oneOf('format', 'competitive', 'non_competitive'),
      ...is.pattern('currency', currencies.accepted, currencies.refused),
      ...is.notNegative('target_amount', 'maturing_amount', 'bids_received_face', 'bids_received_realized'),
      ...is.notNegative('accepted_competitive', 'accepted_non_competitive', 'accepted_total'),
      ...is.wholeFrom(0, 'bids_count', 'accepted_bids_count'),
      ...is.between(-1000, 1000, 'min_bid_yield_pct', 'max_bid_yield_pct', 'cutoff_yield_pct'),
      ...is.between(-1000, 1000, 'weighted_avg_yield_pct'),
      ...is.between(0, 1e6, 'cutoff_price', 'weighted_avg_price', 'bid_to_cover_published'),
      ...is.between(-1e5, 1e5, 'cutoff_margin_bps'),
      ...is.between(-100, 1000, 'coupon_pct'),
      ...is.text(500, 'source'),
    ],
  };
}

function trade(): TableCases {
  const is = checksOf('trade');
  const row = {
    ...{ reporter: 'PAK', flow: 'import', period: '2025-01', partner_code: 'CHN', classification: 'hs' },
    ...{ commodity_code: '0101', basis: 'customs', currency: 'USD', source: 'Tests' },
  };
  const other = {
    ...{ reporter: 'IND', flow: 'export', period: '2025-02', partner_code: 'USA', classification: 'sitc' },
    ...{ commodity_code: '0102', basis: 'bop', currency: 'PKR' },
  };
  return {
    table: 'data.trade',
    row,
    defaults: updatedToday,
    filled: ['trade_no'],
    generated: { is_aggregate: false, level: 4, frequency: 'M', date: '2025-01-31' },
    cases: [
      key('trade_pkey', ['trade_no'], { trade_no: '1000' }, { ...other, trade_no: '1001' }),
      key('trade_commodity_code_partner_code_period_flow_reporter_basi_key', Object.keys(other), row, other),
      ...is.pattern('reporter', ['PAK'], ['', 'pak', 'PA', 'PAKI', 'P4K']),
      ...is.oneOf('flow', 'import', 'export', 're_export'),
      ...is.pattern(
        'period',
        ['2025', '2025-01', '2025-09', '2025-10', '2025-12'],
        ['+202', '202501', '2025/01', '2025-001', '2025-01-01'], // others have no date: the column `date` refuses them
      ),
      ...is.pattern('partner_code', ['A', 'WLD', 'A_9-B', 'A'.repeat(16)], ['', 'a', 'A B', 'A'.repeat(17)]),
      ...is.text(200, 'partner_name'),
      ...is.oneOf('classification', ...classifications),
      ...is.text(40, 'classification_version', 'quantity_unit'),
      ...is.pattern('commodity_code', commodityCodes.accepted, commodityCodes.refused),
      ...is.text(1000, 'commodity_name'),
      ...is.oneOf('basis', 'customs', 'bop'),
      ...is.pattern('currency', currencies.accepted, currencies.refused),
      ...is.oneOf('valuation', 'cif', 'fob'),
      ...is.finite('value', 'cif_value', 'fob_value'),
      ...is.notNegative('quantity', 'net_weight_kg'),
      ...is.oneOf('status', 'provisional', 'revised', 'final'),
      ...is.text(500, 'source'),
    ],
  };
}

function tradeRest(): TableCases[] {
  const is = checksOf('trade_commodities');
  const row = { classification: 'hs', commodity_code: '0101', name: 'Horses', source: 'Tests' };
  const total = {
    ...{ reporter: 'PAK', flow: 'import', classification: 'hs', basis: 'customs' },
    ...{ currency: 'USD', period: '2025-01' },
  };
  return [
    {
      table: 'data.trade_commodities',
      row,
      defaults: updatedToday,
      cases: [
        key('trade_commodities_pkey', ['classification', 'commodity_code'], row, {
          ...{ classification: 'sitc', commodity_code: '0102' },
        }),
        ...is.oneOf('classification', ...classifications),
        ...is.pattern('commodity_code', commodityCodes.accepted, commodityCodes.refused),
        ...is.text(1000, 'name'),
        ...is.text(500, 'source'),
      ],
    },
    {
      table: 'data.trade_totals',
      row: total,
      cases: [
        key('trade_totals_pkey', Object.keys(total), total, {
          ...{ reporter: 'IND', flow: 'export', classification: 'sitc', basis: 'bop' },
          ...{ currency: 'PKR', period: '2025-02' },
        }),
      ],
    },
  ];
}

export const marketTables: readonly TableCases[] = [
  securities(),
  prices(),
  trades(),
  auctions(),
  trade(),
  ...tradeRest(),
];
