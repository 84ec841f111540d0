// The statements for portfolios: the dates that exist, and the lines of one.
import type { Queryable } from '../../kernel/database.ts';
import { entryAt } from '../../kernel/entries.ts';

/** The dates of the newest portfolio on or before a day, and of the previous portfolio. */
export async function findPortfolioDays(
  database: Queryable,
  fundNo: number,
  to: string,
): Promise<{ asOf: string }[]> {
  return database.query(
    `select distinct as_of as "asOf" from data.portfolio_lines where fund_no = $1 and as_of <= $2
     order by as_of desc limit 2`,
    [fundNo, to],
  );
}

/** A line of a portfolio; numbers are published digits. */
export interface PortfolioLine extends Record<string, string | number | null> {
  section: string;
  rank: number;
  name: string | null;
  type: string | null;
  sector: string | null;
  rating: string | null;
  pct_net_assets: string | null;
  source: string | null;
  last_updated: string;
}

/** The lines of the portfolio of a day, by section and rank. */
export async function readPortfolio(
  database: Queryable,
  fundNo: number,
  asOf: string,
): Promise<PortfolioLine[]> {
  return database.query<PortfolioLine>(
    `select section, rank, name, isin, code, type, sector, rating, quantity, market_value, pct_net_assets,
       pct_total_assets, coupon_pct, ytm_pct, maturity_date, weighted_avg_maturity_days, modified_duration,
       portfolio_ytm_pct, cash_pct, leverage_pct, disclosure_scope, source, updated_on as last_updated
     from data.portfolio_lines where fund_no = $1 and as_of = $2 order by section, rank`,
    [fundNo, asOf],
  );
}

/**
 * The shares of a portfolio by asset class, rating or sector, largest first: as published, else summed from the
 * holdings if all of them are known.
 */
export async function readBreakdown(
  database: Queryable,
  fundNo: number,
  asOf: string,
  section: 'asset_class' | 'rating' | 'sector',
): Promise<{ name: string; pct: string }[]> {
  const column = section === 'asset_class' ? 'type' : section;
  return database.query(
    `with lines as (select * from data.portfolio_lines where fund_no = $1 and as_of = $2),
     published as (select name, pct_net_assets as pct from lines where section = $3 and pct_net_assets is not null)
     select name, pct from published
     union all
     select ${column}, data.percent_of(sum(pct_net_assets), 100) from lines
     where section = 'holding' and ${column} is not null and not exists (select from published)
       and exists (select from lines where section = 'summary' and disclosure_scope = 'full')
     group by ${column} having sum(pct_net_assets) is not null
     order by pct desc, name`,
    [fundNo, asOf, section],
  );
}

/** The total share of the ten largest holdings; null if fewer have a share. */
export async function readTopTen(database: Queryable, fundNo: number, asOf: string): Promise<string | null> {
  const rows = await database.query<{ pct: string | null }>(
    `select case when count(*) = 10 then data.percent_of(sum(pct_net_assets), 100) end as pct from (
       select pct_net_assets from data.portfolio_lines
       where fund_no = $1 and as_of = $2 and section = 'holding' and pct_net_assets is not null
       order by pct_net_assets desc limit 10) top`,
    [fundNo, asOf],
  );
  return entryAt(rows, 0).pct;
}
