-- What each company manages, worked out by the loads that touch funds: a list of companies adds nothing up.
create table data.amc_figures (
  amc_id      text primary key references data.amcs on delete cascade,
  funds_count integer not null,          -- funds that have not ended
  currency    text,                      -- null: its funds are of several, and the rest is null too
  aum_total   numeric,
  aum_date    date,                      -- of the newest assets in it
  market_share_pct numeric               -- of what all companies manage in the currency
);

create function data.keep_amc_figures() returns void language sql as $$
  delete from data.amc_figures;
  insert into data.amc_figures (amc_id, funds_count, currency, aum_total, aum_date, market_share_pct)
  select amc_id, funds_count, currency, aum_total, aum_date, share from (
    select *, case when sum(aum_total) over (partition by currency) > 0
      then round(100 * aum_total / sum(aum_total) over (partition by currency), 4) end as share
    from (
      select f.amc_id, count(*) as funds_count, max(g.aum_date) as aum_date,
        case when count(distinct f.currency) = 1 then min(f.currency) end as currency,
        case when count(distinct f.currency) = 1 then sum(g.aum) end as aum_total
      from data.funds f left join data.fund_figures g using (fund_no)
      where f.status is null or f.status in ('active', 'suspended') group by f.amc_id) sums) companies
  where amc_id is not null;
$$;
select data.keep_amc_figures();
