// The list endpoints, and an independent implementation of each of their filters on the rows as sent.
import { amcsList } from '../../data-api/funds/amcs.sql.ts';
import { auctionsList } from '../../data-api/markets/auctions.sql.ts';
import { cityList, itemList } from '../../data-api/commodities/commodities.sql.ts';
import { catalogList } from '../../data-api/discovery/discovery.sql.ts';
import { expensesList, navList, payoutsList } from '../../data-api/funds/fund-records.sql.ts';
import { fundsList, screeners } from '../../data-api/funds/funds.sql.ts';
import type { List } from '../../data-api/list.sql.ts';
import {
  securitiesList,
  securityPricesList,
  securityTradesList,
} from '../../data-api/markets/securities.sql.ts';
import { tradeList } from '../../data-api/markets/trade.sql.ts';
import { ratings } from '../../domain/markets.ts';

export type Row = Record<string, unknown>;

/** The text of a cell; empty if it has none. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Whether a row passes the parameter with that value. */
type Passes = (row: Row, value: string) => boolean;

const is =
  (field: string): Passes =>
  (row, value) =>
    row[field] === value;
const isWord =
  (field: string): Passes =>
  (row, value) =>
    row[field] === value.toUpperCase();
const isTrue =
  (field: string): Passes =>
  (row, value) =>
    row[field] === (value === 'true');
const matches =
  (...fields: string[]): Passes =>
  (row, value) =>
    fields.some((field) => textOf(row[field]).toLowerCase().includes(value.toLowerCase()));
/** Compares the day of the field with the first day of a period, or with its last. */
const since =
  (field: string): Passes =>
  (row, value) =>
    row[field] !== null && textOf(row[field]) >= firstDay(value);
const until =
  (field: string): Passes =>
  (row, value) =>
    row[field] !== null && textOf(row[field]) <= lastDay(value);
const within =
  (field: string): Passes =>
  (row, value) =>
    since(field)(row, value) && until(field)(row, value);
export const isBelow =
  (field: string): Passes =>
  (row, value) =>
    row[field] === value || textOf(row[field]).startsWith(`${value}/`);
/** Rated at least as well (sign 1), or at most as well (sign -1); unrated rows pass neither. */
const rated =
  (sign: 1 | -1): Passes =>
  ({ rating }, value) => {
    const rank = ratings.findIndex((each) => each === textOf(rating).replace(/\(.*/, ''));
    return rank >= 0 && (ratings.findIndex((each) => each === value) - rank) * sign >= 0;
  };
const atLeast =
  (field: string): Passes =>
  (row, value) =>
    row[field] !== null && Number(row[field]) >= Number(value);
const atMost =
  (field: string): Passes =>
  (row, value) =>
    row[field] !== null && Number(row[field]) <= Number(value);

const quarterEnds: Readonly<Record<string, string>> = { Q1: '03-31', Q2: '06-30', Q3: '09-30', Q4: '12-31' };
const firstDay = (period: string): string =>
  period.includes('Q') ? `${period.slice(0, 4)}-01-01` : `${period}-01-01`.slice(0, 10);
function lastDay(period: string): string {
  if (/^\d{4}$/.test(period)) return `${period}-12-31`;
  if (period.includes('Q')) return `${period.slice(0, 5)}${quarterEnds[period.slice(5)]}`;
  if (period.length === 10) return period;
  return new Date(Date.UTC(Number(period.slice(0, 4)), Number(period.slice(5)), 0))
    .toISOString()
    .slice(0, 10);
}

/** The figures of the screener: the numbers that it can be ordered by. */
export const screenedFigureNames = Object.entries(screeners.by_length.fields).flatMap(
  ([name, { kind, isSorted }]) => (kind === 'number' && isSorted === true ? [name] : []),
);

const fundFilters: Record<string, Passes> = {
  amc: is('amc_id'),
  category: is('category'),
  asset_class: is('asset_class'),
  shariah: isTrue('shariah_compliant'),
  structure: is('structure'),
  risk_profile: is('risk_profile'),
  status: is('status'),
  currency: isWord('currency'),
};

/** The list endpoints and the meaning of each of their filters. */
export const lists: readonly { path: string; list: List; filters: Record<string, Passes> }[] = [
  { path: '/v1/commodities/items', list: itemList, filters: { category: is('category') } },
  { path: '/v1/commodities/cities', list: cityList, filters: { province: is('province') } },
  { path: '/v1/amcs', list: amcsList, filters: { q: matches('id', 'name', 'short_name') } },
  {
    path: '/v1/funds',
    list: fundsList,
    filters: { ...fundFilters, q: matches('id', 'name', 'short_name', 'symbol') },
  },
  {
    path: '/v1/funds/screener',
    list: screeners.by_length,
    filters: {
      ...fundFilters,
      rating_min: rated(1),
      rating_max: rated(-1),
      as_of_min: since('as_of'),
      as_of_max: until('as_of'),
      ...Object.fromEntries(
        screenedFigureNames.flatMap((name) => [
          [`${name}_min`, atLeast(name)],
          [`${name}_max`, atMost(name)],
        ]),
      ),
    },
  },
  { path: '/v1/funds/share/nav', list: navList, filters: { from: since('date'), to: until('date') } },
  {
    path: '/v1/funds/cash/payouts',
    list: payoutsList,
    filters: { from: since('ex_date'), to: until('ex_date'), type: is('type') },
  },
  {
    path: '/v1/funds/cash/expenses',
    list: expensesList,
    filters: { from: since('period_end'), to: until('period_end'), period_type: is('period_type') },
  },
  {
    path: '/v1/securities',
    list: securitiesList,
    filters: {
      type: is('type'),
      issuer: matches('issuer'),
      rating_min: rated(1),
      maturity_from: since('maturity_date'),
      maturity_to: until('maturity_date'),
      shariah: isTrue('shariah_compliant'),
      traded: isTrue('traded'),
      status: is('status'),
      currency: isWord('currency'),
    },
  },
  {
    path: '/v1/securities/trades',
    list: securityTradesList,
    filters: {
      code: is('code'),
      from: since('trade_date'),
      to: until('trade_date'),
      type: is('type'),
      venue: is('venue'),
      min_amount: atLeast('amount'),
    },
  },
  {
    path: '/v1/securities/TFC-1/prices',
    list: securityPricesList,
    filters: { from: since('date'), to: until('date') },
  },
  {
    path: '/v1/fixed-income/auctions',
    list: auctionsList,
    filters: {
      instrument: is('instrument'),
      tenor: is('tenor'),
      from: since('auction_date'),
      to: until('auction_date'),
      status: is('status'),
      bidding: is('format'),
    },
  },
  {
    path: '/v1/trade',
    list: tradeList,
    filters: {
      flow: is('flow'),
      period: within('date'),
      from: since('date'),
      to: until('date'),
      frequency: is('frequency'),
      reporter: isWord('reporter'),
      partner: (row, value) => row['partner_code'] === (value === 'world' ? 'WLD' : value),
      commodity: is('commodity_code'),
      classification: is('classification'),
      level: (row, value) => row['level'] === Number(value),
      basis: is('basis'),
      currency: isWord('currency'),
    },
  },
  {
    path: '/v1/catalog',
    list: catalogList,
    filters: {
      category: isBelow('category'),
      source: is('source'),
      frequency: is('frequency'),
      geography: is('geography'),
      tag: (row, value) => (row['tags'] as string[]).includes(value),
    },
  },
];
