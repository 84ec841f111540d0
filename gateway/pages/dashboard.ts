// Serves the dashboard from memory: its files under /assets/, and index.html for its other URLs. The build may still be running when the first call
// arrives, or may have failed.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { fail } from '../../kernel/errors.ts';
import { encodingFor } from '../../kernel/http/reply.ts';
import type { Log } from '../../kernel/log/log.ts';
import { callOf } from '../call.ts';
import { readDashboard, type DashboardFiles } from './dashboard-files.ts';
import type { Policy } from '../policy.ts';

/** Scripts and styles are loaded only from the gateway, and calls go only to it. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Links to other sites carry nothing of the address of a page. */
const ownReferrer = { 'referrer-policy': 'same-origin' };

const failedPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Almanac</title>
<h1>The dashboard is not available</h1>
<p>It could not be built; the log of the gateway has the reason. The API is served as usual.</p>
</html>
`;

export const dashboardAction = z.strictObject({
  /** Answers only requests for a page, and only if there is a dashboard; all others pass to the next policy. */
  only: z.literal('browsers').optional(),
});

/**
 * Reads the files once, for all pipelines.
 * @param directory the directory of the built dashboard, once it is built; undefined: its URLs are answered 404.
 */
export function createDashboard(directory: Promise<string> | undefined, log: Log) {
  const files = directory?.then(readDashboard).catch((error: unknown) => {
    log.error({ err: error }, 'The dashboard could not be built; the API is served without it.');
    return undefined;
  });
  return ({ only }: z.output<typeof dashboardAction>): Policy =>
    async (request, response, next) => {
      const read = await files;
      if (only === 'browsers') {
        callOf(request).head.push('vary', 'Accept');
        const isPage = request.headers.accept?.includes('text/html') === true;
        if (read === undefined || !isPage) return next();
      }
      if (files === undefined) fail('not_found', 'This gateway serves no dashboard.');
      if (read === undefined) return sendFailedPage(response);
      sendFile(request, response, read);
    };
}

/** @throws Failure `not_found` if there is no such file. */
function sendFile(request: IncomingMessage, response: ServerResponse, files: DashboardFiles): void {
  const call = callOf(request);
  const isAsset = call.path.startsWith('/assets/');
  const file = files.get(isAsset ? call.path : '/index.html');
  if (file === undefined) fail('not_found', 'The dashboard has no file with this name.');
  call.contentSecurityPolicy = contentSecurityPolicy;
  const { etag, body, encoding } = file.forms[encodingFor(request.headers['accept-encoding'])];
  // The name of an asset changes with its content.
  const cacheControl = isAsset ? 'public, max-age=31536000, immutable' : 'no-cache';
  const caching = { etag, 'cache-control': cacheControl, vary: 'Accept-Encoding', ...ownReferrer };
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304, caching).end();
    return;
  }
  const own = { 'content-type': file.type, 'content-length': String(body.length), ...encoding };
  response.writeHead(200, { ...caching, ...own }).end(body); // for HEAD, Node sends only the headers
}

function sendFailedPage(response: ServerResponse): void {
  response
    .writeHead(503, {
      'content-type': 'text/html; charset=utf-8',
      'content-length': String(Buffer.byteLength(failedPage)),
      'cache-control': 'no-store',
    })
    .end(failedPage);
}
