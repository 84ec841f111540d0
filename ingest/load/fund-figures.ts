// Recomputes the figures of the screener for the funds that a load has touched, and the totals of their companies, in the
// transaction of the load.
// Hides that only part of the history is read: the NAVs that the figures as of the last one depend on.
import type { Transaction } from '../../kernel/database.ts';
import { adjustNavs } from '../../domain/funds/adjusted-nav.ts';
import { fundAnalytics } from '../../domain/funds/analytics.ts';
import { periodReturns, shortBasisOf } from '../../domain/funds/returns.ts';
import { dayNumber } from '../../kernel/dates.ts';
import {
  keepAmcFigures,
  readFigureNavs,
  readFigurePayouts,
  setOtherPlans,
  storeFigures,
  takeDueFunds,
  type DueFund,
  type FundFigures,
} from './fund-figures.sql.ts';

/** The number of funds in memory at a time, each with about 300 NAVs. */
const blockFunds = 500;
const daysPerYear = 365.25;

export async function refreshFundFigures(on: Transaction): Promise<void> {
  await setOtherPlans(on, 'off');
  let due = await takeDueFunds(on, blockFunds);
  const isAnyDue = due.length > 0;
  for (; due.length > 0; due = await takeDueFunds(on, blockFunds)) await refreshBlock(on, due);
  await setOtherPlans(on, 'on');
  if (isAnyDue) await keepAmcFigures(on);
}

async function refreshBlock(on: Transaction, funds: readonly DueFund[]): Promise<void> {
  const fundNos = funds.map(({ fundNo }) => fundNo);
  const navsOf = new Map((await readFigureNavs(on, fundNos)).map(({ fundNo, navs }) => [fundNo, navs]));
  const payoutsOf = Map.groupBy(await readFigurePayouts(on, fundNos), ({ fundNo }) => fundNo);
  const rows = funds.map((fund) => {
    const points = (navsOf.get(fund.fundNo)?.split(',') ?? []).map((text) => {
      const [date = '', nav = null] = text.split(' ');
      return { date, nav };
    });
    return figuresOf(fund, points, payoutsOf.get(fund.fundNo) ?? []);
  });
  await storeFigures(on, rows);
}

/** A row of data.fund_figures. */
function figuresOf(
  fund: DueFund,
  points: Parameters<typeof adjustNavs>[0],
  payouts: Parameters<typeof adjustNavs>[1],
): FundFigures {
  const { lastDate, firstDate, launchDate, assetClass } = fund;
  const known = {
    fund_no: fund.fundNo,
    fund_id: fund.fundId,
    as_of: lastDate,
    nav: fund.nav,
    first_nav_date: firstDate,
    aum: fund.aum,
    aum_date: fund.aumDate,
    ter_pct: fund.terPct,
    ter_date: fund.terDate,
  };
  if (lastDate === null || firstDate === null) return known;
  const navs = adjustNavs(points, payouts);
  const returns = periodReturns(navs, {
    asOf: lastDate,
    basis: 'auto',
    shortBasis: shortBasisOf(assetClass),
    inception: launchDate,
  });
  const risk = fundAnalytics(navs, {
    window: '1y',
    frequency: 'daily',
    asOf: lastDate,
    inception: launchDate,
    riskFree: null,
    benchmark: null,
  });
  return {
    ...known,
    age_years: (dayNumber(lastDate) - dayNumber(launchDate ?? firstDate)) / daysPerYear,
    ...Object.fromEntries(returns.map(({ period, value_pct: value }) => [`return_${period}_pct`, value])),
    volatility_1y_pct: risk.volatility_pct,
    sharpe_1y: risk.sharpe,
    max_drawdown_1y_pct: risk.max_drawdown_pct,
  };
}
