-- What each company manages, worked out by the loads that touch funds: a list of companies adds nothing up.
-- A fund whose assets are more than a quarter older than the newest of its company is no longer reported, and not counted in.
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
      select amc_id, count(*) as funds_count, max(aum_date) as aum_date,
        case when count(distinct currency) = 1 then min(currency) end as currency,
        case when count(distinct currency) = 1 then sum(aum) filter (where aum_date >= newest - 92) end as aum_total
      from (
        select f.amc_id, f.currency, g.aum, g.aum_date, max(g.aum_date) over (partition by f.amc_id) as newest
        from data.funds f left join data.fund_figures g using (fund_no)
        where f.status is null or f.status in ('active', 'suspended')) funds
      group by amc_id) sums) companies
  where amc_id is not null;
$$;
select data.keep_amc_figures();
