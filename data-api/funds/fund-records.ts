// GET /v1/funds/{id}/nav, /payouts and /expenses: what a fund publishes, by the day.
// Hides nothing: each handler reads from the parameters to the answer.
import { adjustNavs } from '../../domain/funds/adjusted-nav.ts';
import { expensePeriods, payoutTypes } from '../../domain/funds/enums.ts';
import { flagParam, oneOfParam, windowOf, windowParams } from '../../kernel/http/params.ts';
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
import { fundParam, requireFund } from './funds.ts';
import { endpoint } from '../endpoint.ts';
import { listReply, paramsWithUpdates, schemaOf, type DerivedField } from '../list.ts';
import { Conditions } from '../list.sql.ts';

export const getFundNavs = endpoint({
  summary: 'The NAVs of a fund, by the day.',
  params: fundParam,
  query: {
    ...windowParams,
    adjusted: flagParam(true).describe('Whether `nav_adjusted` is filled: the NAV with payouts reinvested.'),
    frequency: oneOfParam(navFrequencies).default('daily').describe('The last NAV of each period.'),
    ...paramsWithUpdates(navList),
  },
  json: schemaOf(navList),
  caching: 'private',
  errors: ['not_found'],
  handler:
    (dependencies) =>
    async ({ query, params, call }) => {
      const window = windowOf(query);
      const { fundNo, id } = await call.stage('lookup', () => requireFund(dependencies.database, params));
      const where = navWhere(fundNo, window, query.frequency);
      const shown = { list: navList, query, where, fileName: `${id}-nav` };
      const derived = adjustedNav(dependencies, fundNo);
      return listReply(dependencies, call, query.adjusted ? { ...shown, derived } : shown);
    },
});

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

export const getFundPayouts = endpoint({
  summary: 'The payouts of a fund.',
  params: fundParam,
  query: {
    ...windowParams,
    type: oneOfParam(payoutTypes).optional().describe('How it was paid.'),
    ...paramsWithUpdates(payoutsList),
  },
  json: schemaOf(payoutsList),
  caching: 'private',
  errors: ['not_found'],
  handler:
    (dependencies) =>
    async ({ query, params, call }) => {
      const { from, to } = windowOf(query);
      const { fundNo, id } = await call.stage('lookup', () => requireFund(dependencies.database, params));
      const where = new Conditions()
        .and(fundNo, (p) => `p.fund_no = ${p}`)
        .and(from, (p) => `p.ex_date >= ${p}`)
        .and(to, (p) => `p.ex_date <= ${p}`)
        .and(query.type, (p) => `p.type = ${p}`);
      return listReply(dependencies, call, { list: payoutsList, query, where, fileName: `${id}-payouts` });
    },
});

export const getFundExpenses = endpoint({
  summary: 'The expense ratios of a fund.',
  params: fundParam,
  query: {
    ...windowParams,
    period_type: oneOfParam(expensePeriods).optional().describe('The period that a ratio is of.'),
    ...paramsWithUpdates(expensesList),
  },
  json: schemaOf(expensesList),
  caching: 'private',
  errors: ['not_found'],
  handler:
    (dependencies) =>
    async ({ query, params, call }) => {
      const { from, to } = windowOf(query);
      const { fundNo, id } = await call.stage('lookup', () => requireFund(dependencies.database, params));
      const where = new Conditions()
        .and(fundNo, (p) => `e.fund_no = ${p}`)
        .and(from, (p) => `e.period_end >= ${p}`)
        .and(to, (p) => `e.period_end <= ${p}`)
        .and(query.period_type, (p) => `e.period_type = ${p}`);
      return listReply(dependencies, call, { list: expensesList, query, where, fileName: `${id}-expenses` });
    },
});
