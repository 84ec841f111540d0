// The last pipeline: 405 if the path exists for another method, else 404. Pages of any origin may read both.
import { fail } from '../../kernel/errors.ts';
import { callOf } from '../call.ts';
import { isPreflight, permitRefusal } from './cors.ts';
import type { GatewayRoutes } from '../routes.ts';
import type { Policy } from '../policy.ts';

export function notFound(routes: () => GatewayRoutes): Policy {
  return (request, response) => {
    const { path } = callOf(request);
    const { methodsAt } = routes();
    const allowedMethods = methodsAt(path);
    if (allowedMethods.length === 0 && isPreflight(request)) return permitRefusal(request, response);
    const isSlashTooMany = path.endsWith('/') && methodsAt(path.replace(/\/+$/, '')).length > 0;
    const hint = isSlashTooMany ? ' Remove the trailing slash.' : '';
    if (allowedMethods.length === 0) fail('not_found', `No endpoint exists at this path.${hint}`);
    const allow = allowedMethods.join(', ');
    fail('method_not_allowed', `This path supports ${allow}.`, { headers: { allow } });
  };
}
