// The plans that the operator offers, as in config/plans.yml.
import { planSchema } from '../../kernel/plans.ts';
import { listParams } from '../../kernel/http/list.ts';
import { inMemory, page } from '../../kernel/http/pages.ts';
import { endpoint } from '../endpoint.ts';

export const listPlans = endpoint({
  summary: 'The available plans.',
  requester: 'anyone',
  query: listParams({ fields: planSchema.keyof().options, sorts: ['price'], sort: 'price' }),
  rows: planSchema,
  caching: 'public',
  handler: ({ plans, cursors }, { query }) =>
    page(cursors, {
      query,
      of: ['plans'],
      // The file lists the lowest plan first; a price may be null (by agreement).
      read: inMemory(plans.all, query.sort, (_plan, position) => [position]),
      fileName: 'plans',
      version: plans.all,
    }),
});
