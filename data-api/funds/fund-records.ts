// GET /v1/funds/{id}/nav, /payouts and /expenses: what a fund publishes, by the day.
// Hides nothing: each handler reads from the parameters to the answer.
import { z } from 'zod';
import { adjustNavs } from '../../domain/funds/adjusted-nav.ts';
import { expensePeriods, payoutTypes } from '../../domain/funds/enums.ts';
import type { Handler } from '../../kernel/http/server.ts';
import { booleanParam, oneOfParam, parseQuery, windowOf, windowParams } from '../../kernel/http/params.ts';
import type { Dependencies } from '../dependencies.ts';
import { isDigits } from '../../kernel/digits.ts';
import {
  expensesList,
  navFrequencies,
  navList,
  navWhere,
  payoutsList,
  readAdjustingNavs,
  readPayouts,
} from './fund-records.sql.ts';
import { requireFund } from './funds.ts';
import { listParams, sendList, type DerivedField } from '../list.ts';
import { Conditions } from '../list.sql.ts';

const navQuery = z.object({
  ...windowParams,
  adjusted: booleanParam.default(true),
  frequency: oneOfParam(navFrequencies).default('daily'),
  ...listParams(navList),
});

/** GET /v1/funds/{id}/nav. */
export function getFundNavs(dependencies: Dependencies): Handler {
  const { database } = dependencies;
  return async function getFundNavs(request, response, call) {
    const asked = await call.stage('parse', () => parseQuery(navQuery, request.url));
    const window = windowOf(asked);
    const { fundNo } = await call.stage('lookup', () => requireFund(database, request.params['id']));
    const where = navWhere(fundNo, window, asked.frequency);
    const answer = { list: navList, asked, where };
    const derived = adjustedNav(dependencies, fundNo);
    await sendList(request, response, call, dependencies, asked.adjusted ? { ...answer, derived } : answer);
  };
}

/** The adjusted NAV of a page is that of the whole history: it depends on few other NAVs. */
function adjustedNav({ database }: Dependencies, fundNo: number): DerivedField {
  return {
    name: 'nav_adjusted',
    needs: ['date', 'nav'],
    async work(rows) {
      const payouts = await readPayouts(database, fundNo);
      const points = new Map((await readAdjustingNavs(database, fundNo)).map(({ date, nav }) => [date, nav]));
      for (const { date, nav } of rows) points.set(String(date), isDigits(nav) ? nav.rawJSON : null);
      const navs = adjustNavs(
        [...points].map(([date, nav]) => ({ date, nav })),
        payouts,
      );
      const adjusted = new Map(navs.map((nav) => [nav.date, nav.adjusted]));
      return rows.map(({ date }) => adjusted.get(String(date)) ?? null);
    },
  };
}

const payoutsQuery = z.object({
  ...windowParams,
  type: oneOfParam(payoutTypes).optional(),
  ...listParams(payoutsList),
});

/** GET /v1/funds/{id}/payouts. */
export function getFundPayouts(dependencies: Dependencies): Handler {
  return async function getFundPayouts(request, response, call) {
    const asked = await call.stage('parse', () => parseQuery(payoutsQuery, request.url));
    const { from, to } = windowOf(asked);
    const { fundNo } = await call.stage('lookup', () =>
      requireFund(dependencies.database, request.params['id']),
    );
    const where = new Conditions()
      .and(fundNo, (p) => `p.fund_no = ${p}`)
      .and(from, (p) => `p.ex_date >= ${p}`)
      .and(to, (p) => `p.ex_date <= ${p}`)
      .and(asked.type, (p) => `p.type = ${p}`);
    await sendList(request, response, call, dependencies, { list: payoutsList, asked, where });
  };
}

const expensesQuery = z.object({
  ...windowParams,
  period_type: oneOfParam(expensePeriods).optional(),
  ...listParams(expensesList),
});

/** GET /v1/funds/{id}/expenses. */
export function getFundExpenses(dependencies: Dependencies): Handler {
  return async function getFundExpenses(request, response, call) {
    const asked = await call.stage('parse', () => parseQuery(expensesQuery, request.url));
    const { from, to } = windowOf(asked);
    const { fundNo } = await call.stage('lookup', () =>
      requireFund(dependencies.database, request.params['id']),
    );
    const where = new Conditions()
      .and(fundNo, (p) => `e.fund_no = ${p}`)
      .and(from, (p) => `e.period_end >= ${p}`)
      .and(to, (p) => `e.period_end <= ${p}`)
      .and(asked.period_type, (p) => `e.period_type = ${p}`);
    await sendList(request, response, call, dependencies, { list: expensesList, asked, where });
  };
}
