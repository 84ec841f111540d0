// Risk and return of a fund over one, three, five years or since inception, against a benchmark and a risk-free rate. Decides which NAVs
// are compared, when a history is too short or too sparse, and which rate applies in each period.
import { addDays, addMonths, dayNumber, isWeekend } from '../../kernel/dates.ts';
import { entryAt } from '../../kernel/entries.ts';
import { percent } from '../percent.ts';
import { periodEnd } from '../periods.ts';
import { inceptionNav, navOnOrBefore, navsBetween, navSlackDays, type AdjustedNav } from './adjusted-nav.ts';
import { returnOf } from './returns.ts';
import {
  alpha,
  beta,
  calmar,
  capture,
  correlation,
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

/** A yearly rate in percentage points, valid from its date until the next. */
export interface RatePoint {
  date: string;
  rate_pct: string | null;
}

export interface AnalyticsOptions {
  window: AnalyticsWindow;
  frequency: AnalyticsFrequency;
  /** The window ends at the last NAV on or before this day, at most `navSlackDays` before it. */
  asOf: string;
  /** As in `ReturnOptions`; used by the window `si`. */
  inception: string | null;
  /** Null: the risk-free rate is zero. */
  riskFree: readonly RatePoint[] | null;
  /** An index from `adjustNavs`; null: no benchmark. */
  benchmark: readonly AdjustedNav[] | null;
}

export interface FundAnalytics {
  window: AnalyticsWindow;
  frequency: AnalyticsFrequency;
  from: string | null;
  to: string | null;
  /** The number of periodic returns of the fund, and of those on dates that the benchmark also has. */
  n_obs: number;
  benchmark_n_obs: number;
  return_annualized_pct: number | null;
  /** The basis of `return_annualized_pct`. */
  basis: 'annualized_compound';
  volatility_pct: number | null;
  sharpe: number | null;
  sortino: number | null;
  /** Zero or negative. */
  max_drawdown_pct: number | null;
  /** All null if the value never fell; the recovery date is null if the peak is not reached again in the window. */
  max_drawdown: { peak_date: string | null; trough_date: string | null; recovery_date: string | null };
  calmar: number | null;
  /** The 5th percentile of the periodic returns; negative for a loss. */
  var_95_pct: number | null;
  /** From the calendar months that lie wholly in the window; a month is `YYYY-MM`. */
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
  /** A text: the returns used, the periods per year, the risk-free rate. */
  method: string;
}

const periodsPerYear: Record<AnalyticsFrequency, number> = { daily: 252, monthly: 12 };
const minimumReturns = 24;

// The bounds of daily data. With fewer, √252 would scale weekly returns; with more, the fund publishes on non-trading days.
const fewestDailyNavsPerYear = 200;
const mostDailyNavsPerYear = 275;

/**
 * The figures of a window. All are null if the history does not cover the whole window, is too thin for the
 * frequency, or has fewer than 24 returns; the figures against the benchmark are null if this holds for the dates
 * it shares with the fund.
 * @param navs from `adjustNavs`.
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
    ...monthFigures(navs, enough, options),
    ...benchmarkFigures(enough, options),
    method: methodText(navs, enough, options),
  };
}

type Sample = readonly AdjustedNav[];

/** The NAVs from the start of the window to its end; empty if the history does not reach back to the start. */
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

/**
 * The last NAV of each month of the window and of the month before it; empty if one of them has none near its end.
 */
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

function ownFigures(sample: Sample, options: AnalyticsOptions) {
  const p = periodsPerYear[options.frequency];
  const values = sample.map((nav) => nav.adjusted);
  const returns = returnsOf(values);
  const excess = lessRiskFree(returns, sample, options);
  const days = daysOf(sample);
  // An annual figure is not computed from part of a year (the rule of the GIPS standards).
  const annual =
    days < 365
      ? null
      : returnOf(entryAt(values, values.length - 1) / entryAt(values, 0), days, 'annualized_compound');
  const { depth, peak, trough, recovery } = maxDrawdown(values);
  const dateAt = (position: number | null) => (position === null ? null : entryAt(sample, position).date);
  return {
    return_annualized_pct: pct(annual),
    volatility_pct: pct(volatility(returns, p)),
    sharpe: excess === null ? null : sharpe(excess, p),
    sortino: excess === null ? null : sortino(excess, p),
    max_drawdown_pct: sample.length === 0 ? null : pct(depth),
    max_drawdown: { peak_date: dateAt(peak), trough_date: dateAt(trough), recovery_date: dateAt(recovery) },
    calmar: calmar(annual, depth),
    var_95_pct: pct(valueAtRisk95(returns)),
  };
}

/** Best and worst calendar month, and the share of months above zero, whatever the frequency of the other figures. */
function monthFigures(navs: Sample, sample: Sample, { asOf }: AnalyticsOptions) {
  const first = sample[0];
  const monthEnds = first === undefined ? [] : monthEndNavs(navs, first.date, lastMonthEndBy(asOf));
  const returns = returnsOf(monthEnds.map((nav) => nav.adjusted));
  const months = returns
    .map((value, i) => ({ month: entryAt(monthEnds, i + 1).date.slice(0, 7), value }))
    .sort((a, b) => b.value - a.value);
  const [best, worst] = [months[0], months.at(-1)];
  return {
    best_month: best?.month ?? null,
    best_month_pct: pct(best?.value ?? null),
    worst_month: worst?.month ?? null,
    worst_month_pct: pct(worst?.value ?? null),
    positive_months_pct: pct(returns.filter((value) => value > 0).length / returns.length),
  };
}

function benchmarkFigures(sample: Sample, options: AnalyticsOptions) {
  const p = periodsPerYear[options.frequency];
  const shared = sharedSample(sample, options);
  const returns = returnsOf(shared.fund.map((nav) => nav.adjusted));
  const benchmark = returnsOf(shared.benchmark.map((nav) => nav.adjusted));
  const active = returns.map((value, i) => value - entryAt(benchmark, i));
  const excess = lessRiskFree(returns, shared.fund, options);
  const benchmarkExcess = lessRiskFree(benchmark, shared.fund, options);
  const regressed = excess === null || benchmarkExcess === null ? null : ([excess, benchmarkExcess] as const);
  const r = regressed && correlation(...regressed);
  return {
    benchmark_n_obs: returns.length,
    alpha_pct: pct(regressed && alpha(...regressed, p)),
    beta: regressed && beta(...regressed),
    r_squared: r === null ? null : r * r,
    correlation: r,
    tracking_error_pct: pct(volatility(active, p)),
    information_ratio: sharpe(active, p),
    treynor: regressed && treynor(...regressed, p),
    up_capture_pct: pct(capture(returns, benchmark, 'up', p)),
    down_capture_pct: pct(capture(returns, benchmark, 'down', p)),
  };
}

/**
 * Fund and benchmark at the same moments: on the dates that both have, or at each month end. A benchmark that is
 * missing on a date is not carried forward, which would show a false calm and then a false jump. Empty if the shared
 * dates do not cover the window or are too few.
 */
function sharedSample(sample: Sample, options: AnalyticsOptions): { fund: Sample; benchmark: Sample } {
  const none = { fund: [], benchmark: [] };
  const [first, last] = [sample[0], sample.at(-1)];
  if (first === undefined || last === undefined || options.benchmark === null) return none;
  const shared = { fund: sample, benchmark: options.benchmark };
  if (options.frequency === 'daily') {
    const byDate = new Map(options.benchmark.map((level) => [level.date, level]));
    shared.fund = sample.filter((nav) => byDate.has(nav.date));
    shared.benchmark = shared.fund.flatMap((nav) => byDate.get(nav.date) ?? []);
  } else {
    shared.benchmark = monthEndNavs(options.benchmark, first.date, lastMonthEndBy(options.asOf));
  }
  const isCovered =
    (shared.fund[0]?.date ?? '9999') <= addDays(first.date, navSlackDays) &&
    (shared.fund.at(-1)?.date ?? '') >= addDays(last.date, -navSlackDays);
  return isCovered && isEnough(shared.benchmark, options.frequency) ? shared : none;
}

/**
 * Returns less the rate valid on the first day of each period, (1 + rate)^(1 / periods a year) − 1. A month begins at the end of the month
 * before, whatever the day of its last NAV: rates of a month end are published for that day. Null if the rate is unknown at the start of
 * any period.
 */
function lessRiskFree(
  returns: readonly number[],
  sample: Sample,
  { riskFree, frequency }: AnalyticsOptions,
): readonly number[] | null {
  if (riskFree === null) return returns;
  const startOf = ({ date }: AdjustedNav) => (frequency === 'monthly' ? periodEnd(date, 'monthly') : date);
  const rates = riskFree
    .flatMap(({ date, rate_pct }) => (rate_pct === null ? [] : [{ date, rate: Number(rate_pct) / 100 }]))
    .sort((a, b) => (a.date < b.date ? -1 : 1));
  let next = 0;
  const excess = returns.map((value, i) => {
    while (next < rates.length && entryAt(rates, next).date <= startOf(entryAt(sample, i))) next += 1;
    return value - ((1 + (rates[next - 1]?.rate ?? NaN)) ** (1 / periodsPerYear[frequency]) - 1);
  });
  return excess.every(Number.isFinite) ? excess : null;
}

function methodText(navs: Sample, sample: Sample, { frequency, riskFree }: AnalyticsOptions): string {
  const [first, last] = [sample[0], sample.at(-1)];
  const isFolded =
    frequency === 'daily' && first && last && navsBetween(navs, first.date, last.date).length > sample.length;
  return [
    `simple ${frequency} returns of the adjusted NAV, ${periodsPerYear[frequency]} a year`,
    ...(isFolded ? ['those of Saturday and Sunday are part of the next'] : []),
    riskFree === null ? 'risk-free rate zero' : 'risk-free rate in force at the start of each period',
  ].join('; ');
}

function returnsOf(values: readonly number[]): number[] {
  return values.slice(1).map((value, i) => value / entryAt(values, i) - 1);
}

function daysOf(sample: Sample): number {
  const [first, last] = [sample[0], sample.at(-1)];
  return first === undefined || last === undefined ? 0 : dayNumber(last.date) - dayNumber(first.date);
}

function perYear(sample: Sample): number {
  return ((sample.length - 1) * 365) / daysOf(sample);
}

function yearsBefore(date: string, window: '1y' | '3y' | '5y'): string {
  return addMonths(date, -12 * Number(window.slice(0, 1)));
}

/** The last day of the last month that has ended by the end of the day. */
function lastMonthEndBy(date: string): string {
  return addDays(`${addDays(date, 1).slice(0, 7)}-01`, -1);
}

function pct(fraction: number | null): number | null {
  return fraction === null ? null : percent(fraction * 100);
}
