-- Every order that lists of funds and of trade take has an index, for both directions: a page costs what it shows, at any size.
-- A list asks for the rows that have the value and for those that have none one after the other, so where nulls stand in an
-- index does not matter.
drop index data.fund_figures_by_aum, data.fund_figures_by_ter, data.fund_figures_by_1m, data.fund_figures_by_3m,
  data.fund_figures_by_6m, data.fund_figures_by_1y, data.fund_figures_by_3y, data.fund_figures_by_5y,
  data.fund_figures_by_ytd, data.fund_figures_by_volatility, data.fund_figures_by_sharpe, data.fund_figures_by_drawdown;
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
create index funds_by_name on data.funds (name, fund_id);
create index funds_by_launch on data.funds (launch_date, fund_id);

drop index data.trade_by_value;
create index trade_by_value on data.trade (value, trade_no);

-- A part of an id, a name or a code.
create index funds_by_text on data.funds using gin (fund_id gin_trgm_ops, name gin_trgm_ops, short_name gin_trgm_ops);
create index fund_codes_by_text on data.fund_codes using gin (code gin_trgm_ops);

-- Filters that may leave few of many.
create index funds_by_status on data.funds (status);
create index funds_by_currency on data.funds (currency);
create index funds_by_risk on data.funds (risk_profile);
create index funds_by_structure on data.funds (structure);
create index funds_by_asset_class on data.funds (asset_class);
