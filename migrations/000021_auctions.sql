-- Auctions of debt: one row an instrument, a tenor and a day. A security that is auctioned again keeps its auction_id,
-- so the id alone is no key. Rows exist from the announcement on; what is not known yet is null.
create table data.auctions (
  auction_id   text not null check (length(auction_id) between 1 and 64),
  instrument   text not null check (instrument in ('mtb', 'pib_fixed', 'pib_floating', 'gis_fixed', 'gis_variable',
               'gis_discounted', 'bill', 'cmb', 'note', 'bond', 'tips', 'frn')),
  tenor        text not null check (tenor ~ '^[0-9]{1,4}[DWMY]$'),               -- 13W, 3M, 10Y
  auction_date date not null,
  tenor_days   integer check (tenor_days between 1 and 40000),
  isin         text check (isin ~ '^[A-Z]{2}[A-Z0-9]{9}[0-9]$'),
  source_code  text check (length(source_code) between 1 and 64),                -- of the security, such as a CUSIP
  reopening    boolean,
  announce_date   date,
  settlement_date date,
  maturity_date   date,
  status       text not null check (status in ('announced', 'held', 'rejected', 'cancelled')),
  format       text check (format in ('competitive', 'non_competitive')),
  currency     text not null check (currency ~ '^[A-Z]{3}$'),
  target_amount   numeric check (target_amount >= 0 and target_amount < 'infinity'),
  maturing_amount numeric check (maturing_amount >= 0 and maturing_amount < 'infinity'),
  bids_received_face     numeric check (bids_received_face >= 0 and bids_received_face < 'infinity'),  -- competitive
  bids_received_realized numeric check (bids_received_realized >= 0 and bids_received_realized < 'infinity'),
  bids_count   integer check (bids_count >= 0),
  accepted_competitive     numeric check (accepted_competitive >= 0 and accepted_competitive < 'infinity'),
  accepted_non_competitive numeric check (accepted_non_competitive >= 0 and accepted_non_competitive < 'infinity'),
  accepted_total           numeric check (accepted_total >= 0 and accepted_total < 'infinity'),
  accepted_bids_count integer check (accepted_bids_count >= 0),
  min_bid_yield_pct numeric check (min_bid_yield_pct between -1000 and 1000),
  max_bid_yield_pct numeric check (max_bid_yield_pct between -1000 and 1000),
  cutoff_yield_pct  numeric check (cutoff_yield_pct between -1000 and 1000),
  cutoff_price      numeric check (cutoff_price between 0 and 1e6),              -- per 100 of par
  cutoff_margin_bps numeric check (cutoff_margin_bps between -1e5 and 1e5),      -- of floating ones
  weighted_avg_yield_pct numeric check (weighted_avg_yield_pct between -1000 and 1000),
  weighted_avg_price     numeric check (weighted_avg_price between 0 and 1e6),
  coupon_pct        numeric check (coupon_pct between -100 and 1000),
  bid_to_cover_published numeric check (bid_to_cover_published between 0 and 1e6),
  source       text not null check (length(source) between 1 and 500),
  updated_on   date not null default current_date,
  primary key (auction_id, instrument, tenor, auction_date)
);
create index auctions_by_date on data.auctions (auction_date, auction_id, instrument, tenor);
-- The auction before: same source, instrument and tenor.
create index auctions_by_tenor on data.auctions (source, instrument, tenor, auction_date) include (cutoff_yield_pct);
create trigger stamp_change before update on data.auctions for each row execute function data.stamp_change();
