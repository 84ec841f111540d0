// Declares this service's endpoints, each with who may call it.
import { endpointsFor, type Endpoint as ServiceEndpoint } from '../kernel/http/service-endpoint.ts';
import { operatorErrors } from '../kernel/http/operator.ts';
import type { ServiceDeps } from './deps.ts';
import { operatorOf, requesterOf, signedInOf } from './requester.ts';

/** Who may call: anyone; a key or a session of an account; a session; an operator's session. */
const requesters = {
  anyone: { of: () => null, errors: [] },
  account: { of: requesterOf, errors: ['unauthorized'] },
  signed_in: { of: signedInOf, errors: ['unauthorized', 'forbidden'] },
  operator: { of: operatorOf, errors: operatorErrors },
} as const;

/** Declares an endpoint. */
export const endpoint = endpointsFor<ServiceDeps>()(requesters);

export type Endpoint = ServiceEndpoint<ServiceDeps, keyof typeof requesters>;
