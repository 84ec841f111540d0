// The whole URL table of the publisher.
import type { Route } from '../../kernel/http/server.ts';
import type { Endpoint, OperatorDeps } from './endpoint.ts';
import { listAllLoads, readLoad, retractLoad } from './loads.ts';
import { checkUpload, publishUpload } from './publications.ts';
import { cancelOneRelease, listReleases, publishRelease, readRelease } from './releases.ts';
import { listSeriesFacts, setSeriesFacts } from './series-facts.ts';
import { listFreshSources } from './sources.ts';
import { deleteOneUpload, listAllUploads, readUpload, uploadFile } from './uploads.ts';

export const endpoints = [
  ['GET', '/v1/operator/loads', listAllLoads],
  ['GET', '/v1/operator/loads/:load', readLoad],
  ['POST', '/v1/operator/loads/:load/retraction', retractLoad],
  ['GET', '/v1/operator/releases', listReleases],
  ['GET', '/v1/operator/releases/:release', readRelease],
  ['POST', '/v1/operator/releases/:release/cancellation', cancelOneRelease],
  ['POST', '/v1/operator/releases/:release/publication', publishRelease],
  ['GET', '/v1/operator/series', listSeriesFacts],
  ['PATCH', '/v1/operator/series', setSeriesFacts],
  ['GET', '/v1/operator/sources', listFreshSources],
  ['GET', '/v1/operator/uploads', listAllUploads],
  ['POST', '/v1/operator/uploads', uploadFile],
  ['GET', '/v1/operator/uploads/:id', readUpload],
  ['DELETE', '/v1/operator/uploads/:id', deleteOneUpload],
  ['POST', '/v1/operator/uploads/:id/check', checkUpload],
  ['POST', '/v1/operator/uploads/:id/publication', publishUpload],
] as const satisfies readonly (readonly [Route['method'], string, Endpoint])[];

/** The endpoints as routes of the server. */
export function toRoutes(deps: OperatorDeps): Route[] {
  return endpoints.map(([method, path, { handler, acceptsRawBody, acceptsFile, bodyBytesMax }]) => ({
    ...{ method, path, acceptsRawBody, acceptsStream: acceptsFile, bodyBytesMax },
    scope: 'client',
    handler: handler(deps),
  }));
}
