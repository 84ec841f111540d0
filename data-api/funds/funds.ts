// GET /v1/funds, /v1/funds/screener and /v1/funds/{id}.
// Hides nothing: each handler reads from the parameters to the answer.
import { z } from 'zod';
import type { Queryable } from '../../kernel/database.ts';
import { fail } from '../../kernel/errors.ts';
import { assetClasses, fundStatuses, fundStructures } from '../../domain/funds/enums.ts';
import type { Handler } from '../../kernel/http/server.ts';
import { booleanParam, nearestName, oneOfParam, parseQuery, periodParam } from '../../kernel/http/params.ts';
import type { Dependencies } from '../dependencies.ts';
import {
  addBound,
  addDayBound,
  addRatingBound,
  findFund,
  findFundIdsNear,
  fundProfile,
  fundsList,
  fundsWhere,
  leaveOutEnded,
  screenedFigureNames,
  screenerList,
  type Fund,
} from './funds.sql.ts';
import { listParams, readRecord, sendList, sendRecord } from '../list.ts';
import { Conditions, findDataState } from '../list.sql.ts';
import { currencyParam, ratingParam } from '../markets/securities.ts';

const filterParams = {
  amc: z.string().optional(),
  category: z.string().optional(),
  asset_class: oneOfParam(assetClasses).optional(),
  shariah: booleanParam.optional(),
  structure: oneOfParam(fundStructures).optional(),
  risk_profile: z.string().optional(),
  status: oneOfParam(fundStatuses).optional(),
  currency: currencyParam.optional(),
};

const fundsQuery = z.object({ ...filterParams, q: z.string().optional(), ...listParams(fundsList) });

/** GET /v1/funds. */
export function getFunds(dependencies: Dependencies): Handler {
  return async function getFunds(request, response, call) {
    const asked = await call.stage('parse', () => parseQuery(fundsQuery, request.url));
    await sendList(request, response, call, dependencies, {
      list: fundsList,
      asked,
      where: fundsWhere(asked),
    });
  };
}

const boundParam = z
  .string()
  .regex(/^-?\d{1,18}(?:\.\d{1,9})?$/, 'must be a number such as 12.5')
  .optional();

const screenerQuery = z.object({
  ...filterParams,
  rating_min: ratingParam.optional(),
  rating_max: ratingParam.optional(),
  as_of_min: periodParam.optional(),
  as_of_max: periodParam.optional(),
  ...listParams(screenerList),
  ...Object.fromEntries(
    screenedFigureNames.flatMap((name) => [
      [`${name}_min`, boundParam],
      [`${name}_max`, boundParam],
    ]),
  ),
});

/** GET /v1/funds/screener: funds by figures that the loads worked out; those that ended only where `status` asks for them. */
export function getFundScreener(dependencies: Dependencies): Handler {
  return async function getFundScreener(request, response, call) {
    const asked = await call.stage('parse', () => parseQuery(screenerQuery, request.url));
    const where = fundsWhere(asked);
    if (asked.status === undefined) leaveOutEnded(where);
    const bounds = asked as Readonly<Record<string, unknown>>;
    for (const name of screenedFigureNames) {
      for (const side of ['min', 'max'] as const) {
        addBound(where, name, side, bounds[`${name}_${side}`] as string | undefined);
      }
    }
    addRatingBound(where, 'min', asked.rating_min);
    addRatingBound(where, 'max', asked.rating_max);
    addDayBound(where, 'min', asked.as_of_min?.from);
    addDayBound(where, 'max', asked.as_of_max?.to);
    await sendList(request, response, call, dependencies, { list: screenerList, asked, where });
  };
}

/** GET /v1/funds/{id}: all that is known of a fund. */
export function getFund({ database }: Dependencies): Handler {
  return async function getFund(request, response, call) {
    await call.stage('parse', () => parseQuery(z.object({}), request.url));
    const fund = await call.stage('lookup', () => requireFund(database, request.params['id']));
    const state = await call.stage('lookup', () => findDataState(database, fundProfile.datasets));
    const where = new Conditions().and(fund.fundNo, (p) => `f.fund_no = ${p}`);
    const data = await call.stage('sql', () => readRecord(database, fundProfile, where));
    await sendRecord(request, response, { data, state });
  };
}

/** @throws Failure `not_found` with the nearest id where one is near. */
export async function requireFund(database: Queryable, name: unknown): Promise<Fund> {
  const asked = String(name);
  const fund = asked.length > 80 ? undefined : await findFund(database, asked);
  if (fund !== undefined) return fund;
  const nearest = asked.length > 80 ? undefined : nearestName(asked, await findFundIdsNear(database, asked));
  const hint = nearest === undefined ? 'GET /v1/funds lists them.' : `Did you mean "${nearest}"?`;
  return fail('not_found', `There is no fund of that id or code. ${hint}`, { param: 'id' });
}
