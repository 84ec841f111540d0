// Serves the dashboard from memory: its files under /assets/, and index.html for its other URLs. The build may still be running when the first call
// arrives, or may have failed. `x.js.br` and `x.js.gz` are encodings of `x.js`.
import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { z } from 'zod';
import { fail } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log/log.ts';
import { callOf } from '../call.ts';
import type { Policy } from '../policy.ts';
import { sendFile, staticFile, type StaticFile } from './static-file.ts';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

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
      sendPage(request, response, read);
    };
}

/** By path: `/index.html`, `/assets/….js`. @throws Error if there is no index.html, or a file of an unknown type. */
export async function readDashboard(directory: string): Promise<ReadonlyMap<string, StaticFile>> {
  const files = new Map<string, StaticFile>();
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || /\.(?:br|gz)$/.test(entry.name)) continue;
    const file = path.join(entry.parentPath, entry.name);
    const type = types[path.extname(file)];
    if (type === undefined) throw new Error(`${file}: files of this type are not served.`);
    const [identity, br, gzip] = await Promise.all([
      readFile(file),
      readFile(`${file}.br`),
      readFile(`${file}.gz`),
    ]);
    const name = `/${path.relative(directory, file).split(path.sep).join('/')}`;
    files.set(name, staticFile(type, { identity, br, gzip }));
  }
  if (!files.has('/index.html')) throw new Error(`${directory} has no index.html.`);
  return files;
}

/** @throws Failure `not_found` if there is no such file. */
function sendPage(
  request: IncomingMessage,
  response: ServerResponse,
  files: ReadonlyMap<string, StaticFile>,
): void {
  const call = callOf(request);
  const isAsset = call.path.startsWith('/assets/');
  const file = files.get(isAsset ? call.path : '/index.html');
  if (file === undefined) fail('not_found', 'The dashboard has no file with this name.');
  call.contentSecurityPolicy = contentSecurityPolicy;
  sendFile(request, response, file, {
    // The name of an asset changes with its content.
    'cache-control': isAsset ? 'public, max-age=31536000, immutable' : 'no-cache',
    'referrer-policy': 'same-origin', // links to other sites carry nothing of the address of a page
  });
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
