// The statements behind the figures of funds: they find the funds that are due, read their inputs and store the results.
import type { Payout } from '../../domain/funds/adjusted-nav.ts';
import type { Transaction } from '../../kernel/database.ts';

export interface DueFund {
  fundNo: number;
  fundId: string;
  launchDate: string | null;
  /** The dates of the fund's first and last NAV; null if it has none. */
  firstDate: string | null;
  lastDate: string | null;
  nav: string | null;
  aum: string | null;
  aumDate: string | null;
  terPct: string | null;
  terDate: string | null;
  /** From 1 to 12. */
  fiscalYearFirstMonth: number;
}

const firstMonth = 'coalesce(f.fiscal_year_first_month, c.fiscal_year_first_month, $1::smallint)';

/**
 * Queues the funds whose fiscal year now starts in a different month from the one their figures use.
 * @param otherwise the month for funds that do not state one.
 * @returns how many funds were added to the queue.
 */
export async function markOtherFiscalYears(on: Transaction, otherwise: number): Promise<number> {
  const marked = await on.query(
    `insert into data.fund_figures_due
     select f.fund_no from data.fund_figures g join data.funds f using (fund_no) left join data.amcs c using (amc_id)
     where extract(month from g.fytd_from) <> ${firstMonth}
     on conflict do nothing returning fund_no`,
    [otherwise],
  );
  return marked.length;
}

/**
 * With `off`, the following statements use the index on funds: the planner has no statistics yet on the NAVs of this transaction and would
 * read the whole table for each fund (measured: minutes instead of seconds). With `on`, the planner chooses again.
 */
export async function allowFullScans(on: Transaction, setting: 'on' | 'off'): Promise<void> {
  await on.query(
    `select set_config(name, $1, true) from unnest(array['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin']) name`,
    [setting],
  );
}

/**
 * Removes up to `most` funds from the queue of funds with due figures and returns them; empty once the queue is empty.
 * @param otherwise the first month of the fiscal year of funds that do not state one.
 */
export async function popDueFunds(
  on: Transaction,
  { most, otherwise }: { most: number; otherwise: number },
): Promise<DueFund[]> {
  return on.query<DueFund>(
    `with taken as (
       delete from data.fund_figures_due
       where fund_no = any(array(select fund_no from data.fund_figures_due limit $2)) returning fund_no)
     select f.fund_no as "fundNo", f.fund_id as "fundId", f.launch_date as "launchDate",
       first.date as "firstDate", last.date as "lastDate", last.nav, a.aum, a.date as "aumDate",
       e.ter_pct as "terPct", e.period_end as "terDate",
       ${firstMonth} as "fiscalYearFirstMonth"
     from taken join data.funds f using (fund_no) left join data.amcs c using (amc_id)
     left join lateral (select n.date from data.navs n where n.fund_no = f.fund_no and n.nav is not null
       order by n.date limit 1) first on true
     left join lateral (select n.date, n.nav from data.navs n where n.fund_no = f.fund_no and n.nav is not null
       order by n.date desc limit 1) last on true
     left join lateral (select n.aum, n.date from data.navs n where n.fund_no = f.fund_no and n.aum is not null
       order by n.date desc limit 1) a on true
     left join lateral (select e.ter_pct, e.period_end from data.expenses e
       where e.fund_no = f.fund_no and e.ter_pct is not null
       order by e.period_end desc, array_position(array['day', 'ytd', 'mtd'], e.period_type) limit 1) e on true`,
    [otherwise, most],
  );
}

/**
 * The NAVs needed for the figures as of the last one, as lists `2024-01-02 10.50,…`: those of the last year, those around the start of each
 * longer period, the first, and the first on or after each payout.
 */
export async function readFigureNavs(
  on: Transaction,
  fundNos: readonly number[],
): Promise<{ fundNo: number; navs: string }[]> {
  return on.query(
    `select n.fund_no as "fundNo", string_agg(n.date || ' ' || n.nav, ',') as navs
     from (select f.fund_no, last.date as last, first.date as first
       from unnest($1::integer[]) f (fund_no),
       lateral (select date from data.navs where fund_no = f.fund_no and nav is not null order by date desc limit 1) last,
       lateral (select date from data.navs where fund_no = f.fund_no and nav is not null order by date limit 1) first) f,
     lateral (
       select n.fund_no, n.date, n.nav
       from (values (f.last - 380, f.last), (f.first, f.first),
           ((f.last - interval '2 years')::date - 8, (f.last - interval '2 years')::date),
           ((f.last - interval '3 years')::date - 8, (f.last - interval '3 years')::date),
           ((f.last - interval '5 years')::date - 8, (f.last - interval '5 years')::date),
           ((f.last - interval '10 years')::date - 8, (f.last - interval '10 years')::date)) wanted (since, until)
       join data.navs n on n.fund_no = f.fund_no and n.date between wanted.since and wanted.until and n.nav is not null
       union
       select bought.* from data.payouts p, lateral (
         select n.fund_no, n.date, n.nav from data.navs n
         where n.fund_no = f.fund_no and n.date >= p.ex_date and n.nav is not null order by n.date limit 1) bought
       where p.fund_no = f.fund_no) n
     group by n.fund_no`,
    [fundNos],
  );
}

/** The payouts of the funds. */
export async function readFigurePayouts(
  on: Transaction,
  fundNos: readonly number[],
): Promise<({ fundNo: number } & Payout)[]> {
  return on.query(
    `select fund_no as "fundNo", ex_date, payout_per_unit, ex_nav, split_ratio from data.payouts where fund_no = any($1)`,
    [fundNos],
  );
}

/** A row of data.fund_figures or data.fund_returns by column. Numerics may be text; omitted columns are null. */
export type FundFigures = { fund_no: number } & Record<string, number | string | null>;

/**
 * Stores rows of data.fund_figures and data.fund_returns, replacing those of the same funds, which are kept. Numerics may be text.
 * @param today the day of the load.
 */
export async function storeFigures(
  on: Transaction,
  { rows, returns, today }: { rows: readonly FundFigures[]; returns: readonly FundFigures[]; today: string },
): Promise<void> {
  const fundNos = rows.map((row) => row.fund_no);
  await on.query('select data.keep_former_figures($1, $2)', [fundNos, today]);
  await on.query('delete from data.fund_figures where fund_no = any($1)', [fundNos]);
  await on.query('delete from data.fund_returns where fund_no = any($1)', [fundNos]);
  await on.query(
    'insert into data.fund_returns select * from jsonb_populate_recordset(null::data.fund_returns, $1)',
    [JSON.stringify(returns)],
  );
  await on.query(
    `insert into data.fund_figures select * from jsonb_populate_recordset(
       jsonb_populate_record(null::data.fund_figures, jsonb_build_object('updated_on', current_date, 'is_stale', false)), $1)`,
    [JSON.stringify(rows)],
  );
}

/** Recomputes which funds are stale, from the newest NAV of each category. @param today the day of the load. */
export async function refreshStaleFunds(on: Transaction, today: string): Promise<void> {
  await on.query('select data.keep_stale_funds($1)', [today]);
}

/** Recomputes the totals of each company; a few hundred rows. */
export async function refreshAmcFigures(on: Transaction): Promise<void> {
  await on.query('select data.keep_amc_figures()');
}
