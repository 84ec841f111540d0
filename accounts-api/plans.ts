// The plans that the operator offers, as `GET /v1/plans` shows them, and the plan that an account is on.
import type { Handler } from '../kernel/http.ts';
import { parseQuery } from '../kernel/params.ts';
import type { Plan, Plans } from '../kernel/plans.ts';
import type { Deps } from './database.ts';
import { sendList } from './envelope.ts';
import { noParameters } from './fields.ts';

const cacheSeconds = 60;

/** GET /v1/plans: public, lowest plan first. */
export function listPlans({ plans }: Deps): Handler {
  return (request, response) => {
    parseQuery(noParameters, request.url);
    response.set('cache-control', `public, max-age=${cacheSeconds}`);
    sendList(response, plans.all, null);
  };
}

/** The plan of an account. One that the operator has taken out of the file counts as free. */
export function planOf(plans: Plans, id: string): Plan {
  const plan = plans.get(id) ?? plans.get('free');
  if (plan === undefined) throw new Error('config/plans.yml has no plan "free"');
  return plan;
}
