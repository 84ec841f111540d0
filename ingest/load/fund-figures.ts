// Recomputes, in the load's transaction, the screener figures of the funds that the load touched, which funds are stale, and the totals of
// companies. It reads only the NAVs that the figures as of the last one depend on.
import type { Transaction } from '../../kernel/database.ts';
import { adjustNavs, type AdjustedNav } from '../../domain/funds/adjusted-nav.ts';
import { fundAnalytics } from '../../domain/funds/analytics.ts';
import {
  firstDayOf,
  fiscalYearOf,
  periodReturns,
  returnBases,
  type ReturnOptions,
} from '../../domain/funds/returns.ts';
import { dayNumber } from '../../kernel/dates.ts';
import {
  refreshAmcFigures,
  refreshStaleFunds,
  markOtherFiscalYears,
  readFigureNavs,
  readFigurePayouts,
  allowFullScans,
  storeFigures,
  popDueFunds,
  type DueFund,
  type FundFigures,
} from './fund-figures.sql.ts';
import { emitRowEvents } from './events/load-events.ts';
import { finishLoads, insertLoad, noCounts } from './store/load-record.sql.ts';

/** The time of the load, and the defaults for funds that state nothing. */
export interface LoadDay {
  now: Date;
  /** The day in the time zone of the series. */
  today: string;
  fiscalYearFirstMonth: number;
}

/** The number of funds in memory at a time, each with about 300 NAVs. */
const blockFunds = 500;
const daysPerYear = 365.25;

/** The follow-up work of loads of funds, NAVs and payouts. */
export async function refreshFundFigures(on: Transaction, day: LoadDay): Promise<void> {
  const { fiscalYearFirstMonth, today } = day;
  const turned = await markOtherFiscalYears(on, fiscalYearFirstMonth);
  if (turned > 0) await recordTurned(on, day, turned);
  const block = { most: blockFunds, otherwise: fiscalYearFirstMonth };
  await allowFullScans(on, 'off');
  let due = await popDueFunds(on, block);
  const isAnyDue = due.length > 0;
  for (; due.length > 0; due = await popDueFunds(on, block)) await refreshBlock(on, due, today);
  await allowFullScans(on, 'on');
  if (!isAnyDue) return;
  await refreshStaleFunds(on, today);
  await refreshAmcFigures(on);
}

/** Answers are cached until a load changes their datasets, so a change that no file makes is recorded as a load of its own. */
async function recordTurned(on: Transaction, { today, now }: LoadDay, funds: number): Promise<void> {
  const load = { dataset: 'funds', sourceName: 'fiscal years', vintage: today };
  const counts = { ...noCounts, pointsRevised: funds };
  const loadNo = await insertLoad(on, load);
  await finishLoads(on, new Map([[loadNo, counts]]), { rowsRead: 0, rowsRejected: 0 });
  await emitRowEvents(on, { loadNo, dataset: load.dataset, at: now }, counts);
}

async function refreshBlock(on: Transaction, funds: readonly DueFund[], today: string): Promise<void> {
  const fundNos = funds.map(({ fundNo }) => fundNo);
  const navsOf = new Map((await readFigureNavs(on, fundNos)).map(({ fundNo, navs }) => [fundNo, navs]));
  const payoutsOf = Map.groupBy(await readFigurePayouts(on, fundNos), ({ fundNo }) => fundNo);
  const computed = funds.map((fund) => {
    const points = (navsOf.get(fund.fundNo)?.split(',') ?? []).map((text) => {
      const [date = '', nav = null] = text.split(' ');
      return { date, nav };
    });
    const navs = adjustNavs(points, payoutsOf.get(fund.fundNo) ?? []);
    return { figures: figuresOf(fund, navs), returns: returnsByBasis(fund, navs) };
  });
  await storeFigures(on, {
    rows: computed.map(({ figures }) => figures),
    returns: computed.flatMap(({ returns }) => returns),
    today,
  });
}

/** A row of data.fund_figures. */
function figuresOf(fund: DueFund, navs: readonly AdjustedNav[]): FundFigures {
  const { lastDate, firstDate, launchDate } = fund;
  const fiscalYearStart = firstDayOf(fund.fiscalYearFirstMonth);
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
    fytd_from: fiscalYearOf(lastDate, fiscalYearStart),
    age_years: (dayNumber(lastDate) - dayNumber(launchDate ?? firstDate)) / daysPerYear,
    ...returnColumns(navs, { asOf: lastDate, basis: 'by_length', fiscalYearStart, inception: launchDate }),
    volatility_1y_pct: risk.volatility_pct,
    sharpe_1y: risk.sharpe,
    max_drawdown_1y_pct: risk.max_drawdown_pct,
  };
}

/** The rows of data.fund_returns. */
function returnsByBasis(
  { fundNo, lastDate, launchDate, fiscalYearFirstMonth }: DueFund,
  navs: readonly AdjustedNav[],
): FundFigures[] {
  if (lastDate === null) return [];
  const fiscalYearStart = firstDayOf(fiscalYearFirstMonth);
  return returnBases.map((basis) => ({
    fund_no: fundNo,
    basis,
    ...returnColumns(navs, { asOf: lastDate, basis, fiscalYearStart, inception: launchDate }),
  }));
}

/**
 * The returns by column. The category comparison of returns since inception uses annualised returns only: a fund younger than a year has
 * none.
 */
function returnColumns(navs: readonly AdjustedNav[], options: ReturnOptions): Record<string, number | null> {
  return Object.fromEntries(
    periodReturns(navs, options).map(({ period, value_pct: value, basis }) => {
      const isYoung = options.basis === 'by_length' && period === 'since_inception' && basis === 'absolute';
      return [`return_${period}_pct`, isYoung ? null : value];
    }),
  );
}
