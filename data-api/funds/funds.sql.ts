// The statements for funds: the list, the screener, the profile, and the lookup of a fund by id or code. All figures are precomputed; no
// call computes any. The tables are in migrations/000030_funds.sql.
import { z } from 'zod';
import { assetClasses, fundStructures, shownFundStatuses } from '../../domain/funds/enums.ts';
import { returnPeriods, statedBases, type StatedBasis } from '../../domain/funds/returns.ts';
import type { Queryable } from '../../kernel/database.ts';
import { boolean, date, filled, json, number, sorted, text, word } from '../list-fields.ts';
import { Conditions, escapeLike, type List, type ListField } from '../list.sql.ts';

/** The datasets whose loads change the lists of funds. */
const datasets = ['funds', 'amcs', 'nav', 'payouts', 'expenses'];

/** `f` is a fund, `g` its figures, `a` its manager. */
const from = 'data.fund_figures g join data.funds f using (fund_no) left join data.amcs a using (amc_id)';

const lastUpdated = filled(date('greatest(f.updated_on, g.updated_on)'));

/** The status given by the source, else the one derived from staleness, of `f` and `g`. */
export const shownStatus = "coalesce(f.status, case when g.is_stale then 'inactive' end)";

/** The manager and type of a fund. */
const classFields = {
  amc_id: text('f.amc_id'),
  amc_name: text('a.name'),
  category: text('f.category'),
  asset_class: word('f.asset_class', assetClasses),
  structure: word('f.structure', fundStructures),
  shariah_compliant: boolean('f.shariah_compliant'),
  risk_profile: text('f.risk_profile'),
};

export const fundsList: List = {
  name: 'funds',
  datasets,
  from,
  fields: {
    id: sorted(filled(text('g.fund_id'))),
    symbol: text('f.symbol'),
    isin: text('f.isin'),
    source_code: text('f.source_code'),
    name: sorted(filled(text('f.name'))),
    short_name: text('f.short_name'),
    ...classFields,
    benchmark: text('f.benchmark'),
    plan: text('f.plan'),
    option: text('f.option'),
    currency: filled(text('f.currency')),
    launch_date: sorted(date('f.launch_date')),
    status: word(shownStatus, shownFundStatuses),
    merged_into: text('f.merged_into'),
    nav: number('g.nav'),
    nav_date: sorted(date('g.as_of')),
    aum: sorted(number('g.aum')),
    aum_date: date('g.aum_date'),
    ter_pct: sorted(number('g.ter_pct')),
    return_ytd_pct: sorted(number('g.return_ytd_pct')),
    return_1y_pct: sorted(number('g.return_1y_pct')),
    as_of: date('g.as_of'),
    source: filled(text('f.source')),
    last_updated: lastUpdated,
  },
  key: ['id'],
  sort: 'id',
};

/** The list's fields and all further fields of a fund. */
export const fundProfile: List = {
  ...fundsList,
  fields: {
    ...fundsList.fields,
    isin_payout: text('f.isin_payout'),
    isin_reinvestment: text('f.isin_reinvestment'),
    former_names: filled(json('f.former_names', z.array(z.string()))),
    former_codes: filled(json('f.former_codes', z.array(z.string()))),
    benchmark_series: text('f.benchmark_series'),
    objective: text('f.objective'),
    trustee: text('f.trustee'),
    registrar: text('f.registrar'),
    auditor: text('f.auditor'),
    fund_managers: filled(json('f.fund_managers', z.array(z.string()))),
    listing: text('f.listing'),
    fund_rating: json(
      `case when f.rating is not null then json_build_object(
         'rating', f.rating, 'outlook', f.rating_outlook, 'agency', f.rating_agency, 'date', f.rating_date) end`,
      z.object({
        rating: z.string(),
        outlook: z.string().nullable(),
        agency: z.string().nullable(),
        date: z.iso.date().nullable(),
      }),
    ),
    amc_rating: text('coalesce(f.amc_rating, a.rating)'),
    pricing_mechanism: text('f.pricing_mechanism'),
    dealing_days: filled(
      json(
        `array(select json_build_object('days', parts[1], 'cut_off', parts[2])
         from unnest(f.dealing_days) stated, regexp_match(stated, '^(.*?)(?:\\s+(\\d{1,2}:\\d{2}))?$') parts)`,
        z.array(z.object({ days: z.string(), cut_off: z.string().nullable() })),
      ),
    ),
    minimum_investment: number('f.minimum_investment'),
    management_fee_pct: number('f.management_fee_pct'),
    front_end_load_pct: number('f.front_end_load_pct'),
    back_end_load_pct: number('f.back_end_load_pct'),
    contingent_load_pct: number('f.contingent_load_pct'),
    dividend_policy: text('f.dividend_policy'),
    leverage: text('f.leverage'),
  },
};

/** The screened figures, by which it is ordered and bounded. @param r the row with the returns. */
const screenedFigures = (r: 'g' | 'r'): Readonly<Record<string, ListField>> => ({
  aum: sorted(number('g.aum')),
  ter_pct: sorted(number('g.ter_pct')),
  age_years: sorted(number('g.age_years')),
  ...Object.fromEntries(
    returnPeriods.map((period) => [`return_${period}_pct`, sorted(number(`${r}.return_${period}_pct`))]),
  ),
  volatility_1y_pct: sorted(number('g.volatility_1y_pct')),
  sharpe_1y: sorted(number('g.sharpe_1y')),
  max_drawdown_1y_pct: sorted(number('g.max_drawdown_1y_pct')),
});

/** The screener, with all returns on one basis. */
const screenerOn = (basis: StatedBasis): List => ({
  name: 'funds-screener',
  datasets,
  from:
    basis === 'by_length'
      ? from
      : `${from} left join data.fund_returns r on r.fund_no = g.fund_no and r.basis = '${basis}'`,
  fields: {
    id: sorted(filled(text('g.fund_id'))),
    name: sorted(filled(text('f.name'))),
    ...classFields,
    rating: text('f.rating'),
    currency: filled(text('f.currency')),
    status: word(shownStatus, shownFundStatuses),
    nav: number('g.nav'),
    ...screenedFigures(basis === 'by_length' ? 'g' : 'r'),
    fytd_from: date('g.fytd_from'),
    returns_basis: filled(word(`'${basis}'`, statedBases)),
    as_of: sorted(date('g.as_of')),
    source: filled(text('f.source')),
    last_updated: lastUpdated,
  },
  key: ['id'],
  sort: '-return_1y_pct',
});

export const screeners = Object.fromEntries(statedBases.map((basis) => [basis, screenerOn(basis)])) as Record<
  StatedBasis,
  List
>;

interface FundFilter {
  amc?: readonly string[] | undefined;
  category?: readonly string[] | undefined;
  asset_class?: readonly string[] | undefined;
  shariah?: boolean | undefined;
  structure?: readonly string[] | undefined;
  risk_profile?: readonly string[] | undefined;
  status?: readonly string[] | undefined;
  currency?: readonly string[] | undefined;
  /** Part of a name or of a code, case-insensitive. */
  q?: string | undefined;
}

/** The conditions of a filter; a fund without the field does not pass. */
export function fundsWhere(filter: FundFilter): Conditions {
  const containing = filter.q === undefined ? undefined : `%${escapeLike(filter.q)}%`;
  return new Conditions()
    .equals('amc', filter.amc, 'f.amc_id')
    .equals('category', filter.category, 'f.category')
    .isOneOf(filter.asset_class, 'f.asset_class')
    .and(filter.shariah, (p) => `f.shariah_compliant = ${p}`)
    .isOneOf(filter.structure, 'f.structure')
    .equals('risk_profile', filter.risk_profile, 'f.risk_profile')
    .any(filter.status, (p) => `(f.status = ${p} or (${p} = 'inactive' and f.status is null and g.is_stale))`)
    .equals('currency', filter.currency, 'f.currency')
    .and(
      containing,
      (p) =>
        `f.fund_no in (
           select fund_no from data.funds where fund_id ilike ${p} or name ilike ${p} or short_name ilike ${p}
           union select fund_no from data.fund_codes where code ilike ${p})`,
    );
}

/** Excludes matured, closed and merged funds; their last figures are old. */
export function excludeEnded(where: Conditions): void {
  where.sql.push("(f.status is null or f.status in ('active', 'suspended'))");
}

/**
 * Excludes funds whose last NAV is stale: their figures are as of another time than those of their category. @param status only funds with
 * it.
 */
export function excludeStale(where: Conditions, status?: 'active'): void {
  where.sql.push(
    status === undefined ? 'not g.is_stale' : `not (g.is_stale and coalesce(f.status, '') = '${status}')`,
  );
}

/** Adds a minimum or maximum rating; a rating such as AA(f) is read without its brackets. */
export function addRatingBound(where: Conditions, side: 'min' | 'max', rating: string | undefined): void {
  where.and(
    rating,
    (p) =>
      `data.rating_rank(regexp_replace(f.rating, '\\s*\\(.*\\)$', '')) ${side === 'min' ? '<=' : '>='} data.rating_rank(${p})`,
  );
}

/** The facts of a fund for calls about one fund. */
export interface Fund {
  fundNo: number;
  id: string;
  name: string;
  category: string | null;
  assetClass: string | null;
  currency: string;
  launchDate: string | null;
  benchmarkSeries: string | null;
  source: string;
  /** The dates of its first and last NAV; null if it has none. */
  firstNavDate: string | null;
  lastNavDate: string | null;
  /** `MM-DD`, the first day of the fiscal year that its figures count from; null if it has no NAV. */
  fiscalYearStart: string | null;
  lastUpdated: string;
}

/** The fund with the id, else the only one with the code. */
export async function findFund(database: Queryable, name: string): Promise<Fund | undefined> {
  const [fund] = await database.query<Fund>(
    `select f.fund_no as "fundNo", f.fund_id as id, f.name, f.category, f.asset_class as "assetClass", f.currency,
       f.launch_date as "launchDate", f.benchmark_series as "benchmarkSeries", f.source, g.first_nav_date as "firstNavDate",
       g.as_of as "lastNavDate",
       to_char(g.fytd_from, 'MM-DD') as "fiscalYearStart",
       greatest(f.updated_on, g.updated_on) as "lastUpdated"
     from data.funds f left join data.fund_figures g using (fund_no)
     where f.fund_no = coalesce((select fund_no from data.funds where fund_id = $1),
       (select min(fund_no) from data.fund_codes where code in ($1, upper($1)) having count(distinct fund_no) = 1))`,
    [name],
    'find_fund',
  );
  return fund;
}

/** Ids spelled similarly, for a hint. */
export async function findFundIdsNear(database: Queryable, name: string): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    `select fund_id as id from data.funds where fund_id = lower($1)
     union (select fund_id from data.funds where fund_id >= $1 order by fund_id limit 3)
     union (select fund_id from data.funds where fund_id < $1 order by fund_id desc limit 3)`,
    [name],
  );
  return rows.map(({ id }) => id);
}
