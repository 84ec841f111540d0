-- The market share of a company is its part of what the companies manage whose figures are of the same day: assets of different days
-- do not add up to a market. Null if it is the only one of its day while other companies of its currency have other days.
create or replace function data.keep_amc_figures() returns void language sql as $$
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
select data.keep_amc_figures();
