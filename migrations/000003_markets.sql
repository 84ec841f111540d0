-- Debt securities, their prices and trades, and auctions. Prices and trades reference a security by its code: a text of a dozen bytes needs no
-- separate number. There are no foreign keys: the loads refuse unknown codes in one statement for the whole file.

-- The rank of a rating: 1 for AAA, larger for worse; null for ratings outside the long-term scale.
create function data.rating_rank(text) returns integer language sql immutable parallel safe return
  array_position(array['AAA', 'AA+', 'AA', 'AA-', 'A+', 'A', 'A-', 'BBB+', 'BBB', 'BBB-', 'BB+', 'BB', 'BB-',
    'B+', 'B', 'B-', 'CCC+', 'CCC', 'CCC-', 'CC', 'C', 'D'], upper($1));

create function data.stamp_change() returns trigger language plpgsql as
'begin new.updated_on := current_date; return new; end';

create table data.securities (
  code        text collate "C" primary key check (code ~ '^[A-Z0-9][A-Z0-9._+&-]{0,63}$'), -- the source's, hyphens for slashes and blanks
  source_code text not null check (length(source_code) between 1 and 100),           -- as its source writes it
  isin        text unique check (isin ~ '^[A-Z]{2}[A-Z0-9]{9}[0-9]$'),
  name        text not null check (length(name) between 1 and 300),
  issuer      text check (length(issuer) between 1 and 300),
  type        text not null check (type in ('tfc', 'sukuk', 'tbill', 'pib', 'gis', 'commercial_paper',
              'corporate_bond', 'government_bond')),
  government_guaranteed boolean,
  shariah_compliant     boolean,
  secured       boolean,
  rating        text check (length(rating) between 1 and 20),
  rating_agency text check (length(rating_agency) between 1 and 100),
  rating_date   date,
  issue_date    date,
  maturity_date date check (maturity_date >= issue_date),                            -- null: perpetual, or not known
  tenor_years   numeric check (tenor_years between 0 and 200),
  issue_size    numeric check (issue_size >= 0 and issue_size < 'infinity'),
  currency      text not null check (currency ~ '^[A-Z]{3}$'),
  par           numeric check (par > 0 and par < 'infinity'),
  coupon_type   text check (coupon_type in ('fixed', 'floating', 'zero')),
  coupon_pct    numeric check (coupon_pct between -100 and 1000),
  base_rate     text check (length(base_rate) between 1 and 100),                    -- such as 6M KIBOR
  spread_bps    numeric check (spread_bps between -100000 and 100000),
  floor_pct     numeric check (floor_pct between -100 and 1000),
  cap_pct       numeric check (cap_pct between -100 and 1000),
  coupon_frequency text check (length(coupon_frequency) between 1 and 40),
  day_count     text check (length(day_count) between 1 and 40),
  amortising    boolean,
  callable      boolean,
  puttable      boolean,
  listing       text check (length(listing) between 1 and 100),                      -- where it is listed
  status        text check (status in ('active', 'matured', 'redeemed', 'defaulted', 'merged', 'suspended')),
  merged_into   text check (length(merged_into) between 1 and 64),                   -- the code that replaces it
  former_names  text[] not null default '{}',
  former_codes  text[] not null default '{}',                                        -- it is still found by these
  source        text not null check (length(source) between 1 and 500),
  -- The newest price, maintained by the loads of prices.
  last_price      numeric,
  last_yield_pct  numeric,
  last_price_date date,
  last_traded     boolean,
  updated_on      date not null default current_date,
  created_at      timestamptz not null default now(),
  row_no          bigint,
  load_no         bigint
);
comment on table data.securities is
  'A row is a debt security, with its newest price.';
create index securities_by_maturity on data.securities (maturity_date, code);
create index securities_by_type on data.securities (type, code);
create index securities_by_former_code on data.securities using gin (former_codes) where former_codes <> '{}';
create trigger stamp_change before update on data.securities for each row execute function data.stamp_change();

-- The former names and ISINs of a security are stored, as for a fund, unless the load states them itself.
create function data.keep_security_lineage() returns trigger language plpgsql as $$
begin
  if new.name <> old.name and new.former_names = old.former_names and old.name <> all (new.former_names) then
    new.former_names := new.former_names || old.name;
  end if;
  if new.isin is distinct from old.isin and old.isin <> all (new.former_codes) and new.former_codes = old.former_codes then
    new.former_codes := new.former_codes || old.isin;
  end if;
  return new;
end $$;
create trigger keep_lineage before update on data.securities
  for each row execute function data.keep_security_lineage();

create table data.security_prices (
  code        text collate "C" not null,
  date        date not null,
  price       numeric check (price between 0 and 1e6),                          -- per 100 of par, clean
  dirty_price numeric check (dirty_price between 0 and 1e6),                    -- with accrued interest
  accrued     numeric check (accrued between -1e6 and 1e6),
  yield_pct   numeric check (yield_pct between -1e6 and 1e6),
  modified_duration numeric check (modified_duration between -1000 and 1000),   -- years
  spread_bps  numeric check (spread_bps between -1e6 and 1e6),
  traded      boolean,                                                          -- whether it comes from trades
  method      text check (method in ('trade', 'matrix', 'capped', 'quote')),
  valid_from  date,
  valid_to    date check (valid_to >= valid_from),
  source      text check (length(source) between 1 and 500),                    -- null: that of the security
  updated_on  date not null default current_date,
  row_no bigint,
  load_no bigint,
  primary key (code, date)
);
comment on table data.security_prices is
  'A row is the price of a security on a day.';
create trigger stamp_change before update on data.security_prices for each row execute function data.stamp_change();

create table data.newest_price_changes (
  code    text collate "C" not null,
  load_no bigint not null references data.loads,
  primary key (code, load_no)
);
comment on table data.newest_price_changes is
  'A row is a load that changed which price of a security is the newest, or that price. So the day of the change is known as of any day.';

-- Loads are made one after the other, so the load of the change is the last one.
create function data.keep_last_prices() returns trigger language plpgsql as $$
begin
  with changed as (
    update data.securities s
    set last_price = p.price, last_yield_pct = p.yield_pct, last_price_date = p.date, last_traded = p.traded
    from (select distinct code from new_rows) changed left join lateral (
      select * from data.security_prices p
      where p.code = changed.code and (p.price is not null or p.dirty_price is not null or p.yield_pct is not null)
      order by p.date desc limit 1) p on true
    where s.code = changed.code and (s.last_price, s.last_yield_pct, s.last_price_date, s.last_traded)
      is distinct from (p.price, p.yield_pct, p.date, p.traded)
    returning s.code)
  insert into data.newest_price_changes
  select code, last from changed, (select max(load_no) as last from data.loads) loads where last is not null
  on conflict do nothing;
  return null;
end $$;
create trigger keep_last_prices_of_new after insert on data.security_prices
  referencing new table as new_rows for each statement execute function data.keep_last_prices();
create trigger keep_last_prices_of_changed after update on data.security_prices
  referencing new table as new_rows for each statement execute function data.keep_last_prices();
create trigger keep_last_prices_of_gone after delete on data.security_prices
  referencing old table as new_rows for each statement execute function data.keep_last_prices();

-- Designed for millions of rows: every filter has an index that ends in the sort order of the list, so a page reads only its rows. Codes and ids are
-- compared bytewise: a language's collation would double the cost of each loaded row.
create table data.security_trades (
  trade_id   text collate "C" primary key check (length(trade_id) between 1 and 64),
  trade_date date not null,
  trade_time time,                                      -- the venue's own
  settlement_date date,
  code       text collate "C" not null,
  side       text check (side in ('buy', 'sell')),      -- of the reporting party
  price      numeric check (price between 0 and 1e6),   -- per 100 of par
  price_low  numeric check (price_low between 0 and 1e6),
  price_high numeric check (price_high between 0 and 1e6),
  yield_pct  numeric check (yield_pct between -1e6 and 1e6),
  yield_low_pct  numeric check (yield_low_pct between -1e6 and 1e6),
  yield_high_pct numeric check (yield_high_pct between -1e6 and 1e6),
  face_amount numeric check (face_amount >= 0 and face_amount < 'infinity'),
  amount      numeric check (amount >= 0 and amount < 'infinity'),
  currency    text check (currency ~ '^[A-Z]{3}$'),     -- null: that of the security
  trades_count integer check (trades_count >= 1),
  venue       text check (length(venue) between 1 and 100),
  counterparty_type text check (length(counterparty_type) between 1 and 40),
  status      text check (status in ('new', 'corrected', 'cancelled', 'reversed')),
  original_trade_id text check (length(original_trade_id) between 1 and 64),
  as_of       boolean,                                  -- reported on a later day than it was made
  source      text check (length(source) between 1 and 500),
  updated_on  date not null default current_date,
  row_no bigint,
  load_no bigint
);
comment on table data.security_trades is
  'A row is a trade as it was reported, or the sum that a venue reports of all trades of a security on a day (trades_count).';
create index security_trades_by_date on data.security_trades (trade_date, trade_id);
create index security_trades_by_code on data.security_trades (code, trade_date, trade_id);
create index security_trades_by_venue on data.security_trades (venue, trade_date, trade_id);
create index security_trades_by_amount on data.security_trades (amount);
create index security_trades_by_update on data.security_trades using brin (updated_on);
create trigger stamp_change before update on data.security_trades for each row execute function data.stamp_change();

-- A reopened security has the same auction_id again, so the id alone is not a key.
create table data.auctions (
  auction_id   text not null check (length(auction_id) between 1 and 64),
  instrument   text not null check (instrument in ('mtb', 'pib_fixed', 'pib_floating', 'gis_fixed', 'gis_variable',
               'gis_discounted', 'bill', 'cmb', 'note', 'bond', 'tips', 'frn')),
  tenor        text not null check (tenor ~ '^([0-9]{1,4}Y)?([0-9]{1,4}M)?([0-9]{1,4}W)?([0-9]{1,4}D)?$' and tenor <> ''), -- 13W, 3M, 10Y
  auction_date date not null,
  tenor_days   integer check (tenor_days between 1 and 40000),
  isin         text check (isin ~ '^[A-Z]{2}[A-Z0-9]{9}[0-9]$'),
  source_code  text check (length(source_code) between 1 and 64),                    -- of the security, such as a CUSIP
  reopening    boolean,
  announce_date   date,
  settlement_date date,
  maturity_date   date,
  status       text not null check (status in ('announced', 'held', 'rejected', 'cancelled')),
  format       text check (format in ('competitive', 'non_competitive')),
  currency     text not null check (currency ~ '^[A-Z]{3}$'),
  target_amount   numeric check (target_amount >= 0 and target_amount < 'infinity'),
  maturing_amount numeric check (maturing_amount >= 0 and maturing_amount < 'infinity'),
  bids_received_face     numeric check (bids_received_face >= 0 and bids_received_face < 'infinity'), -- competitive
  bids_received_realized numeric check (bids_received_realized >= 0 and bids_received_realized < 'infinity'),
  bids_count   integer check (bids_count >= 0),
  accepted_competitive     numeric check (accepted_competitive >= 0 and accepted_competitive < 'infinity'),
  accepted_non_competitive numeric check (accepted_non_competitive >= 0 and accepted_non_competitive < 'infinity'),
  accepted_total           numeric check (accepted_total >= 0 and accepted_total < 'infinity'),
  accepted_bids_count integer check (accepted_bids_count >= 0),
  min_bid_yield_pct numeric check (min_bid_yield_pct between -1000 and 1000),
  max_bid_yield_pct numeric check (max_bid_yield_pct between -1000 and 1000),
  cutoff_yield_pct  numeric check (cutoff_yield_pct between -1000 and 1000),
  cutoff_price      numeric check (cutoff_price between 0 and 1e6),                  -- per 100 of par
  cutoff_margin_bps numeric check (cutoff_margin_bps between -1e5 and 1e5),          -- of floating ones
  weighted_avg_yield_pct numeric check (weighted_avg_yield_pct between -1000 and 1000),
  weighted_avg_price     numeric check (weighted_avg_price between 0 and 1e6),
  coupon_pct        numeric check (coupon_pct between -100 and 1000),
  bid_to_cover_published numeric check (bid_to_cover_published between 0 and 1e6),
  source       text not null check (length(source) between 1 and 500),
  updated_on   date not null default current_date,
  row_no bigint,
  load_no bigint,
  primary key (auction_id, instrument, tenor, auction_date)
);
comment on table data.auctions is
  'A row is an auction of one instrument and tenor on one day. It exists from the announcement on; what is not known yet is null.';
create index auctions_by_date on data.auctions (auction_date, auction_id, instrument, tenor);
-- The previous auction: same source, instrument and tenor.
create index auctions_by_tenor on data.auctions (source, instrument, tenor, auction_date) include (cutoff_yield_pct);
create trigger stamp_change before update on data.auctions for each row execute function data.stamp_change();
