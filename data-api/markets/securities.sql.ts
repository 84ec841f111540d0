// The statements for debt securities: the lists of securities, prices and trades, and the lookup of a security. Every filter of trades has
// an index. The tables are in migrations/000020_securities.sql.
import { z } from 'zod';
import type { Queryable } from '../../kernel/database.ts';
import { securityCode, securityStatuses, securityTypes } from '../../domain/markets.ts';
import { boolean, bounded, date, filled, json, number, sorted, text, word } from '../list-fields.ts';
import { Conditions, escapeLike, type List, type Window } from '../list.sql.ts';

export const securitiesList: List = {
  name: 'securities',
  datasets: ['securities', 'security-prices'],
  from: 'data.securities s',
  fields: {
    code: sorted(filled(text('s.code'))),
    source_code: filled(text('s.source_code')),
    isin: text('s.isin'),
    name: sorted(filled(text('s.name'))),
    issuer: sorted(text('s.issuer')),
    type: filled(word('s.type', securityTypes)),
    government_guaranteed: boolean('s.government_guaranteed'),
    shariah_compliant: boolean('s.shariah_compliant'),
    secured: boolean('s.secured'),
    rating: text('s.rating'),
    rating_agency: text('s.rating_agency'),
    rating_date: date('s.rating_date'),
    issue_date: sorted(date('s.issue_date')),
    maturity_date: sorted(date('s.maturity_date')),
    tenor_years: number(
      'coalesce(s.tenor_years, round((s.maturity_date - s.issue_date) / 365.25, 2)::numeric)',
    ),
    issue_size: sorted(number('s.issue_size')),
    currency: filled(text('s.currency')),
    par: number('s.par'),
    coupon_type: text('s.coupon_type'),
    coupon_pct: sorted(number('s.coupon_pct')),
    base_rate: text('s.base_rate'),
    spread_bps: number('s.spread_bps'),
    floor_pct: number('s.floor_pct'),
    cap_pct: number('s.cap_pct'),
    coupon_frequency: text('s.coupon_frequency'),
    day_count: text('s.day_count'),
    amortising: boolean('s.amortising'),
    callable: boolean('s.callable'),
    puttable: boolean('s.puttable'),
    listing: text('s.listing'),
    status: word('s.status', securityStatuses),
    last_price: number('s.last_price'),
    last_yield_pct: sorted(number('s.last_yield_pct')),
    last_price_date: sorted(date('s.last_price_date')),
    traded: boolean('s.last_traded'),
    merged_into: text('s.merged_into'),
    former_names: filled(json('s.former_names', z.array(z.string()))),
    former_codes: filled(json('s.former_codes', z.array(z.string()))),
    as_of: date('s.last_price_date'),
    source: filled(text('s.source')),
    last_updated: filled(date('s.updated_on')),
  },
  key: ['code'],
  id: 'code',
  sort: 'code',
};

interface SecurityFilter {
  type?: readonly string[] | undefined;
  /** Part of the issuer's name, case-insensitive. */
  issuer?: readonly string[] | undefined;
  /** This rating or a better one; securities that are unrated or not on the long-term scale are excluded. */
  rating_min?: string | undefined;
  maturity: Window;
  shariah?: boolean | undefined;
  /** Whether the newest price is from trades. */
  traded?: boolean | undefined;
  status?: readonly string[] | undefined;
  currency?: readonly string[] | undefined;
}

export function securitiesWhere(filter: SecurityFilter): Conditions {
  const containing = filter.issuer?.map((part) => `%${escapeLike(part)}%`);
  return new Conditions()
    .isOneOf(filter.type, 's.type')
    .any(containing, (p) => `s.issuer ilike ${p}`)
    .and(filter.rating_min, (p) => `data.rating_rank(s.rating) <= data.rating_rank(${p})`)
    .during(filter.maturity, 's.maturity_date')
    .and(filter.shariah, (p) => `s.shariah_compliant = ${p}`)
    .and(filter.traded, (p) => `s.last_traded = ${p}`)
    .isOneOf(filter.status, 's.status')
    .equals('currency', filter.currency, 's.currency');
}

/**
 * The code of the security with a name: its code, with slashes or hyphens (case-insensitive), its ISIN, or a
 * former code. A current code takes precedence over another security's former code.
 */
export async function findSecurityCode(database: Queryable, name: string): Promise<string | undefined> {
  const [row] = await database.query<{ code: string }>(
    `select code from data.securities s
     where code = $1 or isin = $1 or s.former_codes @> array[$1] and s.former_codes <> '{}'
     order by code = $1 desc, isin = $1 desc nulls last, code limit 1`,
    [securityCode(name)],
    'find_security_code',
  );
  return row?.code;
}

/** Codes spelled similarly, for a hint. */
export async function findSecurityCodesNear(database: Queryable, name: string): Promise<string[]> {
  const rows = await database.query<{ code: string }>(
    `(select code from data.securities where code >= $1 order by code limit 5)
     union (select code from data.securities where code < $1 order by code desc limit 5)`,
    [securityCode(name)],
  );
  return rows.map(({ code }) => code);
}

/** `p` is a price, `s` its security. */
export const securityPricesList: List = {
  name: 'security-prices',
  datasets: ['security-prices', 'securities'],
  from: 'data.security_prices p join data.securities s using (code)',
  fields: {
    date: sorted(filled(date('p.date'))),
    code: filled(text('p.code')),
    price: number('p.price'),
    dirty_price: number('p.dirty_price'),
    accrued: number('coalesce(p.accrued, p.dirty_price - p.price)'),
    yield_pct: number('p.yield_pct'),
    modified_duration: number('p.modified_duration'),
    spread_bps: number('p.spread_bps'),
    traded: boolean('p.traded'),
    method: text('p.method'),
    valid_from: date('p.valid_from'),
    valid_to: date('p.valid_to'),
    currency: filled(text('s.currency')),
    as_of: filled(date('p.date')),
    source: filled(text('coalesce(p.source, s.source)')),
    last_updated: filled(date('p.updated_on')),
  },
  key: ['date'],
  sort: 'date',
};

const ofSecurity = (column: string) => `(select s.${column} from data.securities s where s.code = t.code)`;

export const securityTradesList: List = {
  name: 'security-trades',
  datasets: ['security-trades', 'securities'],
  from: 'data.security_trades t',
  fields: {
    trade_id: filled(text('t.trade_id')),
    trade_date: sorted(filled(date('t.trade_date'))),
    trade_time: text('t.trade_time'),
    settlement_date: date('t.settlement_date'),
    code: filled(text('t.code')),
    isin: text(ofSecurity('isin')),
    type: text(ofSecurity('type')),
    side: text('t.side'),
    price: number('t.price'),
    price_low: number('t.price_low'),
    price_high: number('t.price_high'),
    yield_pct: number('t.yield_pct'),
    yield_low_pct: number('t.yield_low_pct'),
    yield_high_pct: number('t.yield_high_pct'),
    face_amount: number('t.face_amount'),
    amount: bounded(number('t.amount')),
    currency: text(`coalesce(t.currency, ${ofSecurity('currency')})`),
    trades_count: number('t.trades_count'),
    venue: text('t.venue'),
    counterparty_type: text('t.counterparty_type'),
    status: text('t.status'),
    original_trade_id: text('t.original_trade_id'),
    as_of: boolean('t.as_of'),
    source: text(`coalesce(t.source, ${ofSecurity('source')})`),
    last_updated: filled(date('t.updated_on')),
  },
  key: ['trade_id'],
  id: 'trade_id',
  sort: '-trade_date',
};

interface TradeFilter extends Window {
  code: readonly string[] | undefined;
  /** The type of the security. */
  type?: readonly string[] | undefined;
  venue?: readonly string[] | undefined;
  /** The minimum amount paid. */
  min_amount?: string | undefined;
}

export function securityTradesWhere(filter: TradeFilter): Conditions {
  return new Conditions()
    .equals('code', filter.code, 't.code')
    .during(filter, 't.trade_date')
    .any(filter.type, (p) => `t.code in (select s.code from data.securities s where s.type = ${p})`)
    .equals('venue', filter.venue, 't.venue')
    .and(filter.min_amount, (p) => `t.amount >= ${p}`);
}
