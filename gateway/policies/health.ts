// /healthz: the process is up. /readyz: which services this gateway can serve. The reason why a service is not ready is only in the log and at the
// metrics port.
import { Failure, toFailure } from '../../kernel/errors.ts';
import { callOf } from '../call.ts';
import type { Readiness } from '../observability/readiness.ts';
import type { Policy } from '../policy.ts';

export function health(readiness: Readiness): Policy {
  return async (request, response) => {
    const isReadiness = callOf(request).path === '/readyz';
    const answer = isReadiness
      ? { success: true, data: await readiness().catch(withoutReason) }
      : { success: true };
    response.setHeader('content-type', 'application/json; charset=utf-8');
    response.setHeader('cache-control', 'no-store');
    response.end(JSON.stringify(answer));
  };
}

function withoutReason(error: unknown): never {
  const { status } = toFailure(error);
  if (status !== 503) throw error;
  throw new Failure(
    'unavailable',
    'This gateway cannot serve calls at the moment. The reason is in its log, and at /readyz of its metrics port.',
  );
}
