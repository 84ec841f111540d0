// A file that is served from memory, each in all its encodings.
import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { encodingFor, etagMatches } from '../../kernel/http/reply.ts';

export interface StaticFile {
  type: string;
  /** The file by encoding. */
  bodies: { identity: Buffer; gzip: Buffer; br?: Buffer };
  digest: string;
}

export function staticFile(type: string, bodies: StaticFile['bodies']): StaticFile {
  return { type, bodies, digest: hash('sha256', bodies.identity, 'base64url').slice(0, 22) };
}

/** Sends the file, or a 304 if the client has it. @param headers besides those of the content and its encoding. */
export function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  { type, bodies, digest }: StaticFile,
  headers: Readonly<Record<string, string>>,
): void {
  const encoding = encodingFor(request.headers['accept-encoding'], bodies.br !== undefined);
  const etag = encoding === 'identity' ? `"${digest}"` : `"${digest}-${encoding}"`;
  const caching = { etag, vary: 'Accept-Encoding', ...headers };
  if (etagMatches(request.headers['if-none-match'], etag)) {
    response.writeHead(304, caching).end();
    return;
  }
  const body = bodies[encoding] ?? bodies.gzip;
  response
    .writeHead(200, {
      ...{ ...caching, 'content-type': type, 'content-length': String(body.length) },
      ...(encoding !== 'identity' && { 'content-encoding': encoding }),
    })
    .end(body); // for HEAD, Node sends only the headers
}
