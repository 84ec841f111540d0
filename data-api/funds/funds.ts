// GET /v1/funds, /v1/funds/screener and /v1/funds/{id}.
import { z } from 'zod';
import type { Queryable } from '../../kernel/database.ts';
import { memberOf } from '../../kernel/entries.ts';
import { fail, refuseParam } from '../../kernel/errors.ts';
import { assetClasses, fundStructures, shownFundStatuses } from '../../domain/funds/enums.ts';
import { ratings } from '../../domain/markets.ts';
import { statedBases } from '../../domain/funds/returns.ts';
import { oneOf } from '../../kernel/http/list.ts';
import { booleanParam, nearestHint, oneOfParam } from '../../kernel/http/params.ts';
import { endpoint } from '../endpoint.ts';
import {
  addRatingBound,
  findFund,
  findFundIdsNear,
  fundProfile,
  fundsList,
  fundsWhere,
  excludeEnded,
  excludeStale,
  screeners,
  type Fund,
} from './funds.sql.ts';
import { listReply, paramsWithUpdates, readRecord, recordOf, recordReply, schemaOf } from '../list.ts';
import { Conditions, findDataState } from '../list.sql.ts';
import { currencyParam, ratingParam } from '../markets/securities.ts';

/** The path parameter of a fund. */
export const fundParam = {
  id: z.string().describe('An id from `/v1/funds`, a symbol, an ISIN or a code of the source.'),
};

const filters = {
  amc: z.string().describe('An id from `/v1/amcs`.'),
  category: z.string().describe('The exact category.'),
  asset_class: oneOfParam(assetClasses),
  structure: oneOfParam(fundStructures),
  risk_profile: z.string().describe('The exact risk profile as stated by the source.'),
  status: oneOfParam(shownFundStatuses).describe(
    '`inactive`: the source states no status, and the last NAV is more than 30 days older than the newest of the category.',
  ),
  currency: currencyParam,
};
const shariah = booleanParam.optional().describe('Whether the fund is Shariah-compliant.');

export const getFunds = endpoint({
  summary: 'Funds.',
  query: {
    shariah,
    q: z.string().optional().describe('Part of the id, a name or a code, case-insensitive.'),
    ...paramsWithUpdates(fundsList, filters),
  },
  json: schemaOf(fundsList),
  handler: (dependencies, { query, call }) =>
    listReply(dependencies, call, { list: fundsList, query, where: fundsWhere(query) }),
});

/** Funds that have ended are included only if `status` requests them, stale ones also with `include_stale`. */
export const getFundScreener = endpoint({
  summary: 'Funds filtered by precomputed figures: returns, risk, costs, size, age.',
  query: {
    shariah,
    rating_min: ratingParam.optional().describe('This rating or better.'),
    rating_max: ratingParam.optional().describe('This rating or worse.'),
    basis: oneOfParam(statedBases)
      .default('by_length')
      .describe(
        'The basis of all returns; `by_length`: absolute below one year, annualized (compound) from one year on.',
      ),
    include_stale: booleanParam
      .optional()
      .describe(
        'Whether funds are included whose last NAV is more than 30 days older than the newest of their category and currency; default: only if `status` asks for another one than `active`.',
      ),
    ...paramsWithUpdates(screeners.by_length, filters),
  },
  json: schemaOf(screeners.by_length),
  handler: (dependencies, { query, call }) => {
    const where = fundsWhere(query);
    const list = screeners[query.basis];
    if (query.status === undefined) excludeEnded(where);
    const statuses = query.status ?? ['active'];
    const includesStale = query.include_stale ?? !statuses.includes('active');
    if (!includesStale)
      excludeStale(where, query.include_stale === undefined && statuses.length > 1 ? 'active' : undefined);
    const [worst, best] = [query.rating_min, query.rating_max];
    if (worst !== undefined && best !== undefined && ratings.indexOf(worst) < ratings.indexOf(best))
      refuseParam('rating_min', '"rating_min" must not be better than "rating_max".');
    addRatingBound(where, 'min', query.rating_min);
    addRatingBound(where, 'max', query.rating_max);
    return listReply(dependencies, call, { list, query, where });
  },
});

export const getFund = endpoint({
  summary: 'The profile of a fund.',
  params: fundParam,
  json: oneOf(recordOf(fundProfile)),
  errors: ['not_found'],
  handler: async ({ database }, { params, call }) => {
    const fund = await call.stage('lookup', () => requireFund(database, params));
    const state = await call.stage('lookup', () => findDataState(database, fundProfile.datasets));
    const where = new Conditions().and(fund.fundNo, (p) => `f.fund_no = ${p}`);
    const data = await call.stage('sql', () => readRecord(database, fundProfile, where));
    return recordReply({ data, state });
  },
});

/** The fund of a path. @throws Failure `not_found`, which suggests the nearest id if there is one. */
export async function requireFund(
  database: Queryable,
  params: Readonly<Record<string, string>>,
): Promise<Fund> {
  const asked = memberOf(params, 'id');
  const fund = asked.length > 80 ? undefined : await findFund(database, asked);
  if (fund !== undefined) return fund;
  const near = asked.length > 80 ? [] : await findFundIdsNear(database, asked);
  const hint = nearestHint(asked, near, 'GET /v1/funds lists them.');
  return fail('not_found', `No fund has this id or code. ${hint}`, { param: 'id' });
}
