// Risk and return statistics over arrays of periodic returns, as fractions (0.01 is one percent). A figure that is
// undefined is null: never NaN, Infinity or the quotient of two rounding errors.
// Formulas follow quantopian/empyrical where it has the figure; the names in brackets are its functions. docs/funds.md
// lists them.
import { entryAt } from '../../kernel/entries.ts';

/** A smaller variance is rounding error of constant returns (the threshold of empyrical's beta). */
const noVariance = 1e-30;
/** A smaller return, drawdown or beta counts as zero when used as a divisor. */
const noAmount = 1e-12;

interface Drawdown {
  /** min(value / highest value so far − 1): zero or negative. */
  depth: number;
  /** Positions in the values: the peak before the fall, the bottom, the first return to the peak's value. */
  peak: number | null;
  trough: number | null;
  recovery: number | null;
}

/** Sample standard deviation (ddof 1) × √periods a year. [annual_volatility] */
export function volatility(returns: readonly number[], periodsPerYear: number): number | null {
  return finite(Math.sqrt(sampleVariance(returns) * periodsPerYear));
}

/**
 * mean / sample standard deviation × √periods a year. For returns less the risk-free rate this is the Sharpe ratio, for
 * returns less the benchmark's the information ratio (mean × periods / tracking error). [sharpe_ratio, excess_sharpe
 * annualised]
 */
export function sharpe(excess: readonly number[], periodsPerYear: number): number | null {
  const variance = sampleVariance(excess);
  if (variance < noVariance) return null;
  return finite((mean(excess) / Math.sqrt(variance)) * Math.sqrt(periodsPerYear));
}

/** mean × periods / (√mean(min(r, 0)²) × √periods), the mean square over all returns. [sortino_ratio] */
export function sortino(excess: readonly number[], periodsPerYear: number): number | null {
  const downside = mean(excess.map((value) => Math.min(value, 0) ** 2));
  if (downside < noVariance) return null;
  return finite((mean(excess) * periodsPerYear) / Math.sqrt(downside * periodsPerYear));
}

/** The deepest fall below the highest value so far, including the first value; the first of equal falls. [max_drawdown] */
export function maxDrawdown(values: readonly number[]): Drawdown {
  const deepest: Drawdown = { depth: 0, peak: null, trough: null, recovery: null };
  let peak = 0;
  for (const [i, value] of values.entries()) {
    const peakValue = entryAt(values, peak);
    if (value >= peakValue) {
      if (deepest.peak === peak && deepest.recovery === null) deepest.recovery = i;
      peak = i;
    } else if (value / peakValue - 1 < deepest.depth) {
      Object.assign(deepest, { depth: value / peakValue - 1, peak, trough: i, recovery: null });
    }
  }
  return deepest;
}

/** The 5th percentile of the returns, by linear interpolation; negative for a loss. [value_at_risk] */
export function valueAtRisk95(returns: readonly number[]): number | null {
  const sorted = returns.toSorted((a, b) => a - b);
  const position = 0.05 * (sorted.length - 1);
  const below = sorted[Math.floor(position)];
  const above = sorted[Math.ceil(position)];
  if (below === undefined || above === undefined) return null;
  return finite(below + (above - below) * (position - Math.floor(position)));
}

/** cov(fund, benchmark) / var(benchmark) of excess returns. [beta] */
export function beta(excess: readonly number[], benchmarkExcess: readonly number[]): number | null {
  if (sampleVariance(benchmarkExcess) < noVariance) return null;
  return finite(sampleCovariance(excess, benchmarkExcess) / sampleVariance(benchmarkExcess));
}

/** (1 + mean(excess − β · benchmark excess))^periods − 1. [alpha] */
export function alpha(
  excess: readonly number[],
  benchmarkExcess: readonly number[],
  periodsPerYear: number,
): number | null {
  const slope = beta(excess, benchmarkExcess);
  if (slope === null) return null;
  const growth = 1 + mean(excess.map((value, i) => value - slope * entryAt(benchmarkExcess, i)));
  return growth > 0 ? finite(growth ** periodsPerYear - 1) : null;
}

/** Pearson's correlation of excess returns; its square is the r² of the regression behind alpha and beta. */
export function correlation(excess: readonly number[], benchmarkExcess: readonly number[]): number | null {
  const [variance, benchmarkVariance] = [sampleVariance(excess), sampleVariance(benchmarkExcess)];
  if (variance < noVariance || benchmarkVariance < noVariance) return null;
  const value =
    sampleCovariance(excess, benchmarkExcess) / (Math.sqrt(variance) * Math.sqrt(benchmarkVariance));
  return finite(Math.max(-1, Math.min(1, value)));
}

/** mean excess × periods a year / β, a ratio of fractions: 0.08 means eight points of return per unit of beta. */
export function treynor(
  excess: readonly number[],
  benchmarkExcess: readonly number[],
  periodsPerYear: number,
): number | null {
  const slope = beta(excess, benchmarkExcess);
  if (slope === null || Math.abs(slope) < noAmount) return null;
  return finite((mean(excess) * periodsPerYear) / slope);
}

/** Annualised return / depth of the deepest drawdown; null without a fall. [calmar_ratio] */
export function calmar(annualReturn: number | null, drawdown: number): number | null {
  return annualReturn === null || drawdown > -noAmount ? null : finite(annualReturn / -drawdown);
}

/**
 * The fund's annualised return over the periods in which the benchmark rose (or fell), divided by the benchmark's
 * over the same periods, both annualised as (∏(1 + r))^(periods a year / count) − 1. [up_capture, down_capture]
 */
export function capture(
  returns: readonly number[],
  benchmark: readonly number[],
  direction: 'up' | 'down',
  periodsPerYear: number,
): number | null {
  const chosen = benchmark.map((value) => (direction === 'up' ? value > 0 : value < 0));
  const own = annualised(
    returns.filter((_, i) => chosen[i]),
    periodsPerYear,
  );
  const theirs = annualised(
    benchmark.filter((_, i) => chosen[i]),
    periodsPerYear,
  );
  return Math.abs(theirs) < noAmount ? null : finite(own / theirs);
}

/** The value if it is a finite number, else null. */
function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** NaN without returns. */
function annualised(returns: readonly number[], periodsPerYear: number): number {
  return returns.reduce((growth, value) => growth * (1 + value), 1) ** (periodsPerYear / returns.length) - 1;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function sampleVariance(values: readonly number[]): number {
  return sampleCovariance(values, values);
}

/** NaN below two values. */
function sampleCovariance(a: readonly number[], b: readonly number[]): number {
  if (a.length < 2) return NaN;
  const [meanA, meanB] = [mean(a), mean(b)];
  const products = a.reduce((sum, value, i) => sum + (value - meanA) * (entryAt(b, i) - meanB), 0);
  return products / (a.length - 1);
}
