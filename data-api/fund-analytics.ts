// Risk and return of a fund over one, three, five years or since inception, against a benchmark and a risk-free rate.
// Hides which NAVs are compared, when a history is too short or too thin, and which rate was in force in each period.
import { addMonths, dayNumber, fromDayNumber, periodEnd } from '../kernel/periods.ts';
import { inceptionNav, navOnOrBefore, navsBetween, navSlackDays, type AdjustedNav } from './adjusted-nav.ts';
import { returnPct } from './fund-returns.ts';
import {
  alpha,
  beta,
  calmar,
  capture,
  correlation,
  finite,
  informationRatio,
  maxDrawdown,
  sharpe,
  sortino,
  treynor,
  valueAtRisk95,
  volatility,
} from './risk-figures.ts';

export const analyticsWindows = ['1y', '3y', '5y', 'si'] as const;
export type AnalyticsWindow = (typeof analyticsWindows)[number];

export const analyticsFrequencies = ['daily', 'monthly'] as const;
export type AnalyticsFrequency = (typeof analyticsFrequencies)[number];

/** A yearly rate in percent points, in force from its date until the next. */
export interface RatePoint {
  date: string;
  rate_pct: string | null;
}

export interface AnalyticsOptions {
  window: AnalyticsWindow;
  frequency: AnalyticsFrequency;
  /** The window ends at the last NAV on or before this day, at most `navSlackDays` before it. */
  asOf: string;
  /** As in `ReturnOptions`; matters to the window `si`. */
  inception: string | null;
  /** Null: the risk-free rate is zero. */
  riskFree: readonly RatePoint[] | null;
  /** An index as `adjustNavs` answers it; null: no benchmark. */
  benchmark: readonly AdjustedNav[] | null;
}

export interface FundAnalytics {
  window: AnalyticsWindow;
  frequency: AnalyticsFrequency;
  from: string | null;
  to: string | null;
  /** Periodic returns of the fund, and those on dates that the benchmark shares. */
  n_obs: number;
  benchmark_n_obs: number;
  return_annualized_pct: number | null;
  /** What `return_annualized_pct` is. */
  basis: 'annualized_compound';
  volatility_pct: number | null;
  sharpe: number | null;
  sortino: number | null;
  /** Zero or negative. */
  max_drawdown_pct: number | null;
  max_drawdown: { peak_date: string | null; trough_date: string | null; recovery_date: string | null };
  calmar: number | null;
  /** The 5th percentile of the returns of one period: a negative figure is a loss. */
  var_95_pct: number | null;
  /** Of the calendar months that lie wholly in the window; a month is `YYYY-MM`. */
  best_month: string | null;
  best_month_pct: number | null;
  worst_month: string | null;
  worst_month_pct: number | null;
  positive_months_pct: number | null;
  alpha_pct: number | null;
  beta: number | null;
  r_squared: number | null;
  correlation: number | null;
  tracking_error_pct: number | null;
  information_ratio: number | null;
  treynor: number | null;
  up_capture_pct: number | null;
  down_capture_pct: number | null;
  /** In words: which returns, how many a year, which risk-free rate. */
  method: string;
}

const periodsPerYear: Record<AnalyticsFrequency, number> = { daily: 252, monthly: 12 };
const minimumReturns = 24;

// What counts as daily. Fewer and √252 would scale weekly returns; more and the fund publishes on days without trading.
const fewestDailyNavsPerYear = 200;
const mostDailyNavsPerYear = 275;

/**
 * The figures of a window. All are null where the history does not cover the whole window, is too thin for the frequency,
 * or has fewer than 24 returns; the figures against the benchmark, where that is so for the dates it shares with the fund.
 * @param navs what `adjustNavs` answers.
 */
export function fundAnalytics(navs: readonly AdjustedNav[], options: AnalyticsOptions): FundAnalytics {
  const { window, frequency } = options;
  const sample = frequency === 'daily' ? dailySample(navs, options) : monthlySample(navs, options);
  const enough = isEnough(sample, frequency) ? sample : [];
  return {
    window,
    frequency,
    from: enough[0]?.date ?? null,
    to: enough.at(-1)?.date ?? null,
    n_obs: Math.max(0, sample.length - 1),
    basis: 'annualized_compound',
    ...ownFigures(enough, options),
    ...monthFigures(navs, enough),
    ...benchmarkFigures(enough, options),
    method: methodText(options),
  };
}

type Sample = readonly AdjustedNav[];

/** The NAVs from the start of the window to its end; empty where the history does not reach back to the start. */
function dailySample(navs: Sample, { window, asOf, inception }: AnalyticsOptions): Sample {
  const end = navOnOrBefore(navs, asOf);
  if (end === null) return [];
  const start =
    window === 'si' ? inceptionNav(navs, inception) : navOnOrBefore(navs, yearsBefore(end.date, window));
  if (start === null) return [];
  const all = navsBetween(navs, start.date, end.date);
  if (perYear(all) <= mostDailyNavsPerYear) return all;
  return all.filter((nav) => nav === start || nav === end || !isWeekend(nav.date));
}

/** The last NAV of each month of the window and of the one before it; empty where one of them has none near its end. */
function monthlySample(navs: Sample, { window, asOf, inception }: AnalyticsOptions): Sample {
  const lastMonthEnd = lastMonthEndBy(asOf);
  const first = window === 'si' ? inceptionNav(navs, inception)?.date : yearsBefore(lastMonthEnd, window);
  return first === undefined ? [] : monthEndNavs(navs, first, lastMonthEnd);
}

/** One NAV per month end from the first on or after `from` to the last on or before `to`; empty if any is missing. */
function monthEndNavs(navs: Sample, from: string, to: string): Sample {
  const found: AdjustedNav[] = [];
  for (
    let month = periodEnd(from, 'monthly');
    month <= to;
    month = periodEnd(addMonths(month, 1), 'monthly')
  ) {
    const nav = navOnOrBefore(navs, month);
    if (nav === null) return [];
    found.push(nav);
  }
  return found;
}

function isEnough(sample: Sample, frequency: AnalyticsFrequency): boolean {
  if (sample.length - 1 < minimumReturns || sample.some((nav) => !Number.isFinite(nav.adjusted)))
    return false;
  return frequency === 'monthly' || perYear(sample) >= fewestDailyNavsPerYear;
}

function ownFigures(sample: Sample, { frequency, riskFree }: AnalyticsOptions) {
  const p = periodsPerYear[frequency];
  const values = sample.map((nav) => nav.adjusted);
  const returns = returnsOf(values);
  const excess = lessRiskFree(returns, sample, riskFree, p);
  const days = daysOf(sample);
  // A year's figure is not made from a part of a year (the rule of the GIPS standards).
  const annualPct =
    days < 365 ? null : returnPct((values.at(-1) ?? 0) / (values[0] ?? 0), days, 'annualized_compound');
  const { depth, peak, trough, recovery } = maxDrawdown(values);
  const dateAt = (position: number | null) => (position === null ? null : (sample[position]?.date ?? null));
  return {
    return_annualized_pct: annualPct,
    volatility_pct: pct(volatility(returns, p)),
    sharpe: excess === null ? null : sharpe(excess, p),
    sortino: excess === null ? null : sortino(excess, p),
    max_drawdown_pct: sample.length === 0 ? null : pct(depth),
    max_drawdown: { peak_date: dateAt(peak), trough_date: dateAt(trough), recovery_date: dateAt(recovery) },
    calmar: annualPct === null ? null : calmar(annualPct / 100, depth),
    var_95_pct: pct(valueAtRisk95(returns)),
  };
}

/** Best and worst calendar month, and the share of months above zero, whatever the frequency of the other figures. */
function monthFigures(navs: Sample, sample: Sample) {
  const [first, last] = [sample[0], sample.at(-1)];
  const monthEnds = first && last ? monthEndNavs(navs, first.date, lastMonthEndBy(last.date)) : [];
  const returns = returnsOf(monthEnds.map((nav) => nav.adjusted));
  const [best, worst] = [returns.indexOf(Math.max(...returns)), returns.indexOf(Math.min(...returns))];
  const month = (position: number) => monthEnds[position + 1]?.date.slice(0, 7) ?? null;
  const positive = returns.filter((value) => value > 0).length;
  return {
    best_month: month(best),
    best_month_pct: pct(returns[best] ?? null),
    worst_month: month(worst),
    worst_month_pct: pct(returns[worst] ?? null),
    positive_months_pct: pct(finite(positive / returns.length)),
  };
}
