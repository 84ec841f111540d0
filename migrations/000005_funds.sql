-- Funds, their managers, and their published data: NAVs, payouts, expenses, portfolios. This data has no vintages: the last load is valid, and the
-- rows that it replaces are stored. Rows of a fund have its number; loads refuse unknown funds.

create table data.amcs (
  amc_id      text primary key check (amc_id ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(amc_id) <= 80),
  name        text not null check (length(name) between 1 and 300),
  short_name  text check (length(short_name) between 1 and 100),
  licence_no  text check (length(licence_no) between 1 and 100),
  rating      text check (length(rating) between 1 and 20),   -- of the manager, such as AM1
  rating_agency text check (length(rating_agency) between 1 and 100),
  rating_date date,
  website     text check (website ~ '^https?://' and length(website) <= 2000),
  established date,
  source      text not null check (length(source) between 1 and 500),
  updated_on  date not null default current_date,
  -- The fiscal year of `fytd` begins in a month of the fund, else of its company, else of the setting FISCAL_YEAR_FIRST_MONTH. The figures store the
  -- day from which they count: loads recompute them if the current month is another one.
  fiscal_year_first_month smallint check (fiscal_year_first_month between 1 and 12),
  row_no bigint,
  load_no bigint
);
comment on table data.amcs is
  'A row is an asset management company.';
create trigger stamp_change before update on data.amcs for each row execute function data.stamp_change();

create table data.funds (
  fund_no     integer generated always as identity primary key,
  fund_id     text not null unique check (fund_id ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(fund_id) <= 80),
  name        text not null check (length(name) between 1 and 300),
  short_name  text check (length(short_name) between 1 and 100),
  former_names text[] not null default '{}',                      -- filled by a trigger when the name changes
  -- A fund is also found by each of these; they need not be unique.
  symbol      text check (length(symbol) between 1 and 40),
  isin        text check (isin ~ '^[A-Z]{2}[A-Z0-9]{9}[0-9]$'),   -- of the growth option where there are several
  isin_payout text check (isin_payout ~ '^[A-Z]{2}[A-Z0-9]{9}[0-9]$'),
  isin_reinvestment text check (isin_reinvestment ~ '^[A-Z]{2}[A-Z0-9]{9}[0-9]$'),
  source_code text check (length(source_code) between 1 and 80),
  former_codes text[] not null default '{}',
  amc_id      text references data.amcs,
  category    text check (length(category) between 1 and 200),    -- the fund is ranked within it
  asset_class text check (asset_class in ('equity', 'income', 'money_market', 'balanced', 'asset_allocation',
              'commodity', 'index', 'fund_of_funds', 'capital_protected', 'real_estate', 'other')),
  structure   text check (structure in ('open_end', 'closed_end', 'vps', 'etf', 'interval')),
  shariah_compliant boolean,
  risk_profile text check (length(risk_profile) between 1 and 40),
  benchmark   text check (length(benchmark) between 1 and 500),
  benchmark_series text,                                          -- a series_id: its index level
  plan        text check (length(plan) between 1 and 100),
  option      text check (length(option) between 1 and 100),
  currency    text not null check (currency ~ '^[A-Z]{3}$'),
  launch_date date,
  status      text check (status in ('active', 'suspended', 'matured', 'closed', 'merged')),
  merged_into text references data.funds (fund_id) deferrable initially deferred,
  objective   text check (length(objective) between 1 and 5000),
  trustee     text check (length(trustee) between 1 and 200),
  registrar   text check (length(registrar) between 1 and 200),
  auditor     text check (length(auditor) between 1 and 200),
  fund_managers text[] not null default '{}',
  listing     text check (length(listing) between 1 and 100),
  rating      text check (length(rating) between 1 and 20),
  rating_outlook text check (length(rating_outlook) between 1 and 40),
  rating_agency  text check (length(rating_agency) between 1 and 100),
  rating_date date,
  amc_rating  text check (length(amc_rating) between 1 and 20),   -- null: that of the AMC
  pricing_mechanism text check (pricing_mechanism in ('forward', 'backward')),
  dealing_days text[] not null default '{}',                      -- 'Monday-Friday 16:00': days, then the cut-off
  minimum_investment   numeric check (minimum_investment >= 0 and minimum_investment < 'infinity'),
  management_fee_pct   numeric check (management_fee_pct between -100 and 100),
  front_end_load_pct   numeric check (front_end_load_pct between 0 and 100),
  back_end_load_pct    numeric check (back_end_load_pct between 0 and 100),
  contingent_load_pct  numeric check (contingent_load_pct between 0 and 100),
  dividend_policy text check (length(dividend_policy) between 1 and 1000),
  leverage    text check (length(leverage) between 1 and 200),
  source      text not null check (length(source) between 1 and 500),
  updated_on  date not null default current_date,
  fiscal_year_first_month smallint check (fiscal_year_first_month between 1 and 12),
  row_no bigint,
  load_no bigint
);
comment on table data.funds is
  'A row is a fund.';
create index funds_by_amc on data.funds (amc_id, fund_id);
create index funds_by_category on data.funds (category, fund_id);
create index funds_by_name on data.funds (name, fund_id);
create index funds_by_launch on data.funds (launch_date, fund_id);
-- For searches by part of an id, a name or a code.
create index funds_by_text on data.funds using gin (fund_id gin_trgm_ops, name gin_trgm_ops, short_name gin_trgm_ops);
-- For filters that may select few of many.
create index funds_by_status on data.funds (status);
create index funds_by_currency on data.funds (currency);
create index funds_by_risk on data.funds (risk_profile);
create index funds_by_structure on data.funds (structure);
create index funds_by_asset_class on data.funds (asset_class);
create trigger stamp_change before update on data.funds for each row execute function data.stamp_change();

-- The former names and codes of a fund are stored.
create function data.keep_lineage() returns trigger language plpgsql as $$
declare
  code text;
begin
  if new.name <> old.name and not old.name = any(new.former_names) then
    new.former_names := new.former_names || old.name;
  end if;
  foreach code in array array[old.symbol, old.isin, old.isin_payout, old.isin_reinvestment, old.source_code] loop
    if code is not null and not code = any(new.former_codes)
      and not code in (coalesce(new.symbol, ''), coalesce(new.isin, ''), coalesce(new.isin_payout, ''),
        coalesce(new.isin_reinvestment, ''), coalesce(new.source_code, '')) then
      new.former_codes := new.former_codes || code;
    end if;
  end loop;
  return new;
end $$;
create trigger keep_lineage before update on data.funds for each row execute function data.keep_lineage();

create table data.fund_codes (
  code    text not null,
  fund_no integer not null references data.funds on delete cascade,
  primary key (code, fund_no)
);
comment on table data.fund_codes is
  'A row is a name by which a load or a call may refer to a fund, beside its id. A name of several funds refers to none.';
create index fund_codes_by_fund on data.fund_codes (fund_no);
create index fund_codes_by_text on data.fund_codes using gin (code gin_trgm_ops);

create function data.keep_fund_codes() returns trigger language plpgsql as $$
begin
  delete from data.fund_codes c using new_rows n where c.fund_no = n.fund_no;
  insert into data.fund_codes
  select distinct code, n.fund_no
  from new_rows n, unnest(n.former_codes || array[n.symbol, n.isin, n.isin_payout, n.isin_reinvestment, n.source_code]) code
  where code is not null and code <> n.fund_id;
  return null;
end $$;
create trigger keep_codes_of_new after insert on data.funds
  referencing new table as new_rows for each statement execute function data.keep_fund_codes();
create trigger keep_codes_of_changed after update on data.funds
  referencing new table as new_rows for each statement execute function data.keep_fund_codes();

-- Designed for tens of millions of rows that are loaded by day and read by fund. The heap is in the order of the loads. The history of a fund is read
-- from the key alone, which includes the NAV, so it costs only its own length however many funds there are. Measured at 30 million rows, see
-- docs/funds.md.
create table data.navs (
  fund_no     integer not null,
  date        date not null,
  nav         numeric check (nav > 0 and nav < 'infinity'),   -- null: there is no NAV on that day
  offer_price numeric check (offer_price > 0 and offer_price < 'infinity'),
  repurchase_price  numeric check (repurchase_price > 0 and repurchase_price < 'infinity'),
  aum         numeric check (aum >= 0 and aum < 'infinity'),
  units_outstanding numeric check (units_outstanding >= 0 and units_outstanding < 'infinity'),
  validity_date date,                                         -- the day the prices are for, where it is another
  updated_on  date not null default current_date,
  row_no bigint,
  load_no bigint,
  primary key (fund_no, date) include (nav)
);
comment on table data.navs is
  'A row is the net asset value of a fund on a day.';
create index navs_with_aum on data.navs (fund_no, date) where aum is not null;
create trigger stamp_change before update on data.navs for each row execute function data.stamp_change();

create table data.payouts (
  fund_no     integer not null,
  ex_date     date not null,
  type        text not null check (type in ('cash', 'bonus', 'reinvest', 'split')),
  announcement_date date,
  payment_date date,
  financial_year    text check (length(financial_year) between 1 and 20),
  payout_per_unit   numeric check (payout_per_unit >= 0 and payout_per_unit < 'infinity'),
  payout_pct_of_par numeric check (payout_pct_of_par >= 0 and payout_pct_of_par < 'infinity'),
  ex_nav      numeric check (ex_nav > 0 and ex_nav < 'infinity'),
  cum_nav     numeric check (cum_nav > 0 and cum_nav < 'infinity'),
  source      text check (length(source) between 1 and 500),                  -- null: that of the fund
  updated_on  date not null default current_date,
  kind text not null default 'regular' check (kind ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(kind) <= 80),
  record_date date,                                                           -- holders on this day are paid
  split_ratio numeric check (split_ratio > 0 and split_ratio < 'infinity'),   -- new units for an old one
  row_no bigint,
  load_no bigint,
  primary key (fund_no, ex_date, type, kind),
  constraint payouts_split_check check ((type = 'split') = (split_ratio is not null))
);
comment on table data.payouts is
  'A row is a payout of a fund, or a split of its units.';
create trigger stamp_change before update on data.payouts for each row execute function data.stamp_change();

create table data.expenses (
  fund_no     integer not null,
  period_end  date not null,
  period_type text not null check (period_type in ('mtd', 'ytd', 'day')),   -- day: the rate that applies on that day
  ter_pct     numeric check (ter_pct between -100 and 1000),
  ter_excl_levies_pct    numeric check (ter_excl_levies_pct between -100 and 1000),
  government_levies_pct  numeric check (government_levies_pct between -100 and 1000),
  management_fee_pct     numeric check (management_fee_pct between -100 and 1000),
  selling_marketing_pct  numeric check (selling_marketing_pct between -100 and 1000),
  accounting_pct         numeric check (accounting_pct between -100 and 1000),
  trustee_fee_pct        numeric check (trustee_fee_pct between -100 and 1000),
  secp_fee_pct           numeric check (secp_fee_pct between -100 and 1000),
  limit_pct   numeric check (limit_pct between -100 and 1000),              -- the regulator's limit
  source      text check (length(source) between 1 and 500),
  updated_on  date not null default current_date,
  row_no bigint,
  load_no bigint,
  primary key (fund_no, period_end, period_type)
);
comment on table data.expenses is
  'A row is the expense ratio of a fund for a period.';
create trigger stamp_change before update on data.expenses for each row execute function data.stamp_change();

create table data.portfolio_lines (
  fund_no     integer not null,
  as_of       date not null,
  section     text not null check (section in ('holding', 'asset_class', 'rating', 'sector', 'summary')),
  rank        integer not null check (rank >= 1),                                    -- the place in its section
  name        text check (length(name) between 1 and 500),                           -- of the holding, asset class, rating, sector
  isin        text check (isin ~ '^[A-Z]{2}[A-Z0-9]{9}[0-9]$'),
  code        text check (length(code) between 1 and 100),
  type        text check (length(type) between 1 and 100),                           -- the asset class of a holding
  sector      text check (length(sector) between 1 and 200),
  rating      text check (length(rating) between 1 and 80),
  quantity    numeric check (quantity > '-infinity' and quantity < 'infinity'),
  market_value     numeric check (market_value > '-infinity' and market_value < 'infinity'),
  pct_net_assets   numeric check (pct_net_assets > '-infinity' and pct_net_assets < 'infinity'),
  pct_total_assets numeric check (pct_total_assets > '-infinity' and pct_total_assets < 'infinity'),
  coupon_pct       numeric check (coupon_pct > '-infinity' and coupon_pct < 'infinity'),
  ytm_pct          numeric check (ytm_pct > '-infinity' and ytm_pct < 'infinity'),
  maturity_date    date,
  -- For the section summary:
  weighted_avg_maturity_days numeric check (weighted_avg_maturity_days >= 0 and weighted_avg_maturity_days < 'infinity'),
  modified_duration numeric check (modified_duration > '-infinity' and modified_duration < 'infinity'), -- years
  portfolio_ytm_pct numeric check (portfolio_ytm_pct > '-infinity' and portfolio_ytm_pct < 'infinity'),
  cash_pct     numeric check (cash_pct > '-infinity' and cash_pct < 'infinity'),
  leverage_pct numeric check (leverage_pct > '-infinity' and leverage_pct < 'infinity'),
  disclosure_scope text check (disclosure_scope in ('full', 'top10')),
  source      text check (length(source) between 1 and 500),
  updated_on  date not null default current_date,
  row_no bigint,
  load_no bigint,
  primary key (fund_no, as_of, section, rank)
);
comment on table data.portfolio_lines is
  'A row is a line of the portfolio that a fund disclosed for a day: a holding, or a part of a breakdown. A load states the portfolio '
  'of a day whole.';
create trigger stamp_change before update on data.portfolio_lines for each row execute function data.stamp_change();

-- The loads compute the figures of the funds that they change. Percentage points, see docs/funds.md; null if the history is too short. Funds are
-- compared by returns on one basis for every asset class: absolute below one year, annualised (compound) from one year on. A fund younger than a year
-- has no return since inception.
create table data.fund_figures (
  fund_no     integer primary key references data.funds on delete cascade,
  fund_id     text not null unique,   -- here too, so that an order needs one index
  as_of       date,                   -- the day of the last NAV
  nav         numeric,
  first_nav_date date,
  aum         numeric,
  aum_date    date,
  ter_pct     numeric,
  ter_date    date,
  age_years   double precision,       -- at as_of, since the launch, else the first NAV
  return_1d_pct   double precision,
  return_7d_pct   double precision,
  return_15d_pct  double precision,
  return_1m_pct   double precision,
  return_3m_pct   double precision,
  return_6m_pct   double precision,
  return_1y_pct   double precision,
  return_2y_pct   double precision,
  return_3y_pct   double precision,
  return_5y_pct   double precision,
  return_10y_pct  double precision,
  return_mtd_pct  double precision,
  return_ytd_pct  double precision,
  return_fytd_pct double precision,
  return_since_inception_pct double precision,
  volatility_1y_pct   double precision,
  sharpe_1y           double precision,
  max_drawdown_1y_pct double precision,
  updated_on  date not null,
  -- A fund is stale if its last NAV is more than 30 days older than the newest of its category and currency; funds without a category count as one
  -- category. A fund without a NAV is not stale. Each load that computes figures sets the flag for every fund, as the newest NAV of a category also
  -- affects funds that the load does not change. A fund whose flag changes is updated, with its status and ranks.
  is_stale boolean not null default false,
  fytd_from date                      -- the first day of the fiscal year of as_of
);
comment on table data.fund_figures is
  'A row is the figures of a fund as of its last NAV, which the screener compares and the lists show.';

-- Every sort order of the lists of funds has an index, in both directions: a page reads only its own rows, at any size.
do $$
declare
  figure text;
begin
  foreach figure in array array['as_of', 'aum', 'ter_pct', 'age_years', 'return_1d_pct', 'return_7d_pct', 'return_15d_pct',
    'return_1m_pct', 'return_3m_pct', 'return_6m_pct', 'return_1y_pct', 'return_2y_pct', 'return_3y_pct', 'return_5y_pct',
    'return_10y_pct', 'return_mtd_pct', 'return_ytd_pct', 'return_fytd_pct', 'return_since_inception_pct',
    'volatility_1y_pct', 'sharpe_1y', 'max_drawdown_1y_pct'] loop
    execute format('create index fund_figures_by_%s on data.fund_figures (%I, fund_id)',
      regexp_replace(figure, '^return_|_pct$', '', 'g'), figure);
  end loop;
end $$;

create table data.fund_returns (
  fund_no integer references data.funds on delete cascade,
  basis   text check (basis in ('absolute', 'annualized_simple', 'annualized_compound')),
  return_1d_pct   double precision,
  return_7d_pct   double precision,
  return_15d_pct  double precision,
  return_1m_pct   double precision,
  return_3m_pct   double precision,
  return_6m_pct   double precision,
  return_1y_pct   double precision,
  return_2y_pct   double precision,
  return_3y_pct   double precision,
  return_5y_pct   double precision,
  return_10y_pct  double precision,
  return_mtd_pct  double precision,
  return_ytd_pct  double precision,
  return_fytd_pct double precision,
  return_since_inception_pct double precision,
  primary key (fund_no, basis)
);
comment on table data.fund_returns is
  'A row is the returns of a fund by another basis than that of data.fund_figures.';

create table data.fund_figures_due (
  fund_no integer primary key
);
comment on table data.fund_figures_due is
  'A row is a fund whose figures no longer hold. A load that touched some computes them again before it commits.';

create function data.figures_are_due() returns trigger language plpgsql as $$
begin
  insert into data.fund_figures_due select distinct fund_no from new_rows on conflict do nothing;
  return null;
end $$;
create trigger figures_are_due_of_new after insert on data.navs
  referencing new table as new_rows for each statement execute function data.figures_are_due();
create trigger figures_are_due_of_changed after update on data.navs
  referencing new table as new_rows for each statement execute function data.figures_are_due();
create trigger figures_are_due_of_new after insert on data.payouts
  referencing new table as new_rows for each statement execute function data.figures_are_due();
create trigger figures_are_due_of_changed after update on data.payouts
  referencing new table as new_rows for each statement execute function data.figures_are_due();
create trigger figures_are_due_of_new after insert on data.expenses
  referencing new table as new_rows for each statement execute function data.figures_are_due();
create trigger figures_are_due_of_changed after update on data.expenses
  referencing new table as new_rows for each statement execute function data.figures_are_due();
create trigger figures_are_due_of_new after insert on data.funds
  referencing new table as new_rows for each statement execute function data.figures_are_due();
create trigger figures_are_due_of_changed after update on data.funds
  referencing new table as new_rows for each statement execute function data.figures_are_due();
create trigger figures_are_due_of_gone after delete on data.navs
  referencing old table as new_rows for each statement execute function data.figures_are_due();
create trigger figures_are_due_of_gone after delete on data.payouts
  referencing old table as new_rows for each statement execute function data.figures_are_due();
create trigger figures_are_due_of_gone after delete on data.expenses
  referencing old table as new_rows for each statement execute function data.figures_are_due();

-- Figures take too long to recompute, so replaced ones are stored: those before the first change of each day.
create table data.former_fund_figures (
  like data.fund_figures,
  replaced_on date not null,
  primary key (fund_no, replaced_on)
);
comment on table data.former_fund_figures is
  'A row is the figures of a fund as they were until a day.';

create table data.former_fund_returns (
  like data.fund_returns,
  replaced_on date not null,
  primary key (fund_no, replaced_on, basis)
);
comment on table data.former_fund_returns is
  'A row is the returns of a fund by another basis, as they were until a day.';

create function data.keep_former_figures(fund_nos integer[], day date) returns void language sql as $$
  with kept as (
    insert into data.former_fund_figures select g.*, day from data.fund_figures g where g.fund_no = any(fund_nos)
    on conflict do nothing returning fund_no)
  insert into data.former_fund_returns select r.*, day from data.fund_returns r join kept using (fund_no);
$$;

create function data.keep_stale_funds(day date) returns void language plpgsql as $$
declare
  turned integer[];
begin
  turned := array(
    select fund_no from (
      select fund_no, is_stale, coalesce(as_of < max(as_of) over (partition by category, currency) - 30, false) as is_now
      from data.fund_figures join data.funds using (fund_no)) found
    where is_now <> is_stale);
  perform data.keep_former_figures(turned, day);
  update data.fund_figures set is_stale = not is_stale, updated_on = current_date where fund_no = any(turned);
end $$;

-- If a fund's assets are more than a quarter older than the newest of its company, the fund is no longer reported and is not counted.
create table data.amc_figures (
  amc_id      text primary key references data.amcs on delete cascade,
  funds_count integer not null,   -- funds that have not ended
  currency    text,               -- null: its funds have several; the following columns are null too
  aum_total   numeric,
  aum_date    date,               -- of the newest assets in it
  market_share_pct numeric        -- of the assets of all companies in the currency
);
comment on table data.amc_figures is
  'A row is what a company manages in all. The loads that touch funds keep it, so that a list of companies adds nothing up.';

-- 100 · part / whole; null if the whole is not positive. The quotient has 100 decimals before it is rounded, so that no other value
-- is rounded as a half. Each parameter is used once, so that the planner can inline the function.
create function data.percent_of(part numeric, whole numeric) returns numeric language sql stable parallel safe as $$
  select trim_scale(to_char(round(100 * part, 100) / nullif(greatest(whole, 0), 0), '9.999999999EEEE')::numeric)
$$;

-- A company's market share is its part of the assets of all companies with figures of the same day: assets of different days do not add up to a
-- market. Null if no other company has figures of that day, but companies of the same currency have figures of other days.
create function data.keep_amc_figures() returns void language sql as $$
  delete from data.amc_figures;
  insert into data.amc_figures (amc_id, funds_count, currency, aum_total, aum_date, market_share_pct)
  select amc_id, funds_count, currency, aum_total, aum_date, share from (
    select *, case when count(aum_total) over same_day > 1 or count(aum_total) over (partition by currency) = 1
      then data.percent_of(aum_total, sum(aum_total) over same_day) end as share
    from (
      select amc_id, count(*) as funds_count, max(aum_date) as aum_date,
        case when count(distinct currency) = 1 then min(currency) end as currency,
        case when count(distinct currency) = 1 then sum(aum) filter (where aum_date >= newest - 92) end as aum_total
      from (
        select f.amc_id, f.currency, g.aum, g.aum_date, max(g.aum_date) over (partition by f.amc_id) as newest
        from data.funds f left join data.fund_figures g using (fund_no)
        where f.status is null or f.status in ('active', 'suspended')) funds
      group by amc_id) sums
    window same_day as (partition by currency, aum_date)) companies
  where amc_id is not null;
$$;
