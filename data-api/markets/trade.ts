// GET /v1/trade: external trade as published, summed, or as a balance.
// Hides nothing: the handler reads from the parameters to the answer; what may be added up is decided in trade.sql.ts.
import { z } from 'zod';
import { fail } from '../../kernel/errors.ts';
import type { Handler } from '../../kernel/http/server.ts';
import { tradeBases, tradeClassifications, tradeFlows } from '../../domain/markets.ts';
import {
  booleanParam,
  oneOfParam,
  parseQuery,
  periodParam,
  someOfParam,
  windowOf,
  windowParams,
} from '../../kernel/http/params.ts';
import type { Dependencies } from '../dependencies.ts';
import { listParams, sendCount, sendList } from '../list.ts';
import { currencyParam } from './securities.ts';
import { tradeList, tradeSums, tradeWhere, type TradeFilter } from './trade.sql.ts';

const countryParam = z
  .string()
  .regex(/^[A-Za-z]{3}$/, 'must be an ISO 3166 code of three letters such as PAK')
  .transform((text) => text.toUpperCase());

const partnerParam = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,16}$/, 'must be an ISO 3166 code of three letters such as CHN, or world')
  .transform((text) => (text.toUpperCase() === 'WORLD' ? 'WLD' : text.toUpperCase()));

const commodityParam = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,20}$/, 'must be a code with its leading zeros such as 0101, or TOTAL')
  .transform((text) => text.toUpperCase());

/** What a sum keeps apart; the other is added up. */
const aggregateParam = someOfParam(['partner', 'commodity', 'period']).transform((kept) => ({
  partners: kept.includes('partner'),
  commodities: kept.includes('commodity'),
}));

const tradeQuery = z.object({
  flow: oneOfParam([...tradeFlows, 'balance']).optional(),
  period: periodParam.optional(),
  ...windowParams,
  frequency: oneOfParam(['M', 'A']).optional(),
  reporter: countryParam.optional(),
  partner: partnerParam.optional(),
  commodity: commodityParam.optional(),
  classification: oneOfParam(tradeClassifications).optional(),
  level: oneOfParam(['2', '4', '6', '8', '10']).transform(Number).optional(),
  aggregate_by: aggregateParam.optional(),
  basis: oneOfParam(tradeBases).optional(),
  currency: currencyParam.optional(),
  count_only: booleanParam.default(false),
  ...listParams(tradeList),
});

/** GET /v1/trade. */
export function getTrade(dependencies: Dependencies): Handler {
  return async function getTrade(request, response, call) {
    const asked = await call.stage('parse', () => parseQuery(tradeQuery, request.url));
    if (asked.period !== undefined && (asked.from !== undefined || asked.to !== undefined)) {
      fail('invalid_parameter', '"period" is a window of its own: leave "from" and "to" out.', {
        param: 'period',
      });
    }
    const { flow, frequency, reporter, partner, commodity, classification, level, basis, currency } = asked;
    const kept = asked.aggregate_by;
    const isBalance = flow === 'balance';
    const isSum = isBalance || kept !== undefined;
    const filter: TradeFilter = {
      flow: isBalance ? undefined : flow,
      ...(asked.period ?? windowOf(asked)),
      frequency,
      reporter,
      partner,
      commodity,
      commodityIsBeginning: level !== undefined || kept !== undefined,
      classification,
      level,
      basis,
      currency,
    };
    const send = asked.count_only ? sendCount : sendList;
    if (!isSum) {
      const where = tradeWhere(filter);
      await send(request, response, call, dependencies, { list: tradeList, asked, where });
      return;
    }
    if (filter.from === undefined) {
      fail('invalid_parameter', 'Sums and balances need a window: give "period", or "from".', {
        param: 'period',
      });
    }
    if (asked.sort.endsWith('id')) {
      fail('invalid_parameter', 'Sums have no id: sort by date or value.', { param: 'sort' });
    }
    const sums = tradeSums({
      filter,
      keepsPartners: (kept?.partners ?? true) && partner !== 'WLD',
      keepsCommodities: kept?.commodities ?? true,
      level,
      isBalance,
    });
    await send(request, response, call, dependencies, { ...sums, asked });
  };
}
