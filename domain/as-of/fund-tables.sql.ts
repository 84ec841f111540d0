// The tables of funds as of a day. Rows are those that loads have kept, figures are those that were replaced later, and the rest is computed from
// both.
import { memberOf } from '../../kernel/entries.ts';
import { withFormerRows } from './former-rows.sql.ts';
import { dayMark, lastRows, type AsOfTable } from './tables.sql.ts';

const words = (text: string): readonly string[] => text.trim().split(/\s+/);
const columnsOf = (row: string, names: readonly string[]): string =>
  names.map((name) => `${row}.${name}`).join(', ');
const typed = (type: string, names: string): Record<string, string> =>
  Object.fromEntries(words(names).map((name) => [name, type]));

/** A table from which no load deletes rows, with the day of the load that last changed each row. */
const withDays = (table: string, columns: string): AsOfTable => ({
  needs: ['loads'],
  sql: `
    select ${columnsOf('k', words(columns))}, (select l.loaded_at::date from as_of_loads l where l.load_no = k.load_no) as updated_on
    from (${lastRows(table)}) k where k.load_no is not null`,
});

const amcs = withDays(
  'amcs',
  'amc_id name short_name licence_no rating rating_agency rating_date website established source fiscal_year_first_month',
);

const funds = withDays(
  'funds',
  `fund_no fund_id name short_name former_names symbol isin isin_payout isin_reinvestment source_code former_codes amc_id category asset_class
  structure shariah_compliant risk_profile benchmark benchmark_series plan option currency launch_date status merged_into objective trustee
  registrar auditor fund_managers listing rating rating_outlook rating_agency rating_date amc_rating pricing_mechanism dealing_days
  minimum_investment management_fee_pct front_end_load_pct back_end_load_pct contingent_load_pct dividend_policy leverage source
  fiscal_year_first_month`,
);

/** As data.keep_fund_codes. */
const fundCodes: AsOfTable = {
  needs: ['funds'],
  sql: `
    select distinct code, f.fund_no from as_of_funds f,
      unnest(f.former_codes || array[f.symbol, f.isin, f.isin_payout, f.isin_reinvestment, f.source_code]) code
    where code is not null and code <> f.fund_id`,
};

const navs = withFormerRows({
  name: 'navs',
  dataset: 'nav',
  columns: {
    ...typed('integer', 'fund_no'),
    ...typed('date', 'date validity_date'),
    ...typed('numeric', 'nav offer_price repurchase_price aum units_outstanding'),
  },
});

const payouts = withFormerRows({
  name: 'payouts',
  dataset: 'payouts',
  columns: {
    ...typed('integer', 'fund_no'),
    ...typed('date', 'ex_date announcement_date payment_date record_date'),
    ...typed('text', 'type kind financial_year source'),
    ...typed('numeric', 'payout_per_unit payout_pct_of_par ex_nav cum_nav split_ratio'),
  },
});

const expenses = withFormerRows({
  name: 'expenses',
  dataset: 'expenses',
  columns: {
    ...typed('integer', 'fund_no'),
    ...typed('date', 'period_end'),
    ...typed('text', 'period_type source'),
    ...typed(
      'numeric',
      `ter_pct ter_excl_levies_pct government_levies_pct management_fee_pct selling_marketing_pct accounting_pct trustee_fee_pct
      secp_fee_pct limit_pct`,
    ),
  },
});

const portfolioLines = withFormerRows({
  name: 'portfolio_lines',
  dataset: 'portfolio',
  columns: {
    ...typed('integer', 'fund_no rank'),
    ...typed('date', 'as_of maturity_date'),
    ...typed('text', 'section name isin code type sector rating disclosure_scope source'),
    ...typed(
      'numeric',
      `quantity market_value pct_net_assets pct_total_assets coupon_pct ytm_pct weighted_avg_maturity_days modified_duration
      portfolio_ytm_pct cash_pct leverage_pct`,
    ),
  },
});

const periods = words('1d 7d 15d 1m 3m 6m 1y 2y 3y 5y 10y mtd ytd fytd since_inception');
const returnColumns = periods.map((period) => `return_${period}_pct`);
const figureColumns = [
  ...words('fund_no fund_id as_of nav first_nav_date aum aum_date ter_pct ter_date age_years'),
  ...returnColumns,
  ...words('volatility_1y_pct sharpe_1y max_drawdown_1y_pct updated_on is_stale fytd_from'),
];

/** The day on which the figures as of the day were replaced; null if they are still current. @param fundNo SQL for the fund. */
const replacedOn = (fundNo: string): string =>
  `(select min(r.replaced_on) from data.former_fund_figures r where r.fund_no = ${fundNo} and r.replaced_on > ${dayMark})`;

/** The rows of a table of figures, for the funds as of the day. */
const figuresThen = (table: string, columns: readonly string[]): AsOfTable => ({
  needs: ['funds'],
  sql: `
    select ${columnsOf('g', columns)} from as_of_funds f join data.${table} g using (fund_no) where ${replacedOn('f.fund_no')} is null
    union all
    select ${columnsOf('g', columns)} from as_of_funds f join data.former_${table} g using (fund_no)
    where g.replaced_on = ${replacedOn('f.fund_no')}`,
});

/** As data.keep_amc_figures. */
const amcFigures: AsOfTable = {
  needs: ['funds', 'fund_figures'],
  sql: `
    select amc_id, funds_count, currency, aum_total, aum_date,
      case when count(aum_total) over same_day > 1 or count(aum_total) over (partition by currency) = 1
        then data.percent_of(aum_total, sum(aum_total) over same_day) end as market_share_pct
    from (
      select amc_id, count(*)::integer as funds_count, max(aum_date) as aum_date,
        case when count(distinct currency) = 1 then min(currency) end as currency,
        case when count(distinct currency) = 1 then sum(aum) filter (where aum_date >= newest - 92) end as aum_total
      from (
        select f.amc_id, f.currency, g.aum, g.aum_date, max(g.aum_date) over (partition by f.amc_id) as newest
        from as_of_funds f left join as_of_fund_figures g using (fund_no)
        where f.status is null or f.status in ('active', 'suspended')) funds
      group by amc_id) sums
    window same_day as (partition by currency, aum_date)`,
};

/** Computed once, as the history of a company's assets looks up a NAV of each fund in each month. */
const formerNavs: AsOfTable = { ...memberOf(navs, 'former_navs'), isOnce: true };

export const fundTables: Readonly<Record<string, AsOfTable>> = {
  amcs,
  funds,
  fund_codes: fundCodes,
  ...navs,
  former_navs: formerNavs,
  ...payouts,
  ...expenses,
  ...portfolioLines,
  fund_figures: figuresThen('fund_figures', figureColumns),
  fund_returns: figuresThen('fund_returns', ['fund_no', 'basis', ...returnColumns]),
  amc_figures: amcFigures,
};
