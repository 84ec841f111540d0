-- External trade.

-- Designed for millions of rows: every selective filter has an index that ends in the order of the list. Codes are compared bytewise.
create table data.trade (
  trade_no    bigint generated always as identity primary key,
  reporter    text collate "C" not null check (reporter ~ '^[A-Z]{3}$'),             -- ISO 3166 alpha-3
  flow        text collate "C" not null check (flow in ('import', 'export', 're_export')),
  period      text collate "C" not null check (period ~ '^[0-9]{4}(-(0[1-9]|1[0-2]))?$'), -- 2025-01 is monthly, 2025 annual
  partner_code   text collate "C" not null check (partner_code ~ '^[A-Z0-9_-]{1,16}$'), -- ISO 3166 alpha-3; WLD is the world
  partner_name   text check (length(partner_name) between 1 and 200),
  classification text collate "C" not null check (classification in ('hs', 'sitc', 'bec', 'national_group')),
  classification_version text check (length(classification_version) between 1 and 40),
  commodity_code text collate "C" not null check (commodity_code ~ '^[A-Za-z0-9._-]{1,20}$'), -- text: zeros lead; TOTAL is all of them
  commodity_name text check (length(commodity_name) between 1 and 1000),
  basis       text collate "C" not null check (basis in ('customs', 'bop')),
  currency    text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  valuation   text check (valuation in ('cif', 'fob')),                              -- of value
  value       numeric check (value > '-infinity' and value < 'infinity'),
  cif_value   numeric check (cif_value > '-infinity' and cif_value < 'infinity'),
  fob_value   numeric check (fob_value > '-infinity' and fob_value < 'infinity'),
  quantity    numeric check (quantity >= 0 and quantity < 'infinity'),
  quantity_unit text check (length(quantity_unit) between 1 and 40),
  quantity_estimated boolean,
  net_weight_kg numeric check (net_weight_kg >= 0 and net_weight_kg < 'infinity'),
  status      text check (status in ('provisional', 'revised', 'final')),
  is_aggregate boolean not null generated always as (partner_code = 'WLD' or commodity_code = 'TOTAL') stored,
  source      text not null check (length(source) between 1 and 500),
  -- The digits of a code of the Harmonized System or the SITC; 0 for TOTAL.
  level       smallint generated always as (case when commodity_code = 'TOTAL' then 0
              when classification in ('hs', 'sitc') then length(replace(commodity_code, '.', '')) end) stored,
  frequency   text not null generated always as (case length(period) when 4 then 'A' else 'M' end) stored,
  date        date not null generated always as ( -- the last day of the period
              make_date(left(period, 4)::integer, case length(period) when 4 then 12 else right(period, 2)::integer end, 1)
              + interval '1 month' - interval '1 day') stored,
  updated_on  date not null default current_date,
  row_no bigint,
  load_no bigint,
  unique (commodity_code, partner_code, period, flow, reporter, basis, currency, classification) -- the most selective columns first
);
comment on table data.trade is
  'A row is the external trade of one commodity between a reporter and a partner in a period. Its publisher may revise it; status is '
  'how final it is.';
create index trade_by_date on data.trade (date, trade_no);
create index trade_by_partner on data.trade (partner_code, date, trade_no);
create index trade_by_commodity on data.trade (commodity_code, date, trade_no);
create index trade_by_level on data.trade (level, date, trade_no) where level < 6; -- most rows have more digits
create index trade_by_reporter on data.trade (reporter, flow, date, trade_no);
create index trade_by_update on data.trade using brin (updated_on);
create index trade_by_value on data.trade (value, trade_no);
create trigger stamp_change before update on data.trade for each row execute function data.stamp_change();

-- The published total (TOTAL with the WLD), or otherwise the sum of the rows nearest to it: TOTAL over the partners, the most detailed level with the
-- WLD, the most detailed level over the partners.
create table data.trade_totals (
  reporter text not null,
  flow     text not null,
  classification text not null,
  basis    text not null,
  currency text not null,
  period   text not null,
  value    numeric,
  load_no  bigint,   -- the load that last changed a row of it; null: it deleted one, or is of an older version
  primary key (reporter, flow, classification, basis, currency, period)
);
comment on table data.trade_totals is
  'A row is the total of a flow in a period, by which shares are computed. The loads keep it, so that a share costs one row.';

create function data.keep_trade_totals() returns trigger language plpgsql as $$
begin
  insert into data.trade_totals
  select g.reporter, g.flow, g.classification, g.basis, g.currency, g.period, total.value,
    case tg_op when 'DELETE' then null else g.load_no end
  from (
    select reporter, flow, classification, basis, currency, period, date, max(load_no) as load_no from new_rows
    group by 1, 2, 3, 4, 5, 6, 7) g, lateral (
    select sum(t.value) as value from data.trade t
    where (t.reporter, t.flow, t.date, t.period, t.classification, t.basis, t.currency)
      = (g.reporter, g.flow, g.date, g.period, g.classification, g.basis, g.currency)
    group by t.partner_code = 'WLD', t.commodity_code = 'TOTAL', t.level
    order by case when t.partner_code = 'WLD' and t.commodity_code = 'TOTAL' then 1 when t.commodity_code = 'TOTAL' then 2
      when t.partner_code = 'WLD' then 3 else 4 end, t.level desc nulls last
    limit 1) total
  on conflict (reporter, flow, classification, basis, currency, period) do update set value = excluded.value, load_no = excluded.load_no;
  return null;
end $$;
create trigger keep_trade_totals_of_new after insert on data.trade
  referencing new table as new_rows for each statement execute function data.keep_trade_totals();
create trigger keep_trade_totals_of_changed after update on data.trade
  referencing new table as new_rows for each statement execute function data.keep_trade_totals();
create trigger keep_trade_totals_of_gone after delete on data.trade
  referencing old table as new_rows for each statement execute function data.keep_trade_totals();

-- Deletes a total without rows. Triggers run in the order of their names: this one before keep_trade_totals_of_gone.
create function data.drop_trade_totals() returns trigger language plpgsql as $$
begin
  delete from data.trade_totals t
  using (select distinct reporter, flow, classification, basis, currency, period from new_rows) g
  where (t.reporter, t.flow, t.classification, t.basis, t.currency, t.period)
    = (g.reporter, g.flow, g.classification, g.basis, g.currency, g.period);
  return null;
end $$;
create trigger drop_trade_totals_of_gone after delete on data.trade
  referencing old table as new_rows for each statement execute function data.drop_trade_totals();

create table data.trade_commodities (
  classification text collate "C" not null check (classification in ('hs', 'sitc', 'bec', 'national_group')),
  commodity_code text collate "C" not null check (commodity_code ~ '^[A-Za-z0-9._-]{1,20}$'), -- zeros lead
  name        text not null check (length(name) between 1 and 1000),
  source      text not null check (length(source) between 1 and 500),
  updated_on  date not null default current_date,
  row_no bigint,
  load_no bigint,
  primary key (classification, commodity_code)
);
comment on table data.trade_commodities is
  'A row is the name of a commodity in a classification. It is shown where a row of data.trade has no name, and for sums.';
create trigger stamp_change before update on data.trade_commodities for each row execute function data.stamp_change();
