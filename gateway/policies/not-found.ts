// The end of the map: 405 where the address exists for another method, else 404.
import { fail } from '../../kernel/errors.ts';
import { callOf } from '../call.ts';
import type { GatewayMap } from '../map.ts';
import type { Policy } from '../policy.ts';

export function notFound(map: GatewayMap): Policy {
  return (request) => {
    const taken = map.methodsAt(callOf(request).path);
    if (taken.length === 0) fail('not_found', 'There is nothing at this address.');
    const allow = taken.join(', ');
    fail('method_not_allowed', `This address takes ${allow}.`, { headers: { allow } });
  };
}
