// The list of auctions, with changes from the previous one. Its table is in migrations/000021_auctions.sql.
import { auctionFormats, auctionInstruments, auctionStatuses } from '../../domain/markets.ts';
import { boolean, date, filled, number, sorted, text, word } from '../list-fields.ts';
import { Conditions, type List, type Window } from '../list.sql.ts';

/** The cut-off of the last earlier auction that had one, of the same source, instrument and tenor. */
const previousCutoff = `(select b.cutoff_yield_pct from data.auctions b
  where (b.source, b.instrument, b.tenor) = (a.source, a.instrument, a.tenor) and b.auction_date < a.auction_date
    and b.cutoff_yield_pct is not null
  order by b.auction_date desc, b.cutoff_yield_pct limit 1)`;

export const auctionsList: List = {
  name: 'auctions',
  datasets: ['auctions'],
  from: 'data.auctions a',
  fields: {
    auction_id: filled(text('a.auction_id')),
    instrument: filled(word('a.instrument', auctionInstruments)),
    tenor: filled(text('a.tenor')),
    tenor_days: number('coalesce(a.tenor_days, nullif(greatest(a.maturity_date - a.settlement_date, 0), 0))'),
    isin: text('a.isin'),
    source_code: text('a.source_code'),
    reopening: boolean('a.reopening'),
    announce_date: date('a.announce_date'),
    auction_date: sorted(filled(date('a.auction_date'))),
    settlement_date: date('a.settlement_date'),
    maturity_date: date('a.maturity_date'),
    status: filled(word('a.status', auctionStatuses)),
    format: word('a.format', auctionFormats),
    currency: filled(text('a.currency')),
    target_amount: number('a.target_amount'),
    maturing_amount: number('a.maturing_amount'),
    bids_received_face: number('a.bids_received_face'),
    bids_received_realized: number('a.bids_received_realized'),
    bids_count: number('a.bids_count'),
    accepted_competitive: number('a.accepted_competitive'),
    accepted_non_competitive: number('a.accepted_non_competitive'),
    accepted_total: sorted(
      number('coalesce(a.accepted_total, a.accepted_competitive + a.accepted_non_competitive)'),
    ),
    accepted_bids_count: number('a.accepted_bids_count'),
    min_bid_yield_pct: number('a.min_bid_yield_pct'),
    max_bid_yield_pct: number('a.max_bid_yield_pct'),
    cutoff_yield_pct: sorted(number('a.cutoff_yield_pct')),
    cutoff_price: number('a.cutoff_price'),
    cutoff_margin_bps: number('a.cutoff_margin_bps'),
    weighted_avg_yield_pct: number('a.weighted_avg_yield_pct'),
    weighted_avg_price: number('a.weighted_avg_price'),
    coupon_pct: number('a.coupon_pct'),
    bid_to_cover: number('trim_scale(round(a.bids_received_face / nullif(a.accepted_competitive, 0), 6))'),
    bid_to_cover_published: number('a.bid_to_cover_published'),
    acceptance_ratio_pct: number('data.percent_of(a.accepted_competitive, a.bids_received_face)'),
    previous_cutoff_yield_pct: number(previousCutoff),
    change_bps: number(`trim_scale(100 * (a.cutoff_yield_pct - ${previousCutoff}))`),
    as_of: date(`case when a.status = 'announced' then a.announce_date else a.auction_date end`),
    source: filled(text('a.source')),
    last_updated: filled(date('a.updated_on')),
  },
  key: ['auction_date', 'auction_id', 'instrument', 'tenor'],
  id: 'auction_id',
  sort: '-auction_date',
};

/** The window is of the day of the auction. */
interface AuctionFilter extends Window {
  instrument?: readonly string[] | undefined;
  tenor?: readonly string[] | undefined;
  status?: readonly string[] | undefined;
  format?: readonly string[] | undefined;
}

export function auctionsWhere(filter: AuctionFilter): Conditions {
  return new Conditions()
    .isOneOf(filter.instrument, 'a.instrument')
    .isOneOf(filter.tenor, 'a.tenor')
    .during(filter, 'a.auction_date')
    .isOneOf(filter.status, 'a.status')
    .isOneOf(filter.format, 'a.format');
}
