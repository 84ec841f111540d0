// Compares every figure of the funds with those that test/oracle/funds/expected.py computes with pandas and numpy.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { projectRoot } from '../../kernel/project.ts';
import { adjustNavs, type AdjustedNav, type Payout } from './adjusted-nav.ts';
import { fundAnalytics, type AnalyticsFrequency, type AnalyticsWindow, type RatePoint } from './analytics.ts';
import { periodReturns, sipReturn, type ReturnOptions } from './returns.ts';

interface Points {
  dates: string[];
  navs: (string | null)[];
}
type Figures = Record<string, unknown>;
type Case = { fund: string; as_of: string; expected: Figures };

const oracle = JSON.parse(
  readFileSync(path.join(projectRoot, 'test/oracle/funds/expected.json'), 'utf8'),
) as {
  funds: Record<string, Points & { payouts: Payout[]; adjusted: number[] }>;
  benchmark: Points;
  risk_free: RatePoint[];
  returns: (Case & { short: ReturnOptions['shortBasis']; fiscal_year_start: string })[];
  sips: (Case & { dates: string[]; instalment: number })[];
  analytics: (Case & { window: AnalyticsWindow; frequency: AnalyticsFrequency; risk_free: boolean })[];
};

const funds = new Map(
  Object.entries(oracle.funds).map(([name, fund]) => [name, adjustNavs(pointsOf(fund), fund.payouts)]),
);
const benchmark = adjustNavs(pointsOf(oracle.benchmark), []);

test('adjusted NAVs agree with the daily total returns of pandas', (t) => {
  for (const [name, fund] of Object.entries(oracle.funds)) {
    const adjusted = fundNamed(name).filter((_, i) => i % 50 === 0);
    t.is(adjusted.length, fund.adjusted.length, name);
    adjusted.forEach((nav, i) => t.true(isClose(nav.adjusted, fund.adjusted[i]), `${name} ${nav.date}`));
  }
});

for (const { fund, as_of: asOf, short, fiscal_year_start: fiscalYearStart, expected } of oracle.returns) {
  test(`returns of the ${fund} fund to ${asOf} agree with pandas`, (t) => {
    const records = periodReturns(fundNamed(fund), {
      asOf,
      basis: 'auto',
      shortBasis: short,
      fiscalYearStart,
      inception: null,
    });
    t.is(records.length, Object.keys(expected).length);
    for (const record of records) {
      agree(t, { ...record }, expected[record.period] as Figures, record.period);
    }
  });
}

for (const { fund, as_of: asOf, dates, instalment, expected } of oracle.sips) {
  test(`the return of ${dates.length} instalments into the ${fund} fund agrees with Newton's method`, (t) => {
    const sip = sipReturn(fundNamed(fund), { instalmentDates: dates, instalment, asOf });
    agree(t, { ...sip }, expected, fund);
  });
}

for (const { fund, as_of: asOf, window, frequency, risk_free: hasRate, expected } of oracle.analytics) {
  const rate = hasRate ? 'with a risk-free rate' : 'without one';
  test(`${frequency} analytics of the ${fund} fund over ${window}, ${rate}, agree with numpy`, (t) => {
    const riskFree = hasRate ? oracle.risk_free : null;
    const figures = fundAnalytics(fundNamed(fund), {
      window,
      frequency,
      asOf,
      inception: null,
      riskFree,
      benchmark,
    });
    agree(t, { ...figures }, expected, `${fund} ${window}`);
  });
}

function agree(t: ExecutionContext, actual: Figures, expected: Figures, what: string): void {
  for (const [name, value] of Object.entries(expected)) {
    const found = actual[name];
    if (typeof value === 'number')
      t.true(isClose(found, value), `${what} ${name}: ${String(found)}, not ${value}`);
    else t.deepEqual(found, value, `${what} ${name}`);
  }
}

/** Equal but for rounding; ratios of small differences keep nine digits. */
function isClose(actual: unknown, expected: number | undefined): boolean {
  return (
    typeof actual === 'number' &&
    expected !== undefined &&
    Math.abs(actual - expected) <= 1e-9 * Math.max(1, Math.abs(expected))
  );
}

function fundNamed(name: string): AdjustedNav[] {
  const navs = funds.get(name);
  if (navs === undefined) throw new Error(`no fund ${name} in the stored results`);
  return navs;
}

function pointsOf({ dates, navs }: Points) {
  return dates.map((date, i) => ({ date, nav: navs[i] ?? null }));
}
