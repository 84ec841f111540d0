import test from 'ava';
import fc from 'fast-check';
import { addDays, addMonths, dayNumber, isWeekend } from '../../kernel/dates.ts';
import { periodEnd } from '../periods.ts';
import { adjustNavs, type AdjustedNav, type NavPoint } from './adjusted-nav.ts';
import {
  analyticsFrequencies,
  analyticsWindows,
  fundAnalytics,
  type AnalyticsOptions,
  type FundAnalytics,
} from './analytics.ts';
import { periodReturns } from './returns.ts';

const daily: AnalyticsOptions = {
  window: '1y',
  frequency: 'daily',
  asOf: '2024-06-28',
  inception: null,
  riskFree: null,
  benchmark: null,
};

/** The figures that are null when there is no data to compute them from. */
const figureNames = [
  'return_annualized_pct',
  'volatility_pct',
  'sharpe',
  'sortino',
  'max_drawdown_pct',
  'calmar',
  'var_95_pct',
  'best_month',
  'best_month_pct',
  'worst_month',
  'worst_month_pct',
  'positive_months_pct',
] as const;
const benchmarkNames = [
  'alpha_pct',
  'beta',
  'r_squared',
  'correlation',
  'tracking_error_pct',
  'information_ratio',
  'treynor',
  'up_capture_pct',
  'down_capture_pct',
] as const;

test('monthly figures of three years, worked by hand: 2 % and −1 % in turn', (t) => {
  const figures = fundAnalytics(monthlyFund('2021-01', 48, [0.02, -0.01]), {
    ...daily,
    window: '3y',
    frequency: 'monthly',
    asOf: '2024-01-30',
  });
  t.like(figures, {
    from: '2020-12-31',
    to: '2023-12-31',
    n_obs: 36,
    basis: 'annualized_compound',
    positive_months_pct: 50,
    method: 'simple monthly returns of the adjusted NAV, 12 a year; risk-free rate zero',
  });
  near(t.true, figures.best_month_pct, 2);
  near(t.true, figures.worst_month_pct, -1);
  // 18 months of each, mean 0.5 %, all 1.5 % from it: variance 36 · 2.25 / 35.
  near(t.true, figures.volatility_pct, Math.sqrt(((36 * 2.25) / 35) * 12));
  near(t.true, figures.sharpe, (0.5 / Math.sqrt((36 * 2.25) / 35)) * Math.sqrt(12));
  near(t.true, figures.sortino, (0.5 * 12) / Math.sqrt(0.5 * 12));
  const annual = ((1.02 * 0.99) ** 18) ** (365 / 1095) - 1;
  near(t.true, figures.return_annualized_pct, annual * 100);
  near(t.true, figures.max_drawdown_pct, -1);
  near(t.true, figures.calmar, annual / 0.01);
});

test('one fall of 10 % among months of 1 % is the drawdown, with its dates, and the worst month', (t) => {
  const returns = Array.from({ length: 48 }, (_, i) => (i === 5 ? -0.1 : i === 20 ? 0.02 : 0.01));
  const figures = fundAnalytics(monthlyFund('2021-01', 48, returns), {
    ...daily,
    window: '3y',
    frequency: 'monthly',
    asOf: '2023-12-31',
  });
  near(t.true, figures.max_drawdown_pct, -10);
  // 0.9 · 1.01¹⁰ < 1 < 0.9 · 1.01¹¹
  t.deepEqual(figures.max_drawdown, {
    peak_date: '2021-05-31',
    trough_date: '2021-06-30',
    recovery_date: '2022-05-31',
  });
  t.like(figures, { worst_month: '2021-06', best_month: '2022-09' });
  near(t.true, figures.worst_month_pct, -10);
  near(t.true, figures.best_month_pct, 2);
  near(t.true, figures.positive_months_pct, (35 / 36) * 100);
  // Position 0.05 · 35 = 1.75 among the lowest: −10 %, 1 %, 1 %.
  near(t.true, figures.var_95_pct, 1);
});

test('the risk-free rate of each period is the yearly one in force at its start, compounded down', (t) => {
  const navs = monthlyFund('2021-01', 48, [0.02, -0.01]);
  const options: AnalyticsOptions = { ...daily, window: '3y', frequency: 'monthly', asOf: '2024-01-30' };
  const riskFree = [
    { date: '2023-12-31', rate_pct: '99' },
    { date: '2020-12-31', rate_pct: '12.682503013196977' }, // 1 % a month
    { date: '2022-01-01', rate_pct: null },
  ];
  near(
    t.true,
    fundAnalytics(navs, { ...options, riskFree }).sharpe,
    (-0.5 / Math.sqrt((36 * 2.25) / 35)) * Math.sqrt(12),
  );
  const late = fundAnalytics(navs, { ...options, riskFree: riskFree.slice(0, 1), benchmark: navs });
  t.like(late, { sharpe: null, sortino: null, alpha_pct: null, beta: null, treynor: null });
  near(t.true, late.up_capture_pct, 100);
  t.regex(late.method, /risk-free rate in force/);
});

test('a history shorter than the window gives no figure', (t) => {
  const navs = dailyFund('2023-07-10', '2024-06-28');
  isEmpty(t.is, fundAnalytics(navs, daily));
  t.not(fundAnalytics(navs, { ...daily, window: 'si' }).volatility_pct, null);
  t.is(fundAnalytics(navs, { ...daily, window: 'si' }).return_annualized_pct, null, 'not a year yet');
  isEmpty(t.is, fundAnalytics(navs, { ...daily, window: 'si', inception: '2020-01-01' }));
});

test('fewer than 24 returns give no figure: 12 months, a month of days', (t) => {
  const year = fundAnalytics(dailyFund('2020-01-01', '2024-06-30'), {
    ...daily,
    frequency: 'monthly',
    asOf: '2024-06-30',
  });
  isEmpty(t.is, year);
  t.is(year.n_obs, 12);
  const navs = dailyFund('2024-05-27', '2024-06-28').slice(-25);
  t.not(fundAnalytics(navs, { ...daily, window: 'si' }).volatility_pct, null);
  isEmpty(t.is, fundAnalytics(navs.slice(1), { ...daily, window: 'si' }));
});

test('weekly NAVs are not mistaken for daily ones, and a month without a NAV prevents monthly figures', (t) => {
  const days = dailyFund('2020-01-01', '2024-06-30');
  const weekly = days.filter((nav) => dayNumber(nav.date) % 7 === 0);
  isEmpty(t.is, fundAnalytics(weekly, { ...daily, window: '3y' }));
  const monthly: AnalyticsOptions = { ...daily, window: '3y', frequency: 'monthly', asOf: '2024-06-30' };
  t.not(fundAnalytics(weekly, monthly).volatility_pct, null);
  const suspended = days.filter((nav) => nav.date < '2023-02-10' || nav.date > '2023-03-05');
  isEmpty(t.is, fundAnalytics(suspended, monthly));
});

test('a fund that stopped publishing has no figures up to today', (t) => {
  const navs = dailyFund('2020-01-01', '2024-06-20');
  t.is(fundAnalytics(navs, { ...daily, asOf: '2024-06-27' }).to, '2024-06-20');
  isEmpty(t.is, fundAnalytics(navs, { ...daily, asOf: '2024-06-28' }));
});

test('a payout beyond the range of numbers gives no figure, and no false drawdown', (t) => {
  const navs = dailyFund('2023-06-01', '2024-06-28');
  const broken = navs.map((nav, i) => (i === 100 ? { ...nav, adjusted: Infinity } : nav));
  isEmpty(t.is, fundAnalytics(broken, daily));
});

test('if a fund publishes every day, its NAVs of Saturday and Sunday are part of the next return', (t) => {
  const everyDay = adjustNavs(
    Array.from({ length: 800 }, (_, i) => ({
      date: addDays('2022-04-21', i),
      nav: (100 * 1.0002 ** i).toFixed(6),
    })),
    [],
  );
  const figures = fundAnalytics(everyDay, daily);
  t.is(figures.from, '2023-06-28');
  t.is(figures.n_obs, 262);
  t.regex(figures.method, /Saturday and Sunday/);
  const weekdays = everyDay.filter((nav) => ![0, 6].includes(new Date(nav.date).getUTCDay()));
  t.is(fundAnalytics(weekdays, daily).volatility_pct, figures.volatility_pct);
  t.notRegex(fundAnalytics(weekdays, daily).method, /Saturday/);
});

test('constant NAVs have no risk and no ratio', (t) => {
  const navs = dailyFund('2023-06-01', '2024-06-28').map((nav) => ({ ...nav, adjusted: 100 }));
  const figures = fundAnalytics(navs, { ...daily, benchmark: navs });
  t.like(figures, {
    return_annualized_pct: 0,
    volatility_pct: 0,
    max_drawdown_pct: 0,
    tracking_error_pct: 0,
  });
  t.like(figures, { sharpe: null, sortino: null, calmar: null, beta: null, alpha_pct: null, treynor: null });
  t.like(figures, { correlation: null, r_squared: null, information_ratio: null, up_capture_pct: null });
  t.deepEqual(figures.max_drawdown, { peak_date: null, trough_date: null, recovery_date: null });
});

test('a fund against itself has beta 1, alpha 0 and no tracking error, at every frequency and risk-free rate', (t) => {
  const navs = dailyFund('2020-01-01', '2024-06-30');
  for (const frequency of analyticsFrequencies) {
    for (const riskFree of [null, [{ date: '2019-01-01', rate_pct: '7.5' }]]) {
      const options = { ...daily, window: '3y' as const, frequency, riskFree };
      const figures = fundAnalytics(navs, { ...options, benchmark: navs });
      t.is(figures.benchmark_n_obs, figures.n_obs);
      t.like(figures, { beta: 1, alpha_pct: 0, tracking_error_pct: 0, information_ratio: null });
      for (const name of ['up_capture_pct', 'down_capture_pct'] as const) near(t.true, figures[name], 100);
      near(t.true, figures.correlation, 1);
    }
  }
});

test('a benchmark is compared on shared dates, and not at all if it does not cover the window', (t) => {
  const navs = dailyFund('2023-06-28', '2024-06-28');
  const holed = navs.filter((_, i) => i % 7 !== 3);
  const figures = fundAnalytics(navs, { ...daily, benchmark: holed });
  t.is(figures.benchmark_n_obs, holed.length - 1);
  near(t.true, figures.beta, 1);
  const benchmarks = [
    null,
    navs.filter((nav) => nav.date > '2023-08-01'),
    navs.filter((nav) => nav.date < '2024-06-01'),
    navs.slice(0, 1),
  ];
  for (const benchmark of benchmarks) {
    const alone = fundAnalytics(navs, { ...daily, benchmark });
    t.not(alone.volatility_pct, null);
    t.is(alone.benchmark_n_obs, 0);
    for (const name of benchmarkNames) t.is(alone[name], null, name);
  }
});

test('daily figures ignore a weekly benchmark, and monthly ones a benchmark that lacks a month', (t) => {
  const navs = dailyFund('2020-01-01', '2024-06-30');
  const weekly = navs.filter((nav) => dayNumber(nav.date) % 7 === 0);
  const suspended = navs.filter((nav) => nav.date < '2023-02-10' || nav.date > '2023-03-05');
  const threeYears: AnalyticsOptions = { ...daily, window: '3y', asOf: '2024-06-30' };
  const monthly: AnalyticsOptions = { ...threeYears, frequency: 'monthly' };
  t.like(fundAnalytics(navs, { ...threeYears, benchmark: weekly }), { benchmark_n_obs: 0, beta: null });
  t.like(fundAnalytics(navs, { ...monthly, benchmark: weekly }), { benchmark_n_obs: 36 });
  t.like(fundAnalytics(navs, { ...monthly, benchmark: suspended }), { benchmark_n_obs: 0, beta: null });
});

test('monthly returns use the rate of the month end, even if the last NAV of the month is earlier', (t) => {
  // The month ends of 2022-05 to 2024-06 on working days: half of them are some days before the end.
  const monthEnds = Array.from({ length: 37 }, (_, i) => addDays(addMonths('2021-07-01', i), -1));
  const onWorkingDay = (date: string): string => (isWeekend(date) ? onWorkingDay(addDays(date, -1)) : date);
  const navs = adjustNavs(
    monthEnds.map((date, i) => ({ date: onWorkingDay(date), nav: (100 + i + Math.sin(i)).toFixed(4) })),
    [],
  );
  t.true(monthEnds.filter(isWeekend).length > 8);
  const rates = monthEnds.map((date, i) => ({ date, rate_pct: String(i % 2 === 0 ? 2 : 20) }));
  const returns = navs.slice(1).map((nav, i) => nav.adjusted / (navs[i]?.adjusted ?? NaN) - 1);
  const excess = returns.map((value, i) => value - ((1 + Number(rates[i]?.rate_pct) / 100) ** (1 / 12) - 1));
  const mean = excess.reduce((sum, value) => sum + value) / excess.length;
  const deviation = Math.sqrt(
    excess.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (excess.length - 1),
  );
  const figures = fundAnalytics(navs, {
    ...{ window: '3y', frequency: 'monthly', asOf: '2024-06-30', inception: null, benchmark: null },
    riskFree: rates,
  });
  t.is(figures.n_obs, 36);
  near(t.true, figures.sharpe, (mean / deviation) * Math.sqrt(12));
});

test("the annualised return of a year is the fund's return of 1y", (t) => {
  const navs = dailyFund('2022-06-01', '2024-06-28');
  const [year] = periodReturns(navs, { ...daily, basis: 'auto', shortBasis: 'absolute' }).filter(
    (record) => record.period === '1y',
  );
  t.is(fundAnalytics(navs, daily).return_annualized_pct, year?.value_pct ?? NaN);
});

test('figures do not change when every NAV is multiplied by a constant, and drawdowns stay between −100 and 0', (t) => {
  const steps = fc.array(fc.integer({ min: -300, max: 310 }), { minLength: 260, maxLength: 300 });
  fc.assert(
    fc.property(steps, fc.double({ min: 1e-3, max: 1e3, noNaN: true }), (steps, c) => {
      const [plain, scaled] = [1, c].map((by) => {
        const navs = walk('2023-05-30', steps, by);
        return fundAnalytics(navs, {
          ...daily,
          window: 'si',
          asOf: navs.at(-1)?.date ?? '',
          benchmark: null,
        });
      });
      for (const name of figureNames) {
        const [value, other] = [plain?.[name], scaled?.[name]];
        if (typeof value === 'number') near(t.true, typeof other === 'number' ? other : null, value);
        else t.is(other, value, name);
      }
      t.not(plain?.max_drawdown_pct, null);
      t.true((plain?.max_drawdown_pct ?? 1) <= 0 && (plain?.max_drawdown_pct ?? 1) > -100);
    }),
    { numRuns: 30 },
  );
});

test('no NAVs, however extreme, give NaN or Infinity', (t) => {
  const wildNav = fc.oneof(
    fc.double({ min: 0, noNaN: true }).map(String),
    fc.double({ min: 1, max: 2, noNaN: true }).map(String),
    fc.constantFrom('0', '', '5e-324', '1.7e308'),
  );
  const fund = fc.array(wildNav, { minLength: 30, maxLength: 300 });
  const rates = fc.array(
    fc.record({
      date: fc.constantFrom('2010-01-01', '2023-09-01'),
      rate_pct: fc.option(fc.double().map(String)),
    }),
    { maxLength: 2 },
  );
  const choice = fc.record({
    window: fc.constantFrom(...analyticsWindows),
    frequency: fc.constantFrom(...analyticsFrequencies),
  });
  fc.assert(
    fc.property(fund, fund, fc.option(rates), choice, (fundNavs, benchmarkNavs, riskFree, choice) => {
      const [navs, benchmark] = [fundNavs, benchmarkNavs].map((texts) =>
        adjustNavs(
          texts.map((nav, i) => ({ date: addDays('2024-06-28', -i), nav })),
          [{ ex_date: '2024-01-01', payout_per_unit: '1e300', ex_nav: '1e-300' }],
        ),
      );
      const figures = fundAnalytics(navs ?? [], {
        ...daily,
        ...choice,
        riskFree,
        benchmark: benchmark ?? [],
      });
      for (const [name, value] of Object.entries(figures)) {
        t.true(typeof value !== 'number' || Number.isFinite(value), `${name} ${String(value)}`);
      }
    }),
    { numRuns: 200 },
  );
});

/** A fund with NAVs on weekdays that rises and falls in a fixed pattern. */
function dailyFund(from: string, to: string): AdjustedNav[] {
  const pattern = [120, -80, 40, -150, 90, 10, -30, 60, -20];
  return walk(
    from,
    Array.from({ length: 5000 }, (_, i) => pattern[i % pattern.length] ?? 0),
  ).filter((nav) => nav.date <= to);
}

/** NAVs on weekdays from a date on; steps in hundredths of a percent. */
function walk(from: string, steps: readonly number[], by = 1): AdjustedNav[] {
  const points: NavPoint[] = [];
  let value = 100;
  for (let date = from; points.length < steps.length; date = addDays(date, 1)) {
    if ([0, 6].includes(new Date(date).getUTCDay())) continue;
    value *= 1 + (steps[points.length] ?? 0) / 10_000;
    points.push({ date, nav: String(value * by) });
  }
  return adjustNavs(points, []);
}

/** NAVs on the last day of each month: 100 before the first month, then the returns in turn. */
function monthlyFund(firstMonth: string, months: number, returns: readonly number[]): AdjustedNav[] {
  let value = 100;
  const start = { date: addDays(`${firstMonth}-01`, -1), nav: '100' };
  const points = Array.from({ length: months }, (_, i) => {
    value *= 1 + (returns[i % returns.length] ?? 0);
    return { date: periodEnd(addMonths(`${firstMonth}-01`, i), 'monthly'), nav: String(value) };
  });
  return adjustNavs([start, ...points], []);
}

function isEmpty(
  is: (actual: unknown, expected: unknown, message: string) => void,
  figures: FundAnalytics,
): void {
  for (const name of [...figureNames, ...benchmarkNames, 'from', 'to'] as const)
    is(figures[name], null, name);
  for (const date of Object.values(figures.max_drawdown)) is(date, null, 'max_drawdown');
  is(figures.benchmark_n_obs, 0, 'benchmark_n_obs');
}

function near(
  isTrue: (value: boolean, message?: string) => void,
  actual: number | null,
  expected: number,
): void {
  isTrue(
    actual !== null && Math.abs(actual - expected) <= 1e-8 * Math.max(1, Math.abs(expected)),
    `${actual}, not ${expected}`,
  );
}
