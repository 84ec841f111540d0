// GET /v1/funds, /v1/funds/screener and /v1/funds/{id}.
// Hides nothing: each handler reads from the parameters to the answer.
import { z } from 'zod';
import type { Queryable } from '../../kernel/database.ts';
import { memberOf } from '../../kernel/entries.ts';
import { fail } from '../../kernel/errors.ts';
import { assetClasses, fundStructures, shownFundStatuses } from '../../domain/funds/enums.ts';
import { statedBases } from '../../domain/funds/returns.ts';
import { oneOf } from '../../kernel/http/list.ts';
import { booleanParam, nearestName, oneOfParam, periodParam } from '../../kernel/http/params.ts';
import { endpoint } from '../endpoint.ts';
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
  leaveOutStale,
  screenedFigureNames,
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

const filterParams = {
  amc: z.string().optional().describe('An id from `/v1/amcs`.'),
  category: z.string().optional().describe('The exact category.'),
  asset_class: oneOfParam(assetClasses).optional(),
  shariah: booleanParam.optional().describe('Whether the fund is Shariah-compliant.'),
  structure: oneOfParam(fundStructures).optional(),
  risk_profile: z.string().optional().describe('The exact risk profile as stated by the source.'),
  status: oneOfParam(shownFundStatuses)
    .optional()
    .describe(
      '`inactive`: the source states no status, and the last NAV is more than 30 days older than the newest of the category.',
    ),
  currency: currencyParam.optional(),
};

export const getFunds = endpoint({
  summary: 'Funds.',
  query: {
    ...filterParams,
    q: z.string().optional().describe('Part of the id, a name or a code, case-insensitive.'),
    ...paramsWithUpdates(fundsList),
  },
  json: schemaOf(fundsList),
  handler:
    (dependencies) =>
    ({ query, call }) =>
      listReply(dependencies, call, { list: fundsList, query, where: fundsWhere(query) }),
});

/** Takes every number that an answer prints. */
const boundParam = z
  .string()
  .regex(/^-?\d{1,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,2})?$/, 'must be a number such as 12.5')
  .meta({ override: { type: 'number', pattern: undefined } })
  .optional();

/** Funds that have ended are included only if `status` requests them, stale ones also with `include_stale`. */
export const getFundScreener = endpoint({
  summary: 'Funds filtered by precomputed figures: returns, risk, costs, size, age.',
  query: {
    ...filterParams,
    rating_min: ratingParam.optional().describe('This rating or better.'),
    rating_max: ratingParam.optional().describe('This rating or worse.'),
    as_of_min: periodParam.optional().describe('The last NAV is of this date or later.'),
    as_of_max: periodParam.optional().describe('The last NAV is of this date or earlier.'),
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
    ...paramsWithUpdates(screeners.by_length),
    ...Object.fromEntries(
      screenedFigureNames.flatMap((name) => [
        [`${name}_min`, boundParam.describe(`\`${name}\` is at least this value.`)],
        [`${name}_max`, boundParam.describe(`\`${name}\` is at most this value.`)],
      ]),
    ),
  },
  json: schemaOf(screeners.by_length),
  handler:
    (dependencies) =>
    ({ query, call }) => {
      const where = fundsWhere(query);
      const list = screeners[query.basis];
      if (query.status === undefined) leaveOutEnded(where);
      if (!(query.include_stale ?? !['active', undefined].includes(query.status))) leaveOutStale(where);
      const bounds = query as Readonly<Record<string, unknown>>;
      for (const name of screenedFigureNames) {
        for (const side of ['min', 'max'] as const) {
          addBound(where, list, name, side, bounds[`${name}_${side}`] as string | undefined);
        }
      }
      addRatingBound(where, 'min', query.rating_min);
      addRatingBound(where, 'max', query.rating_max);
      addDayBound(where, 'min', query.as_of_min?.from);
      addDayBound(where, 'max', query.as_of_max?.to);
      return listReply(dependencies, call, { list, query, where });
    },
});

export const getFund = endpoint({
  summary: 'The profile of a fund.',
  params: fundParam,
  json: oneOf(recordOf(fundProfile)),
  errors: ['not_found'],
  handler:
    ({ database }) =>
    async ({ params, call }) => {
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
  const nearest = asked.length > 80 ? undefined : nearestName(asked, await findFundIdsNear(database, asked));
  const hint = nearest === undefined ? 'GET /v1/funds lists them.' : `Did you mean "${nearest}"?`;
  return fail('not_found', `No fund has this id or code. ${hint}`, { param: 'id' });
}
