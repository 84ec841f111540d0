// GET /v1/amcs and /v1/amcs/{amc}: asset management companies and the assets that they manage.
import { z } from 'zod';
import { memberOf } from '../../kernel/entries.ts';
import { fail } from '../../kernel/errors.ts';
import { oneOf } from '../../kernel/http/list.ts';
import { nearestHint } from '../../kernel/http/params.ts';
import {
  amcExists,
  amcsList,
  listAmcIds,
  readAssetsHistory,
  readCategories,
  readManagedFunds,
} from './amcs.sql.ts';
import { digits } from '../../kernel/digits.ts';
import { endpoint } from '../endpoint.ts';
import {
  listReply,
  paramsWithUpdates,
  readRecord,
  recordOf,
  recordReply,
  requireSameState,
  schemaOf,
} from '../list.ts';
import { Conditions, escapeLike, findDataState } from '../list.sql.ts';

export const getAmcs = endpoint({
  summary: 'Asset management companies.',
  query: {
    q: z.string().optional().describe('Part of the id, the name or the short name, case-insensitive.'),
    ...paramsWithUpdates(amcsList, {}),
  },
  json: schemaOf(amcsList),
  handler: (dependencies, { query, call }) => {
    const containing = query.q === undefined ? undefined : `%${escapeLike(query.q)}%`;
    const where = new Conditions().and(
      containing,
      (p) => `(a.amc_id ilike ${p} or a.name ilike ${p} or a.short_name ilike ${p})`,
    );
    return listReply(dependencies, call, { list: amcsList, query, where });
  },
});

const amount = z.number().nullable();
const amcRecord = recordOf(amcsList).extend({
  categories: z.array(
    z.object({ category: z.string().nullable(), funds_count: z.int(), aum: amount, currency: z.string() }),
  ),
  aum_history: z
    .array(z.object({ date: z.iso.date(), aum: z.number(), currency: z.string(), funds_count: z.int() }))
    .describe('At the end of each of the last 120 months.'),
  funds: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      category: z.string().nullable(),
      status: z.string().nullable(),
      currency: z.string(),
      nav: amount,
      nav_date: z.iso.date().nullable(),
      aum: amount,
      aum_date: z.iso.date().nullable(),
      return_1y_pct: amount,
    }),
  ),
});

export const getAmc = endpoint({
  summary: 'An asset management company with its funds and assets under management.',
  params: { amc: z.string().describe('An id from `/v1/amcs`.') },
  json: oneOf(amcRecord),
  errors: ['not_found'],
  handler: async ({ database }, { params, call }) => {
    const id = memberOf(params, 'amc');
    const state = await call.stage('lookup', () => findDataState(database, amcsList.datasets));
    if (!(await call.stage('lookup', () => amcExists(database, id)))) {
      const hint = nearestHint(id, await listAmcIds(database), 'GET /v1/amcs lists them.');
      fail('not_found', `No company has this id. ${hint}`, { param: 'amc' });
    }
    const data = await call.stage('sql', async () => ({
      ...(await readRecord(
        database,
        amcsList,
        new Conditions().and(id, (p) => `a.amc_id = ${p}`),
      )),
      categories: (await readCategories(database, id)).map((row) => ({ ...row, aum: digits(row.aum) })),
      aum_history: (await readAssetsHistory(database, id)).map((row) => ({ ...row, aum: digits(row.aum) })),
      funds: (await readManagedFunds(database, id)).map((fund) => ({
        ...fund,
        nav: digits(fund.nav),
        aum: digits(fund.aum),
      })),
    }));
    await call.stage('lookup', () => requireSameState(database, amcsList.datasets, state));
    return recordReply({ data, state });
  },
});
