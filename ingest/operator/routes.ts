// The whole URL table of the publisher.
import type { Route } from '../../kernel/http/server.ts';
import type { Endpoint, OperatorDeps } from './endpoint.ts';
import { listAllLoads, readLoad, retractLoad } from './loads.ts';
import { cancelOneRelease, listReleases, publishRelease, readRelease } from './releases.ts';
import { listFreshSources } from './sources.ts';

export const endpoints = [
  ['GET', '/v1/operator/loads', listAllLoads],
  ['GET', '/v1/operator/loads/:load', readLoad],
  ['POST', '/v1/operator/loads/:load/retraction', retractLoad],
  ['GET', '/v1/operator/releases', listReleases],
  ['GET', '/v1/operator/releases/:release', readRelease],
  ['POST', '/v1/operator/releases/:release/cancellation', cancelOneRelease],
  ['POST', '/v1/operator/releases/:release/publication', publishRelease],
  ['GET', '/v1/operator/sources', listFreshSources],
] as const satisfies readonly (readonly [Route['method'], string, Endpoint])[];

/** The endpoints as routes of the server. */
export function toRoutes(deps: OperatorDeps): Route[] {
  return endpoints.map(([method, path, { handler, takesRawBody, bodyBytesMax }]) => ({
    ...{ method, path, takesRawBody, bodyBytesMax },
    scope: 'client',
    handler: handler(deps),
  }));
}
