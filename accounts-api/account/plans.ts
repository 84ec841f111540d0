// The plans that the operator offers, as `GET /v1/plans` shows them.
import type { Handler } from '../../kernel/http/server.ts';
import { parseQuery } from '../../kernel/http/params.ts';
import type { Deps } from '../database.ts';
import { sendList } from '../envelope.ts';
import { noParameters } from '../fields.ts';

const cacheSeconds = 60;

/** GET /v1/plans: public, lowest plan first. */
export function listPlans({ plans }: Deps): Handler {
  return (request, response) => {
    parseQuery(noParameters, request.url);
    response.set('cache-control', `public, max-age=${cacheSeconds}`);
    sendList(response, plans.all, null);
  };
}
