import test from 'ava';
import fc from 'fast-check';
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

const wildReturns = fc.array(fc.double(), { maxLength: 40 });
const tameReturn = fc.integer({ min: -1000, max: 1000 }).map((units) => units / 10_000);

// Four monthly returns with mean 1 %, deviations −3, 0, 1, 2: squares 9 + 0 + 1 + 4 = 14, sample variance 14/3 of 1e-4.
const returns = [-0.02, 0.01, 0.02, 0.03];

test('volatility, Sharpe and Sortino, worked by hand', (t) => {
  near(t.true, volatility(returns, 12), Math.sqrt((14 / 3) * 12) / 100);
  near(t.true, sharpe(returns, 12), (1 / Math.sqrt(14 / 3)) * Math.sqrt(12));
  // Downside: one loss of 2 in four periods, √(4 / 4) = 1 % a period.
  near(t.true, sortino(returns, 12), 0.12 / (0.01 * Math.sqrt(12)));
});

test('value at risk interpolates between the two lowest returns', (t) => {
  // Position 0.05 · 3 = 0.15 of the way from −2 % to 1 %.
  near(t.true, valueAtRisk95(returns.toReversed()), -0.02 + 0.15 * 0.03);
  t.is(valueAtRisk95([]), null);
});

test('a drawdown names peak, bottom and return to the peak; of equal peaks the last, of equal falls the first', (t) => {
  t.deepEqual(maxDrawdown([10, 8, 10, 5, 7, 10, 5, 12]), { depth: -0.5, peak: 2, trough: 3, recovery: 5 });
  t.deepEqual(maxDrawdown([10, 12, 6, 11]), { depth: -0.5, peak: 1, trough: 2, recovery: null });
  t.deepEqual(maxDrawdown([10, 5, 10, 11, 2]), { depth: 2 / 11 - 1, peak: 3, trough: 4, recovery: null });
  t.deepEqual(maxDrawdown([1, 1, 2]), { depth: 0, peak: null, trough: null, recovery: null });
  t.deepEqual(maxDrawdown([]), { depth: 0, peak: null, trough: null, recovery: null });
});

test('a drawdown is never above zero nor below −100 %, and is the worst of all pairs of earlier and later value', (t) => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 1e-3, max: 1e6, noNaN: true }), { maxLength: 30 }), (values) => {
      const { depth, peak, trough, recovery } = maxDrawdown(values);
      const pairs = values.flatMap((early, i) => values.slice(i).map((later) => later / early - 1));
      t.is(depth, Math.min(0, ...pairs));
      t.true(depth <= 0 && depth > -1);
      if (peak === null || trough === null) return;
      t.true(peak < trough);
      t.is((values[trough] ?? NaN) / (values[peak] ?? NaN) - 1, depth);
      const returned = values.findIndex((value, i) => i > trough && value >= (values[peak] ?? NaN));
      t.is(recovery, returned === -1 ? null : returned);
    }),
  );
});

test('alpha, beta, correlation and Treynor of a fund that is twice the benchmark and 1 % more', (t) => {
  const benchmark = [-0.015, 0, 0.005, 0.01];
  const fund = benchmark.map((value) => 2 * value + 0.01);
  near(t.true, beta(fund, benchmark), 2);
  near(t.true, alpha(fund, benchmark, 12), 1.01 ** 12 - 1);
  near(t.true, correlation(fund, benchmark), 1);
  near(
    t.true,
    correlation(
      fund.map((value) => -value),
      benchmark,
    ),
    -1,
  );
  // The benchmark's mean is 0, so the fund's is 1 % a month: 12 % a year over a beta of 2.
  near(t.true, treynor(fund, benchmark, 12), 0.06);
});

test('capture compares annualised returns over the months in which the benchmark rose or fell', (t) => {
  const benchmark = [0.1, -0.1, 0.1, 0];
  const fund = [0.05, -0.2, 0.05, 0.5];
  near(t.true, capture(fund, benchmark, 'up', 12), (1.05 ** 12 - 1) / (1.1 ** 12 - 1));
  near(t.true, capture(fund, benchmark, 'down', 12), (0.8 ** 12 - 1) / (0.9 ** 12 - 1));
  t.is(capture([0.1], [0.1], 'down', 12), null);
});

test('a fund against itself has beta 1, alpha 0, correlation 1, captures 1 and no information ratio', (t) => {
  fc.assert(
    fc.property(fc.array(tameReturn, { minLength: 3, maxLength: 50 }), (own) => {
      fc.pre(new Set(own).size > 1);
      t.is(beta(own, own), 1);
      t.is(alpha(own, own, 252), 0);
      near(t.true, correlation(own, own), 1);
      const tripled = correlation(
        own,
        own.map((value) => value * 3),
      );
      t.true(tripled !== null && tripled <= 1, 'not even by rounding above 1');
      for (const direction of ['up', 'down'] as const) {
        const hasAny = own.some((value) => (direction === 'up' ? value > 0 : value < 0));
        t.is(capture(own, own, direction, 12), hasAny ? 1 : null);
      }
      t.is(
        sharpe(
          own.map((value) => value - value),
          12,
        ),
        null,
      );
    }),
  );
});

test('constant returns have no ratio, not even one from rounding errors', (t) => {
  const growing = Array.from({ length: 30 }, (_, i) => 100 * 1.0001 ** i);
  const constant = growing.slice(1).map((value, i) => value / (growing[i] ?? NaN) - 1);
  t.true(new Set(constant).size > 1, 'the returns differ by rounding');
  t.is(sharpe(constant, 252), null);
  t.is(sortino(constant, 252), null);
  t.is(beta(returns, [0.01, 0.01, 0.01, 0.01]), null);
  t.is(alpha(returns, [0.01, 0.01, 0.01, 0.01], 12), null);
  t.is(correlation([0.01, 0.01, 0.01, 0.01], returns), null);
  t.is(treynor([0.01, 0.01, 0.01, 0.01], returns, 12), null);
  t.is(calmar(0.1, 0), null);
  t.is(calmar(null, -0.1), null);
  near(t.true, calmar(0.1, -0.2), 0.5);
});

test('no returns, however extreme, give NaN or Infinity', (t) => {
  fc.assert(
    fc.property(wildReturns, wildReturns, (a, b) => {
      const pair = [a.slice(0, b.length), b.slice(0, a.length)] as const;
      const figures = [
        volatility(a, 252),
        sharpe(a, 252),
        sortino(a, 252),
        valueAtRisk95(a),
        beta(...pair),
        alpha(...pair, 252),
        correlation(...pair),
        sharpe(a, 12),
        treynor(...pair, 12),
        capture(...pair, 'up', 252),
        capture(...pair, 'down', 252),
        calmar(a[0] ?? null, b[0] ?? 0),
      ];
      for (const figure of figures) t.true(figure === null || Number.isFinite(figure));
    }),
    { numRuns: 500 },
  );
});

function near(
  isTrue: (value: boolean, message?: string) => void,
  actual: number | null,
  expected: number,
): void {
  isTrue(
    actual !== null && Math.abs(actual - expected) <= 1e-9 * Math.max(1, Math.abs(expected)),
    `${actual}, not ${expected}`,
  );
}
