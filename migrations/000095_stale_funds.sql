-- A fund is stale if its last NAV is more than 30 days older than the newest of its category and currency; funds without a category
-- count as one. Without a NAV it is not. Each load that computes figures of funds sets the flag again for every fund, as the newest NAV
-- of a category also concerns the funds that the load does not touch. A fund that turns is updated: its status and ranks change.
alter table data.fund_figures add column is_stale boolean not null default false;

create function data.keep_stale_funds() returns void language sql as $$
  update data.fund_figures g set is_stale = found.is_stale, updated_on = current_date
  from (
    select fund_no, coalesce(as_of < max(as_of) over (partition by category, currency) - 30, false) as is_stale
    from data.fund_figures join data.funds using (fund_no)) found
  where found.fund_no = g.fund_no and found.is_stale <> g.is_stale;
$$;
select data.keep_stale_funds();
