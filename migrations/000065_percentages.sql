-- Computed percentages have ten significant digits, as those of the services (domain/percent.ts).

-- 100 · part / whole; null if the whole is not positive. The quotient has 100 decimals before it is rounded, so that no other value
-- is rounded as a half. Each parameter is used once, so that the planner can inline the function.
create function data.percent_of(part numeric, whole numeric) returns numeric language sql stable parallel safe as $$
  select trim_scale(to_char(round(100 * part, 100) / nullif(greatest(whole, 0), 0), '9.999999999EEEE')::numeric)
$$;

create or replace function data.keep_amc_figures() returns void language sql as $$
  delete from data.amc_figures;
  insert into data.amc_figures (amc_id, funds_count, currency, aum_total, aum_date, market_share_pct)
  select amc_id, funds_count, currency, aum_total, aum_date, share from (
    select *, data.percent_of(aum_total, sum(aum_total) over (partition by currency)) as share
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
