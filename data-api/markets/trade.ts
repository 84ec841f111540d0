// GET /v1/trade: external trade as published, summed, or as a balance. trade.sql.ts decides which rows may be added up.
import { z } from 'zod';
import { refuseParam } from '../../kernel/errors.ts';
import {
  codeShapes,
  partnerCode,
  tradeBases,
  tradeClassifications,
  tradeFlows,
} from '../../domain/markets.ts';
import { oneOfParam, periodParam, someOfParam, windowOf, windowParams } from '../../kernel/http/params.ts';
import { endpoint } from '../endpoint.ts';
import { idsOf } from '../list-params.ts';
import { listReply, paramsWithUpdates, recordOf, schemaOf } from '../list.ts';
import { currencyParam } from './securities.ts';
import { tradeList, tradeSums, tradeWhere, type PeriodGroup, type TradeFilter } from './trade.sql.ts';

const countryParam = z
  .string()
  .regex(codeShapes.country, 'must be an ISO 3166 code of three letters such as PAK')
  .transform((text) => text.toUpperCase())
  .describe('An ISO 3166 code of three letters.');

const partnerParam = z
  .string()
  .regex(codeShapes.partner, 'must be an ISO 3166 code of three letters such as CHN, or world')
  .transform(partnerCode)
  .describe(
    'An ISO 3166 code of three letters, or `world`: rows published for the world; for sums all partners.',
  );

const commodityParam = z
  .string()
  .regex(codeShapes.commodity, 'must be a code with its leading zeros such as 0101, or TOTAL')
  .transform((text) => text.toUpperCase())
  .describe(
    'A code with its leading zeros, or `TOTAL`; with `level` or `aggregate_by` all codes that begin with it.',
  );

/** The time units of `aggregate_by`; at most one of them. */
const periodGroups = ['period', 'quarter', 'year', 'fiscal_year'] as const;

/** The last days of the months of a common year, `MM-DD`: the form of `fiscal_year_end` of a series. */
const monthEnds = [
  '01-31',
  '02-28',
  '03-31',
  '04-30',
  '05-31',
  '06-30',
  '07-31',
  '08-31',
  '09-30',
  '10-31',
  '11-30',
  '12-31',
] as const;

const filters = {
  flow: oneOfParam([...tradeFlows, 'balance']).describe(
    'Exports include re-exports; a balance is computed as exports minus imports.',
  ),
  frequency: oneOfParam(['M', 'A']).describe('Monthly or annual rows.'),
  reporter: countryParam,
  partner: partnerParam,
  commodity: commodityParam,
  classification: oneOfParam(tradeClassifications),
  level: oneOfParam(['2', '4', '6', '8', '10']).transform(Number).describe('Digits of the code.'),
  basis: oneOfParam(tradeBases).describe('The basis of the statistics; the two differ in their totals.'),
  currency: currencyParam,
};

/** The required filters of a sum: without one value each, different kinds would be added together or compared at different levels. */
const oneForSums = ['partner', 'commodity', 'level'] as const;

export const getTrade = endpoint({
  summary: 'External trade as published, summed, or as a balance.',
  query: {
    period: periodParam
      .optional()
      .describe('The months or years that end in that period; or use `from` and `to`.'),
    ...windowParams,
    aggregate_by: someOfParam(['partner', 'commodity', ...periodGroups])
      .optional()
      .describe(
        'Sums over all partners, commodities and periods but what is listed; of the last four at most one. Needs `period` or `from`.',
      ),
    fiscal_year_end: oneOfParam(monthEnds)
      .optional()
      .describe('The last day of the fiscal year; needed with `aggregate_by=fiscal_year`.'),
    ...paramsWithUpdates(tradeList, filters),
  },
  json: schemaOf(
    tradeList,
    {},
    recordOf(tradeList).extend({ id: z.int().nullable().describe('Null for a sum.') }),
  ),
  handler: (dependencies, { query, call }) => {
    if (query.period !== undefined && (query.from !== undefined || query.to !== undefined))
      refuseParam('period', '"period" cannot be combined with "from" or "to".');
    const { flow, level, aggregate_by: groupBy } = query;
    const isBalance = flow?.includes('balance') ?? false;
    if (isBalance && flow?.length !== 1)
      refuseParam('flow', 'A balance cannot be combined with other flows.');
    const isSum = isBalance || groupBy !== undefined;
    const periods = periodGroup(query);
    const filter: TradeFilter = {
      ...query,
      flow: isBalance ? undefined : flow,
      ...(query.period ?? windowOf(query)),
      commodityIsPrefix: level !== undefined || groupBy !== undefined,
    };
    if (!isSum) return listReply(dependencies, call, { list: tradeList, query, where: tradeWhere(filter) });
    if (filter.from === undefined) refuseParam('period', 'Sums and balances require "period" or "from".');
    requireSummable(query);
    const sums = tradeSums({
      filter: { ...filter, from: filter.from },
      groupsByPartner: (groupBy?.includes('partner') ?? true) && query.partner?.[0] !== 'WLD',
      groupsByCommodity: groupBy?.includes('commodity') ?? true,
      level: level?.[0],
      periods,
      fiscalYearEnd: Number(query.fiscal_year_end?.slice(0, 2) ?? 12),
      isBalance,
    });
    return listReply(dependencies, call, { ...sums, query });
  },
});

/** @throws Failure `invalid_parameter` for parameters that sums cannot be filtered or ordered by. */
function requireSummable(
  query: { sort: string } & {
    readonly [Name in (typeof oneForSums)[number]]?: readonly unknown[] | undefined;
  },
): void {
  if (idsOf(query) !== undefined) refuseParam('ids', 'Sums have no id.');
  if (query.sort.endsWith('id')) refuseParam('sort', 'Sums have no id. Sort by date or value.');
  const several = oneForSums.find((name) => (query[name]?.length ?? 0) > 1);
  if (several !== undefined) refuseParam(several, `Sums and balances take one value of "${several}".`);
}

/** How periods are added up. A fiscal year that ends with December is the calendar year. */
function periodGroup(asked: {
  aggregate_by?: readonly string[] | undefined;
  fiscal_year_end?: string | undefined;
  frequency?: readonly string[] | undefined;
}): PeriodGroup {
  const { aggregate_by: groupBy, fiscal_year_end: yearEnd, frequency } = asked;
  const [group = 'whole', ...others] = periodGroups.filter((name) => groupBy?.includes(name));
  if (others.length > 0) {
    const message = `"aggregate_by" may have one of ${periodGroups.join(', ')}.`;
    refuseParam('aggregate_by', message);
  }
  if ((group === 'fiscal_year') !== (yearEnd !== undefined)) {
    const message =
      'A total of fiscal years needs both "aggregate_by=fiscal_year" and "fiscal_year_end", such as 06-30.';
    refuseParam('fiscal_year_end', message);
  }
  if (groupBy === undefined) return 'period';
  if (group === 'fiscal_year' && yearEnd === '12-31') return 'year';
  if (frequency?.join() === 'A' && (group === 'quarter' || group === 'fiscal_year')) {
    const message = `Annual rows are of calendar years, and part of no ${group === 'quarter' ? 'quarter' : 'other fiscal year'}. Omit "frequency" or use M.`;
    refuseParam('frequency', message);
  }
  return group;
}
