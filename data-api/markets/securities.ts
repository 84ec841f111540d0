// GET /v1/securities, /v1/securities/{code}/prices and /v1/securities/trades.
// Hides nothing: each handler reads from the parameters to the answer.
import { z } from 'zod';
import { fail } from '../../kernel/errors.ts';
import type { Handler } from '../../kernel/http/server.ts';
import { ratings, securityStatuses, securityTypes } from '../../domain/markets.ts';
import {
  booleanParam,
  nearestName,
  oneOfParam,
  parseQuery,
  periodParam,
  windowOf,
  windowParams,
} from '../../kernel/http/params.ts';
import type { Dependencies } from '../dependencies.ts';
import { listParams, sendList } from '../list.ts';
import { Conditions } from '../list.sql.ts';
import {
  findSecurityCode,
  findSecurityCodesNear,
  securitiesList,
  securitiesWhere,
  securityPricesList,
  securityTradesList,
  securityTradesWhere,
} from './securities.sql.ts';

/** In a URL `+` means a blank, and few write `AA%2B`. */
export const ratingParam = z
  .string()
  .transform((text) => text.replace(/ $/, '+').toUpperCase())
  .pipe(oneOfParam(ratings));

export const currencyParam = z
  .string()
  .regex(/^[A-Za-z]{3}$/, 'must be an ISO 4217 code such as PKR')
  .transform((text) => text.toUpperCase());

const securitiesQuery = z.object({
  type: oneOfParam(securityTypes).optional(),
  issuer: z.string().optional(),
  rating_min: ratingParam.optional(),
  maturity_from: periodParam.optional(),
  maturity_to: periodParam.optional(),
  shariah: booleanParam.optional(),
  traded: booleanParam.optional(),
  status: oneOfParam(securityStatuses).optional(),
  currency: currencyParam.optional(),
  ...listParams(securitiesList),
});

/** GET /v1/securities. */
export function getSecurities(dependencies: Dependencies): Handler {
  return async function getSecurities(request, response, call) {
    const asked = await call.stage('parse', () => parseQuery(securitiesQuery, request.url));
    const { type, issuer, shariah, traded, status, currency } = asked;
    const [maturityFrom, maturityTo] = [asked.maturity_from?.from, asked.maturity_to?.to];
    if (maturityFrom !== undefined && maturityTo !== undefined && maturityFrom > maturityTo) {
      fail('invalid_parameter', '"maturity_from" must not be after "maturity_to".', {
        param: 'maturity_from',
      });
    }
    const ratingMin = asked.rating_min;
    const where = securitiesWhere({
      type,
      issuer,
      ratingMin,
      maturityFrom,
      maturityTo,
      shariah,
      traded,
      status,
      currency,
    });
    await sendList(request, response, call, dependencies, { list: securitiesList, asked, where });
  };
}

const pricesQuery = z.object({ ...windowParams, ...listParams(securityPricesList) });

/** GET /v1/securities/{code}/prices. */
export function getSecurityPrices(dependencies: Dependencies): Handler {
  const { database } = dependencies;
  return async function getSecurityPrices(request, response, call) {
    const asked = await call.stage('parse', () => parseQuery(pricesQuery, request.url));
    const { from, to } = windowOf(asked);
    const name = String(request.params['code']);
    const code = await call.stage('lookup', () => findSecurityCode(database, name));
    if (code === undefined) {
      const nearest = nearestName(name, await findSecurityCodesNear(database, name));
      const hint = nearest === undefined ? 'GET /v1/securities lists them.' : `Did you mean "${nearest}"?`;
      fail('not_found', `There is no security of that code or ISIN. ${hint}`, { param: 'code' });
    }
    const where = new Conditions()
      .and(code, (p) => `p.code = ${p}`)
      .and(from, (p) => `p.date >= ${p}`)
      .and(to, (p) => `p.date <= ${p}`);
    await sendList(request, response, call, dependencies, { list: securityPricesList, asked, where });
  };
}

/** Text all the way: an amount may have more digits than a number keeps. */
const amountParam = z.string().regex(/^\d{1,18}(?:\.\d{1,9})?$/, 'must be an amount such as 1000000');

const tradesQuery = z.object({
  code: z.string().optional(),
  ...windowParams,
  type: oneOfParam(securityTypes).optional(),
  venue: z.string().optional(),
  min_amount: amountParam.optional(),
  ...listParams(securityTradesList),
});

/** GET /v1/securities/trades. */
export function getSecurityTrades(dependencies: Dependencies): Handler {
  const { database } = dependencies;
  return async function getSecurityTrades(request, response, call) {
    const asked = await call.stage('parse', () => parseQuery(tradesQuery, request.url));
    const { type, venue } = asked;
    const name = asked.code;
    const code =
      name === undefined
        ? undefined
        : ((await call.stage('lookup', () => findSecurityCode(database, name))) ?? name);
    const where = securityTradesWhere({ code, ...windowOf(asked), type, venue, minAmount: asked.min_amount });
    await sendList(request, response, call, dependencies, { list: securityTradesList, asked, where });
  };
}
