-- The names of commodities by classification: shown where a row of external trade brings none, and for sums.
create table data.trade_commodities (
  classification text collate "C" not null check (classification in ('hs', 'sitc', 'bec', 'national_group')),
  commodity_code text collate "C" not null check (commodity_code ~ '^[A-Za-z0-9._-]{1,20}$'), -- zeros lead
  name        text not null check (length(name) between 1 and 1000),
  source      text not null check (length(source) between 1 and 500),
  updated_on  date not null default current_date,
  primary key (classification, commodity_code)
);
create trigger stamp_change before update on data.trade_commodities for each row execute function data.stamp_change();
