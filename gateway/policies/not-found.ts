// The last pipeline: 405 if the path exists for another method, else 404, which pages of any origin may read.
import { fail } from '../../kernel/errors.ts';
import { callOf } from '../call.ts';
import { isPreflight, permitRefusal } from './cors.ts';
import type { GatewayRoutes } from '../routes.ts';
import type { Policy } from '../policy.ts';

export function notFound(routes: GatewayRoutes): Policy {
  return (request, response) => {
    const taken = routes.methodsAt(callOf(request).path);
    if (taken.length === 0 && isPreflight(request)) return permitRefusal(request, response);
    if (taken.length === 0) fail('not_found', 'No endpoint exists at this path.');
    const allow = taken.join(', ');
    fail('method_not_allowed', `This path supports ${allow}.`, { headers: { allow } });
  };
}
