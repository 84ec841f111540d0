// GET /v1/funds/{id}/nav, /payouts and /expenses: the dated records of a fund.

import { adjustNavs } from '../../domain/funds/adjusted-nav.ts';
import { expensePeriods, payoutTypes } from '../../domain/funds/enums.ts';
import { flagParam, oneOfParam, windowOf, windowParams } from '../../kernel/http/params.ts';
import type { Dependencies } from '../dependencies.ts';
import { isDigits } from '../../kernel/digits.ts';
import {
  expensesList,
  keepLastNavs,
  navFrequencies,
  navList,
  payoutsList,
  readAdjustingNavs,
  readPayouts,
  recordsWhere,
} from './fund-records.sql.ts';
import { fundParam, requireFund } from './funds.ts';
import { endpoint, type Asked } from '../endpoint.ts';
import { listReply, paramsWithUpdates, schemaOf, type DerivedField } from '../list.ts';
import type { List } from '../list.sql.ts';

/** Finds the rows of a list for the fund of the path, in the requested window. */
async function findRecords(
  { database }: Dependencies,
  list: List,
  { query, params, call }: Pick<Asked<Parameters<typeof windowOf>[0]>, 'query' | 'params' | 'call'>,
) {
  const window = windowOf(query);
  const { fundNo, id } = await call.stage('lookup', () => requireFund(database, params));
  return { fundNo, where: recordsWhere(list, fundNo, window), fileName: `${id}-${list.name}` };
}

export const getFundNavs = endpoint({
  summary: 'The NAV history of a fund.',
  params: fundParam,
  query: {
    ...windowParams,
    adjusted: flagParam(true).describe('Whether `nav_adjusted` is filled: the NAV with payouts reinvested.'),
    frequency: oneOfParam(navFrequencies).default('daily').describe('Returns the last NAV of each period.'),
    ...paramsWithUpdates(navList, {}),
  },
  json: schemaOf(navList),
  errors: ['not_found'],
  handler: async (dependencies, asked) => {
    const { query, call } = asked;
    const { fundNo, where, fileName } = await findRecords(dependencies, navList, asked);
    keepLastNavs(where, query.frequency);
    const derived = query.adjusted ? { derived: adjustedNav(dependencies, fundNo) } : {};
    return listReply(dependencies, call, { list: navList, query, where, fileName, ...derived });
  },
});

/** The adjusted NAV, based on the whole history even on a single page: it depends on few other NAVs. */
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
    ...paramsWithUpdates(payoutsList, { type: oneOfParam(payoutTypes).describe('The type of payout.') }),
  },
  json: schemaOf(payoutsList),
  errors: ['not_found'],
  handler: async (dependencies, asked) => {
    const { query, call } = asked;
    const { where, fileName } = await findRecords(dependencies, payoutsList, asked);
    where.isOneOf(query.type, 'p.type');
    return listReply(dependencies, call, { list: payoutsList, query, where, fileName });
  },
});

export const getFundExpenses = endpoint({
  summary: 'The expense ratios of a fund.',
  params: fundParam,
  query: {
    ...windowParams,
    ...paramsWithUpdates(expensesList, {
      period_type: oneOfParam(expensePeriods).describe('The period covered by the ratio.'),
    }),
  },
  json: schemaOf(expensesList),
  errors: ['not_found'],
  handler: async (dependencies, asked) => {
    const { query, call } = asked;
    const { where, fileName } = await findRecords(dependencies, expensesList, asked);
    where.isOneOf(query.period_type, 'e.period_type');
    return listReply(dependencies, call, { list: expensesList, query, where, fileName });
  },
});
