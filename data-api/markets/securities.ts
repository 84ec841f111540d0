// GET /v1/securities, /v1/securities/{code}/prices and /v1/securities/trades.
import { z } from 'zod';
import { memberOf } from '../../kernel/entries.ts';
import { fail, refuseParam } from '../../kernel/errors.ts';
import { codeShapes, ratings, securityStatuses, securityTypes } from '../../domain/markets.ts';
import {
  booleanParam,
  nearestHint,
  oneOfParam,
  periodParam,
  windowOf,
  windowParams,
} from '../../kernel/http/params.ts';
import type { Dependencies } from '../dependencies.ts';
import { endpoint } from '../endpoint.ts';
import { listReply, paramsWithUpdates, schemaOf } from '../list.ts';
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

/** In a URL `+` means a space, and few clients write `AA%2B`. */
export const ratingParam = z
  .string()
  .transform((text) => text.replace(/ $/, '+').toUpperCase())
  .pipe(oneOfParam(ratings))
  .meta({ override: { type: 'string', enum: [...ratings] } });

export const currencyParam = z
  .string()
  .regex(codeShapes.currency, 'must be an ISO 4217 code such as PKR')
  .transform((text) => text.toUpperCase())
  .describe('An ISO 4217 code such as PKR.');

export const getSecurities = endpoint({
  summary: 'Debt securities.',
  query: {
    rating_min: ratingParam
      .optional()
      .describe('This rating or a better one, on the long-term scale; unrated securities are excluded.'),
    maturity_from: periodParam.optional().describe('Matures on that day or later.'),
    maturity_to: periodParam.optional().describe('Matures on that day or earlier.'),
    shariah: booleanParam.optional().describe('Whether it is Shariah-compliant.'),
    traded: booleanParam.optional().describe('Whether the newest price is from trades.'),
    ...paramsWithUpdates(securitiesList, {
      type: oneOfParam(securityTypes),
      issuer: z.string().describe("Part of the issuer's name, case-insensitive."),
      status: oneOfParam(securityStatuses),
      currency: currencyParam,
    }),
  },
  json: schemaOf(securitiesList),
  handler: (dependencies, { query, call }) => {
    const maturity = { from: query.maturity_from?.from, to: query.maturity_to?.to };
    if (maturity.from !== undefined && maturity.to !== undefined && maturity.from > maturity.to)
      refuseParam('maturity_from', '"maturity_from" must not be after "maturity_to".');
    const where = securitiesWhere({ ...query, maturity });
    return listReply(dependencies, call, { list: securitiesList, query, where });
  },
});

export const getSecurityPrices = endpoint({
  summary: 'The prices of a security, one per day.',
  params: {
    code: z.string().describe('A code (case-insensitive), with hyphens or with slashes (`%2F`); or an ISIN.'),
  },
  query: { ...windowParams, ...paramsWithUpdates(securityPricesList, {}) },
  json: schemaOf(securityPricesList),
  errors: ['not_found'],
  handler: async (dependencies, { query, params, call }) => {
    const { database } = dependencies;
    const window = windowOf(query);
    const name = memberOf(params, 'code');
    const code = await call.stage('lookup', () => findSecurityCode(database, name));
    if (code === undefined) {
      const near = await findSecurityCodesNear(database, name);
      const hint = nearestHint(name, near, 'GET /v1/securities lists them.');
      fail('not_found', `No security has this code or ISIN. ${hint}`, { param: 'code' });
    }
    const where = new Conditions().and(code, (p) => `p.code = ${p}`).during(window, 'p.date');
    return listReply(dependencies, call, {
      list: securityPricesList,
      query,
      where,
      fileName: `${code}-prices`,
    });
  },
});

/** Stays text: an amount may have more digits than a number can represent. */
const amountParam = z
  .string()
  .regex(/^\d{1,18}(?:\.\d{1,9})?$/, 'must be an amount such as 1000000')
  .meta({ override: { type: 'number', pattern: undefined, minimum: 0 } });

export const getSecurityTrades = endpoint({
  summary: 'Trades of securities, as reported.',
  query: {
    ...windowParams,
    min_amount: amountParam.optional().describe('`amount` is at least that.'),
    ...paramsWithUpdates(securityTradesList, {
      code: z.string().describe('A code or an ISIN; an unknown one has no trades.'),
      type: oneOfParam(securityTypes).describe('The type of the security.'),
      venue: z.string().describe('The exact venue.'),
    }),
  },
  json: schemaOf(securityTradesList),
  handler: async (dependencies, { query, call }) => {
    const codes = query.code && (await call.stage('lookup', () => codesOf(dependencies, query.code ?? [])));
    const where = securityTradesWhere({ ...query, ...windowOf(query), code: codes });
    return listReply(dependencies, call, { list: securityTradesList, query, where });
  },
});

/** The codes of securities by their names; an unknown name is returned unchanged. */
async function codesOf({ database }: Dependencies, names: readonly string[]): Promise<string[]> {
  const codes: string[] = [];
  for (const name of names) codes.push((await findSecurityCode(database, name)) ?? name);
  return codes;
}
