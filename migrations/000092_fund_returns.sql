-- Funds are compared by returns of one basis: data.fund_figures has them absolute below one year and annualised (compound) from one
-- year on, for every asset class; a fund younger than a year has none since inception there. Other bases are in a table of their own.
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

-- What is stored mixes two bases. `almanac migrate` computes it again, as every load of funds does; until then it is unknown.
update data.fund_figures g set
  return_1d_pct = null, return_7d_pct = null, return_15d_pct = null, return_1m_pct = null, return_3m_pct = null,
  return_6m_pct = null, return_mtd_pct = null, return_ytd_pct = null, return_fytd_pct = null
from data.funds f where f.fund_no = g.fund_no and f.asset_class in ('money_market', 'income');
update data.fund_figures set return_since_inception_pct = null where first_nav_date > as_of - interval '1 year';
insert into data.fund_figures_due select fund_no from data.funds on conflict do nothing;
