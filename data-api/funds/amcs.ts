// GET /v1/amcs and /v1/amcs/{amc}: asset management companies and what they manage.
// Hides nothing: each handler reads from the parameters to the answer.
import { z } from 'zod';
import { fail } from '../../kernel/errors.ts';
import type { Handler } from '../../kernel/http/server.ts';
import { nearestName, parseQuery } from '../../kernel/http/params.ts';
import {
  amcExists,
  amcsList,
  listAmcIds,
  readAssetsHistory,
  readCategories,
  readManagedFunds,
} from './amcs.sql.ts';
import type { Dependencies } from '../dependencies.ts';
import { digits } from '../../kernel/digits.ts';
import { listParams, readRecord, sendList, sendRecord } from '../list.ts';
import { Conditions, escapeLike, findDataState } from '../list.sql.ts';

const amcsQuery = z.object({ q: z.string().optional(), ...listParams(amcsList) });

/** GET /v1/amcs. */
export function getAmcs(dependencies: Dependencies): Handler {
  return async function getAmcs(request, response, call) {
    const { q, ...asked } = await call.stage('parse', () => parseQuery(amcsQuery, request.url));
    const containing = q === undefined ? undefined : `%${escapeLike(q)}%`;
    const where = new Conditions().and(
      containing,
      (p) => `(a.amc_id ilike ${p} or a.name ilike ${p} or a.short_name ilike ${p})`,
    );
    await sendList(request, response, call, dependencies, { list: amcsList, asked, where });
  };
}

/** GET /v1/amcs/{amc}. */
export function getAmc({ database }: Dependencies): Handler {
  return async function getAmc(request, response, call) {
    await call.stage('parse', () => parseQuery(z.object({}), request.url));
    const id = String(request.params['amc']);
    if (!(await call.stage('lookup', () => amcExists(database, id)))) {
      const nearest = nearestName(id, await listAmcIds(database));
      const hint = nearest === undefined ? 'GET /v1/amcs lists them.' : `Did you mean "${nearest}"?`;
      fail('not_found', `There is no company of that id. ${hint}`, { param: 'amc' });
    }
    const state = await call.stage('lookup', () => findDataState(database, amcsList.datasets));
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
    await sendRecord(request, response, { data, state });
  };
}
