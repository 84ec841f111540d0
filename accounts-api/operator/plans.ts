// /v1/operator/plans: the plans of config/plans.yml, and the number of accounts with each.
import { z } from 'zod';
import { planSchema } from '../../kernel/plans.ts';
import { listParams } from '../../kernel/http/list.ts';
import { inMemory, page } from '../../kernel/http/pages.ts';
import { endpoint } from '../endpoint.ts';
import { countAccountsByPlan } from './accounts.sql.ts';
import { planIdsOf } from './accounts.ts';

const rowSchema = planSchema.extend({ accounts: z.int().describe('Accounts of this plan.') });

export const listPlansWithAccounts = endpoint({
  summary: 'The plans, with the number of their accounts.',
  requester: 'operator',
  query: listParams({ fields: rowSchema.keyof().options, sorts: ['price'], sort: 'price' }),
  rows: rowSchema,
  handler: async (deps, { query, call }) => {
    const counts = await call.stage('sql', () => countAccountsByPlan(deps.db, planIdsOf(deps)));
    const rows = deps.plans.all.map((plan) => ({ ...plan, accounts: counts.get(plan.id) ?? 0 }));
    return page(deps.cursors, {
      query,
      of: ['operator plans'],
      // The file lists the lowest plan first; a price may be null (by agreement).
      read: inMemory(rows, query.sort, (_plan, position) => [position]),
      fileName: 'plans',
    });
  },
});
