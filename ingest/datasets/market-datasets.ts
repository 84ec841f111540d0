// The datasets of debt securities, their prices and trades, auctions of debt, and external trade, for the table of datasets.
import {
  auctionFormats,
  auctionInstruments,
  auctionStatuses,
  securityStatuses,
  securityTypes,
  tradeBases,
  tradeClassifications,
  tradeFlows,
} from '../../domain/markets.ts';
import type { Column } from '../cells/cells.ts';
import { amount, amountMax, column, day, flag, rate, required, text, word } from './column-types.ts';
import type { Dataset, Reference } from './dataset.ts';

const price = (name: string, meaning: string) => column(name, 'number', meaning, { range: [0, 1e6] });
const count = (name: string, meaning: string) => column(name, 'integer', meaning, { range: [0, 2e9] });
/** In percent; close to maturity a yield may have any value. */
const signedNumber = (name: string, meaning: string) =>
  column(name, 'number', meaning, { range: [-1e6, 1e6] });
const source = text('source', 500, 'who publishes it; default: that of the security');

/** A security by its code, its ISIN, or a former code that no other one has. */
const aSecurity: Reference = {
  column: 'code',
  table: 'data.securities',
  key: 'code',
  alsoBy: (name) => `(k.isin = ${name} or k.former_codes @> array[${name}] and not exists (
    select from data.securities o where o.code <> k.code and (o.isin = ${name} or o.former_codes @> array[${name}])))`,
  expected: 'the code or the ISIN of a security that exists (dataset securities)',
};

const securityColumns: readonly Column[] = [
  required('code', 'security_code', 'id, as its source writes it; slashes and blanks are stored as hyphens', {
    reserved: ['TRADES'],
  }),
  column('source_code', 'text', 'the code as its source writes it; default: code', {
    lengthMax: 100,
    copyOf: 'code',
  }),
  column('isin', 'isin', 'ISO 6166'),
  required('name', 'text', 'title', { lengthMax: 300 }),
  text('issuer', 300, 'who owes it'),
  required('type', 'word', 'kind', { words: securityTypes }),
  flag('government_guaranteed', 'whether a government guarantees it'),
  flag('shariah_compliant', 'whether it is'),
  flag('secured', 'whether secured by collateral'),
  text('rating', 20, 'on the scale AAA to D'),
  text('rating_agency', 100, 'who rated it'),
  day('rating_date', 'when'),
  day('issue_date', 'when it was issued'),
  day('maturity_date', 'when it is repaid'),
  column('tenor_years', 'number', 'default: computed from its dates', { range: [0, 200] }),
  amount('issue_size', 'in the currency'),
  required('currency', 'currency', 'ISO 4217'),
  column('par', 'number', 'face amount of one', { range: [1e-6, 1e12] }),
  word('coupon_type', ['fixed', 'floating', 'zero'], 'kind of coupon'),
  rate('coupon_pct', 'coupon rate per year; for a floating-rate security, the current rate'),
  text('base_rate', 100, 'for a floating-rate security, such as 6M KIBOR'),
  column('spread_bps', 'number', 'over the base rate', { range: [-100_000, 100_000] }),
  rate('floor_pct', 'lowest coupon rate'),
  rate('cap_pct', 'highest coupon rate'),
  text('coupon_frequency', 40, 'such as semiannual'),
  text('day_count', 40, 'such as actual/365'),
  flag('amortising', 'whether it is repaid in parts'),
  flag('callable', 'whether the issuer may repay it early'),
  flag('puttable', 'whether the holder may demand early repayment'),
  text('listing', 100, 'where it is listed'),
  word('status', securityStatuses, 'what became of it'),
  column('merged_into', 'security_code', 'the code of its successor'),
  column('former_names', 'list', 'earlier names, separated by ;'),
  column(
    'former_codes',
    'list',
    'earlier codes with hyphens for slashes, separated by ;; lookups also find it under these',
  ),
  required('source', 'text', 'who publishes it', { lengthMax: 500 }),
];

const securities: Dataset = {
  name: 'securities',
  meaning: 'Debt securities. A new code creates a security; an existing code updates it.',
  kind: 'table',
  target: 'data.securities',
  key: ['code'],
  recordsFormerRows: true,
  columns: securityColumns,
  unique: ['isin'],
  references: [
    {
      column: 'merged_into',
      table: 'data.securities',
      key: 'code',
      expected: 'the code of a security that exists or is in the file',
    },
  ],
  rules: [
    {
      columns: ['maturity_date', 'issue_date'],
      holds: 't.maturity_date >= t.issue_date',
      expected: 'a day not before issue_date',
    },
  ],
};

const securityPrices: Dataset = {
  name: 'security-prices',
  meaning: 'Prices of securities: one row per security and day.',
  kind: 'table',
  target: 'data.security_prices',
  retractable: true,
  key: ['code', 'date'],
  references: [aSecurity],
  rules: [
    {
      columns: ['valid_to', 'valid_from'],
      holds: 't.valid_to >= t.valid_from',
      expected: 'a day not before valid_from',
    },
  ],
  columns: [
    required('code', 'security_code', 'the security, by its code or ISIN'),
    required('date', 'date', 'day of the price', { hasHappened: true }),
    price('price', 'per 100 of par, clean'),
    price('dirty_price', 'per 100 of par, with accrued interest'),
    signedNumber('accrued', 'accrued interest, per 100 of par'),
    signedNumber('yield_pct', 'to maturity'),
    column('modified_duration', 'number', 'years', { range: [-1_000, 1_000] }),
    signedNumber('spread_bps', 'over the benchmark'),
    flag('traded', 'whether it is based on trades'),
    word('method', ['trade', 'matrix', 'capped', 'quote'], 'how the price was determined'),
    day('valid_from', 'first day on which it is valid'),
    day('valid_to', 'last day on which it is valid'),
    source,
  ],
};

const securityTrades: Dataset = {
  name: 'security-trades',
  meaning: 'Trades of securities: one row per trade, or per security and day (trades_count).',
  kind: 'table',
  target: 'data.security_trades',
  retractable: true,
  key: ['trade_id'],
  references: [aSecurity],
  columns: [
    required('trade_id', 'text', 'id, kept when the trade is corrected', { lengthMax: 64 }),
    required('trade_date', 'date', 'day of the trade', { hasHappened: true }),
    column('trade_time', 'time', "in the venue's own time"),
    day('settlement_date', 'when it was settled'),
    required('code', 'security_code', 'the security, by its code or ISIN'),
    word('side', ['buy', 'sell'], 'of the reporting party'),
    price('price', 'per 100 of par; for several trades, the average'),
    price('price_low', 'for several trades, the lowest'),
    price('price_high', 'for several trades, the highest'),
    signedNumber('yield_pct', 'to maturity'),
    signedNumber('yield_low_pct', 'for several trades, the lowest'),
    signedNumber('yield_high_pct', 'for several trades, the highest'),
    amount('face_amount', 'face value that changed hands'),
    amount('amount', 'what was paid for it'),
    column('currency', 'currency', 'default: that of the security'),
    column('trades_count', 'integer', 'number of trades that the row combines', { range: [1, 2e9] }),
    text('venue', 100, 'where'),
    text('counterparty_type', 40, 'such as dealer or customer'),
    word('status', ['new', 'corrected', 'cancelled', 'reversed'], 'of the report'),
    text('original_trade_id', 64, 'what it corrects'),
    flag('as_of', 'whether it was reported on a later day'),
    source,
  ],
};

/** An ISIN of the United States has the CUSIP within it. */
const isCusipOf = (isin: string, cusip: string) => `${isin} like 'US%' and substr(${isin}, 3, 9) = ${cusip}`;

const auctions: Dataset = {
  name: 'auctions',
  meaning: 'Auctions of debt: one row per instrument, tenor and day, from the announcement on.',
  kind: 'table',
  target: 'data.auctions',
  retractable: true,
  key: ['auction_id', 'instrument', 'tenor', 'auction_date'],
  identity: {
    within: 'auction_date',
    by: [
      { given: 'isin', stored: 'isin', same: (given, stored) => `${given} = ${stored}` },
      { given: 'source_code', stored: 'source_code', same: (given, stored) => `${given} = ${stored}` },
      { given: 'isin', stored: 'source_code', same: isCusipOf },
      { given: 'source_code', stored: 'isin', same: (cusip, isin) => isCusipOf(isin, cusip) },
    ],
  },
  columns: [
    required('auction_id', 'text', 'id; a security that is auctioned again may keep it', { lengthMax: 64 }),
    required('instrument', 'word', 'what is sold', { words: auctionInstruments }),
    required('tenor', 'tenor', 'how long it runs'),
    required('auction_date', 'date', 'when it is held'),
    column('tenor_days', 'integer', 'days from settlement to maturity; default: computed from these dates', {
      range: [1, 40_000],
    }),
    column('isin', 'isin', 'of the security'),
    text('source_code', 64, 'of the security, such as a CUSIP'),
    flag('reopening', 'whether the security was sold before'),
    day('announce_date', 'when it was announced'),
    day('settlement_date', 'when it is paid for'),
    day('maturity_date', 'when the security is repaid'),
    required('status', 'word', 'state of the auction', { words: auctionStatuses }),
    word('format', auctionFormats, 'auction format'),
    required('currency', 'currency', 'of the amounts'),
    amount('target_amount', 'offered'),
    amount('maturing_amount', 'debt that matures'),
    amount('bids_received_face', 'competitive bids, face value'),
    amount('bids_received_realized', 'competitive bids, at their prices'),
    count('bids_count', 'competitive bids'),
    amount('accepted_competitive', 'face value'),
    amount('accepted_non_competitive', 'face value'),
    amount('accepted_total', 'face value'),
    count('accepted_bids_count', 'of the competitive ones'),
    rate('min_bid_yield_pct', 'lowest yield bid'),
    rate('max_bid_yield_pct', 'highest yield bid'),
    rate('cutoff_yield_pct', 'highest yield accepted'),
    price('cutoff_price', 'lowest price accepted, per 100 of par'),
    column('cutoff_margin_bps', 'number', 'for a floating-rate security: highest margin accepted', {
      range: [-1e5, 1e5],
    }),
    rate('weighted_avg_yield_pct', 'of what was accepted'),
    price('weighted_avg_price', 'of what was accepted, per 100 of par'),
    rate('coupon_pct', 'of the security'),
    column('bid_to_cover_published', 'number', "by the publisher's own formula", { range: [0, 1e6] }),
    required('source', 'text', 'who holds the auction', { lengthMax: 500 }),
  ],
};

const trade: Dataset = {
  name: 'trade',
  meaning: 'External trade by flow, partner and commodity; a revised row replaces the earlier one.',
  kind: 'table',
  target: 'data.trade',
  retractable: true,
  key: [
    'commodity_code',
    'partner_code',
    'period',
    'flow',
    'reporter',
    'basis',
    'currency',
    'classification',
  ],
  columns: [
    required('reporter', 'country', 'whose trade it is'),
    required('flow', 'word', 'exports include re-exports', { words: tradeFlows }),
    required('period', 'month_or_year', 'month or year', { hasHappened: true }),
    required('partner_code', 'partner', 'the other country'),
    text('partner_name', 200, 'its name'),
    required('classification', 'word', 'of the commodities', { words: tradeClassifications }),
    text('classification_version', 40, 'such as HS 2022'),
    required('commodity_code', 'commodity_code', 'with its leading zeros; TOTAL is all'),
    text('commodity_name', 1_000, 'its name'),
    required('basis', 'word', 'customs records or balance of payments', { words: tradeBases }),
    required('currency', 'currency', 'of the values'),
    word('valuation', ['cif', 'fob'], 'of value'),
    column('value', 'number', 'in base units', { range: [-amountMax, amountMax] }),
    column('cif_value', 'number', 'with insurance and freight', { range: [-amountMax, amountMax] }),
    column('fob_value', 'number', 'free on board', { range: [-amountMax, amountMax] }),
    amount('quantity', 'in quantity_unit'),
    text('quantity_unit', 40, 'such as KGM or NMB'),
    flag('quantity_estimated', 'whether the publisher estimated it'),
    amount('net_weight_kg', 'kilograms'),
    word('status', ['provisional', 'revised', 'final'], 'state of revision'),
    required('source', 'text', 'who publishes it', { lengthMax: 500 }),
  ],
};

const tradeCommodities: Dataset = {
  name: 'trade-commodities',
  meaning: 'Names of commodities by classification, for rows and sums of trade without a name.',
  kind: 'table',
  target: 'data.trade_commodities',
  retractable: true,
  key: ['classification', 'commodity_code'],
  columns: [
    required('classification', 'word', 'of the commodities', { words: tradeClassifications }),
    required('commodity_code', 'commodity_code', 'with its leading zeros; TOTAL is all'),
    required('name', 'text', 'its name', { lengthMax: 1_000 }),
    required('source', 'text', 'who publishes it', { lengthMax: 500 }),
  ],
};

export const marketDatasets: readonly Dataset[] = [
  securities,
  securityPrices,
  securityTrades,
  auctions,
  trade,
  tradeCommodities,
];
