// GET /v1/funds/{id}/returns and /analytics: the returns and risk figures of a fund, computed from its whole history. The formulas are in
// domain/funds and docs/funds.md.
import { z } from 'zod';
import type { Queryable } from '../../kernel/database.ts';
import { dateIn } from '../../kernel/clock.ts';
import { refuseParam } from '../../kernel/errors.ts';
import { adjustNavs, navOnOrBefore, type AdjustedNav } from '../../domain/funds/adjusted-nav.ts';
import { analyticsFrequencies, analyticsWindows, fundAnalytics } from '../../domain/funds/analytics.ts';
import {
  firstDayOf,
  fiscalYearOf,
  periodReturns,
  returnBases,
  returnPct,
  returnPeriods,
  shortBasisOf,
  sipReturn,
  statedBases,
  usualFirstMonth,
  type PeriodReturn,
} from '../../domain/funds/returns.ts';
import { percent } from '../../domain/percent.ts';
import { formatParam, oneOf } from '../../kernel/http/list.ts';
import { dateParam, flagParam, oneOfParam } from '../../kernel/http/params.ts';
import { addMonths } from '../../kernel/dates.ts';
import { entryAt } from '../../kernel/entries.ts';
import type { Dependencies } from '../dependencies.ts';
import { endpoint } from '../endpoint.ts';
import { digits } from '../../kernel/digits.ts';
import { readCategoryPlaces } from './fund-performance.sql.ts';
import { readLevels, readNavHistory, readPayouts, type SeriesLevels } from './fund-records.sql.ts';
import { fundParam, requireFund } from './funds.ts';
import type { Fund } from './funds.sql.ts';
import { recordReply, requireSameState } from '../list.ts';
import { findDataState } from '../list.sql.ts';

const datasets = ['funds', 'nav', 'payouts', 'series', 'observations'];
const returnsMethod = 'adjusted NAV: payouts reinvested on the ex-date, no loads, no tax';
const sipYears = [1, 3, 5, 10];

const number = z.number().nullable();
const day = z.iso.date().nullable();

const asOfParam = dateParam
  .optional()
  .describe('The last day, from the first NAV of the fund to today; default: the date of the newest NAV.');

/** The facts of the fund in both answers. */
const factsSchema = {
  fund: z.string().describe('The id of the fund.'),
  name: z.string(),
  category: z.string().nullable(),
  currency: z.string(),
  as_of: day.describe('The date of the figures; null if the fund has no NAV.'),
  source: z.string(),
  last_updated: z.iso.date(),
};

const periodSchema = z
  .object({
    period: z.enum(returnPeriods),
    from: day.describe('The date of the first NAV.'),
    to: day,
    nav_from: number.describe('As published, not adjusted.'),
    nav_to: number,
    days: z.int().nullable(),
    value_pct: number.describe('In percent, from the adjusted NAV.'),
    basis: z.enum(returnBases),
    benchmark_pct: number,
    category_avg_pct: number.describe('On the basis `category_basis`.'),
    rank: z.int().nullable().describe('By returns on the basis `category_basis`; 1 is the highest.'),
    rank_of: z.int().nullable(),
    category_basis: z
      .enum(returnBases)
      .describe(
        'Funds are compared by absolute returns below one year, by annualized ones from one year on.',
      ),
    method: z.string(),
  })
  .meta({ id: 'FundReturn' });
const returnColumns = ['fund_id', ...Object.keys(periodSchema.shape)];

const returnsSchema = z.object({
  ...factsSchema,
  basis: z.enum(['auto', ...statedBases]),
  fytd_from: day.describe('The first day of the fiscal year of the period `fytd`.'),
  benchmark: z.string().nullable().describe('A series id.'),
  periods: z.array(periodSchema),
  sip: z
    .array(
      z.object({
        period: z.string(),
        from: day,
        to: day,
        instalments: z.int(),
        final_value: number,
        value_pct: number.describe('In percent per year.'),
        basis: z.literal('xirr'),
        method: z.string(),
      }),
    )
    .describe('Returns of monthly instalments of 100 currency units, over 1, 3, 5 and 10 years.'),
});

/** Category figures are given for the newest state only, as only that is stored for every fund. */
export const getFundReturns = endpoint({
  summary: 'The returns of a fund by period, with its benchmark, category average and rank.',
  params: fundParam,
  query: {
    as_of: asOfParam,
    basis: oneOfParam(['auto', ...statedBases])
      .default('auto')
      .describe(
        'How returns are stated; `by_length`: absolute below one year, annualized (compound) from one year on; `auto`: the same, but below one year annualized (simple) for money-market and income funds.',
      ),
    benchmark: flagParam(true).describe('Whether `benchmark_pct` is filled.'),
    include_stale: flagParam(false).describe(
      'Whether funds whose last NAV is more than 30 days older than the newest of their category and currency have ranks, and count in ranks and averages.',
    ),
    format: formatParam,
  },
  json: oneOf(returnsSchema),
  errors: ['not_found'],
  handler: async ({ database, ...dependencies }, { query, params, call }) => {
    const state = await call.stage('lookup', () => findDataState(database, datasets));
    const fund = await call.stage('lookup', () => requireFund(database, params));
    const asOf = lastDayOf(fund, query.as_of, dependencies);
    const isNewest = asOf === fund.lastNavDate;
    const { navs, benchmark, places } = await call.stage('sql', async () => ({
      navs: await readAdjusted(database, fund, asOf),
      benchmark: query.benchmark ? await readBenchmark(database, fund, asOf) : null,
      places: isNewest ? await readCategoryPlaces(database, fund.fundNo, query.include_stale) : [],
    }));
    await call.stage('lookup', () => requireSameState(database, datasets, state));
    const fiscalYearStart = fund.fiscalYearStart ?? firstDayOf(usualFirstMonth);
    const options = {
      asOf,
      shortBasis: shortBasisOf(fund.assetClass),
      fiscalYearStart,
      inception: fund.launchDate,
    };
    const periods = await call.stage('compute', () => {
      const compared = periodReturns(navs, { ...options, basis: 'by_length' });
      return periodReturns(navs, { ...options, basis: query.basis }).map((record, i) => {
        const { basis } = entryAt(compared, i);
        // Returns since inception are compared among those of a year or longer.
        const isCompared = record.period !== 'since_inception' || basis === 'annualized_compound';
        const place = isCompared ? places.find(({ period }) => period === record.period) : undefined;
        return {
          ...record,
          nav_from: digits(record.nav_from),
          nav_to: digits(record.nav_to),
          benchmark_pct: benchmark === null ? null : benchmarkPct(benchmark.levels, record),
          category_avg_pct: percent(place?.averagePct ?? NaN),
          rank: place?.rank ?? null,
          rank_of: place?.rankOf ?? null,
          category_basis: basis,
          method: returnsMethod,
        };
      });
    });
    const data = {
      ...factsOf(fund, asOf),
      basis: query.basis,
      fytd_from:
        fund.lastNavDate === null ? null : fiscalYearOf(entryAt(periods, 0).to ?? asOf, fiscalYearStart),
      benchmark: benchmark?.seriesId ?? null,
      periods,
      sip: sipYears.map((years) => sipOver(navs, asOf, years)),
    };
    const rows = periods.map((period) => ({ fund_id: fund.id, ...period }));
    const csv = { fileName: `${fund.id}-returns`, rows, columns: returnColumns };
    return recordReply({ data, state, csv: query.format === 'csv' ? csv : undefined });
  },
});

const analyticsSchema = z.object({
  ...factsSchema,
  window: z.enum(analyticsWindows),
  frequency: z.enum(analyticsFrequencies),
  from: day,
  to: day,
  n_obs: z.int().describe('The number of periodic returns of the fund.'),
  benchmark_n_obs: z.int().describe('The number of them on dates that the benchmark also has.'),
  return_annualized_pct: number,
  basis: z.literal('annualized_compound'),
  volatility_pct: number,
  sharpe: number,
  sortino: number,
  max_drawdown_pct: number.describe('Zero or negative.'),
  max_drawdown: z.object({ peak_date: day, trough_date: day, recovery_date: day }),
  calmar: number,
  var_95_pct: number.describe('The 5th percentile of the periodic returns.'),
  best_month: z.string().nullable().describe('`YYYY-MM`'),
  best_month_pct: number,
  worst_month: z.string().nullable(),
  worst_month_pct: number,
  positive_months_pct: number,
  alpha_pct: number,
  beta: number,
  r_squared: number,
  correlation: number,
  tracking_error_pct: number,
  information_ratio: number,
  treynor: number,
  up_capture_pct: number,
  down_capture_pct: number,
  method: z.string().describe('The returns used, the number of periods per year, and the risk-free rate.'),
  risk_free: z.string().nullable().describe('A series id.'),
  benchmark: z.string().nullable().describe('A series id.'),
});

export const getFundAnalytics = endpoint({
  summary: 'The risk and performance figures of a fund.',
  params: fundParam,
  query: {
    window: oneOfParam(analyticsWindows)
      .default('1y')
      .describe('The number of years; `si`: since inception.'),
    frequency: oneOfParam(analyticsFrequencies)
      .default('daily')
      .describe('The frequency of the returns that the figures are computed from.'),
    as_of: asOfParam,
    risk_free: z
      .string()
      .optional()
      .describe('The id of a series of rates in percent per year; default: a rate of 0.'),
    benchmark: z.string().optional().describe("The id of a series of levels; default: the fund's benchmark."),
  },
  json: oneOf(analyticsSchema),
  errors: ['not_found'],
  handler: async ({ database, ...dependencies }, { query, params, call }) => {
    const state = await call.stage('lookup', () => findDataState(database, datasets));
    const fund = await call.stage('lookup', () => requireFund(database, params));
    const asOf = lastDayOf(fund, query.as_of, dependencies);
    const { navs, riskFree, benchmark } = await call.stage('sql', async () => ({
      navs: await readAdjusted(database, fund, asOf),
      riskFree:
        query.risk_free === undefined
          ? null
          : await requireLevels(database, query.risk_free, asOf, 'risk_free'),
      benchmark: await readBenchmark(database, fund, asOf, query.benchmark),
    }));
    await call.stage('lookup', () => requireSameState(database, datasets, state));
    const figures = await call.stage('compute', () =>
      fundAnalytics(navs, {
        window: query.window,
        frequency: query.frequency,
        asOf,
        inception: fund.launchDate,
        riskFree: riskFree?.points.map(({ date, value }) => ({ date, rate_pct: value })) ?? null,
        benchmark: benchmark?.levels ?? null,
      }),
    );
    const data = {
      ...factsOf(fund, asOf),
      ...figures,
      risk_free: riskFree?.seriesId ?? null,
      benchmark: benchmark?.seriesId ?? null,
    };
    return recordReply({ data, state });
  },
});

/** The last day of the figures: the requested one, else that of the newest NAV. @throws Failure if no figures are possible for it. */
function lastDayOf(
  { firstNavDate, lastNavDate }: Fund,
  asked: string | undefined,
  { clock, seriesTimeZone }: Pick<Dependencies, 'clock' | 'seriesTimeZone'>,
): string {
  if (asked === undefined) return lastNavDate ?? '0001-01-01';
  const today = dateIn(seriesTimeZone, clock.now());
  if (asked <= today && (firstNavDate === null || asked >= firstNavDate)) return asked;
  const span = firstNavDate === null ? 'on or before' : `from ${firstNavDate}, the day of the first NAV, to`;
  return refuseParam('as_of', `"as_of" must be ${span} ${today}, today (${seriesTimeZone}).`);
}

function factsOf(fund: Fund, asOf: string) {
  const { id, name, category, currency, source, lastNavDate, lastUpdated } = fund;
  return {
    fund: id,
    name,
    category,
    currency,
    as_of: lastNavDate === null ? null : asOf,
    source,
    last_updated: lastUpdated,
  };
}

async function readAdjusted(database: Queryable, { fundNo }: Fund, asOf: string): Promise<AdjustedNav[]> {
  return adjustNavs(await readNavHistory(database, fundNo, asOf), await readPayouts(database, fundNo));
}

/**
 * The levels of the requested series, else of the fund's benchmark. A benchmark that was deleted or is not loaded yet is ignored.
 * @throws Failure `invalid_parameter` if the requested series does not exist.
 */
async function readBenchmark(database: Queryable, { benchmarkSeries }: Fund, asOf: string, asked?: string) {
  const seriesId = asked ?? benchmarkSeries;
  if (seriesId === null) return null;
  const found =
    asked === undefined
      ? await readLevels(database, seriesId, asOf)
      : await requireLevels(database, asked, asOf, 'benchmark');
  if (found === undefined) return null;
  const levels = adjustNavs(
    found.points.map(({ date, value }) => ({ date, nav: value })),
    [],
  );
  return { seriesId, levels };
}

/** @throws Failure `invalid_parameter` if the series does not exist. */
async function requireLevels(
  database: Queryable,
  seriesId: string,
  asOf: string,
  param: string,
): Promise<SeriesLevels> {
  const found = await readLevels(database, seriesId, asOf);
  return found ?? refuseParam(param, `"${param}" must be the id of a series that exists.`);
}

/** The benchmark's return between the same dates, on the same basis. */
function benchmarkPct(
  levels: readonly AdjustedNav[],
  { from, to, days, basis }: PeriodReturn,
): number | null {
  if (from === null || to === null || days === null) return null;
  const [start, end] = [navOnOrBefore(levels, from), navOnOrBefore(levels, to)];
  return start === null || end === null ? null : returnPct(end.adjusted / start.adjusted, days, basis);
}

/** Instalments of 100 a month over the given years, the first one that long before the end. */
function sipOver(navs: readonly AdjustedNav[], asOf: string, years: number) {
  const end = navOnOrBefore(navs, asOf)?.date ?? asOf;
  const months = 12 * years;
  const instalmentDates = Array.from({ length: months }, (_, i) => addMonths(end, i - months));
  return {
    period: `${years}y`,
    ...sipReturn(navs, { instalmentDates, instalment: 100, asOf }),
    method: returnsMethod,
  };
}
